"""The command that makes releases."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import typer

from crowdgate.cli.options import WITHHELD, Anchors, AsJson, LedgerUrl, Runner, progress_bar, slot
from crowdgate.cli.output import announce, print_json, print_verdicts, warn
from crowdgate.cli.paths import path_option
from crowdgate.cli.several_releases import release_each
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.kind.run import Request, Result
from crowdgate.ledger.key import draw_key
from crowdgate.limits import MOST_WORKERS
from crowdgate.operations.observed_run import observed_run
from crowdgate.releases.dry_run import DryRun, dry_run
from crowdgate.releases.enforcement import WORDS
from crowdgate.releases.late_source import MOST_MINUTES
from crowdgate.releases.release import release as run_release

STEPS = (
    "Next: change the release (columns, levels or kind) or the limit in a new version of the policy, or accept that"
    " nothing is published."
)
NEXT_SLOT = "Or make the next slot of the series, if one is left: it costs nothing more."
DETAILS = "For the details run crowdgate record show {id}; each access is recorded."


def next_steps(result: Result) -> str:
    """Return the public part of the last line of a withheld release."""
    return f"{STEPS} {NEXT_SLOT}" if result.in_paid_series else STEPS


def release(
    context: typer.Context,
    policies: Annotated[list[Path], typer.Argument(metavar="POLICY...", help="The policy file, or several.")],
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="SLOT", help="YYYY-MM-DD or YYYY-MM-DDTHHMMZ.")
    ] = None,
    input_path: Annotated[
        Path | None,
        typer.Option("--input", parser=path_option("--input"), metavar="PATH", help="Instead of the contract's path."),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--to", parser=path_option("--to"), metavar="PATH", help="Instead of the policy's folder."),
    ] = None,
    ledger: LedgerUrl = None,
    anchor: Anchors = None,
    anyway: Annotated[
        str | None,
        typer.Option("--anyway", metavar="REASON", help="Charge a release that past runs would hold. Journalled."),
    ] = None,
    wait: Annotated[
        int,
        typer.Option("--wait", metavar="MINUTES", min=0, max=MOST_MINUTES, help="For a late table; before the charge."),
    ] = 0,
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", min=1, max=MOST_WORKERS, help="Processes that count the table.")
    ] = 1,
    cluster: Annotated[
        str | None, typer.Option("--cluster", metavar="URL", help="A Dask scheduler whose workers count the table.")
    ] = None,
    prefect: Annotated[bool, typer.Option("--prefect", help="Run as a Prefect flow.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make one release of a table, if all rules of its policy allow it: published (exit 0) or withheld (exit 3).

    A release that past runs show to be withheld is held before it is charged (exit 3). Several policies are released
    one after another for one slot. Each ends by itself, and the exit code is that of the worst end.
    """
    at = datetime.now(UTC) if as_of is None else None
    anchors = tuple(anchor or ())
    requests = [
        Request(
            policy,
            slot(as_of),
            input_path,
            to,
            ledger,
            anchors=anchors,
            anyway=anyway,
            at=at,
            wait=wait,
            workers=workers,
            cluster=cluster,
        )
        for policy in policies
    ]
    scheduler: Runner | None = context.obj if prefect or os.environ.get("PREFECT_API_URL") else None
    if len(requests) == 1:
        show(_run(requests[0], scheduler, as_json), as_json)
        return
    if input_path is not None:
        raise ConfigurationError(Problem("command line", None, "--input", "one table", "one policy with --input"))
    raise typer.Exit(release_each(requests, lambda each: _run(each, scheduler, as_json), show, as_json))


def _run(request: Request, scheduler: Runner | None, as_json: bool) -> Result | DryRun:
    """Return the outcome of one release, with its events delivered. Raises the error that stopped it."""
    run = str(uuid4())
    rehearsed = observed_run(request, run, lambda: dry_run(request), warn)
    if rehearsed is not None:
        return rehearsed
    if scheduler is not None:
        return scheduler(request)
    with progress_bar(as_json) as progress:
        return observed_run(request, run, lambda: run_release(request, draw_key, progress, announce), warn)


def _show_dry_run(found: DryRun, as_json: bool) -> None:
    """Print a simulated run in place of a release."""
    if as_json:
        print_json(found.to_json())
    else:
        from crowdgate.cli.rehearse import show as show_rehearsal

        typer.echo(WORDS)
        show_rehearsal(found.rehearsed)


def show(result: Result | DryRun, as_json: bool) -> None:
    """Print the result of a release; a withheld one exits with 3. The last line of a published one is its path."""
    if isinstance(result, DryRun):
        _show_dry_run(result, as_json)
    elif as_json:
        print_json(result.to_json())
    elif result.outcome in ("held", "waiting"):
        typer.echo(f"{result.outcome} {result.release_id}\n{result.plain}")
        if result.outcome == "waiting":
            typer.echo("Run this command again after that.")
        print_verdicts(result.verdicts)
    else:
        typer.echo(f"{result.outcome} {result.release_id}")
        typer.echo(f"{result.cost} {result.left}".rstrip())
        typer.echo(result.plain)
        print_verdicts(result.verdicts)
        details = DETAILS.format(id=result.release_id)
        typer.echo(f"{next_steps(result)} {details}" if result.path is None else str(result.path))
    if isinstance(result, DryRun) or result.outcome != "published":
        raise typer.Exit(WITHHELD)
