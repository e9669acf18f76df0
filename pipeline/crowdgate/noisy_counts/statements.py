"""Manifest fields of a mechanism of noisy numbers."""

from crowdgate.mechanisms.tables.dp_tables import DpTables
from crowdgate.mechanisms.tables.sums import IntegerGrid
from crowdgate.noisy_counts.manifest_fields import GridFields, QueryFields


def noise_fields(made: DpTables, split: str) -> dict[str, object]:
    """Return the manifest's fields `NoiseFields` by name: the noise, its budget, each query with its part of the
    budget, the split, and the width of intervals."""
    unit = "epsilon" if made.budget.noise == "laplace" else "rho"
    queries = tuple(_query(made, at, unit) for at in range(len(made.queries)))
    return {"noise": f"discrete {made.budget.noise}", unit: made.budget.spend, "queries": queries, "split": split,
            "width": made.width}  # fmt: skip


def _query(made: DpTables, at: int, unit: str) -> QueryFields:
    linear, grid = made.queries[at], made.queries[at].grid
    bounds = None if grid is None else _grid(grid)
    levels = {name: level.name for name, level in linear.levels.items()}
    size = {
        "cells": linear.query.cells,
        "sensitivity": linear.query.sensitivity(made.rows),
        "share": linear.query.share,
    }
    return QueryFields.model_validate(
        {"name": linear.query.name, "levels": levels, **size, unit: made.spends[at], "grid": bounds}
    )


def _grid(grid: IntegerGrid) -> GridFields:
    return GridFields(unit=grid.unit, offset=grid.offset, low=grid.low, high=grid.high)
