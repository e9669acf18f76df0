"""Canaries: planted units, guesses about them, and the faults that they show."""

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdgate.accounting.canaries import canary_p, epsilon_limit
from crowdgate.accounting.numbers import up
from crowdgate.arrays import Floats
from crowdgate.audit.common.audit import FinishedAudit
from crowdgate.audit.common.findings import ControlResult
from crowdgate.audit.common.levels import level
from crowdgate.audit.common.observation import Mechanism, Observation, PublicKnowledge
from crowdgate.audit.common.policy_mechanism import PolicyMechanism
from crowdgate.audit.common.population import DrawnTable, Population, Rng
from crowdgate.audit.common.population_table import population
from crowdgate.audit.membership import findings
from crowdgate.audit.membership.canaries import CANARIES, SHARES, CanaryTable, canary_table, guessed, guesses_of
from crowdgate.audit.membership.canary_findings import canary_findings
from crowdgate.audit.membership.findings import MembershipFindings
from crowdgate.audit.membership.record import CanaryResults, MembershipRecord
from crowdgate.audit.membership_audit import MEMBERSHIP
from crowdgate.candidate import Cost
from crowdgate.gate import Outcome
from crowdgate.histogram import Histogram, View
from crowdgate.kind.mechanism_output import MechanismOutput
from crowdgate.planning.plan import plan_policy
from tests.audit.law_plants import DRAWN, Plant, make_law_town, planted
from tests.audit.workshop import Town

ALPHA = Fraction(1, 20)
SEEN = ("suppression off", "noise of margins off", "twenty classes published raw")
"""Planted faults whose leaks exceed the stated epsilon of 2 in eight releases of 400 canaries."""

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
    """Limit of epsilon over all attacks, by the releases of all seeds but the first, which chooses their shares."""
    right = np.array([table.play(mechanism, np.random.default_rng(seed)) for seed in seeds])
    found, canaries = guesses_of(right[:1], right[1:], len(table.cells)), (len(seeds) - 1) * len(table.cells)
    each = ALPHA / len(found)
    return max(epsilon_limit(of.right, of.guesses, canaries, delta, each) for of in found)


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
    """Tables and samples are seeded, the noise of margins is not. 200 runs of each fault all saw it, with limits of at
    least 2.19."""
    with planted(fault):
        assert planted_limit(town, people) > 2


@pytest.mark.thorough
def test_honest_releases_stay_below_the_stated_epsilon(town: Town, people: Population) -> None:
    """A false alarm has probability at most .05 where 2 is the true epsilon. Here it is much less: 200 runs reached at
    most .44."""
    assert planted_limit(town, people) < 2


def test_luck_in_the_choosing_releases_hides_no_other_attack() -> None:
    """The noise of tables can make a useless attack look better than one that is always right."""
    choosing = np.zeros((1, 3, 2, len(SHARES)))
    estimating = np.zeros((8, 3, 2, len(SHARES)))
    choosing[:, 0, 0, 0], estimating[:, 0, 0, 0] = 8, 8
    choosing[:, 1], choosing[:, 2, :, 0], estimating[:, 2, :, 0] = np.nan, 8, 4
    found = guesses_of(choosing, estimating, 400)
    assert [(each.attack, each.guesses, each.right) for each in found] == [(0, 64, 64), (2, 128, 64)]


def kept_record() -> MembershipRecord:
    kept = Path(__file__).with_name("kept") / "membership.json.gz"
    return MEMBERSHIP.read(gzip.decompress(kept.read_bytes()))[0]


def results(right: int, guesses: int = 1000, attack: str = "canaries in rows") -> CanaryResults:
    return CanaryResults(attack=attack, releases=20, canaries=10_000, guesses=guesses, right=right)


def with_canaries(*found: CanaryResults, points: tuple[Cost, ...] = ()) -> MembershipRecord:
    record = kept_record()
    own, *others = record.played
    played = own.model_copy(update={"canaries": found}), *others
    return record.model_copy(update={"played": played, "setting": record.setting.model_copy(update={"points": points})})


def finished(record: MembershipRecord) -> FinishedAudit[MembershipRecord, MembershipFindings]:
    return FinishedAudit(record, MEMBERSHIP.findings(record), Path("x"), True)


@pytest.mark.thorough
@pytest.mark.parametrize(("right", "outcome"), [(520, Outcome.PASS), (1000, Outcome.FAIL)])
def test_guesses_about_canaries_decide_an_audit(right: int, outcome: Outcome) -> None:
    found = finished(with_canaries(results(right)))
    assert found.findings.outcome is outcome
    text = MEMBERSHIP.text(found)
    assert text[0].startswith("The guarantee is broken: canaries show" if right == 1000 else "Within the limit")
    (said,) = [line for line in text if "10,000 canaries" in line]
    assert f"{right:,} of 1,000 guesses are right" in said
    assert not any("could not have refuted" in line for line in text)


def test_canaries_that_could_not_have_refuted_the_guarantee_say_so() -> None:
    text = MEMBERSHIP.text(finished(with_canaries(results(2, guesses=2))))
    assert any("could not have refuted this" in line for line in text)


def test_several_attacks_and_points_share_the_level() -> None:
    """Guesses that refute the guarantee alone do not where three attacks are tried at two points."""
    setting = kept_record().setting
    stated, alpha = (setting.epsilon, setting.delta), Fraction(1, 80)

    def p(right: int) -> float:
        return canary_p(right, 1000, 10_000, up(setting.epsilon), setting.delta)

    right = next(each for each in range(1000) if alpha / 6 < p(each) <= alpha)
    alone = canary_findings([results(right)], setting, alpha)
    assert alone is not None
    assert alone.refuted is not None
    others = [results(500, attack=name) for name in ("canaries in tables", "canaries in rows and tables")]
    twice = setting.model_copy(update={"points": (stated,)})
    together = canary_findings([results(right), *others], twice, alpha)
    assert together is not None
    assert together.refuted is None
    assert together.level == alpha / 6


def test_a_guarantee_that_is_refuted_at_another_delta_says_which() -> None:
    """All points are stated: this one is refuted although the first is not."""
    found = finished(with_canaries(results(580), points=((Fraction(1, 10), Fraction(1, 10**9)),)))
    assert found.findings.outcome is Outcome.FAIL
    text = MEMBERSHIP.text(found)
    assert text[0].startswith("The guarantee is broken: canaries show an epsilon of at least 0.1")
    assert text[0].endswith("at delta 1e-9, and 0.1 is stated.")
    (said,) = [line for line in text if "over all attacks and points" in line]
    assert said.count("is stated") == 3  # once for the unit, and at both points


def test_more_right_guesses_than_guesses_are_no_record() -> None:
    with pytest.raises(ValueError, match="more right guesses"):
        CanaryResults(attack="canaries in rows", releases=1, canaries=10, guesses=5, right=6)


def test_all_ways_to_fail_share_one_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mechanism that keeps its guarantee and the limit fails with probability at most the level of the attempt."""
    used: list[Fraction] = []

    def recording(result: object) -> Callable[..., object]:
        def at(*given: Any) -> object:
            used.append(given[-1])
            return result

        return at

    record = kept_record()
    outcomes: dict[str, object] = {"canary_findings": None, "refuting_points": [], "exceeds_limit": False}
    for name, result in outcomes.items():
        monkeypatch.setattr(findings, name, recording(result))
    monkeypatch.setattr(findings, "_control_result", lambda *_: ControlResult("constant", "hold", True))
    findings.findings_of(record)
    assert len(used) == len(outcomes)
    assert sum(used) <= level(record.attempt)
