"""The command that rehearses a policy."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import WITHHELD, AsJson
from crowdgate.cli.output import print_json, print_verdicts
from crowdgate.cli.paths import path_option
from crowdgate.releases.rehearsal.rehearse import RehearsalRequest, RehearsalResult
from crowdgate.releases.rehearsal.rehearse import rehearse as run

UNKNOWN = "gates that read rows are unknown"
SOURCES = "give --from a release of tables, or make a pilot release: crowdgate init --policy --template pilot"
OF_PILOT = (
    "the pilot release lacks them: give --from a release that has them, or publish only columns that it counts in pairs"
)
WITHHELD_ROWS = "no folder is written: a gate withholds these simulated rows"
OF_UNKNOWN = f"{WITHHELD_ROWS}, and its verdict on your table is unknown"
MOST_PAIRS = 3
"""The greatest number of pairs that a line names."""


def rehearse(
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    people: Annotated[
        int | None, typer.Option("--people", metavar="N", help="Rows of so many (the budget's bound).", min=1)
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--from", metavar="PATH", help="Counts to draw from: a release, or a public table.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Another seed: other rows.", min=0)] = 0,
    to: Annotated[
        Path | None, typer.Option("--to", parser=path_option("--to"), metavar="PATH", help="A new folder.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a whole release on simulated rows, drawn from public figures; no ledger is touched."""
    found = run(RehearsalRequest(policy, people, source, seed, to))
    if as_json:
        print_json(found.to_json())
    else:
        show(found)
    if found.outcome == "withheld":
        raise typer.Exit(WITHHELD)


def pairs_text(pairs: Sequence[tuple[str, str]]) -> str:
    """Return the first pairs of columns, and how many more there are."""
    named = [f"{one} and {other}" for one, other in pairs[:MOST_PAIRS]]
    more = len(pairs) - len(named)
    return "; ".join([*named, *([f"{more} more"] if more else [])])


def show(found: RehearsalResult) -> None:
    """Print the result of a simulated run."""
    typer.echo(f"rehearsed: {found.outcome} {found.result.release_id}")
    advice = f"{UNKNOWN} ({OF_PILOT if found.pilot else SOURCES})"
    if found.unknown:
        typer.echo(f"no public counts of {', '.join(found.unknown)}: {advice}")
    elif found.unrelated:
        typer.echo(f"no public counts relate {pairs_text(found.apart)}: {advice}")
    typer.echo(
        f"simulated rows of {found.people} people (--people N for fewer); no table was read, nothing was charged or"
        " signed"
    )
    typer.echo("as a first release: earlier ones, and the bound with them, are in `crowdgate check`")
    for words in dict.fromkeys(found.drawn_from.values()):
        columns = ", ".join(name for name, own in found.drawn_from.items() if own == words)
        typer.echo(f"  {columns}: drawn from {words}")
    if found.result.use and found.representative:
        typer.echo(found.result.use)
    print_verdicts(found.verdicts, every=True)
    for gate in found.unknown_gates:
        typer.echo(f"  {'unknown':<12} {gate}")
    typer.echo(f"{found.seconds:.1f} s, {found.cpu_seconds:.1f} CPU s, at most {found.mebibytes:.0f} MiB")
    withheld = WITHHELD_ROWS if found.outcome == "withheld" else OF_UNKNOWN
    typer.echo(withheld if found.result.path is None else str(found.result.path))
