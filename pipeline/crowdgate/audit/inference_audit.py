"""The audit of attribute inference: can an attacker infer a secret attribute?"""

from crowdgate.audit.common.audit import Audit
from crowdgate.audit.common.record_names import RECORD_NAMES
from crowdgate.audit.inference import ceiling as inference_ceiling
from crowdgate.audit.inference import controls as inference_controls
from crowdgate.audit.inference import findings as inference_findings
from crowdgate.audit.inference import page as inference_page
from crowdgate.audit.inference import play as inference_play
from crowdgate.audit.inference import setting as inference_setting
from crowdgate.audit.inference import text as inference_text
from crowdgate.audit.inference.record import InferenceRecord, InferenceSetting
from crowdgate.candidate import AuditQuestion

INFERENCE: Audit[InferenceRecord, inference_findings.InferenceFindings] = Audit(
    question=AuditQuestion.INFERENCE,
    name=RECORD_NAMES[AuditQuestion.INFERENCE],
    title="Inference audit",
    options=frozenset({"units"}),
    record=InferenceRecord,
    setting=InferenceSetting,
    controls={each.name: each.must for each in inference_controls.controls()},
    policy_fields=inference_setting.policy_fields,
    population_fields=inference_setting.population_fields,
    refuse=inference_setting.refuse,
    ceiling=inference_ceiling.ceiling,
    schedule=inference_play.schedule,
    findings=inference_findings.findings_of,
    measurement=inference_findings.measurement,
    verdict=inference_text.verdict,
    lines=inference_text.lines,
    sections=inference_page.sections,
    json_fields=inference_text.json_fields,
    unseen=inference_text.UNSEEN,
    needed=inference_findings.needed,
    other_attributes=inference_setting.other_attributes,
)
