"""The band of a run: outcome, owner, population, cost, budget left, and the next step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from crowdgate.kind.band import Band, Tone
from crowdgate.kind.run_facts import series_cost_text, uncharged_text
from crowdgate.kind.section import paragraph
from crowdgate.number_text import decimal, whole
from crowdgate.pages.approvals import approval_text
from crowdgate.planning.titles import run_title

if TYPE_CHECKING:
    from crowdgate.history.ended_run import EndedRun

CANNOT_TELL = "cannot tell"
TONES: dict[str, Tone] = {"published": "good", "withheld": "bad", "withdrawn": "bad", "held": "open", "waiting": "open"}
SHOWN = {*TONES, "not read"}
"""The outcomes that a band names; of any other it is unknown whether data were published."""
UNREAD = ("not read", "held")
"""The outcomes of runs that read no table yet."""
UNKNOWN = "unknown (no manifest and no public record here)"
BUDGET_UNKNOWN = "unknown (the ledger was not read): see crowdgate report budget."
NEXT = {
    "published": "hand out the folder with its README. Recipients check it with crowdgate verify.",
    "withheld": "choose one of the options under “What you can do now”.",
    "held": "choose one of the options under “What you can do now”.",
    "waiting": "have it approved (crowdgate approve), then run the same crowdgate release again.",
    "withdrawn": "stop using copies of this release.",
    "not read": "correct what stopped the run, then release this slot again.",
    CANNOT_TELL: "see its state with crowdgate ledger show before you release anything else.",
}


CHARGED = {
    "withheld": ", charged although nothing was published",
    "waiting": ", charged whatever the approver decides",
}
"""The charge of a run that published nothing, by its outcome."""


def shown_outcome(told: EndedRun) -> str:
    """Return the outcome that the band names; CANNOT_TELL for a run that did not end."""
    return told.outcome if told.outcome in SHOWN else CANNOT_TELL


def run_band(told: EndedRun, judged: str) -> Band:
    """Return the band of a run; `judged` is a sentence on its rules."""
    facts, outcome = told.facts, shown_outcome(told)
    about = None if facts is None else facts.about
    budget = None if facts is None else facts.budget
    return Band(
        outcome.upper(), run_title(told.release_id, facts), TONES.get(outcome, "open"),
        paragraph(None if about is None else about.description, judged), tuple(_facts(told)), cost_text(told),
        BUDGET_UNKNOWN if budget is None else budget.left_text, None if budget is None else budget.shares,
        NEXT[outcome],
    )  # fmt: skip


def cost_text(told: EndedRun) -> str:
    """Return the privacy cost of a run, or of its series, rounded up."""
    cost = f"epsilon {decimal(told.epsilon)}, delta {decimal(told.delta)}"
    series = None if told.facts is None else told.facts.series
    if series is not None and not (told.outcome in UNREAD and series.paid_by == told.release_id):
        return f"{series_cost_text(series)}."
    budget = None if told.facts is None else told.facts.budget
    uncharged = told.outcome != "published" and budget is not None and not budget.charged
    if uncharged:
        return uncharged_text(cost)
    return f"{cost}{CHARGED.get(told.outcome, '')}."


def _facts(told: EndedRun) -> Iterator[tuple[str, str]]:
    facts = told.facts
    about = None if facts is None else facts.about
    yield "Owner", UNKNOWN if about is None else about.owner
    if facts is not None:
        people = "" if facts.people is None else f", at most {whole(facts.people)} people"
        yield "Population", f"{facts.population}{people}"
    if told.outcome in ("published", "waiting"):
        yield "Approval", approval_text(told)
    _, version, slot = told.release_id.split("/")
    yield "Policy version", version
    yield "Slot", slot
    yield "Release", told.release_id
