"""An audit of inference that could not have failed can't tell; one of an earlier version keeps its outcome."""

import gzip
from fractions import Fraction
from pathlib import Path

import pytest

from crowdgate.audit.common.audit import FinishedAudit
from crowdgate.audit.inference.findings import ceiling_of
from crowdgate.audit.inference.record import InferenceRecord
from crowdgate.audit.inference_audit import INFERENCE
from crowdgate.gate import Outcome


def kept_inference(*, ceiling: bool) -> InferenceRecord:
    kept = Path(__file__).with_name("kept") / "inference.json.gz"
    record = INFERENCE.read(gzip.decompress(kept.read_bytes()))[0]
    setting = record.setting.model_copy(update={"ceiling": ceiling, "limit": Fraction(1)})
    return record.model_copy(update={"setting": setting})


def raw_columns_gain(share: Fraction) -> InferenceRecord:
    """Return a kept audit in which raw columns gain nothing at coverage 1, and this much over both baselines at .1."""
    record = kept_inference(ceiling=True)
    shown = next(each for each in record.played if each.must == "show")
    (secret,) = shown.secrets
    right = 0.05 * (1 + float(share))
    shares = {1.0: (1.0, 0.9, 0.9, 0.9), 0.1: (0.1, right, 0.05, 0.05)}
    lines = tuple(
        each.model_copy(update={"shares": (shares[each.coverage],), "targets": 1000})
        for each in secret.found
        if each.coverage in shares
    )
    own = shown.model_copy(update={"secrets": (secret.model_copy(update={"found": lines}),)})
    played = tuple(own if each is shown else each for each in record.played)
    return record.model_copy(update={"played": played})


@pytest.mark.parametrize("coverage", [Fraction(1), Fraction(1, 10)])
@pytest.mark.parametrize(("gain", "limit", "silent"), [("0.3", "0.2", False), ("0.3", "0.4", True)])
def test_the_ceiling_is_over_all_coverages(coverage: Fraction, gain: str, limit: str, silent: bool) -> None:
    """An audit that is judged at one coverage fails by what is proven at any other."""
    record = raw_columns_gain(Fraction(gain))
    setting = record.setting.model_copy(update={"coverage": coverage, "limit": Fraction(limit)})
    found = ceiling_of(record.played, setting)
    assert found == (pytest.approx(float(Fraction(gain))) if silent else None)


@pytest.mark.parametrize(("ceiling", "outcome"), [(False, Outcome.PASS), (True, Outcome.INCONCLUSIVE)])
def test_an_audit_below_its_limit_whatever_is_published_is_no_evidence(ceiling: bool, outcome: Outcome) -> None:
    """The policy's columns of every row gain 1 in the kept audit, which is within a limit of 1."""
    record = kept_inference(ceiling=ceiling)
    found = FinishedAudit(record, INFERENCE.findings(record), Path("x"), True)
    assert found.findings.outcome is outcome
    text = " ".join(INFERENCE.text(found))
    assert text.lower().count("this audit could not have failed") == 1
    assert ("Cannot tell: this audit could not have failed" in text) == ceiling
