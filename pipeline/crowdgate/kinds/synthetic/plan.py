"""What a policy of synthetic rows will do: its mechanism with numbers, what is counted, and its words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.accounting.numbers import decimal
from crowdgate.candidate import MechanismFigures
from crowdgate.guarantee import Guarantee, Part
from crowdgate.kind.kind import Allowance, PlannedMechanism, Planning
from crowdgate.manifest import guarantee_sentences
from crowdgate.mechanisms.synthetic.plan import DpSynthetic, plan_synthetic

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract
    from crowdgate.errors import Finding
    from crowdgate.histogram import View
    from crowdgate.mechanisms.synthetic.spec import DpSyntheticSpec

VIEW = "release"


@dataclass(frozen=True, eq=False)
class SyntheticPlan:
    """The mechanism, and what the policy says of it."""

    mechanism: DpSynthetic
    spec: DpSyntheticSpec


def plan(spec: DpSyntheticSpec, contract: Contract, allowance: Allowance) -> Planning[SyntheticPlan]:
    """The mechanism, whose one part is all that is left."""
    part = Part("mechanism", allowance.epsilon, allowance.delta)
    mechanism, findings = plan_synthetic(spec, contract, part)
    found: list[Finding] = [*_name_findings(spec), *findings]
    return (None if mechanism is None else PlannedMechanism(SyntheticPlan(mechanism, spec), (mechanism.part,))), found


def _name_findings(spec: DpSyntheticSpec) -> Iterator[Finding]:
    """No column of a file is nameless."""
    if "" in spec.attributes:
        yield ("attributes",), "an attribute without a name", "attributes of other names", None


def attributes(_: DpSyntheticSpec) -> Sequence[str]:
    """No gate names an attribute."""
    return ()


def other_charges(_: DpSyntheticSpec) -> Mapping[str, Fraction]:
    """The mechanism takes all of epsilon."""
    return {}


def figures(planned: SyntheticPlan) -> MechanismFigures:
    """No rows of anybody are published."""
    return MechanismFigures(1, {}, planned.mechanism.beta)


def views(planned: SyntheticPlan) -> Mapping[str, View]:
    """All attributes together, at their released levels."""
    return {VIEW: planned.mechanism.view}


def guarantee_text(_: SyntheticPlan, guarantee: Guarantee) -> list[str]:
    """The guarantee in words, and its form for users who take the number of people as known: all parts twice."""
    return guarantee_sentences(guarantee, None)


def notes(planned: SyntheticPlan) -> list[str]:
    """What is drawn, and how the budget is divided, in words."""
    found = planned.mechanism
    drawing, budget = found.drawing, found.drawing.budget
    rate = "" if found.beta == 1 else f", all of it on a sample of rate {float(found.beta):g}"
    return [
        f"Rows that are nobody's, of {len(found.levels)} attributes, from a model of noisy tables: discrete gaussian"
        f" noise of rho {decimal(budget.rho, 4)}, of which {decimal(sum(budget.one_ways), 4)} are for the tables of one"
        f" attribute, {decimal(budget.rounds, 4)} for choosing and measuring some of {len(drawing.candidates)} others,"
        f" and {decimal(budget.certificate, 4)} for the distances between rows and table that are published{rate}."
    ]
