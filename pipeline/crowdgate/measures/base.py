"""What a measure is, and which data it may read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import inf
from string import Formatter
from typing import TYPE_CHECKING

from crowdgate.candidate import AuditQuestion, Candidate, Measurement, OutputType, PublishedCells, Range, Static
from crowdgate.policy.policy import GateRule

if TYPE_CHECKING:
    from crowdgate.histogram import Histogram


class MeasureClass(StrEnum):
    """What a measure reads, and with it when its gate is decided and whether it may block."""

    STATIC = "static"
    """Policy, contract and public figures only: decided before any data is read."""
    OUTPUT = "output"
    """The released rows or numbers only: post-processing, blocks freely."""
    CHARGED = "charged"
    """The input, through noise paid from the policy's epsilon."""
    CONFIDENTIAL = "confidential"
    """The input or the sample: advises only, and stays in the private record."""


class Aspect(StrEnum):
    """What a measure tells of a release. The middle three are the criteria of Opinion 05/2014 of the Article 29 Working
    Party (WP216), by which it asks whether data are anonymous."""

    PROMISE = "the promise itself"
    SINGLING_OUT = "singling out"
    LINKABILITY = "linkability"
    INFERENCE = "inference"
    USEFULNESS = "usefulness"
    INGESTION = "ingestion"


class BetterSide(StrEnum):
    """Which values of a measure are better: the other side is what a limit refuses."""

    SMALLER = "smaller"
    LARGER = "larger"
    EITHER = "either"
    """A limit makes sense on both sides, so neither is advised."""


SHARE: Range = (0, 1)
DIFFERENCE: Range = (-1, 1)
"""Of two shares."""
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
    """A number that gates put limits on, with all that is known of it. Facts without a default are facts of every
    measure: one that leaves any out is not made."""

    name: str
    summary: str
    """What the number is, as policies/reference/measures.md has it."""
    sentence: str
    """What a gate on it does, for a policy owner who is no programmer: of the options, and of `of` and `over` where it
    has them, each stands in braces."""
    reads: MeasureClass
    shape: OutputType
    """What it reads of a candidate: a gate on it suits the kinds of release whose candidates have that shape."""
    aspect: Aspect
    better: BetterSide
    accumulates: bool
    """Whether it reads what earlier releases spent, too."""
    range: Range
    """The least and the greatest value of the quantity, whatever the policy (a noisy figure may lie outside). Of an
    excess those of its limit, which is a share."""
    reach: Callable[[Static, GateRule], Range]
    """The range of values under the mechanism; unbounded where there may be no value at all, since then the gate is
    inconclusive."""

    of_static: OfStatic | None = None
    of_candidate: OfCandidate | None = None
    of_noisy: OfNoisy | None = None
    """Of a charged measure: what a noisy number that was published tells, with its ends."""
    steady: bool | None = None
    """Whether the spread of past values tells how far the next one may be. Others may jump farther: the worst of many
    and a share of few move to another one. Only static measures, which have no forecast, leave it out."""
    deviation: Callable[[float, float], float] | None = None
    """The standard deviation that sampling gives a value about this large, at this rate; none where it is unknown."""
    options: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    """The options without which it can't be measured."""
    least_size: int = 1
    """The least value of the option `size`."""
    over: bool = False
    of: bool = False
    excess: bool = False
    """Whether it is measured beyond what the limit allows, which is a share of all: it must be at most 0."""
    several_rows: bool = False
    """Whether it speaks only of persons who may have several rows."""
    register: bool = False
    """Whether it reads the public register that the policy names."""
    asks: AuditQuestion | None = None
    """The question of the recorded audit that it reads."""
    why: Callable[[Static, GateRule], str | None] | None = None
    """Says to people, where nothing could be measured, what is missing."""
    effort: Callable[[int], int] = int
    """What an expectation over so many classes takes, in classes of the quickest one."""

    @property
    def label(self) -> str:
        """The number in words, as the axis of a picture names it."""
        return "rows above the share" if self.excess else self.name.replace("_", " ")

    @property
    def waivable(self) -> bool:
        """Whether a failure may be put up with. Not that of the guarantee and what it comes to, nor that of a recorded
        audit, which would say that the guarantee does not hold; and what only advises withholds nothing."""
        return self.shape is not OutputType.STATIC and self.asks is None and self.reads is not MeasureClass.CONFIDENTIAL

    @property
    def bounds_singling_out(self) -> bool:
        """Whether it is a bound on singling out by the guarantee of all releases."""
        return self.accumulates and self.aspect is Aspect.SINGLING_OUT

    @property
    def counts_as_singling_out(self) -> bool:
        """Whether it measures that people are unique, or nearly so. The smallest class does not: k-anonymity alone
        prevents no singling out (Cohen, Nissim 2020, Section 4)."""
        return self.aspect is Aspect.SINGLING_OUT or self.register

    def __post_init__(self) -> None:
        """A gate whose measure could not be asked would never be judged, so such a measure is not made."""
        static = self.reads is MeasureClass.STATIC
        if (self.of_static is not None, self.of_candidate is not None) != (static, not static):
            wanted = "of_static alone" if static else "of_candidate alone"
            raise TypeError(f"measure {self.name}: a {self.reads} measure is given {wanted}")
        if (self.of_noisy is not None) != (self.reads is MeasureClass.CHARGED):
            raise TypeError(f"measure {self.name}: of_noisy belongs to charged measures, and to all of them")
        if (self.steady is None) != static:
            raise TypeError(f"measure {self.name}: steady belongs to measures of data, and to all of them")
        stated = {*self.options, *(name for name in ("of", "over") if getattr(self, name))}
        if not self.summary or {name for _, name, _, _ in Formatter().parse(self.sentence) if name} != stated:
            names = ", ".join(sorted(stated)) or "nothing"
            raise TypeError(f"measure {self.name}: it has a summary, and a sentence with {names} in braces")


def of_rows(read: Callable[[Histogram, Static, GateRule], Measurement | None]) -> OfCandidate:
    """A measurement of the released rows; of a candidate without rows there is none."""
    return lambda candidate, rule: None if candidate.rows is None else read(candidate.rows, candidate.static, rule)


def of_cells(read: Callable[[tuple[PublishedCells, ...]], Measurement | None]) -> OfCandidate:
    """A measurement of the released numbers; of a candidate without cells there is none."""
    return lambda candidate, _: None if candidate.cells is None else read(candidate.cells)


def unbounded(*_: object) -> Range:
    """The reach of a measure that may have no value at all: its gate is inconclusive then, whatever its limit."""
    return UNBOUNDED
