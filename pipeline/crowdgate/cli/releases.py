"""Commands that make and verify releases."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from crowdgate.cli.output import announce, print_json, print_verdicts
from crowdgate.cli.paths import named
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.jobs.release import release as run_release
from crowdgate.jobs.verify import verify as verify_release
from crowdgate.kind.run import Request, Result
from crowdgate.ledger.key import draw_key
from crowdgate.manifest import dumped
from crowdgate.policy.policy import parse_slot

Runner = Callable[[Request], Result]
WITHHELD = 3
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Anchors = Annotated[
    list[str] | None,
    typer.Option("--anchor", metavar="LINE:DIGEST", help="A line that the ledger must hold; may be given again."),
]
LedgerUrl = Annotated[str | None, typer.Option("--ledger", metavar="URL", help="The ledger, e.g. sqlite:///ledger.db.")]


def release(
    context: typer.Context,
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="SLOT", help="YYYY-MM-DD or YYYY-MM-DDTHHMMZ.")
    ] = None,
    input_path: Annotated[
        Path | None,
        typer.Option("--input", parser=named("--input"), metavar="PATH", help="Instead of the contract's path."),
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--to", parser=named("--to"), metavar="PATH", help="Instead of the policy's folder.")
    ] = None,
    ledger: LedgerUrl = None,
    anchor: Anchors = None,
    prefect: Annotated[bool, typer.Option("--prefect", help="Run as a Prefect flow.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make one release of a table, if all rules of its policy allow it: published (exit 0) or withheld (exit 3)."""
    request = Request(policy, slot(as_of), input_path, to, ledger, anchors=tuple(anchor or ()))
    if prefect or os.environ.get("PREFECT_API_URL"):
        scheduler: Runner = context.obj
        show(scheduler(request), as_json)
    else:
        with progress_bar(as_json) as progress:
            result = run_release(request, draw_key, progress, announce)
        show(result, as_json)


def verify(
    folder: Annotated[Path, typer.Argument(metavar="RELEASE_DIR", help="The folder of one release.")],
    key: Annotated[
        list[Path] | None, typer.Option("--key", metavar="PUB", help="A trusted public key; may be given again.")
    ] = None,
    ledger: LedgerUrl = None,
    refit: Annotated[
        bool, typer.Option("--refit", help="Also make synthetic rows again of the noisy tables and the seed.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find out from its files alone whether a release is what it says it is (exit 6 for anything that is not)."""
    found = verify_release(folder, ledger, key or (), refit)
    said = found.manifest
    if as_json:
        origin = {"signed": found.signed, "key_checked": found.keys, "ledger": found.ledger, "refitted": refit}
        stated = {"release_id": said.release.id, "guarantee": dumped(said.guarantee)}
        print_json({"outcome": "verified", **stated, **origin})
    else:
        typer.echo(f"{folder} holds what it claims: {said.release.id}")
        for words in filter(None, (said.guarantee.plain, said.guarantee.words)):
            typer.echo(" ".join(words))
        if refit:
            typer.echo("The rows are those that the noisy tables and the seed give.")
        typer.echo(f"Origin: {found.origin}.")


def slot(as_of: str | None) -> str:
    """The slot asked for, by default today (UTC): the one clock reading of a release."""
    try:
        return parse_slot(as_of) if as_of is not None else datetime.now(UTC).date().isoformat()
    except ValueError as error:
        raise ConfigurationError(Problem("command line", None, "--as-of", f"{as_of!r}", str(error))) from None


def show(result: Result, as_json: bool) -> None:
    """Print how a release ended; a withheld one exits with 3. The last line of a published one is its path."""
    if as_json:
        print_json(result.to_json())
    else:
        typer.echo(f"{result.outcome} {result.release_id}")
        typer.echo(result.plain)
        typer.echo(result.guarantee.words())
        print_verdicts(result.verdicts)
        if result.path is not None:
            typer.echo(str(result.path))
    if result.outcome == "withheld":
        raise typer.Exit(WITHHELD)


@contextmanager
def progress_bar(quiet: bool, doing: str = "reading") -> Iterator[Callable[[int, int], None] | None]:
    """Percent of the input's bytes, or of trials, on standard error, for people at a terminal. No times, no counts."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (TextColumn(doing), BarColumn(), TaskProgressColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(doing, total=1.0)
        yield lambda done, total: bar.update(task, completed=done / total if total else 1.0)
