"""Commands on the ledger."""

from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import Anchors, AsJson, LedgerUrl
from crowdgate.cli.output import print_json, warn
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.history.ledger_summary import ledger_summary, summary_lines
from crowdgate.ledger import ledger as ledgers
from crowdgate.ledger.copying import copy_ledger
from crowdgate.ledger.file_access import team_folder
from crowdgate.ledger.schema import FORMAT
from crowdgate.ledger.sqlite import path_of
from crowdgate.ledger.stores import placed
from crowdgate.ledger.upgrade import upgrade as upgraded
from crowdgate.number_text import decimal
from crowdgate.operations.channels import deliver
from crowdgate.operations.event import EventKind, new_event
from crowdgate.planning.budgets import budget_left_text, budgets_json, convert_budget, raise_budget
from crowdgate.planning.open_ledger import free_reservation as free_reservation
from crowdgate.planning.open_ledger import ledger_at, ledger_for_reading, verify_ledger
from crowdgate.planning.restore import restore as restored
from crowdgate.settings import configured_key, event_channels, ledger_url, signing_key, trusted_keys

app = typer.Typer(
    help="Create, show and verify the ledger; raise a budget, stop a population.",
    no_args_is_help=True,
    add_completion=False,
)
Population = Annotated[str, typer.Argument(help="The population, as its budget file names it.")]
Reason = Annotated[str, typer.Option(help="Why; kept in the journal.")]


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
            ledger_id = ledgers.create(url, name, signing_key(Path.cwd()))
    except ValueError as error:
        raise ConfigurationError(Problem("command line", None, "NAME or --ledger", "not usable", str(error))) from None
    if as_json:
        print_json({"outcome": "created", "ledger": ledger_id})
    else:
        typer.echo(ledger_id)


@app.command()
def show(ledger: LedgerUrl = None, as_json: AsJson = False) -> None:
    """Show every release, what each population has left and how it went down, raises and freezes with their reasons,
    which releases were approved, which private records were opened, and every audit: when, and by whom."""
    listing = ledger_summary(ledger_for_reading(Path.cwd(), ledger))
    if as_json:
        print_json(listing)
    else:
        for line in summary_lines(listing):
            typer.echo(line)


@app.command()
def verify(
    key: Annotated[
        list[Path] | None, typer.Option("--key", metavar="PUB", help="A trusted public key; may be given again.")
    ] = None,
    anchor: Anchors = None,
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
) -> None:
    """Check the ledger against its own journal, keys and anchors (exit 6 if it was edited); needs read access only.

    Prints the last line and its digest, an anchor to keep elsewhere.
    """
    line, opened = verify_ledger(Path.cwd(), ledger, key or (), anchor or ())
    found = f"{line.number}:{line.digest}"
    if as_json:
        stated = {"ledger": opened.id, "line": line.number, "digest": line.digest, "anchor": found}
        print_json({"outcome": "verified", **stated, "signed": bool(opened.trusted)})
    else:
        by = "and is signed with a trusted key" if opened.trusted else "and no key was asked for"
        typer.echo(f"{opened.id} agrees with its journal, {by}: {found}")


@app.command()
def sign(ledger: LedgerUrl = None, as_json: AsJson = False) -> None:
    """Sign the ledger as it is with the configured key: after you have looked at it, and before a key is first used."""
    configured_key(Path.cwd())
    opened = ledger_at(Path.cwd(), ledger)
    _done("signed", opened.id, f"{opened.id} is signed up to line {opened.sign().number}", as_json)


@app.command()
def free(
    release_id: Annotated[str, typer.Argument(help="POLICY/VERSION/SLOT, as `ledger show` lists it.")],
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
) -> None:
    """Give a reservation back whose run never began to read and can't come back; should it, it is refused."""
    freed = free_reservation(Path.cwd(), ledger, release_id)
    _done("freed", freed, f"{release_id} is free: nothing was read, and nothing is spent", as_json)


@app.command()
def freeze(population: Population, reason: Reason, ledger: LedgerUrl = None, as_json: AsJson = False) -> None:
    """Stop a population: nothing more is charged to it, or read of it, until it is thawed."""
    _freeze(population, True, reason, ledger, as_json)


@app.command()
def thaw(population: Population, reason: Reason, ledger: LedgerUrl = None, as_json: AsJson = False) -> None:
    """Let a frozen population go on."""
    _freeze(population, False, reason, ledger, as_json)


@app.command()
def upgrade(ledger: LedgerUrl = None, as_json: AsJson = False) -> None:
    """Upgrade a ledger of an earlier format to format 4; no line of its journal changes. Formats 2 and 3 are used
    unchanged; Renyi divergences need format 3, a series format 4."""
    home = Path.cwd()
    ledger_id = upgraded(_url(ledger), signer=signing_key(home), trusted=trusted_keys(home))
    _done("upgraded", ledger_id, f"{ledger_id} is a ledger of format {FORMAT}", as_json)


@app.command()
def copy(
    target: Annotated[str, typer.Argument(metavar="URL", help="A new SQLite file or an empty PostgreSQL database.")],
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
) -> None:
    """Copy the ledger to another database: a backup, or to move. Both are compared line by line and row by row. The
    copy is the same ledger, so use only one of them afterwards."""
    source = ledger_for_reading(Path.cwd(), ledger)
    line = copy_ledger(source, _absolute(target))
    said = f"{source.id} is copied; both databases say the same up to {line.number}:{line.digest}"
    _done("copied", source.id, said, as_json)


@app.command()
def restore(
    copy: Annotated[
        Path | None,
        typer.Argument(metavar="COPY", help="A copy of the ledger's file (none: in place, as for a database)."),
    ] = None,
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
) -> None:
    """Restore the ledger from an older copy, or go on with one that lacks lines. What heads, releases, private records
    and claims know, and the copy lacks, is booked as spent. Nothing that was spent is given back."""
    channels = event_channels(Path.cwd())
    done = restored(Path.cwd(), ledger, copy)
    for said in deliver([new_event(EventKind.RESTORED, ledger=done.ledger)], channels):
        warn(said)
    if as_json:
        kept = None if done.replaced is None else str(done.replaced)
        print_json({"outcome": "restored", "ledger": done.ledger, "booked": list(done.booked), "replaced": kept})
        return
    typer.echo(f"{done.ledger} is restored; {len(done.booked)} bookings")
    for each in done.booked:
        typer.echo(f"  {each}")
    if done.replaced is not None:
        typer.echo(f"  the ledger that was in place is kept as {done.replaced}")


@app.command()
def budget(
    population: Population,
    raise_it: Annotated[bool, typer.Option("--raise", help="Raise what is registered.")] = False,
    epsilon: Annotated[str | None, typer.Option(help="The new total epsilon.")] = None,
    delta: Annotated[str | None, typer.Option(help="The new total delta.")] = None,
    people: Annotated[int | None, typer.Option(help="The new bound on people.")] = None,
    reason: Annotated[str | None, typer.Option(help="Why; kept in the journal.")] = None,
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show a registered budget, or raise it (which is recorded, with its reason)."""
    opened = ledger_at(Path.cwd(), ledger)
    if raise_it:
        raise_budget(opened, population, epsilon, delta, people, reason)
    opened.attest()
    found = [entry for entry in budgets_json(opened) if entry["population"] == population]
    if as_json:
        print_json({"outcome": "raised" if raise_it else "shown", "budgets": found})
    elif not found:
        typer.echo(f"{population} is not registered yet; its first release registers it")
    for entry in [] if as_json else found:
        typer.echo(budget_left_text(entry))
        for name in ("registered",) if "used" in entry else ("registered", "spent", "left"):
            typer.echo(f"  {name:<10} epsilon {entry[name]['epsilon']}, delta {entry[name]['delta']}")
        for each in entry.get("divergences", ()):
            typer.echo(f"  order {each['order']:<4} {_short(each['spent'])} of {_short(each['cap'])}")
        if "cut_mass" in entry:
            cut = entry["cut_mass"]
            typer.echo(f"  cut mass   {_short(cut['spent'])} of {_short(cut['cap'])}")


@app.command()
def convert(
    population: Population,
    reason: Reason,
    epsilon: Annotated[str | None, typer.Option(help="Epsilon of a second budget, after the first release.")] = None,
    delta: Annotated[str | None, typer.Option(help="Delta of a second budget, after the first release.")] = None,
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
) -> None:
    """Count all further releases in Renyi divergences. Before the first release the registered budget is converted.
    Later it stays spent as a whole, and a second budget is opened beside it: both are added up."""
    opened = ledger_at(Path.cwd(), ledger)
    try:
        convert_budget(opened, population, epsilon, delta, reason)
    except ValueError as error:
        raise ConfigurationError(
            Problem("command line", None, "--epsilon, --delta or --reason", "not usable", str(error))
        ) from None
    found = next(entry for entry in budgets_json(opened) if entry["population"] == population)
    if as_json:
        print_json({"outcome": "converted", "budgets": [found]})
        return
    typer.echo(budget_left_text(found))
    numbers = ", ".join(f"{name}: {found['registered'][name]}" for name in ("epsilon", "delta"))
    typer.echo(f"Write `{numbers}, accounting: renyi` into its budget file, and raise the policies' versions")


def _short(amount: str) -> str:
    return decimal(Fraction(amount))


def _freeze(population: str, frozen: bool, reason: str, ledger: str | None, as_json: bool) -> None:
    opened, outcome = ledger_at(Path.cwd(), ledger), "frozen" if frozen else "thawed"
    opened.admit()
    try:
        opened.freeze(population, frozen, reason)
    except ValueError as error:
        raise ConfigurationError(
            Problem("command line", None, "POPULATION or --reason", "not usable", str(error))
        ) from None
    _done(outcome, opened.id, f"{population} is {outcome}", as_json)


def _done(outcome: str, ledger_id: str, said: str, as_json: bool) -> None:
    if as_json:
        print_json({"outcome": outcome, "ledger": ledger_id})
    else:
        typer.echo(said)


def _absolute(url: str) -> str:
    try:
        return placed(url, Path.cwd())
    except ValueError as error:
        problem = Problem("command line", None, "URL", "not the URL of a ledger", str(error))
        raise ConfigurationError(problem) from None


def _url(option: str | None) -> str:
    return ledger_url(Path.cwd(), option, placed)
