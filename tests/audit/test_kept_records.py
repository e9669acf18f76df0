"""Records of audits from an earlier version, with the figures that it computed from them.

`kept/` holds one of each question, made on the bundled table. A change of what figures mean is a change of the format.
"""

import gzip
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from crowdgate.accounting import pso
from crowdgate.audit.audits import AUDITS
from crowdgate.audit.common.record_io import record_bytes
from crowdgate.candidate import AuditQuestion
from crowdgate.errors import VerificationFailed
from crowdgate.gate import Outcome

KEPT = Path(__file__).with_name("kept")
WHOLE = {"coverage": Fraction(1)}
CLAIMS = {"skew": Fraction(30), "recall": Fraction(1, 100)}
FIGURES = [
    (AuditQuestion.SINGLING_OUT, Outcome.INCONCLUSIVE, "pso_success", {}, (0.0084615, 0.0057351, 0.0120607)),
    (AuditQuestion.SINGLING_OUT, Outcome.INCONCLUSIVE, "pso_excess", {}, (0.0034861, 0.0007596, 0.0070853)),
    (AuditQuestion.SINGLING_OUT, Outcome.INCONCLUSIVE, "isolation_rate", {}, (0.3842308, 0.3684498, 0.4002049)),
    (AuditQuestion.SINGLING_OUT, Outcome.INCONCLUSIVE, "kept_share_in_audit", {}, (0, 0, 0)),
    (AuditQuestion.INFERENCE, Outcome.PASS, "inference_gain", WHOLE, (-0.0004630, -0.4194313, 0.0168174)),
    (
        AuditQuestion.INFERENCE, Outcome.PASS, "inference_precision_above_baseline", WHOLE,
        (-0.0000229, -0.0202928, 0.0172271),
    ),
    (AuditQuestion.MEMBERSHIP, Outcome.PASS, "membership_precision", CLAIMS, (0.0350856, 0.0339727, 0.0862217)),
    (AuditQuestion.LAW, Outcome.PASS, "noise_shortfall", {}, (0.0089991, -0.0035634, 0.0212268)),
]  # fmt: skip
"""Question, verdict, measure with its options, and its value with both confidence limits, in seven decimals."""


def kept(question: AuditQuestion) -> bytes:
    return gzip.decompress((KEPT / f"{question}.json.gz").read_bytes())


@pytest.mark.thorough
@pytest.mark.parametrize(("question", "outcome", "measure", "options", "expected"), FIGURES)
def test_a_record_of_an_earlier_version_says_what_it_said(
    question: AuditQuestion,
    outcome: Outcome,
    measure: str,
    options: dict[str, Fraction],
    expected: tuple[float, float, float],
) -> None:
    record, findings = AUDITS[question].read(kept(question))
    assert findings.outcome is outcome
    figures = AUDITS[question].figures(record, findings, record.made + timedelta(days=6))
    assert figures.age == 6
    found = figures.measured(measure, options)
    assert found is not None
    assert tuple(map(float, (found.value, found.lower, found.upper))) == pytest.approx(expected, abs=1e-7)


@pytest.mark.thorough
@pytest.mark.parametrize("question", AUDITS)
def test_it_is_written_again_as_the_same_bytes_and_is_of_no_other_question(question: AuditQuestion) -> None:
    record, _ = AUDITS[question].read(kept(question))
    assert record_bytes(record) == kept(question)
    for other in AUDITS.values():
        if other.question is not question:
            with pytest.raises(VerificationFailed):
                other.read(kept(question))


def test_the_bound_on_isolation_is_the_least_over_the_points_of_a_joint_curve() -> None:
    record, findings = AUDITS[AuditQuestion.SINGLING_OUT].read(kept(AuditQuestion.SINGLING_OUT))
    setting = record.setting
    better = (setting.epsilon / 2, setting.delta)
    jointly = setting.model_copy(update={"points": (better, (setting.epsilon * 2, setting.delta))})
    found = AUDITS[AuditQuestion.SINGLING_OUT].findings(record.model_copy(update={"setting": jointly}))
    n = record.policy_results.n
    assert findings.bound == pso.bound(n, setting.weight, setting.epsilon, setting.delta)
    assert found.bound == pso.bound(n, setting.weight, *better) < findings.bound
