"""Pictures of a release of tables: its largest and its smallest counts, with their confidence limits."""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from crowdgate.kind.picture import Picture, PicturePoint, Series
from crowdgate.kinds.tables.manifest_fields import TablesManifest
from crowdgate.kinds.tables.released_files import PublishedTables
from crowdgate.number_text import PEOPLE

DRAWN = 10
"""The largest number of cells in a picture."""


def pictures(said: TablesManifest, held: PublishedTables) -> Sequence[Picture]:
    """Return pictures of the largest and the smallest published counts; without tables of one number, as a total is not
    comparable with its parts."""
    del said
    cells = sorted(_cells(held), key=lambda point: (-point.value, str(point.at)))
    if not cells:
        return []
    shown = [("largest counts", cells[:DRAWN]), ("smallest counts", cells[DRAWN:][-DRAWN:])]
    note = "Each number has noise on it; its limits contain the true number in 19 of 20 cases."
    return [
        Picture(name, f"The {name}", "cell", "rows", (Series(name, tuple(own)),), note=note, format=PEOPLE)
        for name, own in shown
        if own
    ]


def _cells(held: PublishedTables) -> Iterator[PicturePoint]:
    for each, table in zip(held.said, held.tables, strict=True):
        if each.kind == "count" and each.axes:
            names = [axis.column for axis in each.axes]
            yield from (point for row in _rows(table) if (point := _point(names, row)) is not None)


def _rows(table: pa.Table) -> Iterator[dict[str, object]]:
    for batch in table.to_batches():
        yield from batch.to_pylist()


def _point(names: Sequence[str], row: dict[str, object]) -> PicturePoint | None:
    """Return the point of one cell: its columns and labels as the place, its number and confidence limits; None if its
    number is withheld."""
    value, low, high = (row[name] for name in ("value", "lower", "upper"))
    if not all(isinstance(each, int | float) for each in (value, low, high)):
        return None
    return PicturePoint(", ".join(f"{name} {row[name]}" for name in names), *map(float, (value, low, high)))  # type: ignore[arg-type]
