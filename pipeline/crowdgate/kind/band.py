"""The band at the top of a page, as values: outcome, title, facts, budget and next step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Tone = Literal["good", "bad", "open", "plain"]
"""The colour of an outcome: good, bad, undecided, or no outcome at all."""


@dataclass(frozen=True)
class BudgetShares:
    """Shares of a lifetime budget of one amount, 0 to 1: spent before, spent by this release, and left."""

    amount: str
    """The amount that is shown, e.g. "epsilon"."""
    before: Fraction
    this: Fraction

    @property
    def left(self) -> Fraction:
        """The share that is left; 0 if more is spent than registered."""
        return max(Fraction(0), 1 - self.before - self.this)


@dataclass(frozen=True)
class Band:
    """The head of a page: the outcome in a word and its tone, the title in words, and the facts that its readers need
    first.

    Missing texts are empty. `facts` are pairs of name and text, such as the owner. `cost` and `left` are the privacy
    cost and the budget left, each in a sentence; `next` is the next step.
    """

    outcome: str
    title: str
    tone: Tone = "plain"
    subtitle: str = ""
    facts: Sequence[tuple[str, str]] = ()
    cost: str = ""
    left: str = ""
    shares: BudgetShares | None = None
    next: str = ""
