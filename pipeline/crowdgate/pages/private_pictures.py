"""Pictures of a run's private record, for its custodian: confidential. The access is recorded first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from crowdgate.kind.picture import Picture, PicturePoint, Series
from crowdgate.kind.section import Section
from crowdgate.number_text import AMOUNT, PLACE, SHARE
from crowdgate.releases.private_record import open_record

if TYPE_CHECKING:
    from crowdgate.ledger.ledger import Ledger

DRAWN = 20
"""The greatest number of names in a picture."""


NOTHING = "A run of this kind records nothing that can be drawn."


def private_section(ledger: Ledger, release_id: str) -> Section:
    """Record the access to a run's private record, and return the pictures of it. Figures that a run of its kind does
    not record have no picture. Raises as `open_record`."""
    opened = open_record(release_id, ledger)
    pictures = private_pictures(opened.sections)
    said = (
        f"Confidential. Opening the record is itself recorded in the ledger {opened.ledger}: policies of these people"
        ' that are first used from now on are marked "informed by confidential data".'
    )
    heading, told = "For the custodian only", [said] if pictures else [said, NOTHING]
    return Section(heading, told, pictures=lambda: pictures)


def private_pictures(record: Mapping[str, Any]) -> list[Picture]:
    """Return the pictures of the sections of a private record."""
    made = (_invalid_cells(record), _classes(record), *_margins(record), _distances(record))
    return [each for each in made if each is not None]


def _invalid_cells(record: Mapping[str, Any]) -> Picture | None:
    columns = record.get("ingestion", {}).get("columns", {})
    points = [PicturePoint(name, float(each["share"])) for name, each in columns.items()]
    worst = sorted(points, key=lambda point: (-point.value, str(point.at)))[:DRAWN]
    return _single_series("outside", "Cells outside their domains", "column", "share of the rows", worst)


def _classes(record: Mapping[str, Any]) -> Picture | None:
    sizes = record.get("utility", {}).get("class sizes", {})
    points = [
        PicturePoint(name.removeprefix("quantile "), float(value)) for name, value in sizes.items() if name != "mean"
    ]
    title = "Sizes of the classes that are released: from the smallest (0) to the largest (1)"
    return _single_series(
        "sizes", title, "share of the classes that are at most so large", "rows in a class", points, AMOUNT
    )


def _margins(record: Mapping[str, Any]) -> Iterator[Picture]:
    """Yield pictures of the shares of each attribute's values in the table and in the release."""
    for at, (name, values) in enumerate(record.get("utility", {}).get("attributes", {}).items()):
        most = sorted(values.items(), key=lambda each: (-abs(each[1]["table"] - each[1]["release"]), each[0]))[:DRAWN]
        series = tuple(
            Series(words, tuple(PicturePoint(label, found[of]) for label, found in most))
            for words, of in (("in the table", "table"), ("in the release", "release"))
        )
        title = f"{name}: before and after, the values that changed most first"
        yield Picture(f"margin {at}", title, "value", "share of the rows", series, format=SHARE)


def _distances(record: Mapping[str, Any]) -> Picture | None:
    found = record.get("utility", {}).get("margins", [])
    points = [PicturePoint(" and ".join(each["of"]), float(each["total variation"])) for each in found]
    worst = sorted(points, key=lambda point: (-point.value, str(point.at)))[:DRAWN]
    title = "How far the release is from the table, by one or two attributes (total variation)"
    return _single_series("distances", title, "attributes", "distance, 0 to 1", worst)


def _single_series(
    name: str, title: str, place: str, value: str, points: list[PicturePoint], format: str = PLACE
) -> Picture | None:
    if not points:
        return None
    return Picture(name, title, place, value, (Series(title, tuple(points)),), format=format)
