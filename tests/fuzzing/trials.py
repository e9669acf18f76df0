"""A mutated file, and a command that reads it in its own process, with the guarantees for any file."""

import importlib
import os
import re
import resource
import select
import shutil
import signal
import sqlite3
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from itertools import count
from pathlib import Path
from random import Random
from typing import NamedTuple

from crowdgate.cli.app import COMMANDS
from tests.fuzzing.targets import RELEASE, SIGNED, SLOT, TARGETS, signed_copy, unsigned_copy
from tests.workshop import MARK, Workshop, crowdgate

GUIDE = Path(__file__).parents[2] / "pipeline" / "reference" / "commands.md"
SECONDS = 10
"""The number of seconds after which a command counts as hanging."""
SPARE = 1 << 30
"""Bytes of memory that a command may use in addition to its process."""
ADDRESSES = 4 * SPARE
"""Bytes of additional address space; when they are used up, the command must still end normally."""
MOST_SAID = 1 << 18
"""The greatest output of a command in bytes: a hundred problems, each with all correct words."""
ENDS = range(7)
"""The permitted exit codes of a command."""
CODES = set(re.findall(r"^\| `([a-z-]+)` \|", GUIDE.read_text(encoding="utf-8"), re.MULTILINE))
"""The documented codes of errors."""


class Ended(NamedTuple):
    """The end of a command: exit code (negative: a signal; None: it hung), output and memory."""

    code: int | None
    said: str
    memory: int


def copies(folder: Path) -> dict[bool, Workshop]:
    """Make the working copies whose files are mutated: without a key (False) and with one (True).

    They are made in this process, which imports all commands, so that children have their modules.
    """
    for module in sorted({each.module for each in COMMANDS.values()}):
        importlib.import_module(f"crowdgate.cli.{module}")
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        return {False: unsigned_copy(folder / "unsigned"), True: signed_copy(folder / "signed")}


def trial(starts: Mapping[bool, Workshop], name: str, seed: str, folder: Path) -> tuple[str, Ended, list[str]]:
    """Run a command on one mutation of one file; return the command, its end, and the broken guarantees."""
    random, copy, target = Random(f"{name} {seed}"), Workshop(folder / "copy"), TARGETS[name]
    start = starts[name in SIGNED].root
    shutil.rmtree(copy.root, ignore_errors=True)
    shutil.copytree(start, copy.root)
    (path,) = copy.root.glob(target.file)
    path.write_bytes(random.choice(target.mutations)(random, path.read_bytes()))
    changed = path.name == "ledger.db" and _rows(path) != _rows(start / path.relative_to(copy.root))
    command = random.choice(target.commands)
    as_json = " --json" if random.random() < 0.3 else ""
    ended = bounded(f"{command}{as_json}".split(), copy.root)
    forged = changed and command == RELEASE and copy.release_dir(SLOT).exists()
    return command, ended, [*_broken(ended, forged), *(_undocumented(ended.said) if as_json else ())]


def _undocumented(said: str) -> Iterator[str]:
    """Yield the code of an error that the guide for operators does not list."""
    for code in re.findall(r'^  "code": "([^"]*)"|"outcome": "error", "code": "([^"]*)"', said, re.MULTILINE):
        if "".join(code) not in CODES:
            yield f"it ends with the undocumented code {''.join(code)}"


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


def bounded(arguments: Sequence[object], home: Path | None = None) -> Ended:
    """Run the command line in a child process in the folder `home`, within bounds of time and memory."""
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if not child:
            _run(arguments, said.fileno(), home)
        held = _resident(child)
        with closing(_Pid(os.pidfd_open(child))) as pid:
            over = not _ends_in_time(child, pid.number)
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


def _ends_in_time(process: int, pid: int) -> bool:
    """Wait for a process; on a busy machine longer than SECONDS, unless it has used that much of a processor."""
    if select.select([pid], [], [], SECONDS)[0]:
        return True
    user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    used = (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    return used < SECONDS and bool(select.select([pid], [], [], 5 * SECONDS)[0])


def _resident(process: int) -> int:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize()


def _run(arguments: Sequence[object], said: int, home: Path | None) -> None:
    """Run a command in the child process; never returns."""
    code = 70
    try:
        os.dup2(said, 1)
        os.dup2(said, 2)
        sys.stdout = sys.stderr = os.fdopen(said, "w", encoding="utf-8", errors="replace", closefd=False)
        addresses = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + ADDRESSES
        resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.chdir(home or ".")
        code = crowdgate(*arguments)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def numbered(seed: int) -> Iterator[tuple[str, str]]:
    """Yield targets in turn, each with the seeds of its trials."""
    for number in count():
        for target in TARGETS:
            yield target, f"{seed}-{number}"
