"""The questions that audits ask: how each is asked of a policy, and how what was found is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate.candidate import Question
from crowdgate.jobs.audit import Asking, Audited
from crowdgate.jobs.inference import page as inference_page
from crowdgate.jobs.inference import words as inference
from crowdgate.jobs.inference.job import INFERENCE
from crowdgate.jobs.member import page as membership_page
from crowdgate.jobs.member import words as membership
from crowdgate.jobs.member.job import MEMBERSHIP
from crowdgate.jobs.singling_out import page as singling_out_page
from crowdgate.jobs.singling_out import words as singling_out
from crowdgate.jobs.singling_out.job import SINGLING_OUT

if TYPE_CHECKING:
    from crowdgate.jobs.audit_words import Listing

Found = Audited[Any, Any]


@dataclass(frozen=True)
class Told:
    """One question: how it is asked, and what was found as a sentence, as tables, as words for who reads them, as JSON
    and as a page."""

    asking: Asking[Any, Any]
    conclusion: Callable[[Found], str]
    listings: Callable[[Found], Sequence[Listing]]
    words: Callable[[Found], Sequence[str]]
    json: Callable[[Found], dict[str, Any]]
    markdown: Callable[[Found], str]
    write_page: Callable[[Found, Path], None]


QUESTIONS: Mapping[Question, Told] = {
    Question.SINGLING_OUT: Told(
        SINGLING_OUT, singling_out.conclusion, singling_out.listings, singling_out.words, singling_out.to_json,
        singling_out_page.audit_markdown, singling_out_page.write_audit_page,
    ),
    Question.INFERENCE: Told(
        INFERENCE, inference.conclusion, inference.inferred_listings, inference.inferred_words, inference.inferred_json,
        inference_page.inference_markdown, inference_page.write_inference_page,
    ),
    Question.MEMBERSHIP: Told(
        MEMBERSHIP, membership.conclusion, membership.membership_listings, membership.membership_words,
        membership.membership_json, membership_page.membership_markdown, membership_page.write_membership_page,
    ),
}  # fmt: skip
"""By question."""
