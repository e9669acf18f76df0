"""The policy's own mechanism with a fault, at the policy's own table size: a working audit detects it."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import exp

import numpy as np

from crowdgate.accounting.intervals import clopper_pearson
from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.policy_mechanism import PolicyMechanism
from crowdgate.audit.common.population import DrawnTable, Population, Rng
from crowdgate.audit.common.predicates import ALL_BITS
from crowdgate.audit.common.unreleased_parts import RawRows
from crowdgate.audit.singling_out_attackers.base import SinglingOutAttackerView
from crowdgate.audit.singling_out_attackers.on_noisy_tables import CellsAsExact
from crowdgate.audit.singling_out_controls.base import SinglingOutControl
from crowdgate.candidate import OutputType, Static
from crowdgate.histogram import subsample
from crowdgate.kind.kind import Protection
from crowdgate.kind.mechanism_output import MechanismOutput


@dataclass(frozen=True, eq=False)
class SuppressionOff(SinglingOutControl):
    """Control that publishes classes of any size, of the policy's own sample (sampling rate beta, tables of n units).

    A class of weight w with one sampled row has about n w (1 - beta) others, so that a predicate of this class isolates
    with probability e^-(n w (1 - beta)). If at least three sampled rows are expected in classes of weight up to t/n,
    one is published in 95 of 100 tables. If t and beta are too large for that probability to be far above (1 - 1/n)^(n
    - 1), suppression hides nothing that could be detected, and the control is not played.
    """

    released: PolicyMechanism
    static: Static
    beta: Fraction

    must = "be caught"
    note = "publishes the sampled rows of this policy's mechanism without suppressing any class"
    attackers = ("likeliest classes", "group and hash")
    trials = 500

    @property
    def name(self) -> str:
        return "suppression off"

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        made = self.released.candidate(drawn, known, self.static, rng)
        assert made.sample is not None, "it samples"
        sample = made.sample
        if sample.rows == drawn.rows.sum():  # an inherited sample is not sampled again
            sample = subsample(sample, lambda counts: rng.binomial(counts, float(self.beta)))
        return Observation(seen=MechanismOutput(rows=sample, levels=made.static.levels, beta=self.beta))

    def weights(self, n: int) -> tuple[Fraction, ...]:
        return Fraction(1, 10 * n), Fraction(1, n)

    def claimed(self, policy: PublicKnowledge) -> float:
        rng = np.random.default_rng(0)
        one = self.released.candidate(policy.population.draw(policy.n, rng), policy, self.static, rng)
        box, _ = policy.population.boxes(one.static.levels)
        weights = np.bincount(box, policy.population.weights)
        sampled, rest = policy.n * float(self.beta) * weights, float(1 - self.beta)
        enough = [t for t in _RARE if sampled[weights * policy.n <= t].sum() >= 3]
        return 0.95 * exp(-rest * min(enough)) if enough else 0.0

    def fits(self, policy: PublicKnowledge) -> bool:
        return self.claimed(policy) >= _SEEN


_TRIED, _AT = 60, Fraction(5, 100)
_RARE = (0.01, 0.03, 0.1, 0.3, 0.5, 0.75, 1.0)
_SEEN = 0.445
"""Least success that 450 trials distinguish from .368 with probability .95 (accounting/audit_power)."""


@dataclass(frozen=True, eq=False)
class NoiseOff(SinglingOutControl):
    """Control that publishes the mechanism's tables of counts without noise, stated to be noisy.

    A cell of weight up to 1/n with one row in an exact table (n units) is isolated for certain. If the tables have too
    few such cells, noise hides nothing that could be detected, and the control is not played.
    """

    released: PolicyMechanism

    must = "be caught"
    note = "publishes the noisy tables of this policy without their noise"
    attackers = ("cells taken as exact",)
    trials = 500

    @property
    def name(self) -> str:
        return "noise off"

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        told = self.released.without_noise(drawn, known, rng)
        assert told.seen is not None, "a mechanism was run"
        return Observation(seen=replace(told.seen, rows=None))

    def weights(self, n: int) -> tuple[Fraction, ...]:
        return Fraction(1, 10 * n), Fraction(1, n)

    def claimed(self, policy: PublicKnowledge) -> float:
        """Return the lower confidence limit, from 60 tables, of the probability that a unit is isolated at weight 1/n.
        The tables are the same in every call, so that the result is constant."""
        return clopper_pearson(_isolation_count(self.released.protection, policy.population, policy.n), _TRIED, _AT)[0]

    def fits(self, policy: PublicKnowledge) -> bool:
        return self.claimed(policy) >= _SEEN


@lru_cache(maxsize=1)  # an audit calls this several times, and each table may take a second
def _isolation_count(protection: Protection, population: Population, n: int) -> int:
    """Return the number of tables, of _TRIED drawn ones with n units, in which exact counts isolate a unit at weight
    1/n."""
    control, known, rng = (
        NoiseOff(PolicyMechanism(protection)),
        PublicKnowledge(population, n),
        np.random.default_rng(0),
    )
    isolated = 0
    for _ in range(_TRIED):
        drawn = population.draw(n, rng)
        sight = SinglingOutAttackerView(control.apply(drawn, known, rng), known, [Fraction(1, n)])
        (answer,) = CellsAsExact().answer(sight) or [None]
        isolated += answer is not None and answer.isolates(drawn, rng)
    return isolated


@dataclass(frozen=True, eq=False)
class RawColumn(SinglingOutControl):
    """Control that publishes the policy's output, and one raw column (the tag) of a sample of rows in the released
    classes, outside of the class key."""

    released: PolicyMechanism

    must = "be caught"
    note = "publishes this policy's rows with one column more as it is: the tag"
    attackers = ("raw row",)
    rate = 0.95

    @property
    def name(self) -> str:
        return "this policy's rows with one raw column"

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        told = self.released.apply(drawn, known, rng)
        assert told.seen is not None, "a mechanism was run"
        assert told.seen.rows is not None, "and it releases rows"
        box, _ = known.population.boxes(told.seen.levels)
        stayed = np.isin(box, np.ravel_multi_index(told.seen.rows.codes, tuple(map(int, told.seen.rows.sizes))))
        units = known.population.having(stayed)
        assert units is not None, "some cells are asked for"
        sampled = units[drawn.who] & (rng.random(drawn.n) < float(told.seen.beta))
        return replace(told, rows=RawRows(mask=ALL_BITS, tags=drawn.tags[sampled]))


def faulty_policy_controls(protection: Protection, static: Static, beta: Fraction) -> tuple[SinglingOutControl, ...]:
    """Return the controls made of a policy's mechanism with a fault: without noise; and if rows of a sample are
    released, without suppression, or with a raw column."""
    released = PolicyMechanism(protection)
    if not {OutputType.ROWS, OutputType.SAMPLE} <= protection.kind.shapes:
        return (NoiseOff(released),)
    return SuppressionOff(released, static, beta), RawColumn(released), NoiseOff(released)
