"""Games that tests play."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from crowdgate.accounting.intervals import clopper_pearson
from crowdgate.audit.common.observation import Mechanism, PublicKnowledge
from crowdgate.audit.common.population import Population
from crowdgate.audit.singling_out.play import IsolationTally, SinglingOutGame
from crowdgate.audit.singling_out.record import SinglingOutResults
from crowdgate.audit.singling_out_attackers import ATTACKERS
from crowdgate.audit.singling_out_attackers.base import Attacker
from crowdgate.audit.singling_out_controls import SinglingOutControl
from tests.audit.people import rows

BY_NAME = {each.name: each for each in ATTACKERS}
ALMOST_NEVER = Fraction(1, 100_000)


def crowd(seed: int = 5) -> Population:
    """60,000 rows of five skewed columns, in about 18,000 cells."""
    sizes = (70, 12, 7, 5, 2)
    shares = [(1 / np.arange(1, size + 1)) for size in sizes]
    every = np.einsum("a,b,c,d,e->abcde", *(share / share.sum() for share in shares))
    return rows(np.random.default_rng(seed).multinomial(60_000, every.ravel()).reshape(sizes))


def controlled(
    control: SinglingOutControl, policy: PublicKnowledge, seed: int = 1, attackers: Sequence[Attacker] | None = None
) -> SinglingOutResults:
    """Return the results to record for a control."""
    known = control.public_knowledge(policy)
    against = [BY_NAME[name] for name in control.attackers] if attackers is None else attackers
    game = SinglingOutGame(control, against, known, control.weights(known.n), seed, 0)
    return game.played({0: play_trials(game, control.trials)}, control.must, control.note, control.rate)


def play_trials(game: SinglingOutGame, trials: int) -> IsolationTally:
    """Return the tally of all trials, played one after the other."""
    tally = IsolationTally.none(len(game.attackers), len(game.weights))
    for at, size in game.batches(trials):
        tally += game.batch(at, size)
    return tally


def isolations(
    mechanism: Mechanism, attacker: str, n: int, trials: int, weight: Fraction = Fraction(1), seed: int = 1
) -> int:
    """Return the number of trials in which an attacker isolates with at most that weight. The population has one cell,
    since it does not matter."""
    game = SinglingOutGame(mechanism, [BY_NAME[attacker]], PublicKnowledge(rows(np.array([1])), n), (weight,), seed, 0)
    return int(play_trials(game, trials).light[0, 0])


def within(rate: float, successes: int, trials: int, alpha: Fraction = ALMOST_NEVER) -> bool:
    """Return whether the exact interval contains the rate. A true rate is outside with probability at most 2 alpha."""
    low, high = clopper_pearson(successes, trials, alpha)
    return low <= rate <= high
