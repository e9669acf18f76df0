"""Domain and levels of a column that names a stock classification."""

from collections.abc import Iterable, Mapping

from crowdgate.contracts.classifications import CLASSIFICATIONS, all_codes, level_names, outside
from crowdgate.contracts.csv_file import MOST_FAULTS
from crowdgate.contracts.models import LevelModel, Place, quoted_value
from crowdgate.domain import Domain, categories
from crowdgate.errors import Code


def stock_domain(place: Place, name: str) -> Domain | None:
    """Return the domain of all codes of a classification; None after a problem was added if it has no list of codes."""
    stock = CLASSIFICATIONS[name]
    if stock.width is not None:
        expected = "a domain beside it, such as {from: 0, to: 90, top: true, source: ages}"
        place.refuse(f"{name} without a domain", expected)
        return None
    return categories([*all_codes(name)], stock.source)


def stock_levels(name: str) -> list[LevelModel]:
    """Return the levels of a classification, from fine to coarse."""
    return [LevelModel(name=level, classification=name) for level in level_names(name)]


def check_codes(places: Mapping[str, Place], names: Iterable[str | None], domain: Domain) -> None:
    """Add a problem for each value of a domain that a classification of its column does not have, at its place."""
    at = places.get("domain")
    if at is None:
        return
    codes = domain.written or domain.labels
    for name in dict.fromkeys(each for each in names if each is not None):
        wrong = outside(name, codes)
        listed = isinstance((at / "values").value, list)
        for position in wrong[: MOST_FAULTS if listed else 1]:
            place = (at / "values" / position).called(*at.names) if listed else at
            found = f"the code {quoted_value(codes[position])} is not in {name}"
            place.refuse(found, f"codes of {CLASSIFICATIONS[name].source}", None, Code.UNKNOWN_NAME)
