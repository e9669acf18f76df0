"""Disk operations of a run, step by step, and the states that a power cut after any step may leave.

Functions of `os` that change or sync the disk are watched in this process; around each call the watched folders are
read, so that writes through files are seen as well. POSIX guarantees nothing about unsynced changes, so a cut leaves

- for the content of a file: the last synced content, all of it, or a torn half of later writes;
- for changes of folders (made, linked, renamed, removed) that were not synced: any subset, in order. A rename is one
  change of both folders, as on every journaling file system: syncing the new one keeps it.

Files whose names begin with ATOMIC are SQLite's: its write-ahead log with synchronous=FULL preserves a committed
transaction whole, so these files are taken unchanged.
"""

import io
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

ATOMIC = "ledger.db"
CHANGES = ("mkdir", "rename", "replace", "link", "symlink", "unlink", "remove", "rmdir", "open")
MOST = 3
"""The greatest number of states drawn at one step, in addition to losing nothing and losing everything."""

Change = tuple[int, str, int | None]
"""A folder, a name in it, and the node that it names from now on (None: removed)."""
Files = dict[str, bytes | None]
"""Contents by path; None is a folder."""


@dataclass
class Disk:
    """Folders by the nodes of their names, files by their content; the folder 0 is the working copy."""

    folders: dict[int, dict[str, int]] = field(default_factory=lambda: {0: {}})
    files: dict[int, bytes] = field(default_factory=dict)

    def files_below(self, folder: int = 0, above: str = "") -> Iterator[tuple[str, bytes | None]]:
        """Yield the reachable files with their content."""
        for name, node in self.folders.get(folder, {}).items():
            yield above + name, self.files.get(node)
            yield from self.files_below(node, f"{above}{name}/")


@dataclass(frozen=True)
class Moment:
    """The state after a step: what is certainly on disk, what is pending, and the database."""

    step: str
    kept: Disk
    pending: tuple[tuple[Change, ...], ...]
    written: dict[int, bytes]
    database: Files

    def cuts(self, random: Random) -> Iterator[Files]:
        """Yield the states that a power cut may leave: every choice, or of many choices MOST and the two extremes."""
        torn = [node for node in self.written if self.kept.files.get(node, b"") != self.written[node]]
        kinds = [2] * len(self.pending) + [3] * len(torn)
        yield self._cut([0] * len(kinds), torn)
        yield self._cut([kind - 1 for kind in kinds], torn)
        for _ in range(MOST if kinds else 0):
            yield self._cut([random.randrange(kind) for kind in kinds], torn)

    def _cut(self, choice: list[int], torn: list[int]) -> Files:
        disk = Disk({at: dict(names) for at, names in self.kept.folders.items()}, dict(self.kept.files))
        for chosen, group in zip(choice, self.pending, strict=False):
            for folder, name, node in group if chosen else ():
                _name(disk, folder, name, node)
        for chosen, node in zip(choice[len(self.pending) :], torn, strict=True):
            whole = self.written[node]
            disk.files[node] = (self.kept.files.get(node, b""), whole[: len(whole) // 2], whole)[chosen]
        for node in self.written:
            disk.files.setdefault(node, self.written[node])
        return {**dict(disk.files_below()), **self.database}


class Tracer:
    """Traces the folders `watched` of a working copy."""

    def __init__(self, root: Path, watched: tuple[str, ...]) -> None:
        self.root, self.watched, self.moments = root, watched, list[Moment]()
        self._nodes, self._next, self._busy = dict[int, int](), 1, False
        self._seen, self._kept, self._pending = Disk(), Disk(), list[tuple[Change, ...]]()
        self._database: Files = {}
        self._look()
        self._kept, self._pending = _copied(self._seen), []  # what was there before the run is on disk

    @contextmanager
    def watching(self) -> Iterator[None]:
        """A block whose steps become moments."""
        originals = [(os, name, getattr(os, name)) for name in (*CHANGES, "fsync")] + [(io, "open", io.open)]
        for holder, name, original in originals:
            setattr(holder, name, self._watched(name, original))
        try:
            yield
        finally:
            for holder, name, original in originals:
                setattr(holder, name, original)

    def _watched(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **kwargs: Any) -> Any:
            if self._busy:
                return original(*args, **kwargs)
            self._moment(f"before {name}")
            node = self._nodes.get(os.fstat(args[0]).st_ino) if name == "fsync" else None
            try:
                return original(*args, **kwargs)
            finally:
                self._sync(node)
                self._moment(name)

        return step

    def _sync(self, node: int | None) -> None:
        if node in self._seen.files:
            self._kept.files[node] = self._seen.files[node]
        elif node is not None:
            kept, names = list[tuple[Change, ...]](), set[tuple[int, str]]()
            for group in reversed(self._pending):  # what came before of the same name is on disk as well
                if _kept_by(group, node) or any(change[:2] in names for change in group):
                    kept.insert(0, group)
                    names |= {change[:2] for change in group}
            self._pending = [group for group in self._pending if group not in kept]
            for change in (change for group in kept for change in group):
                _name(self._kept, *change)

    def _moment(self, step: str) -> None:
        self._look()
        now = Moment(
            step, _copied(self._kept), tuple(self._pending), dict(self._seen.files), dict(self._database)
        )  # fmt: skip
        self.moments.append(now)

    def _look(self) -> None:
        """Read the folders; their changes are one more group."""
        self._busy = True
        try:
            found, nodes, database = Disk(), {self.root.stat().st_ino: 0}, Files()
            for name in self.watched:
                self._enter(found, nodes, database, 0, self.root / name)
        finally:
            self._busy = False
        group = list[Change]()
        for folder in {*found.folders, *self._seen.folders}:
            old, new = self._seen.folders.get(folder, {}), found.folders.get(folder, {})
            group += [(folder, name, None) for name in old.keys() - new.keys()]
            group += [(folder, name, node) for name, node in new.items() if old.get(name) != node]
        if group:
            self._pending.append(tuple(group))
        self._seen, self._nodes, self._database = found, nodes, database

    def _enter(self, found: Disk, nodes: dict[int, int], database: Files, above: int, path: Path) -> None:
        try:
            status = path.lstat()
        except FileNotFoundError:
            return
        if path.name.startswith(ATOMIC):
            if not path.name.endswith("-shm"):
                database[str(path.relative_to(self.root))] = path.read_bytes()
            return
        node = nodes[status.st_ino] = self._nodes.get(status.st_ino) or nodes.get(status.st_ino) or self._new()
        found.folders[above][path.name] = node
        if stat.S_ISDIR(status.st_mode):
            found.folders[node] = {}
            for below in sorted(os.listdir(path)):
                self._enter(found, nodes, database, node, path / below)
        else:
            found.files[node] = path.read_bytes()

    def _new(self) -> int:
        self._next += 1
        return self._next


def lay(files: Files, root: Path) -> None:
    """Write the state after a power cut into a folder."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if data is None:
            path.mkdir(exist_ok=True)
        else:
            path.write_bytes(data)


def _kept_by(group: tuple[Change, ...], folder: int) -> bool:
    """Return whether syncing the folder keeps the changes; a rename is kept by the folder of its new name."""
    made = [change for change in group if change[2] is not None]
    return any(change[0] == folder for change in made or group)


def _name(disk: Disk, folder: int, name: str, node: int | None) -> None:
    names = disk.folders.setdefault(folder, {})
    if node is None:
        names.pop(name, None)
    else:
        names[name] = node


def _copied(disk: Disk) -> Disk:
    return Disk({at: dict(names) for at, names in disk.folders.items()}, dict(disk.files))
