"""Releases of several policies in one command: each ends by itself, and the worst end is that of the command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import typer

from crowdgate.cli.options import WITHHELD
from crowdgate.cli.output import error_json, print_json, report_error, report_fault
from crowdgate.errors import CrowdgateError
from crowdgate.kind.run import Request, Result
from crowdgate.releases.dry_run import DryRun

BAD_EXITS = (0, WITHHELD, 4, 2, 5, 6, 1)
"""Exit codes, the worst last: published, withheld, a table that can't be used, wrong files, a ledger that refuses, a
release that does not hold what it states, a fault or crash."""
_FAULT = {"outcome": "error", "code": "fault", "message": "a fault in crowdgate itself", "problems": []}

Run = Callable[[Request], Result | DryRun]
Show = Callable[[Result | DryRun, bool], None]


def release_each(requests: Sequence[Request], run: Run, show: Show, as_json: bool) -> int:
    """Make each requested release and print its end under its policy, or all ends as one object. Return the worst exit
    code. An error or a fault of one stops no other.
    """
    ends = []
    for request in requests:
        if not as_json:
            typer.echo(f"{request.policy}:")
        ends.append({"policy": str(request.policy), **_end(request, run, None if as_json else show)})
    exit_code = max((each["exit"] for each in ends), key=BAD_EXITS.index)
    if as_json:
        print_json({"exit": exit_code, "releases": ends})
    return int(exit_code)


def _end(request: Request, run: Run, show: Show | None) -> dict[str, Any]:
    """Return the end of one release with its exit code, after it was printed."""
    try:
        found = run(request)
    except CrowdgateError as error:
        report_error(error, as_json=False)
        return {"exit": error.exit_code, **error_json(error)}
    except Exception as error:
        report_fault(error, as_json=False)
        return {"exit": 1, **_FAULT}
    if show is not None:
        with suppress(typer.Exit):
            show(found, False)
    return {"exit": 0 if isinstance(found, Result) and found.outcome == "published" else WITHHELD, **found.to_json()}
