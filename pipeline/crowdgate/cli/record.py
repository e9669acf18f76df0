"""Commands on private records, only for the custodian: open, list and delete them."""

from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import AsJson, LedgerUrl
from crowdgate.cli.output import print_json, print_page
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.pages.private_record import record_report
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.releases.private_record import open_record
from crowdgate.releases.record_retention import delete_record, expired_records, stored_records
from crowdgate.report.page_files import check_name
from crowdgate.settings import private_record_days

app = typer.Typer(
    help="Open, list and delete private records; every access and every deletion is recorded.",
    no_args_is_help=True,
    add_completion=False,
)


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
    print_page(record_report(found, full=full or page is not None), page, as_json)


@app.command(name="list")
def list_(ledger: LedgerUrl = None, as_json: AsJson = False) -> None:
    """List the private records beside the ledger: names and days, nothing of their contents. That is no access."""
    home = Path.cwd()
    found = stored_records(ledger_at(home, ledger), private_record_days(home))
    if as_json:
        print_json({"outcome": "listed", "records": [each.to_json() for each in found]})
        return
    for each in found:
        typer.echo(f"{each.name}  {each.words}")
    if not found:
        typer.echo("No private record lies beside this ledger.")


@app.command()
def delete(
    record: Annotated[str | None, typer.Argument(metavar="ID", help="A name that `record list` shows.")] = None,
    expired: Annotated[
        bool, typer.Option("--expired", help="All that are older than `private_record_days` in crowdgate.toml.")
    ] = False,
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
) -> None:
    """Delete a private record, or all expired ones. The ledger records each deletion first; the privacy cost stays
    charged, and the record's digest stays in the journal."""
    home = Path.cwd()
    if (record is None) != expired:
        found, wanted = ("both", "one of them") if expired else ("neither", "an ID, or --expired")
        raise ConfigurationError(Problem("command line", None, "ID or --expired", found, wanted))
    opened = ledger_at(home, ledger)
    names = [record] if record is not None else expired_records(opened, home)
    done = [delete_record(name, opened) for name in names]
    if as_json:
        print_json({"outcome": "deleted", "records": [each.to_json() for each in done]})
        return
    for each in done:
        typer.echo(each.words)
    if not done:
        typer.echo("No private record has expired.")
