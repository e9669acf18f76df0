"""Attackers on singling out: each is a class, listed here."""

from crowdgate.audit.singling_out_attackers.base import Attacker
from crowdgate.audit.singling_out_attackers.by_attributes import OneColumnAttacker, TwoColumnsAttacker
from crowdgate.audit.singling_out_attackers.informed_attackers import DigestOnly, InformedAttacker, PolicyAndMargins
from crowdgate.audit.singling_out_attackers.on_composition import ExtractorAndPadAttacker
from crowdgate.audit.singling_out_attackers.on_counts import Differences, ExactCountsAttacker, GuessedSeed
from crowdgate.audit.singling_out_attackers.on_groups import BitPredicate, DescribedGroup, Downcoding, EndPoint
from crowdgate.audit.singling_out_attackers.on_noisy_tables import (
    CellsAsExact,
    NoisyCells,
    NoisySingletons,
    RowsAndMargins,
)
from crowdgate.audit.singling_out_attackers.on_raw_rows import EveryRow, RawRow
from crowdgate.audit.singling_out_attackers.on_releases import GroupAndHash, OverrepresentedClasses
from crowdgate.audit.singling_out_attackers.on_synthetic_rows import SyntheticRowClasses, SyntheticRowColumns
from crowdgate.audit.singling_out_attackers.trivial import TrivialHash

ATTACKERS: tuple[Attacker, ...] = (
    TrivialHash(),
    OverrepresentedClasses(),
    GroupAndHash(),
    RowsAndMargins(),
    NoisyCells(),
    CellsAsExact(),
    NoisySingletons(),
    OneColumnAttacker(),
    TwoColumnsAttacker(),
    SyntheticRowClasses(),
    SyntheticRowColumns(),
    PolicyAndMargins(),
    InformedAttacker(),
    DigestOnly(),
    RawRow(),
    EveryRow(),
    ExactCountsAttacker(),
    Differences(),
    GuessedSeed(),
    ExtractorAndPadAttacker(),
    DescribedGroup(),
    EndPoint(),
    BitPredicate(),
    Downcoding(),
)

__all__ = ["ATTACKERS", "Attacker"]
