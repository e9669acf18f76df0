"""An adversary who picks each release by what earlier ones showed, enumerated over all strategies.

A strategy is a function of the outputs so far, so the most that any can reach is a maximum at each node of the tree of
outputs, inside the sums over outputs.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from crowdgate.accounting.dominating_pairs import DominatingPair
from crowdgate.accounting.renyi import Divergences
from crowdgate.accounting.renyi_parts import pair_cost

Law = tuple[tuple[float, float], ...]
"""The masses of each output with the person and without."""
History = tuple[int, ...]
"""The mechanisms run so far, by number, in their order."""


def reached(
    laws: Sequence[Law], steps: int, may_run: Callable[[History], bool], stated: Callable[[History], float]
) -> float:
    """Return the largest sum of (P - e^epsilon Q)+ over all outputs that an adversary reaches in at most `steps`
    steps, with the person removed or added: `may_run` states which histories are allowed, `stated` the epsilon that is
    promised where the adversary stops."""
    swapped = [tuple((q, p) for p, q in law) for law in laws]
    return max(_reached(each, steps, may_run, stated, (), 1.0, 1.0) for each in (laws, swapped))


def _reached(
    laws: Sequence[Law],
    steps: int,
    may_run: Callable[[History], bool],
    stated: Callable[[History], float],
    history: History,
    p: float,
    q: float,
) -> float:
    best = max(0.0, p - math.exp(stated(history)) * q)
    following = [(*history, i) for i in range(len(laws))] if len(history) < steps else []
    for history in filter(may_run, following):
        children = ((p * own_p, q * own_q) for own_p, own_q in laws[history[-1]] if own_p)
        best = max(best, sum(_reached(laws, steps, may_run, stated, history, *each) for each in children))
    return best


def response(loss: float) -> Law:
    """Return randomised response with losses -loss and loss."""
    great = 1 / (1 + math.exp(-loss))
    return (great, 1 - great), (1 - great, great)


def name_and_shame(delta: float) -> Law:
    """Return a mechanism that with probability delta tells all, and else nothing."""
    return (1 - delta, 1.0), (delta, 0.0)


def rare(loss: float, mass: float) -> Law:
    """Return a mechanism with one output of this `loss` and `mass`, and another."""
    return (mass, mass * math.exp(-loss)), (1 - mass, 1 - mass * math.exp(-loss))


def pair_of(law: Law) -> DominatingPair:
    finite = sorted((math.log(p / q), p) for p, q in law if p and q)
    losses, masses = (np.array(each) for each in zip(*finite, strict=True))
    return DominatingPair(losses, masses, sum(p for p, q in law if not q), sum(q for p, q in law if not p))


def costs_of(laws: Sequence[Law], orders: Sequence[int]) -> list[Divergences]:
    return [pair_cost(pair_of(law), orders) for law in laws]


def spent(costs: Sequence[Divergences], history: History) -> Divergences:
    return sum((costs[i] for i in history), Divergences.zero(len(costs[0].amounts)))
