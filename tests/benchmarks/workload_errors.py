"""Stated errors beside errors that occur, for workloads drawn by chance on six public tables.

A method that is within a tenth on a few chosen workloads can be so by luck, or because it was made while they were
looked at. Here chance decides which columns, rows, bounds and budget a workload has: `python -m
tests.benchmarks.workload_errors` prints for each stratum the root mean square of stated errors in parts of that of
occurring ones, over all workloads, with its standard error over workloads, and the quartiles of single workloads.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.contracts.contract import Contract
from crowdgate.guarantee import Part
from crowdgate.histogram import Histogram
from crowdgate.mechanisms.tables.answers import QuantileAnswer, TableAnswer
from crowdgate.mechanisms.tables.dp_tables import DpTables, plan_dp_tables
from crowdgate.mechanisms.tables.workload import ContingencyTable, Item, Mean
from tests.benchmarks import workload_tables as tables
from tests.benchmarks.options import parse
from tests.benchmarks.stated_errors import RELATIVE, STRATA, releases

RATE = Fraction(1, 4)
"""The rate of samples."""
SAMPLED = ("dense", "numbers")
"""Workloads that are also released from samples."""


@dataclass
class Found:
    """For each stratum and release: sums of squares of stated and occurring errors, and the number of cells; and, for
    trustworthy and other counts, the numbers within the stated relative error and in all."""

    strata: dict[str, dict[int, Floats]] = field(default_factory=dict)
    within: dict[str, Integers] = field(default_factory=lambda: defaultdict(lambda: np.zeros((3, 2), dtype=np.int64)))

    def add(self, stratum: str, draw: int, stated: Floats, off: Floats) -> None:
        known = np.isfinite(stated) & np.isfinite(off)
        sums = self.strata.setdefault(stratum, {}).setdefault(draw, np.zeros(3))
        sums += [np.square(stated[known]).sum(), np.square(off[known]).sum(), known.sum()]


def ratio(parts: Sequence[Floats]) -> tuple[float, float, int]:
    """Return the ratio over releases, its standard error to first order, and the number of cells."""
    sums = np.array(parts)
    stated, occurring, cells = sums.sum(axis=0)
    found = float(np.sqrt(stated / occurring)) if occurring else float("nan")
    left = sums[:, 0] - found**2 * sums[:, 1]
    return found, float(np.sqrt(np.square(left).sum()) / max(occurring, 1e-300) / (2 * found)), int(cells)


def plan(items: Sequence[Item], contract: Contract, epsilon: str, beta: Fraction) -> DpTables:
    part = Part("mechanism", Fraction(epsilon), Fraction(1, 10**6))
    mechanism, findings = plan_dp_tables(items, contract, part, noise="gaussian", beta=beta, split="least-error")
    assert mechanism is not None, findings
    return mechanism


def cases(table: tables.WorkloadTable, only: str) -> Iterator[tuple[str, DpTables, Mapping[str, Histogram]]]:
    """Yield the name, the mechanism and the counted table of each workload."""
    contract = table.contract()
    for name, items in tables.workloads(table).items():
        for beta in (Fraction(1), RATE) if name in SAMPLED else (Fraction(1),):
            title = name if beta == 1 else f"sample, {name}"
            if only in title:
                mechanism = plan(items, contract, table.epsilon, beta)
                yield title, mechanism, tables.counted_rows(table, mechanism)
    if only in "persons":
        persons = table.persons()
        mechanism = plan(tables.person_workload(table), persons, table.epsilon, Fraction(1))
        yield "persons", mechanism, tables.counted_persons(table, mechanism, persons)


def measure(
    title: str, mechanism: DpTables, counted: Mapping[str, Histogram], draws: int, seed: int, found: Found
) -> None:
    """Add the errors of some releases of one workload."""
    for draw, answer, own, true in releases(mechanism, counted, draws, seed):
        for stratum, stated, off in _parts(title, mechanism, answer, own, true, found):
            found.add(f"{title}: {stratum}", draw, stated, off)


def _parts(
    title: str, mechanism: DpTables, answer: TableAnswer | QuantileAnswer, own: Sequence[int], true: Any, found: Found
) -> Iterator[tuple[str, Floats, Floats]]:
    if isinstance(answer, QuantileAnswer):
        known, bins = (answer.bins >= 0) & (true >= 0), len(answer.column)
        off = (answer.bins - true)[known] / bins
        yield f"quantiles, {bins} bins", answer.errors[known] / bins, off
        return
    kind = "counts" if isinstance(answer.item, ContingencyTable) else type(answer.item).__name__.lower() + "s"
    cells, off = answer.cells, answer.cells.value - true
    near, others = np.abs(off) <= float(RELATIVE) * np.abs(true), ~cells.trustworthy & np.isfinite(off)
    for at, group in enumerate((cells.trustworthy, others, others & (true != 0))):
        found.within[f"{title}: {kind}"][at] += [int(near[group].sum()), int(group.sum())]
    scale = cells.standard_error if kind == "counts" else _scale(mechanism, answer, own)
    stated, occurring = (np.asarray(each / scale).ravel() for each in (cells.error, off))
    yield kind, stated, occurring
    if kind != "counts":
        return
    for rule in ("any", "all", "count"):
        if rule in answer.levels:
            yield f"counts of {rule}", stated, occurring
    size: Floats = (cells.value / cells.standard_error).ravel()
    for name, low, high in STRATA:
        inside: Bools = np.asarray((size <= high) & (size > low) if high else size == 0)
        yield f"{'1-way' if len(answer.levels) == 1 else 'other'} counts, {name}", stated[inside], occurring[inside]


def _scale(mechanism: DpTables, answer: TableAnswer, own: Sequence[int]) -> float:
    """Return the standard error of a sum, or the range of a mean."""
    grid = mechanism.queries[own[0]].grid
    assert grid is not None
    whole = grid.high - grid.low if isinstance(answer.item, Mean) else mechanism.laws[own[0]].variance ** 0.5
    return float(grid.unit) * whole


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", type=int, default=10, help="workloads of each table")
    parser.add_argument("--draws", type=int, default=40, help="releases of each workload")
    parser.add_argument("--seed", type=int, default=1, help="number of the first workload")
    parser.add_argument("--only", default="", help="the workload")
    parser.add_argument("--tables", nargs="*", default=list(tables.FILES), help="the tables")
    options = parse(parser, workloads=1, draws=1, tables=["adult"])
    found: list[Found] = []
    for seed in range(options.seed, options.seed + options.workloads):
        for name in options.tables:
            found.append(Found())
            for title, mechanism, counted in cases(tables.random_workload(name, seed), options.only):
                measure(title, mechanism, counted, options.draws, seed, found[-1])
    _print(found)


def _print(found: Sequence[Found]) -> None:
    for stratum in dict.fromkeys(stratum for each in found for stratum in each.strata):
        sums = [np.sum(list(each.strata[stratum].values()), axis=0) for each in found if stratum in each.strata]
        whole, error, cells = ratio(sums)
        with np.errstate(invalid="ignore", divide="ignore"):
            single = np.sqrt([stated / occurring for stated, occurring, _ in sums])
        known = single[np.isfinite(single)]
        quartiles = " ".join(f"{each:5.2f}" for each in np.quantile(known, (0.25, 0.5, 0.75))) if len(known) else "-"
        print(f"{stratum:40}{whole:6.2f} +-{error:5.3f}{cells:10,}   {quartiles} of {len(sums)}")
    print("\nwithin a tenth: trustworthy cells, others, others that are not 0")
    for kind in dict.fromkeys(kind for each in found for kind in each.within):
        counted = np.sum([each.within[kind] for each in found if kind in each.within], axis=0).tolist()
        print(f"{kind:30}" + "  ".join(f"{near / max(cells, 1):.3f} of {cells:<8,}" for near, cells in counted))


if __name__ == "__main__":
    main()
