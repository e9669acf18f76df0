"""Tables with noise beside safe k-anonymity at the same epsilon and delta: expected errors of one- and two-way cells.

Nothing is read. Of safe k-anonymity two errors are expected: that of sampling, sqrt(c (1 - beta)) / beta for c persons,
and what suppression takes, as if the budget's people fell into classes independently with the product of the public
margins. Attributes that go together lose less to suppression than that.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.accounting import safe_k
from pipeline.errors import ConfigurationError, Problem
from pipeline.hierarchy import Level
from pipeline.jobs.plan import Plan
from pipeline.mechanisms import DpTables
from pipeline.mechanisms.consistency import refines
from pipeline.mechanisms.dp_accuracy import Expected
from pipeline.mechanisms.dp_tables import expected
from pipeline.policy_tables import DpTablesSpec
from pipeline.risk.kept_share import kept_probabilities

Floats = npt.NDArray[np.float64]
BETAS = tuple(Fraction(text) for text in ("0.05", "0.1", "0.2", "0.3", "0.5", "0.7", "0.9"))
MOST_CLASSES = 1 << 20
ASSUMED = (
    "assumed: as many people as the budget's bound, in classes independent with the contract's public margins;"
    " errors are root mean squares over what coins, noise and suppression do, for all persons of the table"
)


@dataclass(frozen=True, eq=False)
class ComparedTable:
    """The expected errors of a table's cells, flat: `noise` under dp_tables (None: no table of the workload has this
    margin), `sampling` and `loss` under safe k-anonymity."""

    levels: Mapping[str, Level]
    counts: Floats
    noise: Floats | None
    sampling: Floats
    loss: Floats

    @property
    def suppressed(self) -> Floats:
        """The whole expected error under safe k-anonymity: sampling and suppression."""
        return np.hypot(self.sampling, self.loss)

    def to_json(self) -> dict[str, Any]:
        """The table with every cell."""
        cells = np.indices(tuple(map(len, self.levels.values()))).reshape(len(self.levels), -1).T
        named = [[level.labels[code] for level, code in zip(self.levels.values(), cell, strict=True)] for cell in cells]
        errors = [None] * len(named) if self.noise is None else self.noise.tolist()
        rows = zip(named, self.counts, errors, self.sampling, self.loss, self.suppressed, strict=True)
        keys = ("expected_count", "dp_tables", "sampling", "suppression", "safe_k_anonymity")
        return {
            "levels": {name: level.name for name, level in self.levels.items()},
            "cells": [
                {"cell": cell, **dict(zip(keys, [None if x is None else float(x) for x in numbers], strict=True))}
                for cell, *numbers in rows
            ],
        }


@dataclass(frozen=True)
class Comparison:
    """Safe k-anonymity at its best sampling rate of a few, and every one- and two-way table under both."""

    beta: Fraction
    k: int
    tables: tuple[ComparedTable, ...]

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` adds."""
        stated = {"beta": str(self.beta), "k": self.k}
        return {"assumed": ASSUMED, "safe_k_anonymity": stated, "tables": [table.to_json() for table in self.tables]}


def compare(plan: Plan) -> Comparison:
    """The comparison for a policy of tables. Raises ConfigurationError where public figures do not allow it."""
    mechanism, privacy = plan.mechanism, plan.bundle.policy.spec.privacy
    if not isinstance(mechanism, DpTables):
        raise _refused("a policy of microdata", "a policy of tables, kind: dp_tables")
    if privacy.delta == 0:
        raise _refused("a delta of 0", "a delta above 0: without it no k reaches a guarantee")
    levels = _levels(plan, mechanism)
    margins = {name: _margin(plan, name, level) for name, level in levels.items()}
    found = [_compared(plan, mechanism, margins, levels, beta) for beta in BETAS]
    return min(found, key=lambda each: sum(float(np.mean(table.suppressed)) for table in each.tables))


def _levels(plan: Plan, mechanism: DpTables) -> dict[str, Level]:
    """The attributes of `levels`; without it, those of all tables of counts at the finest level used."""
    spec = plan.bundle.policy.spec.mechanism
    finest: dict[str, Level] = {}
    for linear in mechanism.queries:
        for name, level in linear.levels.items() if linear.grid is None else ():
            if name not in finest or len(level) > len(finest[name]):
                finest[name] = level
    if isinstance(spec, DpTablesSpec) and spec.levels:
        contract = plan.bundle.contract.by_name
        hierarchies = {name: contract[name].hierarchy for name in spec.levels}
        finest = {name: own.level(spec.levels[name]) for name, own in hierarchies.items() if own is not None}
    classes = prod(map(len, finest.values()))
    if classes > MOST_CLASSES:
        raise _refused(f"{classes} classes", f"levels with at most {MOST_CLASSES} classes together")
    return finest


def _margin(plan: Plan, name: str, level: Level) -> Floats:
    margins = plan.bundle.contract.by_name[name].margins
    if margins is None:
        raise _refused(f"{name!r} has no public margins", "margins in the contract for every attribute")
    weights = np.asarray(margins, dtype=np.float64)
    counts = np.bincount(level.codes[: len(margins)], weights=weights, minlength=len(level))
    return np.asarray(counts / counts.sum(), dtype=np.float64)


def _compared(
    plan: Plan, mechanism: DpTables, margins: Mapping[str, Floats], levels: Mapping[str, Level], beta: Fraction
) -> Comparison:
    people, privacy = plan.bundle.budget.spec.people, plan.bundle.policy.spec.privacy
    k = safe_k.least_k(privacy.epsilon, privacy.delta, beta)
    shares = np.ones(())
    for margin in margins.values():
        shares = np.multiply.outer(shares, margin)
    lost = shares * (1 - kept_probabilities(shares, people, k, beta))
    names = list(levels)
    ways = [way for size in (1, 2) for way in combinations(names, size)]
    noise = _noise(mechanism)
    return Comparison(beta, k, tuple(_table(way, names, levels, people, shares, lost, beta, noise) for way in ways))


Noise = Sequence[tuple[Mapping[str, Level], Expected, Fraction]]
"""Levels of every counted query, its expected errors, and the rate of the sample."""


def _noise(mechanism: DpTables) -> Noise:
    rows = zip(mechanism.queries, expected(mechanism), strict=True)
    return [(linear.levels, row, mechanism.beta) for linear, row in rows if linear.grid is None]


def _table(
    way: Sequence[str], names: Sequence[str], levels: Mapping[str, Level], people: int, shares: Floats, lost: Floats,
    beta: Fraction, noise: Noise,
) -> ComparedTable:  # fmt: skip
    axes = tuple(at for at, name in enumerate(names) if name not in way)
    counts, loss = (people * part.sum(axis=axes).reshape(-1) for part in (shares, lost))
    own = {name: levels[name] for name in way}
    rate = float(beta)
    sampling = np.sqrt(counts * (1 - rate)) / rate
    return ComparedTable(own, counts, _noise_of(own, counts, noise), sampling, loss)


def _noise_of(own: Mapping[str, Level], counts: Floats, noise: Noise) -> Floats | None:
    """The least error of a query that has this margin, and of the coins: consistent for the very table, and for a sum
    of cells that of independent noise, which consistency does not enlarge."""
    found = list(_margin_errors(own, noise))
    if not found:
        return None
    error, beta = min(found)
    rate = float(beta)
    return np.sqrt(error**2 + counts * (1 - rate) / rate)


def _margin_errors(own: Mapping[str, Level], noise: Noise) -> Iterator[tuple[float, Fraction]]:
    cells = prod(map(len, own.values()))
    for levels, row, beta in noise:
        if refines(levels, own):
            further = row.cells / cells
            after = row.consistent_error if further == 1 else None
            yield row.error * further**0.5 if after is None else after, beta


def _refused(found: str, wanted: str) -> ConfigurationError:
    return ConfigurationError(Problem("command line", None, "--compare", found, wanted))
