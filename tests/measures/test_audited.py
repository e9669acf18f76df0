"""Measures of a recorded audit: judged at the unfavourable limit, and inconclusive without a reliable audit."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.candidate import AuditFigures, AuditQuestion, Candidate, Measurement, NoAudit, Static
from crowdgate.gate import GateReach, Outcome, reach, verdict
from crowdgate.guarantee import Guarantee, Part
from crowdgate.histogram import Histogram
from crowdgate.measures import MEASURES
from crowdgate.policy.policy import GateRule

NAMES = ("pso_success", "pso_excess", "isolation_rate")
NUMBERS = (Measurement(0.02, 0.01, 0.03), Measurement(0.015, 0.005, 0.025), Measurement(0.3, 0.2, 0.4))
ALONE = (Fraction(1), Fraction(0))


def static(audit: AuditFigures | NoAudit, beta: Fraction = Fraction(1, 2), people: int = 100) -> Static:
    guarantee = Guarantee.of((Part("mechanism", *ALONE),))
    return Static(guarantee, ALONE, ALONE, people, 1, {}, {}, beta=beta, audits=dict.fromkeys(AuditQuestion, audit))


def figures(age: int = 0, kept: float | None = 0.5) -> AuditFigures:
    told = dict(zip(NAMES, NUMBERS, strict=True))
    if kept is not None:
        told["kept_share_in_audit"] = Measurement.exact(kept)
    return AuditFigures(lambda name, _: told.get(name), age)


def rule(measure: str, limit: str, age: str = "10", side: str = "at_most") -> GateRule:
    return GateRule.model_validate({"measure": measure, side: limit, "with": {"max_age": age}})


def outcome(name: str, limit: str, facts: Static) -> Outcome:
    measure, gate = MEASURES[name], rule(name, limit)
    assert measure.of_static is not None
    return verdict(gate, measure, measure.of_static(facts, gate), facts).outcome


@pytest.mark.parametrize(("name", "number"), list(zip(NAMES, NUMBERS, strict=True)))
def test_a_gate_is_judged_at_the_upper_end(name: str, number: Measurement) -> None:
    facts = static(figures())
    assert outcome(name, str(number.upper + 1e-6), facts) is Outcome.PASS
    assert outcome(name, str(number.value), facts) is Outcome.FAIL


@given(name=st.sampled_from(NAMES), age=st.integers(0, 30))
def test_an_audit_that_is_too_old_or_none_is_inconclusive_and_says_so(name: str, age: int) -> None:
    found = outcome(name, "1", static(figures(age)))
    assert found is (Outcome.PASS if age <= 10 else Outcome.INCONCLUSIVE)
    facts, measure, gate = static(NoAudit("no ink")), MEASURES[name], rule(name, "1")
    assert verdict(gate, measure, None, facts).reason == "it could not be measured: no ink"
    assert reach(gate, measure.reach(facts, gate)) is GateReach.OPEN


def kept(rows: int, audit: AuditFigures | NoAudit) -> Measurement | None:
    counts = np.array([rows], dtype=np.int64)
    table = Histogram(("a",), (1,), (np.zeros(1, np.int32),), counts)
    measure = MEASURES["kept_share_in_audit"]
    assert measure.of_candidate is not None
    return measure.of_candidate(
        Candidate(static=static(audit), rows=table), rule("kept_share_in_audit", "0", side="at_least")
    )


@given(rows=st.integers(1, 100))
def test_the_share_of_the_audit_counts_where_this_release_keeps_nearly_as_much(rows: int) -> None:
    """Half of 100 people are sampled; the audit retained half of these."""
    near = abs(Fraction(rows, 50) - Fraction(1, 2)) <= Fraction(1, 10)
    assert kept(rows, figures()) == (Measurement.exact(0.5) if near else None)
    assert kept(rows, figures(kept=None)) is kept(rows, figures(age=11)) is kept(rows, NoAudit()) is None


def test_other_gates_say_what_they_said() -> None:
    gate = GateRule.model_validate({"measure": "guarantee_epsilon", "at_most": "1"})
    found = verdict(gate, MEASURES["guarantee_epsilon"], None, static(NoAudit("no ink")))
    assert found.reason == "it could not be measured"
