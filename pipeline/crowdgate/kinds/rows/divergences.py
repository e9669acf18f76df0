"""Renyi divergences of a release of rows: its classes, its choice of levels and its margins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.accounting.renyi_parts import law_cost
from crowdgate.kinds.rows.joint_cost import planned_law
from crowdgate.mechanisms.rows.joint_cost import LARGEST_K, joint_rows

if TYPE_CHECKING:
    from crowdgate.accounting.renyi import Divergences
    from crowdgate.accounting.renyi_filter import Filter
    from crowdgate.mechanisms.rows.safe_k import SafeK


def divergences(mechanism: SafeK, budget: Filter) -> Divergences | None:
    """Return the divergences of all steps but charged gates. None with a choice of levels on the released sample, for
    persons of many rows, and for very large classes: their law is not known."""
    known = joint_rows(mechanism.rows) and 0 < mechanism.beta < 1 and mechanism.k <= LARGEST_K
    law = planned_law(mechanism, ()) if known else None
    return None if law is None else law_cost(law.law(mechanism.k), budget)
