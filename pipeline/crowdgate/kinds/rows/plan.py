"""Plan of a policy of rows: parts of the guarantee, class size, counted views, and descriptions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.candidate import MechanismFigures
from crowdgate.errors import Finding
from crowdgate.guarantee import Guarantee, Part
from crowdgate.kind.kind import Allowance, AnyKind, Planning, Protection
from crowdgate.kinds.rows.joint_cost import planned_jointly
from crowdgate.manifest import guarantee_sentences
from crowdgate.mechanisms.rows.charge_names import MARGINS_PART, WEIGHT
from crowdgate.mechanisms.rows.choice import choice_parts
from crowdgate.mechanisms.rows.safe_k import SafeK, plan_safe_k
from crowdgate.number_text import decimal

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract
    from crowdgate.mechanisms.rows.spec import SafeKAnonymity

VIEW = "release"


def gate_attributes(spec: SafeKAnonymity) -> Sequence[str]:
    """Return the names of the released attributes; rows that are equal in all of them form a class."""
    return list(spec.attributes)


def other_charges(spec: SafeKAnonymity) -> Mapping[str, Fraction]:
    """Return the epsilon of other steps by the step's name: the choice of levels, and the margins."""
    chosen = {} if spec.choose is None else {"the choice of levels": spec.choose.epsilon}
    return chosen if spec.margins is None else {**chosen, "the margins": spec.margins.epsilon}


def plan(kind: AnyKind, spec: SafeKAnonymity, contract: Contract, allowance: Allowance) -> Planning:
    """Plan the mechanism of least k, the choice of levels and the margins, if the policy has them. The view has the
    released levels, or the finest candidates."""
    epsilon, delta = (Fraction(0), Fraction(0)) if spec.margins is None else spec.margins.cost(allowance.delta)
    if delta and delta >= allowance.delta:
        stated = f"a delta of {decimal(delta)}, of {decimal(allowance.delta)} in all"
        return None, [(("margins", "delta"), stated, "less than the policy's whole delta, such as a tenth of it", None)]
    bought = None if spec.margins is None else Part(MARGINS_PART, epsilon, delta)
    parts = choice_parts(spec.choose, allowance.epsilon - epsilon, allowance.delta - delta)
    by_sum = spec if allowance.gates is None else spec.model_copy(update={"k": "least"})
    mechanism, findings = plan_safe_k(by_sum, contract, parts[0], bought)
    found = [*_name_findings(spec), *findings]
    if mechanism is None or found:
        return None, found
    spent = (mechanism.part, *parts[1:], *(() if bought is None else (bought,)))
    joint = None
    if allowance.gates is not None:
        mechanism, joint, against = planned_jointly(spec, mechanism, allowance, spent)
        if mechanism is None:
            return None, against
    figures = MechanismFigures(mechanism.k, mechanism.levels, mechanism.beta)
    return Protection(kind, mechanism, spent, figures, {VIEW: mechanism.view}, joint), ()


def _name_findings(spec: SafeKAnonymity) -> Iterator[Finding]:
    """Yield a finding if an attribute has the name of the column of weights, which rows with margins have."""
    if spec.margins is not None and WEIGHT in spec.attributes:
        found = f"{WEIGHT!r} is also the name of the column of weights, which rows with margins have"
        yield ("attributes", WEIGHT), found, "attributes of other names, or no margins", None


def guarantee_text(safe: SafeK, guarantee: Guarantee) -> list[str]:
    """Return the guarantee in words: total, parts, and the form for users who take the number of people as known."""
    return guarantee_sentences(guarantee, safe.beta, safe.rows)


def notes(safe: SafeK) -> list[str]:
    """Return sentences on which levels are chosen from data and at what privacy cost; none if all are fixed."""
    return [] if safe.choice is None else [safe.choice.words()]
