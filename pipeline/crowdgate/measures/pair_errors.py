"""How far synthetic rows are from the table, as their certificate tells: noisy distances that were paid for."""

from collections.abc import Callable
from math import inf

from crowdgate.candidate import Candidate, Measurement, OutputType, PairErrors, Range
from crowdgate.measures.base import Aspect, Measure, MeasureClass, OfCandidate


def _any(*_: object) -> Range:
    """A release without rows has no certificate: then a gate is inconclusive, whatever its limit."""
    return -inf, inf


def _of(read: Callable[[PairErrors], Measurement]) -> OfCandidate:
    def measured(candidate: Candidate, _: object) -> Measurement | None:
        return None if candidate.pairs is None else read(candidate.pairs)

    return measured


SYNTHETIC_PAIR_ERROR = Measure(
    "synthetic_pair_error",
    MeasureClass.OUTPUT,
    OutputType.PAIRS,
    "the greatest distance of a two-way table of the synthetic rows from that of the source, in parts of all rows",
    reach=_any,
    aspect=Aspect.USE,
    of_candidate=_of(lambda pairs: pairs.greatest),
)
SYNTHETIC_MEAN_ERROR = Measure(
    "synthetic_mean_error",
    MeasureClass.OUTPUT,
    OutputType.PAIRS,
    "the mean distance of the two-way tables of the synthetic rows from those of the source, in parts of all rows",
    reach=_any,
    aspect=Aspect.USE,
    of_candidate=_of(lambda pairs: pairs.mean),
)
TRUSTED_PAIRS = Measure(
    "trusted_pairs",
    MeasureClass.OUTPUT,
    OutputType.PAIRS,
    "share of the pairs of attributes whose distance is within the policy's pair error, with its upper limit",
    reach=_any,
    aspect=Aspect.USE,
    of_candidate=_of(lambda pairs: Measurement.exact(pairs.trusted)),
)
