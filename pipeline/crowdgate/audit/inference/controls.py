"""Mechanisms of which it is known what an inference audit finds.

They draw nothing, so that one release is all there is, and their figures are exact. Their tables have columns more that
the attacker knows and that tell nothing of anybody else: a tag that stands for the identifiers, and the group that
Mondrian puts a row into. What Mondrian leaks is a coin that was thrown for every row: no baseline knows anything of it,
so that homogeneity is seen whatever else can be predicted.
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
"""The improvement that identity must reach."""
MOST_UNITS = 20_000
"""Units of a control's table: more tell no more."""
K = 5
MONDRIAN = f"Mondrian, k = {K}"


@dataclass(frozen=True)
class InferenceControl:
    """A mechanism that publishes rows as they are in some columns."""

    columns: tuple[str, ...] | None
    """None: all but those that are added."""
    added: tuple[str, ...]
    name: str
    must: Literal["be caught", "hold", "show"]
    note: str
    least: float = 0.0
    """What its improvement must be above."""

    releases: ClassVar[int] = 2
    """One by which nothing is chosen, and one that is estimated on."""
    attacks: ClassVar[frozenset[str]] = frozenset({BLIND, "class homogeneity"})

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        """Rows as they are."""
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
    """Those that are played on a table with all that is known."""
    return (
        InferenceControl(
            None, (TAG,), "identity", "be caught", "publishes every row as it is, with a tag that is known", CAUGHT
        ),
        InferenceControl((), (), "constant", "hold", "publishes nothing"),
        InferenceControl(
            (COIN,), (GROUP,), MONDRIAN, "be caught",
            f"publishes groups of {K} rows at least by all that is known, with a coin of every row as the secret",
        ),
    )  # fmt: skip


def with_random_secret(original: SourceTable, rng: Rng) -> SourceTable:
    """The same table, of units of a row each, with a coin for every row, which is its secret."""
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
    """The population of a table with the two columns more."""
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
    """The group of every cell: Mondrian's, of the rows of the table by what is known of them."""
    tuples = original.population.tuples(original.finest(original.known))
    held = np.repeat(tuples.of_cell, rows)
    columns = np.column_stack([codes[held] for codes in tuples.codes]).astype(np.float64)
    scaled = columns / np.maximum(1, np.ptp(columns, axis=0))
    found = np.zeros(len(tuples), dtype=np.int64)
    for number, group in enumerate(Mondrian(K).halved(scaled, held)):
        found[held[group]] = number
    return found[tuples.of_cell]
