"""The plain guarantee as manifests of format 2 state it. Its predicate weight is that of the policy's own gates."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from crowdgate.accounting import pso
from crowdgate.measures.guarantees import DEFAULT_WEIGHT, bounded_weight
from crowdgate.number_text import decimal

if TYPE_CHECKING:
    from crowdgate.candidate import Cost
    from crowdgate.policy.policy import GateRule

_MOST = 10**15
"""The greatest number that texts state. Greater numbers are replaced by this number where that is conservative, and
otherwise rounded up to a power of ten."""


def plain_guarantee_of_format_2(people: int, rows: int, spent: Cost, gates: Iterable[GateRule]) -> tuple[str, str]:
    """Return a plain sentence on predicate singling out, rounded conservatively, and a sentence with its basis.

    The bound holds for `people` people with at most `rows` rows each, after the privacy cost `spent` in all. The
    predicate weight is the greatest that a gate on the bound states.
    """
    weight = max((each for each in map(bounded_weight, gates) if each is not None), default=DEFAULT_WEIGHT)
    chances = floor(1 / Fraction(pso.bound(people * rows, weight, *spent)))
    return _plain_sentence(people, rows, chances, weight), _basis_sentence(people * rows, weight, spent)


def _plain_sentence(people: int, rows: int, chances: int, weight: Fraction) -> str:
    who, one = f"at most {people:,} people", "person"
    if rows > 1:
        who, one = f"{who} with at most {rows} rows each", "row"
    by = "this release and all earlier ones of the same people"
    if chances < 2:
        return f"Of {who}, nothing is promised about how likely {by} let somebody point at one."
    fits = "exactly one of them fits" if rows == 1 else "exactly one of their rows fits"
    return (
        f"Of {who}, there is at most 1 chance in {_at_most_text(chances)} that anyone can be pointed at by means of "
        f"{by}: described so that {fits}, in words that fit at most 1 {one} in {_at_least_text(ceil(1 / weight))}."
    )


def _basis_sentence(rows: int, weight: Fraction, spent: Cost) -> str:
    epsilon, delta = map(decimal, spent)
    return (
        f"The chance is at most n (e^epsilon w + delta), with n = {rows:,} rows, words that a person drawn at random "
        f"fits with probability w = {decimal(weight)}, and epsilon {epsilon} and delta {delta} of these releases "
        "together (predicate singling out: Cohen, Nissim 2020). It is a promise if people are independent of each "
        "other, if nobody can predict the secret coins and noise, and if the contract is true."
    )


def _at_most_text(number: int) -> str:
    """Return a number as text, rounded down to two significant digits, at most 10^15."""
    step = 10 ** max(0, len(str(number)) - 2)
    return f"{min(number - number % step, _MOST):,}"


def _at_least_text(number: int) -> str:
    """Return a number as text; above 10^15 the next power of ten."""
    return f"{number:,}" if number <= _MOST else f"10^{len(str(number - 1))}"
