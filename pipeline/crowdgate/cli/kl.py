"""Commands on the KL repository: known KL distances of people's attributes from uniform."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from crowdgate.anonymity.kl.charged_run import WITHHELD as WITHHELD_WORDS
from crowdgate.anonymity.kl.decide import CollectionChoice
from crowdgate.anonymity.kl.decide import decide as record_decision
from crowdgate.anonymity.kl.inventory import TITLES as INVENTORY
from crowdgate.anonymity.kl.inventory import inventory as take_inventory
from crowdgate.anonymity.kl.page import repository_page
from crowdgate.anonymity.kl.publish import PublicationRequest
from crowdgate.anonymity.kl.publish import publish as publish_entry
from crowdgate.anonymity.kl.query import MEANING, TITLES, entry_json, entry_row, open_repository
from crowdgate.anonymity.kl.query import query as query_entries
from crowdgate.anonymity.kl.reading import SignedEntry
from crowdgate.cli.options import WITHHELD, AsJson, LedgerUrl, slot, today
from crowdgate.cli.output import announce, print_json, print_listing
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.kind.listing import text_listing
from crowdgate.planning.decisions import unchecked_decisions_text
from crowdgate.report.page_files import check_name
from crowdgate.risk.kl import groups_needed

app = typer.Typer(
    help="Publish and query KL distances; record what is collected.", no_args_is_help=True, add_completion=False
)
Contract = Annotated[Path, typer.Argument(metavar="CONTRACT", help="The contract's file.")]
Of = Annotated[list[str], typer.Option("--of", metavar="A[=LEVEL],...", help="Attributes, each at a level (exact).")]
From = Annotated[str, typer.Option("--from", metavar="REPO", help="A folder, or an http(s) URL.")]
Trusted = Annotated[list[Path], typer.Option("--key", metavar="PUB", help="A file of public keys that are trusted.")]
Where = Annotated[
    list[str] | None, typer.Option("--where", metavar="A=VALUE", help="Only people with this value; may be repeated.")
]


@app.command()
def publish(
    contract: Contract,
    of: Of,
    to: Annotated[str, typer.Option("--to", metavar="FOLDER", help="The repository, relative to the working copy.")],
    words: Annotated[str, typer.Option("--words", metavar="TEXT", help="The population in words.")],
    coverage: Annotated[str, typer.Option(help="Share of the population that the data cover, 0 to 1.")],
    error: Annotated[str, typer.Option(help="Share of cells that are wrong, 0 to 1.")],
    where: Where = None,
    public: Annotated[bool, typer.Option("--public", help="Count the contract's table, which is public.")] = False,
    release: Annotated[
        Path | None, typer.Option("--from", metavar="RELEASE_DIR", help="From a published release's counts: free.")
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option("--epsilon", metavar="E", help="From the confidential table, through noise of this cost."),
    ] = None,
    curve: Annotated[
        bool, typer.Option("--curve", help="Add the shares of unique people in groups of four sizes.")
    ] = False,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="SLOT", help="YYYY-MM-DD or YYYY-MM-DDTHHMMZ.")
    ] = None,
    key: Annotated[
        list[Path] | None, typer.Option("--key", metavar="PUB", help="Keys of the repository's other holders.")
    ] = None,
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
) -> None:
    """Publish the KL distance of some attributes of a contract's population as a signed entry.

    Exit 3 where a confidential population is too small, by its noisy count.
    """
    asked = PublicationRequest(
        contract,
        of,
        to,
        words,
        coverage,
        error,
        slot(as_of),
        where or (),
        public,
        release,
        epsilon,
        ledger,
        key or (),
        curve,
    )
    found = publish_entry(asked, today(), announce=announce)
    if found.digest is None:
        _print_result({"outcome": "withheld", "plain": WITHHELD_WORDS}, as_json, f"withheld: {WITHHELD_WORDS}")
        raise typer.Exit(WITHHELD)
    said = {"outcome": "published", "entry": found.digest, "repository": str(found.folder), "before": found.before}
    _print_result(said, as_json, f"published {found.digest}{' (it was there)' if found.before else ''}")


@app.command()
def query(
    repository: From,
    contract: Annotated[str, typer.Option("--contract", metavar="ID", help="The contract whose vocabulary is meant.")],
    of: Of,
    key: Trusted,
    population: Annotated[str | None, typer.Option("--population", metavar="ID", help="Of this population.")] = None,
    where: Where = None,
    as_json: AsJson = False,
) -> None:
    """Find entries on some attributes: exact ones, and those that say more or less. None is chosen for you.

    Exit 3 where exact entries conflict, or nothing answers.
    """
    found = query_entries(open_repository(repository, key, today()), Path.cwd(), contract, of, population, where or ())
    if as_json:
        print_json(found.to_json())
    else:
        _show("exact", found.found.exact)
        _show("more specific", found.found.more)
        _show("less specific", found.found.less)
        if found.found.outcome != "none":
            typer.echo(MEANING)
        if found.found.exact:
            print_listing(found.unique_people())
        for one, other in found.found.conflicts:
            typer.echo(f"conflict: {one.digest[:12]} and {other.digest[:12]} can't both hold; ask their holders")
        typer.echo(f"outcome: {found.found.outcome}")
    if found.found.outcome in ("conflicting", "none"):
        raise typer.Exit(WITHHELD)


@app.command("list")
def list_entries(
    repository: From,
    key: Trusted,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="Write a page: HTML, or Markdown (.md).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show every entry of a repository (exit 6 unless all of it holds)."""
    if page is not None:
        check_name(page)
    found = open_repository(repository, key, today())
    if page is not None:
        repository_page(found).write(page)
    if as_json:
        entries = [entry_json(each) for each in found.entries]
        print_json({"outcome": "listed", "repository": found.place, "date": found.date, "entries": entries})
        return
    if page is not None:
        typer.echo(str(page))
        return
    print_listing(text_listing(f"{found.place}, as of {found.date}", TITLES, map(entry_row, found.entries)))
    typer.echo(MEANING)


def _print_result(said: Mapping[str, object], as_json: bool, plain: str) -> None:
    if as_json:
        print_json(said)
    else:
        typer.echo(plain)


def _show(title: str, entries: tuple[SignedEntry, ...]) -> None:
    if entries:
        print_listing(text_listing(title, TITLES, map(entry_row, entries)))


@app.command()
def decide(
    contract: Contract,
    of: Annotated[str, typer.Option("--of", metavar="ATTRIBUTE", help="What is decided about.")],
    decision: Annotated[str, typer.Option("--decision", metavar="D", help="collect, coarsen or do-not-collect.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.")],
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Who decides.")],
    rests_on: Annotated[str, typer.Option("--rests-on", metavar="TEXT", help="The entry or prediction it rests on.")],
    to_level: Annotated[str | None, typer.Option("--to-level", metavar="LEVEL", help="With coarsen.")] = None,
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
) -> None:
    """Record whether an attribute is collected: `check` and `release` hold the contract to it from then on."""
    found = record_decision(CollectionChoice(contract, of, decision, to_level, reason, by, rests_on, ledger), today())
    made = found.decision
    against = [str(problem) for problem in found.against]
    said = {"outcome": "decided", "file": str(made.path), "digest": made.digest, "against": against}
    lines = [f"{of}: {made.words}", str(made.path), *(f"to be mended: {each}" for each in against)]
    _print_result(said, as_json, "\n".join(lines))


@app.command()
def groups(
    probability: Annotated[str, typer.Option(help="How likely a sampled group is a hit, about.")],
    within: Annotated[str, typer.Option(help="Half width of the interval, as a share of the probability.")] = "0.1",
    confidence: Annotated[str, typer.Option(help="Of the interval.")] = "0.95",
    as_json: AsJson = False,
) -> None:
    """Say how many groups of people a claim by sampling needs (Koot 2012, section 4.4.1, corrected)."""
    try:
        found = groups_needed(probability, within, confidence)
    except ValueError as error:
        problem = Problem("command line", None, "--probability, --within, --confidence", "out of range", str(error))
        raise ConfigurationError(problem) from None
    said: dict[str, object] = {"outcome": "counted", "groups": found.groups, "hits": found.hits}
    plain = f"{found.groups} groups; or stop after {found.hits} hits, whatever the probability is"
    _print_result(said, as_json, plain)


@app.command()
def inventory(
    repository: Annotated[str | None, typer.Option("--from", metavar="REPO", help="A folder, or a URL.")] = None,
    key: Annotated[list[Path] | None, typer.Option("--key", metavar="PUB", help="Trusted public keys.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show who holds and who asks which attributes of whom: contracts and questionnaires of the working copy, with the
    entries of a repository that speak of them."""
    entries = () if repository is None else open_repository(repository, key or (), today()).entries
    found = take_inventory(Path.cwd(), entries)
    if as_json:
        print_json({"outcome": "listed", "holders": [each.to_json() for each in found]})
        return
    rows = (line for each in found for line in each.rows())
    print_listing(text_listing("Attributes that are held or asked", INVENTORY, rows))
    for each in found:
        for words in unchecked_decisions_text(each.unheld):
            typer.echo(f"{each.kind} {each.name}: {words}")
