"""The audit of singling out: can an attacker describe exactly one person?"""

from crowdgate.audit.common.audit import Audit
from crowdgate.audit.common.record_names import RECORD_NAMES
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
    name=RECORD_NAMES[AuditQuestion.SINGLING_OUT],
    title="Audit",
    options=frozenset({"units", "trials", "weight"}),
    record=SinglingOutRecord,
    setting=SinglingOutSetting,
    controls={each.name: each.must for each in CONTROLS},
    policy_fields=singling_out_setting.policy_fields,
    population_fields=singling_out_setting.population_fields,
    refuse=singling_out_setting.refuse,
    ceiling=singling_out_setting.ceiling,
    schedule=singling_out_play.schedule,
    findings=singling_out_findings.findings_of,
    measurement=singling_out_findings.measurement,
    verdict=singling_out_text.verdict,
    lines=singling_out_text.lines,
    sections=singling_out_page.sections,
    json_fields=singling_out_text.json_fields,
    unseen=singling_out_text.UNSEEN,
    plays="trials",
    needed=singling_out_findings.needed,
    needs_models=False,
    oddities=singling_out_findings.oddities,
)
