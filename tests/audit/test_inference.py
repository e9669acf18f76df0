"""Attribute inference on small tables, compared with counting people one by one."""

import subprocess
import sys
from ast import literal_eval
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.audit.common.observation import Mechanism, Observation
from crowdgate.audit.common.observation import PublicKnowledge as Public
from crowdgate.audit.common.population import DrawnTable, Rng
from crowdgate.audit.inference import models, play
from crowdgate.audit.inference.attacker_view import RowsByLabel, TargetAttributes, counts_at_level
from crowdgate.audit.inference.attacks import (
    ATTACKS,
    BLIND,
    InferenceAttackerView,
    _shrunken_shares,
    class_homogeneity,
    joint_model,
    most_frequent_label,
)
from crowdgate.audit.inference.baselines import BASELINES, BaselineGuesses, baselines
from crowdgate.audit.inference.controls import GROUP, MONDRIAN, controls, with_control_columns, with_random_secret
from crowdgate.audit.inference.findings import InferenceEstimate, control_result, estimates
from crowdgate.audit.inference.models import KnownAttributes, smoothed
from crowdgate.audit.inference.play import InferenceGame, InferenceTally, best_attacks
from crowdgate.audit.inference.secret import Secret, best_guesses
from crowdgate.audit.inference.secret_case import (
    COVERAGES,
    GROUPS,
    RankedTuples,
    SecretCase,
    coverage_curve,
    secret_case,
)
from crowdgate.audit.inference.source_table import PARTS, SourceTable, source_table
from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram, project
from crowdgate.kind.mechanism_output import MechanismOutput
from crowdgate.noisy_counts.mechanism_output import NoisyCounts
from tests.audit.people import rows
from tests.audit.playing import Everything
from tests.examples import examples

RNG = np.random.default_rng
QUICK = BASELINES[:3]
"""The baselines that do not use scikit-learn."""


def secret_of(table: SourceTable) -> Secret:
    return table.secrets[0]


def made(counts: np.ndarray, seed: int = 0) -> tuple[SourceTable, SecretCase]:
    """Return a table whose last attribute is secret, the others known, and its case."""
    population = rows(counts)
    *known, last = population.levels
    table = source_table(population, population.size, known, [Secret(last, population.levels[last])], RNG(seed), PARTS)
    return table, secret_case(table, secret_of(table), dict.fromkeys(population.levels), RNG(seed + 1), QUICK)


tables = st.lists(st.integers(0, 12), min_size=12, max_size=12).filter(lambda found: sum(found) >= 20)


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.2, 0.5, 0.9]), st.integers(0, 6)), min_size=1, max_size=8),
    st.floats(0, 20),
)
def test_guesses_are_made_for_the_surest(lines: list[tuple[float, int]], most: float) -> None:
    """The requested number of guesses is made, in descending order of confidence, equal for equal confidence, and none
    at confidence 0."""
    confidence, targets = (np.array(column, dtype=float) for column in zip(*lines, strict=True))
    taken = RankedTuples.of(confidence).guessed_shares(targets, most)
    assert (taken * targets).sum() == pytest.approx(min(most, targets[confidence > 0].sum()))
    for level in set(confidence):
        own, surer = confidence == level, confidence > level
        assert len(set(taken[own & (targets > 0)])) <= 1
        if (taken[own] * targets[own]).sum() > 1e-9:
            assert taken[surer & (targets > 0)] == pytest.approx(1)
    assert (taken[confidence == 0] == 0).all()


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=20, unique=True).map(sorted),
    st.lists(st.integers(0, 5), min_size=20, max_size=20),
    st.sampled_from([Fraction(1, 20), Fraction(1, 5), Fraction(0)]),
)
def test_a_number_is_right_within_the_relative_error(numbers: list[int], held: list[int], error: Fraction) -> None:
    level = Level("exact", tuple(map(str, numbers)), np.arange(len(numbers), dtype=np.int32))
    secret = Secret("a", level, np.array(numbers, dtype=float), error)
    weights = np.array(held[: len(numbers)], dtype=float)
    for guess, value in enumerate(numbers):
        near = [abs(value - truth) <= error * abs(truth) for truth in numbers]
        assert secret.right(np.full(len(numbers), guess), np.arange(len(numbers))).tolist() == near
        assert secret.hits(weights)[guess] == weights[near].sum()


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=20, unique=True).map(sorted), st.data())
def test_of_one_number_that_number_is_guessed(numbers: list[int], data: st.DataObject) -> None:
    """The guess of a regression is not replaced by the least number near it."""
    level = Level("exact", tuple(map(str, numbers)), np.arange(len(numbers), dtype=np.int32))
    said = data.draw(st.integers(0, len(numbers) - 1))
    secret = Secret("a", level, np.array(numbers, dtype=float), Fraction(1, 5))
    assert best_guesses(secret, np.eye(len(numbers))[[said]]).label.tolist() == [said]


@dataclass(frozen=True)
class Person:
    """A person of the table: known tuple, secret and block."""

    tuple: int
    truth: int
    block: int


@settings(max_examples=examples(15), deadline=None)
@given(tables, st.integers(0, 1000))
def test_shares_are_those_of_people_counted_one_by_one(held: list[int], seed: int) -> None:
    """Recount everybody in the estimating blocks in the order of the attack's confidence; and the unique ones
    separately."""
    table, case = made(np.array(held).reshape(3, 2, 2), seed)
    view, secret = case.view(table.finest(table.known)), case.secret
    guesses = best_guesses(secret, RNG(seed).random((len(view.tuples), 2)) * [1, 0.5])
    everybody = [
        Person(int(view.tuples.of_cell[cell]), int(case.codes[cell]), block)
        for (cell, block), many in np.ndenumerate(table.rows)
        for _ in range(many)
    ]
    same = Counter(each.tuple for each in everybody)
    found = view.shares(guesses, table.estimate)
    for group in range(len(GROUPS)):
        people = [each for each in everybody if group == 0 or same[each.tuple] == 1]
        judged = [each for each in people if each.block >= table.estimate.start]
        assert case.targets(group) == len(judged)
        for at, coverage in enumerate(COVERAGES):
            if not judged:
                assert (found[group, at] == 0).all()
                continue
            sure = np.array([guesses.confidence[each.tuple] for each in judged])
            taken = RankedTuples.of(sure).guessed_shares(np.ones(len(judged)), coverage * len(judged))
            hit = np.array([guesses.label[each.tuple] == each.truth for each in judged])
            best = case.held[case.chosen(group)]
            base = np.array([best.labels[each.tuple, each.block] == each.truth for each in judged])
            expected = [taken.sum(), (taken * hit).sum(), (taken * base).sum()]
            assert found[group, at, :3] * len(judged) == pytest.approx(expected, abs=1e-6)
            share = taken.sum() / len(judged)
            chosen = case.held[case.chosen(group, share)]
            wide = min(1.0, max(share, 20 / max(1, sum(each.block < table.estimate.start for each in people))))
            tried = [surest_right(each, people, wide, blocks=table.choose) for each in case.held]
            assert surest_right(chosen, people, wide, blocks=table.choose) == pytest.approx(max(tried))
            assert found[group, at, 3] == pytest.approx(
                surest_right(chosen, people, share, blocks=table.estimate), abs=1e-6
            )


def surest_right(baseline: BaselineGuesses, people: Sequence[Person], share: float, blocks: slice) -> float:
    """Return the share of the people of some blocks for whom a baseline is right, if it guesses for `share` of them."""
    own = [each for each in people if blocks.start <= each.block < blocks.stop]
    if not own:
        return 0.0
    sure = np.array([baseline.confidence[each.tuple, each.block] for each in own])
    right = np.array([baseline.labels[each.tuple, each.block] == each.truth for each in own])
    return float((RankedTuples.of(sure).guessed_shares(np.ones(len(own)), share * len(own)) * right).sum() / len(own))


@pytest.mark.thorough
@settings(max_examples=examples(5), deadline=None)
@given(tables, st.integers(0, 1000))
def test_no_baseline_sees_the_people_whom_it_is_asked_about(held: list[int], seed: int) -> None:
    """Guesses for a block do not change with the secrets of the block."""
    table, case = made(np.array(held).reshape(3, 2, 2), seed)
    swapped = table.units.copy()
    cells = table.population.cells
    place = {tuple(int(column[at]) for column in cells.codes): at for at in range(len(cells))}
    for key, at in place.items():
        other = place.get((*key[:-1], 1 - key[-1]))
        if other is not None:
            swapped[at, 1] = table.units[other, 1]
    other_table = SourceTable(table.population, table.public, swapped, table.known, table.secrets)
    known = KnownAttributes(case.tuples.codes, (None,) * len(case.tuples.codes))
    first = baselines(table, case.secret, known, case.tuples.of_cell, RNG(seed + 1))
    again = baselines(other_table, case.secret, known, case.tuples.of_cell, RNG(seed + 1))
    for before, after in zip(first, again, strict=True):
        wanted = np.bincount(case.tuples.of_cell, np.minimum(table.units[:, 1], swapped[:, 1])) > 0
        assert (before.labels[wanted, 1] == after.labels[wanted, 1]).all(), before.name


@pytest.mark.thorough
def test_each_model_finds_what_can_be_found() -> None:
    """The secret of nine in ten of 4,000 people is the second of three attributes."""
    rng = RNG(3)
    codes = tuple(rng.integers(0, size, 4000) for size in (4, 2, 3))
    truth = np.where(rng.random(4000) < 0.9, codes[1], 1 - codes[1])
    weights = np.eye(2)[truth]
    asked = np.arange(4000)
    for name, _, model in BASELINES[1:]:
        found = model(
            models.FitTask(KnownAttributes(codes, (None,) * 3), weights, asked, models.SecretLabels(2, None), RNG(1))
        )
        assert (found.argmax(axis=1) == codes[1]).mean() > 0.85, name
        assert found.sum(axis=1) == pytest.approx(1), name


ONE_THREAD = """
from crowdgate.audit.inference import models
with models.without_convergence_warnings():
    pass
import threadpoolctl
from sklearn import ensemble
with models.without_convergence_warnings():
    print({(each["user_api"], each["num_threads"]) for each in threadpoolctl.threadpool_info()})
"""


@pytest.mark.thorough
def test_fits_use_one_thread_of_each_library() -> None:
    """Libraries are looked for once, in a process of its own before the trees' module is loaded."""
    ended = subprocess.run([sys.executable, "-c", ONE_THREAD], capture_output=True, text=True, check=True)
    assert literal_eval(ended.stdout) == {("blas", 1), ("openmp", 1)}


def test_numbers_are_regressed() -> None:
    """The secret is three times the known number, within 5 %."""
    known = np.repeat(np.arange(1, 21), 20)
    numbers = np.arange(1, 61).astype(float)
    weights = np.zeros((len(known), 60))
    weights[np.arange(len(known)), 3 * known - 1] = 1
    fit = models.FitTask(
        KnownAttributes((known,), (np.arange(21).astype(float),)),
        weights,
        np.arange(len(known)),
        models.SecretLabels(60, numbers),
        RNG(0),
    )
    for model in (models.logistic, models.boosted):
        guess = numbers[model(fit).argmax(axis=1)]
        assert np.mean(np.abs(guess - 3 * known) <= 0.15 * known) > 0.8


def test_copies_are_removed_together() -> None:
    """Two or three people with equal values are in one block."""
    counts = np.array([[40, 2], [3, 1]]).reshape(2, 1, 1, 1, 1, 2)
    for seed in range(20):
        table, _ = made(counts, seed)
        few = (table.population.members > 1) & (table.population.members <= 3)
        assert (table.units[few].max(axis=1) == table.population.members[few]).all()


def test_the_baseline_of_a_table_of_twins_is_that_of_the_people() -> None:
    """Section 4.6: everybody occurs twice, and only the copy predicts the secret."""
    rng = RNG(2)
    codes = np.unique(rng.integers(0, 40, (300, 2)), axis=0)
    counts = np.zeros((40, 40, 2), dtype=int)
    counts[codes[:, 0], codes[:, 1], rng.integers(0, 2, len(codes))] = 2
    table, case = made(counts.reshape(40, 40, 1, 1, 1, 2))
    right = [case.right(each, 0).sum() / table.rows.sum() for each in case.held]
    assert max(right) < 0.62


@given(tables, st.integers(0, 100))
@settings(max_examples=examples(20), deadline=None)
def test_blocks_divide_the_table(held: list[int], seed: int) -> None:
    population = rows(np.array(held).reshape(3, 4))
    table = source_table(population, population.size, ["a"], [], RNG(seed), PARTS)
    assert (table.units.sum(axis=1) == population.members).all()
    assert (table.without(table.part(2), RNG(0)).units == population.members - table.units[:, 2]).all()


def test_everything_told_is_looked_up_and_nothing_told_is_not_guessed() -> None:
    """A table of people by two attributes that are published exactly."""
    table, case = made(np.array([[[9, 1], [0, 10]], [[6, 4], [2, 0]]]))
    game = InferenceGame(Everything(), (case,), 1, 0)
    played = game.played({0: game.batch(0, 3)}, "judged", "", None)
    first = played.secrets[0].precision["class homogeneity"][0]
    assert played.releases == 2
    view = case.view(table.finest(table.known))
    labels = view.tuples.by_label(case.codes, 2, table.rows[:, table.estimate].sum(axis=1))
    whole = view.tuples.by_label(case.codes, 2, table.rows.sum(axis=1))
    right = labels[np.arange(len(labels)), whole.argmax(axis=1)].sum() / labels.sum()
    assert first == pytest.approx((right, 1.0))
    constant = InferenceGame(Nothing(), (case,), 1, 0).played(
        {0: InferenceGame(Nothing(), (case,), 1, 0).batch(0, 3)}, "hold", "", None
    )
    assert constant.secrets[0].precision["class homogeneity"][0] == (None, None)
    assert {each.attack for each in constant.secrets[0].found} == {BLIND}


class Nothing:
    """Publishes nothing."""

    name = "nothing"

    def apply(self, drawn: DrawnTable, known: Public, rng: Rng) -> Observation:  # noqa: ARG002 nothing is told
        return Observation(seen=MechanismOutput())


class Majorities:
    """Publishes the number of people by race in every block, as the census of section 3.1 does."""

    name = "majorities"

    def apply(self, drawn: DrawnTable, known: Public, rng: Rng) -> Observation:  # noqa: ARG002 nothing is drawn
        own = project(drawn.table, ["a", "c"])
        levels = {name: known.population.levels[name] for name in ("a", "c")}
        counts = np.zeros([len(level) for level in levels.values()], dtype=np.int64)
        counts[own.codes] = own.counts
        return Observation(seen=MechanismOutput((NoisyCounts(levels, counts, 0.0),)))


def test_block_majorities_are_precise_and_improve_nothing() -> None:
    """Section 3.1: 60 blocks of 40 people that are nearly homogeneous; 12 ages; five races. The table is right for nine
    in ten people, and so is a baseline that has not seen them."""
    rng = RNG(8)
    counts = np.zeros((60, 12, 5), dtype=int)
    for block in range(60):
        main = rng.integers(5)
        race = np.where(rng.random(40) < 0.92, main, rng.integers(0, 5, 40))
        ages = rng.integers(0, 12, 40)
        for age, own in zip(ages, race, strict=True):
            counts[block, age, own] += 1
    table, case = made(counts)
    same = whole_table(case, Majorities())
    assert float(same.precision.value) > 0.9
    for found in (same.improvement_of_these, same.improvement):
        assert found is not None
        assert abs(float(found.value)) < 0.05
    blind = secret_case(table, secret_of(table), dict.fromkeys(table.population.levels), RNG(9), QUICK[:1])
    guessed = whole_table(blind, Majorities())
    assert guessed.precision.value == same.precision.value
    assert guessed.gain is not None
    assert guessed.gain.value > 0.8, "whoever compares with the likeliest race takes all of it for a loss of privacy"


def whole_table(case: SecretCase, mechanism: Mechanism) -> InferenceEstimate:
    """Return the estimate for all targets at coverage 1."""
    game = InferenceGame(mechanism, (case,), 2, 0)
    played = game.played({0: game.batch(0, 3)}, "judged", "", None)
    (found,) = [
        each for each in estimates(played, Fraction(1, 20)) if (each.group, each.coverage) == ("all targets", 1.0)
    ]
    return found


@pytest.mark.thorough
def test_the_best_baseline_is_as_good_as_the_model_that_attacks() -> None:
    """Each of four known attributes of 600 people predicts the secret a little, and their effects add up. A model on a
    release is fitted in this form; without such a baseline, a part of its precision would count as a gain."""
    short = []
    for seed in (2, 4):
        rng = RNG(seed)
        codes, told = rng.integers(0, 6, (600, 4)), rng.normal(size=(4, 6))
        sure = 1 / (1 + np.exp(-told[np.arange(4), codes].sum(axis=1)))
        counts = np.zeros((6, 6, 6, 6, 2), dtype=int)
        np.add.at(counts, (*codes.T, (rng.random(600) < sure).astype(int)), 1)
        table, _ = made(counts)
        case = secret_case(table, secret_of(table), dict.fromkeys(table.population.levels), RNG(1))
        best = max(case.right(each, 0).sum() / 600 for each in case.held)
        short.append(np.maximum(sure, 1 - sure).mean() - best)
    assert np.mean(short) < 0.033


def groups_caught(seed: int) -> bool:
    """Return whether the control of Mondrian's groups, with a random secret bit for each of 500 people, is caught."""
    counts = RNG(seed).multinomial(500, np.full(150, 1 / 150)).reshape(15, 10)
    people = rows(counts)
    coined = with_random_secret(source_table(people, people.size, ["a", "b"], [], RNG(seed), PARTS), RNG(seed + 1))
    table = SourceTable(with_control_columns(coined), coined.public, coined.units, coined.known, coined.secrets)
    case = secret_case(table, secret_of(table), dict.fromkeys(table.population.levels), RNG(seed), QUICK)
    (control,) = [each for each in controls() if each.name == MONDRIAN]
    game = InferenceGame(control, (case,), seed, 1, (GROUP,), control.attacks)
    return control_result(game.played({0: game.batch(0, 2)}, control.must, "", control.least)).works


@pytest.mark.thorough
def test_mondrian_is_caught_by_who_looks_into_the_groups_and_not_by_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten tables. An attack that uses wrong groups is caught with probability .03 each."""
    assert all(groups_caught(seed) for seed in range(10))

    def elsewhere(sight: InferenceAttackerView) -> np.ndarray | None:
        found = class_homogeneity(sight)
        return None if found is None else found[RNG(5).permutation(len(found))]

    broken = [(name, said, elsewhere if attack is class_homogeneity else attack) for name, said, attack in ATTACKS]
    monkeypatch.setattr(play, "ATTACKS", broken)
    assert sum(groups_caught(seed) for seed in range(10)) <= 1


@pytest.mark.parametrize("at", range(len(ATTACKS)))
def test_an_attack_answers_with_shares_or_not_at_all(at: int) -> None:
    """Attacks read rows, tables, or a release with neither."""
    table, case = made(np.array([[[9, 1], [0, 10]], [[5, 5], [2, 0]]]))
    view, (name, _, attack) = case.view(table.finest(table.known)), ATTACKS[at]
    drawn = table.table(RNG(0))
    public = Public(table.population, drawn.n, False)
    seen = [
        Everything().apply(drawn, public, RNG(0)).seen,
        Majorities().apply(drawn, public, RNG(0)).seen,
        MechanismOutput(),
    ]
    answers = [
        attack(InferenceAttackerView(each, case.secret, view.target, case.prior, RNG(0)))
        for each in seen
        if each is not None
    ]
    reads_rows = name in (
        "class homogeneity", "class or likeliest", "class and model", "best row match", "model on the release",
        "trees on the release",
    )  # fmt: skip
    blind = name == BLIND
    assert [answer is not None for answer in answers] == [reads_rows or blind, name == "table lookup" or blind, blind]
    for answer in answers:
        if answer is not None:
            assert answer.shape == (view.target.size, 2)
            assert (answer >= 0).all()
            assert (answer.sum(axis=1) <= 1 + 1e-9).all()


def test_a_tally_is_read_as_it_was_written_and_others_are_refused() -> None:
    _, case = made(np.array([[[9, 1], [0, 10]], [[5, 5], [2, 0]]]))
    game = InferenceGame(Everything(), (case,), 1, 0)
    tally = game.batch(0, 4)
    read = game.read(tally.to_json(), 4)
    for mine, other in zip(parts(tally), parts(read), strict=True):
        assert np.array_equal(mine, other, equal_nan=True)
    with pytest.raises(ValueError, match="shares that can't be"):
        game.read(tally.to_json(), 5)
    wrong = tally.to_json()
    wrong["estimating"][0][0][0][0][0][0] = 1.5
    with pytest.raises(ValueError, match="shares that can't be"):
        game.read(wrong, 4)


def parts(tally: InferenceTally) -> Sequence[np.ndarray]:
    return tally.choosing, tally.estimating, tally.outside


def test_a_curve_is_what_its_people_add_up_to() -> None:
    curve = coverage_curve(
        np.array([0.9, 0.5, 0.9, 0.0]), np.array([2.0, 4.0, 2.0, 2.0]), np.array([2.0, 1.0, 1.0, 2.0])
    )
    assert curve.at(np.array([0.0, 0.4, 0.6, 0.8, 1.0])) == pytest.approx([0, 0.3, 0.35, 0.4, 0.4])


def test_the_attack_that_gains_most_is_judged() -> None:
    """The second attack is right more often, but for people for whom the baseline is always right."""
    line = np.array([[1.0, 0.8, 0.6, 0.6], [1.0, 0.9, 0.9, 0.9], [0.1, 0.1, 0.01, 0.01], [0.0, 0.0, 0.0, 0.0]])
    shares = np.broadcast_to(line[:, None, None, :], (4, len(GROUPS), len(COVERAGES), 4)).copy()
    shares[:, 1] = np.nan
    found = best_attacks(shares[None])
    assert found[0, 0] == 0, "the third guesses for too few people"
    assert best_attacks(shares[None, 1:2]).max() == 0


def test_one_to_one_guesses_the_likeliest_where_a_value_was_not_seen() -> None:
    """A value that was not seen falls back to the prior."""
    weights = np.array([[3.0, 0.0], [0.0, 5.0], [0.0, 0.0]])
    fit = models.FitTask(
        KnownAttributes((np.arange(3),), (None,)), weights, np.arange(3), models.SecretLabels(2, None), RNG(0)
    )
    assert models.one_to_one(fit)[2].tolist() == [3 / 8, 5 / 8]


LEVELS = [
    Level("exact", ("a", "b", "c"), np.arange(3, dtype=np.int32)),
    Level("two", ("ab", "c"), np.array([0, 0, 1], dtype=np.int32)),
]


def test_counts_at_another_level_are_added_up_or_divided_by_what_anybody_knows() -> None:
    fine, coarse = LEVELS
    told = counts_at_level(np.array([[10, 20, 70]]), Secret("s", coarse), fine, np.array([0.5, 0.5]))
    assert told.tolist() == [[30, 70]]
    guessed = counts_at_level(np.array([[30, 70]]), Secret("s", fine), coarse, np.array([0.1, 0.2, 0.7]))
    assert guessed[0] == pytest.approx([10, 20, 70])


def exposed(rng: Rng, drawn: DrawnTable, share: float) -> MechanismOutput:
    """Return a sample of the rows, unchanged."""
    kept = rng.binomial(drawn.table.counts, share)
    has = kept > 0
    codes = tuple(column[has] for column in drawn.table.codes)
    return MechanismOutput(
        (), Histogram(drawn.table.names, drawn.table.sizes, codes, kept[has]), drawn.population.levels
    )


@dataclass(frozen=True)
class Sampled:
    """Publishes a tenth of the rows unchanged."""

    name: str = "a tenth of all rows"

    def apply(self, drawn: DrawnTable, known: Public, rng: Rng) -> Observation:  # noqa: ARG002 nothing else is known
        return Observation(seen=exposed(rng, drawn, 0.1))


@pytest.mark.thorough
def test_rows_of_a_few_are_seen_though_nothing_else_is_learned() -> None:
    """A secret that nothing predicts is known for a tenth of the people: their gain is proven at coverage .1, as far as
    some forty people who are guessed can prove it of people like them."""
    rng = RNG(4)
    codes = np.unique(rng.integers(0, 60, (600, 2)), axis=0)
    counts = np.zeros((60, 60, 2), dtype=int)
    counts[codes[:, 0], codes[:, 1], rng.integers(0, 2, len(codes))] = 1
    _, case = made(counts)
    others = frozenset({"class homogeneity", "class or likeliest", "class and model", "best row match"})
    game = InferenceGame(Sampled(), (case,), 6, 0, attacks=others)
    played = game.played({at: game.batch(at, 10) for at in range(12)}, "judged", "", None)
    found = {each.coverage: each for each in estimates(played, Fraction(1, 20)) if each.group == "all targets"}
    assert found[0.1].attack in ("class and model", "class homogeneity")
    assert found[0.1].proven > 0.2
    assert found[1.0].gain is not None
    assert found[1.0].gain.value > 0.05


@dataclass(frozen=True)
class Rare:
    """Publishes the rows with the rare secret, unchanged."""

    name: str = "the rare"

    def apply(self, drawn: DrawnTable, known: Public, rng: Rng) -> Observation:  # noqa: ARG002 nothing is drawn
        table = drawn.table
        has = table.codes[-1] == 1
        own = Histogram(table.names, table.sizes, tuple(column[has] for column in table.codes), table.counts[has])
        return Observation(seen=MechanismOutput((), own, drawn.population.levels))


def test_that_the_rare_are_published_is_seen() -> None:
    """One in ten people has the rare secret, and all are unique in the known attributes; suppressed rows reveal the
    others. A model fitted on the release knows no other label."""
    rng = RNG(4)
    codes = np.unique(rng.integers(0, 60, (600, 2)), axis=0)
    counts = np.zeros((60, 60, 2), dtype=int)
    counts[codes[:, 0], codes[:, 1], (rng.random(len(codes)) < 0.1).astype(int)] = 1
    _, case = made(counts)
    found = whole_table(case, Rare())
    assert found.attack == "class or likeliest"
    assert found.gain is not None
    assert found.gain.value == 1


def test_a_table_of_noise_hides_nothing() -> None:
    """A table that discloses the secret, and one whose noise is larger than its counts."""
    rng = RNG(5)
    counts = np.zeros((10, 6, 3), dtype=int)
    np.add.at(counts, tuple(rng.integers(0, size, 2000) for size in (10, 6, 3)), 1)
    counts[:, :, 0] += 20 * (np.arange(10)[:, None] % 2)
    _, case = made(counts)
    view = case.view(case.original.finest(case.original.known))
    levels = case.original.population.levels

    def reached(*tables: NoisyCounts) -> list[float]:
        sight = InferenceAttackerView(MechanismOutput(tables), case.secret, view.target, case.prior, RNG(0))
        answers = [attack(sight) for name, _, attack in ATTACKS if "table" in name]
        shares = [
            view.shares(best_guesses(case.secret, each), case.original.estimate)[0, 0]
            for each in answers
            if each is not None
        ]
        return [float(each[1] / each[0]) for each in shares]

    told = NoisyCounts({name: levels[name] for name in ("a", "c")}, counts.sum(axis=1), 0.1)
    noise = NoisyCounts(dict(levels), counts + rng.normal(0, 300, counts.shape).astype(np.int64), 90_000.0)
    alone = max(reached(told))
    assert max(reached(told, noise)) > alone - 0.02


def test_noise_makes_no_rare_label_likely() -> None:
    """Three tables with little noise, of a secret with twenty values of which some are rare: together they disclose
    more than the most probable value does."""
    rng = RNG(1)
    codes, shares = rng.integers(0, 6, (4000, 3)), 0.6 ** np.arange(18)
    truth = rng.choice(18, 4000, p=shares / shares.sum()) + 2 * (codes[:, 0] == 1)
    counts = np.zeros((6, 6, 6, 20), dtype=int)
    np.add.at(counts, (*codes.T, truth), 1)
    _, case = made(counts)
    view, levels = case.view(case.original.finest(case.original.known)), case.original.population.levels
    tables = []
    for at, name in enumerate("abc"):
        own = counts.sum(axis=tuple({0, 1, 2} - {at}))
        noise = np.rint(rng.normal(0, 3, own.shape)).astype(np.int64)
        tables.append(NoisyCounts({name: levels[name], "d": levels["d"]}, own + noise, 9.0))
    sight = InferenceAttackerView(MechanismOutput(tuple(tables)), case.secret, view.target, case.prior, RNG(0))
    precise = {}
    for attack in (joint_model, most_frequent_label):
        told = attack(sight)
        assert told is not None
        predicted, right, *_ = view.shares(best_guesses(case.secret, told), case.original.estimate)[0, 0]
        precise[attack] = right / predicted
    assert precise[joint_model] > precise[most_frequent_label] + 0.03


@dataclass(frozen=True)
class NowAndThen:
    """Publishes all rows, or no row, with equal probability."""

    name: str = "now and then"

    def apply(self, drawn: DrawnTable, known: Public, rng: Rng) -> Observation:  # noqa: ARG002 nothing else is known
        return Observation(seen=exposed(rng, drawn, float(rng.integers(0, 2))))


@pytest.mark.thorough
def test_a_release_without_rows_is_one_in_which_nobody_is_guessed() -> None:
    """A release without rows does not make attacks idle: the other releases are attacked."""
    _, case = made(np.array([[[9, 1], [0, 10]], [[6, 4], [2, 0]]]))
    game = InferenceGame(NowAndThen(), (case,), 1, 0)
    played = game.played({at: game.batch(at, 10) for at in range(3)}, "judged", "", None)
    precision, guessed = played.secrets[0].precision["class homogeneity"][0]
    assert precision is not None
    assert guessed is not None
    assert 0.2 < guessed < 0.8
    assert played.secrets[0].precision["best row match"][0] == (precision, guessed)
    assert played.secrets[0].precision["class and model"][0][1] == 1


@given(st.floats(1, 1000), st.lists(st.floats(0, 1000), min_size=2, max_size=2).filter(lambda held: sum(held) > 1))
def test_what_a_noisy_table_tells_lies_between_its_counts_and_what_was_known(noise: float, held: list[float]) -> None:
    weights, prior = np.array([held]), np.array([0.5, 0.5])
    sight = InferenceAttackerView(
        MechanismOutput(), Secret("s", rows(np.array([1, 1])).levels["a"]), TARGET, prior, np.random.default_rng(0)
    )
    (found,) = _shrunken_shares(sight, RowsByLabel({}, {}, weights, noise))
    (counted,) = smoothed(weights, prior)
    assert all(min(0.5, own) - 1e-9 <= share <= max(0.5, own) + 1e-9 for share, own in zip(found, counted, strict=True))


TARGET = TargetAttributes({}, {}, 1)
