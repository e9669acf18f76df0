"""Membership on small tables, compared with counting people one by one."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.population import DrawnTable, Population, Rng
from crowdgate.audit.membership.attacker_view import MembershipAttackerView
from crowdgate.audit.membership.attacks import NAMES, distance, likelihood_ratio
from crowdgate.audit.membership.controls import MembershipControl, control_units, controls, tagged_units
from crowdgate.audit.membership.findings import CAP_FORM, EPSILON_FORM, estimates, refuting_points, tradeoff_bounds
from crowdgate.audit.membership.play import MembershipGame, true_positive_rates
from crowdgate.audit.membership.record import MembershipPoint, MembershipResults
from crowdgate.audit.membership.shadow_releases import fit_shadow_model
from crowdgate.audit.membership.target_population import TargetPopulation
from crowdgate.histogram import Histogram
from crowdgate.kind.mechanism_output import MechanismOutput
from crowdgate.noisy_counts.mechanism_output import NoisyCounts
from tests.audit.people import persons, rows
from tests.examples import examples

RNG = np.random.default_rng
CLAIMED = (0.01, 0.1, 0.5, 1.0)
LEVEL = Fraction(5, 100)


def drawn_of(population: Population, units: Sequence[int]) -> DrawnTable:
    return DrawnTable(population, np.array(units), RNG(0))


# --- claims ---


@st.composite
def cases(draw: st.DrawFn) -> tuple[DrawnTable, np.ndarray]:
    """Draw a population of four cells with at most seven units, a table of some of them, and scores with ties."""
    counts = draw(st.lists(st.integers(0, 2), min_size=4, max_size=4).filter(lambda found: 2 <= sum(found) <= 7))
    has = [count for count in counts if count]
    units = [draw(st.integers(0, count)) for count in has]
    units[0] = max(1, units[0])
    scores = np.array([draw(st.sampled_from([-1.0, 0.0, 0.5, np.inf])) for _ in has])
    return drawn_of(rows(np.array(counts)), units), scores


@settings(max_examples=examples(40))
@given(cases(), st.integers(0, 7))
def test_claims_are_those_of_units_in_the_order_of_their_scores_drawn_by_lot_where_they_tie(
    case: tuple[DrawnTable, np.ndarray], count: int
) -> None:
    """The rate is the mean over all orders of the units that agree with the scores."""
    drawn, scores = case
    size = drawn.population.size
    units = [
        (float(scores[at]), place < drawn.units[at])
        for at in range(len(scores))
        for place in range(drawn.population.members[at])
    ]
    orders = [order for order in permutations(range(size)) if _descends([units[at][0] for at in order])]
    claimed = min(count, size)
    right = [sum(units[at][1] for at in order[:claimed]) / drawn.n for order in orders]
    found = true_positive_rates(scores, drawn, np.array([claimed / size]))
    assert found[0] == pytest.approx(np.mean(right))


def _descends(scores: Sequence[float]) -> bool:
    return all(first >= second for first, second in pairwise(scores))


@given(cases())
def test_who_claims_more_finds_more_and_claims_more_of_the_others(case: tuple[DrawnTable, np.ndarray]) -> None:
    drawn, scores = case
    shares = np.linspace(0.05, 1, 20)
    tpr = true_positive_rates(scores, drawn, shares)
    false = shares * drawn.population.size - tpr * drawn.n
    assert (np.diff(tpr) >= -1e-12).all()
    assert (np.diff(false) >= -1e-9).all()
    assert tpr[-1] == pytest.approx(1)
    blind = true_positive_rates(np.zeros(len(scores)), drawn, shares)
    assert blind == pytest.approx(shares)


# --- attacks ---


@pytest.mark.parametrize("least", [2, 3, 5])
def test_a_likelihood_ratio_is_that_of_two_binomial_laws(least: int) -> None:
    """f is the distribution of the sampled others of a class; a member is sampled with probability beta."""
    population = rows(np.array([[30, 8], [5, 40]]))
    beta, n = Fraction(1, 4), 40
    crowd = TargetPopulation(population, n)
    names, sizes = population.view.names, population.view.sizes
    codes = tuple(np.array(each, dtype=np.int32) for each in ([0, 1], [0, 1]))
    released = Histogram(names, sizes, codes, np.array([6, 3]))
    sight = MembershipAttackerView(MechanismOutput((), released, population.levels, least, beta), crowd)
    found = likelihood_ratio(sight)
    assert found is not None
    share, b = 0.25 * 40 / 83, 0.25
    for cell, (held, count) in enumerate([(30, 6), (8, 0), (5, 0), (40, 3)]):
        others = binom(held - 1, share)
        if count:
            ratio = (1 - b) + b * others.pmf(count - 1) / others.pmf(count)
        else:
            ratio = ((1 - b) * others.cdf(least - 1) + b * others.cdf(least - 2)) / others.cdf(least - 1)
        assert np.exp(found[cell]) == pytest.approx(ratio)


def test_a_noisy_table_speaks_for_cells_with_more_than_expected() -> None:
    population = rows(np.array([[50, 50], [20, 80]]))
    crowd = TargetPopulation(population, 100)
    first = {"a": population.levels["a"]}
    table = NoisyCounts(first, np.array([60, 40]), 9.0)
    total = NoisyCounts({}, np.array([100]), 9.0)
    found = likelihood_ratio(MembershipAttackerView(MechanismOutput((table, total)), crowd))
    assert found is not None
    variance = 9 + 50 * 0.5
    assert found[0] - found[2] == pytest.approx(20 / variance)
    assert found[0] == found[1]
    second = NoisyCounts({"b": population.levels["b"]}, np.array([35, 65]), 0.0)  # as many as expected
    found = likelihood_ratio(MembershipAttackerView(MechanismOutput((second,)), crowd))
    assert found is not None
    assert found[0] - found[1] == pytest.approx(-1 / (2 * 35 * 0.5) + 1 / (2 * 65 * 0.5))
    assert distance(MembershipAttackerView(MechanismOutput((table,)), crowd)) is None


def test_nearest_classes_are_those_with_most_agreeing_attributes_then_the_largest() -> None:
    population = rows(np.array([[3, 1], [2, 1]]))
    codes = (np.array([0, 1], dtype=np.int32), np.array([0, 0], dtype=np.int32))
    released = Histogram(population.view.names, population.view.sizes, codes, np.array([5, 2]))
    found = distance(
        MembershipAttackerView(MechanismOutput((), released, population.levels), TargetPopulation(population, 4))
    )
    assert found is not None
    # the cells (0, 0), (0, 1), (1, 0), (1, 1)
    assert found.tolist() == pytest.approx([2 + 5 / 6, 1 + 5 / 6, 2 + 2 / 6, 1 + 2 / 6])


def test_the_score_of_a_person_is_that_of_all_rows() -> None:
    """Persons have two rows in one cell, one in the other, or one in each."""
    population = persons(np.array([[2, 0], [0, 1], [1, 1]]), np.array([10, 10, 10]))
    table = NoisyCounts(population.levels, np.array([40, 5]), 1.0)
    sight = MembershipAttackerView(MechanismOutput((table,)), TargetPopulation(population, 15))
    found = likelihood_ratio(sight)
    assert found is not None
    first, second = sight.log_tables
    assert found.tolist() == pytest.approx([2 * first, second, first + second])


@pytest.mark.parametrize("seen", [MechanismOutput(), MechanismOutput(unread=("a sum",))])
def test_where_nothing_is_told_that_is_read_nothing_is_claimed(seen: MechanismOutput) -> None:
    population = rows(np.array([[50, 50], [50, 50]]))
    game = MembershipGame(
        Told(seen),
        TargetPopulation(population, 100),
        CLAIMED,
        1,
        0,
        fit_shadow_model(Told(seen), TargetPopulation(population, 100), RNG(0)),
    )
    played = play(game, 20)
    assert played.points == ()
    assert set(played.recall["likelihood ratio"]) == {None}


# --- games ---


@dataclass(frozen=True)
class Told:
    """Publishes the same output for every table."""

    seen: MechanismOutput
    name: str = "told"

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:  # noqa: ARG002 nothing is drawn
        return Observation(seen=self.seen)


@dataclass(frozen=True)
class Classes:
    """Publishes the classes with at least `least` rows in a sample of the table at rate `beta`."""

    least: int = 1
    beta: Fraction = Fraction(1)
    name: str = "classes"

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        table = drawn.table
        counts = rng.binomial(table.counts, float(self.beta))
        has = counts >= self.least
        codes = tuple(column[has] for column in table.codes)
        kept = Histogram(table.names, table.sizes, codes, counts[has])
        return Observation(seen=MechanismOutput((), kept, known.population.levels, self.least, self.beta))


def play(game: MembershipGame, trials: int, must: str = "judged") -> MembershipResults:
    tallies = {at: game.read(game.batch(at, size).to_json(), size) for at, size in game.batches(trials)}
    return game.played(tallies, must, "", None)  # type: ignore[arg-type]


def small(n: int = 400) -> TargetPopulation:
    """Return a population of 2 n units, each with a tag."""
    return TargetPopulation(tagged_units(rows(np.full((10, 10, 10), 3)), 2 * n, RNG(3)), n)


def control(game: MembershipControl, crowd: TargetPopulation, trials: int = 200) -> MembershipResults:
    return play(MembershipGame(game, crowd, CLAIMED, 5, 1, attacks=game.attacks), trials, game.must)


def test_a_game_is_a_function_of_its_seed_and_its_batches_do_not_hang_together() -> None:
    game = MembershipGame(Classes(), TargetPopulation(rows(np.full((4, 5), 20)), 150), CLAIMED, 5, 0)
    first = game.batch(1, 10)
    game.batch(0, 10)
    assert (first.estimating == game.batch(1, 10).estimating)[:, :2].all()
    assert np.isnan(first.estimating[:, NAMES.index("shadow releases")]).all()
    for wrong in (1.5, -0.5):
        said = first.to_json()
        said["estimating"][0][0][0] = wrong
        with pytest.raises(ValueError, match="can't be"):
            game.read(said, 10)
    with pytest.raises(ValueError, match="can't be"):
        game.read(first.to_json(), 9)


def test_counts_of_classes_tell_who_is_in_the_table_and_shadows_find_as_many() -> None:
    """The classes of a table of half the population, in cells of 20 units, are published; a blind attacker finds a
    tenth."""
    crowd, mechanism = TargetPopulation(rows(np.full((4, 5), 20)), 200), Classes()
    played = play(MembershipGame(mechanism, crowd, CLAIMED, 5, 0, fit_shadow_model(mechanism, crowd, RNG(1))), 40)
    at = CLAIMED.index(0.1)
    for name in ("distance", "likelihood ratio", "shadow releases"):
        share = played.recall[name][at]
        assert share is not None
        assert share > 0.13
    (found,) = [
        each for each in estimates(played, tradeoff_bounds([(0, 0)], None, 200), LEVEL, LEVEL) if each.claimed == 0.1
    ]
    assert found.tpr.lower < found.tpr.value < found.tpr.upper
    assert found.fpr.lower < found.fpr.value < found.fpr.upper
    assert float(found.tpr.value) * 200 + float(found.fpr.value) * 200 == pytest.approx(40)
    assert found.precision(1).value == pytest.approx(float(found.tpr.value) * 200 / 40)


def test_tables_of_unequal_halves_give_both_rates() -> None:
    """A table of a fifth of the population is published with tags: claiming a tenth finds half of it."""
    crowd = TargetPopulation(tagged_units(rows(np.full((10, 10), 10)), 1000, RNG(3)), 200)
    played = control(controls(None)[0], crowd, 20)
    rates = {point.claimed: set(np.round(point.tpr, 9)) for point in played.points}
    assert rates == {0.01: {0.05}, 0.1: {0.5}, 0.5: {1.0}, 1.0: {1.0}}
    assert played.fpr(0.5, 1.0) == pytest.approx(300 / 800)


@pytest.mark.parametrize("point", [(0.1, 0.3), (0.9, 0.7), (0.5, -0.1)])
def test_rates_that_cannot_be_are_refused(point: tuple[float, float]) -> None:
    claimed, tpr = point
    with pytest.raises(ValueError, match=r"can't be|greater"):
        MembershipResults(mechanism="m", must="judged", note="", rate=None, releases=1, n=10, others=10, recall={},
               points=(MembershipPoint(claimed=claimed, attack="a", tpr=(tpr,)),))  # fmt: skip


# --- expected results of controls: only the sampling is random ---


def names_broken(played: MembershipResults, epsilon: str, beta: str | None, n: int = 400) -> set[str]:
    every = tradeoff_bounds(
        [(Fraction(epsilon), Fraction("1e-9"))], None if beta is None else (Fraction(beta), 0, 0), n
    )
    return {name for _, name in refuting_points(estimates(played, every, LEVEL, LEVEL), LEVEL)}


@pytest.mark.thorough
@pytest.mark.parametrize("beta", ["0.1", "0.3", "0.8"])
def test_the_sample_as_it_is_breaks_epsilon_and_meets_the_cap(beta: str) -> None:
    sample, identity, constant = controls(Fraction(beta))
    assert names_broken(control(sample, small()), "2.5", beta) == {EPSILON_FORM}
    assert CAP_FORM in names_broken(control(identity, small()), "2.5", beta)
    assert names_broken(control(constant, small(), 20), "0", beta) == set()


def test_the_whole_table_breaks_epsilon_where_nothing_is_sampled() -> None:
    identity, constant = controls(None)
    assert names_broken(control(identity, small()), "2.5", None) == {EPSILON_FORM}
    assert names_broken(control(identity, small(), 20), "2.5", None) == set(), "too few releases"
    found = control(constant, small(), 20)
    assert all(set(np.round(point.tpr, 9)) == {point.claimed} for point in found.points)


def test_the_least_rate_that_would_be_refuted_is_refuted_and_less_is_not() -> None:
    every = tradeoff_bounds([(1, 0)], (Fraction("0.3"), 0, 0), 500)
    for claimed in (0.01, 0.5):
        (first,) = estimates(_constant(claimed, claimed), every, LEVEL, LEVEL)
        for name, rate in first.refutable.items():
            if rate is None:
                (most,) = estimates(_constant(claimed, min(1.0, 2 * claimed)), every, LEVEL, LEVEL)
                assert most.p[name] > LEVEL / 2
                continue
            (above,) = estimates(_constant(claimed, rate), every, LEVEL, LEVEL)
            (below,) = estimates(_constant(claimed, rate * (1 - 1e-5)), every, LEVEL, LEVEL)
            assert above.p[name] <= LEVEL / 2 < below.p[name] <= LEVEL
            assert (above, name) in refuting_points([above], LEVEL)
            alone = all(p > LEVEL / 2 for other, p in below.p.items() if other != name)
            assert ((below, name) in refuting_points([below], LEVEL)) is not alone, "two forms are tested (Holm)"


def _constant(claimed: float, tpr: float) -> MembershipResults:
    """Return results with the same rate in 100 releases, for tables of 500 of 1,000 units."""
    point = MembershipPoint(claimed=claimed, attack="a", tpr=(tpr,) * 100)
    return MembershipResults(
        mechanism="m", must="judged", note="", rate=None, releases=100, n=500, others=500, recall={}, points=(point,)
    )


def test_more_units_are_controlled_where_few_are_sampled() -> None:
    assert [control_units(10**6, beta) for beta in (None, Fraction("0.3"), Fraction("0.01"), Fraction("1e-6"))] == [
        1000, 1000, 4000, 20_000
    ]  # fmt: skip
    assert control_units(250, None) == 250


def test_persons_are_tagged_by_their_first_row() -> None:
    population = persons(np.array([[2, 0], [0, 1], [1, 1]]), np.array([5, 5, 5]))
    found = tagged_units(population, 15, RNG(0))
    assert found.rows is None
    assert (found.size, len(found.cells)) == (15, 15)
    assert np.bincount(found.cells.codes[1]).tolist() == [10, 5]


@pytest.mark.parametrize("pairs", [1 << 24, 0])
def test_a_release_without_rows_or_with_too_many_takes_no_attack_away(
    monkeypatch: pytest.MonkeyPatch, pairs: int
) -> None:
    """Five classes of two units each; in many tables of four units no class has two rows, so that nothing is
    released."""
    monkeypatch.setattr("crowdgate.audit.membership.attacker_view.MOST_PAIRS", pairs)
    crowd = TargetPopulation(rows(np.full((5,), 2)), 4)
    played = play(MembershipGame(Classes(2), crowd, (0.5,), 1, 0, attacks=frozenset({"distance"})), 40)
    (share,) = played.recall["distance"]
    assert share is not None
    assert share > 0.5
    assert len(played.points) == 1


@dataclass(frozen=True)
class Counts:
    """Publishes counts of cells that are stated to be noisy, with or without the noise."""

    noise: float
    name: str = "counts"

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        levels = known.population.levels
        counts = np.zeros([len(level) for level in levels.values()])
        counts[drawn.table.codes] = drawn.table.counts
        counts += rng.normal(0, self.noise, counts.shape)
        return Observation(seen=MechanismOutput((NoisyCounts(levels, np.rint(counts).astype(np.int64), 25.0),)))


@pytest.mark.parametrize("noise", [5.0, 0.0])
def test_noise_that_was_left_out_is_found_in_cells_of_few_people(noise: float) -> None:
    """Cells of one person are among cells of a hundred: an exact count reveals them."""
    crowd = TargetPopulation(rows(np.array([[1] * 10, [100] * 10])), 505)
    played = play(MembershipGame(Counts(noise), crowd, (0.005,), 5, 0), 100)
    found = names_broken(played, "1", None, 505)
    assert found == (set() if noise else {EPSILON_FORM})
