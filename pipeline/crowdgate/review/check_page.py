"""A checked policy as a page: what `check` prints, under the band of the policy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from crowdgate.kind.section import Section, table_section
from crowdgate.planning.policy_band import PolicyOutcome, policy_band
from crowdgate.releases.enforcement import is_dry_run
from crowdgate.report.report import Report
from crowdgate.review.check_text import check_rows

if TYPE_CHECKING:
    from crowdgate.kind.band import Band
    from crowdgate.review.check import PolicyCheck


def check_report(found: PolicyCheck) -> Report:
    """Return the report of a checked policy."""
    about = found.plan.bundle.policy.metadata
    title = f"Check of {about.name}, version {about.version}"
    return Report(title, lambda: list(_sections(found)), found.to_json, band=lambda: _band(found))


def _band(found: PolicyCheck) -> Band:
    return policy_band(found.plan, found.left, "check", _outcome(found))


def _outcome(found: PolicyCheck) -> PolicyOutcome:
    if not found.allowed:
        step = "change what is named below, then check the policy again."
        return PolicyOutcome("WOULD BE WITHHELD", "bad", step, charged=False)
    if found.chances.holds:
        return PolicyOutcome("WOULD BE HELD", "open", found.chances.step_if_held, charged=False)
    if is_dry_run(found.plan.bundle):
        step = "rehearse it with crowdgate rehearse. A release needs enforcement: enforce."
        return PolicyOutcome("ALLOWED", "open", step)
    return PolicyOutcome("ALLOWED", "good", "release it with crowdgate release.")


def _sections(found: PolicyCheck) -> Iterator[Section]:
    yield table_section("What was checked", ("about", "finding"), check_rows(found))
