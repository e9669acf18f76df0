"""Releases of synthetic rows with a planted leak are caught by the attackers that read it; releases without a leak
hold."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from crowdgate.accounting.audit_power import binomial_p
from crowdgate.audit.common.observation import PublicKnowledge
from crowdgate.audit.inference.findings import estimates as gains
from crowdgate.audit.inference.play import InferenceGame as Guesses
from crowdgate.audit.inference.secret import Secret
from crowdgate.audit.inference.secret_case import secret_case
from crowdgate.audit.inference.source_table import PARTS, source_table
from crowdgate.audit.membership.findings import estimates, tradeoff_bounds
from crowdgate.audit.membership.play import MembershipGame as Claims
from crowdgate.audit.membership.target_population import TargetPopulation
from crowdgate.audit.singling_out.play import SinglingOutGame
from crowdgate.kind.plan import Plan
from tests.audit.games import BY_NAME, play_trials
from tests.audit.made import Leak, Leaking, clinic, few_steps, people
from tests.audit.test_inference import QUICK

pytestmark = pytest.mark.statistical
READERS = ("rows taken for people's", "columns of made rows", "all others known", "cells taken as exact")
GUESSES = frozenset({"class homogeneity", "class or likeliest", "best row match", "model on the release"})
"""Attacks without fitted trees, which find no more on these tables."""
N = 40
LEVEL = 1e-4
"""Significance level of one attacker in one test: a leak is claimed for p-values below it."""


@pytest.fixture(autouse=True)
def _quick() -> Iterator[None]:
    with few_steps():
        yield


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("leak", "by", "trials"),
    [
        ("rows", "rows taken for people's", 20),
        ("rare rows", "rows taken for people's", 20),
        ("one-way tables", "all others known", 12),
        ("chosen tables", "all others known", 12),
        ("certificate", "all others known", 120),
        ("none", None, 25),
    ],
)
def test_what_is_published_as_it_is_singles_out(tmp_path: Path, leak: Leak, by: str | None, trials: int) -> None:
    """At 1/n, in tables of 40 people. Rates are 1, 1, 1, 1 and at least .2 in place of .37 and .025: missed with
    probability at most .001 in this many trials (P(Bin(120, .2) < 12)). The mechanism itself raises a false alarm once
    in 2,500 runs, if its attackers are at the baseline; noise of epsilon 1 discloses little more."""
    plan = clinic(tmp_path)
    population = people(plan, np.random.default_rng(0).multinomial(3000, np.full(120, 1 / 120)).reshape(10, 4, 3))
    attackers = [BY_NAME[name] for name in READERS]
    game = SinglingOutGame(Leaking(plan, leak), attackers, PublicKnowledge(population, N), (Fraction(1, N),), 3, 0)
    light = play_trials(game, trials).light[:, 0]
    without = [1 / N if each.aside else (1 - 1 / N) ** (N - 1) for each in attackers]
    ps = [binomial_p(int(s), trials, base) for s, base in zip(light, without, strict=True)]
    caught = {name for name, p in zip(READERS, ps, strict=True) if p < LEVEL}
    assert by in caught if by is not None else not caught


@pytest.mark.thorough
@pytest.mark.parametrize(("leak", "least", "most"), [("rows", 0.05, 0.1), ("none", -1.0, -0.1)])
def test_copied_rows_tell_who_is_in_the_table(tmp_path: Path, leak: Leak, least: float, most: float) -> None:
    """Half of 240 people in 120 cells are members: cells with members only are recognised by copies. An attacker who
    claims 12 people finds a tenth of the members and no others. The guarantee allows e^2 times as many non-members and
    1/250 more. Means of nine releases, with standard errors of about .01 of the rate and .06 of the sum."""
    plan = clinic(tmp_path)
    population = people(plan, np.random.default_rng(1).multinomial(240, np.full(120, 1 / 120)).reshape(10, 4, 3))
    game = Claims(
        Leaking(plan, leak),
        TargetPopulation(population, 120),
        (0.05,),
        5,
        0,
        attacks=frozenset({READERS[0], "distance"}),
    )
    played = game.played({at: game.batch(at, size) for at, size in game.batches(10)}, "judged", "", None)
    (form,) = tradeoff_bounds([(2, Fraction(1, 250))], None, 120)
    (found,) = estimates(played, (form,), Fraction(1, 20), Fraction(1, 20))
    (line,) = form.lines
    assert least <= found.tpr.value - line[0] - line[1] * found.fpr.value <= most


@pytest.mark.thorough
@pytest.mark.parametrize(("leak", "told"), [("rows", True), ("none", False)])
def test_copied_rows_tell_a_note_that_nothing_predicts(tmp_path: Path, leak: Leak, told: bool) -> None:
    """240 people, of whom two are expected of each age, ward and note: six share age and ward, and their notes are
    random. The majority is right for about .4 of them, and an attacker who reads copies for .6, so that a gain of .1 is
    halfway. One table's gain has a standard error of at most .04 (.24 / 160 targets): the threshold is at least three
    of these away. In about two of five tables no attack guesses for everybody (in all eight once in 1,500 runs; keys
    are not seeded). Without copies no attack may ever guess for everybody, which is no gain."""
    plan = clinic(tmp_path)
    gains_of = [gain_of(plan, leak, seed) for seed in range(8 if told else 4)]
    found = [gain for gain in gains_of if gain is not None]
    assert bool(found) or not told
    assert (sum(found) / max(1, len(found)) > 0.1) is told


def gain_of(plan: Plan, leak: Leak, seed: int) -> float | None:
    """Return the greatest gain for all targets; None if no attack guesses for all."""
    population = people(plan, np.random.default_rng(seed).multinomial(240, np.full(120, 1 / 120)).reshape(10, 4, 3))
    *known, note = population.levels
    rng = np.random.default_rng(seed + 100)
    table = source_table(population, 240, known, [Secret(note, population.levels[note])], rng, PARTS)
    case = secret_case(table, table.secrets[0], dict.fromkeys(population.levels), rng, QUICK)
    game = Guesses(Leaking(plan, leak), (case,), 3, 0, attacks=GUESSES)
    found = [
        float(each.gain.value)
        for each in gains(game.played({0: game.batch(0, 10)}, "judged", "", None), Fraction(1, 20))
        if (each.group, each.coverage) == ("all targets", 1.0) and each.gain is not None
    ]
    return max(found, default=None)
