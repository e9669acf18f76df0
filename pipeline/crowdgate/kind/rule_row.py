"""A rule on a page: its outcome, its figure and its limit, with the places of both on a bar."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from crowdgate.kind.listing import Listing, text_listing

RuleState = Literal["fail", "inconclusive", "near", "pass"]
ORDER: tuple[RuleState, ...] = ("fail", "inconclusive", "near", "pass")
"""The order of rules on a page: those that failed first, then those that nearly failed."""
BLOCKS, ADVISES = "blocks", "advises"
"""The effects of a rule."""
TITLES = ("rule", "outcome", "figure and limit", "decided on", "effect")


@dataclass(frozen=True)
class RuleBar:
    """The places of a figure and of its limit on a bar, as shares of its length, 0 to 1. `least`: the figure must be at
    least the limit."""

    figure: float
    limit: float
    least: bool


@dataclass(frozen=True)
class RuleRow:
    """A rule in words, with its code as the policy states it, its outcome, and its figure with the limit.

    `reads` is what it is decided on, `effect` what a failure does. `notes` are its reason, reference and waiver.
    """

    state: RuleState
    outcome: str
    label: str
    code: str
    figure: str
    reads: str
    effect: str
    bar: RuleBar | None = None
    notes: tuple[str, ...] = ()


def in_order(rows: Iterable[RuleRow]) -> list[RuleRow]:
    """Return rules that failed first, then those that could not be measured, then those that nearly failed; of equal
    ones those that block before those that advise."""
    return sorted(rows, key=lambda row: (ORDER.index(row.state), row.effect != BLOCKS))


def rules_listing(rows: Iterable[RuleRow]) -> Listing:
    """Return rules as a listing for a terminal and for Markdown."""
    texts = ((row.code, row.outcome, "; ".join((row.figure, *row.notes)), row.reads, row.effect) for row in rows)
    return text_listing("Rules", TITLES, texts)
