"""A policy in whose mechanism faults are planted for audits by attackers, and audits of it without controls."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdgate.arrays import Integers
from crowdgate.audit.common import policy_mechanism
from crowdgate.audit.common.audit import Audit
from crowdgate.audit.common.game import Game
from crowdgate.audit.common.planted_faults import ATTACKED
from crowdgate.audit.common.run import units_of
from crowdgate.audit.common.setting import audit_spec
from crowdgate.audit.inference import findings as inference
from crowdgate.audit.membership import findings as membership
from crowdgate.audit.singling_out import findings as singling_out
from crowdgate.candidate import AuditQuestion
from crowdgate.gate import Outcome
from crowdgate.kind.randomness import KeyedRandomness
from crowdgate.noise import NoiseSource
from crowdgate.planning.plan import plan_policy
from crowdgate.releases.whole_releases.audits import playable
from tests.audit.law_plants import make_law_town
from tests.audit.workshop import SEED, Town, few_fits
from tests.workshop import Row, write_parquet

SIZE, UNITS = 8000, 1600
LEAST_SPREAD = 5
WARDS = [f"ward {at}" for at in range(12)]
SECTIONS = {
    AuditQuestion.SINGLING_OUT: f"units: {UNITS}, trials: {ATTACKED[AuditQuestion.SINGLING_OUT]}, limit: 0.25",
    AuditQuestion.MEMBERSHIP: f"membership: {{releases: {ATTACKED[AuditQuestion.MEMBERSHIP]}}}",
    AuditQuestion.INFERENCE: f"inference: {{releases: {ATTACKED[AuditQuestion.INFERENCE]}}}",
}
SECRET = """\
          - {property: privacyRole, value: sensitive}
          - {property: domain, value: {values: [a, b, c, d], source: clinic handbook}}
          - {property: invalid, value: level}
          - {property: knownToAttackers, value: false}
"""


def make_crowd(root: Path, question: AuditQuestion) -> Town:
    """Return a working copy with rows of age, ward and a secret note, by which many people are unique."""
    town = make_law_town(root, f"  audit: {{population: towns, {SECTIONS[question]}}}\n")
    town.edit(town.policy, "age: 10 years, ward: exact}\n    m", "age: exact, ward: exact, note: exact}\n    m")
    town.edit(town.policy, "delta: 0.01}", "delta: 1e-5}")
    for contract in (town.contract, town.population):
        town.edit(contract, "[north, south, east]", f"[{', '.join(WARDS)}]")
        town.edit(contract, "          - {property: privacyRole, value: other}\n", SECRET)
    margin = "".join(f"{ward},1\n" for ward in WARDS)
    (root / "data_contracts" / "ward.csv").write_text(f"value,count\n{margin}", encoding="utf-8")
    write_parquet(root / "data_contracts" / "towns.parquet", crowd_rows())
    return town


def crowd_rows() -> list[Row]:
    """Rows of which seven tenths are in 16 classes, and the others spread over all ages and wards."""
    draws, found = np.random.default_rng(7), list[Row]()
    for at in range(SIZE):
        common = at % 10 < 7
        age = draws.choice([30, 50]) if common else draws.integers(100)
        ward, note = WARDS[draws.integers(2 if common else len(WARDS))], "abcd"[draws.integers(4)]
        found.append({"patient": str(at), "age": int(age), "ward": ward, "note": note})
    return found


@dataclass(frozen=True, eq=False)
class AttackedPolicy:
    """The game of an audit on a policy's own mechanism, and the setting by which it is judged, without controls."""

    of: Audit[Any, Any]
    setting: Any
    game: Game[Any, Any]
    trials: int

    def outcome(self, seed: int) -> Outcome:
        """Play fresh tables or releases with random numbers and noise of this seed, and return the outcome."""
        game: Any = replace(self.game, number=1000 + seed)  # type: ignore[type-var]
        with seeded_noise(seed):
            tallies = {at: game.batch(at, trials) for at, trials in game.batches(self.trials)}
        own = game.played(tallies, "judged", "", None)
        record = self.of.record(setting=self.setting, digest="", seed=SEED, made="2026-01-01", attempt=1, played=(own,))
        found: Outcome = self.of.findings(record).outcome
        return found

    def few_trials(self) -> object:
        """Return the tally of a few trials, with noise of a fixed seed: equal for equal mechanisms."""
        with seeded_noise(1):
            return self.game.batch(0, 3).to_json()


def attacked_policy(root: Path, question: AuditQuestion) -> AttackedPolicy:
    plan, of = plan_policy(make_crowd(root, question).policy), playable(question)
    spec = audit_spec(plan)
    people = units_of(of, plan, plan.bundle.population)
    setting = of.planned_setting(plan, spec, people).model_copy(update={"controls": ()})
    own = of.schedule(plan, spec, people, 1)[0]
    return AttackedPolicy(of, setting, own.game, own.trials)


@contextmanager
def judged_without_controls() -> Iterator[None]:
    """Judge audits without controls, which other tests play, and fit few trees."""
    with pytest.MonkeyPatch.context() as patched, few_fits():
        for each in (inference, membership, singling_out):
            patched.setattr(each, "control_reasons", lambda _: iter(()))
        yield


@contextmanager
def seeded_noise(seed: int) -> Iterator[None]:
    """Draw noise of a seed in place of OpenDP's, which can't be seeded and takes most of a trial's time. Rounded normal
    noise with the variance of discrete Gaussian noise differs from it by 1e-6 in total variation, for a standard
    deviation of LEAST_SPREAD or more."""
    rng = np.random.default_rng(seed)

    def laplace(values: Integers, sensitivity: int, epsilon: Fraction) -> Integers:
        more, less = rng.geometric(-math.expm1(-epsilon / sensitivity), (2, *np.shape(values)))
        return np.asarray(values + more - less)

    def gaussian(values: Integers, sensitivity: int, rho: Fraction) -> Integers:
        variance = float(sensitivity**2 / (2 * rho))
        assert variance >= LEAST_SPREAD**2, variance
        unrounded = rng.normal(0, math.sqrt(variance - 1 / 12), np.shape(values))
        return np.asarray(values + np.rint(unrounded).astype(np.int64))

    made: Callable[..., KeyedRandomness] = partial(KeyedRandomness, vectors=NoiseSource(laplace, gaussian))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(policy_mechanism, "KeyedRandomness", made)
        yield
