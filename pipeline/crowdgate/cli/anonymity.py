"""The command that measures anonymity sets."""

from pathlib import Path
from typing import Annotated

import typer

from crowdgate.anonymity.measure.measure import measure_anonymity as run
from crowdgate.anonymity.measure.page import SHOWN, anonymity_report
from crowdgate.anonymity.measure.request import AnonymityRequest
from crowdgate.cli.options import AsJson, LedgerUrl
from crowdgate.cli.output import print_json, print_report
from crowdgate.cli.paths import path_option
from crowdgate.report.page_files import check_name


def anonymity(
    contract: Annotated[Path, typer.Argument(metavar="FILE", help="The contract of the table.")],
    input_path: Annotated[
        Path | None,
        typer.Option("--input", parser=path_option("--input"), metavar="PATH", help="Instead of the contract's path."),
    ] = None,
    of: Annotated[
        str | None,
        typer.Option("--of", metavar="A,B=LEVEL,C", help="Attributes (the quasi-identifiers), at all levels or one."),
    ] = None,
    up_to: Annotated[
        int | None, typer.Option("--up-to", metavar="M", help="Attributes that are known together (3).")
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="A=LEVEL", help="Set sizes for each value of this attribute.")
    ] = None,
    sample: Annotated[
        str | None, typer.Option("--sample", metavar="FRACTION", help="The table is a sample: population uniques.")
    ] = None,
    release: Annotated[
        Path | None, typer.Option("--release", metavar="DIR", help="A release of rows to match with a register.")
    ] = None,
    register: Annotated[
        Path | None, typer.Option("--register", metavar="CONTRACT", help="The contract of the register.")
    ] = None,
    wrong: Annotated[
        str | None, typer.Option("--wrong", metavar="A=RATE,B=RATE", help="How often the register is wrong.")
    ] = None,
    coverage: Annotated[
        str | None, typer.Option("--coverage", metavar="SHARE", help="Of released people who are in the register.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="Write a page: HTML with charts, or Markdown (.md).")
    ] = None,
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
) -> None:
    """Count who shares a combination of values with how many: anonymity sets for every few attributes at every level.

    Of a table that its contract does not call public nothing is shown: what is found is kept in the private folder, and
    the look is recorded.
    """
    if page is not None:
        check_name(page)
    asked = AnonymityRequest(contract, input_path, of, up_to, by, sample, release, register, wrong, coverage, ledger)
    found = run(asked, page)
    if isinstance(found, str):
        if as_json:
            print_json({"outcome": "ended", "plain": found})
        else:
            typer.echo(found)
    else:
        print_report(anonymity_report(found, SHOWN), None, as_json)
        if page is not None and not as_json:
            typer.echo(str(page))
