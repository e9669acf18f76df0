"""Any mechanism on tables of up to three rows, with three outcomes, in whole fractions. Rows are bits."""

from collections.abc import Iterator
from fractions import Fraction

from hypothesis import strategies as st

Laws = dict[int, list[Fraction]]
"""The probabilities of the outcomes for each table."""
TABLES = range(8)


def _laws(weights: list[int]) -> Laws:
    of = {table: weights[3 * table : 3 * table + 3] for table in TABLES}
    return {table: [Fraction(each, sum(three)) for each in three] for table, three in of.items()}


MECHANISMS = st.lists(st.integers(1, 20), min_size=24, max_size=24).map(_laws)


def on_a_sample(laws: Laws, beta: Fraction) -> Laws:
    """Return the mechanism on a Bernoulli sample."""
    return {table: _sum(_parts(laws, table, beta)) for table in TABLES}


def _sum(parts: Iterator[list[Fraction]]) -> list[Fraction]:
    return [sum(column, Fraction(0)) for column in zip(*parts, strict=True)]


def _parts(laws: Laws, table: int, beta: Fraction) -> Iterator[list[Fraction]]:
    for kept in (kept for kept in TABLES if kept & table == kept):
        chance = beta ** kept.bit_count() * (1 - beta) ** (table ^ kept).bit_count()
        yield [chance * each for each in laws[kept]]


def least_delta(laws: Laws, growth: Fraction, replaced: bool = False) -> Fraction:
    """Return the least delta at e^epsilon = `growth`, over all tables of which one has a row more, or another row
    instead of one."""
    pairs = ((a, b) for a in TABLES for b in TABLES if (a ^ b).bit_count() == 1 + replaced)
    alike = ((a, b) for a, b in pairs if not replaced or a.bit_count() == b.bit_count())
    return max(_apart(laws[a], laws[b], growth) for a, b in alike)


def _apart(law: list[Fraction], other: list[Fraction], growth: Fraction) -> Fraction:
    return sum((max(Fraction(0), p - growth * q) for p, q in zip(law, other, strict=True)), Fraction(0))
