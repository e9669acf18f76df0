"""Cost of margins for the rows beside them, and the split of epsilon and sampling rate with the least error of tables.

Rows weighted to margins estimate a cell as exactly as its margin does if a row of the cell is released, and not at all
otherwise. So the expected squared error of a cell of two attributes is at least (1 - q) v + q n^2, for n people, a
margin of variance v, and the probability q that no class of the cell is retained.

If the policy states shares, each split is planned as a policy with these shares is: the margins' noise by its own law,
and k by the joint cost of classes, margins and charged gates. Otherwise epsilons and deltas add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.accounting import safe_k
from crowdgate.accounting.noise_laws import NoiseLaw, NoisyVector
from crowdgate.accounting.person import per_row
from crowdgate.accounting.tables_plan import Query, law_of, split_budget
from crowdgate.arrays import Floats
from crowdgate.guarantee import Part
from crowdgate.kind.forecast import Axes
from crowdgate.kind.listing import Listing, ListingColumn
from crowdgate.kind.prior import ExpectedCounts, coarsened
from crowdgate.kinds.rows.expected_retention import UNRELATED_NOTE, ExpectedRetention
from crowdgate.mechanisms.rows.charge_names import MARGINS_PART
from crowdgate.mechanisms.rows.joint_cost import MarginsLaw
from crowdgate.mechanisms.tables.consistency import variances_after
from crowdgate.mechanisms.tables.joint_cost import noise_law
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


def splits(safe: SafeK, kept: ExpectedRetention) -> Iterator[Listing]:
    """Yield two listings: the policy with and without its margins; and the split of epsilon between rows and margins,
    with the sampling rate, at which weighted rows have the least error.

    Yields nothing if the sample is inherited, levels are chosen, or no table has two attributes. The rate stays that of
    a policy with shares whose privacy units have several rows: their joint cost takes long.
    """
    tables = _tables(safe)
    if safe.inherited is not None or safe.choice is not None or not any(len(axes) == 2 for axes in tables):
        return
    bought = _margins_part(safe).epsilon
    total = safe.part.epsilon + bought
    own = {Fraction(0), bought}
    margins = cache(lambda epsilon: _Margins.of(safe, kept.joint, tables, epsilon))
    rows = tuple(_rows(safe, kept.joint, [margins(part) for part in sorted(own)], safe.beta))
    note = NOTE if kept.is_known else f"{NOTE}; {UNRELATED_NOTE}"
    yield Listing("margins", "What margins cost", COLUMNS, rows, note)
    shares = [margins(total * part) for part in PARTS] if kept.is_known else []
    own_rate = safe.joint is not None and safe.rows > 1
    rates = (safe.beta,) if own_rate else BETAS
    best = min((row for beta in rates for row in _rows(safe, kept.joint, shares, beta)), key=_weighted, default=None)
    chosen = "the split, at the policy's rate," if own_rate else "the split and the rate"
    title = f"Recommended margins: {chosen} at which weighted rows have the least error"
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


@dataclass(frozen=True)
class _Margins:
    """Margins of `part` of the guarantee: the law of their noise (None without margins), and for each table of two
    attributes the expected people of its flat cells, its axes, and the variance of each cell."""

    part: Part
    noise: NoiseLaw | None = None
    pairs: Sequence[tuple[Floats, Axes, Floats]] = ()

    @classmethod
    def of(cls, safe: SafeK, joint: ExpectedCounts, tables: Sequence[Axes], epsilon: Fraction) -> _Margins:
        """Return the margins of these tables that cost `epsilon`, and the policy's delta of margins."""
        now = _margins_part(safe)
        if not epsilon:
            return cls(Part(now.name, Fraction(0), Fraction(0)))
        part = replace(now, epsilon=epsilon)
        noise = _noise(safe, part, tables)
        drawn = [law_of(Query("", 1, each.change), each.spend, 1, noise.noise).variance for each in noise.vectors]
        variances, _ = variances_after(tables, drawn)
        return cls(part, noise, tuple(_pairs(joint, tables, variances)))


def _rows(safe: SafeK, joint: ExpectedCounts, rising: Iterable[_Margins], beta: Fraction) -> Iterator[Row]:
    """Yield the listing rows (k, retention, errors) with margins of rising cost, and so rising k, at sampling rate
    `beta`; they end where no k reaches the guarantee."""
    k = 1
    for margins in rising:
        try:
            k = _least_k(safe, margins, beta, k)
        except ValueError:
            return
        kept = ExpectedRetention(joint, k, beta)
        said: Row = {"margins": margins.part.epsilon, "beta": beta, "k": k}
        errors = (None, None) if margins.noise is None else _errors(kept, margins.pairs)
        weighted = errors[1] if kept.is_known else None
        yield {**said, **_expected(kept), "margin_error": errors[0], "weighted_error": weighted}


def _expected(kept: ExpectedRetention) -> Row:
    """Return the expected share of rows and the classes of a listing row, or the least share where they are unknown."""
    if not kept.is_known:
        return {"kept_share": None, "least_share": kept.share.low, "classes": None}
    return {"kept_share": kept.expected, "least_share": None, "classes": kept.classes.value}


def _least_k(safe: SafeK, margins: _Margins, beta: Fraction, known: int) -> int:
    """Return the least k that keeps the guarantee together with these margins, of which it is known that none below
    `known` does. Raises ValueError if there is none."""
    now, part = _margins_part(safe), margins.part
    delta = safe.part.delta + now.delta
    if safe.joint is None:
        left = safe.part.epsilon + now.epsilon - part.epsilon, delta - part.delta
        return safe_k.least_k(*per_row(*left, safe.rows), beta)
    law = None if margins.noise is None else MarginsLaw(part, margins.noise)
    return replace(safe.joint.law, beta=beta, margins=law).least_k(safe.joint.epsilon, delta, known)


def _margins_part(safe: SafeK) -> Part:
    """Return the privacy cost of the policy's margins; 0 without margins."""
    return Part(MARGINS_PART, Fraction(0), Fraction(0)) if safe.margins is None else safe.margins.part


def _noise(safe: SafeK, part: Part, tables: Sequence[Axes]) -> NoiseLaw:
    """Return the law of the policy's margins if they cost `part`; without margins, that of Laplace noise for
    `tables`."""
    if safe.margins is not None:
        return noise_law(replace(safe.margins, part=part).tables(safe.levels))
    queries = [Query(", ".join(axes), prod(map(len, axes.values()))) for axes in tables]
    spends = split_budget(queries, part.epsilon, "laplace", "least-variance")
    pairs = zip(queries, spends, strict=True)
    return NoiseLaw("laplace", tuple(NoisyVector(q.sensitivity(safe.rows), spend) for q, spend in pairs), safe.rows)


def _pairs(
    joint: ExpectedCounts, tables: Sequence[Axes], variances: Sequence[Floats]
) -> Iterator[tuple[Floats, Axes, Floats]]:
    """Yield for each table of two attributes the expected people of its cells, its axes, and each cell's variance."""
    for axes, variance in zip(tables, variances, strict=True):
        if len(axes) == 2:
            yield coarsened(joint.people, joint.axes, axes).reshape(-1), axes, variance.reshape(-1)


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
