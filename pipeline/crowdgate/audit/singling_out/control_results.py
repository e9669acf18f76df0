"""Results of the controls of an audit of singling out.

A control that must be caught is judged where the attack is strongest: the attacker and the weight (or any weight)
furthest above the baseline in every tenth trial are judged in the other nine. It is caught if the lower one-sided 95 %
confidence limit is above the baseline there. A control that must hold does so unless an attacker is significantly above
its baseline at some weight, at a joint level (Holm 1979), which is the probability of a false alarm.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from crowdgate.accounting.audit_power import binomial_p, chance_to_refute, holm
from crowdgate.accounting.intervals import clopper_pearson
from crowdgate.accounting.pso_baselines import best_baseline
from crowdgate.audit.common.findings import ControlResult
from crowdgate.audit.common.levels import ALPHA, POWER
from crowdgate.audit.singling_out.record import AttackerCounts, SinglingOutResults
from crowdgate.candidate import Measurement
from crowdgate.number_text import rounded


@dataclass(frozen=True)
class ControlAttack:
    """One attacker on a control at one weight (None: any weight): its isolations in every tenth trial (`chosen_on`) and
    in the others (`estimated_on`), and the greatest success without access to the release (`baseline`)."""

    attacker: str
    weight: Fraction | None
    chosen_on: int
    estimated_on: int
    baseline: float


@dataclass(frozen=True)
class SinglingOutControlResult(ControlResult):
    """Result of a control. `attack` is the attack by which it was judged, and `rate` its success. `power` is the
    probability of the correct result: that an attack with the stated rate is caught, or that there is no false
    alarm."""

    attack: ControlAttack
    rate: Measurement
    power: float

    @property
    def failure(self) -> str:
        return "was not caught" if self.must == "be caught" else f"was refuted by {self.attack.attacker!r}"

    @property
    def reason(self) -> str | None:
        """Reason why this control makes the audit inconclusive: it failed, or its power is too low; None otherwise."""
        if self.works and self.power < POWER:
            likely = f"{rounded(self.power, 2)} only, under {float(POWER)}"
            return f"the control {self.control!r} would be found with probability {likely}"
        return super().reason


def control_results(controls: Sequence[SinglingOutResults]) -> tuple[SinglingOutControlResult, ...]:
    """Return the results of all controls. Those that must hold share one level, so that together they raise a false
    alarm with probability at most .05."""
    level = ALPHA / max(1, sum(each.must == "hold" for each in controls))
    return tuple(
        insecure_control_result(each, each.rate or 0.0)
        if each.must == "be caught"
        else secure_control_result(each, level)
        for each in controls
    )


def insecure_control_result(played: SinglingOutResults, rate: float) -> SinglingOutControlResult:
    """Return the result of a control that must be caught. `rate` is the stated success of the best attacker on it."""
    tenth, others = played.tenth, played.trials - played.tenth
    # the strongest; ties go to the least baseline
    best = max(control_attacks(played), key=lambda each: (each.chosen_on / tenth - each.baseline, -each.baseline))
    found = _rate(best.estimated_on, others, ALPHA)
    power = chance_to_refute(best.baseline, rate, others, ALPHA)
    return SinglingOutControlResult(played.mechanism, played.must, found.lower > best.baseline, best, found, power)


def secure_control_result(played: SinglingOutResults, level: Fraction) -> SinglingOutControlResult:
    """Return the result of a control that must hold: it does so unless an attacker is significantly above its baseline
    at `level` over all its attacks (Holm)."""
    every = list(control_attacks(played))
    successes = [each.chosen_on + each.estimated_on for each in every]
    ps = holm([binomial_p(s, played.trials, each.baseline) for s, each in zip(successes, every, strict=True)])
    at = min(range(len(ps)), key=lambda place: (ps[place], every[place].baseline - successes[place] / played.trials))
    found = _rate(successes[at], played.trials, level)
    return SinglingOutControlResult(played.mechanism, played.must, ps[at] > level, every[at], found, float(1 - level))


def control_attacks(played: SinglingOutResults) -> Iterator[ControlAttack]:
    """Yield every attack on a control: each attacker at each weight, and at any weight. At any weight the baseline is
    the greatest possible success, (1 - 1/n)^(n - 1) for tables of n units."""
    for each in played.attacked:
        for at, weight in enumerate(played.weights):
            yield _control_attack(each, weight, each.light[at], each.tenth_light[at], best_baseline(played.n, weight))
            yield _control_attack(each, None, each.any[at], each.tenth_any[at], best_baseline(played.n, 1))


def _control_attack(
    of: AttackerCounts, weight: Fraction | None, all: int, tenth: int, baseline: float
) -> ControlAttack:
    return ControlAttack(of.attacker, weight, tenth, all - tenth, baseline)


def _rate(successes: int, trials: int, alpha: Fraction) -> Measurement:
    return Measurement(successes / trials, *clopper_pearson(successes, trials, alpha))
