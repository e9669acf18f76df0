"""Helpers of tests on reports."""

from crowdgate.kind.listing import Listing
from crowdgate.kind.picture import Picture
from crowdgate.report.report import Report


def listings_of(found: Report) -> list[Listing]:
    """Return all listings of a report, in order."""
    return [each for section in found.sections() for each in section.listings]


def pictures_of(found: Report) -> list[Picture]:
    """Return all pictures of a report, in order."""
    return [each for section in found.sections() for each in section.pictures()]
