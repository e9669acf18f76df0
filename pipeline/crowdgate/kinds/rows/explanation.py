"""Explanation of how rows are protected, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.kind.kind import KindPage
from crowdgate.number_text import decimal, rounded, stated_number

if TYPE_CHECKING:
    from crowdgate.guarantee import Part
    from crowdgate.mechanisms.rows.safe_k import SafeK

TEMPLATE = "kinds/rows/explain.md.j2"


def explanation(safe: SafeK) -> KindPage:
    """Return the page that explains the sample, the levels, k with the least possible k, and the margins."""
    values = {
        "inherited": safe.inherited,
        "beta": stated_number(safe.beta),
        "beta_of_100": rounded(100 * safe.beta),
        "columns": [{"name": name, "level": each.name, "size": len(each)} for name, each in safe.levels.items()],
        "choice": [] if safe.choice is None else [safe.choice.words()],
        "k": safe.k,
        "least_k": safe.least_k,
        "granted": _part_costs(safe.part),
        "reached": decimal(safe.delta),
        "joint": None if safe.joint is None else decimal(safe.joint.epsilon),
        "margins": None if safe.margins is None else _part_costs(safe.margins.part),
    }
    return KindPage(TEMPLATE, values)


def _part_costs(part: Part) -> dict[str, str]:
    return {"epsilon": decimal(part.epsilon), "delta": decimal(part.delta)}
