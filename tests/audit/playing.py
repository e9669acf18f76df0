"""Games for tests of running audits. Worker processes import this module, so it imports little."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.population import DrawnTable, Rng
from crowdgate.audit.common.trials import ScheduledGame
from crowdgate.audit.singling_out.play import SinglingOutGame
from crowdgate.audit.singling_out_attackers.on_releases import GroupAndHash
from crowdgate.audit.singling_out_attackers.trivial import TrivialHash
from crowdgate.kind.mechanism_output import MechanismOutput

SEED = "5"


@dataclass(frozen=True)
class Everything:
    """Publishes the table's classes."""

    name: str = "everything"

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:  # noqa: ARG002 nothing is drawn
        return Observation(seen=MechanismOutput((), drawn.table, known.population.levels))


def schedule() -> list[ScheduledGame]:
    """Return two games of three and of two batches, with tables of 12 units."""
    from tests.audit.people import rows

    known = PublicKnowledge(rows(np.array([[5, 1, 0], [2, 2, 9]])), 12)
    weights = (Fraction(1, 100), Fraction(1, 12))
    games = [
        SinglingOutGame(Everything(), (TrivialHash(), GroupAndHash()), known, weights, int(SEED), at) for at in (0, 1)
    ]
    return [ScheduledGame(games[0], 120, "judged", "its own"), ScheduledGame(games[1], 60, "be caught", "a control")]
