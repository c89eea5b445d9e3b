"""Wireshark's tshark, which reads what tests captured."""

from __future__ import annotations

import os
import shutil

import pytest


def tshark() -> str:
    """The program; without it a test is left out, but not in CI."""
    program = shutil.which("tshark")
    if program is None and os.environ.get("CI"):
        pytest.fail("tshark is not installed: apt-get install tshark")
    if program is None:
        pytest.skip("tshark is not installed: apt-get install tshark")
    return program
