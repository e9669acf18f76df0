"""Commands that make a working copy."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import AsJson, LedgerUrl, progress_bar, slot
from crowdgate.cli.output import announce, print_json
from crowdgate.cli.release import show
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.limits import MOST_PEOPLE
from crowdgate.releases.release import release as run_release
from crowdgate.releases.working_copy import DEMO_POLICY, DEMO_TABLES
from crowdgate.releases.working_copy import init as make_workspace
from crowdgate.system.extras import RELEASE, need

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the working copy.")]


def init(
    folder: Folder,
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
    policy: Annotated[
        bool, typer.Option("--policy", help="Write a new policy into the working copy DIR, with cases and a budget.")
    ] = False,
    template: Annotated[
        str | None,
        typer.Option("--template", metavar="NAME", help="pilot, public-use, research, tables or synthetic."),
    ] = None,
    contract: Annotated[str | None, typer.Option("--contract", metavar="ID", help="Whose table is released.")] = None,
    owner: Annotated[str | None, typer.Option("--owner", metavar="WHO", help="Who answers for the policy.")] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="The policy's name (template and contract).")
    ] = None,
    people: Annotated[
        int | None,
        typer.Option(
            "--people",
            metavar="N",
            min=1,
            max=MOST_PEOPLE,
            help="At most so many people, where they have no budget yet.",
        ),
    ] = None,
    attributes: Annotated[
        str | None, typer.Option("--attributes", metavar="A,B", help="What is published (a first guess).")
    ] = None,
    pilot: Annotated[
        Path | None,
        typer.Option("--pilot", metavar="PATH", help="A release of tables that forecasts rest on (template pilot)."),
    ] = None,
) -> None:
    """Make a working copy: the bundled policies and contracts, and a new ledger. Or, with --policy, write a commented
    policy into one from a template; what no option says is asked for on a terminal. Nothing is overwritten."""
    stated = {"--template": template, "--contract": contract, "--owner": owner, "--name": name}
    if policy:
        from crowdgate.cli.new_policy import write_policy

        write_policy(folder, stated, people, attributes, pilot, as_json)
        return
    _refuse_without_policy({**stated, "--people": people, "--attributes": attributes, "--pilot": pilot})
    root = make_workspace(folder, _ledger_name(folder), ledger)
    if as_json:
        print_json({"outcome": "created", "path": str(root)})
    else:
        typer.echo(f"next: crowdgate release {root / DEMO_POLICY}")


def _refuse_without_policy(stated: Mapping[str, object]) -> None:
    problems = [
        Problem("command line", None, option, "no --policy", "--policy beside it")
        for option, value in stated.items()
        if value is not None
    ]
    if problems:
        raise ConfigurationError(problems)


def demo(
    folder: Folder = Path("crowdgate-demo"),
    tables: Annotated[bool, typer.Option("--tables", help="Release tables with noise instead of rows.")] = False,
    as_json: AsJson = False,
) -> None:
    """Release the bundled census data once: make a working copy (unless it is there), then publish from it."""
    need(RELEASE, "demo")
    root, policy = folder.resolve(), DEMO_TABLES if tables else DEMO_POLICY
    if not (root / DEMO_POLICY).is_file():
        root = make_workspace(folder, "demo")
    with progress_bar(as_json) as progress:
        result = run_release(Request(root / policy, slot(None), at=datetime.now(UTC)), draw_key, progress, announce)
    show(result, as_json)


def _ledger_name(folder: Path) -> str:
    return re.sub(r"[^a-z0-9-]", "-", folder.resolve().name.lower())[:40] or "ledger"
