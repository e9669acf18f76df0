"""All commands together."""

from typing import Annotated

import typer

from crowdgate.cli import (
    anonymity,
    audits,
    catalogues,
    contracts,
    keys,
    kl,
    ledgers,
    membership,
    policies,
    predict,
    records,
    releases,
    workspaces,
)
from crowdgate.cli.releases import Runner

__all__ = ["Runner", "app"]

app = typer.Typer(
    name="crowdgate",
    help="Release data about people with exact privacy guarantees, and refuse to when it must.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (
    workspaces.demo,
    workspaces.init,
    releases.release,
    policies.check,
    policies.plan,
    predict.predict,
    audits.audit,
    anonymity.anonymity,
    membership.membership,
    releases.verify,
):
    app.command()(command)
app.add_typer(contracts.app, name="contract")
app.add_typer(ledgers.app, name="ledger")
app.add_typer(records.app, name="record")
app.add_typer(keys.app, name="keys")
app.add_typer(catalogues.app, name="catalogue")
app.add_typer(kl.app, name="kl")


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(version("crowdgate"))
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    del version
