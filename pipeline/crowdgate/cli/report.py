"""Commands that write pages for the people who answer for releases."""

from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import AsJson, LedgerUrl
from crowdgate.cli.output import print_page

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
    as_json: AsJson = False,
) -> None:
    """The page of one run: outcome first, what decided, four questions about attacks, three criteria, pictures."""
    from crowdgate.pages.release import private_page, requested_page
    from crowdgate.report.page_files import check_name

    if page is not None:
        check_name(page)
    found = private_page(release, page, ledger) if private else requested_page(release, ledger, key or ())
    print_page(found, page, as_json)


@app.command()
def budget(
    population: Annotated[str, typer.Argument(help="A population that the ledger has registered.")],
    page: PageFile = None,
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
) -> None:
    """The page of a population's budget for life: how it went down, with every raise and its reason."""
    from crowdgate.pages.budget import budget_page
    from crowdgate.planning.open_ledger import ledger_for_reading

    opened = ledger_for_reading(Path.cwd(), ledger)
    opened.attest()
    print_page(budget_page(opened, population), page, as_json)


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
