"""Charges of gates: their privacy cost, and the effect of their noise. No data is read."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

from crowdgate.candidate import OutputType
from crowdgate.gate import gate_text
from crowdgate.number_text import Rounding, bound_number, stated_number

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan
    from crowdgate.measures import Measure
    from crowdgate.policy.policy import GateRule


def charges(plan: Plan) -> tuple[str, ...]:
    """Return a sentence about the privacy cost of each charged gate of a policy."""
    found = ((rule, charge_text(plan, rule, measure)) for rule, measure in plan.gates)
    return tuple(f"Gate {gate_text(rule)} {words}" for rule, words in found if words is not None)


def charge_text(plan: Plan, rule: GateRule, measure: Measure) -> str | None:
    """Return the epsilon and noise of a gate in words, and the share that passes if it measures one; None for a free
    gate.
    """
    margin = _margin(plan, rule, measure)
    if rule.charge is None or margin is None:
        return None
    noise = f"its noise is above {bound_number(margin)} at most once in 20 times"
    price = f"costs epsilon {stated_number(rule.charge.epsilon)}; {noise}"
    return f"{price}{_passing_share_text(plan, rule, measure, margin)}." if measure.excess else f"{price}."


def hardly_passes_warning(plan: Plan, rule: GateRule, measure: Measure) -> str | None:
    """Return a warning if the gate's noise would withhold even a table with a count of 0 with probability above .05;
    else None.
    """
    margin, limit = _margin(plan, rule, measure), rule.at_most
    if margin is None or limit is None:
        return None
    if not measure.excess:
        words = "its noise withholds even a table with a count of 0, with probability 0.05 or more"
        return (
            f"{words}. With a limit of at least {bound_number(2 * margin)} such a table passes"
            if limit < 2 * margin
            else None
        )
    if _passing_share(plan, measure, limit, margin) >= 0:
        return None
    none = "any invalid cell" if measure.shape is OutputType.INPUT else "any row that counts"
    return (
        f"its noise withholds even a table of {_denominator_text(plan, measure)} without {none}, with "
        "probability 0.05 or more"
    )


def hardly_fails_warning(plan: Plan, rule: GateRule, measure: Measure) -> str | None:
    """Return a warning if the gate would withhold a table with probability below .05, whatever the table holds; else
    None.
    """
    margin, limit = _margin(plan, rule, measure), rule.at_most
    if margin is None or limit is None:
        return None
    if measure.excess:
        return "its limit allows every share, as no share is above 1" if limit >= 1 else None
    most, what = _most_counted(plan, measure)
    if most + 2 * margin > limit:
        return None
    return f"there are at most {most} {what}, so it passes with probability 0.95 or more whatever the table holds"


def _most_counted(plan: Plan, measure: Measure) -> tuple[int, str]:
    """Return the greatest count that a gate on this measure can measure, by public facts, and the noun of what is
    counted.
    """
    facts = plan.first_release_facts()
    if measure.shape is OutputType.INPUT:
        return facts.people, f"{plan.guarantee.unit}s"
    classes = prod(map(len, facts.levels.values()))
    return (classes, "classes") if classes < facts.most_rows else (facts.most_rows, "rows")


def _margin(plan: Plan, rule: GateRule, measure: Measure) -> Fraction | None:
    """Return the .95 quantile of the noise of a charged gate; None for a free gate. The gate is judged with its number
    moved that far towards its limit.
    """
    if rule.charge is None or measure.of_noisy is None:
        return None
    told = measure.of_noisy(plan.first_release_facts(), rule, Fraction(0))
    return None if told is None else Fraction(told.upper)


def _passing_share_text(plan: Plan, rule: GateRule, measure: Measure, margin: Fraction) -> str:
    share = rule.at_most or Fraction(0)
    passes = _passing_share(plan, measure, share, margin)
    if passes < 0:
        return ""
    low = f"{bound_number(passes, Rounding.DOWN)} passes at least 19 times in 20"
    high = f"one above {stated_number(share)} at most once"
    return f": of {_denominator_text(plan, measure)} a share of {low}, {high}"


def _passing_share(plan: Plan, measure: Measure, share: Fraction, margin: Fraction) -> Fraction:
    """Return the greatest measured share that passes the gate's limit `share` with probability .95.

    It is two margins below the limit: one for the noise, one because the unfavourable confidence limit is judged.
    """
    return share - 2 * margin / _share_denominator(plan, measure)


def _share_denominator(plan: Plan, measure: Measure) -> int:
    """Return the greatest denominator of a measured share: the number of privacy units of the input, or of rows of the
    released table.
    """
    facts = plan.first_release_facts()
    return facts.people if measure.shape is OutputType.INPUT else facts.most_rows


def _denominator_text(plan: Plan, measure: Measure) -> str:
    unit = plan.guarantee.unit if measure.shape is OutputType.INPUT else "row"
    return f"{_share_denominator(plan, measure)} {unit}s"
