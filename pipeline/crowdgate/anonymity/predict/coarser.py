"""Effects of coarser questions: every coarser level of every attribute, and round widths of numeric ones."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count

from crowdgate.anonymity.predict.laws import Laws, laws
from crowdgate.contracts.contract import Attribute
from crowdgate.domain import number_label
from crowdgate.hierarchy import ANY, EXACT, Level, by_width, hierarchy, nests
from crowdgate.kind.listing import Listing, ListingColumn
from crowdgate.number_text import PEOPLE, SHARE, Value, percent, whole
from crowdgate.public_counts.figures import PriorFigures, PriorSubject
from crowdgate.risk.group_size import singleton_share

WIDTHS = (
    ListingColumn("attribute", "attribute"),
    ListingColumn("level", "asked as"),
    ListingColumn("values", "values", PEOPLE),
    ListingColumn("share_alone", "share unique", SHARE, "unknown"),
    ListingColumn("meets", "low enough"),
)
FINEST, UNKNOWN = "the finest that is", "unknown"


def widths_listing(subject: PriorSubject, figures: PriorFigures, people: int, most: float) -> Listing:
    """Return a table of the levels and widths of each attribute, with the others unchanged. It has the expected share
    of unique people among `people` (unknown where counts are too coarse), and marks the finest level with a known share
    of at most `most`."""
    rows = [row for name in subject.levels for row in _attribute_rows(subject, figures, name, people, most)]
    note = f"of {whole(people)} people at most {percent(most)} unique; the other attributes unchanged"
    return Listing("widths", "one attribute asked less exactly", WIDTHS, tuple(rows), note)


def _attribute_rows(
    subject: PriorSubject, figures: PriorFigures, name: str, people: int, most: float
) -> Iterator[Mapping[str, Value]]:
    known = _laws_at_finest(subject, figures, name)
    found = [
        (level, _share_at_level(known, name, level, people)) for level in coarser_levels(subject.contract.by_name[name])
    ]
    finest = next((level for level, share in found if share is not None and share <= most), None)
    for level, share in found:
        meets = FINEST if level is finest else _meets(share, most)
        yield {"attribute": name, "level": level.name, "values": len(level), "share_alone": share, "meets": meets}


def _share_at_level(known: Laws, name: str, level: Level, people: int) -> float | None:
    """Return the expected share of unique people among `people` people if the attribute `name` is asked at this level;
    None where counts are known at coarser levels only."""
    if not nests(known.axes[name], level):
        return None
    return singleton_share(known.at({**known.axes, name: level}).best, people)


def _meets(share: float | None, most: float) -> str:
    return UNKNOWN if share is None else "yes" if share <= most else "no"


def _laws_at_finest(subject: PriorSubject, figures: PriorFigures, name: str) -> Laws:
    """Return the distribution of people over classes with the attribute `name` at its finest level with known shares,
    and all others at the subject's levels."""
    hierarchy_of = subject.contract.by_name[name].hierarchy
    assert hierarchy_of is not None, "it is releasable"
    finest = figures.prior.known_level(name, hierarchy_of.level(EXACT)) or subject.levels[name]
    return laws(replace(subject, levels={**subject.levels, name: finest}), figures)


def coarser_levels(attribute: Attribute) -> list[Level]:
    """Return the named levels of an attribute and, if it is numeric, intervals of round widths; the most values
    first."""
    assert attribute.hierarchy is not None, "it is releasable"
    named = {level.name: level for level in attribute.hierarchy.levels}
    sizes = {len(level) for name, level in named.items() if name != ANY}
    round_ones = (level for level in _round_widths(attribute) if len(level) not in sizes)
    return sorted([*named.values(), *round_ones], key=len, reverse=True)


def _round_widths(attribute: Attribute) -> Iterator[Level]:
    """Yield intervals of 2, 5, 10, 20, 50 ... steps of the domain."""
    domain = attribute.domain
    if domain is None or domain.grid is None:
        return
    for steps in (digit * 10**power for power in count() for digit in (1, 2, 5)):
        if 2 * steps > domain.grid.size:
            return
        width, origin = steps * domain.grid.step, domain.grid.first
        if steps > 1:
            labels = by_width(domain, width, origin)
            name = f"intervals of {number_label(width)}"
            yield hierarchy(domain, [(name, labels)], invalid_level=attribute.invalid == "level").level(name)
