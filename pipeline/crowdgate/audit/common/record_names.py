"""Names of the records of audits, beside a release and in commands, known without importing an audit."""

from collections.abc import Mapping

from crowdgate.candidate import AuditQuestion

RECORD_NAMES: Mapping[AuditQuestion, str] = {
    AuditQuestion.SINGLING_OUT: "audit",
    AuditQuestion.INFERENCE: "inference",
    AuditQuestion.MEMBERSHIP: "membership",
}
"""By question."""


def record_file(question: AuditQuestion) -> str:
    """Name of the file of such a record beside a release."""
    return f"{RECORD_NAMES[question]}.json"
