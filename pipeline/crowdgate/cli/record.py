"""Commands on private records, only for the custodian."""

from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import AsJson, LedgerUrl
from crowdgate.cli.output import print_json
from crowdgate.pages.private_record import record_markdown, write_record_page
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.releases.private_record import open_record
from crowdgate.report.page_files import check_name

app = typer.Typer(
    help="Open the private record of a release; every access is recorded.", no_args_is_help=True, add_completion=False
)


@app.callback()
def _records() -> None:
    """Keep `show` a command of its own."""


@app.command()
def show(
    release_id: Annotated[str, typer.Argument(help="POLICY/VERSION/SLOT, as `ledger show` lists it.")],
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="Write a page instead: HTML, or Markdown (.md).")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Show everything that the record holds.")] = False,
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show the ingestion summary and all verdicts of a run. The access is recorded, and marks later policies."""
    if page is not None:
        check_name(page)  # nothing is opened for a page that can't be written
    found = open_record(release_id, ledger_at(Path.cwd(), ledger))
    if page is not None:
        write_record_page(found, page)
    if as_json:
        print_json(found.to_json())
    elif page is None:
        typer.echo(record_markdown(found, full=full), nl=False)
