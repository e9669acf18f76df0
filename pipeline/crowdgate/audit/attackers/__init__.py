"""Attackers: one class each, and one line here."""

from crowdgate.audit.attackers.attributes import OneColumn, TwoColumns
from crowdgate.audit.attackers.base import Answers, Attacker
from crowdgate.audit.attackers.counts import Differences, ExactCounts, GuessedSeed
from crowdgate.audit.attackers.groups import BitPredicate, DescribedGroup, Downcoding, EndPoint
from crowdgate.audit.attackers.knowing import DigestOnly, OthersKnown, PolicyAndMargins
from crowdgate.audit.attackers.made import ColumnsOfRows, RowsOfPeople
from crowdgate.audit.attackers.noisy import CellsAsExact, NoisyCells, NoisySingletons, RowsAndMargins
from crowdgate.audit.attackers.pad import ExtractorAndPad
from crowdgate.audit.attackers.raw import EverybodysRow, RawRow
from crowdgate.audit.attackers.release import GroupAndHash, LikeliestClasses
from crowdgate.audit.attackers.trivial import TrivialHash

ATTACKERS: tuple[Attacker, ...] = (
    TrivialHash(),
    LikeliestClasses(),
    GroupAndHash(),
    RowsAndMargins(),
    NoisyCells(),
    CellsAsExact(),
    NoisySingletons(),
    OneColumn(),
    TwoColumns(),
    RowsOfPeople(),
    ColumnsOfRows(),
    PolicyAndMargins(),
    OthersKnown(),
    DigestOnly(),
    RawRow(),
    EverybodysRow(),
    ExactCounts(),
    Differences(),
    GuessedSeed(),
    ExtractorAndPad(),
    DescribedGroup(),
    EndPoint(),
    BitPredicate(),
    Downcoding(),
)

__all__ = ["ATTACKERS", "Answers", "Attacker"]
