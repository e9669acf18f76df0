"""The command that upgrades a working copy of an earlier version."""

from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import AsJson
from crowdgate.cli.output import print_json
from crowdgate.releases.working_copy_upgrade import SCHEDULES, FileUpgrade, policy_forms, upgrades, write_upgrades


def upgrade(
    write: Annotated[bool, typer.Option("--write", help="Write the changes; without it they are only shown.")] = False,
    as_json: AsJson = False,
) -> None:
    """Upgrade the schedules and JSON Schemas of a working copy that an earlier version made: show the changes, and
    write them with --write.

    No policy changes: each keeps its digest and its version. `crowdgate ledger upgrade` upgrades the ledger.
    """
    home = Path.cwd()
    found, (count, other) = upgrades(home), policy_forms(home)
    if write:
        write_upgrades(home, found)
    outcome = "upgraded" if found and write else "upgradable" if found else "up-to-date"
    if as_json:
        unread = [str(path.relative_to(home)) for path in other]
        files = [each.to_json() for each in found]
        print_json({"outcome": outcome, "files": files, "unchanged_policies": count, "other_policies": unread})
        return
    _show(found, outcome)
    typer.echo(f"Policies and budgets: {count} unchanged, in the only form that there is.")
    for path in other:
        typer.echo(f"Not in that form, or unreadable: {path.relative_to(home)}. Run `crowdgate check`.")


def _show(found: list[FileUpgrade], outcome: str) -> None:
    """Print the outcome, then the changes of each file; of schedules, which people write, also the lines."""
    files = f"{len(found)} file" if len(found) == 1 else f"{len(found)} files"
    first = {"upgraded": f"Upgraded {files}.", "up-to-date": "Nothing needs an upgrade.",
             "upgradable": f"{files} can be upgraded. Nothing is written without --write."}  # fmt: skip
    typer.echo(first[outcome])
    for each in found:
        typer.echo(f"{each.path}: {'; '.join(each.changes)}")
        if each.path == SCHEDULES:
            typer.echo("\n".join(each.diff()))
    if any(each.path == SCHEDULES for each in found):
        typer.echo("Deployments on a server stay as they are until you run `prefect deploy --all` in schedules/.")
