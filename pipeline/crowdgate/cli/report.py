"""Commands that write pages for people who answer for releases."""

import sys
from pathlib import Path
from typing import Annotated, Protocol

import typer

from crowdgate.cli.options import LedgerUrl

WIDTH = 80
app = typer.Typer(
    help="Pages for a board: a release, published or withheld; a budget; an index over a ledger.",
    no_args_is_help=True,
    add_completion=False,
)
PageFile = Annotated[
    Path | None, typer.Option("--page", metavar="FILE", help="Write a page: HTML with pictures, or Markdown (.md).")
]


@app.command()
def release(
    release: Annotated[str, typer.Argument(help="A release's folder, or POLICY/VERSION/SLOT in the ledger.")],
    page: PageFile = None,
    private: Annotated[
        bool,
        typer.Option("--private", help="With what its private record tells, for the curator: recorded as a look."),
    ] = False,
    key: Annotated[
        list[Path] | None,
        typer.Option("--key", metavar="PUB", help="A trusted public key, of a folder; may be given again."),
    ] = None,
    ledger: LedgerUrl = None,
) -> None:
    """The page of one run: outcome first, what decided, four questions about attacks, three criteria, pictures."""
    from crowdgate.jobs.reporting.release import asked_for, with_private
    from crowdgate.report.written import check_name

    if page is not None:
        check_name(page)
    found = with_private(release, page, ledger) if private else asked_for(release, ledger, key or ())
    _show(found, page)


@app.command()
def budget(
    population: Annotated[str, typer.Argument(help="A population that the ledger has registered.")],
    page: PageFile = None,
    ledger: LedgerUrl = None,
) -> None:
    """The page of a population's budget for life: how it went down, with every raise and its reason."""
    from crowdgate.jobs.ledgers import ledger_read
    from crowdgate.jobs.reporting.budget import budget_page

    opened = ledger_read(Path.cwd(), ledger)
    opened.attest()
    _show(budget_page(opened, population), page)


@app.command()
def index(
    folder: Annotated[Path, typer.Argument(help="A new folder for the pages.")],
    ledger: LedgerUrl = None,
) -> None:
    """A folder of pages: an index over all runs of the ledger, each run's own page, and each budget's."""
    from crowdgate.jobs.ledgers import ledger_read
    from crowdgate.jobs.reporting.index import write_index

    opened = ledger_read(Path.cwd(), ledger)
    opened.attest()
    typer.echo(str(write_index(opened, Path.cwd(), folder)))


class Shown(Protocol):
    """A page."""

    def markdown(self) -> str: ...

    def write(self, path: Path) -> None: ...


def _show(found: Shown, page: Path | None) -> None:
    """As a file, whose path is printed; or at the terminal, wrapped at words."""
    if page is not None:
        found.write(page)
        typer.echo(str(page))
        return
    from rich.console import Console
    from rich.markdown import Markdown

    from crowdgate.report.html import unmarked

    width = None if sys.stdout.isatty() else WIDTH
    Console(file=sys.stdout, width=width).print(Markdown(unmarked(found.markdown()), hyperlinks=False))
