"""Output of the commands: public words only."""

import json
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from crowdgate.cli.terminal import error_lines, show
from crowdgate.errors import ConfigurationError, CrowdgateError

if TYPE_CHECKING:
    from crowdgate.gate import Verdict
    from crowdgate.kind.listing import Listing
    from crowdgate.report.report import Report

QUIET: ContextVar[bool] = ContextVar("quiet", default=False)
"""True if standard error is for errors only: no progress, no notes."""
VERBOSE: ContextVar[bool] = ContextVar("verbose", default=False)
"""True if a fault lists the functions of its traceback."""
WIDE = 200
"""The width of printed tables in characters, where standard output is no terminal."""


def print_json(value: Any) -> None:
    """Print one JSON object on standard output."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=1))


def announce(release_id: str) -> None:
    """Print on standard error where the custodian finds the private record of a run; a closed terminal stops no run."""
    if QUIET.get():
        return
    from crowdgate.releases.private_record import record_line

    with suppress(OSError, ValueError):
        typer.echo(record_line(release_id), err=True)


def inform(text: str) -> None:
    """Print a sentence on standard error that no program reads, unless output is quiet."""
    if not QUIET.get():
        with suppress(OSError, ValueError):
            typer.echo(text, err=True)


def warn(text: str) -> None:
    """Print a sentence on standard error that asks somebody to act and changes no outcome."""
    with suppress(OSError, ValueError):
        typer.echo(f"crowdgate: {text}", err=True)


def print_verdicts(verdicts: Iterable["Verdict"], *, every: bool = False) -> None:
    """Print one line per public verdict, or per every verdict for simulated rows; and one more for a waived failure."""
    for line in verdict_lines(verdicts, every=every):
        typer.echo(line)


def verdict_lines(verdicts: Iterable["Verdict"], *, every: bool = False) -> Iterator[str]:
    """Yield one line for each public verdict (for `every`, of any verdict), and one more for a waived failure."""
    for found in verdicts:
        if found.public or every:
            role = "" if found.blocks else " (advice)"
            if found.waived:
                yield f"  {found.ended:<12}"
            start = " " * 14 if found.waived else f"  {found.ended:<12}"
            yield f"{start} {found.gate}{role}: {found.reason}"


def print_table(titles: Sequence[str], rows: Iterable[Sequence[str]], left: Iterable[int] = ()) -> None:
    """Print a table of rows under titles. Columns whose numbers (from 0) are in `left` hold text, all others numbers
    aligned right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table, words = Table(box=box.SIMPLE_HEAD), set(left)
    for at, title in enumerate(titles):
        table.add_column(Text(title), justify="left" if at in words else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console(file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else WIDE).print(table)


def print_listing(listing: "Listing", heading: str | None = None) -> None:
    """Print a listing under its title, or another heading."""
    typer.echo(heading or listing.title + (f" ({listing.note})" if listing.note else ""))
    print_table(listing.titles, listing.texts, (at for at, words in enumerate(listing.words) if words))


def print_report(found: "Report", page: Path | None, as_json: bool) -> None:
    """Print a report at the terminal, or its object of JSON; with `page` also write it to this file."""
    if page is not None:
        found.write(page)
    if as_json:
        print_json(found.to_json())
        return
    for each in found.shown():
        if isinstance(each, str):
            typer.echo(each)
        else:
            print_listing(each)


def print_page(found: "Report", page: Path | None = None, as_json: bool = False) -> None:
    """Print a page at the terminal, wrapped at words, or its object of JSON; with `page` write it to this file, and
    print the path in place of the page."""
    if page is not None:
        found.write(page)
    if as_json:
        print_json(found.to_json())
    elif page is not None:
        typer.echo(str(page))
    else:
        from crowdgate.cli.page_text import print_markdown

        print_markdown(found.markdown())


def report_error(error: CrowdgateError, as_json: bool) -> None:
    """Print an intended error: its message on standard error, and with `as_json` an object on standard output."""
    show(error_lines(error), err=True)
    if as_json:
        print_json(error_json(error))


def error_json(error: CrowdgateError) -> dict[str, Any]:
    """Return the object that `--json` prints for an intended error."""
    problems = [vars(problem) for problem in error.problems] if isinstance(error, ConfigurationError) else []
    return {"outcome": "error", "code": error.code, "message": str(error), "problems": problems}


def report_fault(error: Exception, as_json: bool) -> None:
    """Print a fault in Crowdgate: its type and place, never its text, which could hold anything."""
    passed = traceback.extract_tb(sys.exc_info()[2])
    frames = [f"{Path(frame.filename).name} {frame.name}:{frame.lineno}" for frame in passed]
    place = " at " + " > ".join(frames if VERBOSE.get() else frames[-1:]) if frames else ""
    more = "" if VERBOSE.get() else " (`crowdgate --verbose` with this command says which functions it passed)"
    message = f"a fault in crowdgate itself: {type(error).__name__}{place}{more}"
    typer.echo(f"crowdgate: {message}", err=True)
    if as_json:
        print_json({"outcome": "error", "code": "fault", "message": message, "problems": []})
