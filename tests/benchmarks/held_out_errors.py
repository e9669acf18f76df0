"""Stated errors beside errors that occur in tables that nobody tuned to: `held_out_tables`, at least 200 releases each.

`python -m tests.benchmarks.held_out_errors` prints for each stratum of each table, and over all tables, the root mean
square of stated errors in parts of that of occurring ones, with its standard error over releases. Errors are in parts
of the standard error of a count or a sum, of the range of a mean, and of the bins of a quantile, so that tables weigh
alike. Noise is drawn by numpy.
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
from crowdgate.mechanisms.tables.answers import QuantileAnswer, TableAnswer, consistent_answers
from crowdgate.mechanisms.tables.dp_tables import DpTables, plan_dp_tables
from crowdgate.mechanisms.tables.workload import ContingencyTable, Item, Mean
from tests.benchmarks import held_out_tables as tables
from tests.benchmarks.coverage import numpy_noise
from tests.benchmarks.options import parse
from tests.benchmarks.stated_errors import RELATIVE, STRATA, truth

RATE = Fraction(1, 4)
"""The rate of samples."""
SAMPLED = ("dense", "numbers")


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


def cases(held: tables.Held, only: str) -> Iterator[tuple[str, DpTables, Mapping[str, Histogram]]]:
    """Yield the name, the mechanism and the counted table of each workload."""
    contract = held.contract()
    for name, items in tables.workloads(held).items():
        for beta in (Fraction(1), RATE) if name in SAMPLED else (Fraction(1),):
            title = name if beta == 1 else f"sample, {name}"
            if only in title:
                mechanism = plan(items, contract, held.epsilon, beta)
                yield title, mechanism, tables.counted_rows(held, mechanism)
    if only in "persons":
        persons = held.persons()
        mechanism = plan(tables.person_workload(held), persons, held.epsilon, Fraction(1))
        yield "persons", mechanism, tables.counted_persons(held, mechanism, persons)


def measure(
    title: str, mechanism: DpTables, counted: Mapping[str, Histogram], draws: int, seed: int, found: Found
) -> None:
    """Add the errors of some releases of one workload."""
    random = np.random.default_rng(seed)
    exact, source = mechanism.true_answers(counted), numpy_noise(random)
    coins = None if mechanism.beta == 1 else lambda sizes: random.binomial(sizes, float(mechanism.beta))
    for draw in range(draws):
        noisy = mechanism.protect(counted, coins, source)
        for answer, own in zip(consistent_answers(mechanism, noisy, RELATIVE), mechanism.workload.answers, strict=True):
            true = truth(mechanism, answer, own, exact)
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
    parser.add_argument("--draws", type=int, default=200, help="releases of each table")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="the workload")
    parser.add_argument("--tables", nargs="*", default=list(tables.TABLES), help="also " + ", ".join(tables.EARLIER))
    options = parse(parser, draws=1, tables=["classes"])
    found = {}
    for at, name in enumerate(options.tables):
        try:
            held = (tables.EARLIER | tables.TABLES)[name]()
        except FileNotFoundError as missing:
            print(f"left out: no {missing.filename}")
            continue
        found[name] = Found()
        for title, mechanism, counted in cases(held, options.only):
            measure(title, mechanism, counted, options.draws, options.seed + at, found[name])
    print(f"{'':40}" + "".join(f"{name:>22}" for name in (*found, "all")))
    for stratum in dict.fromkeys(stratum for each in found.values() for stratum in each.strata):
        own = [list(each.strata[stratum].values()) if stratum in each.strata else [] for each in found.values()]
        parts = [ratio(each) if each else (np.nan, np.nan, 0) for each in (*own, [row for each in own for row in each])]
        print(f"{stratum:40}" + "".join(f"{one:6.2f} +-{two:5.3f}{cells:8}" for one, two, cells in parts))
    print("\nwithin a tenth: trustworthy cells, others, others that are not 0")
    for kind in dict.fromkeys(kind for each in found.values() for kind in each.within):
        rows = [each.within[kind] for each in found.values()]
        both: list[Integers] = [*rows, np.asarray(sum(rows))]
        text = ["  ".join(f"{a / max(n, 1):.3f} of {n:<8}" for a, n in each.tolist()) for each in both]
        print(f"{kind:30}" + " | ".join(text))


if __name__ == "__main__":
    main()
