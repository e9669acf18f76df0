"""An index over all runs of a ledger, with a page for each that ended, and one for each budget: a new folder."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate.errors import EnvironmentFault, VerificationFailed
from crowdgate.history.ended_run import of_entry
from crowdgate.history.ledger_summary import ledger_summary
from crowdgate.kind.section import Section, table_section
from crowdgate.ledger.values import State
from crowdgate.number_text import decimal
from crowdgate.pages.budget import budget_now, budget_page
from crowdgate.pages.gates import opposing_gates
from crowdgate.pages.release import page_in
from crowdgate.report.report import Report
from crowdgate.system import permissions

if TYPE_CHECKING:
    from crowdgate.history.ended_run import EndedRun
    from crowdgate.ledger.ledger import Ledger

RUNS = ("release", "outcome", "population", "epsilon", "delta", "what stood against it")
NAME = "index.html"
WITH_PAGES = (State.PUBLISHED, State.WITHHELD, State.WITHDRAWN)


@dataclass(frozen=True, eq=False)
class IndexRow:
    """A run in the index; `page` is the file of its own page, and `refused` the reason if it has none."""

    told: EndedRun
    population: str
    page: str | None
    refused: str | None = None


def write_index(ledger: Ledger, root: Path, folder: Path) -> Path:
    """Write the index and all pages into a new folder, completely or not at all, and return the path of the index.
    Raises EnvironmentFault if the folder exists or can't be written.

    A release whose files are not those that the ledger committed to has no page; the index gives the reason.
    """
    if folder.exists():
        raise EnvironmentFault(f"{folder} exists; expected the path of a folder that is not there yet")
    try:
        part = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        permissions.make_folder(part, permissions.RELEASE)
    except OSError as error:
        raise EnvironmentFault(f"{folder}: it can't be made: {error.strerror}") from None
    try:
        _write(ledger, root, part)
        part.rename(folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return folder / NAME


def _write(ledger: Ledger, root: Path, folder: Path) -> None:
    rows = list(_rows(ledger, root, folder))
    budgets = {each["population"]: budget_now(each).left_text for each in ledger_summary(ledger)["budgets"]}
    pages = {name: f"budget-{at}.html" for at, name in enumerate(budgets, start=1)}
    for name, page in pages.items():
        budget_page(ledger, name).write(folder / page)
    links = {row.told.release_id: row.page for row in rows if row.page is not None} | pages
    _index(ledger.id, rows, budgets, links).write(folder / NAME)


def _index(ledger: str, rows: list[IndexRow], budgets: Mapping[str, str], links: dict[str, str]) -> Report:
    """Return the index of a ledger's runs and budgets as a report, the last run first."""
    return Report("Releases", lambda: _sections(ledger, rows, budgets), links=links)


def _sections(ledger: str, rows: list[IndexRow], budgets: Mapping[str, str]) -> list[Section]:
    ended = [row.told.outcome for row in rows]
    runs = f"{len(rows)} {'run is' if len(rows) == 1 else 'runs are'} in the ledger {ledger}"
    withdrawn = f", {ended.count('withdrawn')} withdrawn" if "withdrawn" in ended else ""
    said = f"{runs}: {ended.count('published')} published, {ended.count('withheld')} withheld{withdrawn}."
    return [
        Section(sentences=[said]),
        table_section("Budgets", ("population", "budget left"), budgets.items()),
        table_section("Runs, the last one first", RUNS, map(_row, reversed(rows))),
    ]


def _row(row: IndexRow) -> list[str]:
    told = row.told
    withdrawn = told.plain if told.outcome == "withdrawn" else None
    why = row.refused or withdrawn or "; ".join(opposing_gates(told.verdicts or ()))
    return [told.release_id, told.outcome, row.population, decimal(told.epsilon), decimal(told.delta), why]


def _rows(ledger: Ledger, root: Path, folder: Path) -> Iterator[IndexRow]:
    for number, entry in enumerate(ledger.entries(), start=1):
        told, page, refused = of_entry(ledger, root, entry), f"run-{number}.html", None
        if entry.state not in WITH_PAGES:
            yield IndexRow(told, entry.population, None)
            continue
        try:
            page_in(ledger, root, entry.release_id).write(folder / page)
        except VerificationFailed as fault:
            refused = f"it does not verify: {str(fault).splitlines()[0]}"
        yield IndexRow(told, entry.population, None if refused else page, refused)
