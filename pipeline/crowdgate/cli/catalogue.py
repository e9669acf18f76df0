"""Commands on the catalogue of a destination."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import AsJson, LedgerUrl
from crowdgate.cli.output import print_json
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.planning.catalogue import NAME, verify_catalogue, write_catalogue
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.planning.stored_catalogue import verify_stored_catalogue
from crowdgate.publish.object_store import is_object_url
from crowdgate.settings import configured_key
from crowdgate.signing.keys import PublicKey, public_keys
from crowdgate.signing.statement import CatalogueStatement

app = typer.Typer(
    help="Write and verify the signed list of a destination's releases.", no_args_is_help=True, add_completion=False
)
Destination = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that releases are published to.")]
Place = Annotated[str, typer.Argument(metavar="DIR", help="The folder that releases are published to, or s3://...")]
Trusted = Annotated[list[Path], typer.Option("--key", metavar="PUB", help="A file of public keys that are trusted.")]


@app.command()
def write(folder: Destination, ledger: LedgerUrl = None, as_json: AsJson = False) -> None:
    """Sign anew what the ledger published there. Run in the working copy that published it."""
    home = Path.cwd()
    opened = ledger_at(home, ledger)
    _show("written", str(folder), write_catalogue(folder, home, opened, configured_key(home)), as_json)


@app.command()
def verify(place: Place, key: Trusted, as_json: AsJson = False) -> None:
    """Check that a destination holds exactly the releases that its catalogue lists (exit 6 if anything differs).

    An older catalogue put back, with the releases that it does not list removed, passes: compare the ledger's line.
    """
    trusted = [each for path in key for each in public_keys(path)]
    stored = is_object_url(place)
    found = _verify_stored(place, trusted) if stored else verify_catalogue(Path(place), trusted)
    _show("verified", place, found, as_json)


def _verify_stored(url: str, trusted: Sequence[PublicKey]) -> CatalogueStatement:
    try:
        return verify_stored_catalogue(url, trusted)
    except ValueError as error:
        raise ConfigurationError(Problem("command line", None, "DIR", f"the URL {url!r}", str(error))) from None


def _show(outcome: str, place: str, statement: CatalogueStatement, as_json: bool) -> None:
    ledger, releases = statement.predicate.ledger, statement.releases()
    if as_json:
        listed = {"releases": releases, "withdrawn": sorted(statement.withdrawn())}
        print_json({"outcome": outcome, "ledger": ledger.model_dump(), **listed})
        return
    typer.echo(f"{place.rstrip('/')}/{NAME}, {outcome} as of line {ledger.line} of the ledger {ledger.id}:")
    for name in releases:
        typer.echo(f"  {name}{' (withdrawn)' if name in statement.withdrawn() else ''}")
