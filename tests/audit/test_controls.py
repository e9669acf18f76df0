"""Controls have their expected results, and planted faults are detected."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.audit.common.levels import POWER
from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.population import DrawnTable, Population, Rng
from crowdgate.audit.common.predicates import ALL_BITS, Predicate
from crowdgate.audit.singling_out.control_results import (
    control_attacks,
    control_results,
    insecure_control_result,
    secure_control_result,
)
from crowdgate.audit.singling_out.play import IsolationTally, SinglingOutGame
from crowdgate.audit.singling_out.record import AttackerCounts, SinglingOutResults
from crowdgate.audit.singling_out_attackers import ATTACKERS
from crowdgate.audit.singling_out_attackers.base import Answers, Attacker, SinglingOutAttackerView
from crowdgate.audit.singling_out_controls import CONTROLS, SinglingOutControl
from crowdgate.audit.singling_out_controls.composition import extract_bits
from crowdgate.audit.singling_out_controls.exact_counts import ExactCountsControl, noise_of_seeds
from crowdgate.audit.singling_out_controls.groups import class_numbers, prefixes
from crowdgate.audit.singling_out_controls.raw_rows import Constant, Identity, RandomFunction
from tests.audit.games import BY_NAME, controlled, crowd, play_trials
from tests.audit.people import persons, rows
from tests.examples import examples

POLICY = PublicKnowledge(crowd(), 2000)
NAMES = [each.name for each in CONTROLS]


@pytest.mark.thorough
@pytest.mark.statistical
@pytest.mark.parametrize("control", CONTROLS, ids=NAMES)
def test_of_every_control_is_found_what_must_be(control: SinglingOutControl) -> None:
    """Each control states its number of trials N. Those that must be caught are caught with a computed probability of
    at least .9 (in fact above .999). Those that must hold raise a false alarm with probability at most .05, together in
    an audit."""
    assert control.fits(POLICY)
    played = controlled(control, POLICY)
    hold = sum(each.must == "hold" for each in CONTROLS)
    found = (
        insecure_control_result(played, control.rate)
        if control.must == "be caught"
        else secure_control_result(played, Fraction(5, 100) / hold)
    )
    assert found.works
    assert found.power >= POWER
    assert found.reason is None


def test_names_of_controls_and_attackers_are_unique_and_every_attacker_is_known() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert len(BY_NAME) == len(ATTACKERS)
    assert all(name in BY_NAME for each in CONTROLS for name in each.attackers)


ONE_CELL, PERSONS = rows(np.array([5])), persons(np.array([[1, 0, 2], [0, 1, 0], [1, 1, 1]]), np.array([50, 40, 20]))


@pytest.mark.thorough
@pytest.mark.parametrize("population", [ONE_CELL, PERSONS], ids=["one cell", "persons"])
def test_every_control_is_played_on_any_population(population: Population) -> None:
    policy = PublicKnowledge(population, 100, replacement=False)
    for control in CONTROLS:
        known = control.public_knowledge(policy)
        game = SinglingOutGame(
            control, [BY_NAME[name] for name in control.attackers], known, control.weights(known.n), 1, 0
        )
        assert not game.batch(0, 2).idle.any()
        assert control.fits(policy) == (control.name != "pseudonyms")


class Never(Attacker):
    """Answers with a predicate that matches no record."""

    name, source = "never", ""

    def answer(self, sight: SinglingOutAttackerView) -> Answers | None:
        return [Predicate(share=Fraction(0))] * len(sight.weights)


class Silent(Identity):
    """Publishes nothing."""

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:  # noqa: ARG002
        return Observation()


class Leaky(RandomFunction):
    """Publishes the rows unchanged in place of the random function."""

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        return Identity().apply(drawn, known, rng)


class Hasty(ExactCountsControl):
    """Plays too few trials."""

    trials = 3


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("control", "attackers", "reason"),
    [
        (Identity(), [Never()], "must be caught, and was not caught"),
        (Silent(), None, "must be caught, and was not caught"),
        (Leaky(), None, "must hold, and was refuted by 'raw row'"),
        (Hasty(), None, "would be found with probability 0.59 only"),
    ],
    ids=["an attacker that never wins", "a silent control", "a control that leaks", "too few trials"],
)
def test_planted_faults_turn_the_judgement(
    control: SinglingOutControl, attackers: list[Attacker] | None, reason: str
) -> None:
    (found,) = control_results([controlled(control, POLICY, attackers=attackers)])
    assert reason in (found.reason or "")


def test_the_level_is_shared_by_the_controls_that_must_hold() -> None:
    """17 of 100 against a baseline of 1/11 have p = .009: refuted at .05, not at .05 / 8."""
    one = SinglingOutResults(
        mechanism="m", must="hold", note="", rate=None, n=10, trials=100, weights=(Fraction(1, 100),),
        attacked=(AttackerCounts(attacker="a", light=(17,), any=(17,), idle=0, tenth_light=(2,), tenth_any=(2,)),),
    )  # fmt: skip
    assert not secure_control_result(one, Fraction(5, 100)).works
    assert [each.works for each in control_results([one] * 8)] == [True] * 8


counts = st.integers(1, 300).flatmap(lambda trials: st.tuples(st.just(trials), st.integers(0, trials)))


@settings(max_examples=examples(30))
@given(counts, st.integers(2, 100))
def test_what_is_chosen_on_a_tenth_is_estimated_on_the_others(of: tuple[int, int], n: int) -> None:
    trials, light = of
    played = SinglingOutResults(
        mechanism="m", must="be caught", note="", rate=None, n=n, trials=trials, weights=(Fraction(1, n),),
        attacked=(
            AttackerCounts(attacker="a", light=(light,), any=(trials,), idle=0, tenth_light=(0,), tenth_any=(0,)),
        ),
    )  # fmt: skip
    assert {(each.weight, each.estimated_on) for each in control_attacks(played)} == {
        (Fraction(1, n), light),
        (None, trials),
    }
    assert played.tenth == len(range(0, trials, 10))


@settings(max_examples=examples(10), deadline=None)
@given(st.integers(1, 130), st.integers(0, 5))
def test_every_tenth_trial_is_counted_apart_whatever_the_batches(trials: int, seed: int) -> None:
    # one row, and a predicate that matches every record: it always isolates
    game = SinglingOutGame(Constant(), [BY_NAME["trivial hash"]], PublicKnowledge(ONE_CELL, 1), (Fraction(1),), seed, 0)
    tallies = [game.batch(at, size) for at, size in game.batches(trials)]
    whole = sum(tallies[1:], tallies[0])
    assert whole.trials == whole.light.sum() == whole.any.sum() == trials
    assert whole.tenth_light.sum() == whole.tenth_any.sum() == -(-trials // 10)
    assert _same(play_trials(game, trials), whole)


def _same(one: IsolationTally, other: IsolationTally) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("light", "any", "tenth_light"))


def test_the_key_is_the_first_of_each_two_bits_that_differ() -> None:
    last = [0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1]
    assert [extract_bits(np.array(last, dtype=np.uint64) + np.uint64(2), bits) for bits in (1, 2, 3, 4)] == [
        0,
        1,
        3,
        None,
    ]


def test_the_noise_of_seeds_is_geometric_noise() -> None:
    """The scale is 10: variance 2 a / (1 - a)^2 = 199.8, a = e^(-1/10). With 1,376,256 numbers 1 % is five standard
    errors."""
    noise = noise_of_seeds()
    assert len(np.unique(noise[:, :4], axis=0)) > 0.9 * len(noise)
    assert noise.var() == pytest.approx(199.8, rel=0.01)
    assert abs(noise.mean()) < 0.1


@given(st.lists(st.integers(0, 255), min_size=2, max_size=30), st.integers(2, 4))
def test_minimal_prefixes_hold_k_rows_and_could_not_be_halved(values: list[int], k: int) -> None:
    tags = np.sort(np.array(values, dtype=np.uint64) << np.uint64(56))
    found = list(prefixes(tags, 0, 64, k)) if len(tags) >= k else []
    assert sum(size for size, _ in found) == (len(tags) if found else 0)
    for size, part in found:
        half = (part.high - part.low + 1) // 2
        inside = [int(tag) for tag in tags if part.low <= int(tag) <= part.high]
        low = sum(tag < part.low + half for tag in inside)
        assert size == len(inside) >= k
        assert half == 0 or 0 < low < k or 0 < size - low < k


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, ALL_BITS)), min_size=1, max_size=20))
def test_classes_are_equal_where_rows_are(values: list[tuple[int, int]]) -> None:
    found = class_numbers([np.array(column, dtype=np.uint64) for column in zip(*values, strict=True)])
    pairs = zip(values, found.tolist(), strict=True)
    assert len(set(pairs)) == len(set(values)) == len(set(found.tolist()))


def test_the_success_that_is_claimed_of_a_control_is_a_chance() -> None:
    assert all(each.rate is None or 0 < each.rate <= 1 for each in CONTROLS)


@pytest.mark.parametrize("k", [2, 3])
def test_bit_suppression_tells_of_every_whole_group(k: int) -> None:
    control = next(each for each in CONTROLS if each.name == f"bit suppression, k = {k}")
    known, rng = PublicKnowledge(crowd(), 50), np.random.default_rng(1)
    groups = control.apply(known.population.draw(50, rng), known, rng).groups
    assert groups is not None
    assert groups.sizes.tolist() == [k] * (50 // k)
