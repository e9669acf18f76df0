"""Manifest fields of a mechanism of noisy numbers."""

from crowdgate.accounting.residual_noise import residual_factor
from crowdgate.mechanisms.tables.dp_tables import DpTables
from crowdgate.mechanisms.tables.sums import IntegerGrid
from crowdgate.noisy_counts.manifest_fields import GridFields, QueryFields, ResidualFields


def noise_fields(made: DpTables, split: str) -> dict[str, object]:
    """Return the manifest's fields `NoiseFields` by name: the noise, its budget, each query with its part of the
    budget, the split, and the width of intervals."""
    unit = "epsilon" if made.budget.noise == "laplace" else "rho"
    queries = tuple(_query(made, at, unit) for at in range(len(made.queries)))
    return {"noise": f"discrete {made.budget.noise}", unit: made.budget.spend, "queries": queries, "split": split,
            "width": made.width, "residuals": _residuals(made) or None}  # fmt: skip


def _residuals(made: DpTables) -> tuple[ResidualFields, ...]:
    pairs = zip(made.residuals, made.spends, strict=False)
    return tuple(
        ResidualFields(
            levels={name: level.name for name, level in linear.levels.items()},
            cells=linear.query.cells,
            factor=residual_factor(linear.shape),
            sensitivity=linear.query.sensitivity(made.rows),
            rho=spend,
        )
        for linear, spend in pairs
    )


def _query(made: DpTables, at: int, unit: str) -> QueryFields:
    linear, grid = made.queries[at], made.queries[at].grid
    spend = None if made.residuals else made.spends[at]
    bounds = None if grid is None else _grid(grid)
    levels = {name: level.name for name, level in linear.levels.items()}
    size = {
        "cells": linear.query.cells,
        "sensitivity": linear.query.sensitivity(made.rows),
        "share": None if made.residuals else linear.query.share,
    }
    return QueryFields.model_validate(
        {"name": linear.query.name, "levels": levels, **size, unit: spend, "grid": bounds}
    )


def _grid(grid: IntegerGrid) -> GridFields:
    return GridFields(unit=grid.unit, offset=grid.offset, low=grid.low, high=grid.high)
