"""Commands on contracts."""

from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import AsJson
from crowdgate.cli.output import print_json
from crowdgate.review.contract_levels import contract_json, lines, show_contract

app = typer.Typer(help="Show what a contract makes of its columns.", no_args_is_help=True, add_completion=False)


@app.callback()
def _group() -> None:
    """Show what a contract makes of its columns."""


@app.command()
def show(
    path: Annotated[Path, typer.Argument(metavar="CONTRACT", help="The contract's file.")], as_json: AsJson = False
) -> None:
    """Show every group of every level of every column that can be published; no data is read, nothing is paid."""
    contract, columns = show_contract(path)
    if as_json:
        print_json(contract_json(contract, columns))
        return
    typer.echo(f"{contract.id} {contract.version}, population {contract.population}")
    for column in columns:
        for line in lines(column):
            typer.echo(line)
