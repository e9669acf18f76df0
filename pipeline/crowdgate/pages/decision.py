"""The decision behind a release: who approved it, why, what else was considered, and whom to ask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from crowdgate.kind.section import Section, table_section
from crowdgate.pages.approvals import approval_text
from crowdgate.policy.policy import CONTEXT

if TYPE_CHECKING:
    from crowdgate.history.ended_run import EndedRun

NOT_STATED = "not stated in the policy"


def decision_section(told: EndedRun) -> Iterator[Section]:
    """Yield the decision as a table; nothing if the policy owner's description is unknown."""
    about = None if told.facts is None else told.facts.about
    if about is None:
        return
    rows = [("owner", about.owner), ("approval", approval_text(told))]
    rows += [(name.replace("_", " "), getattr(about, name) or NOT_STATED) for name in CONTEXT]
    yield table_section("Decision", ("question", "answer"), rows)
