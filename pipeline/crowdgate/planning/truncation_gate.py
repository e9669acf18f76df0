"""The gate on truncated people: what one would cost that a policy lacks, and the limit that it keeps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from typing import TYPE_CHECKING

from crowdgate.measures.ingestion import TRUNCATED_PEOPLE
from crowdgate.number_text import stated_number
from crowdgate.planning.budget_values import charged_epsilon
from crowdgate.planning.bundle import kind_of

if TYPE_CHECKING:
    from crowdgate.policy.files import Bundle
    from crowdgate.policy.policy import GateRule

SMALL_PART = Fraction(1, 20)
"""The part of the mechanism's epsilon that a recommended gate costs, and the part of the people that it must tell."""
NOISE_SCALES = 3
"""The multiple of its scale that Laplace noise exceeds with probability 0.05."""


@dataclass(frozen=True)
class RecommendedGate:
    """A gate on truncated people that a policy lacks: its epsilon, and its charge as a policy states it."""

    epsilon: Fraction
    charge: str

    def line(self, at_most: int | str) -> str:
        """Return the gate as a line of a policy."""
        return f"{{measure: {TRUNCATED_PEOPLE.name}, at_most: {at_most}, charge: {{{self.charge}}}}}"


def stated_gate(bundle: Bundle) -> GateRule | None:
    """Return the gate on truncated people that a policy has; None if it has none."""
    return next((rule for rule in bundle.policy.spec.gates if rule.measure == TRUNCATED_PEOPLE.name), None)


def recommended_gate(bundle: Bundle) -> RecommendedGate | None:
    """Return a gate for a small part of the epsilon that other charges leave. None if the policy has such a gate or
    can't have one (all rows of a person count, or the table is a sample), or if noise would hide a small part of the
    people."""
    contract, spec = bundle.contract, bundle.policy.spec
    if contract.unit.person is None or contract.is_of_persons or contract.sample is not None or stated_gate(bundle):
        return None
    others = sum(kind_of(bundle).other_charges(spec.mechanism).values())
    epsilon = (spec.privacy.epsilon - charged_epsilon(spec) - others) * SMALL_PART
    if NOISE_SCALES / epsilon > bundle.budget.spec.people * SMALL_PART:
        return None
    share = f"share: {stated_number(epsilon / spec.privacy.epsilon)}"
    return RecommendedGate(epsilon, share if spec.by_shares else f"epsilon: {stated_number(epsilon)}")


def gate_limit(truncated: float, epsilon: Fraction) -> int:
    """Return a limit of truncated people that a gate keeps with probability 0.95 or more, if at most so many people are
    truncated. The gate judges an upper 95 % confidence limit of a count with noise of this epsilon."""
    return ceil(truncated + 2 * log(20) / float(epsilon))
