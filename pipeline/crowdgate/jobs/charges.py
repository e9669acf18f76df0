"""What charged gates cost, and what their noise leaves of what they can tell. No data is read."""

from fractions import Fraction

from crowdgate.gate import bound_number, gate_words, stated_number
from crowdgate.kind.plan import Plan
from crowdgate.measures import Measure
from crowdgate.policy.policy import GateRule


def charges(plan: Plan) -> tuple[str, ...]:
    """The price of every charged gate, in words."""
    found = ((rule, charge_words(plan, rule, measure)) for rule, measure in plan.gates)
    return tuple(f"Gate {gate_words(rule)} {words}" for rule, words in found if words is not None)


def charge_words(plan: Plan, rule: GateRule, measure: Measure) -> str | None:
    """What one gate costs of epsilon, how large its noise is, and for a share which one passes; None for a free one."""
    margin = _margin(plan, rule, measure)
    if rule.charge is None or margin is None:
        return None
    noise = f"its noise is above {bound_number(margin)} at most once in 20 times"
    price = f"costs epsilon {stated_number(rule.charge.epsilon)}; {noise}"
    return f"{price}{_passing(plan, rule, margin)}." if measure.excess else f"{price}."


def unlikely(plan: Plan, rule: GateRule, measure: Measure) -> str | None:
    """A warning where even a table without an invalid cell would be withheld more than once in 20 times."""
    margin, share = _margin(plan, rule, measure), rule.at_most
    if not measure.excess or margin is None or share is None or _passes(plan, share, margin) >= 0:
        return None
    table = f"a table of {plan.bundle.budget.spec.people} {plan.guarantee.unit}s without an invalid cell"
    return f"its noise withholds {table} once in 20 times or more"


def _margin(plan: Plan, rule: GateRule, measure: Measure) -> Fraction | None:
    """What the noise exceeds with probability at most .05; the gate is judged so much towards its limit."""
    if rule.charge is None or measure.of_noisy is None:
        return None
    told = measure.of_noisy(plan.alone(), rule, Fraction(0))
    return None if told is None else Fraction(told.upper)


def _passing(plan: Plan, rule: GateRule, margin: Fraction) -> str:
    share, people = rule.at_most or Fraction(0), plan.bundle.budget.spec.people
    passes = _passes(plan, share, margin)
    if passes < 0:
        return ""
    low = f"{bound_number(passes, least=True)} passes at least 19 times in 20"
    high = f"one above {stated_number(share)} at most once"
    return f": of {people} {plan.guarantee.unit}s a share of {low}, {high}"


def _passes(plan: Plan, share: Fraction, margin: Fraction) -> Fraction:
    """The greatest share that passes with probability .95: twice the margin below, once for the noise, once because the
    unfavourable end is judged."""
    return share - 2 * margin / plan.bundle.budget.spec.people
