"""Options after a run that published nothing: the budget left, earlier outcomes of its rules, and the next steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.accounting.intervals import clopper_pearson
from crowdgate.gate import Outcome, limit_text, measure_text
from crowdgate.kind.listing import text_listing
from crowdgate.kind.section import Section, paragraph
from crowdgate.number_text import CHANCE, decimal, format_value
from crowdgate.pages.gates import meets_limit, same_verdict, withholding
from crowdgate.pages.run_band import BUDGET_UNKNOWN as UNKNOWN

if TYPE_CHECKING:
    from crowdgate.gate import Verdict
    from crowdgate.history.ended_run import EndedRun
    from crowdgate.kind.run_facts import RunBudget

HEADING = "What you can do now"
COLUMNS = ("option", "what it changes", "further privacy cost", "budget left afterwards")
NOTHING, STAYS = "none", "none; what was charged stays charged"
REFUSED = "the budget does not allow it"
"""The budget left after a run that the ledger would refuse."""
OF_NO_CHARGE = "unknown (a lifetime budget in Renyi divergences): see crowdgate plan."
"""The budget left after a run like one that was not charged to a budget in Renyi divergences."""
TAIL = Fraction(1, 40)
"""The probability that a limit of the forecast is wrong, on each side."""
LIMIT = ("Change the limit", "A new version of the policy states another limit, with its reason.")
POLICY = (
    "Change the policy",
    "A new version states another limit, with its reason, or other levels or parameters. Check it with crowdgate plan"
    " before anything is charged.",
)
ANYWAY = (
    "Charge it anyway",
    "crowdgate release --anyway REASON, if the table has changed. The journal records the reason.",
)
MECHANISM = (
    "Change the table or the mechanism",
    "Cells are corrected at the source, or a new version of the policy states other levels or parameters. Check it"
    " with crowdgate plan before anything is charged.",
)
SLOT = (
    "Make the next slot",
    "The series is paid for. While it has releases left, its next slot costs nothing more, and leaves a gap here.",
)
TRY = {"withheld": (LIMIT, MECHANISM), "held": (POLICY, ANYWAY)}
"""The options with another release, by the outcome of the run."""
STOP = ("Publish nothing", "Recipients get no data. The runs stay in the ledger.")


def next_options(past: Sequence[EndedRun]) -> Iterator[Section]:
    """Yield what is left, the forecast of another try, and the options, after a run that was withheld or held."""
    told = past[-1]
    if told.outcome not in TRY:
        return
    listing = text_listing("Options", COLUMNS, _options(told))
    yield Section(HEADING, [paragraph(_left(told))], list(_before(past)), listings=[listing])


def _left(told: EndedRun) -> str:
    budget = None if told.facts is None else told.facts.budget
    return f"Budget left: {UNKNOWN if budget is None else budget.left_text}"


def _before(past: Sequence[EndedRun]) -> Iterator[str]:
    """Yield for each rule that withheld the run: how often it held in the runs of this version of the policy so far, as
    others may have another mechanism, and the forecast of another try."""
    own = [run for run in past if run.version == past[-1].version]
    for each in withholding(past[-1].verdicts or ()):
        found = [_passes(each, run) for run in own]
        judged = [passed for passed in found if passed is not None]
        if not judged:
            continue
        low, high = clopper_pearson(sum(judged), len(judged), TAIL)
        ends = format_value(low, CHANCE), format_value(high, CHANCE)
        runs = f"{len(judged)} run{'' if len(judged) == 1 else 's'}"
        limit = limit_text(each.rule)
        yield (
            f"{measure_text(each.rule)}: {sum(judged)} of {runs} of this version met the limit ({limit})."
            f" Another try on a table like these passes with probability {ends[0]} to {ends[1]} (95 % interval)."
        )


def _passes(verdict: Verdict, run: EndedRun) -> bool | None:
    """Return whether a run met the limit of a verdict's rule; None if it did not measure the same number."""
    found = same_verdict(verdict, run)
    if found is None or found.shown is None or found.outcome is Outcome.INCONCLUSIVE:
        return None
    end = Fraction(found.shown.high if verdict.rule.at_most is not None else found.shown.low)
    return meets_limit(verdict, end)


def _options(told: EndedRun) -> Iterator[tuple[str, str, str, str]]:
    budget = None if told.facts is None else told.facts.budget
    now = UNKNOWN if budget is None else budget.left_text
    further = (
        f"epsilon {decimal(told.epsilon)}, delta {decimal(told.delta)}",
        UNKNOWN if budget is None else _after(budget, (told.epsilon, told.delta)),
    )
    if told.outcome == "withheld" and is_paid_series(told):
        yield *SLOT, NOTHING, now
    for option in TRY[told.outcome]:
        yield *option, *((NOTHING, now) if option is ANYWAY and _is_paid(told) else further)
    yield *STOP, STAYS if budget is not None and budget.charged else NOTHING, now


def _is_paid(told: EndedRun) -> bool:
    """Return whether the same run, charged anyway, is a further slot of a series that was paid for."""
    series = None if told.facts is None else told.facts.series
    return told.outcome == "held" and series is not None and series.paid_by != told.release_id


def is_paid_series(told: EndedRun) -> bool:
    """Return whether a run belongs to a series that was paid for, by this run or an earlier one."""
    facts = told.facts
    if facts is None or facts.series is None:
        return False
    return facts.series.paid_by != told.release_id or (facts.budget is not None and facts.budget.charged)


def _after(budget: RunBudget, cost: tuple[Fraction, Fraction]) -> str:
    """Return the budget left after one more run at this cost."""
    if budget.used is not None and not budget.charged:
        return OF_NO_CHARGE
    if budget.used is not None:
        before, after = budget.used
        more = replace(budget, used=(after, after + (after - before)))
        return more.left_text if after + (after - before) <= 1 else REFUSED
    spent = (budget.after[0] + cost[0], budget.after[1] + cost[1])
    if any(of > cap for of, cap in zip(spent, budget.cap, strict=True)):
        return REFUSED
    return replace(budget, before=budget.after, after=spent).left_text
