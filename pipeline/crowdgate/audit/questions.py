"""The questions that audits ask: how each is asked of a policy, and how what was found is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate.audit.common.audit import AuditProcedure, FinishedAudit
from crowdgate.audit.inference import page as inference_page
from crowdgate.audit.inference import text as inference
from crowdgate.audit.inference.games import INFERENCE
from crowdgate.audit.membership import page as membership_page
from crowdgate.audit.membership import text as membership
from crowdgate.audit.membership.games import MEMBERSHIP
from crowdgate.audit.singling_out import page as singling_out_page
from crowdgate.audit.singling_out import text as singling_out
from crowdgate.audit.singling_out.games import SINGLING_OUT
from crowdgate.candidate import AuditQuestion

if TYPE_CHECKING:
    from crowdgate.audit.common.text import AuditListing

Found = FinishedAudit[Any, Any]


@dataclass(frozen=True)
class QuestionReport:
    """One question: how it is asked, and what was found as a sentence, as tables, as words for who reads them, as JSON
    and as a page."""

    asking: AuditProcedure[Any, Any]
    conclusion: Callable[[Found], str]
    listings: Callable[[Found], Sequence[AuditListing]]
    words: Callable[[Found], Sequence[str]]
    json: Callable[[Found], dict[str, Any]]
    markdown: Callable[[Found], str]
    write_page: Callable[[Found, Path], None]


QUESTIONS: Mapping[AuditQuestion, QuestionReport] = {
    AuditQuestion.SINGLING_OUT: QuestionReport(
        SINGLING_OUT,
        singling_out.conclusion,
        singling_out.listings,
        singling_out.audit_text,
        singling_out.to_json,
        singling_out_page.audit_markdown,
        singling_out_page.write_audit_page,
    ),
    AuditQuestion.INFERENCE: QuestionReport(
        INFERENCE,
        inference.conclusion,
        inference.inference_listings,
        inference.inference_text,
        inference.inference_json,
        inference_page.inference_markdown,
        inference_page.write_inference_page,
    ),
    AuditQuestion.MEMBERSHIP: QuestionReport(
        MEMBERSHIP,
        membership.conclusion,
        membership.membership_listings,
        membership.membership_text,
        membership.membership_json,
        membership_page.membership_markdown,
        membership_page.write_membership_page,
    ),
}
"""By question."""
