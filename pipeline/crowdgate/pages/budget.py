"""The page of a budget: what a population had, lost and has left, with every raise and its reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate import report
from crowdgate.errors import LedgerRefused
from crowdgate.history.ledger_summary import ledger_summary
from crowdgate.kind.picture import Picture, PicturePoint, Series
from crowdgate.ledger.schema import POPULATIONS, TOTALS
from crowdgate.number_text import AMOUNT, decimal
from crowdgate.planning.budgets import budget_left_text
from crowdgate.report.page_files import write_as
from crowdgate.report.pictures import draw_all, picture_values

if TYPE_CHECKING:
    from crowdgate.ledger.journal import JournalLine
    from crowdgate.ledger.ledger import Ledger

TEMPLATE = "report/pages/budget.md.j2"
EVENTS = {
    "entry.reserved": "charged",
    "entry.void": "given back",
    "budget.raised": "raised",
}
"""What changes what is left, in words; the first line of a population registers it."""


@dataclass(frozen=True)
class BudgetStep:
    """What was registered and spent after a line of the ledger."""

    line: int
    at: str
    what: str
    cap: dict[str, Fraction]
    spent: dict[str, Fraction]


@dataclass(frozen=True, eq=False)
class BudgetPage:
    """A population's budget as the ledger has it."""

    population: str
    listing: dict[str, Any]
    steps: tuple[BudgetStep, ...]

    @property
    def title(self) -> str:
        """What the page is of."""
        return f"Budget of {self.population}"

    @property
    def pictures(self) -> list[Picture]:
        """What was left after each change, beside what was registered; delta too, where there is any."""
        names = [name for name in ("epsilon", "delta") if any(step.cap[name] for step in self.steps)]
        return [self._burn_down(name) for name in names]

    def _burn_down(self, name: str) -> Picture:
        places = [f"{step.line}: {step.what}" for step in self.steps]
        left = [float(max(Fraction(0), step.cap[name] - step.spent[name])) for step in self.steps]
        caps = [float(step.cap[name]) for step in self.steps]
        series = tuple(
            Series(words, tuple(map(PicturePoint, places, values)), "steps")
            for words, values in (("left", left), ("registered", caps))
        )
        return Picture(
            f"burn down {name}", f"What was left of {name} after each change", "line of the ledger", name, series,
            across=True, format=AMOUNT,
        )  # fmt: skip

    def markdown(self) -> str:
        """The page as Markdown."""
        (budget,) = (each for each in self.listing["budgets"] if each["population"] == self.population)
        own = [each for each in self.listing["releases"] if each["population"] == self.population]
        values = {
            "title": self.title,
            "left": budget_left_text(budget),
            "budget": {of: _short(budget[of]) for of in ("registered", "spent", "left")},
            "people": f"{budget['people']:,}",
            "unit": budget["unit"],
            "frozen": budget["frozen"],
            "changes": [each for each in self.listing["changes"] if each["population"] == self.population],
            "releases": [{**each, **_short(each)} for each in own],
            "looks": [each for each in self.listing["records_opened"] if each["release_id"] in _ids(own)],
            "pictures": [picture_values(each) for each in self.pictures],
            "ledger": self.listing["ledger"],
        }
        return report.markdown(TEMPLATE, values)

    def write(self, path: Path) -> None:
        """Write a new file: Markdown if its name ends in .md, HTML if in .html. Raises as `write_as`."""
        write_as(path, self.title, self.markdown, lambda: draw_all(self.pictures))


def budget_page(ledger: Ledger, population: str) -> BudgetPage:
    """The page of a registered population. Raises LedgerRefused for another."""
    if ledger.budget(population) is None:
        known = ", ".join(each.population for each in ledger.budgets()) or "none yet"
        raise LedgerRefused(f"{population} is not registered in the ledger {ledger.id}; registered: {known}")
    return BudgetPage(population, ledger_summary(ledger), tuple(_steps(ledger.journal(), population)))


def _steps(journal: list[JournalLine], population: str) -> Iterator[BudgetStep]:
    cap: dict[str, Fraction] | None = None
    spent = {"epsilon": Fraction(0), "delta": Fraction(0)}
    for line in journal:
        own = [(name, row) for name, row in line.rows() if row.get("population") == population]
        rows = {name: row for name, row in own if name in (POPULATIONS, TOTALS)}
        if not rows:
            continue
        cap = _amounts(rows[POPULATIONS]) if POPULATIONS in rows else cap
        spent = _amounts(rows[TOTALS]) if TOTALS in rows else spent
        if cap is not None:
            yield BudgetStep(line.number, str(line.detail_values.get("at") or ""), _event_text(line), cap, spent)


def _event_text(line: JournalLine) -> str:
    said = EVENTS.get(line.event, "registered")
    return f"{line.subject} {said}" if line.event.startswith("entry.") else said


def _amounts(row: dict[str, Any]) -> dict[str, Fraction]:
    return {name: Fraction(row[name]) for name in ("epsilon", "delta")}


def _short(amounts: dict[str, Any]) -> dict[str, str]:
    return {name: decimal(Fraction(amounts[name])) for name in ("epsilon", "delta")}


def _ids(releases: list[dict[str, Any]]) -> set[str]:
    return {each["release_id"] for each in releases}
