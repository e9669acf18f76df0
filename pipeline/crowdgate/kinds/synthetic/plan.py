"""Plan of a policy of synthetic rows: its mechanism with numbers, counted views, and descriptions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crowdgate.candidate import MechanismFigures
from crowdgate.guarantee import Part
from crowdgate.kind.kind import Allowance, AnyKind, Planning, Protection
from crowdgate.mechanisms.synthetic.plan import DpSynthetic, plan_synthetic
from crowdgate.number_text import decimal

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract
    from crowdgate.errors import Finding
    from crowdgate.mechanisms.synthetic.spec import DpSyntheticSpec

VIEW = "release"


@dataclass(frozen=True, eq=False)
class SyntheticPlan:
    """The mechanism, and the policy's specification of it."""

    mechanism: DpSynthetic
    spec: DpSyntheticSpec


def plan(kind: AnyKind, spec: DpSyntheticSpec, contract: Contract, allowance: Allowance) -> Planning:
    """Plan the mechanism, whose one part of the guarantee is the whole allowance. One view has all attributes at their
    released levels; no rows of people are published."""
    part = Part("mechanism", allowance.epsilon, allowance.delta)
    mechanism, findings = plan_synthetic(spec, contract, part)
    found: list[Finding] = [*_name_findings(spec), *findings]
    if mechanism is None or found:
        return None, found
    figures, planned = MechanismFigures(1, {}, mechanism.beta), SyntheticPlan(mechanism, spec)
    return Protection(kind, planned, (mechanism.part,), figures, {VIEW: mechanism.view}), ()


def _name_findings(spec: DpSyntheticSpec) -> Iterator[Finding]:
    """Yield a finding if an attribute has no name, as columns of files need names."""
    if "" in spec.attributes:
        yield ("attributes",), "an attribute without a name", "attributes of other names", None


def notes(planned: SyntheticPlan) -> list[str]:
    """Return a sentence on what is drawn and how the budget is divided."""
    found = planned.mechanism
    drawing, budget = found.drawing, found.drawing.budget
    rate = "" if found.beta == 1 else f", all of it on a sample of rate {float(found.beta):g}"
    return [
        f"Synthetic rows of {len(found.levels)} attributes, from a model of noisy tables. Discrete Gaussian noise of"
        f" rho {decimal(budget.rho, 4)}: {decimal(sum(budget.one_ways), 4)} for the tables of one attribute,"
        f" {decimal(budget.rounds, 4)} for choosing and measuring some of {len(drawing.candidates)} others, and"
        f" {decimal(budget.certificate, 4)} for the published distances between rows and table{rate}."
    ]
