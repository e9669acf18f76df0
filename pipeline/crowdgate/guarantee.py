"""The guarantee of a release: epsilon, delta, the neighbouring relation and the privacy unit, always together.

A mechanism M is (epsilon, delta)-differentially private if P(M(D) in S) <= e^epsilon P(M(D') in S) + delta for each set
S of releases and any two neighbouring tables: D' has one unit more or less than D (add-remove), or one unit's rows
replaced by other ones (replace-one). Numbers for one relation or unit say nothing about another: they never add.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Literal, get_args

from crowdgate.accounting.numbers import Number, down, epsilon_of, exact, probability, raised, up, whole
from crowdgate.accounting.person import per_row
from crowdgate.number_text import decimal

Relation = Literal["add-remove", "replace-one"]
Unit = Literal["row", "person"]


@dataclass(frozen=True)
class Part:
    """The privacy cost of one step of a release: choice of levels, charged gates, mechanism."""

    name: str
    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("name must say which step this part pays for")
        _check_numbers(self.epsilon, self.delta)


Point = tuple[Fraction, Fraction]
"""Epsilon and delta."""


@dataclass(frozen=True)
class JointCost:
    """The joint cost of a release whose parts were planned together: points (epsilon, delta) of its curve, the name of
    each part's law, and a function that returns points for a unit replaced by another, which not every command needs.
    """

    curve: tuple[Point, ...]
    laws: tuple[tuple[str, str], ...] = ()
    of_replaced: Callable[[], tuple[Point, ...]] = field(kw_only=True, compare=False, repr=False)

    def __post_init__(self) -> None:
        for point in self.curve:
            _check_numbers(*point)

    @classmethod
    def stated(
        cls, curve: tuple[Point, ...], laws: tuple[tuple[str, str], ...], replaced: tuple[Point, ...]
    ) -> "JointCost":
        """Return a joint cost with known points for a replaced unit. Raises ValueError for numbers that are none."""
        for point in replaced:
            _check_numbers(*point)
        return cls(curve, laws, of_replaced=lambda: replaced)

    @property
    def replaced(self) -> Point:
        """A point for a unit replaced by another."""
        return self._replacements[0]

    @property
    def replacements(self) -> tuple[Point, ...]:
        """Further points for a unit replaced by another."""
        return self._replacements[1:]

    @cached_property
    def _replacements(self) -> tuple[Point, ...]:
        return self.of_replaced()


@dataclass(frozen=True)
class Guarantee:
    """(epsilon, delta)-differential privacy of one release or several, and the parts of which it is the exact sum.

    With `joint` the parts are shares of epsilon and delta, and together they keep each point of its curve.

    Raises ValueError if the parts do not add up to epsilon and delta. delta can exceed 1: the guarantee is then empty.
    """

    epsilon: Fraction
    delta: Fraction
    relation: Relation
    unit: Unit
    parts: tuple[Part, ...]
    joint: JointCost | None = None

    def __post_init__(self) -> None:
        _check_numbers(self.epsilon, self.delta)
        _check_word("relation", self.relation, get_args(Relation))
        _check_word("unit", self.unit, get_args(Unit))
        if (self.epsilon, self.delta) != _total(self.parts):
            raise ValueError("parts must add up to epsilon and delta exactly")

    @classmethod
    def of(
        cls,
        parts: tuple[Part, ...],
        relation: Relation = "add-remove",
        unit: Unit = "row",
        joint: JointCost | None = None,
    ) -> "Guarantee":
        """Return the guarantee of these parts together."""
        return cls(*_total(parts), relation, unit, parts, joint)

    @property
    def points(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """Points (epsilon, delta) that the release keeps: those of the joint curve, or the total alone."""
        return ((self.epsilon, self.delta), *(() if self.joint is None else self.joint.curve))

    def replace_one_form(self, beta: Number | None, sampled: str = "mechanism", rows: int = 1) -> "Guarantee":
        """Return the guarantee for tables in which one unit is replaced by another.

        A part with the name `sampled`, or the only part, is a release by sampling at rate `beta` (`replace_one`). Any
        other part counts twice, as a removal and an addition, and so does each part if `beta` is None. A unit of
        several `rows`, sampled independently, is replaced row by row. Raises ValueError if the sampled part is
        ambiguous.
        """
        if self.relation != "add-remove":
            raise ValueError("relation must be 'add-remove' to be turned into 'replace-one'")
        if self.joint is not None:
            return Guarantee.of((Part("release", *self.joint.replaced),), "replace-one", self.unit)
        names = [part.name for part in self.parts]
        if beta is not None and sampled not in names and len(names) != 1:
            raise ValueError(f"sampled must be the name of a part, one of {', '.join(names)}, not {sampled!r}")
        parts = (_replaced(p, beta if p.name == sampled or len(names) == 1 else None, rows) for p in self.parts)
        return Guarantee.of(tuple(parts), "replace-one", self.unit)

    @property
    def factor(self) -> Fraction | None:
        """The factor e^epsilon by which a probability can change, rounded up; None above epsilon 300."""
        return None if self.epsilon > 300 else Fraction(raised(math.exp(up(self.epsilon))))

    def words(self) -> str:
        """Return one or two plain sentences with the numbers; numbers that are no short decimals are rounded up."""
        if self.delta >= 1:
            return f"No guarantee: delta is {decimal(self.delta)}, and a probability is at most 1 anyway."
        what = f"any one {self.unit}" if self.unit == "row" else "all rows of any one person"
        how = f"Adding or removing {what}" if self.relation == "add-remove" else f"Replacing {what} by other data"
        factor = "" if self.factor is None else f" = {decimal(self.factor, 3)}"
        but = f", but for {decimal(self.delta)} of probability" if self.delta else ""
        limit = f"by a factor of at most e^{decimal(self.epsilon)}{factor}{but}"
        return f"{how} changes the probability of any set of possible releases {limit}.{self._parts_in_words()}"

    def _parts_in_words(self) -> str:
        if len(self.parts) < 2:
            return ""
        if self.joint is not None:
            shares = "; ".join(f"{part.name} {decimal(part.epsilon)}" for part in self.parts)
            return (
                f" Epsilon {decimal(self.epsilon)} and delta {decimal(self.delta)} hold jointly for shares: {shares}."
            )
        spent = (f"{p.name} {decimal(p.epsilon)}" + (f" and {decimal(p.delta)}" if p.delta else "") for p in self.parts)
        return f" Epsilon {decimal(self.epsilon)} and delta {decimal(self.delta)} are the sum of: {'; '.join(spent)}."


def replace_one(epsilon: Number, delta: Number, beta: Number) -> tuple[float, float]:
    """Return (epsilon - ln(1 - beta), delta), rounded up: an add-or-remove guarantee on a sample, for replacing one
    row.

    M is computed on a Bernoulli sample at rate beta and (epsilon, delta)-private for removing a row. D has row i where
    D' has row j; C is their common part. For each set S of releases

    1. P(M(D) in S) <= e^epsilon P(M(C) in S) + delta: i is removed;
    2. P(M(D') in S) >= (1 - beta) P(M(C) in S): with that probability j is not sampled, independently of the other
       rows, and then M reads a sample of C.

    So P(M(D) in S) <= e^epsilon / (1 - beta) P(M(D') in S) + delta: the cost of a replacement is that of a removal and
    one sampling decision, less than the (2 epsilon, (1 + e^epsilon) delta) of any mechanism. This holds for epsilon
    above and below -ln(1 - beta); beta in [0, 1). Enumerated in tests/test_guarantee.py, for any mechanism on three
    rows, and for two classes of `safe_k`.
    """
    step = _replacement(probability("beta", beta, open_high=True))
    return raised(up(epsilon_of(epsilon)) + step), up(probability("delta", delta))


def replace_one_guarantee(guarantee: Guarantee, beta: Number, rows: int = 1) -> Guarantee:
    """Return the replace-one form of an add-remove guarantee, for users who know the number of units: the smaller
    epsilon of two. The mechanism is computed on a Bernoulli sample at rate `beta` (1: on the table), of units of at
    most `rows` rows, sampled independently.

    For any output computed on the sample, P(M(D - i) in S) <= P(M(D) in S) / (1 - beta)^rows, since with that
    probability no row of i is sampled. So the part "mechanism", or a single part, costs (epsilon - rows ln(1 - beta),
    delta), as in `replace_one`; any other counts twice, and so does each part if that is less.
    """
    twice = guarantee.replace_one_form(None)
    if guarantee.joint is not None:
        return twice
    names = [part.name for part in guarantee.parts]
    if probability("beta", beta) == 1 or ("mechanism" not in names and len(names) != 1):
        return twice
    sampled = guarantee.replace_one_form(beta)
    step = Fraction(_replacement(probability("beta", beta)))
    more = Part("rows", (whole("rows", rows, 1) - 1) * step, Fraction(0))
    return min(
        Guarantee.of((*sampled.parts, more), sampled.relation, sampled.unit), twice, key=lambda form: form.epsilon
    )


def group(epsilon: Number, delta: Number, m: Number) -> tuple[float, float]:
    """Return (m epsilon, delta (e^(m epsilon) - 1) / (e^epsilon - 1)), rounded up, delta at most 1: for `m` rows at
    once.

    For independently sampled rows; m rows of one person with a common sampling decision are not protected by it.
    """
    eps, rows = epsilon_of(epsilon), whole("m", m, 1)
    spent, together = probability("delta", delta), up(rows * eps)
    if rows == 1 or spent == 0:
        return together, up(spent)
    if together > 700:
        return together, 1.0
    factor = math.expm1(together) / math.expm1(down(eps)) if down(eps) > 0 else float(rows)
    return together, min(1.0, raised(up(spent) * factor))


def _replaced(part: Part, beta: Number | None, rows: int) -> Part:
    if beta is not None:
        step = Fraction(_replacement(probability("beta", beta, open_high=True)))
        if rows == 1:
            return Part(part.name, part.epsilon + step, part.delta)
        epsilon, delta = per_row(part.epsilon, part.delta, rows)
        return Part(part.name, part.epsilon + rows * step, Fraction(group(epsilon + step, delta, rows)[1]))
    twice = raised(1 + math.exp(min(700.0, up(part.epsilon))))
    return Part(part.name, 2 * part.epsilon, min(Fraction(1), part.delta * Fraction(twice)))


def _replacement(beta: Fraction) -> float:
    b = up(beta)
    if b >= 1:
        raise ValueError("beta must be a number in [0, 1), not one that rounds to 1")
    return raised(-math.log1p(-b)) if b > 0 else 0.0


def _total(parts: tuple[Part, ...]) -> tuple[Fraction, Fraction]:
    return sum((p.epsilon for p in parts), Fraction(0)), sum((p.delta for p in parts), Fraction(0))


def _check_numbers(epsilon: object, delta: object) -> None:
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if not isinstance(value, Fraction):
            raise ValueError(f"{name} must be a Fraction of at least 0, not {type(value).__name__}")
        exact(name, value, 0, 10**6)


def _check_word(name: str, word: object, words: tuple[str, ...]) -> None:
    if word not in words:
        raise ValueError(f"{name} must be one of {', '.join(words)}, not {word!r}")
