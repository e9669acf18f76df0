"""A mutated file, and a command that reads it in its own process, with the guarantees for any file."""

import os
import resource
import select
import shutil
import signal
import sqlite3
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from itertools import count
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.fuzzing.mutations import MUTATIONS
from tests.workshop import MARK, Workshop, crowdgate, good_rows, make_workshop, write_csv

SECONDS = 10
"""The number of seconds after which a command counts as hanging."""
SPARE = 1 << 30
"""Bytes of memory that a command may use in addition to its process."""
ADDRESSES = 4 * SPARE
"""Bytes of additional address space; when they are used up, the command must still end normally."""
MOST_SAID = 1 << 18
"""The greatest output of a command in bytes: a hundred problems, each with all correct words."""
ENDS = range(6)
"""The permitted exit codes of a command."""
BEFORE, SLOT = "2030-01-01", "2030-01-02"


class Ended(NamedTuple):
    """The end of a command: exit code (negative: a signal; None: it hung), output and memory."""

    code: int | None
    said: str
    memory: int


def template(root: Path) -> Workshop:
    """Make a working copy with one release and a table as Parquet and CSV.

    It is made in this process, so that children have all modules of a release imported.
    """
    workshop = make_workshop(root)
    write_csv(workshop.data.with_suffix(".csv"), good_rows(600))
    with redirect_stdout(StringIO()) as said, redirect_stderr(said):
        code = crowdgate("release", workshop.policy, "--as-of", BEFORE)
    assert code == 0, said.getvalue()
    return workshop


def target_file(workshop: Workshop, target: str) -> Path:
    """Return the file that is mutated."""
    return {
        "policy": workshop.policy,
        "contract": workshop.contract,
        "budget": workshop.budget,
        "csv": workshop.data.with_suffix(".csv"),
        "parquet": workshop.data,
        "ledger": workshop.root / "ledger" / "ledger.db",
    }[target]


def trial(start: Workshop, target: str, seed: str, folder: Path) -> tuple[str, Ended, list[str]]:
    """Run a command on one mutation of one file; return the command, its end, and the broken guarantees."""
    random, copy = Random(f"{target} {seed}"), Workshop(folder / "copy")
    shutil.rmtree(copy.root, ignore_errors=True)
    shutil.copytree(start.root, copy.root)
    path = target_file(copy, target)
    before = path.read_bytes()
    after = random.choice(MUTATIONS[target])(random, before)
    path.write_bytes(after)
    changed = target == "ledger" and _rows(path) != _rows(target_file(start, target))
    command = "check" if target in ("policy", "contract", "budget") and random.random() < 0.3 else "release"
    more: list[object] = [] if command == "check" else ["--as-of", SLOT]
    ended = bounded([command, copy.policy, *more, *(["--input", path] if target == "csv" else [])])
    return command, ended, list(_broken(ended, changed and copy.release_dir(SLOT).exists()))


def _broken(ended: Ended, forged: bool) -> Iterator[str]:
    if ended.code is None:
        yield f"it takes more than {SECONDS} seconds"
    elif ended.code not in ENDS:
        yield f"it ends by {ended.code}"
    if "Traceback" in ended.said:
        yield "it shows a traceback"
    if "a fault in crowdgate itself" in ended.said:
        yield "it is a fault of the program"
    if MARK in ended.said:
        yield "it quotes a value"
    if len(ended.said) > MOST_SAID:
        yield "it says too much"
    if ended.memory > SPARE:
        yield f"it takes {ended.memory >> 20} MiB"
    if forged:
        yield "it releases by a ledger whose rows are others"


def _rows(path: Path) -> list[str] | None:
    """Return the contents of a database; None if unreadable."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as database:
            return list(database.iterdump())
    except (sqlite3.Error, ValueError, OverflowError):
        return None


def bounded(arguments: Sequence[object]) -> Ended:
    """Run the command line in a child process, within bounds of time and memory."""
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if not child:
            _run(arguments, said.fileno())
        held = _resident(child)
        with closing(_Pid(os.pidfd_open(child))) as pid:
            over = not select.select([pid.number], [], [], SECONDS)[0]
        if over:
            os.kill(child, signal.SIGKILL)
        _, status, used = os.wait4(child, 0)
        said.seek(0)
        text = said.read().decode(errors="replace")
    return Ended(None if over else os.waitstatus_to_exitcode(status), text, max(0, used.ru_maxrss * 1024 - held))


@dataclass(frozen=True)
class _Pid:
    number: int

    def close(self) -> None:
        os.close(self.number)


def _resident(process: int) -> int:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize()


def _run(arguments: Sequence[object], said: int) -> None:
    """Run a command in the child process; never returns."""
    code = 70
    try:
        os.dup2(said, 1)
        os.dup2(said, 2)
        sys.stdout = sys.stderr = os.fdopen(said, "w", encoding="utf-8", errors="replace", closefd=False)
        addresses = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + ADDRESSES
        resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        code = crowdgate(*arguments)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def numbered(seed: int) -> Iterator[tuple[str, str]]:
    """Yield targets in turn, each with the seeds of its trials."""
    for number in count():
        for target in MUTATIONS:
            yield target, f"{seed}-{number}"
