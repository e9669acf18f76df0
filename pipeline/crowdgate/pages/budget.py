"""The page of a budget: a population's registered, spent and remaining amounts, with every raise and its reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from crowdgate.errors import LedgerRefused
from crowdgate.history.ledger_summary import ledger_summary, series_left, series_text, used_part
from crowdgate.kind.band import Band, Tone
from crowdgate.kind.picture import Picture, PicturePoint, Series
from crowdgate.kind.run_facts import RunBudget
from crowdgate.kind.section import ANNEX, Section, table_section
from crowdgate.ledger.journal_rules import CONVERTED
from crowdgate.ledger.schema import FILTERS, POPULATIONS, TOTALS
from crowdgate.ledger.transitions import RESERVED, RESTORED, VOID
from crowdgate.number_text import AMOUNT, PEOPLE, decimal, format_value
from crowdgate.pages.gates import FEWEST_RUNS
from crowdgate.planning.budgets import budget_left_text, low_budget_text, percent_left
from crowdgate.report.report import Report

if TYPE_CHECKING:
    from crowdgate.ledger.journal import JournalLine
    from crowdgate.ledger.ledger import Ledger

AMOUNTS = ("epsilon", "delta")
PART = "part of the budget"
FROZEN = "It is frozen: nothing is charged to it or read of it until it is thawed."
EVENTS = {
    RESERVED: "charged",
    VOID: "given back",
    RESTORED: "restored",
    "budget.raised": "raised",
    CONVERTED: "converted to Renyi divergences",
}
"""Events that change the budget left, in words; the first line of a population registers it."""


@dataclass(frozen=True)
class BudgetStep:
    """A population's registered budget (`cap`) and what is spent of it, in epsilon and delta, after a line of the
    ledger."""

    line: int
    at: str
    what: str
    cap: dict[str, Fraction]
    spent: dict[str, Fraction]


def budget_page(ledger: Ledger, population: str) -> Report:
    """Return the page of the budget of a registered population. Raises LedgerRefused for another population."""
    if ledger.budget(population) is None:
        known = ", ".join(each.population for each in ledger.budgets()) or "none yet"
        raise LedgerRefused(f"the population {population} is unknown to the ledger {ledger.id}, which knows: {known}")
    summary, steps = ledger_summary(ledger), tuple(budget_steps(ledger.journal(), population))
    (budget,) = (each for each in summary["budgets"] if each["population"] == population)
    band = _band(summary["ledger"], budget)
    return Report(f"Budget of {population}", lambda: list(_sections(summary, budget, steps)), band=lambda: band)


def _band(ledger: str, budget: dict[str, Any]) -> Band:
    """Return the band of the page: the part that is left, and what to do if it is little."""
    low, frozen, now = low_budget_text(budget), budget["frozen"], budget_now(budget)
    facts = [
        ("Population", budget["population"]), ("People", f"at most {format_value(budget['people'], PEOPLE)}"),
        ("Privacy unit", budget["unit"]), ("Ledger", ledger),
    ]  # fmt: skip
    step = "plan the next release with crowdgate plan."
    if frozen or low:
        step = (
            "thaw it with crowdgate ledger budget." if frozen else "plan the last releases, or raise it with a reason."
        )
    tone: Tone = "open" if frozen or low else "plain"
    title = f"Budget of {budget['population']}"
    word = "FROZEN" if frozen else f"{percent_left(budget)} % LEFT"
    return Band(word, title, tone, "", facts, "", now.left_text, now.shares, step)


def budget_now(budget: dict[str, Any]) -> RunBudget:
    """Return a budget of a ledger's summary as it is now, without a next run."""
    cap, spent = (tuple(Fraction(budget[of][name]) for name in AMOUNTS) for of in ("registered", "spent"))
    used = (Fraction(budget["used"]),) * 2 if "used" in budget else None
    return RunBudget((cap[0], cap[1]), (spent[0], spent[1]), (spent[0], spent[1]), used)


def _sections(summary: dict[str, Any], budget: dict[str, Any], steps: Sequence[BudgetStep]) -> Iterator[Section]:
    """Yield the budget left, its history, and all entries of the ledger about these people."""
    changes, releases = _own(summary["changes"], budget), _own(summary["releases"], budget)
    ids = {each["release_id"] for each in releases}
    amounts = ((of, *_short(budget[of])) for of in ("registered", "spent", "left") if of in budget)
    warnings = (low_budget_text(budget), FROZEN if budget["frozen"] else None)
    lines = [f"{budget_left_text(budget)}.", *filter(None, warnings), _life_text(budget)]
    yield Section("", lines, pictures=lambda: _burn_downs(steps))
    yield table_section("Amounts", ("", *AMOUNTS), amounts)
    if "divergences" in budget:
        yield table_section("Renyi divergences", ("", "cap", "spent"), _divergence_rows(budget))
    yield _section("Raises and stops", map(_change_text, changes), "It was never raised, frozen or thawed.")
    paid = ("series",) if any(map(series_text, releases)) else ()
    rows = ((each["release_id"], each["state"], *_short(each), *(series_text(each) for _ in paid)) for each in releases)
    yield ANNEX
    yield table_section("Releases", ("release", "ended", *AMOUNTS, *paid), rows)
    if left := list(series_left(releases)):
        yield Section("Paid series", points=left)
    looks = (
        f"{each['release_id']} ({_where(each)})" for each in summary["records_opened"] if each["release_id"] in ids
    )
    yield _section("Accesses to private records", looks, "None.")
    yield Section("", [f"From the ledger {summary['ledger']}."])


def _divergence_rows(budget: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the cap and the total of each order, and of cut mass."""
    for each in budget["divergences"]:
        yield f"order {each['order']}", decimal(Fraction(each["cap"])), decimal(Fraction(each["spent"]))
    cut = budget["cut_mass"]
    yield "cut mass", decimal(Fraction(cut["cap"])), decimal(Fraction(cut["spent"]))


def _own(rows: Sequence[dict[str, Any]], budget: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in rows if each["population"] == budget["population"]]


def _section(heading: str, points: Iterable[str], nothing: str) -> Section:
    said = list(points)
    return Section(heading, [] if said else [nothing], said)


def _life_text(budget: dict[str, Any]) -> str:
    about = "row" if budget["unit"] == "row" else f"person ({budget['unit']})"
    added = "Privacy costs add up over all releases, and never come back."
    if "used" in budget:
        added = (
            "Privacy costs add up over all releases as Renyi divergences, and never come back. The caps keep the"
            " registered epsilon and delta for all releases together, whatever is released next. While one order is"
            " within its cap, and the cut mass is, another release may start."
        )
    return (
        f"{added} This is the lifetime budget of at most"
        f" {format_value(budget['people'], PEOPLE)} people. Each guarantee is about one {about}."
    )


def _change_text(change: dict[str, Any]) -> str:
    to = f" to epsilon {change['epsilon']}, delta {change['delta']}" if "epsilon" in change else ""
    return f"{change['change'].capitalize()}{to}: {change['reason']} ({_where(change)})."


def _where(event: dict[str, Any]) -> str:
    """Return, as text, the line of the ledger that records an event, its time, and its author."""
    return ", ".join([f"line {event['line']}", *(str(event[name]) for name in ("at", "by") if event.get(name))])


def _burn_downs(steps: Sequence[BudgetStep]) -> list[Picture]:
    """Return pictures of epsilon and of delta: the budget left after each change, and the registered budget.

    There is none of delta if none is registered, and none of fewer than FEWEST_RUNS changes. With a filter the picture
    is of the part of it that is left.
    """
    if len(steps) < FEWEST_RUNS:
        return []
    names = (PART,) if PART in steps[-1].cap else AMOUNTS
    return [_burn_down(name, steps) for name in names if any(step.cap.get(name) for step in steps)]


def _burn_down(name: str, steps: Sequence[BudgetStep]) -> Picture:
    steps = [step for step in steps if name in step.cap]
    places = [f"line {step.line}" for step in steps]
    left = [float(max(Fraction(0), step.cap[name] - step.spent[name])) for step in steps]
    caps = [float(step.cap[name]) for step in steps]
    series = tuple(
        Series(words, tuple(map(PicturePoint, places, values)), "steps")
        for words, values in (("left", left), ("registered", caps))
    )
    return Picture(
        f"burn down {name}", f"What was left of {name} after each change", "line of the ledger", name, series,
        across=True, format=AMOUNT,
    )  # fmt: skip


def budget_steps(journal: list[JournalLine], population: str) -> Iterator[BudgetStep]:
    """Yield a step for each line of the journal that changes a population's budget or what is spent of it."""
    cap: dict[str, Fraction] | None = None
    spent = {"epsilon": Fraction(0), "delta": Fraction(0)}
    for line in journal:
        own = [(name, row) for name, row in line.rows() if row.get("population") == population]
        rows = {name: row for name, row in own if name in (POPULATIONS, TOTALS, FILTERS)}
        if not rows:
            continue
        used = used_part(line)
        counted = cap is not None and PART in cap
        if used is not None:
            cap, spent = {PART: Fraction(1)}, {PART: used}
        elif not counted:
            cap = _amounts(rows[POPULATIONS]) if POPULATIONS in rows else cap
            spent = _amounts(rows[TOTALS]) if TOTALS in rows else spent
        if cap is not None:
            yield BudgetStep(line.number, str(line.detail_values.get("at") or ""), _event_text(line), cap, spent)


def _event_text(line: JournalLine) -> str:
    said = EVENTS.get(line.event, "registered")
    return f"{line.subject} {said}" if line.event.startswith("entry.") else said


def _amounts(row: dict[str, Any]) -> dict[str, Fraction]:
    return {name: Fraction(row[name]) for name in AMOUNTS}


def _short(amounts: dict[str, Any]) -> list[str]:
    return [decimal(Fraction(amounts[name])) for name in AMOUNTS]
