"""Locations of files of tables: on this machine, or in an object store. Formats open both alike."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias
from urllib.parse import unquote, unquote_to_bytes

from crowdgate.errors import FileFault
from crowdgate.limits import LARGEST_FOOTER
from crowdgate.system.regular_files import plain_descriptor, plain_file

Stamp = tuple[object, ...]
"""The state of a file, which changes with it: its size, its digest if it has a footer, and times or a version."""
Partition = tuple[tuple[str, bytes | None], ...]
"""Columns that the folders above a file state, each with the one value (None: missing) of all its rows."""
_NO_VALUE = b"__HIVE_DEFAULT_PARTITION__"
_CODECS = {".gz": "gzip", ".zst": "zstd"}
_FOOTERS = {b"PAR1": (8, 4), b"ROW1": (10, 6)}
"""By a file's last four bytes: the sizes of its tail, and of the magic number at its end."""
_USUAL_END = 1 << 14
"""The bytes of a file's end that are read at once; most footers are shorter."""


class RemoteFile(Protocol):
    """A file in an object store. Hashable and picklable."""

    @property
    def name(self) -> str:
        """The last part of its path."""

    @property
    def variables(self) -> Sequence[str]:
        """The variables of the environment that opening it takes."""

    def __hash__(self) -> int:
        """Return a hash of the place of the file."""

    def opened(self) -> AbstractContextManager[Any]:
        """Open the file for reading at any position (a NativeFile of pyarrow). Raises OSError."""

    def stamp(self) -> Stamp:
        """Return the state of the file, its size first. Raises OSError."""


Location: TypeAlias = Path | RemoteFile


@dataclass(frozen=True)
class TableFile:
    """A file of a table, with the columns that its folders state."""

    location: Location = field(repr=False)
    partition: Partition = field(default=(), repr=False)


def opened(location: Location) -> AbstractContextManager[Any]:
    """Open a file of a table for reading at any position. Raises OSError."""
    return plain_file(location) if isinstance(location, Path) else location.opened()


def start_of(location: Location, size: int) -> bytes:
    """Return the first `size` bytes of a file of a table, or all if it has fewer. Raises OSError."""
    if isinstance(location, Path):
        with plain_descriptor(location) as file:
            return os.pread(file, size, 0)
    with location.opened() as remote:
        return bytes(remote.read(size))


def codec_of(location: Location) -> str | None:
    """Return the compression that a file's suffix states, as pyarrow calls it, or None."""
    return _CODECS.get(os.path.splitext(location.name.lower())[1])


@contextmanager
def decompressed(location: Location) -> Iterator[tuple[Any, Any]]:
    """Open a file whose suffix states a compression. Yield its content, and the file, whose position shows progress."""
    import pyarrow as pa

    with opened(location) as file, pa.CompressedInputStream(file, codec_of(location)) as content:
        yield content, file


@contextmanager
def arrow_file(location: Location) -> Iterator[Any]:
    """Open a file for pyarrow: by its path on this machine, else as its own kind of file. Raises OSError."""
    if isinstance(location, Path):
        yield location
    else:
        with location.opened() as file:
            yield file


def stamp_of(location: Location) -> Stamp:
    """Return the state of a file, its size first. Numbers of devices, which differ between machines, are no part of it.

    Raises OSError.
    """
    if not isinstance(location, Path):
        return location.stamp()
    with plain_descriptor(location) as file:
        found = os.fstat(file)
        return found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns, _footer_digest(file, found.st_size)


def size_of(stamp: Stamp) -> int:
    """Return the size of a file by its state."""
    assert isinstance(stamp[0], int)
    return stamp[0]


def _footer_digest(file: int, size: int) -> str:
    """Return the SHA-256 of the footer of a Parquet or Arrow file, opened as a descriptor; an empty text for another
    file, whose end are rows.
    """
    end = os.pread(file, _USUAL_END, max(0, size - _USUAL_END))
    tail, magic = _FOOTERS.get(end[-4:], (0, 0))
    if not tail:
        return ""
    length = tail + min(int.from_bytes(end[-tail : -magic or None][:4], "little"), LARGEST_FOOTER, size)
    if length > len(end):
        end = os.pread(file, length, max(0, size - length))
    return hashlib.sha256(end[-length:]).hexdigest()


def table_files(place: Path, suffixes: Sequence[str]) -> list[TableFile]:
    """Return the file at `place`, or the files below this folder with one of these suffixes, in folders `column=value`
    too. Raises FileFault if there is none.
    """
    if not os.path.isdir(place):  # pathlib raises where a name is too long
        if not os.path.isfile(place):
            why = (
                "the table is a folder or another special file, and must be a plain file"
                if os.path.lexists(place)
                else "there is no such file or directory"
            )
            raise FileFault(f"{place.name}: {why}")
        return [TableFile(place)]
    found = None
    with suppress(OSError):  # it names folders, and so values
        found = [TableFile(path, partition(folders)) for path, folders in _walk(place, tuple(suffixes), ())]
    if found is None:
        raise FileFault(f"{place.name}: the directory cannot be opened")
    if not found:
        raise FileFault(f"{place.name}: the directory holds no *{' or *'.join(suffixes)} file")
    return found


def _walk(folder: Path, suffixes: tuple[str, ...], above: tuple[str, ...]) -> Iterator[tuple[Path, tuple[str, ...]]]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            if "=" in path.name:
                yield from _walk(path, suffixes, (*above, path.name))
            elif not is_of_tools(path.name):
                _refuse_files_below(path, suffixes)
        elif path.name.lower().endswith(suffixes) and path.is_file():
            yield path, above


def _refuse_files_below(folder: Path, suffixes: tuple[str, ...]) -> None:
    def unreadable(error: OSError) -> None:
        raise error

    for _, folders, files in os.walk(folder, onerror=unreadable):
        folders[:] = [each for each in folders if not each.startswith(".") and not is_of_tools(each)]
        if any(each.lower().endswith(suffixes) and not each.startswith(".") for each in files):
            raise other_folder()


def is_of_tools(folder: str) -> bool:
    """Return whether a folder is one in which tools keep logs and unfinished work, such as `_temporary`."""
    return folder.startswith("_") and "=" not in folder


def other_folder() -> FileFault:
    """Return the fault of a table with a file in a folder that states no column, without the folder's name."""
    return FileFault(
        "the table has files in a folder that is not named column=value: name the folder that holds them, or move them"
    )


def partition(folders: Sequence[str]) -> Partition:
    """Return the columns and values in names of folders `column=value`, whose special characters are %-encoded."""
    stated = (folder.partition("=") for folder in folders)
    return tuple((unquote(name), _value(os.fsencode(text))) for name, _, text in stated)


def _value(text: bytes) -> bytes | None:
    return None if text == _NO_VALUE else unquote_to_bytes(text)
