"""Pictures of a run's private record, for its custodian: confidential. The access is recorded first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crowdgate.kind.picture import Picture, PicturePoint, Series
from crowdgate.number_text import AMOUNT, PLACE, SHARE
from crowdgate.releases.private_record import open_record
from crowdgate.report.pictures import picture_values
from crowdgate.system import permissions

if TYPE_CHECKING:
    from crowdgate.ledger.ledger import Ledger
    from crowdgate.releases.private_record import PrivateRecord

DRAWN = 20
"""The greatest number of names in a picture."""


@dataclass(frozen=True, eq=False)
class PrivatePictures:
    """A private record that was opened, and pictures of it; figures that a run of its kind does not record have no
    picture."""

    opened: PrivateRecord
    pictures: tuple[Picture, ...]
    access: permissions.Access = permissions.PRIVATE_PAGE

    @property
    def shown(self) -> list[dict[str, object]]:
        """The values of the pictures for the page template, one dictionary a picture."""
        return [picture_values(each) for each in self.pictures]


def private_pictures(ledger: Ledger, release_id: str) -> PrivatePictures:
    """Record the access to a run's private record, and return the record with its pictures. Raises as `open_record`."""
    opened = open_record(release_id, ledger)
    made = (
        _invalid_cells(opened.sections),
        _classes(opened.sections),
        *_margins(opened.sections),
        _distances(opened.sections),
    )
    return PrivatePictures(opened, tuple(each for each in made if each is not None))


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
