"""The approvals of a run in words: who gave them, or that none was required."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crowdgate.history.ended_run import EndedRun

NOT_RECORDED = "no approval is recorded"
NOT_REQUIRED = "none was required"
AWAITED = "it waits for approval before publication"
NOT_CHARGE = (
    "none was required before the charge; those before publication are only in the ledger (crowdgate report release ID)"
)
"""As a release is charged only with the approvals that its policy asks for, and its manifest states them."""


def approval_text(told: EndedRun) -> str:
    """Return the approvals of a run, before the charge and before publication, by name and day."""
    if told.said is None:
        return NOT_RECORDED
    if told.outcome == "waiting":
        return ", ".join([*_given(told), AWAITED])
    return ", ".join(_given(told)) or (NOT_CHARGE if told.later_approvals is None else NOT_REQUIRED)


def _given(told: EndedRun) -> Iterator[str]:
    stated = () if told.said is None else told.said.facts.approvals or ()
    yield from (f"{each.name} on {each.day}" for each in stated)
    yield from (f"{each}, before publication" for each in told.later_approvals or ())
