"""What a policy of tables promises and costs, and how far its noise moves every number: from public figures alone."""

from dataclasses import dataclass
from typing import Any

from pipeline import manifest
from pipeline.accounting import pso
from pipeline.jobs.plan import Plan
from pipeline.measures.guarantees import DEFAULT_WEIGHT
from pipeline.mechanisms import DpTables
from pipeline.mechanisms.dp_accuracy import Expected
from pipeline.mechanisms.dp_tables import expected


@dataclass(frozen=True)
class TablesOutlook:
    """The guarantee of a policy of tables, what repeated releases come to, and the expected error of every query."""

    plan: Plan
    cells: int
    releases: int
    pso_bounds: tuple[float, ...]
    expected: tuple[Expected, ...]

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        return {
            "guarantee": manifest.guarantee_json(self.plan.guarantee),
            "mechanism": self.plan.mechanism.parameters(),
            "people_times_delta": float(self.plan.bundle.budget.spec.people * self.plan.guarantee.delta),
            "releases_in_budget": self.releases,
            "pso_bound_after_release": list(self.pso_bounds),
            "cells": self.cells,
            "expected": [
                {
                    "query": row.name,
                    "cells": row.cells,
                    "standard_error": row.error,
                    "half_width": row.half_width,
                    "coverage": row.coverage,
                    "consistent_standard_error": row.consistent_error,
                }
                for row in self.expected
            ],
        }


def tables_outlook(plan: Plan) -> TablesOutlook:
    """The outlook of a plan of tables. Reads no data."""
    mechanism = plan.mechanism
    assert isinstance(mechanism, DpTables)
    releases = releases_in_budget(plan)
    bounds = tuple(pso_bound(plan, count) for count in range(1, min(releases, 12) + 1))
    return TablesOutlook(plan, mechanism.workload.cells, releases, bounds, tuple(expected(mechanism)))


def releases_in_budget(plan: Plan) -> int:
    """How many such releases the population's budget allows, for life."""
    budget, once = plan.bundle.budget.spec, plan.guarantee
    by_epsilon = int(budget.epsilon / once.epsilon)
    return min(by_epsilon, int(budget.delta / once.delta)) if once.delta else by_epsilon


def pso_bound(plan: Plan, count: int) -> float:
    """The bound on the success of predicate singling out after that many such releases."""
    people = plan.bundle.budget.spec.people
    return pso.bound(people, DEFAULT_WEIGHT, count * plan.guarantee.epsilon, count * plan.guarantee.delta)
