"""An audit of inference that could not have failed can't tell; one of an earlier version keeps its outcome."""

import gzip
from fractions import Fraction
from pathlib import Path

import pytest

from crowdgate.audit.common.audit import FinishedAudit
from crowdgate.audit.inference.record import InferenceRecord
from crowdgate.audit.inference_audit import INFERENCE
from crowdgate.gate import Outcome


def kept_inference(*, ceiling: bool) -> InferenceRecord:
    kept = Path(__file__).with_name("kept") / "inference.json.gz"
    record = INFERENCE.read(gzip.decompress(kept.read_bytes()))[0]
    setting = record.setting.model_copy(update={"ceiling": ceiling, "limit": Fraction(1)})
    return record.model_copy(update={"setting": setting})


@pytest.mark.parametrize(("ceiling", "outcome"), [(False, Outcome.PASS), (True, Outcome.INCONCLUSIVE)])
def test_an_audit_below_its_limit_whatever_is_published_is_no_evidence(ceiling: bool, outcome: Outcome) -> None:
    """The policy's columns of every row gain 1 in the kept audit, which is within a limit of 1."""
    record = kept_inference(ceiling=ceiling)
    found = FinishedAudit(record, INFERENCE.findings(record), Path("x"), True)
    assert found.findings.outcome is outcome
    text = " ".join(INFERENCE.text(found))
    assert text.lower().count("this audit could not have failed") == 1
    assert ("Cannot tell: this audit could not have failed" in text) == ceiling
