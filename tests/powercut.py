"""What a power cut may leave on a disk, built from a record of what programs did to it.

The model promises less than any file system pyorch is used on. What was written to a file and not
synced since may be there, missing, cut or zeros. What was done to the entries of a folder (create,
rename, remove) and not synced by `fsync` of that folder may have happened or not, each by itself
and in any order; only a rename is one step. The record comes from data/record_writes.c.
"""

from __future__ import annotations

import itertools
import os
import random
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).parent / "data" / "record_writes.c"

Tree = dict[str, bytes | None]
"""Files by path with their content; folders have None."""


@dataclass(frozen=True)
class Step:
    """One thing a program did: kind, process, file (by inode), place in it, paths, data."""

    kind: str
    pid: int
    inode: int
    offset: int
    path: str
    other: str
    data: bytes


def recorder(folder: Path) -> Path:
    """Compile the library that records; to be named by LD_PRELOAD."""
    library = folder / "record_writes.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    return library


def read_record(log: Path, root: Path) -> list[Step]:
    """Read a record; paths become relative to the root."""
    data, steps, at = log.read_bytes(), [], 0
    while at < len(data):
        end = data.index(b"\n", at)
        kind, *numbers = data[at:end].decode().split()
        pid, inode, offset, length, first, second = map(int, numbers)
        parts, at = [], end + 1
        for size in (first, second, length):
            parts.append(data[at : at + size])
            at += size
        path, other = (os.path.relpath(part.decode(), root) if part else "" for part in parts[:2])
        steps.append(Step(kind, pid, inode, offset, path, other, parts[2]))
    return steps


@dataclass(eq=False)
class _Node:
    """A file or a folder: what was done to it, by the number of the step, and when it was synced.

    writes: (step, offset, data); data None truncates. entries: (step, name, node or None).
    """

    is_folder: bool
    writes: list[tuple[int, int, bytes | None]] = field(default_factory=list)
    entries: list[tuple[int, str, _Node | None]] = field(default_factory=list)
    synced: int = -1


class Disk:
    """The files below a root, that is empty at first, while the steps of a record are done."""

    def __init__(self) -> None:
        self.root = _Node(is_folder=True)
        self._by_inode: dict[int, _Node] = {}
        self._nodes = [self.root]
        self._step = 0

    def do(self, step: Step) -> None:
        """Do the next step."""
        self._step += 1
        if step.kind in ("create", "mkdir"):
            node = _Node(is_folder=step.kind == "mkdir")
            self._nodes.append(node)
            self._by_inode[step.inode] = node
            self._enter(step.path, node)
        elif step.kind == "write":
            self._by_inode[step.inode].writes.append((self._step, step.offset, step.data))
        elif step.kind == "truncate":
            self._by_inode[step.inode].writes.append((self._step, step.offset, None))
        elif step.kind == "rename":
            moved = self._find(step.path)
            self._enter(step.path, None)
            self._enter(step.other, moved)
        elif step.kind == "link":
            self._enter(step.other, self._find(step.path))
        elif step.kind == "remove":
            self._enter(step.path, None)
        elif step.kind == "sync":
            node = self.root if step.path == "." else self._by_inode[step.inode]
            node.synced = self._step

    def _enter(self, path: str, node: _Node | None) -> None:
        folder, name = os.path.split(path)
        self._find(folder).entries.append((self._step, name, node))

    def _find(self, path: str) -> _Node:
        node = self.root
        for name in filter(None, path.split("/")):
            found = _entries(node, lambda _: True)[name]
            node = found
        return node

    @property
    def open_steps(self) -> list[int]:
        """Steps that changed folders and that a power cut may undo."""
        landed = {s for n in self._nodes for s, _, _ in n.entries if s <= n.synced}
        every = {s for n in self._nodes for s, _, _ in n.entries}
        return sorted(every - landed)

    def content(self, path: str) -> bytes:
        """The content of a file without a power cut."""
        return _bytes(self._find(path).writes)

    def tree(self, undone: Sequence[int] = (), data: str = "all", seed: int = 0) -> Tree:
        """Return what is there after a power cut.

        undone: those of `open_steps` that did not reach the disk. data: what is there of writes
        that were not synced: "all", "none", "zeros", "cut", or "mixed".
        """
        drawn, gone = random.Random(seed), frozenset(undone)  # noqa: S311
        found: Tree = {}
        seen: dict[_Node, bytes] = {}

        def walk(node: _Node, path: str) -> None:
            for name, child in sorted(_entries(node, lambda step: step not in gone).items()):
                below = f"{path}{name}"
                if child.is_folder:
                    found[below] = None
                    walk(child, f"{below}/")
                    continue
                if child not in seen:
                    seen[child] = _after_cut(child, data, drawn)
                found[below] = seen[child]

        walk(self.root, "")
        return found


def _entries(folder: _Node, landed: Callable[[int], bool]) -> dict[str, _Node]:
    found: dict[str, _Node | None] = {}
    for step, name, node in folder.entries:
        if landed(step):
            found[name] = node
    return {name: node for name, node in found.items() if node is not None}


def _bytes(writes: Sequence[tuple[int, int, bytes | None]]) -> bytes:
    content = bytearray()
    for _, offset, data in writes:
        if data is None:
            del content[offset:]
            continue
        content.extend(bytes(max(0, offset - len(content))))
        content[offset : offset + len(data)] = data
    return bytes(content)


def _after_cut(file: _Node, data: str, drawn: random.Random) -> bytes:
    whole, safe = _bytes(file.writes), [write for write in file.writes if write[0] <= file.synced]
    if len(safe) == len(file.writes):
        return whole
    kind = drawn.choice(["all", "none", "zeros", "cut"]) if data == "mixed" else data
    if kind == "none":
        return _bytes(safe)
    if kind == "zeros":
        blank = [
            (s, o, d if s <= file.synced or d is None else bytes(len(d))) for s, o, d in file.writes
        ]
        return _bytes(blank)
    return whole[: drawn.randrange(len(whole) + 1)] if kind == "cut" else whole


def states_of(disk: Disk, seed: int, most: int) -> Iterator[Tree]:
    """What a power cut may leave at this moment: all of it when it is little, else a sample.

    Always there: everything or nothing landed, each step alone, all but one, each first part of
    the steps, as a journal would have it; the rest is drawn.
    """
    steps, drawn = disk.open_steps, random.Random(seed)  # noqa: S311
    chosen: dict[tuple[int, ...], None] = {(): None, tuple(steps): None}
    if len(steps) <= 3:
        for size in range(len(steps)):
            chosen |= dict.fromkeys(itertools.combinations(steps, size))
    else:
        named = [tuple(s for s in steps if s != one) for one in steps]  # only one landed
        named += [(one,) for one in steps]  # all but one
        named += [tuple(steps[at:]) for at in range(1, len(steps))]  # a journal
        drawn.shuffle(named)
        chosen |= dict.fromkeys(named[:most])
        chosen |= {tuple(s for s in steps if drawn.random() < 0.5): None for _ in range(4)}
    for number, undone in enumerate(chosen):
        kinds = ("all", "none", "zeros", "cut", "mixed") if number < 2 else ("mixed",)
        for kind in kinds:
            yield disk.tree(undone, kind, drawn.randrange(2**32))


def write_tree(tree: Tree, folder: Path) -> None:
    """Make a tree real in an empty folder."""
    for path, content in tree.items():
        if content is None:
            (folder / path).mkdir()
        else:
            (folder / path).write_bytes(content)


def read_tree(folder: Path) -> Tree:
    """Return a real tree."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }
