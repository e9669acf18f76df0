"""How the record of an audit of attribute inference is read."""

from __future__ import annotations

from collections.abc import Callable

from crowdgate.audit.common.reading import Options, Reading
from crowdgate.audit.inference.controls import controls
from crowdgate.audit.inference.findings import InferenceEstimate, InferenceFindings, findings_of, worst_figure
from crowdgate.audit.inference.record import InferenceRecord
from crowdgate.candidate import AuditQuestion, Measurement


def _inference_measurement(
    record: InferenceRecord, said: InferenceFindings, name: str, options: Options
) -> Measurement | None:
    of: Callable[[InferenceEstimate], Measurement | None] = {
        "inference_gain": lambda each: each.gain, "inference_precision_above_baseline": lambda each: each.above,
    }[name]  # fmt: skip
    return worst_figure(said.estimates, float(options["coverage"]), record.setting, of)


READING = Reading(
    AuditQuestion.INFERENCE, "inference.json", InferenceRecord, findings_of, _inference_measurement,
    {each.name: each.must for each in controls()},
)  # fmt: skip
