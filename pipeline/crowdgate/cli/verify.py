"""The command that verifies releases."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from crowdgate.cli.options import AsJson, LedgerUrl
from crowdgate.cli.output import print_json
from crowdgate.errors import ConfigurationError, Problem, VerificationFailed
from crowdgate.manifest import json_fields
from crowdgate.publish.fetched_objects import fetched_release
from crowdgate.publish.object_store import EXAMPLE, is_object_url
from crowdgate.system.regular_files import is_url
from crowdgate.verification.release import verify as verify_release


@contextmanager
def _release_folder(place: str) -> Iterator[Path]:
    """Yield the folder of a release; of one in an object store a temporary copy."""
    if not is_object_url(place):
        if is_url(place):
            raise _unusable(f"the URL {place!r}", f"a folder of this machine, or {EXAMPLE}/POLICY/VERSION/SLOT")
        if not Path(place).exists():
            raise VerificationFailed(f"{place}: there is no such folder", "Check the path: nothing was verified.")
        yield Path(place)
        return
    try:
        with fetched_release(place) as folder:
            yield folder
    except ValueError as error:
        raise _unusable(f"the URL {place!r}", str(error)) from None


def _unusable(found: str, expected: str) -> ConfigurationError:
    return ConfigurationError(Problem("command line", None, "RELEASE_DIR", found, expected))


def verify(
    folder: Annotated[str, typer.Argument(metavar="RELEASE_DIR", help="The folder of one release, or s3://...")],
    key: Annotated[
        list[Path] | None, typer.Option("--key", metavar="PUB", help="A trusted public key; may be given again.")
    ] = None,
    ledger: LedgerUrl = None,
    refit: Annotated[
        bool, typer.Option("--refit", help="Also make synthetic rows again of the noisy tables and the seed.")
    ] = False,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", metavar="FILE", help="Its gates and waivers must be those of this policy."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Verify from its files whether a release is what its manifest states (exit 6 for anything else)."""
    with _release_folder(folder) as there:
        found = verify_release(there, ledger, key or (), refit, policy)
    said = found.manifest
    if as_json:
        origin = {"signed": found.signed, "key_checked": found.keys, "ledger": found.ledger, "refitted": refit}
        origin["unproved"] = found.unproved
        stated: dict[str, Any] = {"release_id": said.release.id, "guarantee": json_fields(said.guarantee)}
        stated["waived"] = [json_fields(gate) for gate in said.verdicts if gate.verdict.waived]
        print_json({"outcome": "verified", **stated, **origin})
    else:
        typer.echo(f"verified {said.release.id}: its files are what its manifest states")
        for line in said.guarantee.plain or ():
            typer.echo(line)
        typer.echo(" ".join(said.guarantee.words))
        for gate in said.verdicts:
            if gate.verdict.waived:
                typer.echo(f"Not kept: {gate.verdict.gate}: {gate.verdict.ended}.")
        if refit:
            typer.echo("The rows are those that the noisy tables and the seed give.")
        typer.echo(f"Origin: {found.origin}.")
        if found.unproved is not None:
            typer.echo(f"Not proved: {found.unproved} Give --key or --ledger.")
