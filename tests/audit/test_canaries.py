"""Canaries: planted units, guesses about them, and the faults that they show."""

import gzip
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from pathlib import Path

import numpy as np
import pytest

from crowdgate.accounting.canaries import epsilon_limit
from crowdgate.arrays import Floats
from crowdgate.audit.common.audit import FinishedAudit
from crowdgate.audit.common.observation import Mechanism, Observation, PublicKnowledge
from crowdgate.audit.common.policy_mechanism import PolicyMechanism
from crowdgate.audit.common.population import DrawnTable, Population, Rng
from crowdgate.audit.common.population_table import population
from crowdgate.audit.membership.canaries import CANARIES, SHARES, CanaryTable, canary_table, guessed, guesses_of
from crowdgate.audit.membership.record import CanaryResults, MembershipRecord
from crowdgate.audit.membership_audit import MEMBERSHIP
from crowdgate.gate import Outcome
from crowdgate.histogram import Histogram, View
from crowdgate.kind.mechanism_output import MechanismOutput
from crowdgate.planning.plan import plan_policy
from tests.audit.law_plants import DRAWN, Plant, make_law_town, planted
from tests.audit.workshop import Town

ALPHA = Fraction(1, 20)
SEEN = ("suppression off", "noise of margins off", "twenty classes published raw")
"""Planted faults whose leaks exceed the stated epsilon of 2 in eight releases."""

REACHED = [(0.5, 0.15), (1.0, 0.5), (3.0, 1.5)]
"""Epsilon of a mechanism, and what the median limit reaches: half, but for an epsilon that 500 guesses hardly show."""


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    """A policy with 400 possible classes, most of them rare or empty."""
    town = make_law_town(Path(tmp_path_factory.mktemp("canaries")) / "town")
    town.edit(town.policy, "age: 10 years, ward", "age: exact, ward")
    town.edit(town.policy, "delta: 0.01}", "delta: 1e-5}")
    return town


@pytest.fixture(scope="module")
def people(town: Town) -> Population:
    plan = plan_policy(town.policy)
    return population(plan, plan.bundle.population)


def wide(people: Population) -> CanaryTable:
    """A table of 500 canaries, of which each is the only unit of its class."""
    level = people.levels["age"]
    sizes = (len(level), len(level))
    codes = tuple(np.asarray(each, dtype=np.int64) for each in np.divmod(np.arange(800), 20))
    cells = Histogram(("age", "ward"), sizes, codes, np.ones(800, dtype=np.int64))
    none = np.zeros(800, dtype=np.int64)
    return CanaryTable(
        Population("wide", View({"age": level, "ward": level}), cells, none), none, np.arange(0, 800)[:CANARIES]
    )


@dataclass(frozen=True)
class RandomizedResponse:
    """Publishes for each cell whether it has a row, and lies with probability 1 / (1 + e^epsilon)."""

    epsilon: float
    name: str = "randomized response"

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        lies = rng.random(len(drawn.rows)) < 1 / (1 + exp(self.epsilon))
        told = np.where(lies, 1 - drawn.rows, drawn.rows)
        cells = drawn.population.cells
        rows = Histogram(cells.names, cells.sizes, tuple(each[told > 0] for each in cells.codes), told[told > 0])
        return Observation(seen=MechanismOutput((), rows, known.population.levels))


def limit_of(table: CanaryTable, mechanism: Mechanism, seeds: range, delta: Fraction = Fraction(0)) -> float:
    """Limit of epsilon by the releases of all seeds but the first, which chooses the attack."""
    right = np.array([table.play(mechanism, np.random.default_rng(seed)) for seed in seeds])
    found = guesses_of(right[:1], right[1:], len(table.cells))
    return epsilon_limit(found.right, found.guesses, (len(seeds) - 1) * len(table.cells), delta, ALPHA)


def _validity(table: CanaryTable, epsilon: float, runs: int) -> Floats:
    mechanism = RandomizedResponse(epsilon)
    return np.array([limit_of(table, mechanism, range(2 * at, 2 * at + 2)) for at in range(runs)])


@pytest.mark.parametrize(("epsilon", "least"), REACHED)
def test_limits_from_one_release_of_500_canaries_are_valid_and_reach_half(
    epsilon: float, least: float, people: Population
) -> None:
    """Ten runs at level .05: more than three wrong limits have probability .001."""
    found = _validity(wide(people), epsilon, 10)
    assert (found > epsilon).sum() <= 3
    assert np.median(found) >= least


@pytest.mark.soak
@pytest.mark.parametrize(("epsilon", "least"), REACHED)
def test_limits_are_valid_in_200_runs(epsilon: float, least: float, people: Population) -> None:
    """More than 25 wrong limits have probability below 1e-5."""
    found = _validity(wide(people), epsilon, 200)
    assert (found > epsilon).sum() <= 25
    assert np.median(found) >= least


def test_canaries_are_added_and_no_row_of_the_population_is_removed(people: Population) -> None:
    table = canary_table(people, 16, Fraction(3, 10), np.random.default_rng(1))
    own = dict(zip(zip(*(each.tolist() for each in people.cells.codes), strict=True), people.cells.counts, strict=True))
    new = zip(zip(*(each.tolist() for each in table.population.cells.codes), strict=True), table.base, strict=True)
    assert own.items() <= {key: count for key, count in new if key in own}.items()
    sizes = {1 + int(table.base[each]) for each in table.cells}
    assert {1, 2, 3, 5, 8, 13, 16, 21, 53} <= sizes
    assert len({*table.cells.tolist()}) == len(table.cells)


def test_right_guesses_are_counted_for_an_attack_that_knows_all(people: Population) -> None:
    table = wide(people)
    right = table.play(RandomizedResponse(50.0), np.random.default_rng(1))
    assert right[0, :, :6].tolist() == [guessed(CANARIES)[:6].tolist()] * 2
    assert np.isnan(right[1:]).all()
    assert len(SHARES) == right.shape[2]


def planted_limit(town: Town, people: Population) -> float:
    plan = plan_policy(town.policy)
    figures = plan.protection.figures
    table = canary_table(people, figures.least_class, figures.beta, np.random.default_rng(1))
    return limit_of(table, PolicyMechanism(plan.protection), range(9), plan.guarantee.delta)


@pytest.mark.thorough
@pytest.mark.parametrize("fault", [each for each in DRAWN if each.name in SEEN], ids=lambda each: each.name)
def test_a_leak_beyond_the_stated_epsilon_is_seen(fault: Plant, town: Town, people: Population) -> None:
    with planted(fault):
        assert planted_limit(town, people) > 2


@pytest.mark.thorough
def test_honest_releases_stay_below_the_stated_epsilon(town: Town, people: Population) -> None:
    assert planted_limit(town, people) < 2


def kept_record() -> MembershipRecord:
    kept = Path(__file__).with_name("kept") / "membership.json.gz"
    return MEMBERSHIP.read(gzip.decompress(kept.read_bytes()))[0]


def with_canaries(right: int, guesses: int = 1000) -> MembershipRecord:
    record = kept_record()
    found = CanaryResults(attack="canaries in rows", releases=20, canaries=10_000, guesses=guesses, right=right)
    own, *others = record.played
    return record.model_copy(update={"played": (own.model_copy(update={"canaries": found}), *others)})


@pytest.mark.thorough
@pytest.mark.parametrize(("right", "outcome"), [(520, Outcome.PASS), (1000, Outcome.FAIL)])
def test_guesses_about_canaries_decide_an_audit(right: int, outcome: Outcome) -> None:
    record = with_canaries(right)
    found = FinishedAudit(record, MEMBERSHIP.findings(record), Path("x"), True)
    assert found.findings.outcome is outcome
    text = MEMBERSHIP.text(found)
    assert text[0].startswith("The guarantee is broken: canaries show" if right == 1000 else "Within the limit")
    (said,) = [line for line in text if "10,000 canaries" in line]
    assert f"{right:,} of 1,000 guesses are right" in said
    assert not any("could not have refuted" in line for line in text)


def test_canaries_that_could_not_have_refuted_the_guarantee_say_so() -> None:
    record = with_canaries(2, guesses=2)
    text = MEMBERSHIP.text(FinishedAudit(record, MEMBERSHIP.findings(record), Path("x"), True))
    assert any("could not have refuted this" in line for line in text)


def test_more_right_guesses_than_guesses_are_no_record() -> None:
    with pytest.raises(ValueError, match="more right guesses"):
        CanaryResults(attack="canaries in rows", releases=1, canaries=10, guesses=5, right=6)
