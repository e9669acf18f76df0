"""Distance of synthetic rows from the source table, by their certificate: noisy distances paid from the budget.

A release without rows has no certificate.
"""

from collections.abc import Callable

from crowdgate.candidate import Candidate, Measurement, OutputType, PairErrors
from crowdgate.measures.base import SHARE, Aspect, BetterSide, Measure, MeasureClass, unbounded

CERTIFIED = (
    "The distance of a pair of columns compares the table of that pair in the synthetic rows with the true one. It"
    " is half\nthe sum of the differences, in parts of all rows: 0 is the same, 1 has nothing in common. It is a"
    " figure about\nusefulness and protects nobody."
)


def _measure(
    name: str,
    summary: str,
    sentence: str,
    read: Callable[[PairErrors], Measurement],
    *,
    better: BetterSide,
    steady: bool,
) -> Measure:
    def measured(candidate: Candidate, _: object) -> Measurement | None:
        return None if candidate.pairs is None else read(candidate.pairs)

    return Measure(
        name=name,
        summary=f"synthetic rows: {summary}; inconclusive where there are no rows",
        sentence=f"{sentence} {CERTIFIED}",
        reads=MeasureClass.OUTPUT,
        shape=OutputType.PAIRS,
        aspect=Aspect.USEFULNESS,
        better=better,
        accumulates=False,
        range=SHARE,
        reach=unbounded,
        of_candidate=measured,
        steady=steady,
    )


SYNTHETIC_PAIR_ERROR = _measure(
    "synthetic_pair_error",
    "the greatest distance of a two-way table of the synthetic rows from that of the source, in parts of all rows, with"
    " the end of its one-sided 95 % interval",
    "It takes the pair of columns of which the synthetic rows are furthest from the table.",
    lambda pairs: pairs.greatest,
    better=BetterSide.SMALLER,
    steady=True,
)
SYNTHETIC_MEAN_ERROR = _measure(
    "synthetic_mean_error",
    "the mean distance of the two-way tables of the synthetic rows from those of the source, likewise",
    "It takes how far the synthetic rows are from the table in a pair of columns, on average over all pairs.",
    lambda pairs: pairs.mean,
    better=BetterSide.SMALLER,
    steady=True,
)
TRUSTED_PAIRS = _measure(
    "trusted_pairs",
    "share of the pairs of attributes whose distance is within the policy's pair error, with its upper limit",
    "It takes the share of the pairs of columns of which the synthetic rows are near enough to the table, as the"
    " policy's pair\nerror states.",
    lambda pairs: Measurement.exact(pairs.trusted),
    better=BetterSide.LARGER,
    steady=False,
)
