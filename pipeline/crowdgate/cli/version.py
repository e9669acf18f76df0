"""The command that states the versions of the program, of its formats and of its libraries."""

from importlib import metadata
from importlib.util import find_spec
from typing import Any

import typer

from crowdgate.cli.options import AsJson
from crowdgate.cli.output import print_json
from crowdgate.ledger.schema import FORMAT as LEDGER
from crowdgate.manifest.model import FORMAT as MANIFEST
from crowdgate.system.extras import EXTRAS
from crowdgate.system.installed_code import libraries


def version(as_json: AsJson = False) -> None:
    """Show the versions of the program and of its formats.

    With --json also the versions of libraries, and which extras are installed.
    """
    number = metadata.version("crowdgate")
    if as_json:
        print_json({"version": number, "formats": _formats(), "libraries": libraries(), "extras": _extras()})
        return
    typer.echo(f"crowdgate {number}")
    for name, known in _formats().items():
        typer.echo(f"  {name:<9} {', '.join(map(str, known))}")


def _formats() -> dict[str, list[Any]]:
    """Return the formats that this version reads, by what is written in them; it writes the last one."""
    return {
        "policies": ["crowdgate/v1"],
        "manifests": list(range(1, MANIFEST + 1)),
        "ledgers": list(range(1, LEDGER + 1)),
    }


def _extras() -> dict[str, bool]:
    found: dict[str, bool] = {}
    for each in EXTRAS:  # an extra can bring several modules
        found[each.name] = found.get(each.name, True) and find_spec(each.module) is not None
    return found
