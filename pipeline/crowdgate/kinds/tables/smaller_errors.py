"""Other noise, and other divisions of the noise budget, with which tables of the same guarantee have smaller errors."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

from crowdgate.accounting.tables_plan import tables_budget
from crowdgate.guarantee import Part
from crowdgate.mechanisms.tables.dp_tables import DpTables, divided, expected_noise
from crowdgate.number_text import decimal

if TYPE_CHECKING:
    from crowdgate.kinds.tables.plan import TablesPlan

WORTH_SAYING = 0.9
"""The greatest errors that are advised, in parts of the policy's own."""


def smaller_errors(planned: TablesPlan) -> str | None:
    """Return a clause on the settings with the least errors; None if none has errors at most WORTH_SAYING times the
    policy's own.
    """
    own = _errors(planned.mechanism)
    found = [(_part_of(_errors(other), own), words) for words, other in _others(planned)]
    part, words = min(found, default=(1.0, ""))
    if part > WORTH_SAYING:
        return None
    return f"the errors of its tables are {decimal(1 / part, 2)} times those with {words}, at the same guarantee"


def _others(planned: TablesPlan) -> Iterator[tuple[str, DpTables]]:
    """Yield other mechanisms that keep the policy's guarantee, each with its settings in words."""
    own, spec = planned.mechanism, planned.spec
    if own.budget.noise != "gaussian":
        return
    budget = tables_budget(own.part.epsilon, 0, "laplace", own.beta)
    part = Part(own.part.name, own.part.epsilon, Fraction(0))
    found, _ = divided(own.workload, budget, own.rows, part, "least-error")
    if found is not None:
        yield ("noise: laplace, split: least-error" if spec.split != "least-error" else "noise: laplace"), found
    if spec.split != "residuals" and not spec.raw and own.beta == 1:
        found, _ = divided(own.workload, own.budget, own.rows, own.part, "residuals")
        if found is not None:
            yield "split: residuals", found


def _errors(mechanism: DpTables) -> list[float]:
    """Return the root mean square error over all cells of counts, and the error of each table of other numbers."""
    rows = expected_noise(mechanism)
    counts = [row for row, linear in zip(rows, mechanism.queries, strict=True) if linear.grid is None]
    squares = sum(row.cells * (row.consistent_error or row.error) ** 2 for row in counts)
    cells = sum(row.cells for row in counts)
    others = [row.error for row, linear in zip(rows, mechanism.queries, strict=True) if linear.grid is not None]
    return [sqrt(squares / cells), *others] if cells else others


def _part_of(errors: list[float], own: list[float]) -> float:
    """Return the greatest error in parts of the policy's own."""
    return max(one / other for one, other in zip(errors, own, strict=True))
