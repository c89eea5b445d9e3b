#! /usr/bin/env python3

# SPDX-License-Identifier: GPL-2.0-only

# The programs that ns-3's test.py runs: (command, when it is built, when it is run with valgrind).
cpp_examples = [
    ("rdma-connection", "True", "False"),
    ("rdma-connection --shared=0", "True", "False"),
]
python_examples = []
