"""The audit of membership: can an attacker tell who is in the table?"""

from fractions import Fraction

from crowdgate.audit.common.audit import Audit
from crowdgate.audit.common.record_names import RECORD_NAMES
from crowdgate.audit.membership import ceiling as membership_ceiling
from crowdgate.audit.membership import controls as membership_controls
from crowdgate.audit.membership import findings as membership_findings
from crowdgate.audit.membership import page as membership_page
from crowdgate.audit.membership import play as membership_play
from crowdgate.audit.membership import setting as membership_setting
from crowdgate.audit.membership import text as membership_text
from crowdgate.audit.membership.record import MembershipRecord, MembershipSetting
from crowdgate.audit.membership.releases_needed import membership_releases
from crowdgate.candidate import AuditQuestion

MEMBERSHIP: Audit[MembershipRecord, membership_findings.MembershipFindings] = Audit(
    question=AuditQuestion.MEMBERSHIP,
    name=RECORD_NAMES[AuditQuestion.MEMBERSHIP],
    title="Membership audit",
    options=frozenset({"units"}),
    record=MembershipRecord,
    setting=MembershipSetting,
    controls={
        each.name: each.must for each in (*membership_controls.controls(Fraction(1, 2)), membership_controls.SHOWN)
    },
    policy_fields=membership_setting.policy_fields,
    population_fields=membership_setting.population_fields,
    refuse=membership_setting.refuse,
    ceiling=membership_ceiling.ceiling,
    schedule=membership_play.schedule,
    findings=membership_findings.findings_of,
    measurement=membership_findings.measurement,
    verdict=membership_text.verdict,
    lines=membership_text.lines,
    sections=membership_page.sections,
    json_fields=membership_text.json_fields,
    unseen=membership_text.UNSEEN,
    needed=lambda setting, alpha, _: membership_releases(setting, alpha),
)
