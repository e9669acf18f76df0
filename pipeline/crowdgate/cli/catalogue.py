"""Commands on the catalogue of a destination."""

from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import AsJson, LedgerUrl
from crowdgate.cli.output import print_json
from crowdgate.planning.catalogue import NAME, verify_catalogue, write_catalogue
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.settings import configured_key
from crowdgate.signing.keys import public_keys
from crowdgate.signing.statement import CatalogueStatement

app = typer.Typer(
    help="Write and verify the signed list of a destination's releases.", no_args_is_help=True, add_completion=False
)
Destination = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that releases are published to.")]
Trusted = Annotated[list[Path], typer.Option("--key", metavar="PUB", help="A file of public keys that are trusted.")]


@app.command()
def write(folder: Destination, ledger: LedgerUrl = None, as_json: AsJson = False) -> None:
    """Sign anew what the ledger published there. Run in the working copy that published it."""
    home = Path.cwd()
    opened = ledger_at(home, ledger)
    _show("written", folder, write_catalogue(folder, home, opened, configured_key(home)), as_json)


@app.command()
def verify(folder: Destination, key: Trusted, as_json: AsJson = False) -> None:
    """Check that a destination holds exactly the releases that its catalogue lists (exit 6 if anything differs).

    An older catalogue put back, with the releases that it does not list removed, passes: compare the ledger's line.
    """
    trusted = [each for path in key for each in public_keys(path)]
    _show("verified", folder, verify_catalogue(folder, trusted), as_json)


def _show(outcome: str, folder: Path, statement: CatalogueStatement, as_json: bool) -> None:
    ledger, releases = statement.predicate.ledger, statement.releases()
    if as_json:
        listed = {"releases": releases, "withdrawn": sorted(statement.withdrawn())}
        print_json({"outcome": outcome, "ledger": ledger.model_dump(), **listed})
        return
    typer.echo(f"{folder / NAME}, {outcome} as of line {ledger.line} of the ledger {ledger.id}:")
    for name in releases:
        typer.echo(f"  {name}{' (withdrawn)' if name in statement.withdrawn() else ''}")
