"""The policy's own mechanism as one that is attacked: it runs by the same functions as in a release."""

from dataclasses import dataclass

from crowdgate.audit.observation import Known, Observation
from crowdgate.audit.population import Drawn, Rng
from crowdgate.candidate import Candidate, Static
from crowdgate.histogram import split
from crowdgate.kind.kind import Histograms, Protection
from crowdgate.kind.randomness import KeyedRandomness
from crowdgate.sampling import KEY_BYTES, SecretKey


@dataclass(frozen=True, eq=False)
class Released:
    """What a policy releases of a table. Coins come from the trial's stream; OpenDP's noise can't be seeded."""

    protection: Protection
    name: str = "the policy's mechanism"

    def tell(self, drawn: Drawn, known: Known, rng: Rng) -> Observation:
        """All that the mechanism draws for one release."""
        return Observation(seen=self.protection.attacked(self._views(drawn, known), _randomness(rng)))

    def candidate(self, drawn: Drawn, known: Known, static: Static, rng: Rng) -> Candidate:
        """The candidate of one release, with what it hides."""
        return self.protection.protect(static, self._views(drawn, known), _randomness(rng)).candidate

    def _views(self, drawn: Drawn, known: Known) -> Histograms:
        return split(drawn.table, known.population.view, self.protection.views())


def _randomness(rng: Rng) -> KeyedRandomness:
    return KeyedRandomness(SecretKey(rng.bytes(KEY_BYTES), injected=True))
