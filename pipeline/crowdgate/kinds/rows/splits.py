"""Cost of margins for the rows beside them, and the split of epsilon and sampling rate with the least error of tables.

Rows weighted to margins estimate a cell as exactly as its margin does if a row of the cell is released, and not at all
otherwise. So the expected squared error of a cell of two attributes is at least (1 - q) v + q n^2, for n people, a
margin of variance v, and the probability q that no class of the cell is retained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.accounting import safe_k
from crowdgate.accounting.person import per_row
from crowdgate.accounting.tables_plan import NoiseKind, Query, law_of, split_budget, tables_budget
from crowdgate.arrays import Floats
from crowdgate.guarantee import Part
from crowdgate.kind.forecast import Axes
from crowdgate.kind.listing import Listing, ListingColumn
from crowdgate.kind.prior import ExpectedCounts, coarsened
from crowdgate.kinds.rows.expected_retention import UNRELATED_NOTE, ExpectedRetention
from crowdgate.mechanisms.tables.consistency import variances_after
from crowdgate.number_text import Value

if TYPE_CHECKING:
    from crowdgate.mechanisms.rows.safe_k import SafeK

PARTS = tuple(Fraction(tenths, 10) for tenths in range(1, 6))
BETAS = tuple(Fraction(text) for text in ("0.1", "0.2", "0.3", "0.5", "0.7"))
COLUMNS = (
    ListingColumn("margins", "epsilon of margins", "g"),
    ListingColumn("beta", "beta", "g"),
    ListingColumn("k", "k", "d"),
    ListingColumn("kept_share", "kept share", ".3f", "unknown"),
    ListingColumn("least_share", "at least", ".3f", ""),
    ListingColumn("classes", "classes", ".0f", "unknown"),
    ListingColumn("margin_error", "error of margins"),
    ListingColumn("weighted_error", "of weighted rows, at least", absent="unknown"),
)
NOTE = (
    "errors are root mean squares over all cells of two attributes; rows without margins are not weighted, and tell"
    " nothing of persons"
)
Row = dict[str, Value]
PairErrors = Callable[[Fraction], Sequence[tuple[Floats, Axes, Floats]]]
"""For an epsilon of margins, every table of two attributes with its expected people and the variance of its margin."""


def splits(safe: SafeK, kept: ExpectedRetention) -> Iterator[Listing]:
    """Yield two listings: the policy with and without its margins; and the split of epsilon between rows and margins,
    with the sampling rate, at which weighted rows have the least error.

    Yields nothing if the sample is inherited, levels are chosen, or no table has two attributes.
    """
    tables = _tables(safe)
    if safe.inherited is not None or safe.choice is not None or not any(len(axes) == 2 for axes in tables):
        return
    bought = Fraction(0) if safe.margins is None else safe.margins.part.epsilon
    total = safe.part.epsilon + bought
    own = {Fraction(0), bought}
    pairs = cache(lambda epsilon: _pairs(safe, kept.joint, tables, epsilon))
    rows = [row for part in sorted(own) if (row := _row(safe, kept.joint, pairs, part, safe.beta)) is not None]
    note = NOTE if kept.is_known else f"{NOTE}; {UNRELATED_NOTE}"
    yield Listing("margins", "What margins cost", COLUMNS, tuple(rows), note)
    tried = product(PARTS, BETAS) if kept.is_known else ()
    others = [_row(safe, kept.joint, pairs, total * part, beta) for part, beta in tried]
    best = min((row for row in others if row is not None), key=_weighted, default=None)
    title = "Recommended margins: the split and the rate at which weighted rows have the least error"
    yield Listing("recommended_margins", title, COLUMNS, () if best is None else (best,), note, single=True)


def _weighted(row: Row) -> float:
    error = row["weighted_error"]
    return error if isinstance(error, float) else float("inf")


def _tables(safe: SafeK) -> list[Axes]:
    """Return the axes (level by attribute) of the policy's margins or, without margins, of the total and all tables of
    one and two attributes."""
    if safe.margins is not None:
        return [query.levels for query in safe.margins.tables(safe.levels).queries]
    names = [name for name, level in safe.levels.items() if len(level) > 1]
    ways = (way for size in range(min(2, len(names)) + 1) for way in combinations(names, size))
    return [{name: safe.levels[name] for name in way} for way in ways]


def _row(safe: SafeK, joint: ExpectedCounts, pairs: PairErrors, bought: Fraction, beta: Fraction) -> Row | None:
    """Return the listing row (k, retention, errors) at epsilon `bought` for margins and sampling rate `beta`; None if
    no k reaches the guarantee with the remaining epsilon."""
    now = _margins_part(safe)
    left = (safe.part.epsilon + now.epsilon - bought, safe.part.delta + (Fraction(0) if bought else now.delta))
    try:
        k = safe_k.least_k(*per_row(*left, safe.rows), beta)
    except ValueError:
        return None
    kept = ExpectedRetention(joint, k, beta)
    said: Row = {"margins": bought, "beta": beta, "k": k}
    margins, weighted = _errors(kept, pairs(bought)) if bought else (None, None)
    if not kept.is_known:
        unknown: Row = {"kept_share": None, "least_share": kept.share.low, "classes": None}
        return {**said, **unknown, "margin_error": margins, "weighted_error": None}
    known: Row = {"kept_share": kept.expected, "least_share": None, "classes": kept.classes.value}
    return {**said, **known, "margin_error": margins, "weighted_error": weighted}


def _margins_part(safe: SafeK) -> Part:
    """Return the privacy cost of the policy's margins; 0 without margins."""
    return Part("margins", Fraction(0), Fraction(0)) if safe.margins is None else safe.margins.part


def _pairs(
    safe: SafeK, joint: ExpectedCounts, tables: Sequence[Axes], epsilon: Fraction
) -> list[tuple[Floats, Axes, Floats]]:
    """Return for each table of two attributes the expected people of its cells, its axes, and the variance of each
    cell's count in margins that cost `epsilon`; cells are flat."""
    noise: NoiseKind = "laplace" if safe.margins is None else safe.margins.spec.noise
    queries = [Query(", ".join(axes), prod(map(len, axes.values()))) for axes in tables]
    spend = tables_budget(epsilon, _margins_part(safe).delta, noise).spend
    spends = split_budget(queries, spend, noise, "least-variance")
    drawn = [law_of(query, each, safe.rows, noise).variance for query, each in zip(queries, spends, strict=True)]
    after, _ = variances_after(tables, drawn)
    return [
        (coarsened(joint.people, joint.axes, axes).reshape(-1), axes, variance.reshape(-1))
        for axes, variance in zip(tables, after, strict=True)
        if len(axes) == 2
    ]


def _errors(kept: ExpectedRetention, pairs: Sequence[tuple[Floats, Axes, Floats]]) -> tuple[float, float]:
    """Return two root mean squares over the cells of all tables of two attributes, in people: the error of the margins,
    and a lower bound on the error of weighted rows."""
    absent = np.log1p(-np.minimum(kept.probabilities, 1 - 1e-15))
    missing = (np.exp(coarsened(absent, kept.joint.axes, axes).reshape(-1)) for _, axes, _ in pairs)
    of_rows = [_least(people, each, variance) for each, (people, _, variance) in zip(missing, pairs, strict=True)]
    return _root_mean([variance for _, _, variance in pairs]), _root_mean(of_rows)


def _root_mean(squares: Sequence[Floats]) -> float:
    return sqrt(float(np.mean(np.concatenate(squares))))


def _least(people: Floats, missing: Floats, variance: Floats) -> Floats:
    """Return for each cell the lower bound (1 - q) v + q n^2 on its expected squared error: q is `missing`, the
    probability that none of its classes is retained, v the margin's variance, n the number of people."""
    return np.asarray((1 - missing) * variance + missing * people**2)
