"""The gate on trustworthy numbers, where counts of a pilot release do not determine the table: by prediction limits."""

import pytest

from crowdgate.forecast.outlook import outlook
from crowdgate.kind.forecast import Figure
from crowdgate.kind.pass_probability import PassProbability
from crowdgate.kinds.tables.gate_chances import OUTSIDE, pass_probabilities
from crowdgate.measures import MEASURES
from crowdgate.policy.policy import GateRule
from tests.forecast.chances.test_counts import TABLES, release_tables
from tests.workshop import Workshop

SHARE = Figure("trusted_share", "expected share", 0.6, 0.5, 0.8)
COUNTS = "".join(line for line in TABLES.splitlines(keepends=True) if "{sum" not in line and "{mean" not in line)


def chance(workshop: Workshop, limit: float, measure: str = "trusted_share") -> PassProbability | None:
    found = outlook(workshop.policy)
    odds = pass_probabilities(found.plan.protection.mechanism, found.figures.prior, lambda: SHARE)
    rule = GateRule.model_validate({"measure": measure, "at_least": str(limit)})
    return odds(rule, MEASURES[measure], found.plan.first_release_facts())


@pytest.mark.parametrize(
    ("limit", "value", "low", "high"),
    [(0.5, 1 - OUTSIDE / 2, 1 - OUTSIDE, 1), (0.81, OUTSIDE / 2, 0, OUTSIDE), (0.6, 0.5, 0, 1), (0.7, 0.1587, 0, 1)],
)
def test_a_limit_outside_the_prediction_limits_is_passed_or_failed_with_little_doubt(
    workshop: Workshop, limit: float, value: float, low: float, high: float
) -> None:
    release_tables(workshop, COUNTS.replace("NOISE", "gaussian"), limit)
    found = chance(workshop, limit)
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((value, low, high), abs=1e-4)


def test_of_tables_with_means_and_of_other_measures_nothing_is_known(workshop: Workshop) -> None:
    """The expected share is that of counts of people only."""
    release_tables(workshop, TABLES.replace("NOISE", "gaussian"), 0.5)
    assert chance(workshop, 0.5) is None


def test_without_counts_the_gate_is_unknown(workshop: Workshop) -> None:
    release_tables(workshop, COUNTS.replace("NOISE", "gaussian"), 0.5)
    assert chance(workshop, 0.5, "smallest_trusted_cell") is None
    found = outlook(workshop.policy)
    rule = GateRule.model_validate({"measure": "trusted_share", "at_least": "0.5"})
    assert found.forecast.odds(rule, MEASURES["trusted_share"], found.plan.first_release_facts()) is None
