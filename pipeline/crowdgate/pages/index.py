"""An index over all runs of a ledger, with a page for each that ended, and one for each budget: a new folder."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate import report
from crowdgate.errors import EnvironmentFault, VerificationFailed
from crowdgate.history.ended_run import of_entry
from crowdgate.ledger.values import State
from crowdgate.number_text import decimal
from crowdgate.pages.budget import budget_page
from crowdgate.pages.gates import opposing_gates
from crowdgate.pages.release import page_in
from crowdgate.report.page_files import write_as
from crowdgate.system import permissions

if TYPE_CHECKING:
    from crowdgate.history.ended_run import EndedRun
    from crowdgate.ledger.ledger import Ledger

TEMPLATE = "report/pages/index.md.j2"
NAME = "index.html"
WITH_PAGES = (State.PUBLISHED, State.WITHHELD)


@dataclass(frozen=True, eq=False)
class IndexRow:
    """A run in the index; `page` is the file of its own page, and `refused` why it has none."""

    told: EndedRun
    population: str
    page: str | None
    refused: str | None = None


def write_index(ledger: Ledger, root: Path, folder: Path) -> Path:
    """Write the folder, whole or not at all, and return the index in it. Raises EnvironmentFault when it exists or
    can't be written.

    A release whose files are not what the ledger committed to has no page; the index says why.
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
    budgets = [each.population for each in ledger.budgets()]
    pages = {name: f"budget-{at}.html" for at, name in enumerate(budgets, start=1)}
    for name, page in pages.items():
        budget_page(ledger, name).write(folder / page)
    links = {row.told.release_id: row.page for row in rows if row.page is not None} | pages
    write_as(folder / NAME, "Releases", lambda: index_markdown(ledger, rows, budgets), links=links)


def index_markdown(ledger: Ledger, rows: list[IndexRow], budgets: list[str]) -> str:
    """The index as Markdown: the last run first."""
    listed = [
        {
            "release": row.told.release_id, "outcome": row.told.outcome, "population": row.population,
            "epsilon": decimal(row.told.epsilon), "delta": decimal(row.told.delta),
            "why": row.refused or "; ".join(opposing_gates(row.told.verdicts or ())),
        }
        for row in reversed(rows)
    ]  # fmt: skip
    ended = [row.told.outcome for row in rows]
    values = {
        "rows": listed, "budgets": budgets, "ledger": ledger.id, "published": ended.count("published"),
        "withheld": ended.count("withheld"), "runs": len(rows),
    }  # fmt: skip
    return report.markdown(TEMPLATE, values)


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
