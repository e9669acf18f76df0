"""Games for tests of how audits are run. Processes that play import this module, so it imports little."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from crowdgate.audit.attackers.release import GroupAndHash
from crowdgate.audit.attackers.trivial import TrivialHash
from crowdgate.audit.game import Game
from crowdgate.audit.observation import Known, Observation
from crowdgate.audit.population import Drawn, Rng
from crowdgate.audit.run import Scheduled
from crowdgate.kind.seen import Seen

SEED = "5"


@dataclass(frozen=True)
class Everything:
    """Publishes the table's classes."""

    name: str = "everything"

    def tell(self, drawn: Drawn, known: Known, rng: Rng) -> Observation:  # noqa: ARG002 nothing is drawn
        return Observation(seen=Seen((), drawn.table, known.population.levels))


def schedule() -> list[Scheduled]:
    """Two games of three and of two batches, with tables of 12 units."""
    from tests.audit.people import rows

    known = Known(rows(np.array([[5, 1, 0], [2, 2, 9]])), 12)
    weights = (Fraction(1, 100), Fraction(1, 12))
    games = [Game(Everything(), (TrivialHash(), GroupAndHash()), known, weights, int(SEED), at) for at in (0, 1)]
    return [Scheduled(games[0], 120, "judged", "its own"), Scheduled(games[1], 60, "be caught", "a control")]
