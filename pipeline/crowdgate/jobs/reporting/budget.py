"""The page of a budget: what a population had, lost and has left, with every raise and its reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate import report
from crowdgate.accounting.numbers import decimal
from crowdgate.errors import LedgerRefused
from crowdgate.jobs.budgets import left_words
from crowdgate.jobs.ledger_shown import shown
from crowdgate.kind.picture import Picture, Point, Series
from crowdgate.ledger.schema import populations, totals
from crowdgate.report.pictures import draw_all, pictured
from crowdgate.report.written import write_as

if TYPE_CHECKING:
    from crowdgate.ledger.journal import Line
    from crowdgate.ledger.ledger import Ledger

TEMPLATE = "report/pages/budget.md.j2"
EVENTS = {
    "entry.reserved": "charged",
    "entry.void": "given back",
    "budget.raised": "raised",
}
"""What changes what is left, in words; the first line of a population registers it."""


@dataclass(frozen=True)
class Step:
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
    steps: tuple[Step, ...]

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
            Series(words, tuple(map(Point, places, values)), "steps")
            for words, values in (("left", left), ("registered", caps))
        )
        return Picture(
            f"burn down {name}", f"What was left of {name} after each change", "line of the ledger", name, series,
            across=True, format=".6g",
        )  # fmt: skip

    def markdown(self) -> str:
        """The page as Markdown."""
        (budget,) = (each for each in self.listing["budgets"] if each["population"] == self.population)
        own = [each for each in self.listing["releases"] if each["population"] == self.population]
        values = {
            "title": self.title,
            "left": left_words(budget),
            "budget": {of: _short(budget[of]) for of in ("registered", "spent", "left")},
            "people": f"{budget['people']:,}",
            "unit": budget["unit"],
            "frozen": budget["frozen"],
            "changes": [each for each in self.listing["changes"] if each["population"] == self.population],
            "releases": [{**each, **_short(each)} for each in own],
            "looks": [each for each in self.listing["records_opened"] if each["release_id"] in _ids(own)],
            "pictures": [pictured(each) for each in self.pictures],
            "ledger": self.listing["ledger"],
        }
        return report.markdown(TEMPLATE, values)

    def write(self, path: Path) -> None:
        """Write a new file: Markdown if its name ends in .md, HTML if in .html. Raises as `write_as`."""
        write_as(path, self.title, self.markdown(), lambda: draw_all(self.pictures))


def budget_page(ledger: Ledger, population: str) -> BudgetPage:
    """The page of a registered population. Raises LedgerRefused for another."""
    if ledger.budget(population) is None:
        known = ", ".join(each.population for each in ledger.budgets()) or "none yet"
        raise LedgerRefused(f"{population} is not registered in the ledger {ledger.id}; registered: {known}")
    return BudgetPage(population, shown(ledger), tuple(_steps(ledger.journal(), population)))


def _steps(journal: list[Line], population: str) -> Iterator[Step]:
    cap: dict[str, Fraction] | None = None
    spent = {"epsilon": Fraction(0), "delta": Fraction(0)}
    for line in journal:
        own = [(name, row) for name, row in line.rows() if row.get("population") == population]
        rows = {name: row for name, row in own if name in (populations.name, totals.name)}
        if not rows:
            continue
        cap = _amounts(rows[populations.name]) if populations.name in rows else cap
        spent = _amounts(rows[totals.name]) if totals.name in rows else spent
        if cap is not None:
            yield Step(line.number, str(line.said.get("at") or ""), _what(line), cap, spent)


def _what(line: Line) -> str:
    said = EVENTS.get(line.event, "registered")
    return f"{line.subject} {said}" if line.event.startswith("entry.") else said


def _amounts(row: dict[str, Any]) -> dict[str, Fraction]:
    return {name: Fraction(row[name]) for name in ("epsilon", "delta")}


def _short(amounts: dict[str, Any]) -> dict[str, str]:
    return {name: decimal(Fraction(amounts[name])) for name in ("epsilon", "delta")}


def _ids(releases: list[dict[str, Any]]) -> set[str]:
    return {each["release_id"] for each in releases}
