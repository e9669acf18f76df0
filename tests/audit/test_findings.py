"""From counts to a verdict: pass, fail or inconclusive."""

from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting import pso
from crowdgate.accounting.intervals import clopper_pearson
from crowdgate.audit.common.levels import ALPHA, level
from crowdgate.audit.singling_out.findings import (
    AttackerRates,
    RateAtWeight,
    SinglingOutFindings,
    findings_of,
    rate,
    refutations,
)
from crowdgate.audit.singling_out.record import (
    AttackerCounts,
    SinglingOutRecord,
    SinglingOutResults,
    SinglingOutSetting,
)
from crowdgate.gate import Outcome
from tests.examples import examples

N, TRIALS = 10_000, 2_500
WEIGHTS = (Fraction(5, 1000 * N), Fraction(1, N))
SETTING = SinglingOutSetting(
    policy="clinic", version="1", policy_digest="p", mechanism="safe_k_anonymity", epsilon=Fraction(1),
    delta=Fraction(1, 10**9), beta=Fraction(1, 2), contract="clinic", population="clinic", population_digest="d",
    population_size=N, n=N, replacement=True, weight=WEIGHTS[0], weights=WEIGHTS, trials=TRIALS,
    limit=Fraction(1, 100), attackers=("likeliest classes",), controls=("identity",),
    not_played=(), unread=(), code="c", libraries={},
)  # fmt: skip


def attacked(name: str, light: tuple[int, int], idle: int = 0) -> AttackerCounts:
    tenth = tuple(count // 10 for count in light)
    return AttackerCounts(attacker=name, light=light, any=light, idle=idle, tenth_light=tenth, tenth_any=tenth)


def control(successes: int = 60, rate: float = 1.0) -> SinglingOutResults:
    one = attacked("raw row", (successes, successes))
    return SinglingOutResults(
        mechanism="identity", must="be caught", note="all", rate=rate, n=N, trials=60, weights=WEIGHTS, attacked=(one,)
    )


def record(
    *against: AttackerCounts, attempt: int = 1, controls: tuple[SinglingOutResults, ...] = (control(),), kept: int = 0
) -> SinglingOutRecord:
    own = SinglingOutResults(
        mechanism="the policy's mechanism", must="judged", note="", rate=None, n=N, trials=TRIALS, weights=WEIGHTS,
        attacked=(attacked("trivial hash", (12, 920)), *against), kept=kept,
    )  # fmt: skip
    names = tuple(each.attacker for each in own.attacked)
    setting = SETTING.model_copy(update={"attackers": names, "controls": tuple(each.mechanism for each in controls)})
    return SinglingOutRecord(
        setting=setting, digest="x", seed="0" * 32, made=date(2030, 1, 1), attempt=attempt, played=(own, *controls)
    )


def of(successes: int, **kinds: object) -> SinglingOutFindings:
    return findings_of(record(attacked("likeliest classes", (successes, 920)), **kinds))  # type: ignore[arg-type]


@pytest.mark.thorough
@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, TRIALS), st.integers(1, 4))
def test_a_pass_is_an_upper_end_within_the_limit(successes: int, attempt: int) -> None:
    """Recomputed from the definition: the greatest upper limit of all attackers, at the level of the attempt."""
    said = of(successes, attempt=attempt)
    alpha = Fraction(1, 20 * 2 ** (attempt - 1))
    baseline = pso.baseline(N, WEIGHTS[0])
    upper = max(clopper_pearson(count, TRIALS, alpha)[1] for count in (12, successes))
    assert said.excess.upper == pytest.approx(upper - baseline, abs=1e-12)
    assert said.success.upper == upper
    proven = clopper_pearson(successes, TRIALS, alpha / 4)[0] - baseline > 0.01
    between = Outcome.FAIL if proven else Outcome.INCONCLUSIVE
    assert said.outcome is (Outcome.PASS if upper - baseline <= 0.01 else between)
    assert level(attempt) == alpha


def test_at_the_baseline_it_passes_and_one_in_thirty_fails() -> None:
    assert of(13).outcome is Outcome.PASS
    assert of(13).refuted == ()
    assert of(50).refuted == ("likeliest classes",)
    assert of(50).outcome is Outcome.INCONCLUSIVE, "above the baseline, and not proven to be beyond the limit"
    assert of(80).outcome is Outcome.FAIL


def test_what_is_proven_at_another_weight_is_not_hidden_by_a_small_one() -> None:
    """13 of 2,500 at the judged weight; .56 at 1/n, where the baseline is .368."""
    said = findings_of(record(attacked("likeliest classes", (13, 1400))))
    assert said.outcome is Outcome.FAIL
    assert 0.15 < said.excess.upper < 0.2
    assert of(13).excess.upper < 0.01


def test_a_failure_is_proven_at_one_level_over_all_attackers_and_weights() -> None:
    """996 isolations of 2,500 at 1/n are beyond the limit by the tests at that weight only, and not by all of them."""
    said = findings_of(record(attacked("likeliest classes", (13, 996))))
    assert said.excess.upper > 0.01
    assert said.outcome is Outcome.INCONCLUSIVE


def test_later_attempts_are_judged_harder() -> None:
    """26 of 2,500 pass at .05 and not at .05 / 16."""
    assert of(26).outcome is Outcome.PASS
    assert of(26, attempt=5).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("controls", "reason"),
    [((), "no control was played"), ((control(0),), "'identity' must be caught, and was not"),
     ((control(rate=0.02),), "would be found with probability")],
)  # fmt: skip
def test_without_power_nothing_is_concluded(controls: tuple[SinglingOutResults, ...], reason: str) -> None:
    said = of(0, controls=controls)
    assert said.outcome is Outcome.INCONCLUSIVE
    assert any(reason in each for each in said.reasons)


def test_nothing_to_attack_is_no_pass() -> None:
    said = findings_of(record(attacked("likeliest classes", (0, 0), idle=TRIALS)))
    assert said.outcome is Outcome.INCONCLUSIVE
    assert "no attacker had anything to attack" in said.reasons[0]
    blind = findings_of(record(attacked("likeliest classes", (0, 0), idle=TRIALS), attacked("digest only", (12, 900))))
    assert blind.outcome is Outcome.INCONCLUSIVE


def test_who_knows_all_others_is_held_against_its_own_baseline() -> None:
    """20 of 2,500 would be little against B(n, 1/n) = .37; against w = .0001 they are a refutation."""
    said = findings_of(record(attacked("all others known", (0, 20))))
    assert said.refuted == ("all others known",)


def test_what_could_have_been_seen() -> None:
    said = of(13, kept=TRIALS * N // 4)
    assert said.kept == pytest.approx(0.5)
    assert said.bound == pytest.approx(N * (float(WEIGHTS[0]) * 2.718281828 + 1e-9), rel=1e-6)
    assert said.seen is not None
    # .0049 as the only test; larger as one of four
    assert 0.005 < said.seen < 0.007
    assert said.at_baseline > 0.99
    # an attacker as good as the bound, .0136, hardly stays within .015 in 2,500 trials
    assert said.at_bound < 0.2
    assert findings_of(replace_limit(Fraction(3, 100))).at_bound > 0.99


def replace_limit(limit: Fraction) -> SinglingOutRecord:
    one = record(attacked("likeliest classes", (13, 920)))
    return one.model_copy(update={"setting": one.setting.model_copy(update={"limit": limit})})


def identity(trials: int, one: AttackerCounts) -> SinglingOutResults:
    return SinglingOutResults(
        mechanism="identity", must="be caught", note="", rate=1.0, n=N, trials=trials, weights=WEIGHTS, attacked=(one,)
    )


def test_more_isolations_than_trials_are_no_counts() -> None:
    """Neither in all trials nor in every tenth one may there be more isolations than trials."""
    tenth = AttackerCounts(attacker="raw row", light=(9, 9), any=(9, 9), idle=0, tenth_light=(7, 7), tenth_any=(7, 7))
    for trials, one in ((59, attacked("raw row", (60, 60))), (600, attacked("raw row", (610, 610))), (60, tenth)):
        with pytest.raises(ValueError, match="more isolations than trials"):
            identity(trials, one)


def test_a_control_that_is_not_played_is_named_once() -> None:
    made = record()
    setting = SETTING.model_copy(update={"attackers": made.setting.attackers, "not_played": ("noise off",)})
    said = made.model_dump()
    assert SinglingOutRecord.model_validate({**said, "setting": setting.model_dump()}).setting.not_played == (
        "noise off",
    )
    twice = setting.model_copy(update={"not_played": ("identity",)})
    with pytest.raises(ValueError, match="a control is played once, or not"):
        SinglingOutRecord.model_validate({**said, "setting": twice.model_dump()})


def test_nobody_is_above_a_baseline_that_rounding_took_over_1() -> None:
    point = RateAtWeight(WEIGHTS[0], TRIALS, rate(TRIALS, TRIALS, ALPHA), 1 + 2**-52)
    assert refutations([AttackerRates("trivial hash", (point,), False)], TRIALS, ALPHA) == ()
