"""Noise of charged gates in one fresh release, beside what the policy states for it."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from crowdgate.accounting.discrete_laws import DiscreteLaplace
from crowdgate.candidate import Candidate
from crowdgate.kind.stated_laws import Contradiction, NoiseDraws, StatedDraw
from crowdgate.measures import MEASURES
from crowdgate.measures.base import Measure
from crowdgate.noise import CountNoise
from crowdgate.policy.policy import GateRule

FAR = 10**6
"""A difference of noise that every gate must show."""
UNPAID = Contradiction("A charged gate read the table without the noise of its stated cost.")


def gate_draws(rules: Iterable[GateRule], candidate: Candidate, noise: CountNoise) -> Iterator[StatedDraw]:
    """Yield the noise of each charged gate of `rules` that a release of this candidate measures."""
    for rule in rules:
        measure = MEASURES[rule.measure]
        if rule.charge is not None and measure.of_candidate is not None:
            yield from _gate_draw(rule, measure, candidate, noise)


def _gate_draw(rule: GateRule, measure: Measure, candidate: Candidate, noise: CountNoise) -> Iterator[StatedDraw]:
    calls: list[tuple[int, int, Fraction, int]] = []

    def recorded(count: int, sensitivity: int, epsilon: Fraction) -> int:
        noisy = noise(count, sensitivity, epsilon)
        calls.append((count, sensitivity, epsilon, noisy))
        return noisy

    assert measure.of_candidate is not None, "it reads a candidate"
    assert rule.charge is not None, "it is charged"
    found = measure.of_candidate(replace(candidate, noise=recorded), rule)
    if found is None and not calls:
        return
    if [epsilon for _, _, epsilon, _ in calls] != [rule.charge.epsilon]:
        yield UNPAID
        return
    ((count, sensitivity, epsilon, noisy),) = calls
    again, other = (_again(rule, measure, candidate, each) for each in (noisy, noisy + FAR))
    if again != found or other == found:
        yield UNPAID
        return
    law = DiscreteLaplace(sensitivity / epsilon)
    yield NoiseDraws("noise of gates", law, np.array([noisy - count], dtype=np.int64))


def _again(rule: GateRule, measure: Measure, candidate: Candidate, noisy: int) -> object:
    """Return what the gate measures where its noisy count is `noisy`."""
    assert measure.of_candidate is not None, "it reads a candidate"
    return measure.of_candidate(replace(candidate, noise=lambda *_: noisy), rule)
