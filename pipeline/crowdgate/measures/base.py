"""Definition of a measure, and of the data that it may read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import inf
from string import Formatter
from typing import TYPE_CHECKING

from crowdgate.candidate import AuditQuestion, Candidate, Measurement, OutputType, PublishedCells, Range, Static
from crowdgate.measures.labels import LABELS
from crowdgate.policy.policy import GateRule

if TYPE_CHECKING:
    from crowdgate.histogram import Histogram


class MeasureClass(StrEnum):
    """The data that a measure reads, which determine when its gate is decided and whether it may block."""

    STATIC = "static"
    """Policy, contract and public figures only: decided before any data are read."""
    OUTPUT = "output"
    """The released rows or numbers only: post-processing, blocks freely."""
    CHARGED = "charged"
    """The input, through noise paid from the policy's epsilon."""
    CONFIDENTIAL = "confidential"
    """The input or the sample: advises only, and is written only to the private record."""


class Aspect(StrEnum):
    """The property of a release that a measure describes. The middle three are the criteria of Opinion 05/2014 of the
    Article 29 Working Party (WP216), by which it tests whether data are anonymous."""

    PROMISE = "the promise itself"
    SINGLING_OUT = "singling out"
    LINKABILITY = "linkability"
    INFERENCE = "inference"
    USEFULNESS = "usefulness"
    INGESTION = "ingestion"


class BetterSide(StrEnum):
    """The better values of a measure; a limit refuses the other side."""

    SMALLER = "smaller"
    LARGER = "larger"
    EITHER = "either"
    """A limit is useful on both sides, so neither is recommended."""


SHARE: Range = (0, 1)
DIFFERENCE: Range = (-1, 1)
"""The range of a difference of two shares."""
NOT_NEGATIVE: Range = (0, inf)
UNBOUNDED: Range = (-inf, inf)

USEFUL = (
    "It is a figure about usefulness: it keeps a release that is of no use from being published, and protects nobody."
)

OfStatic = Callable[[Static, GateRule], Measurement | None]
OfCandidate = Callable[[Candidate, GateRule], Measurement | None]
OfNoisy = Callable[[Static, GateRule, Fraction], Measurement | None]


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A number that gates put limits on, with all its properties. Properties without a default must be stated by each
    measure."""

    name: str
    summary: str
    """Description of the number, as in policies/reference/measures.md."""
    sentence: str
    """Effect of a gate on it, for a policy owner who is no programmer; the options, and `of` and `over` if it has them,
    are in braces."""
    reads: MeasureClass
    shape: OutputType
    """The part of a candidate that it reads: a gate on it suits the kinds of release whose candidates have this
    part."""
    aspect: Aspect
    better: BetterSide
    accumulates: bool
    """True if it also reads the privacy costs of earlier releases."""
    range: Range
    """The least and the greatest value of the quantity, for any policy (a noisy figure may lie outside). For an excess
    those of its limit, which is a share."""
    reach: Callable[[Static, GateRule], Range]
    """The range of values under the mechanism; unbounded if there may be no value at all, since then the gate is
    inconclusive."""

    of_static: OfStatic | None = None
    of_candidate: OfCandidate | None = None
    of_noisy: OfNoisy | None = None
    """For a charged measure: the measurement, with limits, from a published noisy number."""
    steady: bool | None = None
    """True if the spread of past values predicts the range of the next one. Other measures may jump farther, as the
    maximum of many or a share of few does. Only static measures, which have no forecast, have None."""
    deviation: Callable[[float, float], float] | None = None
    """The standard deviation that sampling gives a value of about this size, at this rate; None if unknown."""
    counts_indicators: bool = False
    """True if it is a number of independent events, whose variance is at most its mean: sampling draws each."""
    options: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    """The options without which it can't be measured."""
    least_size: int = 1
    """The least value of the option `size`."""
    over: bool = False
    of: bool = False
    excess: bool = False
    """True if it measures the excess over the limit, which is a share of all: the excess must be at most 0."""
    several_rows: bool = False
    """True if it applies only to persons who may have several rows."""
    register: bool = False
    """True if it reads the public register that the policy names."""
    asks: AuditQuestion | None = None
    """The question of the recorded audit that it reads."""
    why: Callable[[Static, GateRule], str | None] | None = None
    """Returns, for people, what is missing if nothing could be measured."""
    effort: Callable[[int], int] = int
    """Work for an expectation over a number of classes, in classes of the quickest measure."""

    @property
    def label(self) -> str:
        """The number in a few words: those of its name, if it has no label."""
        return LABELS.get(self.name, self.name.replace("_", " ").capitalize())

    @property
    def counts(self) -> bool:
        """True if it is a number of rows, classes, values or people, so that it is whole or an expectation of such a
        number."""
        return self.range == NOT_NEGATIVE and self.summary.removeprefix("expected ").startswith("number of ")

    @property
    def whole(self) -> bool:
        """True if all its values are whole numbers. A measure is fractional unless its summary names a number of
        things."""
        return self.counts and not self.summary.startswith("expected ")

    @property
    def waivable(self) -> bool:
        """True if a failure may be waived. The guarantee and its consequences can't be waived, nor can a recorded
        audit, whose failure would mean that the guarantee is violated; a gate that only advises withholds nothing."""
        return self.shape is not OutputType.STATIC and self.asks is None and self.reads is not MeasureClass.CONFIDENTIAL

    @property
    def bounds_singling_out(self) -> bool:
        """True if it is a bound on singling out by the guarantee of all releases."""
        return self.accumulates and self.aspect is Aspect.SINGLING_OUT

    @property
    def counts_as_singling_out(self) -> bool:
        """True if it measures that people are unique, or nearly so. The smallest class does not count: k-anonymity
        alone does not prevent singling out (Cohen, Nissim 2020, Section 4)."""
        return self.aspect is Aspect.SINGLING_OUT or self.register

    def __post_init__(self) -> None:
        """Raise TypeError for a measure with contradictory or missing properties, as its gate would never be judged."""
        static = self.reads is MeasureClass.STATIC
        if (self.of_static is not None, self.of_candidate is not None) != (static, not static):
            wanted, other = ("of_static", "of_candidate") if static else ("of_candidate", "of_static")
            raise TypeError(f"measure {self.name}: a {self.reads} measure states {wanted}, and no {other}")
        if (self.of_noisy is not None) != (self.reads is MeasureClass.CHARGED):
            raise TypeError(f"measure {self.name}: each charged measure states of_noisy, and no other measure does")
        if (self.steady is None) != static:
            raise TypeError(f"measure {self.name}: only a static measure leaves steady out")
        stated = {*self.options, *(name for name in ("of", "over") if getattr(self, name))}
        if not self.summary or {name for _, name, _, _ in Formatter().parse(self.sentence) if name} != stated:
            names = ", ".join(sorted(stated)) or "nothing"
            raise TypeError(f"measure {self.name}: state a summary, and a sentence with {names} in braces")


def of_rows(read: Callable[[Histogram, Static, GateRule], Measurement | None]) -> OfCandidate:
    """Return the function that measures a candidate's released rows by `read`, and returns None for a candidate without
    rows."""
    return lambda candidate, rule: None if candidate.rows is None else read(candidate.rows, candidate.static, rule)


def of_cells(read: Callable[[tuple[PublishedCells, ...]], Measurement | None]) -> OfCandidate:
    """Return the function that measures a candidate's released numbers by `read`, and returns None for a candidate
    without cells."""
    return lambda candidate, _: None if candidate.cells is None else read(candidate.cells)


def unbounded(*_: object) -> Range:
    """Return the reach of a measure that may have no value at all: its gate is then inconclusive, for any limit."""
    return UNBOUNDED
