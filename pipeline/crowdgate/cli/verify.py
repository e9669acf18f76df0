"""The command that verifies releases."""

from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import AsJson, LedgerUrl
from crowdgate.cli.output import print_json
from crowdgate.jobs.verify import verify as verify_release
from crowdgate.manifest import dumped


def verify(
    folder: Annotated[Path, typer.Argument(metavar="RELEASE_DIR", help="The folder of one release.")],
    key: Annotated[
        list[Path] | None, typer.Option("--key", metavar="PUB", help="A trusted public key; may be given again.")
    ] = None,
    ledger: LedgerUrl = None,
    refit: Annotated[
        bool, typer.Option("--refit", help="Also make synthetic rows again of the noisy tables and the seed.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find out from its files alone whether a release is what it says it is (exit 6 for anything that is not)."""
    found = verify_release(folder, ledger, key or (), refit)
    said = found.manifest
    if as_json:
        origin = {"signed": found.signed, "key_checked": found.keys, "ledger": found.ledger, "refitted": refit}
        stated = {"release_id": said.release.id, "guarantee": dumped(said.guarantee)}
        print_json({"outcome": "verified", **stated, **origin})
    else:
        typer.echo(f"{folder} holds what it claims: {said.release.id}")
        for words in filter(None, (said.guarantee.plain, said.guarantee.words)):
            typer.echo(" ".join(words))
        if refit:
            typer.echo("The rows are those that the noisy tables and the seed give.")
        typer.echo(f"Origin: {found.origin}.")
