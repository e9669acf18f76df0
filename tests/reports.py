"""Helpers of tests on reports."""

from crowdgate.kind.listing import Listing
from crowdgate.kind.picture import Picture
from crowdgate.kind.rule_row import in_order, rules_listing
from crowdgate.report.report import Report


def listings_of(found: Report) -> list[Listing]:
    """Return all listings of a report, in order."""
    return [each for section in found.sections() for each in section.listings]


def pictures_of(found: Report) -> list[Picture]:
    """Return all pictures of a report, in order."""
    return [each for section in found.sections() for each in section.pictures()]


def rules_of(found: Report) -> list[Listing]:
    """Return the tables of rules of a report, in order."""
    return [rules_listing(in_order(section.rules)) for section in found.sections() if section.rules]
