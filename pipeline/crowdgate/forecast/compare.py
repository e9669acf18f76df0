"""Comparison of a policy with the other kinds of release at the same epsilon and delta: errors of one- and two-way
cells.

No data are read. Every kind proposes policies that would publish the same tables, and forecasts their errors; the
policy with the least mean error of each kind is shown.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.hierarchy import Level
from crowdgate.kind.forecast import Axes, Basis, CellErrors, Forecast
from crowdgate.kind.kind import Allowance, AnyKind
from crowdgate.kind.plan import Plan
from crowdgate.kind.prior import Prior
from crowdgate.kinds import KINDS
from crowdgate.limits import MOST_CELLS_COMPARED
from crowdgate.number_text import Value, decimal, rounded
from crowdgate.public_counts.unknown_shares import unknown_shares

ERROR = (
    "an error is the root mean square of estimate less truth over people, sampling, noise and suppression, for all"
    " persons of the table"
)


@dataclass(frozen=True, eq=False)
class Rival:
    """A kind of release with the forecast of one policy of that kind, and this policy's expected errors of every table
    (None: unknown)."""

    kind: str
    forecast: Forecast
    errors: tuple[CellErrors | None, ...]


@dataclass(frozen=True, eq=False)
class KindComparison:
    """Every one- and two-way table: expected people in its cells, and the errors of the policy and of its rivals."""

    tables: tuple[Axes, ...]
    counts: tuple[Floats, ...]
    own: Rival
    rivals: tuple[Rival, ...]
    basis: Basis

    @property
    def assumed(self) -> str:
        """The basis of the expected errors and their definition, in words."""
        return f"{self.basis}; {ERROR}"

    @property
    def which(self) -> tuple[str, ...]:
        """A sentence for each kind of release: its purpose and its expected error of a cell."""
        return tuple(self._kind_text(each) for each in (self.own, *self.rivals))

    def _kind_text(self, rival: Rival) -> str:
        errors = f"error of a cell of one attribute {self._mean(rival, 1)}, of two {self._mean(rival, 2)}"
        parts = (KINDS[rival.kind].serves, rival.forecast.retained().text, errors)
        return f"{rival.kind}: for {'; '.join(part for part in parts if part)}"

    def _mean(self, rival: Rival, ways: int) -> str:
        """Return the root mean square error of a cell, in people, over all tables of `ways` attributes, as text;
        "unknown" if the errors of some table are unknown."""
        told = [each for levels, each in zip(self.tables, rival.errors, strict=True) if len(levels) == ways]
        squares = [np.square(each.error) for each in told if each is not None]
        known = len(squares) == len(told) > 0
        return rounded(np.sqrt(np.concatenate(squares).mean())) if known else "unknown"

    def to_json(self) -> dict[str, Any]:
        """Return the comparison: figures of each kind, and the errors of every cell of every table as an object of
        JSON."""
        stated = {
            rival.kind: {figure.name: _exact_value(figure.value) for figure in rival.forecast.figures}
            for rival in self.rivals
        }
        which = {"which": list(self.which)}
        return {
            "assumed": self.assumed,
            **which,
            **stated,
            "tables": [self._table(at) for at in range(len(self.tables))],
        }

    def _table(self, at: int) -> dict[str, Any]:
        levels = self.tables[at]
        cells = np.indices(tuple(map(len, levels.values()))).reshape(len(levels), -1).T
        return {
            "levels": {name: level.name for name, level in levels.items()},
            "cells": [
                {
                    "cell": [level.labels[code] for level, code in zip(levels.values(), cell, strict=True)],
                    "expected_count": float(self.counts[at][i]),
                    **{
                        name: number
                        for rival in (self.own, *self.rivals)
                        for name, number in _cell_errors(rival, at, i)
                    },
                }
                for i, cell in enumerate(cells)
            ],
        }


def _exact_value(value: Value) -> Value:
    """Return the value of a figure for JSON: fractions exactly, as text; anything else unchanged."""
    return str(value) if isinstance(value, Fraction) else value


def _cell_errors(rival: Rival, table: int, cell: int) -> Iterator[tuple[str, float | None]]:
    """Yield the expected error of a cell under the name of the rival's kind of release (None if it is unknown), then
    each component of that error under its own name."""
    found = rival.errors[table]
    yield rival.kind, None if found is None else float(found.error[cell])
    for name, part in {} if found is None else found.parts.items():
        yield name, float(part[cell])


def compare(plan: Plan, prior: Prior, forecast: Forecast) -> KindComparison:
    """Return the comparison for a policy with its forecast and prior.

    Raises ConfigurationError if too little is known, or the policy's numbers do not allow it.
    """
    levels = _levels(forecast, prior)
    tables = _tables(levels)
    own = _rival(plan.protection.kind.name, forecast, tables)
    found = [_best(plan, prior, kind, levels, tables) for name, kind in KINDS.items() if name != own.kind]
    rivals = tuple(rival for rival in found if rival is not None)
    if not rivals:
        total = f"epsilon {decimal(plan.guarantee.epsilon)} and delta {decimal(plan.guarantee.delta)}"
        raise _refused(f"no other kind of release that keeps {total}", "a larger epsilon, or a delta above 0")
    joints = [joint for table in tables if (joint := prior.joint(table)) is not None]
    assert len(joints) == len(tables), "every attribute has shares, and the tables are small"
    basis = min((joint.basis for joint in joints), key=list(Basis).index)
    return KindComparison(tuple(tables), tuple(joint.people.reshape(-1) for joint in joints), own, rivals, basis)


def _levels(forecast: Forecast, prior: Prior) -> Axes:
    levels = forecast.compared
    if not levels:
        raise _refused("a policy without tables of counts", "a policy with attributes to compare")
    problems = [_problem(each.found, each.expected) for each in unknown_shares(prior, levels)]
    if problems:
        raise ConfigurationError(problems)
    return levels


def _tables(levels: Axes) -> list[dict[str, Level]]:
    """Return all tables of one and two attributes, each as its attributes at levels. Raises ConfigurationError for too
    many cells."""
    tables = [{name: levels[name] for name in way} for size in (1, 2) for way in combinations(levels, size)]
    cells = sum(prod(map(len, table.values())) for table in tables)
    if cells > MOST_CELLS_COMPARED:
        expected = f"levels whose tables of one and two attributes have at most {MOST_CELLS_COMPARED} cells together"
        raise _refused(f"{cells} cells", expected)
    return tables


def _best(plan: Plan, prior: Prior, kind: AnyKind, levels: Axes, tables: Sequence[Axes]) -> Rival | None:
    """Return the policy of least error among those that a kind of release proposes; None if no proposal keeps the
    guarantee, with the delta that the policy states: Laplace noise needs none of it."""
    allowance = Allowance(plan.guarantee.epsilon, max(plan.guarantee.delta, plan.bundle.policy.spec.privacy.delta))
    found = []
    for spec in kind.propose(levels):
        protection, _ = kind.plan(spec, plan.bundle.contract, allowance)
        if protection is not None:
            found.append(_rival(kind.name, kind.outlook(protection.mechanism, prior), tables))
    return min(found, key=_total, default=None)


def _rival(kind: str, forecast: Forecast, tables: Sequence[Axes]) -> Rival:
    return Rival(kind, forecast, tuple(forecast.errors(table) for table in tables))


def _total(rival: Rival) -> tuple[float, float]:
    """Return the sort key of a proposal: the sum over tables of the mean error of a cell (infinite if unknown), then
    minus the share that is retained."""
    errors = sum(float("inf") if each is None else float(np.mean(each.error)) for each in rival.errors)
    return errors, -rival.forecast.retained().share


def _refused(found: str, wanted: str) -> ConfigurationError:
    return ConfigurationError(_problem(found, wanted))


def _problem(found: str, wanted: str) -> Problem:
    return Problem("command line", None, "--compare", found, wanted)
