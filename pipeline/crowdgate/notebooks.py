"""Pages of what the functions of `crowdgate` return, for notebooks: checks, plans and releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.system.notebook_page import PAGES

if TYPE_CHECKING:
    from crowdgate.forecast.outlook import Outlook
    from crowdgate.kind.run import Result
    from crowdgate.report.report import Report
    from crowdgate.review.check import PolicyCheck


def register_pages() -> None:
    """Register the pages, whose modules are imported when a notebook shows the first one."""
    PAGES.update({"PolicyCheck": _check_page, "Outlook": _plan_page, "Result": _release_page})


def _check_page(found: PolicyCheck) -> Report:
    from crowdgate.review.check_page import check_report

    return check_report(found)


def _plan_page(found: Outlook) -> Report:
    from crowdgate.pages.plan import PlanReport

    return PlanReport(found).report()


def _release_page(found: Result) -> Report | None:
    """Return the page of a release; None if its files are withdrawn or moved meanwhile."""
    from crowdgate.errors import VerificationFailed
    from crowdgate.pages.release import page_after

    try:
        return page_after(found)
    except VerificationFailed:
        return None
