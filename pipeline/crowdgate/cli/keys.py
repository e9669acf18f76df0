"""Commands on the keys that sign releases."""

from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import AsJson, LedgerUrl
from crowdgate.cli.output import print_json
from crowdgate.settings import passphrase
from crowdgate.signing import keys
from crowdgate.verification.sign import sign as sign_release

app = typer.Typer(help="Create and show the keys that sign releases.", no_args_is_help=True, add_completion=False)


@app.command()
def create(
    path: Annotated[Path, typer.Argument(help="A new file for the private key; the public one gets PATH.pub.")],
    encrypt: Annotated[
        bool, typer.Option("--encrypt", help="With a passphrase, from CROWDGATE_SIGNING_PASSPHRASE or the terminal.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Create a key, once; print the public one's id. The private one is for its owner only."""
    key = keys.create(path, passphrase() if encrypt else None)
    if as_json:
        print_json({"outcome": "created", "key": key.id, "public": f"{path}{keys.PUBLIC_SUFFIX}"})
    else:
        typer.echo(key.id)


@app.command()
def sign(
    folder: Annotated[Path, typer.Argument(metavar="RELEASE_DIR", help="A release of this working copy.")],
    key: Annotated[
        list[Path] | None, typer.Option("--key", metavar="PUB", help="Whose signature must be there, and stays.")
    ] = None,
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
) -> None:
    """Sign a release that the ledger vouches for, with the key of this working copy: one made without a key, or once
    more with a new one."""
    signer = sign_release(folder, Path.cwd(), ledger, key or ())
    if as_json:
        print_json({"outcome": "signed", "key": signer.id})
    else:
        typer.echo(f"{folder} is signed by {signer.id}")


@app.command()
def show(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files of public keys.")],
    as_json: AsJson = False,
) -> None:
    """Show the ids of public keys, to be compared with what their owner says."""
    found = [(path, key.id) for path in paths for key in keys.public_keys(path)]
    if as_json:
        print_json({"outcome": "shown", "keys": [{"file": str(path), "key": key} for path, key in found]})
        return
    for path, key in found:
        typer.echo(f"{key} {path}")
