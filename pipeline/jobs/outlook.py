"""What a policy promises and costs, from its files alone: the numbers behind the guarantee."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from pipeline import manifest
from pipeline.accounting import pso, safe_k
from pipeline.io.policies import read_bundle
from pipeline.jobs.plan import Plan, plan_release
from pipeline.measures.guarantees import DEFAULT_WEIGHT


@dataclass(frozen=True)
class Outlook:
    """The guarantee of a policy, its class size by both bounds, and what repeated releases come to."""

    plan: Plan
    least_k_exact: int
    least_k_theorem5: int | None
    exact_delta: float
    releases: int
    pso_bounds: tuple[float, ...]

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        return {
            "guarantee": manifest.guarantee_json(self.plan.guarantee),
            "mechanism": self.plan.mechanism.parameters(),
            "least_k": {"exact": self.least_k_exact, "theorem5": self.least_k_theorem5},
            "exact_delta": self.exact_delta,
            "releases_in_budget": self.releases,
            "pso_bound_after_release": list(self.pso_bounds),
        }


def outlook(policy: Path) -> Outlook:
    """The outlook of a policy. Raises ConfigurationError for wrong files. Reads no data."""
    plan = plan_release(read_bundle(policy))
    part, beta = plan.mechanism.part, plan.mechanism.beta
    releases = _releases(plan)
    return Outlook(
        plan=plan,
        least_k_exact=safe_k.least_k(part.epsilon, part.delta, beta),
        least_k_theorem5=_theorem5(part.epsilon, part.delta, beta),
        exact_delta=safe_k.exact_delta(plan.mechanism.k, beta, part.epsilon),
        releases=releases,
        pso_bounds=tuple(_pso_bound(plan, count) for count in range(1, min(releases, 12) + 1)),
    )


def _theorem5(epsilon: Fraction, delta: Fraction, beta: Fraction) -> int | None:
    """The least k by the published theorem, or None below its smallest epsilon, -ln(1 - beta)."""
    try:
        return safe_k.least_k(epsilon, delta, beta, bound="theorem5")
    except ValueError:
        return None


def _releases(plan: Plan) -> int:
    budget, once = plan.bundle.budget.spec, plan.guarantee
    return min(int(budget.epsilon / once.epsilon), int(budget.delta / once.delta))


def _pso_bound(plan: Plan, count: int) -> float:
    people = plan.bundle.budget.spec.people
    return pso.bound(people, DEFAULT_WEIGHT, count * plan.guarantee.epsilon, count * plan.guarantee.delta)
