"""Expected classes among a stated number of people, from public figures alone.

The figures are limits at the worst number of people (`unique_people`). Gates of a release by an earlier version have an
earlier rule, by which the release keeps verifying: people fall into classes independently, with the shares of the
public figures. These are margins of single attributes, and joint counts of several if the contract has them. Attributes
that joint counts relate have the joint shares of these counts (for several tables the distribution nearest to
independence, within a certified distance: `risk.nearest`); all others are independent. If tables contradict each other
there is no such distribution, and nothing is measured.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import expm1, inf, prod

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.candidate import Measurement, OutputType, Range, Static
from crowdgate.histogram import Histogram, project
from crowdgate.limits import MOST_CELLS_FITTED, MOST_CLASSES, MOST_PLACED, MOST_SIZED
from crowdgate.measures.base import NOT_NEGATIVE, SHARE, UNBOUNDED, Aspect, BetterSide, Measure, MeasureClass
from crowdgate.measures.unique_people import (
    KnownCounts,
    Limits,
    contradiction,
    figure,
    joint_tables,
    known_counts,
    probability_limits,
    share_limits,
    singleton_limits,
    unknown_reason,
)
from crowdgate.policy.policy import GateRule
from crowdgate.risk.joint import KnownMargin
from crowdgate.risk.nearest import DISTANCE, nearest
from crowdgate.risk.singletons import MOST_DISTINCT, Bins, expected, none_within

ROUNDING = 1e-9
"""Bound on the relative error of float64 products and sums of positive terms (observed: 1e-12)."""
LEAST_SHARE = 1e-9
"""Share, over all cells, with which a fit begins: values without people in one table may have some in another."""
EXPECTATION = (
    "It is worked out from public counts, for the worst number of people from {least_people} to {people}. If the counts"
    " leave it open,\nthe gate does not pass."
)


@dataclass(frozen=True, eq=False)
class ExpectedClasses:
    """The classes of some attributes, and a bound on the distance of their shares from the distribution that the public
    figures determine: the sum of absolute differences."""

    bins: Bins
    off: float = 0.0


Read = Callable[[Bins, int, GateRule], Measurement | None]
LimitsOf = Callable[[KnownCounts, int, int, GateRule], Limits]
"""Function of (public counts, least and greatest number of people, gate)."""


# --- the shares of the classes ---


def classes_of(static: Static, names: Sequence[str]) -> ExpectedClasses | None:
    """Return the classes of these attributes by the public figures; None if one has no figures, for too many classes,
    and if no distribution has all the joint counts."""
    probabilities, off = np.ones(1), 0.0
    for own, tables in _factors(static, names):
        share = _joint(static, own, tables) if tables else _margin(static, own[0])
        if share is None or probabilities.size * share.size > MOST_CLASSES:
            return None
        probabilities = np.outer(probabilities, share).ravel()
        off += DISTANCE if len(tables) > 1 else 0.0
    distinct, bins = np.unique(probabilities, return_counts=True)
    return ExpectedClasses(Bins(distinct, bins.astype(np.float64)), off)


def _factors(static: Static, names: Sequence[str]) -> Iterator[tuple[list[str], list[Histogram]]]:
    """Yield groups of attributes that are independent of the others: those that joint counts relate, with these counts,
    or single ones."""
    left = list(names)
    tables = joint_tables(static, names)
    while left:
        related, own = _related(left[0], tables)
        yield related, own
        left = [name for name in left[1:] if name not in related]


def _related(name: str, tables: Sequence[Histogram]) -> tuple[list[str], list[Histogram]]:
    """Return the attribute `name` with all attributes that tables relate to it, directly or indirectly; and these
    tables."""
    names, own = [name], list[Histogram]()
    while more := [table for table in tables if table not in own and {*table.names} & {*names}]:
        own += more
        names += [other for table in more for other in table.names]
    return list(dict.fromkeys(names)), own


def _margin(static: Static, name: str) -> Floats | None:
    """Return the shares above 0 of the attribute's values in its public margin; None if the contract has no margin."""
    known = static.margins(name)
    if known is None:
        return None
    counts = np.asarray(known, dtype=np.float64)
    shares: Floats = counts[counts > 0] / counts.sum()
    return shares


def _joint(static: Static, names: Sequence[str], tables: Sequence[Histogram]) -> Floats | None:
    """Return the shares, all above 0, of the cells of the attributes' joint distribution that the tables determine;
    None for too many cells, or if no distribution is certified to have these tables as margins."""
    if len(tables) == 1:
        return tables[0].counts / tables[0].rows
    if not _fits(static, names):
        return None
    people = float(max(table.rows for table in tables))
    base = np.full((), people * (1 - LEAST_SHARE))
    for name in names:
        first = next(table for table in tables if name in table.names)
        base = np.multiply.outer(base, _dense(project(first, [name])) / first.rows)
    law = nearest(base + people * LEAST_SHARE / base.size, [_joint_table(table, names, people) for table in tables])
    return None if law is None else np.asarray(law[law > 0])


def _fits(static: Static, names: Sequence[str]) -> bool:
    return prod(len(static.levels[name]) for name in names) <= MOST_CELLS_FITTED


def _joint_table(table: Histogram, names: Sequence[str], people: float) -> KnownMargin:
    ordered = project(table, [name for name in names if name in table.names])
    counts = _dense(ordered) * (people / table.rows)
    axes = {names.index(name): np.arange(size) for name, size in zip(ordered.names, ordered.sizes, strict=True)}
    return KnownMargin(axes, counts, np.zeros(counts.shape))


def _dense(table: Histogram) -> Floats:
    counts = np.zeros(table.sizes)
    counts[table.codes] = table.counts
    return counts


# --- expectations ---


def _singletons(bins: Bins, people: int, _: GateRule) -> Measurement:
    """Return the expected number of singletons, exact for these shares (Koot 2012, Proposition 5.1)."""
    return _rounded(expected(bins, people))


def _any_singleton(bins: Bins, people: int, _: GateRule) -> Measurement | None:
    """Return the probability of at least one singleton among `people` (Koot 2012, section 5.4), by an integral with a
    stated error; never more than the expected number (Markov). None for too many people, or an infinite error."""
    if people > MOST_PLACED:
        return None
    none, most = none_within(bins, people), expected(bins, people) * (1 + ROUNDING)
    if none.error == inf:
        return None
    error = none.error + ROUNDING * abs(none.value) if none.value > -inf else 0.0
    low, value, high = (-expm1(min(0.0, none.value + off)) for off in (error, 0.0, -error))
    high = min(high, most)
    return Measurement(min(value, high), min(low, high), high)


def _share(bins: Bins, people: int, rule: GateRule) -> Measurement | None:
    """Return the expected share of people in classes of at most the gate's `size` (Koot 2012, section 6.2.1): phi_1 +
    ... + phi_size. None without this option, or for too many distinct probabilities."""
    from crowdgate.risk.groups import share_in_groups_up_to

    size = rule.options.get("size")
    if size is None or len(bins.probabilities) > MOST_SIZED:
        return None
    found = _rounded(share_in_groups_up_to(bins, people, int(size)))
    return Measurement(found.value, found.lower, min(1.0, float(found.upper)))


def _rounded(value: float) -> Measurement:
    return Measurement(value, value * (1 - ROUNDING), value * (1 + ROUNDING))


def _with_deviation(measured: Measurement, off: float, most: float) -> Measurement:
    """Return the measurement with limits for all distributions whose shares differ by `off` / people in sum: p (1 -
    p)^(people - 1) changes by no more than p, and the probability of any event by no more than half of `off`."""
    if not off:
        return measured
    return Measurement(measured.value, max(0.0, measured.lower - off), min(most, measured.upper + off))


# --- limits from public counts ---


def _people(static: Static, rule: GateRule) -> tuple[int, int]:
    """Return the least and the greatest number of people that the gate is about."""
    most = int(rule.options.get("people", static.people))
    return min(most, int(rule.options.get("least_people", 1))), most


def _by_counts(static: Static, rule: GateRule, limits: LimitsOf) -> Measurement | None:
    names = rule.over or tuple(static.levels)
    known = known_counts(static, names)
    if known is None or contradiction(static, names) is not None:
        return None
    return figure(limits(known, *_people(static, rule), rule), rule)


def _share_limits(known: KnownCounts, least: int, most: int, rule: GateRule) -> Limits:
    return share_limits(known, least, most, int(rule.options.get("size", 1)))


def _missing_reason(static: Static, rule: GateRule, limits: LimitsOf) -> str | None:
    names = rule.over or tuple(static.levels)
    if static.classes is None:
        return _missing_law(static, names)
    known = known_counts(static, names)
    if known is None:
        return None
    least, most = _people(static, rule)
    return contradiction(static, names) or unknown_reason(known, names, most, limits(known, least, most, rule).high)


def _missing_law(static: Static, names: Sequence[str]) -> str | None:
    for own, tables in _factors(static, names):
        if len(tables) > 1 and _fits(static, own) and _joint(static, own, tables) is None:
            return (
                f"no law of {', '.join(own)} has all their joint counts, or none is certain enough; correct the counts"
            )
    return None


# --- the measures ---


def _measure(
    name: str,
    summary: str,
    sentence: str,
    read: Read,
    limits: LimitsOf,
    values: Range,
    needs: tuple[str, ...] = (),
    effort: Callable[[int], int] = int,
    most: Callable[[int], float] = lambda _: 1.0,
) -> Measure:
    """Return a measure of the classes that people fall into. It is known before any data are read, so its reach is its
    value."""

    def by_shares(static: Static, rule: GateRule) -> Measurement | None:
        found = classes_of(static, rule.over or tuple(static.levels))
        people = int(rule.options.get("people", static.people))
        measured = None if found is None else read(found.bins, people, rule)
        return (
            None if found is None or measured is None else _with_deviation(measured, people * found.off, most(people))
        )

    def of_static(static: Static, rule: GateRule) -> Measurement | None:
        return by_shares(static, rule) if static.classes is None else _by_counts(static, rule, limits)

    def reach(static: Static, rule: GateRule) -> Range:
        measured = of_static(static, rule)
        return UNBOUNDED if measured is None else (measured.lower, measured.upper)

    return Measure(
        name=name,
        summary=f"{summary}, at the worst number of people from `least_people` to `people`: counted in the contract's"
        " table if it is public, otherwise by its joint counts (`jointMargins`) and margins",
        sentence=f"{sentence} {EXPECTATION}",
        reads=MeasureClass.STATIC,
        shape=OutputType.ROWS,
        aspect=Aspect.SINGLING_OUT,
        better=BetterSide.SMALLER,
        accumulates=False,
        range=values,
        reach=reach,
        of_static=of_static,
        options=("people", "least_people", *needs),
        needs=needs,
        over=True,
        effort=effort,
        why=lambda static, rule: _missing_reason(static, rule, limits),
    )


EXPECTED_SINGLETONS = _measure(
    "expected_singletons",
    "expected number of classes that hold exactly one of `people` persons",
    "It limits how many people, of {people}, are expected to be alone with their combination of {over}.",
    _singletons,
    lambda known, least, most, _: singleton_limits(known, least, most),
    NOT_NEGATIVE,
    most=float,
)
SINGLETON_PROBABILITY = _measure(
    "singleton_probability",
    "upper bound on the probability that anyone of `people` persons is unique",
    "It limits how likely it is that anybody at all, of {people} people, is alone with his or her combination of\n"
    "{over}.",
    _any_singleton,
    lambda known, least, most, _: probability_limits(known, least, most),
    SHARE,
    effort=lambda classes: classes + 1000 * min(classes, MOST_DISTINCT),
)
EXPECTED_SHARE_IN_SETS_UP_TO = _measure(
    "expected_share_in_sets_up_to",
    "expected share of `people` persons who are in a class of at most `size` of them",
    "It limits which share of {people} people is expected to share its combination of {over} with so few that they\n"
    "are at most {size} together.",
    _share,
    _share_limits,
    SHARE,
    needs=("size",),
    effort=lambda classes: classes + 16 * min(classes, MOST_SIZED),
)
