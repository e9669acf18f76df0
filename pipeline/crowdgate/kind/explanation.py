"""A kind's part of the explanation of a policy, for a reader who is no programmer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crowdgate.hierarchy import Level
from crowdgate.kind.listing import Listing, text_listing
from crowdgate.kind.section import Section

SECRET_SAMPLE = "The sample stays secret. For anybody who knows it, the guarantee is weaker; nobody needs to know it."
SAMPLED = "Each person is first sampled with probability {beta}, by secret random bits"


@dataclass(frozen=True, eq=False)
class Explanation:
    """Sections without headings on how the data are protected; and points: what the guarantee assumes, and what it does
    not protect."""

    protection: Sequence[Section]
    assumed: Sequence[str]
    not_protected: Sequence[str]


def level_listing(levels: Mapping[str, Level]) -> Listing:
    """Return the columns that are published, with their levels and the numbers of values."""
    rows = ((name, level.name, len(level)) for name, level in levels.items())
    return text_listing("", ("column", "level", ("values", "d")), rows)
