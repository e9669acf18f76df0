"""The command that withdraws a published release."""

from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import AsJson, LedgerUrl
from crowdgate.cli.output import print_json
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.releases.withdraw import WithdrawnRelease
from crowdgate.releases.withdraw import withdraw as withdraw_release


def withdraw(
    release_id: Annotated[str, typer.Argument(help="POLICY/VERSION/SLOT, as `ledger show` lists it.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="The reason, which is published.")],
    lost: Annotated[bool, typer.Option("--lost", help="Its files are gone already.")] = False,
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
) -> None:
    """Withdraw a published release: its files are removed, a tombstone stays, and the privacy cost stays charged.

    Run in the working copy that published it. Run again, it finishes an interrupted withdrawal. Copies elsewhere stay.
    """
    home = Path.cwd()
    found = withdraw_release(release_id, reason, home, ledger_at(home, ledger), lost=lost)
    if as_json:
        print_json(found.to_json())
    else:
        _show(found)


def _show(found: WithdrawnRelease) -> None:
    stated = found.said.predicate
    if found.repeated:
        typer.echo(f"{found.said.release_id} was withdrawn before; nothing was left to do.")
    else:
        typer.echo(f"withdrawn {found.said.release_id}")
    typer.echo(found.said.plain)
    typer.echo(f"Privacy cost: epsilon {stated.epsilon}, delta {stated.delta}. The id is never released again.")
    typer.echo("Copies that others have made stay. Tell your recipients.")
    typer.echo(str(found.path))
