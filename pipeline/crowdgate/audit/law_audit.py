"""The audit of the stated distributions: does the mechanism draw what its release states?"""

from crowdgate.audit.common.audit import Audit
from crowdgate.audit.common.record_names import RECORD_NAMES
from crowdgate.audit.law import findings as law_findings
from crowdgate.audit.law import page as law_page
from crowdgate.audit.law import play as law_play
from crowdgate.audit.law import setting as law_setting
from crowdgate.audit.law import text as law_text
from crowdgate.audit.law.record import LawRecord, LawSetting
from crowdgate.candidate import AuditQuestion

LAW: Audit[LawRecord, law_findings.LawFindings] = Audit(
    question=AuditQuestion.LAW,
    name=RECORD_NAMES[AuditQuestion.LAW],
    title="Audit of the stated distributions",
    options=frozenset(),
    record=LawRecord,
    setting=LawSetting,
    controls={},
    policy_fields=law_setting.policy_fields,
    population_fields=law_setting.population_fields,
    refuse=law_setting.refuse,
    schedule=law_play.schedule,
    findings=law_findings.findings_of,
    measurement=law_findings.measurement,
    verdict=law_text.verdict,
    lines=law_text.lines,
    sections=law_page.sections,
    json_fields=law_text.json_fields,
    unseen=law_text.UNSEEN,
    needed=law_findings.needed,
    needs_models=False,
)
