"""Names of the records of audits, beside a release and in commands, known without importing an audit."""

from collections.abc import Mapping

from crowdgate.candidate import AuditQuestion

RECORD_NAMES: Mapping[AuditQuestion, str] = {
    AuditQuestion.SINGLING_OUT: "audit",
    AuditQuestion.INFERENCE: "inference",
    AuditQuestion.MEMBERSHIP: "membership",
    AuditQuestion.LAW: "law",
    AuditQuestion.FILES: "files",
}
"""By question."""


def record_file(question: AuditQuestion) -> str:
    """Return the name of the file beside a release that holds the audit record for this question."""
    return f"{RECORD_NAMES[question]}.json"
