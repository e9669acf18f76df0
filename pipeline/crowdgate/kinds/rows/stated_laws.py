"""The numbers that a release of rows draws, beside their stated distributions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.histogram import Histogram, View, at_least, project, split
from crowdgate.kind.stated_draws import noise_draws, selection_draw
from crowdgate.kind.stated_laws import OTHER_SAMPLE, ClassDraws, Contradiction, RecordedRandomness, StatedDraw
from crowdgate.kinds.rows.calibrated_margins import calibrated_margins
from crowdgate.kinds.rows.candidate import CalibratedMargins, PublishedMargin, PublishedRows, RowsCandidate
from crowdgate.kinds.rows.manifest_fields import released_columns
from crowdgate.kinds.rows.plan import VIEW
from crowdgate.mechanisms.rows.margins import DrawnMargins, Levels

if TYPE_CHECKING:
    from crowdgate.hierarchy import Level
    from crowdgate.mechanisms.rows.choice import LevelSelection
    from crowdgate.mechanisms.rows.safe_k import SafeK

OTHER_LEVELS = Contradiction("Rows are released at other levels or columns than the policy states.")
NO_SUCH_CLASS = Contradiction("A class is released that no row of the table belongs to.")
OTHER_WEIGHTS = Contradiction("Weights or published margins differ from those that follow from rows and drawn margins.")
OTHER_ROWS = Contradiction("The published rows differ from the rows that were drawn.")
NO_MARGINS = Contradiction("Margins are stated and not drawn, or drawn and not stated.")
OTHER_CHOICE = Contradiction("Levels were chosen by another selection than the policy states.")


def stated_laws(
    safe: SafeK,
    counted: Mapping[str, Histogram],
    candidate: RowsCandidate,
    published: PublishedRows | None,
    recorded: RecordedRandomness,
) -> Iterator[StatedDraw]:
    """Yield the class sizes, the noise of margins and the choice of levels of one release, and all contradictions
    between its parts. `counted` counts the table from which it was drawn; what is `published` is compared unless it is
    None."""
    levels = candidate.static.levels
    if not _stated_levels(safe, levels, candidate.rows):
        yield OTHER_LEVELS
        return
    full = _at_levels(safe, counted[VIEW], levels)
    if safe.choice is not None and safe.choice.on == "sample":
        yield from _sampled_first(safe, safe.choice, counted[VIEW], candidate, recorded)
    else:
        if safe.choice is not None:
            yield from _choice(safe, safe.choice, counted[VIEW], levels, recorded)
        yield from _classes(safe, full, candidate.rows)
    yield from _margins(safe, full, candidate)
    if published is not None:
        yield from _published(safe, candidate, published)


def _choice(
    safe: SafeK, choice: LevelSelection, read: Histogram, levels: Levels, recorded: RecordedRandomness
) -> Iterator[StatedDraw]:
    """Yield the choice of levels; a contradiction unless it was made once, by the stated scores of the table that it
    `read`, with the stated sensitivity and epsilon, and decided the released levels."""
    asked: list[tuple[list[int], int, Fraction]] = []

    def made(scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
        asked.append(([*scores], sensitivity, epsilon))
        return recorded.selections[0].chosen

    told = [([*each.scores], each.sensitivity, each.budget) for each in recorded.selections]
    if len(told) != 1 or choice.choose(read, safe.k, safe.beta, made) != dict(levels) or asked != told:
        yield OTHER_CHOICE
        return
    yield selection_draw("choice of levels", recorded.selections[0])


def _sampled_first(
    safe: SafeK, choice: LevelSelection, full: Histogram, candidate: RowsCandidate, recorded: RecordedRandomness
) -> Iterator[StatedDraw]:
    """Yield the sampled rows at the finest levels and the choice that reads them; a contradiction if the released
    classes do not follow from them."""
    made = recorded.sample(safe.beta)
    if made is None:
        yield OTHER_SAMPLE
        return
    sample, levels = made.of(full), candidate.static.levels
    yield made.drawn
    yield from _choice(safe, choice, sample, levels, recorded)
    if not _same_rows(candidate.rows, at_least(_at_levels(safe, sample, levels), safe.k)):
        yield OTHER_ROWS


def _stated_levels(safe: SafeK, levels: Levels, rows: Histogram) -> bool:
    """Return True if rows have the columns of the policy, each at its level or one of its candidate levels."""
    allowed: dict[str, tuple[Level, ...]] = {name: (level,) for name, level in safe.levels.items()}
    if safe.choice is not None:
        allowed |= {name: tuple(each) for name, each in safe.choice.lattice.candidates.items()}
    same = [*levels] == [*allowed] and rows.names == tuple(levels)
    return same and all(
        level in allowed[name] and size == len(level)
        for (name, level), size in zip(levels.items(), rows.sizes, strict=True)
    )


def _at_levels(safe: SafeK, full: Histogram, levels: Levels) -> Histogram:
    if safe.choice is None:
        return full
    from crowdgate.mechanisms.rows.lattice import roll_up

    return roll_up(full, safe.levels, levels)


def _classes(safe: SafeK, full: Histogram, rows: Histogram) -> Iterator[StatedDraw]:
    places = {key: at for at, key in enumerate(zip(*(column.tolist() for column in full.codes), strict=True))}
    released = np.zeros(len(full), dtype=np.int64)
    for key, count in zip(zip(*(column.tolist() for column in rows.codes), strict=True), rows.counts, strict=True):
        at = places.get(key)
        if at is None:
            yield NO_SUCH_CLASS
            return
        released[at] += count
    beta = safe.beta if safe.inherited is None else Fraction(1)
    yield ClassDraws("class sizes", full.counts, released, beta, safe.k)


def _published(safe: SafeK, candidate: RowsCandidate, published: PublishedRows) -> Iterator[StatedDraw]:
    """Yield a contradiction if columns, rows, weights or margins to be written differ from the drawn ones."""
    levels = candidate.static.levels
    told = released_columns({name: level.name for name, level in levels.items()})
    columns = {each.column: (each.level, each.labels) for each in published.columns}
    if columns != {name: (levels[name].name, levels[name].labels) for name in told}:
        yield OTHER_LEVELS
    elif not _same_rows(published.rows, project(candidate.rows, told)):
        yield OTHER_ROWS
    drawn, weighting = candidate.drawn, published.weighting
    if (weighting is None) != (safe.margins is None):
        yield OTHER_WEIGHTS
    if safe.margins is not None and drawn is not None and weighting is not None:
        made = DrawnMargins(safe.margins.tables(levels), drawn.noisy)
        expected = calibrated_margins(safe.beta, candidate.rows, levels, made, safe.margins.contract)
        if not _same_weighting(weighting, expected):
            yield OTHER_WEIGHTS


def _same_rows(one: Histogram, other: Histogram) -> bool:
    parts = zip((*one.codes, one.counts), (*other.codes, other.counts), strict=True)
    return one.names == other.names and all(np.array_equal(a, b) for a, b in parts)


def _margins(safe: SafeK, full: Histogram, candidate: RowsCandidate) -> Iterator[StatedDraw]:
    drawn, weighting, levels = candidate.drawn, candidate.weighting, candidate.static.levels
    if any((each is None) != (safe.margins is None) for each in (drawn, weighting)):
        yield NO_MARGINS
    if safe.margins is None or drawn is None or weighting is None:
        return
    stated = safe.margins.tables(levels)
    yield from noise_draws(stated, split(full, View(levels), stated.views), drawn.noisy)


def _same_weighting(one: CalibratedMargins, other: CalibratedMargins) -> bool:
    if len(one.margins) != len(other.margins) or not np.array_equal(one.weights, other.weights):
        return False
    return all(_same_margin(*pair) for pair in zip(one.margins, other.margins, strict=True))


def _same_margin(one: PublishedMargin, other: PublishedMargin) -> bool:
    numbers = ((each.value, each.unbiased, each.error, each.lower, each.upper) for each in (one, other))
    return one.levels == other.levels and all(map(np.array_equal, *numbers))
