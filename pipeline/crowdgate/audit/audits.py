"""The audits: one table for commands, flows, gates, releases, pages and verification. Each is imported when it is asked
for: most releases have none.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from crowdgate.candidate import AuditQuestion

if TYPE_CHECKING:
    from crowdgate.audit.common.audit import Audit


def _singling_out() -> "Audit[Any, Any]":
    from crowdgate.audit.singling_out_audit import SINGLING_OUT

    return SINGLING_OUT


def _inference() -> "Audit[Any, Any]":
    from crowdgate.audit.inference_audit import INFERENCE

    return INFERENCE


def _membership() -> "Audit[Any, Any]":
    from crowdgate.audit.membership_audit import MEMBERSHIP

    return MEMBERSHIP


def _law() -> "Audit[Any, Any]":
    from crowdgate.audit.law_audit import LAW

    return LAW


def _files() -> "Audit[Any, Any]":
    from crowdgate.audit.files_audit import FILES

    return FILES


_IMPORTS: Mapping[AuditQuestion, "Callable[[], Audit[Any, Any]]"] = {
    AuditQuestion.SINGLING_OUT: _singling_out,
    AuditQuestion.INFERENCE: _inference,
    AuditQuestion.MEMBERSHIP: _membership,
    AuditQuestion.LAW: _law,
    AuditQuestion.FILES: _files,
}


class _Audits(Mapping[AuditQuestion, "Audit[Any, Any]"]):
    """The audits by question (singling out, inference, membership, stated law, files), each imported on first use."""

    def __getitem__(self, question: AuditQuestion) -> "Audit[Any, Any]":
        return _IMPORTS[question]()

    def __iter__(self) -> Iterator[AuditQuestion]:
        return iter(_IMPORTS)

    def __len__(self) -> int:
        return len(_IMPORTS)


AUDITS: Mapping[AuditQuestion, "Audit[Any, Any]"] = _Audits()
"""All audits by the question that they answer."""
