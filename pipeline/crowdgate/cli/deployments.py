"""The command that prints the scheduled deployments of several policies as one file."""

from pathlib import Path
from typing import Annotated

import typer

from crowdgate.releases.schedule import OtherTimes, deployments_file


def deployments(
    policies: Annotated[list[Path], typer.Argument(metavar="POLICY...", help="The policy files.")],
    cron: Annotated[
        str | None,
        typer.Option("--cron", metavar="CRON", help="When they run, e.g. '0 6 1 * *'; by default by their calendars."),
    ] = None,
    timezone: Annotated[
        str | None,
        typer.Option("--timezone", metavar="ZONE", help="Of the times; by default the calendar's, or UTC."),
    ] = None,
    pool: Annotated[str, typer.Option("--pool", metavar="NAME", help="Prefect's work pool.")] = "releases",
    together: Annotated[
        str | None,
        typer.Option("--together", metavar="NAME", help="One deployment of this name: all policies in one run."),
    ] = None,
    check: Annotated[
        str | None, typer.Option("--check", metavar="CRON", help="Also check each policy, at these times (UTC).")
    ] = None,
    audit: Annotated[
        str | None, typer.Option("--audit", metavar="CRON", help="Also audit each policy, at these times (UTC).")
    ] = None,
    ledger_check: Annotated[
        str | None, typer.Option("--ledger-check", metavar="CRON", help="Also verify the ledger, at these times (UTC).")
    ] = None,
) -> None:
    """Print a whole `schedules/prefect.yaml` with one deployment for each policy, bound to its files as they are now.

    Policies of one population share a work queue. The head of the file says how to limit it to one run at a time.
    """
    others = OtherTimes(check, audit, ledger_check)
    typer.echo(deployments_file(policies, cron, timezone, pool, together=together, others=others), nl=False)
