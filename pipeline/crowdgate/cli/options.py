"""Options and exit codes that several commands share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from crowdgate.cli.output import QUIET
from crowdgate.errors import ConfigurationError, Problem

if TYPE_CHECKING:
    from crowdgate.kind.run import Request, Result

Runner = Callable[["Request"], "Result"]
WITHHELD = 3
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Anchors = Annotated[
    list[str] | None,
    typer.Option("--anchor", metavar="LINE:DIGEST", help="A line that the ledger must hold; may be given again."),
]
LedgerUrl = Annotated[
    str | None,
    typer.Option("--ledger", metavar="URL", help="The ledger, e.g. sqlite:///ledger.db or postgresql://HOST/DATABASE."),
]


def slot(as_of: str | None) -> str:
    """Return the requested slot, by default the day (UTC): the only clock reading of a release."""
    from crowdgate.policy.policy import parse_slot

    try:
        return parse_slot(as_of) if as_of is not None else datetime.now(UTC).date().isoformat()
    except ValueError as error:
        raise ConfigurationError(Problem("command line", None, "--as-of", f"{as_of!r}", str(error))) from None


def today() -> date:
    """Return the day (UTC): the only clock reading of commands on the KL repository."""
    return datetime.now(UTC).date()


@contextmanager
def progress_bar(quiet: bool, doing: str = "reading") -> Iterator[Callable[[int, int], None] | None]:
    """Yield a callback that shows the percentage of the input's bytes, or of trials, on standard error at a terminal.

    It shows no times and no counts.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    console = Console(stderr=True)
    if quiet or QUIET.get() or not console.is_terminal:
        yield None
        return
    columns = (TextColumn(doing), BarColumn(), TaskProgressColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(doing, total=1.0)
        yield lambda done, total: bar.update(task, completed=done / total if total else 1.0)
