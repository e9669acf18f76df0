"""Commands on contracts."""

import json
from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import WITHHELD, AsJson
from crowdgate.cli.output import print_json
from crowdgate.errors import Code, ConfigurationError, Problem
from crowdgate.review.contract_levels import chosen_column, contract_json, lines, show_contract

MOST_NAMES = 20
"""The most columns that a note names."""
app = typer.Typer(help="Draft, show, compare or export a contract.", no_args_is_help=True, add_completion=False)


@app.callback()
def _group() -> None:
    """Draft, show, compare or export a contract."""


@app.command()
def draft(
    source: Annotated[
        Path,
        typer.Argument(
            help="A table (.parquet, .csv, .arrow, .xlsx, .sav, .dta, .sas7bdat), a DDI codebook (.xml), or a "
            "contract of ODCS (.yaml)."
        ),
    ],
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", help="Write the draft into this new file, not to the terminal."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--id", help="The contract's id; by default the name of the file.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option("--columns", metavar="A,B,C", help="Only these columns, by default all.")
    ] = None,
    domains: Annotated[
        str | None,
        typer.Option(
            "--domains",
            metavar="A,B,C",
            help="Columns that get a domain, besides those whose values or range something states. By default "
            "also those whose name tells their role: name these again.",
        ),
    ] = None,
    header_line: Annotated[
        bool, typer.Option("--header-line", help="Line 1 of the file is a header, no person's record.")
    ] = False,
    table: Annotated[
        str,
        typer.Option(
            "--table",
            "--sheet",
            metavar="NAME",
            help="The sheet of a workbook, or the table of a contract, of several.",
        ),
    ] = "",
    codebook: Annotated[
        Path | None,
        typer.Option(
            "--codebook",
            metavar="FILE",
            help="A codebook of this table, for values, ranges and roles: a dictionary (.csv, .tsv, .txt, .xlsx, .md), "
            "a program (.do, .dct, .sps, .sas, .sql), DDI (.xml), labels (.sav, .dta), a schema (.json) or .yaml.",
        ),
    ] = None,
) -> None:
    """Draft a contract from the public description of a table: names and types. No cell is read.

    What you must decide is marked with CHANGE, and `check` names each such line. Roles are guessed by name or label.
    """
    from crowdgate.review.templates.contract_draft import draft_contract, without_domain
    from crowdgate.review.templates.draft_sources import read_draft_source, write_draft

    place = Path.cwd() if to is None else to.resolve().parent
    found = read_draft_source(
        source.resolve(),
        place,
        _names(columns),
        header_line=header_line,
        part=table,
        codebook=None if codebook is None else codebook.resolve(),
    )
    if found.note:
        typer.echo(f"the codebook: {found.note}", err=True)
    text = draft_contract(found, name or found.table or source.stem, _names(domains))
    if left_out := without_domain(found, _names(domains)):
        typer.echo(f"not published, as they have no domain (--domains drafts them): {shown_names(left_out)}", err=True)
    if to is None:
        typer.echo(text, nl=False)
        return
    write_draft(to, text)
    typer.echo(f"written: {to}; next: crowdgate check {to}")


def shown_names(names: list[str]) -> str:
    """Return names, of which not more than a line holds, for the person who drafts."""
    return ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")


def _names(stated: str | None) -> tuple[str, ...] | None:
    return None if stated is None else tuple(name.strip() for name in stated.split(","))


@app.command()
def show(
    path: Annotated[Path, typer.Argument(metavar="CONTRACT", help="The contract's file.")],
    column: Annotated[str | None, typer.Option("--column", help="Only this column.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every group and every value, however many.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the groups of each level of each column that can be published, a column in at most a screen.

    No data is read, and nothing is paid. `--json` and `--all` show every group.
    """
    contract, columns = show_contract(path)
    if column is not None:
        columns = [chosen_column(columns, column)]
    if as_json:
        print_json(contract_json(contract, columns))
        return
    typer.echo(f"{contract.id} {contract.version}, population {contract.population}")
    for each in columns:
        for line in lines(each, everything=everything):
            typer.echo(line)


@app.command()
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The contract before a change.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The contract after it.")],
    as_json: AsJson = False,
) -> None:
    """Say of every difference between two contracts whether it is breaking. No data is read.

    Exit 0 without a breaking difference, otherwise 3.
    """
    from crowdgate.contracts.reading import read_contract
    from crowdgate.planning.bundle import KNOWN
    from crowdgate.review.contract_diff import advice, contract_changes

    was, now = (read_contract(path, KNOWN.servers) for path in (old, new))
    found = contract_changes(was, now)
    if as_json:
        print_json({"contract": now.id, "changes": [each.to_json() for each in found]})
    else:
        typer.echo("\n".join([advice(was, now, found), *(f"  {each}" for each in found)]))
    if any(each.breaking for each in found):
        raise typer.Exit(WITHHELD)


@app.command()
def export(
    path: Annotated[Path, typer.Argument(metavar="CONTRACT", help="The contract's file.")],
    gx: Annotated[bool, typer.Option("--gx", help="As a suite of Great Expectations, in JSON.")] = False,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", help="Write the suite into this new file, not to the terminal."),
    ] = None,
) -> None:
    """Print a contract in the form of another tool, so that a data team can test the table before it is handed over.

    No data is read. Rules that the other tool can't state are named.
    """
    from crowdgate.contracts.reading import read_contract
    from crowdgate.planning.bundle import KNOWN
    from crowdgate.review.expectation_suite import expectation_suite
    from crowdgate.review.templates.draft_sources import write_draft

    if not gx:
        raise ConfigurationError(Problem("command line", None, "--gx", "no form to export to", "--gx", code=Code.ASKED))
    suite, left_out = expectation_suite(read_contract(path, KNOWN.servers))
    text = json.dumps(suite, indent=2, ensure_ascii=False) + "\n"
    if to is None:
        typer.echo(text, nl=False)
    else:
        write_draft(to, text)
        typer.echo(f"written: {to}")
    for name in left_out:
        typer.echo(f"not in the suite: {name} (a share of invalid cells)", err=True)
