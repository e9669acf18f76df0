"""Attackers that read synthetic rows and the distances of their certificate, on small tables and on wide ones."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.population import Population
from crowdgate.audit.common.predicates import Predicate
from crowdgate.audit.inference.attacker_view import TargetAttributes
from crowdgate.audit.inference.attacks import ATTACKS as GUESSES
from crowdgate.audit.inference.attacks import InferenceAttackerView as Guessing
from crowdgate.audit.inference.secret import Secret
from crowdgate.audit.membership.attacker_view import MembershipAttackerView, ShadowModel
from crowdgate.audit.membership.attacks import ATTACKS as CLAIMS
from crowdgate.audit.membership.attacks import likelihood_ratio
from crowdgate.audit.membership.shadow_releases import features
from crowdgate.audit.membership.target_population import TargetPopulation
from crowdgate.audit.singling_out_attackers import ATTACKERS
from crowdgate.audit.singling_out_attackers.base import SinglingOutAttackerView
from crowdgate.audit.singling_out_attackers.informed_attackers import InformedAttacker, digest
from crowdgate.histogram import Histogram, View, collapse, split
from crowdgate.kind.mechanism_output import MechanismOutput, NoisyDistance
from crowdgate.kind.randomness import KeyedRandomness
from crowdgate.noise import NoiseSource
from crowdgate.noisy_counts.mechanism_output import NoisyCounts
from crowdgate.sampling import SecretKey
from tests.audit.made import clinic, few_steps, people
from tests.audit.people import levels, rows

RNG = np.random.default_rng
QUIET = NoiseSource(lambda values, *_: values, lambda values, *_: values)


def first(scores: Sequence[int] | np.ndarray, *_: object) -> int:
    return int(np.argmax(scores))


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), min_size=12, max_size=12).filter(any), st.data())
def test_rows_are_counted_where_the_population_has_them(counts: list[int], data: st.DataObject) -> None:
    """Compared with a dictionary of tuples; tuples that nobody has are not counted."""
    population = rows(np.array(counts).reshape(3, 4))
    codes = data.draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=20))
    columns = [np.array([each[at] for each in codes], dtype=np.int32) for at in range(2)]
    made = collapse(("a", "b"), (3, 4), columns, np.ones(len(codes), dtype=np.int64))
    tuples = population.tuples(population.levels)
    box, held = tuples.of_cell, tuples.counts_of(made)
    own = list(zip(*(column.tolist() for column in population.cells.codes), strict=True))
    assert [held[place] for place in box] == [codes.count(each) for each in own]
    assert len(set(box.tolist())) == len(own) == len(held)


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_who_knows_the_others_reads_all_parts_as_bayes_does(seed: int) -> None:
    """One table, two distances. The most probable cell by the sum of log densities of normal noise is in every
    predicate that has room for one cell."""
    rng = RNG(seed)
    population = rows(np.full((2, 3), 10))
    drawn = population.draw(12, rng)
    exact = np.bincount(population.boxes(population.levels)[0], drawn.rows, 6).reshape(2, 3)
    made = rng.integers(1, 4, (2, 3))
    noisy = exact + rng.integers(-2, 3, exact.shape)
    names = ("a", "b")
    far = [int(np.abs(made - exact).sum() + off) for off in rng.integers(-3, 4, 2)]
    told = MechanismOutput(
        (NoisyCounts(population.levels, noisy, 1.0),), levels=population.levels,
        made=Histogram(names, (2, 3), tuple(np.indices((2, 3)).reshape(2, -1).astype(np.int32)), made.ravel()),
        distances=tuple(NoisyDistance(names, each, 2.0) for each in far),
    )  # fmt: skip
    others = np.bincount(population.boxes(population.levels)[0], drawn.others, 6).reshape(2, 3)
    log = np.zeros(6)
    for cell in range(6):
        mine = others.copy().ravel()
        mine[cell] += 1
        log[cell] -= ((noisy.ravel() - mine) ** 2).sum() / 2
        log[cell] -= sum((each - np.abs(made.ravel() - mine).sum()) ** 2 for each in far) / 4
    observed = Observation(seen=told, others=drawn.others)
    sight = SinglingOutAttackerView(observed, PublicKnowledge(population, 12), (Fraction(1, 6),))
    (answer,) = InformedAttacker().answer(sight) or [None]
    assert isinstance(answer, Predicate)
    assert answer.cells is not None
    (best,) = np.flatnonzero(answer.cells) if answer.cells.sum() == 1 else (-1,)
    assert best >= 0
    assert log[best] == pytest.approx(log.max(), abs=1e-9)


def wide(columns: int = 20, values: int = 50) -> tuple[Population, MechanismOutput, np.ndarray]:
    """Return a population with more tuples than can be numbered, and a release with rows, a table and a distance."""
    rng = RNG(4)
    own = levels(*[values] * 8)
    named = {f"{name}{at}": own[name] for at in range(3) for name in own}
    view = View(dict(list(named.items())[:columns]))
    codes = tuple(rng.integers(0, values, 60).astype(np.int32) for _ in view.names)
    cells = Histogram(view.names, view.sizes, codes, np.ones(60, dtype=np.int64))
    population = Population("wide", view, cells, cells.counts)
    made = Histogram(view.names, view.sizes, tuple(rng.permutation(each) for each in codes), cells.counts)
    pair = view.names[:2]
    table = NoisyCounts({name: view.levels[name] for name in pair}, rng.integers(0, 2, (values, values)), 4.0)
    distance = NoisyDistance(pair, 100, 9.0)
    seen = MechanismOutput((table,), levels=view.levels, made=made, distances=(distance,))
    return population, seen, population.draw(20, rng).others


def test_of_many_columns_every_attacker_answers_within_its_weight() -> None:
    population, seen, others = wide()
    known, weights = PublicKnowledge(population, 20), (Fraction(1, 100), Fraction(1, 20))
    reads = []
    for attacker in ATTACKERS:
        found = attacker.answer(SinglingOutAttackerView(Observation(seen=seen, others=others), known, weights))
        if found is not None:
            reads.append(attacker.name)
            assert all(
                each is None or each.weight(population) <= most for each, most in zip(found, weights, strict=True)
            )
    assert {"rows taken for people's", "columns of made rows", "all others known", "two columns"} <= set(reads)
    assert "likeliest classes" not in reads


def with_a_model(sight: MembershipAttackerView) -> MembershipAttackerView:
    """Return the view of an attacker whose model adds up all features of a release."""
    found = features(sight)
    assert found is not None
    ones = np.ones(found.shape[1])
    return replace(sight, shadow=ShadowModel(0 * ones, ones, ones))


def test_of_many_columns_members_and_secrets_are_looked_for() -> None:
    population, seen, _ = wide(columns=20, values=4)
    sight = with_a_model(MembershipAttackerView(seen, TargetPopulation(population, 20)))
    found = {name: attack(sight) for name, _, attack in CLAIMS}
    assert all(each is not None and len(each) == 60 for each in found.values())
    known, secret = population.cells.names[1:], population.cells.names[0]
    target = TargetAttributes(
        {name: population.levels[name] for name in known},
        dict(zip(known, (each.astype(np.int64) for each in population.cells.codes[1:]), strict=True)), 60,
    )  # fmt: skip
    guessing = Guessing(seen, Secret(secret, population.levels[secret]), target, np.full(4, 0.25), RNG(2))
    guessed = {name: attack(guessing) for name, _, attack in GUESSES}
    assert all(guessed[name] is not None for name in ("class homogeneity", "trees on the release", "best row match"))


def test_made_rows_take_nothing_from_who_reads_tables() -> None:
    """Synthetic rows are not rows of people: the absence of a class among them says nothing about membership."""
    population, seen, _ = wide(columns=6)
    crowd = TargetPopulation(population, 20)
    with_rows, without = (
        likelihood_ratio(MembershipAttackerView(each, crowd)) for each in (seen, replace(seen, made=None))
    )
    assert with_rows is not None
    assert without is not None
    assert (with_rows == without).all()


def test_a_release_of_no_rows_is_attacked_all_the_same() -> None:
    population, seen, others = wide(columns=6)
    none = tuple(np.zeros(0, dtype=np.int32) for _ in population.cells.names)
    empty = Histogram(population.cells.names, population.cells.sizes, none, np.zeros(0, dtype=np.int64))
    told = replace(seen, made=empty, distances=())
    known, observed = PublicKnowledge(population, 20), Observation(seen=told, others=others)
    for attacker in ATTACKERS:
        attacker.answer(SinglingOutAttackerView(observed, known, (Fraction(1, 20),)))
    sight = with_a_model(MembershipAttackerView(told, TargetPopulation(population, 20)))
    assert all(attack(sight) is not None for name, _, attack in CLAIMS)
    assert digest(told) != digest(seen)


def test_what_is_attacked_is_what_is_released(tmp_path: Path) -> None:
    """Equal keys give equal rows, tables and distances. Noise and private choices can't be seeded, and are left out."""
    plan = clinic(tmp_path)
    population = people(plan, RNG(5).integers(0, 9, (10, 4, 3)))
    views = split(population.draw(300, RNG(2)).table, population.view, plan.protection.views)
    key = bytes(range(32))
    one, other = (KeyedRandomness(SecretKey(key, injected=True), vectors=QUIET, choose=first) for _ in range(2))
    kind, mechanism = plan.protection.kind, plan.protection.mechanism
    with few_steps():
        made = kind.protect(mechanism, plan.first_release_facts(), views, one)
        seen = kind.mechanism_output(mechanism, views, other)
    drawn = made.drawn
    assert seen.rows is None
    assert seen.released_rows is seen.made is not None
    again = collapse(seen.made.names, seen.made.sizes, drawn.rows, np.ones(drawn.total, dtype=np.int64))
    assert (again.counts == seen.made.counts).all()
    assert all((a == b).all() for a, b in zip(again.codes, seen.made.codes, strict=True))
    assert [each.noisy for each in seen.distances] == drawn.distances.tolist()
    assert len(seen.tables) == len(drawn.measured)
    assert seen.unread == ("which tables were chosen",)
