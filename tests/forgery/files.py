"""Forgeries of whole files: missing, cut, changed in some bytes, replaced by other kinds of files, and added."""

import os
import random
import shutil
import stat
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from crowdgate import manifest
from tests.forgery.forgery import Change, Forgery, resealed

Edit = Callable[[bytes], bytes]
POSITIONS = 6
"""The number of flips, insertions and removals of bytes in each file."""


def file_forgeries(folder: Path, seed: int, seal: Change) -> Iterator[Forgery]:
    """Yield forgeries of every file; the manifest is made to fit, unless it is the forged file."""
    names = sorted(path.name for path in folder.iterdir())
    for at, name in enumerate(names):
        draw = random.Random(f"{seed} {name}")
        own: Callable[[Change], Change] = _as_it_is if name == manifest.NAME else lambda change: resealed(change, seal)
        for what, edit in edits((folder / name).read_bytes(), draw):
            yield Forgery(f"file bytes: {name}: {what}", own(_editing(name, edit)))
        for what, change in _no_files(name, names[at - 1]):
            yield Forgery(f"file gone: {name}: {what}", change)
            if name != manifest.NAME:
                yield Forgery(f"file gone: {name}: {what}, resealed", resealed(change, seal))


def _as_it_is(change: Change) -> Change:
    return change


def _editing(name: str, edit: Edit) -> Change:
    def apply(folder: Path) -> None:
        path = folder / name
        path.write_bytes(edit(path.read_bytes()))

    return apply


def edits(data: bytes, draw: random.Random) -> Iterator[tuple[str, Edit]]:
    """Changes of the bytes, at seeded places."""
    yield from (("emptied", lambda _: b""), ("other text", lambda _: b"hello\n"), ("doubled", lambda old: old + old))
    for end in (b"\n", b" ", b"\0", b"hidden"):
        yield f"{end!r} behind", _joined(b"", end)
    yield from (("a byte order mark", _joined(b"\xef\xbb\xbf", b"")), ("a byte in front", _joined(b" ", b"")))
    yield "other line ends", lambda old: old.replace(b"\n", b"\r\n")
    for _ in range(POSITIONS):
        yield from _local(data, draw)


def _local(data: bytes, draw: random.Random) -> Iterator[tuple[str, Edit]]:
    at, size, bit = draw.randrange(len(data) or 1), draw.choice((1, 2, 16)), 1 << draw.randrange(8)
    bad = bytes(draw.randrange(256) for _ in range(size))
    yield f"cut at {at}", lambda old: old[:at]
    yield f"{size} removed at {at}", lambda old: old[:at] + old[at + size :]
    yield f"{size} inserted at {at}", lambda old: old[:at] + bad + old[at:]
    yield f"{size} replaced at {at}", lambda old: old[:at] + bad + old[at + size :]
    yield f"{size} doubled at {at}", lambda old: old[: at + size] + old[at:]
    yield f"flipped at {at}", lambda old: old[:at] + bytes(byte ^ bit for byte in old[at : at + 1]) + old[at + 1 :]


def _joined(front: bytes, behind: bytes) -> Edit:
    return lambda old: front + old + behind


def _no_files(name: str, other: str) -> Iterator[tuple[str, Change]]:
    yield "removed", lambda folder: (folder / name).unlink()
    yield "renamed", lambda folder: _moved(folder, name, name.swapcase())
    yield "a copy of another file", lambda folder: (folder / name).write_bytes((folder / other).read_bytes())
    yield "a directory", lambda folder: _instead(folder / name, Path.mkdir)
    yield "a pipe", lambda folder: _instead(folder / name, os.mkfifo)
    yield "a link to the same bytes outside", _linked_away(name)
    yield "a link to another file", lambda folder: _instead(folder / name, lambda path: path.symlink_to(other))
    yield "a link to nothing", lambda folder: _instead(folder / name, lambda path: path.symlink_to("nothing"))
    yield "a link to itself", lambda folder: _instead(folder / name, lambda path: path.symlink_to(name))
    yield "a link to a device", lambda folder: _instead(folder / name, lambda path: path.symlink_to(os.devnull))
    if _may_make_devices():
        yield "a device", lambda folder: _instead(folder / name, _device)


def _moved(folder: Path, name: str, to: str) -> None:
    (folder / name).rename(folder / to)


def _instead(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


def _linked_away(name: str) -> Change:
    def apply(folder: Path) -> None:
        away = folder.parent / "away"
        shutil.move(folder / name, away)
        (folder / name).symlink_to(away)

    return apply


def _device(path: Path) -> None:
    """Make the device of endless zeros."""
    os.mknod(path, 0o644 | stat.S_IFCHR, os.makedev(1, 5))


@cache
def _may_make_devices() -> bool:
    """Return whether the process may make devices: only a superuser outside of a container may."""
    with TemporaryDirectory() as folder:
        try:
            _device(Path(folder) / "probe")
        except OSError:
            return False
    return True


ADDED = ("extra.txt", ".hidden", "data.json", "manifest.json.bak", "a\nb", "README.md ", "\u202etxt", "x" * 200)


def added_forgeries(seal: Change) -> Iterator[Forgery]:
    """Yield forgeries with an additional file, listed and not."""
    for name in ADDED:
        for content in (b"", b"hidden"):
            what = "empty" if not content else "with a text"
            change = _adding(name, content)
            yield Forgery(f"file added: {name!r}: {what}", change)
            yield Forgery(f"file added: {name!r}: {what}, listed", resealed(change, seal))
    yield Forgery("file added: folder: a directory", lambda folder: (folder / "folder").mkdir())
    yield Forgery("file added: pipe: a pipe", lambda folder: os.mkfifo(folder / "pipe"))
    yield Forgery("file added: link: a link", lambda folder: (folder / "link").symlink_to(manifest.NAME))


def _adding(name: str, content: bytes) -> Change:
    def apply(folder: Path) -> None:
        (folder / name).write_bytes(content)

    return apply
