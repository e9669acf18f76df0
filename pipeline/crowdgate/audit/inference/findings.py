"""Findings of an inference audit from its shares: precision, coverage and precision improvement, with limits over
releases.

A limit passes on the upper confidence limit of every secret; no correction is needed, since all of them must be low.
That an attack is above its baseline is tested at one level over all secrets, groups and coverages (Holm 1979).
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from crowdgate.accounting.audit_power import holm
from crowdgate.accounting.bets import EVEN, difference_limits, improvement_p, ratio_limits
from crowdgate.audit.common.audit import Options
from crowdgate.audit.common.findings import (
    NOTHING_PROVEN,
    ControlResult,
    Findings,
    control_reasons,
    outcome_of,
    too_few_releases,
    worst,
)
from crowdgate.audit.common.levels import level
from crowdgate.audit.inference.attacks import BLIND
from crowdgate.audit.inference.improvements import improvement_of, improvements_for_people, value_of
from crowdgate.audit.inference.record import (
    AttackShares,
    InferenceRecord,
    InferenceResults,
    InferenceSetting,
    SecretResults,
)
from crowdgate.audit.inference.releases_needed import inference_releases
from crowdgate.audit.inference.secret_case import GROUPS
from crowdgate.candidate import Measurement
from crowdgate.measures.recorded_audits import INFERENCE_ABOVE, INFERENCE_GAIN
from crowdgate.number_text import decimal, rounded, whole

LEAST_TARGETS = 20
"""Least number of predicted targets for a precision: with fewer it depends on single people."""
SEEN, HELD = 2, 3
"""Numbers of standard errors: a control that must show some improvement exceeds the first, one that must hold does not
exceed the second."""
STRICTER = Fraction(1, 10)
"""Distance of an attack below its baseline from which on a release is called stricter than inference alone would
need."""


@dataclass(frozen=True)
class InferenceEstimate:
    """Estimate for one secret, group and coverage. `precision` of the attack and of the two baselines: for exactly the
    targets that the attack predicts (`base_of_these`), and at equal coverage (`base`). `improvement` over each: None
    where the baseline is always right, so that nothing can be improved. `above` is the attack's precision minus a
    baseline's, the larger of the two differences; `p` is the p-value of no improvement over both, `proven` the
    improvement over both that is proven together with those of all other estimates; `outside` is the precision of the
    attack on people who were not in the release. `for_people` is the gain with limits that hold for people like the
    targets, and so for baselines fitted and chosen on others of them (None in earlier records)."""

    secret: str
    group: str
    coverage: float
    attack: str
    baselines: tuple[str, str]
    predicted: float
    precision: Measurement
    base_of_these: Measurement
    base: Measurement
    improvement_of_these: Measurement | None
    improvement: Measurement | None
    above: Measurement
    p: float
    proven: float
    outside: float | None
    for_people: Measurement | None = None

    @property
    def gain(self) -> Measurement | None:
        """Larger of the improvements over the two baselines; None where a baseline is always right."""
        return _greater([self.improvement_of_these, self.improvement])


def _greater(both: Sequence[Measurement | None]) -> Measurement | None:
    """Return the greater of the improvements over both baselines; None where one is unknown."""
    known = [each for each in both if each is not None]
    return worst(known) if len(known) == 2 else None


def estimates(
    played: InferenceResults, alpha: Fraction, rows: int = 1, on_largest: Fraction = EVEN
) -> list[InferenceEstimate]:
    """Return the estimates for a mechanism: one per secret, group of targets and coverage with enough targets. A target
    has up to `rows` rows. In limits of gains the largest bet has the share `on_largest` of the capital."""
    lines = [(secret, shares) for secret in played.secrets for shares in secret.found if _enough_targets(shares)]
    return [_estimate(secret, shares, alpha, alpha / len(lines), rows, on_largest) for secret, shares in lines]


def _enough_targets(shares: AttackShares) -> bool:
    return shares.targets * shares.coverage >= LEAST_TARGETS and any(each[0] > 0 for each in shares.shares)


def estimates_above_baseline(found: Sequence[InferenceEstimate], alpha: Fraction) -> list[InferenceEstimate]:
    """Return the estimates whose attack is significantly more precise than both baselines, at level alpha over all
    estimates (Holm-adjusted)."""
    adjusted = holm([each.p for each in found])
    return [each for each, p in zip(found, adjusted, strict=True) if p <= alpha]


def _estimate(
    secret: SecretResults, shares: AttackShares, alpha: Fraction, each: Fraction, rows: int, on_largest: Fraction
) -> InferenceEstimate:
    predicted, attack, of_these, base = np.array(shares.shares).T
    most = shares.coverage
    ps = [improvement_p(attack, right, predicted, most) for right in (of_these, base)]
    both = ((of_these, shares.wrong), (base, shares.wrong_at))
    people = improvements_for_people(shares, rows, alpha, on_largest)
    if shares.both is None:
        proven = [improvement_of(attack, right, predicted, each, most, wrong, on_largest) for right, wrong in both]
    else:
        proven = improvements_for_people(shares, rows, each, on_largest)
    return InferenceEstimate(
        secret=secret.secret, group=shares.group, coverage=shares.coverage, attack=shares.attack,
        baselines=(shares.baseline_of_these, shares.baseline), predicted=float(predicted.mean()),
        precision=_precision(attack, predicted, alpha, most),
        base_of_these=_precision(of_these, predicted, alpha, most), base=_precision(base, predicted, alpha, most),
        improvement_of_these=improvement_of(attack, of_these, predicted, alpha, most, shares.wrong, on_largest),
        improvement=improvement_of(attack, base, predicted, alpha, most, shares.wrong_at, on_largest),
        above=_precision_difference(attack, (of_these, base), predicted, alpha, most, on_largest), p=max(ps),
        proven=min(-math.inf if found is None else float(found.lower) for found in proven),
        outside=shares.outside, for_people=_greater(people),
    )  # fmt: skip


Column = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def _precision(right: Column, predicted: Column, alpha: Fraction, most: float) -> Measurement:
    return Measurement(float(right.sum() / predicted.sum()), *ratio_limits(right, predicted, alpha, most))


def _precision_difference(
    attack: Column, bases: Sequence[Column], predicted: Column, alpha: Fraction, most: float, on_largest: Fraction
) -> Measurement:
    """Return the larger of the differences between the attack's precision and each baseline's, with confidence limits.
    The lower limit fails if one of the two does, so that each has half of the level."""
    values = [float((attack - base).sum() / predicted.sum()) for base in bases]
    lower = [difference_limits(attack, base, predicted, alpha / 2, most, on_largest)[0] for base in bases]
    upper = [difference_limits(attack, base, predicted, alpha, most, on_largest)[1] for base in bases]
    return Measurement(max(values), max(lower), max(upper))


@dataclass(frozen=True)
class InferenceControlResult(ControlResult):
    """Result of a control, with the precision improvement by which it was judged (`gain`; None: the attack guessed
    nothing)."""

    gain: float | None


@dataclass(frozen=True)
class TooFewTargets:
    """A group of targets of one secret that is too small at the judged coverage: its number of targets, and the number
    that is needed."""

    secret: str
    group: str
    targets: int
    needed: int


@dataclass(frozen=True)
class InferenceFindings(Findings):
    """Findings on the policy's mechanism. `gain` is the greatest improvement of all secrets at the judged coverage;
    None where a baseline is always right.

    `refuted` are the estimates that are significantly above their baselines, `beyond` those that are proven to exceed
    the limit, at any coverage and for any group; `few` are groups that are too small for a figure. `shown` is, by
    secret, the improvement of an attack on the control that publishes the policy's columns of every row, unchanged.
    """

    estimates: tuple[InferenceEstimate, ...]
    refuted: tuple[InferenceEstimate, ...]
    beyond: tuple[InferenceEstimate, ...]
    few: tuple[TooFewTargets, ...]
    gain: Measurement | None
    controls: tuple[InferenceControlResult, ...]
    shown: Mapping[str, float | None]

    @property
    def stricter(self) -> bool:
        """True if the best attack's upper limit stays more than STRICTER below its baselines, and no attack is
        significantly above them."""
        return self.gain is not None and self.gain.upper < -STRICTER and not self.refuted


def findings_of(record: InferenceRecord) -> InferenceFindings:
    """Return the findings of a finished inference audit, computed from its record."""
    setting, alpha = record.setting, level(record.attempt)
    every = estimates(record.policy_results, alpha, setting.rows, setting.on_largest_bet)
    coverage = float(setting.coverage)
    gain = worst_figure(every, coverage, setting, lambda each: each.gain)
    judged = tuple(control_result(each) for each in record.played if each.must in ("be caught", "hold"))
    beyond = tuple(each for each in every if each.proven > setting.limit)
    above = tuple(estimates_above_baseline(every, alpha))
    limit = gain is not None and gain.upper <= setting.limit and not beyond
    silent = not limit and not beyond
    shown = _raw_column_improvements(record.played)
    reasons = tuple(_reasons(record, every, judged, gain))
    if limit and setting.ceiling and (ceiling := ceiling_of(record.played, setting)) is not None:
        reasons = (*reasons, could_not_fail(ceiling, setting))
    if silent and not reasons:
        needed = partial(inference_releases, setting.limit, list(_wrong(record)), on_largest=setting.on_largest_bet)
        reasons = tuple(too_few_releases(needed, setting.releases, record.attempt)) or (NOTHING_PROVEN,)
    return InferenceFindings(
        outcome=outcome_of(reasons, limit), reasons=reasons, estimates=tuple(every), refuted=above, beyond=beyond,
        few=tuple(too_few_targets(record)), gain=gain, controls=judged, shown=shown,
    )  # fmt: skip


def ceiling_of(played: Sequence[InferenceResults], setting: InferenceSetting) -> float | None:
    """Return the greatest improvement of an attack on the policy's columns of every row, published unchanged, if it is
    within the limit; None if it is not, or unknown for a secret."""
    most = greatest_improvement([each for each in played if each.must == "show"])
    return most if most <= setting.limit else None


def greatest_improvement(shown: Sequence[InferenceResults]) -> float:
    """Return the greatest improvement of attacks on these mechanisms for any secret, group and coverage, at least 0; 1
    if it is unknown for a secret. An audit fails where an improvement over both baselines is proven, so the smaller one
    counts."""
    found = [
        [_least_improvement(shares) for shares in secret.found if _enough_targets(shares)]
        for each in shown
        for secret in each.secrets
    ]
    known = [[gain for gain in gains if gain is not None] for gains in found]
    most = max((gain for gains in known for gain in gains), default=1.0)
    return max(0.0, most) if all(known) else 1.0


def _least_improvement(shares: AttackShares) -> float | None:
    """Return the smaller one of the improvements over the two baselines; None where one is always right."""
    predicted, attack, *bases = np.array(shares.shares).sum(axis=0)
    both = [value_of(attack, base, predicted) for base in bases]
    known = [gain for gain in both if gain is not None]
    return min(known) if len(known) == len(both) else None


def could_not_fail(ceiling: float, setting: InferenceSetting) -> str:
    """Return the reason why an audit with this greatest possible improvement can't tell."""
    return (
        "this audit could not have failed: the policy's columns of every row, published unchanged, gain"
        f" {decimal(ceiling, 3)}, and the limit is {decimal(setting.limit, 4)}; write a smaller limit"
    )


def too_few_targets(record: InferenceRecord) -> Iterator[TooFewTargets]:
    """Yield the groups of targets (other than all targets) that are too small for a figure at the judged coverage. If
    all targets together are too few, the reasons of the findings say so."""
    needed = math.ceil(LEAST_TARGETS / record.setting.coverage)
    for secret in record.policy_results.secrets:
        held = {shares.group: shares.targets for shares in secret.found}
        for group in GROUPS[1:]:
            if held.get(group, 0) < needed:
                yield TooFewTargets(secret.secret, group, held.get(group, 0), needed)


def worst_figure(
    every: Sequence[InferenceEstimate],
    coverage: float,
    setting: InferenceSetting,
    of: Callable[[InferenceEstimate], Measurement | None],
) -> Measurement | None:
    """Return the greatest value and limits over all secrets of one figure (`of`) of the estimates at this coverage for
    all targets; None if it is unknown for a secret."""
    own = {each.secret: of(each) for each in every if (each.coverage, each.group) == (coverage, GROUPS[0])}
    known = [figure for name, _ in setting.secrets if (figure := own.get(name)) is not None]
    if len(known) < len(setting.secrets) or not known:
        return None
    return worst(known)


def control_result(played: InferenceResults) -> InferenceControlResult:
    """Return the result of a control, from exact figures for all targets.

    A control with a required improvement must exceed it for every secret; one that must show any improvement does so
    for some secret, by SEEN standard errors. A control that must hold has an improvement of at most HELD standard
    errors: so much a baseline can lose by being chosen on few targets.
    """
    whole = [_exact_improvement(secret) for secret in played.secrets]
    known = [each for each in whole if each is not None]
    beyond = [gain / _improvement_error(of) for gain, of in zip(whole, played.secrets, strict=True) if gain is not None]
    most = max(known, default=None)
    if played.must == "hold":
        return InferenceControlResult(played.mechanism, played.must, all(each <= HELD for each in beyond), most)
    if not played.rate:
        return InferenceControlResult(played.mechanism, played.must, any(each > SEEN for each in beyond), most)
    least = min(known) if len(known) == len(whole) and known else None
    return InferenceControlResult(played.mechanism, played.must, least is not None and least > played.rate, least)


def _exact_improvement(secret: SecretResults) -> float | None:
    """Return the mean improvement over the paper's baseline, which guesses for the same targets, for all targets at
    coverage 1; None where it is unknown."""
    own = (shares for shares in secret.found if (shares.group, shares.coverage) == (GROUPS[0], 1.0))
    return next((_mean_improvement(shares) for shares in own), None)


def _improvement_error(secret: SecretResults) -> float:
    """Return the standard error of the improvement for all targets. For a baseline that is right for a share b of t
    targets it is sqrt(b (1 - b)/t)/(1 - b). It is above 0 also if b is 0 or 1."""
    own = next(each for each in secret.found if (each.group, each.coverage) == (GROUPS[0], 1.0))
    right = max(1 - own.wrong, 1 / own.targets)
    return math.sqrt(right / (own.targets * max(own.wrong, 1 / own.targets)))


def _mean_improvement(shares: AttackShares) -> float | None:
    """Return the precision improvement, over all releases, on the baseline that guesses for exactly the attack's
    targets; None where that baseline is always right."""
    predicted, attack, of_these, _ = np.array(shares.shares).sum(axis=0)
    return value_of(attack, of_these, predicted)


def _raw_column_improvements(played: Sequence[InferenceResults]) -> Mapping[str, float | None]:
    return {
        secret.secret: _exact_improvement(secret) for each in played if each.must == "show" for secret in each.secrets
    }


def _reasons(
    record: InferenceRecord,
    every: Sequence[InferenceEstimate],
    judged: Sequence[InferenceControlResult],
    gain: Measurement | None,
) -> Iterator[str]:
    """Yield the reasons why an inference audit is inconclusive, as clauses."""
    yield from control_reasons(judged)
    coverage = float(record.setting.coverage)
    for secret in record.policy_results.secrets:
        own = [each for each in every if each.secret == secret.secret and each.coverage == coverage]
        if all(right is None for name, lines in secret.precision.items() if name != BLIND for right, _ in lines):
            yield f"no attack on {secret.secret!r} reads every release"
        elif not own:
            need = math.ceil(LEAST_TARGETS / record.setting.coverage)
            yield (
                f"too few targets at coverage {rounded(coverage, 6)} to speak of {secret.secret!r}:"
                f" {whole(need)} are needed"
            )
    if gain is None and all(each.found for each in record.policy_results.secrets):
        yield (
            f"a baseline is always right at coverage {rounded(coverage, 6)}: there is nothing that a release"
            " could improve"
        )


def _wrong(record: InferenceRecord) -> Iterator[float]:
    """Yield, for each secret, the number of targets for whom the better baseline is wrong, at the judged coverage."""
    place = (GROUPS[0], float(record.setting.coverage))
    for secret in record.policy_results.secrets:
        own = (each for each in secret.found if (each.group, each.coverage) == place)
        yield from (each.targets * min(each.wrong, each.wrong_at) for each in own)


def needed(setting: InferenceSetting, alpha: Fraction, _: object) -> int | None:
    """Return the number of releases with which a harmless mechanism passes an audit at level alpha if baselines are
    wrong for everybody, which needs the fewest; None if no number suffices."""
    return inference_releases(setting.limit, [float(setting.n)] * len(setting.secrets), alpha, setting.on_largest_bet)


def measurement(record: InferenceRecord, said: InferenceFindings, name: str, options: Options) -> Measurement | None:
    """Return the measured figure that a gate's measure `name` reads (improvement, or precision above the baseline), at
    the coverage in the gate's options; None if it is unknown."""
    of: Callable[[InferenceEstimate], Measurement | None] = {
        INFERENCE_GAIN.name: lambda each: each.gain, INFERENCE_ABOVE.name: lambda each: each.above,
    }[name]  # fmt: skip
    return worst_figure(said.estimates, float(options["coverage"]), record.setting, of)
