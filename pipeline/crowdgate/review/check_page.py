"""A checked policy as a page: what `check` prints, under the band of the policy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from crowdgate.kind.section import Section, table_section
from crowdgate.planning.policy_band import policy_band
from crowdgate.releases.enforcement import is_dry_run
from crowdgate.report.report import Report
from crowdgate.review.check_text import check_rows

if TYPE_CHECKING:
    from crowdgate.kind.band import Band
    from crowdgate.review.check import PolicyCheck


def check_report(found: PolicyCheck) -> Report:
    """Return the report of a checked policy."""
    title = f"Check of {found.plan.bundle.policy.metadata.name}"
    return Report(title, lambda: list(_sections(found)), found.to_json, band=lambda: _band(found))


def _band(found: PolicyCheck) -> Band:
    if found.allowed and found.chances.holds:
        step = "change the limit that is named below, or charge the release anyway: --anyway REASON."
        return policy_band(found.plan, found.left, "check", ("WOULD BE HELD", "open"), step)
    if found.allowed and is_dry_run(found.plan.bundle):
        step = "rehearse it with crowdgate rehearse. A release needs enforcement: enforce."
        return policy_band(found.plan, found.left, "check", ("ALLOWED", "open"), step)
    if found.allowed:
        return policy_band(found.plan, found.left, "check", ("ALLOWED", "good"), "release it with crowdgate release.")
    step = "change what is named below, then check the policy again."
    return policy_band(found.plan, found.left, "check", ("WOULD BE WITHHELD", "bad"), step)


def _sections(found: PolicyCheck) -> Iterator[Section]:
    yield table_section("What was checked", ("about", "finding"), check_rows(found))
