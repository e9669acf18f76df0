"""The audit of whole releases: do their files, decisions and charges show what the policy states, and no more?

Its games are in `releases.whole_releases`, as they make releases.
"""

from typing import NoReturn

from crowdgate.audit.common.audit import Audit
from crowdgate.audit.common.record_names import RECORD_NAMES
from crowdgate.audit.files import findings as files_findings
from crowdgate.audit.files import page as files_page
from crowdgate.audit.files import setting as files_setting
from crowdgate.audit.files import text as files_text
from crowdgate.audit.files.record import FilesRecord, FilesSetting
from crowdgate.candidate import AuditQuestion


def _unplayable(*_: object) -> NoReturn:
    raise AssertionError("releases.whole_releases.playable gives the games of this audit")


FILES: Audit[FilesRecord, files_findings.FilesFindings] = Audit(
    question=AuditQuestion.FILES,
    name=RECORD_NAMES[AuditQuestion.FILES],
    title="Audit of whole releases",
    options=frozenset(),
    record=FilesRecord,
    setting=FilesSetting,
    controls={},
    policy_fields=files_setting.policy_fields,
    population_fields=files_setting.population_fields,
    refuse=files_setting.refuse,
    schedule=_unplayable,
    findings=files_findings.findings_of,
    measurement=files_findings.measurement,
    verdict=files_text.verdict,
    lines=files_text.lines,
    sections=files_page.sections,
    json_fields=files_text.json_fields,
    unseen=files_text.UNSEEN,
    needs_models=False,
    public_only=True,
)
