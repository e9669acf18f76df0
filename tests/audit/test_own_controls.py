"""The policy's own mechanism, with and without a fault."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from crowdgate.audit.common.observation import PublicKnowledge
from crowdgate.audit.common.policy_mechanism import PolicyMechanism
from crowdgate.audit.common.population import Population
from crowdgate.audit.singling_out.control_results import control_results
from crowdgate.audit.singling_out.play import SinglingOutGame
from crowdgate.audit.singling_out_attackers import ATTACKERS
from crowdgate.audit.singling_out_controls import faulty_policy_controls
from crowdgate.audit.singling_out_controls.faulty_policy import RawColumn, SuppressionOff
from crowdgate.kind.plan import Plan
from crowdgate.planning.plan import plan_policy
from tests.audit.games import play_trials
from tests.audit.people import rows
from tests.workshop import make_workshop


def clinic(root: Path) -> Plan:
    """Return the plan for patients by single years and ward: 300 classes, of which k = 6 suppresses small ones."""
    workshop = make_workshop(root)
    workshop.edit(workshop.policy, "age: 50 years", "age: exact")
    return plan_policy(workshop.policy)


def skewed(plan: Plan) -> Population:
    """Return 1,000 people, 4 of 5 of them in 8 classes, 200 in classes of one."""
    counts = np.zeros((100, 4), dtype=np.int64)
    counts[:8, 0] = 100
    counts[30:80, :] = 1
    return placed(plan, rows(counts))


def placed(plan: Plan, made: Population) -> Population:
    """Return a population with the same counts under the attributes of the plan."""
    (view,) = plan.protection.views.values()
    return Population("clinic", view, replace(made.cells, names=view.names, sizes=view.sizes), made.members)


@pytest.mark.thorough
@pytest.mark.statistical
def test_the_faults_are_caught_and_the_mechanism_holds(tmp_path: Path) -> None:
    """Faults are caught with the power that the controls state (at least .96). The mechanism itself has 300 trials at
    1/n: three attackers against .368 with Holm at 1/1,000."""
    plan = clinic(tmp_path)
    population = skewed(plan)
    known = PublicKnowledge(population, population.size)
    controls = faulty_policy_controls(plan.protection, plan.first_release_facts(), Fraction(1, 2))
    assert [each.name for each in controls] == [
        "suppression off",
        "this policy's rows with one raw column",
        "noise off",
    ]
    assert not controls[2].fits(known)
    controls = controls[:2]
    for each in controls:
        assert each.fits(known)
        game = SinglingOutGame(
            each, [a for a in ATTACKERS if a.name in each.attackers], known, each.weights(known.n), 7, 1
        )
        (found,) = control_results(
            [game.played({0: play_trials(game, each.trials)}, "be caught", "", each.claimed(known))]
        )
        assert found.works, found
        assert found.power >= 0.9
    readers = [each for each in ATTACKERS if each.name in ("likeliest classes", "group and hash", "two columns")]
    game = SinglingOutGame(PolicyMechanism(plan.protection), readers, known, (Fraction(1, known.n),), 7, 0)
    tally = play_trials(game, 300)
    assert tally.kept > 0
    # P(Bin(300, .368) > 139) < .0004: three attackers, 1/1,000 in all
    assert tally.light.max() <= 139


def test_where_nothing_is_rare_suppression_off_is_not_played(tmp_path: Path) -> None:
    plan = clinic(tmp_path)
    known = PublicKnowledge(placed(plan, rows(np.full((100, 4), 50))), 20_000)
    off, raw, _ = faulty_policy_controls(plan.protection, plan.first_release_facts(), Fraction(1, 2))
    assert isinstance(off, SuppressionOff)
    assert isinstance(raw, RawColumn)
    assert not off.fits(known)
    assert raw.fits(known)


def test_what_is_not_suppressed_is_the_whole_sample(tmp_path: Path) -> None:
    plan = clinic(tmp_path)
    population = skewed(plan)
    known = PublicKnowledge(population, 1000)
    off, *_ = faulty_policy_controls(plan.protection, plan.first_release_facts(), Fraction(1, 2))
    rng = np.random.default_rng(3)
    told = off.apply(population.draw(1000, rng), known, rng).seen
    assert told is not None
    assert told.rows is not None
    assert told.rows.counts.min() == 1
    assert 400 < told.rows.rows < 600
    assert (told.beta, told.least) == (Fraction(1, 2), 1)


@pytest.mark.thorough
@pytest.mark.statistical
def test_noise_that_is_off_is_caught_and_noise_that_is_on_holds(tmp_path: Path) -> None:
    """Tables of patients by single years and ward. 450 trials refute .368 with the power that the control states. With
    noise, the reader of exact counts has 300 trials at 1/n, and exceeds 139 successes once in 2,000 runs."""
    workshop = make_workshop(tmp_path)
    text = workshop.policy.read_text(encoding="utf-8")
    start, end = text.index("  mechanism:"), text.index("  gates:")
    tables = "  mechanism: {kind: dp_tables, noise: laplace, tables: [{attributes: {age: exact, ward: exact}}]}\n"
    gates = "  gates:\n    - {measure: pso_bound, at_most: 1}\n"
    publish = text[text.index("  publish:") :]
    workshop.policy.write_text(text[:start] + tables + gates + publish, encoding="utf-8")
    workshop.edit(workshop.policy, "{epsilon: 2, delta: 0.01}", "{epsilon: 0.1, delta: 0.01}")
    assert end > start
    plan = plan_policy(workshop.policy)
    known = PublicKnowledge(skewed(plan), 1000)
    (off,) = faulty_policy_controls(plan.protection, plan.first_release_facts(), Fraction(1))
    assert off.fits(known)
    readers = [each for each in ATTACKERS if each.name in off.attackers]
    game = SinglingOutGame(off, readers, known, off.weights(known.n), 7, 1)
    (found,) = control_results([game.played({0: play_trials(game, off.trials)}, "be caught", "", off.claimed(known))])
    assert found.works, found
    assert found.power >= 0.9
    noisy = play_trials(
        SinglingOutGame(PolicyMechanism(plan.protection), readers, known, (Fraction(1, known.n),), 7, 0), 300
    )
    assert noisy.light.max() <= 139


def test_levels_that_are_chosen_are_those_that_the_control_claims_for(tmp_path: Path) -> None:
    """With 50 years selected no class is rare; at the finest candidates many would be."""
    workshop = make_workshop(tmp_path)
    chosen = "age: {choose: [exact, 50 years]}, ward: exact}\n    choose: {epsilon: 0.5}"
    workshop.edit(workshop.policy, "age: 50 years, ward: exact}", chosen)
    plan = plan_policy(workshop.policy)
    known = PublicKnowledge(placed(plan, skewed(plan)), 1000)
    off, *_ = faulty_policy_controls(plan.protection, plan.first_release_facts(), Fraction(1, 2))
    assert not off.fits(known)
