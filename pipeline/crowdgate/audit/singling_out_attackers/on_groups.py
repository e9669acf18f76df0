"""Attackers on groups with descriptions that depend on the data."""

from abc import abstractmethod
from fractions import Fraction

import numpy as np

from crowdgate.arrays import Bools, Floats
from crowdgate.audit.common.population import Population
from crowdgate.audit.common.predicates import GRID, Predicate, TagBits, TagRange
from crowdgate.audit.common.unreleased_parts import DescribedGroups
from crowdgate.audit.singling_out_attackers.base import Answers, Attacker, SinglingOutAttackerView
from crowdgate.audit.singling_out_attackers.one_member import isolation_chance, one_member_predicate


class AnyGroupAttacker(Attacker):
    """Base class of attackers on groups with any description; they abstain if no group is published."""

    def answer(self, sight: SinglingOutAttackerView) -> Answers | None:
        groups = sight.told.groups
        if groups is None:
            return None
        return self.answer_on(groups, sight) if len(groups.sizes) else sight.abstain

    @abstractmethod
    def answer_on(self, groups: DescribedGroups, sight: SinglingOutAttackerView) -> Answers | None:
        """Return the attacker's predicates, one for each weight, given at least one group; None if it reads nothing of
        it."""


class DescribedGroup(AnyGroupAttacker):
    """Attacker that takes a group of k rows, and a hash that selects one of its members: k-anonymity singles out with
    probability (1 - 1/k)^(k - 1)."""

    name = "described group and hash"
    source = "PNAS Theorem 7.1 (arXiv: Theorem 6.1)"

    def answer_on(self, groups: DescribedGroups, sight: SinglingOutAttackerView) -> Answers:
        weight = estimated_weights(groups, sight.population)
        best = [int(np.argmax(isolation_chance(groups.sizes, weight, most))) for most in sight.weights]
        return [
            _group_predicate(groups, at, sight.population, most) for at, most in zip(best, sight.weights, strict=True)
        ]


class EndPoint(AnyGroupAttacker):
    """Attacker that takes the least or greatest value of a group's interval, which was computed from the data: some row
    has it."""

    name = "end point"
    source = "arXiv: section 6.2, interval buckets (not in PNAS)"

    def answer_on(self, groups: DescribedGroups, sight: SinglingOutAttackerView) -> Answers | None:
        if groups.tags is None:
            return [_endpoint_predicate(groups, sight.population, most) for most in sight.weights]
        first = groups.tags[0]
        if not isinstance(first, TagRange):
            return None
        return [
            one_member_predicate(sight.population, 1, most, tags=TagRange(first.low, first.low))
            for most in sight.weights
        ]


class BitPredicate(Attacker):
    """Attacker that takes, in the group of k rows with the most agreeing bits, the members whose other bits make a
    number below 2^bits / k (bits: their number). The paper prints "greater", which isolates one of two only."""

    name = "bit predicate"
    source = "PNAS section 7.B (arXiv: section 6.2), with less for greater"

    def answer(self, sight: SinglingOutAttackerView) -> Answers | None:
        groups = sight.told.groups
        if groups is None or groups.tags is None or not all(isinstance(each, TagBits) for each in groups.tags):
            return None
        patterns = [each for each in groups.tags if isinstance(each, TagBits)]
        if not patterns:
            return sight.abstain
        at = max(range(len(patterns)), key=lambda place: patterns[place].mask.bit_count())
        agreed, limit = patterns[at], (GRID >> patterns[at].mask.bit_count()) // int(groups.sizes[at])
        return [
            Predicate(tags=TagBits(agreed.mask, agreed.value, min(limit, int(most * GRID)))) for most in sight.weights
        ]


class Downcoding(Attacker):
    """Attacker that takes half of the smallest class of a minimal generalisation. Each half has some of the class's
    rows: if one half had all of them, it would have been published as the class."""

    name = "downcoding"
    source = "A. Cohen, Attacks on Deidentification's Defenses, USENIX Security 2022: its first step"

    def answer(self, sight: SinglingOutAttackerView) -> Answers | None:
        groups = sight.told.groups
        if groups is None or groups.tags is None:
            return None
        whole = [each for each in groups.tags if isinstance(each, TagRange)]
        if len(whole) < len(groups.sizes) or not whole:
            return None
        at = min(range(len(whole)), key=lambda place: (groups.sizes[place], whole[place].weight))
        half, members = TagRange(whole[at].low, (whole[at].low + whole[at].high) // 2), int(groups.sizes[at]) // 2
        cells = cells_of(groups, at, sight.population)
        return [one_member_predicate(sight.population, members, most, cells, half) for most in sight.weights]


def estimated_weights(groups: DescribedGroups, population: Population) -> Floats:
    """Return each group's estimated weight: the share of the population that its description fits, as if attributes
    were independent. That suffices for choosing a group."""
    shares = [own[:, 1] - own[:, 0] for own in _shares_below(groups, population)]
    of_tags = np.array([float(each.weight) for each in groups.tags]) if groups.tags is not None else 1.0
    found: Floats = np.prod([np.ones(len(groups.sizes)), *shares], axis=0) * of_tags
    return found


def cells_of(groups: DescribedGroups, at: int, population: Population) -> Bools | None:
    """Return a mask of the population's cells that fit the description of group number `at`; None if it describes no
    attributes."""
    if groups.low.shape[1] == 0:
        return None
    codes = np.column_stack(population.cells.codes)
    found: Bools = np.all((codes >= groups.low[at]) & (codes <= groups.high[at]), axis=1)
    return found


def _group_predicate(groups: DescribedGroups, at: int, population: Population, most: Fraction) -> Predicate:
    tags = None if groups.tags is None else groups.tags[at]
    return one_member_predicate(population, int(groups.sizes[at]), most, cells_of(groups, at, population), tags)


def _shares_below(groups: DescribedGroups, population: Population) -> list[Floats]:
    """Return, for each attribute, an array of groups by two: the share of the population's units below the group's
    interval, and the share up to its end."""
    found = []
    for at in range(groups.low.shape[1]):
        up_to = np.cumsum(_margin(population, at))
        found.append(np.column_stack([np.append(0.0, up_to)[groups.low[:, at]], up_to[groups.high[:, at]]]))
    return found


def _margin(population: Population, at: int) -> Floats:
    codes, size = population.cells.codes[at], population.cells.sizes[at]
    return np.asarray(np.bincount(codes, population.weights, size), dtype=np.float64)


def _endpoint_predicate(groups: DescribedGroups, population: Population, most: Fraction) -> Predicate:
    """Return a predicate for one row with the least or greatest value of one attribute in a group. Group, attribute and
    end are those that most probably isolate a row at a weight of at most `most`."""
    whole, ends = estimated_weights(groups, population), np.stack([groups.low, groups.high])
    margins = [_margin(population, at) for at in range(ends.shape[2])]
    inside = np.column_stack([own[:, 1] - own[:, 0] for own in _shares_below(groups, population)])
    share = np.stack([margins[at][ends[:, :, at]] for at in range(ends.shape[2])], axis=-1) / inside
    others = (groups.sizes[:, None] - 1) * share
    score = np.exp(-others) * np.minimum(1.0, float(most) / (whole[:, None] * share))
    end, at, column = (int(place) for place in np.unravel_index(int(np.argmax(score)), score.shape))
    cells, there = cells_of(groups, at, population), population.cells.codes[column] == ends[end, at, column]
    return one_member_predicate(population, 1, most, there if cells is None else cells & there)
