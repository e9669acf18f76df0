"""Pictures of a release of rows: sizes of its classes, and the expected number of people in small ones."""

from collections.abc import Iterator, Sequence

import numpy as np

from crowdgate.candidate import Static
from crowdgate.kind.facts import static_before_data
from crowdgate.kind.picture import Limit, Picture, PicturePoint, Series
from crowdgate.kinds.rows.candidate import PublishedRows
from crowdgate.kinds.rows.manifest_fields import RowsManifest
from crowdgate.measures.expected_classes import EXPECTED_SHARE_IN_SETS_UP_TO
from crowdgate.measures.small_classes import SINGLETONS
from crowdgate.measures.unique_people import known_counts
from crowdgate.number_text import PEOPLE
from crowdgate.policy.policy import GateRule

SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)


def pictures(said: RowsManifest, held: PublishedRows) -> Sequence[Picture]:
    """Return pictures of the classes of the release, and of people in small classes of the whole table: expected, and
    measured with noise."""
    return [each for each in (_classes(said, held), _small_classes_picture(said)) if each is not None]


def _classes(said: RowsManifest, held: PublishedRows) -> Picture | None:
    sizes = np.sort(held.rows.counts)
    if not len(sizes):
        return None
    steps = sorted({*(size for size in SIZES if size <= sizes[-1]), int(sizes[-1])})
    points = tuple(PicturePoint(float(size), float(np.searchsorted(sizes, size, side="right"))) for size in steps)
    return Picture(
        "class sizes", "Classes of equal rows in the release, up to each size", "rows in a class", "classes",
        (Series("classes up to this size", points, "joined"),), (_k(said),), place_scale="log", format=PEOPLE,
        note="A class of fewer than k rows is left out.",
    )  # fmt: skip


def _small_classes_picture(said: RowsManifest) -> Picture | None:
    """Return the picture of the people in small classes of the whole table, expected and measured with noise, at the
    finest levels, before sampling and suppression; None if neither is known."""
    expected, noisy = tuple(_expected(said)), tuple(_noisy(said))
    series = [("expected from public counts", expected, "joined"), ("measured, with noise", noisy, "marked")]
    made = tuple(Series(name, points, style) for name, points, style in series if points)  # type: ignore[arg-type]
    if not made:
        return None
    return Picture(
        "small groups", "People who share their values with few in the whole table", "size of the group",
        "people in groups up to it", made, (_k(said),), "log", "log", format=PEOPLE,
        note="How identifying the columns are, before anything is sampled or left out; not what is published. What is"
        f" expected is by {', '.join(static_before_data(said).levels) or 'nothing'}, what is measured by all columns.",
    )  # fmt: skip


def _k(said: RowsManifest) -> Limit:
    return Limit(f"k = {said.mechanism.k}, below which classes are left out", float(said.mechanism.k), "place")


def _expected(said: RowsManifest) -> Iterator[PicturePoint]:
    """Yield for some sizes the expected number of people of the whole table in classes of up to this size; nothing if
    the manifest has no public counts or there are too many classes."""
    static, measure = static_before_data(said), EXPECTED_SHARE_IN_SETS_UP_TO
    if not static.levels or measure.of_static is None:
        return
    if static.classes is not None:
        yield from _counted(static)
        return
    for size in SIZES[:7]:
        rule = GateRule.model_construct(measure=measure.name, over=list(static.levels), options={"size": size})
        found = measure.of_static(static, rule)
        if found is not None:
            value, low, high = (float(end) * static.people for end in (found.value, found.lower, found.upper))
            yield PicturePoint(float(size), value, *((low, high) if high - low > 1 else (None, None)))


def _counted(static: Static) -> Iterator[PicturePoint]:
    """Yield the people in classes of up to each size by public counts; nothing unless these are of people and tell the
    classes."""
    known = known_counts(static, tuple(static.levels))
    if known is not None and known.rows == 1 and len(known.groups) == 1:
        classes = known.groups[0].classes
        for size in SIZES[:7]:
            yield PicturePoint(float(size), float((classes.sizes * classes.counts)[classes.sizes <= size].sum()))


def _noisy(said: RowsManifest) -> Iterator[PicturePoint]:
    for gate in said.verdicts:
        shown = gate.verdict.shown
        if gate.measure == SINGLETONS.name and shown is not None:
            value, low, high = (float(each) for each in (shown.value, shown.low, shown.high))
            yield PicturePoint(1.0, max(value, 0.0), max(low, 0.0), high)
