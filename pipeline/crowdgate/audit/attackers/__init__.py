"""Attackers: one class each, and one line here."""

from crowdgate.audit.attackers.base import Answers, Attacker
from crowdgate.audit.attackers.release import GroupAndHash, LikeliestClasses
from crowdgate.audit.attackers.trivial import TrivialHash

ATTACKERS: tuple[Attacker, ...] = (
    TrivialHash(),
    LikeliestClasses(),
    GroupAndHash(),
)

__all__ = ["ATTACKERS", "Answers", "Attacker"]
