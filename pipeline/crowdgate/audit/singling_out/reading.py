"""How the record of an audit of singling out is read."""

from __future__ import annotations

from collections.abc import Iterator

from crowdgate.audit.common.reading import Options, Reading
from crowdgate.audit.common.record import SinglingOutRecord, weights_of
from crowdgate.audit.singling_out.findings import SinglingOutFindings, findings_of
from crowdgate.audit.singling_out_controls import CONTROLS
from crowdgate.candidate import AuditQuestion, Measurement


def _singling_out_measurement(
    _: SinglingOutRecord, said: SinglingOutFindings, name: str, __: Options
) -> Measurement | None:
    return {
        "pso_success": said.success, "pso_excess": said.excess, "isolation_rate": said.isolation,
        "kept_share_in_audit": None if said.kept is None else Measurement.exact(said.kept),
    }[name]  # fmt: skip


def _weights(record: SinglingOutRecord) -> Iterator[str]:
    if record.setting.weights != weights_of(record.setting.weight, record.setting.n):
        yield "it was not judged at the weights that an audit judges"


READING = Reading(
    AuditQuestion.SINGLING_OUT, "audit.json", SinglingOutRecord, findings_of, _singling_out_measurement,
    {each.name: each.must for each in CONTROLS}, _weights,
)  # fmt: skip
