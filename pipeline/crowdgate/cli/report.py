"""Commands that write pages for the people who answer for releases."""

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
        typer.Option("--private", help="With its private record, for the custodian: recorded as an access."),
    ] = False,
    key: Annotated[
        list[Path] | None,
        typer.Option("--key", metavar="PUB", help="A trusted public key, of a folder; may be given again."),
    ] = None,
    ledger: LedgerUrl = None,
) -> None:
    """The page of one run: outcome first, what decided, four questions about attacks, three criteria, pictures."""
    from crowdgate.pages.release import private_page, requested_page
    from crowdgate.report.page_files import check_name

    if page is not None:
        check_name(page)
    found = private_page(release, page, ledger) if private else requested_page(release, ledger, key or ())
    _show(found, page)


@app.command()
def budget(
    population: Annotated[str, typer.Argument(help="A population that the ledger has registered.")],
    page: PageFile = None,
    ledger: LedgerUrl = None,
) -> None:
    """The page of a population's budget for life: how it went down, with every raise and its reason."""
    from crowdgate.pages.budget import budget_page
    from crowdgate.planning.open_ledger import ledger_for_reading

    opened = ledger_for_reading(Path.cwd(), ledger)
    opened.attest()
    _show(budget_page(opened, population), page)


@app.command()
def index(
    folder: Annotated[Path, typer.Argument(help="A new folder for the pages.")],
    ledger: LedgerUrl = None,
) -> None:
    """A folder of pages: an index over all runs of the ledger, each run's own page, and each budget's."""
    from crowdgate.pages.index import write_index
    from crowdgate.planning.open_ledger import ledger_for_reading

    opened = ledger_for_reading(Path.cwd(), ledger)
    opened.attest()
    typer.echo(str(write_index(opened, Path.cwd(), folder)))


class PrintablePage(Protocol):
    """A page that can be printed as Markdown and written to a file."""

    def markdown(self) -> str: ...

    def write(self, path: Path) -> None: ...


def _show(found: PrintablePage, page: Path | None) -> None:
    """Write the page as a file, and print its path; or print it at the terminal, wrapped at words."""
    if page is not None:
        found.write(page)
        typer.echo(str(page))
        return
    from rich.console import Console
    from rich.markdown import Markdown

    from crowdgate.report.html import without_marks

    width = None if sys.stdout.isatty() else WIDTH
    Console(file=sys.stdout, width=width).print(Markdown(without_marks(found.markdown()), hyperlinks=False))
