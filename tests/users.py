"""A second user of this machine, for tests of what one user may do to another."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

NAME = "pyorch-test"
USERADD, USERDEL = (shutil.which(name, path="/usr/sbin:/sbin") for name in ("useradd", "userdel"))


@contextmanager
def second_user(tag: str = "") -> Iterator[pwd.struct_passwd]:
    """Make a user and delete it again; skips the test where that is not allowed.

    tag: tells the users of one test from each other.
    """
    if os.geteuid() != 0 or not USERADD or not USERDEL:
        pytest.skip("only root can make a second user (useradd)")
    name = f"{NAME}-{os.getpid()}{tag}"
    subprocess.run([USERADD, "--no-create-home", "--user-group", name], check=True)
    try:
        yield pwd.getpwnam(name)
    finally:
        subprocess.run([USERDEL, name], check=True)
