"""The command that prints the scheduled deployment of a policy."""

from pathlib import Path
from typing import Annotated

import typer

from crowdgate.releases.schedule import schedule_entry


def schedule(
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    cron: Annotated[str, typer.Option("--cron", metavar="CRON", help="When it runs, e.g. '0 6 1 * *'.")],
    timezone: Annotated[
        str | None,
        typer.Option("--timezone", metavar="ZONE", help="Of --cron; by default the calendar's, or UTC."),
    ] = None,
    pool: Annotated[str, typer.Option("--pool", metavar="NAME", help="Prefect's work pool.")] = "releases",
) -> None:
    """Print a policy's deployment for `schedules/prefect.yaml`: bound to the policy and to its files as they are now.

    A changed policy needs a new entry. Until then its runs are refused, and nothing is charged.
    """
    typer.echo(schedule_entry(policy, cron, timezone, pool), nl=False)
