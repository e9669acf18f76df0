"""Cases run through the commands, in process, with all their output."""

import json
import logging
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

from crowdgate.ledger.ledger import open_ledger
from tests.conformance.copies import SLOT, Case, Copy, working_copy
from tests.workshop import MARK, crowdgate


@dataclass(frozen=True)
class Said:
    """The exit code of a command, and all its output."""

    code: int
    out: str
    err: str
    log: str

    def json(self) -> dict[str, Any]:
        """Return the one JSON object that was printed."""
        found: dict[str, Any] = json.loads(self.out)
        return found


@dataclass(frozen=True)
class Life:
    """A working copy with the output of checking, planning and releasing it."""

    copy: Copy
    check: Said
    plan: Said
    release: Said


def say(*arguments: object) -> Said:
    """Run a command, and return everything that it prints or logs."""
    out, err, log = StringIO(), StringIO(), StringIO()
    handler, root = logging.StreamHandler(log), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = crowdgate(*arguments)
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    return Said(code, out.getvalue(), err.getvalue(), log.getvalue())


def live(case: Case, root: Path, limit: str = "2") -> Life:
    """Check, plan and release one case."""
    copy = working_copy(case, root, limit=limit)
    return Life(
        copy,
        say("check", copy.policy, "--json"),
        say("plan", copy.policy, "--json"),
        say("release", copy.policy, "--as-of", SLOT, "--json"),
    )


def spent(copy: Copy) -> tuple[Fraction, Fraction]:
    """Return the population's total charge: epsilon and delta."""
    found = open_ledger(copy.ledger, None).spent("clinic-patients")
    return found.epsilon, found.delta


def marked(copy: Copy) -> list[str]:
    """Return files with a marked value, or a marked name, outside the confidential table and the private folders."""
    files = [path for path in copy.root.rglob("*") if path.is_file() and not copy.is_private(path)]
    assert files
    found = [path for path in files if MARK.encode() in path.read_bytes() or MARK in path.name]
    return [str(path.relative_to(copy.root)) for path in found]
