"""Stated errors of published values beside the errors that occur, by kind and stratum, on many tables of random people.

`python -m tests.benchmarks.stated_errors` prints for each stratum the root mean square of stated errors, in parts of
that of occurring ones, with the standard error of this ratio, and the number of cells. For counts it prints the shares
of trustworthy and of other cells that are within the stated relative error. Noise is drawn by numpy. Strata of counts
are those of the published value, in standard errors of its estimate; those of means are of the noisy number of rows, in
its standard errors. Strata of quantiles are tables. Quantiles and means of groups without any rows are left out.

Each table has other people, and several releases. Standard errors take tables as independent, not releases: the same
people decide whether a quantile lies near the end of a bin in all releases of a table. For one table alone, no method
is within a tenth: knowing the distribution that tables are drawn from, it is exact over many tables, and from .79 to
1.97 of what occurs in single ones with 15 quantiles in eight bins.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.contracts.contract import Attribute, Contract, PrivacyUnit, Role
from crowdgate.domain import numbers
from crowdgate.guarantee import Part
from crowdgate.hierarchy import by_width, hierarchy
from crowdgate.histogram import Column, Histogram, Records, scan
from crowdgate.mechanisms.tables.answers import QuantileAnswer, TableAnswer, consistent_answers
from crowdgate.mechanisms.tables.columns import MEAN_PARTS
from crowdgate.mechanisms.tables.dp_tables import DpTables, plan_dp_tables
from crowdgate.mechanisms.tables.quantiles import quantile_bins
from crowdgate.mechanisms.tables.workload import ContingencyTable, Item, Mean, Quantiles, Sum, all_ways
from tests.benchmarks.coverage import numpy_noise
from tests.benchmarks.options import parse
from tests.benchmarks.table_errors import column
from tests.reading import file_server

RELATIVE = Fraction(1, 10)
STRATA = (("0", 0.0, 0.0), ("to 1", 0.0, 1.0), ("to 3", 1.0, 3.0), ("to 10", 3.0, 10.0), ("more", 10.0, np.inf))


@dataclass(frozen=True)
class Shape:
    """A kind of table: people, number of values by column, how uneven the values are (0: even), and epsilon. `alone`
    means one table of all columns, without any other; `rate` is that of a sample. A shape with the column `any` is a
    table of persons: `any`, `all` and `count` are made of a person's visits."""

    rows: int
    sizes: Mapping[str, int]
    uneven: float
    epsilon: str
    alone: bool = False
    rate: Fraction = Fraction(1)


SIZES = (("to 5", 0.0, 5.0), ("to 10", 5.0, 10.0), ("to 30", 10.0, 30.0), ("over 30", 30.0, np.inf))
SHAPES = {
    "dense": Shape(40_000, {"a": 3, "b": 5, "c": 4}, 0.2, "1"),
    "sparse": Shape(3_000, {"a": 25, "b": 18, "c": 6}, 0.5, "1"),
    "small groups": Shape(6_000, {"a": 40, "b": 3, "c": 7}, 0.15, "0.5"),
    "sample": Shape(12_000, {"a": 12, "b": 6, "c": 4}, 0.2, "1", rate=Fraction(1, 4)),
    "persons": Shape(5_000, {"a": 12, "any": 2, "all": 2, "count": 8, "c": 6}, 0.3, "0.5"),
    "one alone": Shape(3_000, {"a": 12, "b": 10, "c": 8}, 0.3, "1", alone=True),
}


@dataclass
class Sums:
    """Sums of squares of stated and of occurring errors of one table, or of several ones, and the number of cells."""

    stated: float = 0.0
    occurring: float = 0.0
    cells: int = 0

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.stated + other.stated, self.occurring + other.occurring, self.cells + other.cells)

    def add(self, stated: Floats, off: Floats) -> None:
        known = np.isfinite(stated) & np.isfinite(off)
        self.stated += float(np.square(stated[known]).sum())
        self.occurring += float(np.square(off[known]).sum())
        self.cells += int(known.sum())

    @property
    def ratio(self) -> float:
        return float(np.sqrt(self.stated / self.occurring)) if self.occurring else float("nan")


def ratio_error(tables: Sequence[Sums]) -> float:
    """Return the standard error of the ratio over some tables, to first order; NaN for one table."""
    whole = sum(tables, Sums())
    if len(tables) < 2 or not whole.occurring:
        return float("nan")
    left = np.array([each.stated - whole.ratio**2 * each.occurring for each in tables])
    spread = np.sqrt(np.square(left).sum() * len(tables) / (len(tables) - 1))
    return float(spread / whole.occurring / (2 * whole.ratio))


@dataclass
class Found:
    """Sums by kind and stratum; and counts within the relative error, of trustworthy and other cells."""

    strata: dict[tuple[str, str], Sums] = field(default_factory=dict)
    within: Integers = field(default_factory=lambda: np.zeros((2, 2), dtype=np.int64))


def planned(shape: Shape) -> DpTables:
    """Return all one- and two-way tables of the columns, a sum, means and quantiles of a number from 0 to 39; or the
    three-way table alone."""
    levels = dict.fromkeys(shape.sizes, "exact")
    items: tuple[Item, ...] = (
        ContingencyTable(), *all_ways(1, levels), *all_ways(2, levels), Sum("x", {"a": "exact"}),
        Mean("x", {"a": "exact"}), Quantiles("x", "fives", by={"a": "exact"}),
        Quantiles("x", "exact", by={"c": "exact"}),
    )  # fmt: skip
    if shape.alone:
        items = tuple(all_ways(3, levels))
    domain = numbers(Fraction(0), Fraction(39), Fraction(1), "a codebook")
    named = hierarchy(domain, [("fives", by_width(domain, Fraction(5)))], invalid_level=False)
    number = Attribute("x", Role.OTHER, domain=domain, hierarchy=named)
    columns = (*(column(name, size) for name, size in shape.sizes.items()), number)
    contract = Contract("made", "1", "people", PrivacyUnit(), file_server(Path("x"), "csv"), columns)
    part = Part("mechanism", Fraction(shape.epsilon), Fraction(1, 10**6))
    mechanism, findings = plan_dp_tables(items, contract, part, noise="gaussian", beta=shape.rate, split="least-error")
    assert mechanism is not None, findings
    return mechanism


def people(shape: Shape, seed: int) -> Records:
    """Return random people: columns depend on one unseen number, and so does the number x, whose distribution is
    another in each table."""
    random = np.random.default_rng(seed)
    unseen = random.random(shape.rows)
    found: dict[str, Column] = {}
    for name, size in shape.sizes.items():
        chances = np.exp(-shape.uneven * np.arange(size)) * random.uniform(0.3, 1, size)
        other = np.roll(chances, size // 2)
        mixed = np.where(unseen < 0.5, random.choice(size, shape.rows, p=chances / chances.sum()),
                         random.choice(size, shape.rows, p=other / other.sum()))  # fmt: skip
        found[name] = Column(mixed.astype(np.int32))
    if "any" in shape.sizes:
        visits = 1 + random.poisson(random.gamma(1, random.uniform(0.3, 2), shape.rows))
        ill = random.binomial(visits, random.uniform(0.05, 0.5) * (0.5 + unseen))
        made = {"any": ill > 0, "all": ill == visits, "count": np.minimum(visits, shape.sizes["count"]) - 1}
        found |= {name: Column(codes.astype(np.int32)) for name, codes in made.items()}
    place, width = random.uniform(5, 30), random.uniform(2, 10)
    of_group = random.normal(0, random.choice([0.0, 1.0, 4.0]), shape.sizes["a"])[found["a"].codes]
    numbers_of_rows = place + of_group + 10 * (unseen - 0.5) + width * (random.gamma(2, 1, shape.rows) - 2)
    x = np.clip(numbers_of_rows, 0, 39).astype(np.int32)
    return Records(shape.rows, {**found, "x": Column(x)})


def measured(shape: Shape, seed: int, draws: int) -> Found:
    """Return the errors in some releases of one table."""
    mechanism, found = planned(shape), Found()
    counted = scan([people(shape, seed)], mechanism.views)
    for _, answer, own, true in releases(mechanism, counted, draws, seed + 1):
        for stratum, stated, off in _parts(answer, true, mechanism.laws[own[-1]].variance, found):
            found.strata.setdefault((_kind(answer), stratum), Sums()).add(stated, off)
    return found


def releases(
    mechanism: DpTables, counted: Mapping[str, Histogram], draws: int, seed: int
) -> Iterator[tuple[int, TableAnswer | QuantileAnswer, Sequence[int], Any]]:
    """Yield the answers of so many releases: the release's number, the answer, the places of its queries, and what it
    says without noise."""
    random = np.random.default_rng(seed)
    exact, source = mechanism.true_answers(counted), numpy_noise(random)
    coins = None if mechanism.beta == 1 else lambda sizes: random.binomial(sizes, float(mechanism.beta))
    for draw in range(draws):
        noisy = mechanism.protect(counted, coins, source)
        for answer, own in zip(consistent_answers(mechanism, noisy, RELATIVE), mechanism.workload.answers, strict=True):
            yield draw, answer, own, truth(mechanism, answer, own, exact)


def _kind(answer: TableAnswer | QuantileAnswer) -> str:
    if isinstance(answer.item, ContingencyTable):
        return f"{len(answer.item.levels)}-way counts"
    return f"quantiles, {answer.column.name}" if isinstance(answer, QuantileAnswer) else type(answer.item).__name__


def _parts(
    answer: TableAnswer | QuantileAnswer, true: Any, spread: float, found: Found
) -> Iterator[tuple[str, Floats, Floats]]:
    """Yield the strata of an answer, with stated and occurring errors. `spread` is the variance of its last query."""
    if isinstance(answer, QuantileAnswer):
        known = (answer.bins >= 0) & (true >= 0)
        yield "all", answer.errors[known], (answer.bins - true)[known].astype(np.float64)
        return
    cells, off = answer.cells, answer.cells.value - true
    if isinstance(answer.item, Mean):
        rows = answer.parts[MEAN_PARTS[1]] / np.sqrt(spread)
        for name, low, high in SIZES:
            yield name, cells.error[(rows > low) & (rows <= high)], off[(rows > low) & (rows <= high)]
        return
    if not isinstance(answer.item, ContingencyTable):
        yield "all", cells.error, off
        return
    size = cells.value / cells.standard_error
    for name, low, high in STRATA:
        inside: Bools = (size <= high) & (size > low) if high else size == 0
        yield name, cells.error[inside], off[inside]
    near = np.abs(off) <= float(RELATIVE) * np.maximum(true, 0)
    for at, group in enumerate((cells.trustworthy, ~cells.trustworthy)):
        found.within[at] += [int(near[group].sum()), int(group.sum())]


def truth(
    mechanism: DpTables, answer: TableAnswer | QuantileAnswer, own: Sequence[int], exact: Sequence[Integers]
) -> Any:
    """Return what an answer says without noise; `exact` are the true answers of all queries."""
    grid = mechanism.queries[own[0]].grid
    if isinstance(answer, QuantileAnswer):
        axis = list(mechanism.queries[own[0]].levels).index(answer.item.column)
        histogram = np.moveaxis(exact[own[0]], axis, -1).astype(np.float64)
        return np.stack([quantile_bins(histogram, p) for p in answer.item.probabilities], axis=-1)
    if grid is None:
        return exact[own[0]].astype(np.float64)
    unit, offset = float(grid.unit), float(grid.offset)
    if isinstance(answer.item, Mean):
        with np.errstate(divide="ignore", invalid="ignore"):
            return offset + unit * exact[own[0]] / exact[own[1]]
    return unit * exact[own[0]]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=40, help="tables of other people of each kind")
    parser.add_argument("--draws", type=int, default=6, help="releases of each table")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="the kind of table")
    options = parse(parser, tables=2, draws=1)
    for name, shape in SHAPES.items():
        if options.only in name:
            tables = [measured(shape, options.seed + at, options.draws) for at in range(options.tables)]
            print(name)
            for kind, stratum in sorted({key for found in tables for key in found.strata}):
                sums = [found.strata.get((kind, stratum), Sums()) for found in tables]
                whole = sum(sums, Sums())
                ratios = f"{whole.ratio:8.2f} +- {ratio_error(sums):.2f}"
                print(f"  {kind:18}{stratum:8}{ratios}{whole.cells:10,}")
            within = sum(found.within for found in tables)
            for words, (near, cells) in zip(("trustworthy", "others"), np.asarray(within).tolist(), strict=True):
                print(f"  {words} counts within a tenth: {near / max(cells, 1):.2f} of {cells:,}", flush=True)


if __name__ == "__main__":
    main()
