"""A harmless mechanism passes with the number of trials or releases that an audit advises.

The counts of harmless mechanisms are drawn from their distributions, and judged by the functions that judge every
record. A test of N plays requires at least `LEAST` passes: if the probability of passing were just .9, fewer would
occur with the stated probability (false alarm); if it were .6 they would occur with the stated power.
"""

from collections.abc import Callable
from datetime import date
from fractions import Fraction
from functools import cache
from typing import Literal

import numpy as np
import pytest
from scipy.stats import binom

from crowdgate.accounting import audit_power, intervals
from crowdgate.audit.inference.findings import findings_of as inferred
from crowdgate.audit.inference.record import AttackShares, InferenceRecord
from crowdgate.audit.inference.record import InferenceResults as Guessed
from crowdgate.audit.inference.record import InferenceSetting as InferenceSetting
from crowdgate.audit.inference.record import SecretResults as Secret
from crowdgate.audit.inference.releases_needed import inference_releases
from crowdgate.audit.inference.secret_case import GROUPS
from crowdgate.audit.inference.setting import ON_LARGEST_BET
from crowdgate.audit.membership.findings import findings_of as claimed
from crowdgate.audit.membership.record import MembershipPoint, MembershipRecord
from crowdgate.audit.membership.record import MembershipResults as Claimed
from crowdgate.audit.membership.record import MembershipSetting as MembershipSetting
from crowdgate.audit.membership.releases_needed import membership_releases
from crowdgate.audit.membership.setting import claimed_shares, limit_of
from crowdgate.audit.singling_out import control_results, findings
from crowdgate.audit.singling_out.findings import baseline_of
from crowdgate.audit.singling_out.record import (
    AttackerCounts,
    Must,
    SinglingOutRecord,
    SinglingOutResults,
    SinglingOutSetting,
    weights_of,
)
from crowdgate.audit.singling_out.trials_needed import chance_of_harmless, trials_needed
from crowdgate.audit.singling_out_attackers import ATTACKERS
from crowdgate.gate import Outcome
from crowdgate.kinds.synthetic.kind import SyntheticKind
from crowdgate.limits import MOST_RELEASES
from crowdgate.policy.policy import AuditSpec

N, LEAST = 50, 38
"""False alarm .001; power .98 against .6, and 1 against the numbers advised by earlier versions: see the first test."""
LEVEL = Fraction(1, 20)
COMMON = {
    "policy": "clinic", "version": "1", "policy_digest": "p", "mechanism": "safe_k_anonymity", "epsilon": 1,
    "delta": "1e-9", "contract": "clinic", "population": "towns", "population_digest": "d", "controls": ("constant",),
    "code": "c", "libraries": {},
}  # fmt: skip
Rng = np.random.Generator


def outcomes(play: Callable[[Rng], Outcome], plays: int = N) -> list[Outcome]:
    rng = np.random.default_rng(20300101)
    return [play(rng) for _ in range(plays)]


def test_the_passes_that_are_asked_for_tell_a_probability_of_9_in_10_from_6_in_10() -> None:
    assert binom.cdf(LEAST - 1, N, 0.9) == pytest.approx(0.001, abs=1e-4)
    assert binom.cdf(LEAST - 1, N, 0.6) > 0.97


# --- singling out ---


@pytest.fixture
def _remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute exact limits of equal counts only once."""
    for module in (findings, control_results):
        monkeypatch.setattr(module, "clopper_pearson", cache(intervals.clopper_pearson))
        monkeypatch.setattr(module, "binomial_p", cache(audit_power.binomial_p))
    for name in ("chance_to_pass", "detectable_excess"):
        monkeypatch.setattr(findings, name, cache(getattr(audit_power, name)))


def singling_out(n: int, weight: Fraction, limit: Fraction) -> SinglingOutSetting:
    return SinglingOutSetting.model_validate({
        **COMMON, "population_size": n, "n": n, "limit": limit, "beta": None, "replacement": True, "weight": weight,
        "weights": weights_of(weight, n), "trials": 1, "attackers": tuple(each.name for each in ATTACKERS),
        "not_played": (), "unread": (),
    })  # fmt: skip


CENSUS = singling_out(299_285, Fraction(1, 200 * 299_285), Fraction(1, 100))
"""Setting of the bundled policy."""
TOWN = singling_out(30, Fraction(1, 1000), Fraction(3, 10))
"""Setting of tests/audit/test_singling_out_audit.py, where 5 trials are refused with the number 28."""


def baselines(setting: SinglingOutSetting) -> list[tuple[float, ...]]:
    other = tuple(baseline_of(setting, setting.n, weight) for weight in setting.weights)
    return [tuple(map(float, setting.weights)) if each.aside else other for each in ATTACKERS]


def harmless(setting: SinglingOutSetting, trials: int, must: Must, rng: Rng) -> SinglingOutResults:
    """Draw the results of all attackers at their baselines."""
    counts = rng.binomial(trials, np.minimum(1, baselines(setting))).tolist()
    none = (0,) * len(setting.weights)
    attacked = tuple(
        AttackerCounts(attacker=each.name, light=own, any=own, idle=0, tenth_light=none, tenth_any=none)
        for each, own in zip(ATTACKERS, counts, strict=True)
    )
    return SinglingOutResults(
        mechanism="constant", must=must, note="", rate=None, n=setting.n, trials=trials, weights=setting.weights,
        attacked=attacked,
    )  # fmt: skip


def singled_out(setting: SinglingOutSetting, trials: int, rng: Rng) -> findings.SinglingOutFindings:
    own, control = harmless(setting, trials, "judged", rng), harmless(setting, 300, "hold", rng)
    record = SinglingOutRecord(
        setting=setting.model_copy(update={"trials": trials}), digest="x", seed="0" * 32, made=date(2030, 1, 1),
        attempt=1, played=(own, control),
    )  # fmt: skip
    return findings.findings_of(record)


@pytest.mark.thorough
@pytest.mark.usefixtures("_remembered")
def test_a_harmless_mechanism_passes_singling_out_with_the_trials_that_are_advised() -> None:
    """24 attackers at six weights, and a control that must hold: N plays, LEAST passes."""
    assert trials_needed(baselines(TOWN), TOWN.limit, LEVEL) == 28
    assert trials_needed(baselines(CENSUS), CENSUS.limit, LEVEL) == 2014
    ended = outcomes(lambda rng: singled_out(CENSUS, 2014, rng).outcome)
    assert ended.count(Outcome.PASS) >= LEAST, ended.count(Outcome.PASS)


@pytest.mark.thorough
@pytest.mark.usefixtures("_remembered")
def test_with_330_trials_nothing_can_be_told_of_a_harmless_mechanism() -> None:
    """An earlier version advised 330. None of three plays passes (each would with probability below .001). Attackers
    are refuted at level .05, so that three failures have probability .0001."""
    rng = np.random.default_rng(1)
    said = [singled_out(CENSUS, 330, rng) for _ in range(3)]
    assert not any(each.outcome is Outcome.PASS for each in said)
    assert next(each.reasons for each in said if each.outcome is Outcome.INCONCLUSIVE) == (
        "nothing was found in 330 trials, but a harmless mechanism passes with a probability below 0.9 in so few;"
        " write trials: 2298",
    ), "for the second attempt, at half the level"


def test_from_the_number_that_is_advised_on_every_number_suffices() -> None:
    """A few more trials are no worse: users round up."""
    every, limit = baselines(TOWN), TOWN.limit
    assert all(chance_of_harmless(every, limit, trials, LEVEL) >= 0.9 for trials in (28, 29, 31))
    assert chance_of_harmless(every, limit, 20, LEVEL) < 0.9


def test_a_limit_of_nothing_is_reached_by_no_number() -> None:
    assert trials_needed(baselines(TOWN), Fraction(0), LEVEL) is None
    assert inference_releases(Fraction(0), [50.0], LEVEL) is None


# --- inference ---


def guessed(releases: int, limit: Fraction, targets: int, wrong: int, rng: Rng) -> InferenceRecord:
    """Return the record of an attack that guesses each target afresh, as often right as its baseline."""
    base, estimating = 1 - wrong / targets, releases - -(-releases // 10)
    attack = rng.binomial(targets, base, estimating) / targets

    def played(must: Literal["judged", "hold"], rates: list[float], right: float) -> Guessed:
        shares = AttackShares(
            group=GROUPS[0], coverage=1, attack="a", baseline="b", baseline_of_these="b", targets=targets,
            wrong=1 - right, wrong_at=1 - right, outside=None, shares=tuple((1.0, r, right, right) for r in rates),
        )  # fmt: skip
        secret = Secret(secret="ward", level="exact", labels=2, known=("age",), precision={}, found=(shares,))
        return Guessed(mechanism=must, must=must, note="", rate=None, releases=len(rates), secrets=(secret,))

    setting = InferenceSetting.model_validate({
        **COMMON, "population_size": 400, "n": 400, "limit": limit, "rows": 1, "releases": releases, "blocks": 5,
        "coverage": 1, "known": ("age",), "secrets": (("ward", "exact"),), "attacks": ("a",), "baselines": ("b",),
        "controls": ("hold",), "on_largest_bet": ON_LARGEST_BET,
    })  # fmt: skip
    own, control = played("judged", attack.tolist(), base), played("hold", [base], base)
    own = own.model_copy(
        update={"secrets": (own.secrets[0].model_copy(update={"precision": {"a": ((base, 1.0),)}}), )}
    )  # fmt: skip
    return InferenceRecord(
        setting=setting, digest="x", seed="0" * 32, made=date(2030, 1, 1), attempt=1, played=(own, control)
    )


@pytest.mark.thorough
def test_a_harmless_mechanism_passes_inference_with_the_releases_that_are_advised() -> None:
    """The baseline is wrong for 20 of 320 targets: N plays, LEAST passes."""
    limit = Fraction(1, 10)
    needed = [inference_releases(limit, [wrong], LEVEL, ON_LARGEST_BET) for wrong in (20, 160, 10**6)]
    assert needed == [94, 47, 37]
    ended = outcomes(lambda rng: inferred(guessed(94, limit, 320, 20, rng)).outcome)
    assert ended.count(Outcome.PASS) >= LEAST, ended.count(Outcome.PASS)


def test_with_20_releases_nothing_can_be_told_of_inference() -> None:
    """A harmless mechanism passes with probability .02 (4 of 200 plays), so that three of ten do with probability .001.
    Tests by betting err at level .05, so that four failures or more have probability .001."""
    ended = [inferred(guessed(20, Fraction(1, 10), 320, 20, np.random.default_rng(seed))) for seed in range(10)]
    assert [each.outcome for each in ended].count(Outcome.INCONCLUSIVE) > 6
    assert [each.outcome for each in ended].count(Outcome.PASS) < 3
    assert "nothing was found in 20 releases" in ended[0].reasons[0]
    assert ended[0].reasons[0].endswith("in so few; write releases: 107")


# --- membership ---

SIZE, MEMBERS = 100_000, 1_000
SHARES = (0.001, 0.004, 0.01, 0.1, 0.5, 1.0)


def membership(releases: int) -> MembershipSetting:
    return MembershipSetting.model_validate({
        **COMMON, "population_size": SIZE, "n": MEMBERS, "limit": "0.5", "known_epsilon": 1, "known_delta": "1e-9",
        "cap": None, "releases": releases, "claimed": SHARES, "skew": 30, "recall": "0.1", "attacks": ("a",),
        "unread": (),
    })  # fmt: skip


def sought(releases: int, rng: Rng) -> MembershipRecord:
    """Return the record of a blind attacker, for tables of a thousand units in a hundred thousand."""
    estimating = releases - -(-releases // 10)

    def played(must: Literal["judged", "hold"], of: Callable[[float], list[float]]) -> Claimed:
        points = tuple(MembershipPoint(claimed=share, attack="a", tpr=tuple(of(share))) for share in SHARES)
        return Claimed(
            mechanism="constant", must=must, note="", rate=None, releases=len(points[0].tpr), n=MEMBERS,
            others=SIZE - MEMBERS, points=points, recall={},
        )  # fmt: skip

    def drawn(share: float) -> list[float]:
        units = round(share * SIZE)
        found = rng.hypergeometric(MEMBERS, SIZE - MEMBERS, units, estimating) / MEMBERS
        return [float(each) for each in found]

    return MembershipRecord(
        setting=membership(releases), digest="x", seed="0" * 32, made=date(2030, 1, 1), attempt=1,
        played=(played("judged", drawn), played("hold", lambda share: [share] * 2)),
    )  # fmt: skip


@pytest.mark.thorough
def test_a_harmless_mechanism_passes_membership_with_the_releases_that_are_advised() -> None:
    """A thousand members of a hundred thousand: N plays, LEAST passes."""
    assert membership_releases(membership(20), LEVEL) == 24
    ended = outcomes(lambda rng: claimed(sought(24, rng)).outcome)
    assert ended.count(Outcome.PASS) >= LEAST, ended.count(Outcome.PASS)


@pytest.mark.parametrize("n", [2_000, 10_000, 150_000])
def test_the_default_of_synthetic_rows_suffices_for_a_harmless_mechanism(n: int) -> None:
    """With default limits, at a first attempt: fewer releases than of other kinds, since each takes seconds."""
    recall, spec = max(Fraction(1, 1000), Fraction(20, n)), AuditSpec()
    own = membership(20).model_copy(update={
        "population_size": 2 * n, "n": n, "recall": recall, "limit": limit_of(spec),
        "claimed": claimed_shares(spec, recall, n, 2 * n),
    })  # fmt: skip
    assert (membership_releases(own, LEVEL) or MOST_RELEASES) <= SyntheticKind().attacked_tables
    assert (
        inference_releases(spec.inference.limit, [float(n)], LEVEL, ON_LARGEST_BET) or MOST_RELEASES
    ) <= SyntheticKind().attacked_releases


def test_with_20_releases_nothing_can_be_told_of_membership() -> None:
    said = [claimed(sought(20, np.random.default_rng(seed))) for seed in range(10)]
    assert not any(each.outcome is Outcome.FAIL for each in said)
    (reason,) = next(each.reasons for each in said if each.outcome is Outcome.INCONCLUSIVE)
    assert reason.startswith("nothing was found in 20 releases")
    assert reason.endswith("in so few; write releases: 27")
