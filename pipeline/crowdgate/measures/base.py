"""What a measure is, and which data it may read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
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
    USE = "usefulness, and what came in"


OfStatic = Callable[[Static, GateRule], Measurement | None]
OfCandidate = Callable[[Candidate, GateRule], Measurement | None]
OfNoisy = Callable[[Static, GateRule, Fraction], Measurement | None]


@dataclass(frozen=True)
class Measure:
    """A number that gates speak of. `reach` is the range of values it can take under the mechanism; without ends where
    it may be none at all, since then its gate is inconclusive.

    `needs` are the options without which it can't be measured, `least_size` the least value of the option `size`; `why`
    says to people, where nothing could be measured, what is missing.

    A charged measure says with `of_noisy` what a noisy number that was published tells, with its ends. An `excess` is
    measured beyond what the limit allows, which is a share of all: it must be at most 0.

    One that `asks` a question reads the recorded audit of it, and one that asks for the `register` reads the public
    one that the policy names. `effort` is what an expectation over
    so many classes takes, in classes of the quickest one. One that `accumulates` reads what was spent before, too.

    `aspect` is what it tells of a release. `shape` is what it reads of a candidate: a gate on it suits the kinds of
    release whose candidates have that shape.
    """

    name: str
    reads: MeasureClass
    shape: OutputType
    summary: str
    reach: Callable[[Static, GateRule], Range]
    aspect: Aspect
    of_static: OfStatic | None = None
    of_candidate: OfCandidate | None = None
    of_noisy: OfNoisy | None = None
    options: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    least_size: int = 1
    why: Callable[[Static, GateRule], str | None] | None = None
    over: bool = False
    of: bool = False
    excess: bool = False
    register: bool = False
    asks: AuditQuestion | None = None
    effort: Callable[[int], int] = int
    accumulates: bool = False

    @property
    def waivable(self) -> bool:
        """Whether a failure may be put up with. Not that of the guarantee and what it comes to, nor that of a recorded
        audit, which would say that the guarantee does not hold; and what only advises withholds nothing."""
        return self.shape is not OutputType.STATIC and self.asks is None and self.reads is not MeasureClass.CONFIDENTIAL

    def __post_init__(self) -> None:
        """A gate whose measure could not be asked would never be judged, so such a measure is not made."""
        static = self.reads is MeasureClass.STATIC
        if (self.of_static is not None, self.of_candidate is not None) != (static, not static):
            wanted = "of_static alone" if static else "of_candidate alone"
            raise TypeError(f"measure {self.name}: a {self.reads} measure is given {wanted}")
        if (self.of_noisy is not None) != (self.reads is MeasureClass.CHARGED):
            raise TypeError(f"measure {self.name}: of_noisy belongs to charged measures, and to all of them")


def of_rows(read: Callable[[Histogram, Static, GateRule], Measurement | None]) -> OfCandidate:
    """A measurement of the released rows; of a candidate without rows there is none."""
    return lambda candidate, rule: None if candidate.rows is None else read(candidate.rows, candidate.static, rule)


def of_cells(read: Callable[[tuple[PublishedCells, ...]], Measurement | None]) -> OfCandidate:
    """A measurement of the released numbers; of a candidate without cells there is none."""
    return lambda candidate, _: None if candidate.cells is None else read(candidate.cells)
