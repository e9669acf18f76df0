"""Pages of what the functions of `crowdgate` return, for notebooks: checks, plans, releases and audits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from crowdgate.system.notebook_page import PAGES

if TYPE_CHECKING:
    from crowdgate.audit.common.audit import FinishedAudit
    from crowdgate.forecast.outlook import Outlook
    from crowdgate.kind.run import Result
    from crowdgate.report.report import Report
    from crowdgate.review.check import PolicyCheck


def register_pages() -> None:
    """Register the pages, whose modules are imported when a notebook shows the first one."""
    made: Mapping[str, Callable[[Any], Report | None]] = {
        "PolicyCheck": _check_page,
        "Outlook": _plan_page,
        "Result": _release_page,
        "FinishedAudit": _audit_page,
    }
    PAGES.update(made)


def _check_page(found: PolicyCheck) -> Report:
    from crowdgate.review.check_page import check_report

    return check_report(found)


def _plan_page(found: Outlook) -> Report:
    from crowdgate.pages.plan import PlanReport

    return PlanReport(found).report()


def _audit_page(found: FinishedAudit[Any, Any]) -> Report | None:
    from crowdgate.audit.audits import AUDITS

    return next((each.report(found) for each in AUDITS.values() if isinstance(found.record, each.record)), None)


def _release_page(found: Result) -> Report | None:
    """Return the page of a release; None if its files are withdrawn or moved meanwhile."""
    from crowdgate.errors import VerificationFailed
    from crowdgate.pages.release import page_after

    try:
        return page_after(found)
    except VerificationFailed:
        return None
