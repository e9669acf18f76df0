"""Series in a ledger: releases of one policy digest, declared before the first, that are paid at once.

The first slot that is charged pays for the whole series, and each later one costs nothing. Until the first slot has
begun to read, it can be given back, and no other slot starts: the next one would be unpaid. From then on the series
stays spent, whatever becomes of its slots. A slot counts while its charge is not void: one whose run never began to
read is free again. Only releases of the same policy version, digest, population and law belong to a series.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from crowdgate.ledger.schema import ENTRIES, SERIES
from crowdgate.ledger.transitions import ChargeRow
from crowdgate.ledger.values import ZERO, Spend, amounts, label
from crowdgate.limits import MOST_SERIES

Rows = Mapping[str, Mapping[Hashable, tuple[Any, ...]]]
"""The rows of a ledger, by table and key."""
_NOTHING = amounts(ZERO)


@dataclass(frozen=True)
class SeriesRequest:
    """A series that a release belongs to: the number of `releases`, the privacy cost of all of them together, and a
    digest of the law of one."""

    releases: int
    spend: Spend
    law: str

    def check(self) -> None:
        """Raise ValueError if the ledger can't store this series."""
        if not 2 <= self.releases <= MOST_SERIES:
            raise ValueError(f"a series must have 2 to {MOST_SERIES} releases")
        label("law of a series", self.law, 64)
        amounts(self.spend)


@dataclass(frozen=True)
class SeriesSlot:
    """A charge of a series, by its `number`, with that of the charge that pays for all its `releases`."""

    number: int
    payer: int
    releases: int
    law: str

    @property
    def pays(self) -> bool:
        """True for the charge that pays for the series."""
        return self.number == self.payer

    def row(self) -> dict[str, Any]:
        """Return the row of the table `series`."""
        return {"number": self.number, "payer": self.payer, "releases": self.releases, "law": self.law}


def slots(rows: Rows, charged: Mapping[str, int], payer: int) -> Iterator[SeriesSlot]:
    """Yield the charges of a series that are not void, in order."""
    live = set(charged.values())
    for cells in rows[SERIES].values():
        slot = SeriesSlot(*cells)
        if slot.payer == payer and slot.number in live:
            yield slot


def is_slot(rows: Rows, charged: Mapping[str, int], new: ChargeRow, cells: tuple[Any, ...]) -> bool:
    """Return whether a new charge may be this slot: it pays for a series, or costs nothing in one that was paid, whose
    first slot has been read, and that has a slot left."""
    slot = SeriesSlot(*cells)
    if slot.number != new.number or not (isinstance(slot.law, str) and 2 <= slot.releases <= MOST_SERIES):
        return False
    if slot.pays:
        return True
    free = (new.epsilon, new.delta) == (_NOTHING["epsilon"], _NOTHING["delta"])
    taken = list(slots(rows, charged, slot.payer))
    opened = SeriesSlot(slot.payer, slot.payer, slot.releases, slot.law) in taken
    return free and opened and len(taken) < slot.releases and _is_alike(ChargeRow(*rows[ENTRIES][slot.payer]), new)


def _is_alike(first: ChargeRow, new: ChargeRow) -> bool:
    """Return whether a charge is of the policy version, digest and population of another one that was read."""
    versions = {each.release_id.rpartition("/")[0] for each in (first, new)}
    same = (first.policy_digest, first.population) == (new.policy_digest, new.population)
    return bool(first.reading) and same and len(versions) == 1
