"""Mechanisms for which the correct result of an inference audit is known.

They are deterministic, so that one release suffices and figures are exact. Their tables have additional columns that
the attacker knows and that say nothing about other rows: a tag that stands for the identifiers, and the row's group in
Mondrian's partition. The secret of the control with Mondrian is one random bit per row. No baseline can predict it, so
that homogeneity of groups is detected whatever else can be predicted.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.population import DrawnTable, Population, Rng
from crowdgate.audit.inference.attacks import BLIND
from crowdgate.audit.inference.secret import Secret
from crowdgate.audit.inference.source_table import SourceTable
from crowdgate.audit.singling_out_controls.groups import Mondrian
from crowdgate.hierarchy import Level, Numbers
from crowdgate.histogram import Histogram, project
from crowdgate.kind.mechanism_output import MechanismOutput

TAG, GROUP, COIN = "the tag", "the group", "a coin"
CAUGHT = 0.95
"""Improvement that the control `identity` must exceed."""
MOST_UNITS = 20_000
"""Greatest number of units of a control's table: more units add no information."""
K = 5
MONDRIAN = f"Mondrian, k = {K}"


@dataclass(frozen=True)
class InferenceControl:
    """A control of an inference audit: a mechanism that publishes some columns of all rows unchanged."""

    columns: tuple[str, ...] | None
    """Published columns; None: all except the additional ones."""
    added: tuple[str, ...]
    name: str
    must: Literal["be caught", "hold", "show"]
    note: str
    least: float = 0.0
    """Value that the improvement must exceed."""

    releases: ClassVar[int] = 2
    """Number of releases: one that chooses the attack, and one that estimates."""
    attacks: ClassVar[frozenset[str]] = frozenset({BLIND, "class homogeneity"})

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        """Return all rows of the table, unchanged, in the columns that this control publishes; an empty output if there
        are none."""
        names = [name for name in drawn.table.names if name not in (TAG, GROUP, COIN)]
        shown = [*(names if self.columns is None else self.columns), *self.added]
        if not shown:
            return Observation(seen=MechanismOutput())
        return Observation(
            seen=MechanismOutput(
                (), project(drawn.table, shown), {name: known.population.levels[name] for name in shown}
            )
        )


def controls() -> tuple[InferenceControl, ...]:
    """Return the controls that are played on a table with all known attributes."""
    return (
        InferenceControl(
            None, (TAG,), "identity", "be caught", "publishes every row as it is, with a tag that is known", CAUGHT
        ),
        InferenceControl((), (), "constant", "hold", "publishes nothing"),
        InferenceControl(
            (COIN,), (GROUP,), MONDRIAN, "be caught",
            f"publishes groups of at least {K} rows by all that is known, with a random bit of every row as the secret",
        ),
    )  # fmt: skip


def with_random_secret(original: SourceTable, rng: Rng) -> SourceTable:
    """Return the same table, in which each row's only secret attribute is a random bit. Each unit must have one row."""
    population, cells = original.population, original.population.cells
    heads = rng.binomial(original.units, 0.5)
    units = np.stack([heads, original.units - heads], axis=1).reshape(-1, original.units.shape[1])
    coin = np.tile(np.arange(2, dtype=np.int32), len(cells))
    level = Level("exact", ("heads", "tails"), np.arange(2, dtype=np.int32))
    codes = (*(np.repeat(column, 2) for column in cells.codes), coin)
    counts = units.sum(axis=1)
    table = Histogram((*cells.names, COIN), (*cells.sizes, 2), codes, counts)
    view = type(population.view)({**population.levels, COIN: level})
    people = replace(population, view=view, cells=table, members=counts)
    return SourceTable(people, people, units, original.known, (Secret(COIN, level),))


def with_control_columns(original: SourceTable) -> Population:
    """Return the population of a table with two additional columns: a tag for each cell, and the cell's group in
    Mondrian's partition."""
    population = original.population
    rows = original.rows.sum(axis=1)
    cells = population.cells
    added = {TAG: np.arange(len(cells), dtype=np.int64), GROUP: _mondrian_groups(original, rows)}
    levels: dict[str, Level] = dict(population.levels)
    for name, codes in added.items():
        levels[name] = Numbers(name, (), np.arange(int(codes.max(initial=0)) + 1, dtype=np.int32))
    names = (*cells.names, *added)
    sizes = (*cells.sizes, *(len(levels[name]) for name in added))
    table = Histogram(names, sizes, (*cells.codes, *added.values()), cells.counts)
    return replace(population, view=type(population.view)(levels), cells=table)


def _mondrian_groups(
    original: SourceTable, rows: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the group number of every cell, in Mondrian's partition of the table's rows by their known attributes."""
    tuples = original.population.tuples(original.finest(original.known))
    held = np.repeat(tuples.of_cell, rows)
    columns = np.column_stack([codes[held] for codes in tuples.codes]).astype(np.float64)
    scaled = columns / np.maximum(1, np.ptp(columns, axis=0))
    found = np.zeros(len(tuples), dtype=np.int64)
    for number, group in enumerate(Mondrian(K).halved(scaled, held)):
        found[held[group]] = number
    return found[tuples.of_cell]
