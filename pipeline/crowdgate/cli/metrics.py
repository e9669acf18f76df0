"""The command that writes metrics of a working copy for monitoring."""

from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import LedgerUrl
from crowdgate.cli.paths import path_option
from crowdgate.operations.metrics import metrics_text, write_metrics


def metrics(
    file: Annotated[
        Path | None,
        typer.Option("--file", parser=path_option("--file"), metavar="FILE", help="Write it there, atomically."),
    ] = None,
    ledger: LedgerUrl = None,
) -> None:
    """Print metrics of the working copy as OpenMetrics: budgets, audits, forecasts, latest slots.

    Nothing is changed, and no table is read. Run it daily: the age of an audit grows without any release.
    """
    if file is None:
        typer.echo(metrics_text(Path.cwd(), ledger), nl=False)
    else:
        write_metrics(Path.cwd(), ledger, file.absolute())
