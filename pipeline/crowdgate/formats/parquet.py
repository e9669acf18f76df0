"""Parquet. Dictionaries hold only labels that occur; no index, no pandas metadata, no times, no compression.

Rows are sorted, so run lengths alone make the file small (within a tenth of zstd). Without compression no small file
can expand to a large one, and the bytes do not depend on the version of a compressor. Only the first column, by which
rows are sorted first, has statistics: nearly every row group has all values of the others, and theirs take most of the
time of writing. Earlier versions wrote those of all columns.
"""

import atexit
import io
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from crowdgate.errors import VerificationFailed
from crowdgate.formats.byte_compare import Writer, same
from crowdgate.formats.format import as_read, labels_in
from crowdgate.system.child_environment import without_secrets
from crowdgate.system.regular_files import plain_file, read_plain

ROW_GROUP = 1 << 20
READ_ROWS = 1 << 18
LONGEST_TEXT = 1 << 20
"""The greatest length of a text in the footer, in bytes."""
LARGEST_ANEW = 1 << 28
"""The greatest size of a file that is compared in memory, in bytes."""
_ALL_STATISTICS = ContextVar("statistics of all columns, as in files of earlier versions", default=False)
_WRITER = re.compile(r"parquet-cpp-arrow version [0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}")


def write(into: BinaryIO, schema: pa.Schema, pieces: Iterable[pa.Table]) -> None:
    statistics = True if _ALL_STATISTICS.get() else schema.names[:1]
    settings = {"compression": "none", "store_schema": False, "write_statistics": statistics}
    with pq.ParquetWriter(into, schema, **settings) as out:
        for piece in pieces:
            out.write_table(piece, ROW_GROUP)


def read(path: Path, schema: pa.Schema, most: int) -> Iterator[pa.Table]:
    """Yield a Parquet file's table in pieces. Columns are read as dictionaries, which a forged file can't inflate; the
    footer is checked first.
    """
    if not _TRIAL.survives(path, most):
        raise VerificationFailed(f"{path.name}: unreadable")
    limits = {"thrift_string_size_limit": LONGEST_TEXT, "thrift_container_size_limit": LONGEST_TEXT}
    with (
        plain_file(path) as raw,
        pq.ParquetFile(raw, read_dictionary=labels_in(schema), pre_buffer=False, **limits) as file,
    ):
        _check(path.name, file, schema, most)
        for batch in file.iter_batches(READ_ROWS, use_threads=False):
            yield pa.Table.from_batches([batch])


class _Trial:
    """A child process that reads untrusted files before this process does. It is started once, and again
    after a crash.
    """

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.owner = 0
        self.lock = threading.Lock()

    def survives(self, path: Path, most: int) -> bool:
        """Return whether reading the file does not crash the child process: it reads the file to its end, or refuses it
        for more than `most` rows or for compression.
        """
        with self.lock:
            process = self._running()
            try:
                assert process.stdin is not None, "it is a pipe"
                assert process.stdout is not None, "it is a pipe"
                process.stdin.write(json.dumps([str(path.absolute()), most]) + "\n")
                process.stdin.flush()
                answer = process.stdout.readline()
            except OSError:
                answer = ""
            if not answer:  # the file crashed it: the next file needs a new process
                _end_process(process)
                self.process = None
            return answer == "yes\n"

    def _running(self) -> "subprocess.Popen[str]":
        if self.process is None or self.owner != os.getpid():  # a fork must not write into its parent's pipes
            command = [sys.executable, "-P", str(Path(__file__).with_name("trial.py"))]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            settings = {"text": True, "encoding": "utf-8", "env": without_secrets()}
            self.process = subprocess.Popen(command, **pipes, **settings)  # type: ignore[call-overload]
            self.owner = os.getpid()
            atexit.register(_end_process, self.process)
        return self.process


def _end_process(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            pipe.close()  # type: ignore[union-attr]


_TRIAL = _Trial()


def _check(name: str, file: pq.ParquetFile, schema: pa.Schema, most: int) -> None:
    said, held = file.metadata, file.schema_arrow
    if said.metadata or held.metadata or not held.equals(_expected_schema(held, schema)):
        raise VerificationFailed(
            f"{name}: its columns differ from those that the manifest states, or the file carries metadata"
        )
    if said.num_rows > most:
        raise VerificationFailed(f"{name}: the file has more rows than the manifest states")
    for at in range(said.num_row_groups):
        group = said.row_group(at)
        if any(group.column(i).compression != "UNCOMPRESSED" for i in range(group.num_columns)):
            raise VerificationFailed(
                f"{name}: the file is compressed, and Crowdgate writes releases without compression"
            )


def _expected_schema(held: pa.Schema, schema: pa.Schema) -> pa.Schema:
    """Return the expected schema of a file, in which a text column is a dictionary where the file's schema `held` has
    one.
    """
    expected = [
        (field.name, held.field(field.name).type if _is_text(held, field) else field.type) for field in as_read(schema)
    ]
    return pa.schema(expected)


def _is_text(held: pa.Schema, field: pa.Field) -> bool:
    if field.name not in held.names or not pa.types.is_string(field.type):
        return False
    found = held.field(field.name).type
    return bool(pa.types.is_dictionary(found) and pa.types.is_string(found.value_type))


def same_bytes_but_writer(path: Path, write: Writer) -> bool:
    """Return whether the file equals what `write` writes, byte for byte; if the version of the writing library differs,
    except for its name. A file of an earlier version differs in its second column, so it is soon compared anew. Nothing
    of the file is parsed: it may be a stranger's.
    """
    writers = (write, _earlier(write))
    if any(same(path, each) for each in writers):
        return True
    return path.stat().st_size <= LARGEST_ANEW and any(_same_but_writer(path, each) for each in writers)


def _earlier(write: Writer) -> Writer:
    """Return a writer of what `write` wrote in earlier versions."""

    def written(into: BinaryIO) -> None:
        token = _ALL_STATISTICS.set(True)
        try:
            write(into)
        finally:
            _ALL_STATISTICS.reset(token)

    return written


def _same_but_writer(path: Path, write: Writer) -> bool:
    written = io.BytesIO()
    write(written)
    anew, found = written.getvalue(), read_plain(path, LARGEST_ANEW)
    there = pq.read_metadata(io.BytesIO(anew)).created_by
    here = _WRITER.findall(found.decode("latin-1"))
    # a footer ends with its length and PAR1
    begins = len(anew) - 8 - int.from_bytes(anew[-8:-4], "little")
    named = anew[begins:-8].split(_text(there))
    if len(named) != 2 or len(here) != 1:
        return False
    footer = _text(here[0]).join(named)
    return found == anew[:begins] + footer + len(footer).to_bytes(4, "little") + anew[-4:]


def _text(name: str) -> bytes:
    """Return a text of less than 128 bytes as Parquet encodes it in a footer: its length in one byte, then the text."""
    return bytes([len(name)]) + name.encode()
