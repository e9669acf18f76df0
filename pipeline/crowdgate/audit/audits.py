"""The three audits in one mapping, for commands, flows, gates, releases, pages and verification."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from crowdgate.audit.common.audit import Audit
from crowdgate.audit.inference import controls as inference_controls
from crowdgate.audit.inference import findings as inference_findings
from crowdgate.audit.inference import page as inference_page
from crowdgate.audit.inference import play as inference_play
from crowdgate.audit.inference import setting as inference_setting
from crowdgate.audit.inference import text as inference_text
from crowdgate.audit.inference.record import InferenceRecord, InferenceSetting
from crowdgate.audit.membership import controls as membership_controls
from crowdgate.audit.membership import findings as membership_findings
from crowdgate.audit.membership import page as membership_page
from crowdgate.audit.membership import play as membership_play
from crowdgate.audit.membership import setting as membership_setting
from crowdgate.audit.membership import text as membership_text
from crowdgate.audit.membership.record import MembershipRecord, MembershipSetting
from crowdgate.audit.singling_out import findings as singling_out_findings
from crowdgate.audit.singling_out import page as singling_out_page
from crowdgate.audit.singling_out import play as singling_out_play
from crowdgate.audit.singling_out import setting as singling_out_setting
from crowdgate.audit.singling_out import text as singling_out_text
from crowdgate.audit.singling_out.record import SinglingOutRecord, SinglingOutSetting
from crowdgate.audit.singling_out_controls import CONTROLS
from crowdgate.candidate import AuditQuestion

SINGLING_OUT: Audit[SinglingOutRecord, singling_out_findings.SinglingOutFindings] = Audit(
    question=AuditQuestion.SINGLING_OUT,
    name="audit",
    title="Audit",
    options=frozenset({"units", "trials", "weight"}),
    record=SinglingOutRecord,
    setting=SinglingOutSetting,
    controls={each.name: each.must for each in CONTROLS},
    policy_fields=singling_out_setting.policy_fields,
    population_fields=singling_out_setting.population_fields,
    refuse=singling_out_setting.refuse,
    schedule=singling_out_play.schedule,
    findings=singling_out_findings.findings_of,
    measurement=singling_out_findings.measurement,
    verdict=singling_out_text.verdict,
    lines=singling_out_text.lines,
    sections=singling_out_page.sections,
    json_fields=singling_out_text.json_fields,
    charts=singling_out_page.charts,
    needs_models=False,
    oddities=singling_out_findings.oddities,
)
"""Can an attacker describe exactly one person?"""
INFERENCE: Audit[InferenceRecord, inference_findings.InferenceFindings] = Audit(
    question=AuditQuestion.INFERENCE,
    name="inference",
    title="Inference audit",
    options=frozenset({"units"}),
    record=InferenceRecord,
    setting=InferenceSetting,
    controls={each.name: each.must for each in inference_controls.controls()},
    policy_fields=inference_setting.policy_fields,
    population_fields=inference_setting.population_fields,
    refuse=inference_setting.refuse,
    schedule=inference_play.schedule,
    findings=inference_findings.findings_of,
    measurement=inference_findings.measurement,
    verdict=inference_text.verdict,
    lines=inference_text.lines,
    sections=inference_page.sections,
    json_fields=inference_text.json_fields,
    charts=inference_page.charts,
    other_attributes=inference_setting.other_attributes,
)
"""Can an attacker infer a secret attribute?"""
MEMBERSHIP: Audit[MembershipRecord, membership_findings.MembershipFindings] = Audit(
    question=AuditQuestion.MEMBERSHIP,
    name="membership",
    title="Membership audit",
    options=frozenset({"units"}),
    record=MembershipRecord,
    setting=MembershipSetting,
    controls={each.name: each.must for each in membership_controls.controls(Fraction(1, 2))},
    policy_fields=membership_setting.policy_fields,
    population_fields=membership_setting.population_fields,
    refuse=membership_setting.refuse,
    schedule=membership_play.schedule,
    findings=membership_findings.findings_of,
    measurement=membership_findings.measurement,
    verdict=membership_text.verdict,
    lines=membership_text.lines,
    sections=membership_page.sections,
    json_fields=membership_text.json_fields,
    charts=membership_page.charts,
)
"""Can an attacker tell who is in the table?"""
AUDITS: Mapping[AuditQuestion, Audit[Any, Any]] = {
    each.question: each for each in (SINGLING_OUT, INFERENCE, MEMBERSHIP)
}
"""All audits by the question that they answer."""
