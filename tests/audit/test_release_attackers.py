"""Attackers on outputs of policies, and the policy's mechanism as a target of attacks."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.policy_mechanism import PolicyMechanism
from crowdgate.audit.common.population import DrawnTable, Population, Rng
from crowdgate.audit.common.population_table import population as read_population
from crowdgate.audit.singling_out.play import SinglingOutGame
from crowdgate.audit.singling_out_attackers import ATTACKERS
from crowdgate.audit.singling_out_attackers.base import Attacker, SinglingOutAttackerView
from crowdgate.audit.singling_out_attackers.best_predicate import BoxPosterior
from crowdgate.audit.singling_out_attackers.informed_attackers import InformedAttacker, digest
from crowdgate.audit.singling_out_attackers.on_noisy_tables import (
    NoisyCells,
    NoisySingletons,
    shrunken_counts,
    singleton_chance,
)
from crowdgate.audit.singling_out_attackers.on_releases import GroupAndHash, OverrepresentedClasses, rows_in
from crowdgate.histogram import Histogram, at_least, split, subsample
from crowdgate.kind.mechanism_output import MechanismOutput
from crowdgate.kind.randomness import KeyedRandomness
from crowdgate.noise import NoiseSource
from crowdgate.noisy_counts.mechanism_output import NoisyCounts
from crowdgate.planning.plan import plan_policy
from crowdgate.sampling import SecretKey
from tests.audit.games import play_trials
from tests.audit.people import levels as levels_of
from tests.audit.people import populations, rows
from tests.examples import examples
from tests.kinds.margins import margins_workshop
from tests.workshop import make_workshop

QUIET = NoiseSource(lambda values, *_: values, lambda values, *_: values)


@settings(max_examples=examples(60), deadline=None)
@given(populations(), st.lists(st.integers(0, 6), min_size=12, max_size=12), st.integers(1, 40))
def test_the_best_prefix_is_the_best_union_for_small_weights(
    population: Population, expected: list[int], per_mille: int
) -> None:
    """While less than one unit is expected to be taken, the probability m w / weight is greatest where the ratio is."""
    box, weight = population.boxes(population.levels)
    beliefs = BoxPosterior(
        box, weight, np.array((expected * 2)[: len(weight)], dtype=np.float64), np.zeros(len(weight))
    )
    w = per_mille / 10_000
    chance, union = beliefs.best_union(w)
    places = [at for at in range(len(weight)) if weight[at] > 0][:8]
    best = 0.0
    for size in range(1, len(places) + 1):
        for chosen in combinations(places, size):
            people, mass = beliefs.sure[list(chosen)].sum(), weight[list(chosen)].sum()
            share = min(1.0, w / mass, 1 / max(people, 1.0))
            best = max(best, people * share * (1 - share) ** max(people - 1, 0.0) if share < 1 else float(people == 1))
    assert union >= 0
    assert chance <= 1
    if w < weight[weight > 0].min() / 20:
        assert chance >= 0.8 * best


@settings(max_examples=examples(40), deadline=None)
@given(populations(), st.integers(0, 2**32), st.integers(2, 30))
def test_every_answer_keeps_its_weight(population: Population, seed: int, n: int) -> None:
    """Predicates of attackers that have tags are never heavier than requested, whatever is published."""
    rng = np.random.default_rng(seed)
    drawn = population.draw(n, rng)
    known, weights = PublicKnowledge(population, n), (Fraction(1, 200 * n), Fraction(1, 3 * n), Fraction(1, n))
    told = replace(Thinned(1).apply(drawn, known, rng), others=drawn.others)
    for attacker in ATTACKERS:
        answers = attacker.answer(SinglingOutAttackerView(told, known, weights))
        if answers is None:
            continue
        for answer, most in zip(answers, weights, strict=True):
            assert answer is None or answer.weight(population) <= most, attacker.name


class Thinned:
    """Publishes half of the rows in classes of at least k, and the exact table of the first attribute."""

    name = "thinned"

    def __init__(self, k: int) -> None:
        self.k = k

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        levels = known.population.levels
        stayed = at_least(subsample(drawn.table, lambda counts: rng.binomial(counts, 0.5)), self.k)
        first = dict(list(levels.items())[:1])
        box, weight = known.population.boxes(first)
        table = NoisyCounts(first, np.bincount(box, drawn.rows, len(weight)).astype(np.int64), 1e-6)
        return Observation(seen=MechanismOutput((table,), stayed, levels, self.k, Fraction(1, 2)))


def rare() -> Population:
    """Return a thousand cells of one person each."""
    return rows(np.ones((50, 20), dtype=np.int64))


def won(attacker: Attacker, k: int, weight: Fraction, trials: int = 300) -> float:
    population = rare()
    game = SinglingOutGame(Thinned(k), (attacker,), PublicKnowledge(population, population.size), (weight,), 3, 0)
    return int(play_trials(game, trials).light[0, 0]) / trials


@pytest.mark.statistical
def test_classes_below_k_are_singled_out_and_larger_ones_are_not() -> None:
    """300 trials at weight 1/n, where a trivial attacker has .368 (standard error .028). Without suppression a class
    with one released row has .61, below .5 in one of 5,000 runs; with k = 40 nothing is released, and .5 is never
    exceeded."""
    n = rare().size
    assert won(OverrepresentedClasses(), 1, Fraction(1, n)) > 0.5
    assert won(OverrepresentedClasses(), 40, Fraction(1, n)) < 0.5
    assert won(GroupAndHash(), 1, Fraction(1, n)) > 0.44


def test_exact_tables_are_read_to_the_last_row() -> None:
    """A cell with one row in an exact table is isolated for certain, in a box as light as the cell."""
    population = rows(np.array([[990, 5], [1, 4]]))
    rng, n = np.random.default_rng(4), 1000
    for _ in range(30):
        drawn = population.draw(n, rng)
        box, _ = population.boxes(population.levels)
        counts = np.bincount(box, drawn.rows, 4).astype(np.int64).reshape(2, 2)
        told = Observation(seen=MechanismOutput((NoisyCounts(population.levels, counts, 1e-9),)))
        sight = SinglingOutAttackerView(told, PublicKnowledge(population, n), (Fraction(1, n),))
        for attacker in (NoisyCells(), NoisySingletons()):
            (answer,) = attacker.answer(sight) or [None]
            assert answer is not None
            if counts[1, 0] == 1:
                assert answer.isolates(drawn, rng), attacker.name


def test_who_knows_all_others_finds_the_last_in_an_exact_table_and_not_in_noise() -> None:
    population = rows(np.array([[30, 20], [40, 10]]))
    rng, n = np.random.default_rng(8), 50
    hits = {1e-9: 0, 1e9: 0}
    for variance in hits:
        for _ in range(60):
            drawn = population.draw(n, rng)
            exact = np.bincount(population.boxes(population.levels)[0], drawn.rows, 4)
            counts = np.rint(exact + rng.normal(0, np.sqrt(variance), 4)).astype(np.int64).reshape(2, 2)
            seen = MechanismOutput((NoisyCounts(population.levels, counts, variance),))
            told = Observation(seen=seen, others=drawn.others)
            sight = SinglingOutAttackerView(told, PublicKnowledge(population, n), (Fraction(1, 2),))
            (answer,) = InformedAttacker().answer(sight) or [None]
            assert answer is not None
            hits[variance] += answer.isolates(drawn, rng)
    # the target's cell is known, and no cell has a weight above a half
    assert hits[1e-9] == 60
    assert hits[1e9] < 45


def test_estimates_of_noisy_counts() -> None:
    """Without noise the estimate is the count; with much noise it is the count that D expects."""
    levels = levels_of(50, 20)
    table = NoisyCounts(levels, np.full((50, 20), 7), 1e-9)
    weight = np.full(1000, 1 / 1000)
    assert shrunken_counts(table, weight, 3000) == pytest.approx(7, rel=1e-6)
    assert shrunken_counts(replace(table, variance=1e12), weight, 3000) == pytest.approx(3, rel=1e-3)
    one = replace(table, counts=np.ones((50, 20), dtype=np.int64))
    assert singleton_chance(one, weight, 3000) == pytest.approx(1)
    # without knowledge of the count: Poisson(3) at 1
    assert singleton_chance(replace(one, variance=1e12), weight, 3000) == pytest.approx(3 * np.exp(-3), rel=1e-3)


def test_a_digest_tells_releases_apart() -> None:
    population = rare()
    drawn = [population.draw(100, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    digests = [digest(MechanismOutput((), each.table, population.levels)) for each in drawn]
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("margins", [False, True])
def test_what_is_attacked_is_what_is_released(tmp_path: Path, margins: bool) -> None:
    """Equal keys give equal rows, by the functions of a release. Noise can't be seeded, and is left out."""
    workshop = (margins_workshop if margins else make_workshop)(tmp_path)
    plan = plan_policy(workshop.policy)
    population = read_population(plan, plan.bundle.contract)
    drawn = population.draw(600, np.random.default_rng(2))
    views = split(drawn.table, population.view, plan.protection.views)
    first, second = (KeyedRandomness(SecretKey(bytes(range(32)), injected=True), vectors=QUIET) for _ in range(2))
    kind, mechanism = plan.protection.kind, plan.protection.mechanism
    made = kind.protect(mechanism, plan.first_release_facts(), views, first)
    seen = kind.mechanism_output(mechanism, views, second)
    assert made.rows is not None
    assert seen.rows is not None
    assert len(seen.rows) > 0
    assert all((one == other).all() for one, other in zip(made.rows.codes, seen.rows.codes, strict=True))
    assert (made.rows.counts == seen.rows.counts).all()
    assert len(seen.tables) == (4 if margins else 0)
    told = PolicyMechanism(plan.protection).apply(drawn, PublicKnowledge(population, 600), np.random.default_rng(2))
    assert told.seen is not None


def test_a_population_of_persons_has_their_rows(tmp_path: Path) -> None:
    workshop = make_workshop(tmp_path)
    workshop.edit(workshop.contract, "value: row}", "value: {person: patient, rows: 2}}")
    workshop.edit(workshop.budget, "unit: row", "unit: person:patient")
    rows_of = [("a", 10, "north"), ("a", 70, "north"), ("b", 10, "north"), ("b", 71, "north"), ("c", 10, "east")]
    workshop.write({"patient": who, "age": age, "ward": ward, "note": ""} for who, age, ward in rows_of)
    plan = plan_policy(workshop.policy)
    found = read_population(plan, plan.bundle.contract)
    assert found.size == 3
    assert sorted(found.members.tolist()) == [1, 2]
    assert found.rows is not None
    assert found.cells.counts.sum() == 5
    assert sorted(found.rows.sum(axis=1).tolist()) == [1, 2]


def test_a_class_has_the_rows_that_were_released_and_those_that_coins_left_out() -> None:
    """A quarter of 100 rows is in each of two released classes, at beta .2: 5 and 9 are known, and .8 of 25 possible.
    In classes below 4, which are not released, the rows outside the sample and 3 more are possible, or as many as D
    expects."""
    population = rows(np.array([[25, 3], [47, 25]]))
    codes = tuple(np.array(each, dtype=np.int32) for each in ([0, 1], [0, 1]))
    released = Histogram(population.view.names, population.view.sizes, codes, np.array([5, 9]))
    seen = MechanismOutput((), released, population.levels, 4, Fraction(1, 5))
    sure, others = rows_in(seen, released, np.array([0.25, 0.03, 0.47, 0.25]), 100)
    assert sure.tolist() == [5, 0, 0, 9]
    assert others.tolist() == pytest.approx([20, 3, 0.8 * 47 + 3, 20])
