"""The policy's own mechanism as a target of attacks, run by the same functions as in a release."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from crowdgate.arrays import Integers
from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.population import DrawnTable, Rng
from crowdgate.candidate import Candidate, Static
from crowdgate.histogram import split
from crowdgate.kind.kind import Histograms, Protection
from crowdgate.kind.randomness import KeyedRandomness
from crowdgate.noise import NoiseSource
from crowdgate.sampling import KEY_BYTES, SecretKey


@dataclass(frozen=True, eq=False)
class PolicyMechanism:
    """The mechanism of a policy, as a target of attacks. Bernoulli sampling uses the trial's random stream; OpenDP's
    noise can't be seeded."""

    protection: Protection
    name: str = "the policy's mechanism"

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        """Return all outputs that the policy's mechanism draws for one release of this table."""
        return self._observation(drawn, known, KeyedRandomness(_key(rng)))

    def without_noise(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        """Return the policy's mechanism's outputs for one release of this table, with exact counts in place of noisy
        counts."""
        randomness = KeyedRandomness(_key(rng), vectors=NoiseSource(_unchanged, _unchanged))
        return self._observation(drawn, known, randomness)

    def candidate(self, drawn: DrawnTable, known: PublicKnowledge, static: Static, rng: Rng) -> Candidate:
        """Return the candidate of one release of this table, with what the mechanism suppresses. A level to be selected
        is the best-scoring one, without noise."""
        randomness = KeyedRandomness(_key(rng), select=_best_index)
        kind, mechanism = self.protection.kind, self.protection.mechanism
        made: Candidate = kind.protect(mechanism, static, self._views(drawn, known), randomness)
        return made

    def _observation(self, drawn: DrawnTable, known: PublicKnowledge, randomness: KeyedRandomness) -> Observation:
        kind, mechanism = self.protection.kind, self.protection.mechanism
        return Observation(seen=kind.mechanism_output(mechanism, self._views(drawn, known), randomness))

    def _views(self, drawn: DrawnTable, known: PublicKnowledge) -> Histograms:
        return split(drawn.table, known.population.view, self.protection.views)


def _key(rng: Rng) -> SecretKey:
    return SecretKey(rng.bytes(KEY_BYTES), injected=True)


def _unchanged(values: Integers, _: int, __: Fraction) -> Integers:
    return values


def _best_index(scores: Sequence[int], _: int, __: Fraction) -> int:
    return max(range(len(scores)), key=scores.__getitem__)
