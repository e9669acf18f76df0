"""Attackers: one class each, and one line here."""

from crowdgate.audit.attackers.attributes import OneColumn, TwoColumns
from crowdgate.audit.attackers.base import Answers, Attacker
from crowdgate.audit.attackers.knowing import DigestOnly, OthersKnown, PolicyAndMargins
from crowdgate.audit.attackers.noisy import NoisyCells, NoisySingletons, RowsAndMargins
from crowdgate.audit.attackers.release import GroupAndHash, LikeliestClasses
from crowdgate.audit.attackers.trivial import TrivialHash

ATTACKERS: tuple[Attacker, ...] = (
    TrivialHash(),
    LikeliestClasses(),
    GroupAndHash(),
    RowsAndMargins(),
    NoisyCells(),
    NoisySingletons(),
    OneColumn(),
    TwoColumns(),
    PolicyAndMargins(),
    OthersKnown(),
    DigestOnly(),
)

__all__ = ["ATTACKERS", "Answers", "Attacker"]
