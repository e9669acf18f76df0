"""Stated intervals of shares, means and ratios hold, on public tables that nobody tuned to.

Each release draws margins and rows of a known table. N = 100 releases a table, seeded. Intervals are stated to hold
together in 95 of 100: at exactly that level, fewer than 92 hold with probability .06 (binomial). They are cautious
(Bonferroni), so all 100 are usual, and fewer than 92 no accident. Intervals that hold together in .8 of the releases
fail with probability .99. With intervals for each cell alone at 95 % none of these tables reaches 92.
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from crowdgate.histogram import Histogram, at_least, subsample
from crowdgate.kind.drawing import Draws, vector_noise
from crowdgate.kind.prior import ExpectedCounts
from crowdgate.kinds.rows.calibrated_margins import calibrated_margins
from crowdgate.kinds.rows.candidate import PublishedRows
from crowdgate.kinds.rows.estimates import limits_of
from crowdgate.kinds.rows.ratios import RatioEstimate, WeightedTable
from crowdgate.kinds.rows.share_limits import PARTS
from crowdgate.mechanisms.rows.safe_k import SafeK
from crowdgate.publish.dictionary import DictionaryEntry
from tests.kinds.test_misleading_rows import GOOD, MISLEADING, planned

RELEASES, LEAST = 100, 92
TABLES = {"census": GOOD["census"], "generated": GOOD["generated"], "charges": GOOD["charges"],
          "misleading charges": MISLEADING["charges"]}  # fmt: skip
MARKS = [pytest.param(name, marks=mark) for name, mark in zip(TABLES, (
    pytest.mark.thorough, pytest.mark.soak, pytest.mark.soak, pytest.mark.soak), strict=True)]  # fmt: skip


def releases(safe: SafeK, full: Histogram, draws: Draws, number: int) -> Iterator[PublishedRows]:
    """Yield releases of a known table, with fresh sampling and noise."""
    assert safe.margins is not None
    entries = tuple(DictionaryEntry(name, level.name, level.labels, "") for name, level in safe.levels.items())
    for _ in range(number):
        rows = at_least(subsample(full, lambda counts: draws.binomial(counts, float(safe.beta))), safe.k)
        drawn = safe.margins.draw(full, safe.levels, vector_noise(draws))
        made = calibrated_margins(safe.beta, rows, safe.levels, drawn, safe.margins.contract)
        yield PublishedRows(rows, entries, (False,) * len(entries), made, None, limits_of(rows, made))


def table_of(joint: ExpectedCounts) -> Histogram:
    counts = joint.people.astype(np.int64)
    codes = tuple(each.astype(np.int64) for each in np.nonzero(counts))
    return Histogram(tuple(joint.axes), counts.shape, codes, counts[counts > 0])


def holds(lower: float, upper: float, share: Fraction) -> bool:
    """Return True if limits in parts, of which PARTS are 1, hold a share exactly."""
    return Fraction(lower) <= share * PARTS <= Fraction(upper)


def true_shares(joint: ExpectedCounts, held: PublishedRows) -> Iterator[list[Fraction]]:
    """Yield the true shares of each margin that has limits."""
    names = list(joint.axes)
    assert held.weighting is not None
    for margin in held.weighting.margins:
        if 0 < len(margin.levels) <= 2:
            others = tuple(at for at, name in enumerate(names) if name not in margin.levels)
            counts, everybody = joint.people.sum(axis=others).reshape(-1), int(joint.people.sum())
            yield [Fraction(int(each), everybody) for each in counts.tolist()]


@pytest.mark.parametrize("name", MARKS)
def test_stated_intervals_hold_together_in_at_least_92_of_100_releases(name: str) -> None:
    make, columns = TABLES[name]
    safe, joint = planned(make(), columns)
    held_shares = held_questions = 0
    for held in releases(safe, table_of(joint), np.random.default_rng(11), RELEASES):
        assert held.shares is not None
        pairs = zip(held.shares, true_shares(joint, held), strict=True)
        held_shares += all(all(map(holds, each.lower.tolist(), each.upper.tolist(), true)) for each, true in pairs)
        held_questions += all(each.lower <= true <= each.upper for each, true in questions(joint, held))
    assert held_shares >= LEAST
    assert held_questions >= LEAST


def questions(joint: ExpectedCounts, held: PublishedRows) -> Iterator[tuple[RatioEstimate, float]]:
    """Yield the answers to a share among some rows, a ratio, and a mean, each with its true value; unknown limits
    hold."""
    assert held.weighting is not None
    table, (one, other) = WeightedTable(held, held.weighting), list(joint.axes)[:2]
    names = list(joint.axes)
    people = joint.people.sum(axis=tuple(range(2, len(names))))
    first, second = joint.axes[one].labels, joint.axes[other].labels
    yield table.share({one: first[0]}, {other: second[-1]}), people[0, -1] / people[:, -1].sum()
    yield table.ratio({one: first[0]}, {one: list(first[1:])}), people[0].sum() / people[1:].sum()
    values = {label: float(at) for at, label in enumerate(first)}
    yield table.mean(one, {other: second[0]}, values), float(people[:, 0] @ np.arange(len(first)) / people[:, 0].sum())
