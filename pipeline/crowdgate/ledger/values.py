"""The values of a ledger: amounts, budgets, entries, and the texts that may be stored.

Amounts are exact text "p/q", never binary floats.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from crowdgate.accounting.lifetime import Lifetime
from crowdgate.limits import MOST_PEOPLE

RELATIONS = ("add-remove",)
MOST_DIGITS = 300
_AMOUNT = re.compile(rf"[0-9]{{1,{MOST_DIGITS}}}/[0-9]{{1,{MOST_DIGITS}}}")


class State(StrEnum):
    """The state of a release. A crash leaves RESERVED; every state except VOID is charged, WITHDRAWN too."""

    RESERVED = "reserved"
    COMMITTED = "committed"
    PUBLISHED = "published"
    WITHHELD = "withheld"
    WITHDRAWN = "withdrawn"
    VOID = "void"


@dataclass(frozen=True)
class Spend:
    """An exact privacy cost: epsilon >= 0 and delta >= 0, added up by basic composition."""

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        for name, value in (("epsilon", self.epsilon), ("delta", self.delta)):
            if not isinstance(value, Fraction) or value < 0:
                raise ValueError(f"{name} must be a Fraction of at least 0")

    def __add__(self, other: "Spend") -> "Spend":
        return Spend(self.epsilon + other.epsilon, self.delta + other.delta)

    def __sub__(self, other: "Spend") -> "Spend":
        return Spend(self.epsilon - other.epsilon, self.delta - other.delta)

    def __str__(self) -> str:
        return f"epsilon {_amount_text(self.epsilon)} and delta {_amount_text(self.delta)}"

    def within(self, other: "Spend") -> bool:
        """Return whether epsilon and delta are each at most those of `other`."""
        return self.epsilon <= other.epsilon and self.delta <= other.delta

    def least(self, other: "Spend") -> "Spend":
        """Return the smaller epsilon and the smaller delta of this privacy cost and `other`."""
        return Spend(min(self.epsilon, other.epsilon), min(self.delta, other.delta))

    def left_of(self, cap: "Spend") -> "Spend":
        """Return what is left of the budget `cap` after this privacy cost: the differences in epsilon and in delta,
        never below 0.
        """
        return Spend(max(Fraction(0), cap.epsilon - self.epsilon), max(Fraction(0), cap.delta - self.delta))


ZERO = Spend(Fraction(0), Fraction(0))


@dataclass(frozen=True)
class Budget:
    """The lifetime budget of a population.

    `people` is a public bound on all people who are ever in its inputs. `unit` is "row" or "person:NAME", where NAME is
    the person column; `relation` is the neighbouring relation. With a `lifetime` the cap is kept by sums of Renyi
    divergences, otherwise by sums of epsilon and delta.
    """

    population: str
    cap: Spend
    people: int
    unit: str
    relation: str
    lifetime: Lifetime | None = None

    @property
    def accounting(self) -> str:
        """The way in which releases are added up: `additive` or `renyi`."""
        return "additive" if self.lifetime is None else "renyi"

    def __post_init__(self) -> None:
        label("population", self.population)
        label("unit", self.unit)
        bound(self.people)
        if self.unit != "row" and not (self.unit.startswith("person:") and len(self.unit) > len("person:")):
            raise ValueError("unit must be 'row' or 'person:NAME'")
        if self.relation not in RELATIONS:
            raise ValueError(f"relation must be one of {', '.join(RELATIONS)}")


@dataclass(frozen=True)
class Entry:
    """One charge of a release in the ledger.

    `reading`: data may have been read, so the charge can't become void any more. `sample` names the inherited sample
    that the release used up, if any. `number` identifies this charge among all, also among those of the same release. A
    charge whose reading has not begun is a lease of the run `holder` from the time `since` on (UTC, ISO 8601).
    """

    release_id: str
    policy_digest: str
    population: str
    spend: Spend
    state: State
    manifest_digest: str | None
    destination: str | None
    private_commitment: str | None
    reading: bool = False
    sample: str | None = None
    number: int = 0
    holder: str | None = None
    since: str | None = None

    @property
    def lease(self) -> bool:
        """True if the release is charged and its run has not begun to read data."""
        return self.state is State.RESERVED and not self.reading


def label(name: str, text: str, most: int = 300) -> str:
    """Return `text` if it is one printable line without leading or trailing blanks, of at most `most` characters.
    Raises ValueError that calls it `name`.
    """
    if not isinstance(text, str) or not 1 <= len(text) <= most or not text.isprintable() or text != text.strip():
        raise ValueError(f"{name} must be 1 to {most} printable characters without blank ends")
    return text


def bound(people: int) -> int:
    """Return `people` if it can be a bound on the number of people in a population. Raises ValueError."""
    if isinstance(people, bool) or not isinstance(people, int) or not 1 <= people <= MOST_PEOPLE:
        raise ValueError(f"people must be a whole number from 1 to {MOST_PEOPLE}")
    return people


def optional(name: str, text: str | None) -> str | None:
    """Return None if `text` is None, otherwise the result of `label`."""
    return None if text is None else label(name, text)


def place(text: str | None) -> str | None:
    """Return the path of a destination as its file system spells it; None for None. Raises ValueError for text that no
    database can store.
    """
    if text is None:
        return None
    whole = text.encode(errors="replace").decode() == text and "\0" not in text
    if not whole or not 1 <= len(text) <= 4096:
        raise ValueError("destination must be a path of 1 to 4096 characters of Unicode text")
    return text


def amounts(spend: Spend) -> dict[str, str]:
    """Return the database columns that hold the epsilon and delta of `spend`, as exact text "p/q". Raises ValueError
    for more than 300 digits.
    """
    values = {"epsilon": spend.epsilon, "delta": spend.delta}
    for name, value in values.items():
        if max(value.numerator, value.denominator) >= 10**MOST_DIGITS:
            raise ValueError(f"{name} must have at most {MOST_DIGITS} digits above and below the fraction line")
    return {name: f"{value.numerator}/{value.denominator}" for name, value in values.items()}


def amount(text: str) -> Fraction:
    """Return the fraction of a text "p/q". Raises ValueError for any other text, ZeroDivisionError for a denominator of
    0.
    """
    if not _AMOUNT.fullmatch(text):
        raise ValueError(f"an amount must be p/q, of at most {MOST_DIGITS} digits each")
    return Fraction(text)


def budget_row(budget: Budget) -> dict[str, Any]:
    """Return the row of `populations` that registers `budget`."""
    rest = {"people": budget.people, "unit": budget.unit, "relation": budget.relation}
    return {"population": budget.population, **amounts(budget.cap), **rest}


def _amount_text(value: Fraction) -> str:
    """Return an amount of epsilon or delta as text: a decimal if that is exact, p/q if that is short, otherwise 17
    digits and the word "about".
    """
    decimal = f"{float(value):.15g}"
    if Fraction(decimal) == value:
        return decimal
    short = max(value.numerator, value.denominator) < 10**24
    return f"{value.numerator}/{value.denominator}" if short else f"about {float(value):.17g}"
