#! /usr/bin/env python3

# SPDX-License-Identifier: GPL-2.0-only

# The programs that ns-3's test.py runs: (command, when it is built, when it is run with valgrind).
cpp_examples = [
    ("facade-permutation --size=10000", "True", "False"),
]
python_examples = []
