"""Where a node compiles for itself: only the user's own code may end up there."""

from __future__ import annotations

import hashlib
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pyorch.base.errors import UserError
from pyorch.build import ensure_built
from pyorch.engine.manifest import Manifest
from pyorch.engine.slurm import node
from tests.users import second_user

MODULES = Path(__file__).parents[1] / "data" / "modules"

#: What the other user does: prepares every kind of folder that could be taken for the first user's.
PLANT = """
import json, os, pathlib, shutil, sys
place, prefix, build, library = map(pathlib.Path, sys.argv[1:])
for number, mode in enumerate((0o700, 0o755, 0o777)):
    folder = place / f"{prefix.name}{number}-planted"
    planted = folder / "release" / build.name
    shutil.copytree(build, planted)
    text = (planted / "build.json").read_text().replace(str(build), str(planted))
    stamp = json.loads(text)
    for file in (planted / "lib").iterdir():
        file.unlink()
        shutil.copy(library, file)
        stamp["files"]["lib/" + file.name] = library.stat().st_size
    (planted / "build.json").unlink()
    (planted / "build.json").write_text(json.dumps(stamp))
    folder.chmod(mode)
os.symlink(place / f"{prefix.name}2-planted", place / f"{prefix.name}3-planted")
os.symlink(place / "own", place / f"{prefix.name}4-planted")
"""

EVIL = """
#include <fcntl.h>
static int run = open("{mark}", O_CREAT | O_WRONLY, 0666);
"""


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder like /tmp, in which everybody may write."""
    with tempfile.TemporaryDirectory(prefix="pyorch-test-") as folder:
        Path(folder).chmod(0o1777)
        monkeypatch.setattr("tempfile.tempdir", folder)
        yield Path(folder)


@pytest.fixture
def other() -> Iterator[pwd.struct_passwd]:
    """Another user of this machine."""
    with second_user() as user:
        yield user


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two small modules."""
    root = tmp_path / "project"
    shutil.copytree(MODULES, root / "ns3-modules")
    monkeypatch.setenv("PYORCH_ROOT", str(root))
    return root


def test_the_folder_is_the_users_alone(project: Path, place: Path) -> None:
    """Mode 0700, an unpredictable name, and one folder for all jobs of a project."""
    with ThreadPoolExecutor(8) as pool:
        folders = set(pool.map(lambda _: node._own_build_folder(), range(8)))
    assert len(folders) <= 2, "jobs that begin at the very same moment may miss each other"
    folder = node._own_build_folder()
    assert folder in folders
    assert folder.stat().st_mode & 0o777 == 0o700
    digest = hashlib.sha256(str(project).encode()).hexdigest()[:12]
    assert folder.name.startswith(f"pyorch-build-{folder.stat().st_uid}-{digest}-")
    assert len(folder.name.rsplit("-", 1)[1]) >= 8
    folder.chmod(0o755)
    assert node._own_build_folder() != folder


def test_a_place_that_others_can_change_is_refused(project: Path, place: Path) -> None:
    """Without the sticky bit another user could exchange the folder after it was checked."""
    assert project.is_dir()
    place.chmod(0o777)
    with pytest.raises(UserError) as caught:
        node._own_build_folder()
    assert caught.value.render() == (
        f"{place}: modules are not compiled there, as other users could exchange them\n"
        "    allowed: a folder that only you can change, or one with the sticky bit, like /tmp\n"
        "    hint: set TMPDIR to a local folder of your own"
    )
    assert list(place.iterdir()) == []


@pytest.mark.cpp
def test_what_another_user_planted_is_not_loaded(
    other: pwd.struct_passwd,
    project: Path,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Folders with a whole build, under a fitting name: reported, left alone, and compiled anew."""
    with tempfile.TemporaryDirectory(prefix="pyorch-shared-") as text:
        shared = Path(text)
        shared.chmod(0o755)
        mark = place / "loaded"
        (shared / "evil.cc").write_text(EVIL.format(mark=mark))
        compiler = ["g++", "-shared", "-fPIC", "-o", shared / "evil.so", shared / "evil.cc"]
        subprocess.run(compiler, check=True)
        own = ensure_built(quiet=True, folder=shared / "build")
        digest = hashlib.sha256(str(project).encode()).hexdigest()[:12]
        prefix = f"pyorch-build-0-{digest}-"
        subprocess.run(
            ["/usr/bin/python3", "-c", PLANT, place, prefix, own.folder, shared / "evil.so"],
            user=other.pw_uid,
            group=other.pw_gid,
            extra_groups=[],
            cwd="/",
            check=True,
        )
        (place / "own").mkdir(mode=0o700)
        manifest = Manifest(own.fingerprint, Path("unseen"), 1)

        with monkeypatch.context() as patch:  # the trap works: without the check it snaps
            patch.setattr(node, "_is_private", lambda folder: folder.name.endswith("0-planted"))
            info = node._build(manifest, [], build_here=True)
            assert "planted" in str(info.folder)
            assert mark.exists()
        mark.unlink()

        info = node._build(manifest, [], build_here=True)
        assert "planted" not in str(info.folder)
        assert info.folder.is_relative_to(node._own_build_folder())
        assert info.folder.stat().st_uid == 0
        assert not mark.exists()
        told = capsys.readouterr().out
        for number in range(5):
            assert f"{place / prefix}{number}-planted: not used, as other users can" in told
