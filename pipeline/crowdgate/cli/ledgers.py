"""Commands on the ledger."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from crowdgate.accounting.numbers import exact_text
from crowdgate.cli.output import print_json
from crowdgate.cli.releases import AsJson, LedgerUrl
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.jobs.budgets import budgets_json, left_words, raise_budget
from crowdgate.ledger import ledger as ledgers
from crowdgate.ledger.audits import audits
from crowdgate.ledger.looks import ANONYMITY_MEASURED, RECORD_OPENED, TABLE_AUDITED, looks
from crowdgate.ledger.sharing import team_folder
from crowdgate.ledger.sqlite import path_of
from crowdgate.ledger.stores import placed
from crowdgate.settings import ledger_url

app = typer.Typer(help="Create and show the ledger, raise a budget.", no_args_is_help=True)


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits and hyphens.")],
    group: Annotated[
        bool, typer.Option("--group", help="For a team: all of the group of the ledger's folder may use it.")
    ] = False,
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
) -> None:
    """Create a new ledger, once, and print the id that budget files name."""
    url = _url(ledger)
    try:
        with team_folder(path_of(url).parent) if group else nullcontext():
            ledger_id = ledgers.create(url, name)
    except ValueError as error:
        raise ConfigurationError(Problem("command line", None, "NAME or --ledger", "not usable", str(error))) from None
    if as_json:
        print_json({"outcome": "created", "ledger": ledger_id})
    else:
        typer.echo(ledger_id)


@app.command()
def show(ledger: LedgerUrl = None, as_json: AsJson = False) -> None:
    """Show every release, what each population has left, which private records were opened, and every audit."""
    opened = ledgers.open_ledger(_url(ledger), None)
    journal = opened.journal()
    looked = [
        {"line": line.number, "release_id": line.subject} for line in looks(journal) if line.event == RECORD_OPENED
    ]
    tables, measured = (
        [{"line": line.number, "population": line.subject} for line in looks(journal) if line.event == event]
        for event in (TABLE_AUDITED, ANONYMITY_MEASURED)
    )
    found = {"budgets": budgets_json(opened), "releases": _releases(opened), "records_opened": looked}
    listing: dict[str, Any] = {"ledger": opened.id, **found}
    listing |= {
        "audits": [vars(each) for each in audits(journal)],
        "tables_audited": tables,
        "tables_measured": measured,
    }
    if as_json:
        print_json(listing)
        return
    typer.echo(opened.id)
    for budget in listing["budgets"]:
        typer.echo(f"  {left_words(budget)}")
    for entry in listing["releases"]:
        typer.echo(f"  {entry['state']:<10} {entry['release_id']} epsilon {entry['epsilon']}, delta {entry['delta']}")
    for look in looked:
        typer.echo(f"  private record of {look['release_id']} opened (line {look['line']})")
    for each in listing["audits"]:
        typer.echo(f"  audit of {each['policy']}, {each['question']}: {each['event']} (line {each['line']})")
    for look in tables:
        typer.echo(f"  audit on the confidential table of {look['population']} (line {look['line']})")
    for look in measured:
        typer.echo(f"  anonymity sets of the confidential table of {look['population']} (line {look['line']})")


@app.command()
def verify(ledger: LedgerUrl = None, as_json: AsJson = False) -> None:
    """Check the ledger against its own journal (exit 6 if it was edited); prints the digest to keep elsewhere."""
    opened = ledgers.open_ledger(_url(ledger), None)
    digest = opened.verify()
    if as_json:
        print_json({"outcome": "verified", "ledger": opened.id, "digest": digest})
    else:
        typer.echo(f"{opened.id} agrees with its journal: {digest}")


@app.command()
def budget(
    population: Annotated[str, typer.Argument(help="The population, as its budget file names it.")],
    raise_it: Annotated[bool, typer.Option("--raise", help="Raise what is registered.")] = False,
    epsilon: Annotated[str | None, typer.Option(help="The new total epsilon.")] = None,
    delta: Annotated[str | None, typer.Option(help="The new total delta.")] = None,
    people: Annotated[int | None, typer.Option(help="The new bound on people.")] = None,
    reason: Annotated[str | None, typer.Option(help="Why; kept in the journal.")] = None,
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show a registered budget, or raise it (which is recorded, with its reason)."""
    opened = ledgers.open_ledger(_url(ledger), None)
    if raise_it:
        raise_budget(opened, population, epsilon, delta, people, reason)
    found = [entry for entry in budgets_json(opened) if entry["population"] == population]
    if as_json:
        print_json({"outcome": "raised" if raise_it else "shown", "budgets": found})
    elif not found:
        typer.echo(f"{population} is not registered yet; its first release registers it")
    for entry in [] if as_json else found:
        typer.echo(left_words(entry))
        for name in ("registered", "spent", "left"):
            typer.echo(f"  {name:<10} epsilon {entry[name]['epsilon']}, delta {entry[name]['delta']}")


def _url(option: str | None) -> str:
    return ledger_url(Path.cwd(), option, placed)


def _releases(opened: ledgers.Ledger) -> list[dict[str, Any]]:
    return [
        {
            "release_id": entry.release_id,
            "state": str(entry.state),
            "population": entry.population,
            "epsilon": exact_text(entry.spend.epsilon),
            "delta": exact_text(entry.spend.delta),
            "policy_digest": entry.policy_digest,
            "manifest_digest": entry.manifest_digest,
        }
        for entry in opened.entries()
    ]
