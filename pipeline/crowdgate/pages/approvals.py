"""The approvals of a run in words: who gave them, or that none was required."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crowdgate.history.ended_run import EndedRun

NOT_RECORDED = "no approval is recorded"
NOT_REQUIRED = "none was required"
NOT_CHARGE = "none was required before the charge"
"""As a release is charged only with the approvals that its policy asks for, and its manifest states them."""


def approval_text(told: EndedRun) -> str:
    """Return the approvals of a run: those before the charge by name, those before publication by number."""
    if told.said is None:
        return NOT_RECORDED
    return ", ".join(_given(told)) or (NOT_CHARGE if told.later_approvals is None else NOT_REQUIRED)


def _given(told: EndedRun) -> Iterator[str]:
    stated = () if told.said is None else told.said.facts.approvals or ()
    yield from (f"{each.name} on {each.day}" for each in stated)
    if told.later_approvals:
        yield f"{told.later_approvals} before publication (see the ledger)"
