"""Findings of an audit of singling out from its counts: rates with exact limits, refutations, and the detectable
excess.

Each attacker's own upper limit decides a pass, at one-sided level alpha without a correction, since all of them must be
low. That an attacker is above its baseline is tested at level alpha over all of them (Holm 1979). The level is that of
the attempt: .05, halved for each earlier audit of the same policy.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from crowdgate.accounting import pso
from crowdgate.accounting.audit_power import binomial_p, chance_to_pass, detectable_excess, holm
from crowdgate.accounting.intervals import clopper_pearson
from crowdgate.accounting.pso_baselines import best_baseline, finite_baseline
from crowdgate.audit.common.audit import Options
from crowdgate.audit.common.findings import NOTHING_PROVEN, Findings, control_reasons, outcome_of, too_few, worst
from crowdgate.audit.common.levels import POWER, level
from crowdgate.audit.singling_out.ceiling import could_not_fail
from crowdgate.audit.singling_out.control_results import SinglingOutControlResult, control_results
from crowdgate.audit.singling_out.record import SinglingOutRecord, SinglingOutResults, SinglingOutSetting, weights_of
from crowdgate.audit.singling_out.trials_needed import chance_of_harmless, trials_needed
from crowdgate.audit.singling_out_attackers import ATTACKERS
from crowdgate.candidate import Measurement, Number
from crowdgate.measures.recorded_audits import ISOLATION_RATE, KEPT_SHARE, PSO_EXCESS, PSO_SUCCESS

_ASIDE = frozenset(each.name for each in ATTACKERS if each.aside)
_BLIND = frozenset(each.name for each in ATTACKERS if each.blind)


@dataclass(frozen=True)
class RateAtWeight:
    """One attacker at one greatest weight of predicates: number of trials with an isolation within this weight, their
    share of all trials (`rate`) with one-sided confidence limits, and the success of a trivial attacker
    (`baseline`)."""

    weight: Fraction
    successes: int
    rate: Measurement
    baseline: float

    @property
    def excess(self) -> Measurement:
        """Share of trials with an isolation minus the baseline, with confidence limits."""
        return Measurement(*(number - self.baseline for number in (self.rate.value, self.rate.lower, self.rate.upper)))


@dataclass(frozen=True)
class AttackerRates:
    """Rates of one attacker at all weights (`points`). `idle` is true if the attacker had nothing to read in any
    trial."""

    attacker: str
    points: tuple[RateAtWeight, ...]
    idle: bool


@dataclass(frozen=True)
class SinglingOutFindings(Findings):
    """Findings on the policy's mechanism at the greatest weight of its setting (`success`, `excess`, for the worst
    attacker), and at any weight (`isolation`).

    `excess` includes what is proven at any other weight, so that a small weight does not hide a break that only shows
    at 1/n. `kept` is the share of the sampled rows that were released (None: no rows are released). `seen` is the least
    excess that would have been refuted with probability .9, given all other tests (None: none). `at_baseline` and
    `at_bound` are probabilities that no attacker exceeds the limit at the judged weight, as if attackers were
    independent. The first is for attackers that are as good as a trivial one, the second for one of them that reaches
    the mechanism's own bound n (w e^epsilon + delta) there (n units, weight w).
    """

    lines: tuple[AttackerRates, ...]
    above: tuple[tuple[str, RateAtWeight], ...]
    success: Measurement
    excess: Measurement
    isolation: Measurement
    kept: float | None
    baseline: float
    bound: float
    seen: float | None
    at_baseline: float
    at_bound: float
    controls: tuple[SinglingOutControlResult, ...]

    @property
    def refuted(self) -> tuple[str, ...]:
        """Names of the attackers that are significantly above their baseline at some weight."""
        return tuple(dict.fromkeys(name for name, _ in self.above))


def findings_of(record: SinglingOutRecord) -> SinglingOutFindings:
    """Return the findings of a finished singling-out audit, computed from its record."""
    setting, own, alpha = record.setting, record.policy_results, level(record.attempt)
    lines = tuple(attacker_rates(own, setting, alpha))
    first = [line.points[0] for line in lines if not line.idle]
    looking = [line for line in lines if not line.idle]
    above = refutations(looking, own.trials, alpha)
    costs = ((setting.epsilon, setting.delta), *setting.points)
    baseline, bound = first[0].baseline, min(pso.bound(own.n, setting.weight, *cost) for cost in costs)
    proven = _proven([point for line in looking for point in line.points[1:]], own.trials, alpha)
    excess = _excess(first, proven)
    controls = control_results(record.controls)
    holds = excess.upper <= setting.limit
    everywhere = _proven([point for line in looking for point in line.points], own.trials, alpha)
    found = any(each > setting.limit for each in everywhere)
    reasons = tuple(_reasons(lines, controls))
    if holds and own.ceiling is not None and own.ceiling <= setting.limit:
        reasons = (*reasons, could_not_fail(own.ceiling, setting.limit))
    if not (holds or found or reasons):
        reasons = tuple(_too_few(record, looking, excess)) or (NOTHING_PROVEN,)
    one, at_bound = (
        _pass_probability(setting, own, baseline, true, alpha) for true in (baseline, max(baseline, bound))
    )
    return SinglingOutFindings(
        outcome=outcome_of(reasons, holds), reasons=reasons, lines=lines, above=above,
        success=worst(point.rate for point in first), excess=excess, isolation=_isolation(own, alpha),
        kept=_retained_share(own, setting), baseline=baseline, bound=bound,
        seen=detectable_excess(baseline, own.trials, alpha / sum(len(line.points) for line in looking), POWER),
        at_baseline=one ** len(looking), at_bound=at_bound * one ** (len(looking) - 1), controls=controls,
    )  # fmt: skip


def baseline_of(setting: SinglingOutSetting, n: int, weight: Fraction) -> float:
    """Return the greatest probability of isolating a unit without access to the release, by predicates of at most this
    weight, in tables of n units."""
    if setting.replacement:
        return best_baseline(n, weight)
    return finite_baseline(n, setting.population_size, weight)


def attacker_rates(played: SinglingOutResults, setting: SinglingOutSetting, alpha: Fraction) -> Iterator[AttackerRates]:
    """Yield, for each attacker on a mechanism, the shares of trials with an isolation at each weight."""
    for each in played.attacked:
        points = []
        for weight, successes in zip(played.weights, each.light, strict=True):
            aside = each.attacker in _ASIDE
            baseline = float(weight) if aside else baseline_of(setting, played.n, weight)
            points.append(RateAtWeight(weight, successes, rate(successes, played.trials, alpha), baseline))
        yield AttackerRates(each.attacker, tuple(points), each.idle == played.trials)


def rate(successes: int, trials: int, alpha: Fraction) -> Measurement:
    """Return the share of successes in trials, with exact one-sided confidence limits at level alpha (Clopper, Pearson
    1934)."""
    low, high = clopper_pearson(successes, trials, alpha)
    return Measurement(successes / trials, low, high)


def refutations(lines: Sequence[AttackerRates], trials: int, alpha: Fraction) -> tuple[tuple[str, RateAtWeight], ...]:
    """Return the names of the attackers that are significantly above their baseline, each with the weight's rate, at
    level alpha over all attackers and weights (Holm)."""
    points = [(line.attacker, point) for line in lines for point in line.points]
    adjusted = holm([binomial_p(point.successes, trials, min(1.0, point.baseline)) for _, point in points])
    return tuple(each for each, p in zip(points, adjusted, strict=True) if p <= alpha)


def _proven(others: Sequence[RateAtWeight], trials: int, alpha: Fraction) -> list[Number]:
    """Return, for each rate at another weight than the judged one, the lower confidence limit of its excess over the
    baseline, at level alpha for all of them together (Bonferroni)."""
    return [rate(each.successes, trials, alpha / len(others)).lower - each.baseline for each in others]


def _excess(judged: Sequence[RateAtWeight], proven: Sequence[Number]) -> Measurement:
    """Return the worst attacker's excess over the baseline at the judged weight, with limits. The upper limit is raised
    if more is proven at another weight."""
    most = worst(point.excess for point in judged)
    return Measurement(most.value, most.lower, max(most.upper, *proven)) if proven else most


def _isolation(own: SinglingOutResults, alpha: Fraction) -> Measurement:
    counts = [count for each in own.attacked if each.idle < own.trials for count in each.any]
    return worst(rate(count, own.trials, alpha) for count in counts)


def _retained_share(own: SinglingOutResults, setting: SinglingOutSetting) -> float | None:
    return None if setting.beta is None else own.kept / (own.trials * own.n * float(setting.beta))


def _pass_probability(
    setting: SinglingOutSetting, own: SinglingOutResults, baseline: float, true: float, alpha: Fraction
) -> float:
    """Return the probability that one attacker whose true success is `true` does not exceed the audit's limit."""
    return chance_to_pass(min(Fraction(1), Fraction(baseline) + setting.limit), min(1.0, true), own.trials, alpha)


def needed(setting: SinglingOutSetting, alpha: Fraction, _: object) -> int | None:
    """Return the number of trials with which a harmless mechanism passes an audit at level alpha; None if no number
    suffices. All attackers count, since it is not known beforehand which of them can read the release."""
    other = tuple(baseline_of(setting, setting.n, weight) for weight in setting.weights)
    attackers = [tuple(map(float, setting.weights)) if each.aside else other for each in ATTACKERS]
    return trials_needed(attackers, setting.limit, alpha)


def _reasons(lines: Sequence[AttackerRates], controls: Sequence[SinglingOutControlResult]) -> Iterator[str]:
    """Yield the reasons why a singling-out audit is inconclusive, as clauses."""
    yield from control_reasons(controls)
    if all(line.idle for line in lines if line.attacker not in _BLIND):
        yield "no attacker had anything to attack: nothing is released that any of them reads"


def _too_few(record: SinglingOutRecord, looking: Sequence[AttackerRates], excess: Measurement) -> Iterator[str]:
    """Yield the reason if a harmless mechanism would not pass in so few trials either, with the number of trials for
    the next attempt. Applies only if the limit is exceeded and no attacker was found above its baseline."""
    setting, attackers = record.setting, [tuple(point.baseline for point in line.points) for line in looking]
    if excess.upper <= setting.limit:
        return
    if chance_of_harmless(attackers, setting.limit, setting.trials, level(record.attempt)) < POWER:
        needed = trials_needed(attackers, setting.limit, level(record.attempt + 1))
        if needed is not None:  # otherwise the limit is too small for any number of trials
            yield too_few("trials", setting.trials, needed)


def measurement(_: SinglingOutRecord, said: SinglingOutFindings, name: str, __: Options) -> Measurement | None:
    """Return the measured figure that a gate's measure `name` reads; None if it is unknown."""
    return {
        PSO_SUCCESS.name: said.success, PSO_EXCESS.name: said.excess, ISOLATION_RATE.name: said.isolation,
        KEPT_SHARE.name: None if said.kept is None else Measurement.exact(said.kept),
    }[name]  # fmt: skip


def oddities(record: SinglingOutRecord) -> Iterator[str]:
    """Yield statements about a record that no audit would have written."""
    if record.setting.weights != weights_of(record.setting.weight, record.setting.n):
        yield "this audit was not judged at the predicate weights that its settings give"
