"""Errors of tables of counts: each division of the noise beside the least possible one, and beside a script on OpenDP.

`python -m tests.benchmarks.table_errors` prints for each workload the root mean square error over all cells. "After
consistency" is that of unbiased estimates, in parts of the least that Gaussian noise of this budget allows (Xiao, He,
Zhang, Kifer 2023). "Published" is that of the published values of drawn releases, on a table of random people, and of
the script, with noise of either kind, cut off at 0. "Advised" has the noise that `check` advises (CG228): the one with
the smaller variances. All have epsilon 1 and delta 1e-9.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations
from math import prod, sqrt
from pathlib import Path
from typing import Any, Literal

import numpy as np

from crowdgate.accounting.tables_plan import NoiseKind
from crowdgate.arrays import Floats
from crowdgate.contracts.contract import Attribute, Contract, PrivacyUnit, Role
from crowdgate.domain import categories
from crowdgate.guarantee import Part
from crowdgate.hierarchy import hierarchy
from crowdgate.histogram import Column, Histogram, Records, scan
from crowdgate.mechanisms.tables.answers import TableAnswer, consistent_answers
from crowdgate.mechanisms.tables.consistency import variances_after
from crowdgate.mechanisms.tables.dp_tables import DpTables, plan_dp_tables
from crowdgate.mechanisms.tables.workload import ContingencyTable, all_ways
from tests.benchmarks.opendp_tables import opendp_tables
from tests.benchmarks.options import parse
from tests.reading import file_server

Split = Literal["residuals", "least-error", "least-variance", "equal"]
SPLITS: tuple[Split, ...] = ("residuals", "least-error", "least-variance", "equal")
EPSILON, DELTA = Fraction(1), Fraction(1, 10**9)
PART = Part("mechanism", EPSILON, DELTA)
NINE = {f"c{at}": size for at, size in enumerate((10, 2, 5, 6, 7, 9, 2, 3, 15))}
BINARY = {f"b{at}": 2 for at in range(9)}
FEW = {f"f{at}": size for at, size in enumerate((2, 4, 11, 12))}


def workloads() -> dict[str, tuple[Mapping[str, int], tuple[ContingencyTable, ...]]]:
    """Return workloads by name: the number of values of each column, and the tables."""
    nine, binary, few = (dict.fromkeys(sizes, "exact") for sizes in (NINE, BINARY, FEW))
    total = (ContingencyTable(),)
    return {
        "one-way": (NINE, all_ways(1, nine)),
        "two-way": (NINE, all_ways(2, nine)),
        "total, two-way": (NINE, (*total, *all_ways(2, nine))),
        "total, one- and two-way": (NINE, (*total, *all_ways(1, nine), *all_ways(2, nine))),
        "binary, two-way": (BINARY, all_ways(2, binary)),
        "binary, total and two-way": (BINARY, (*total, *all_ways(2, binary))),
        "three-way and mixed": (FEW, (*all_ways(1, few), *all_ways(3, few))),
        "three-way": (FEW, all_ways(3, few)),
    }


def contract(sizes: Mapping[str, int]) -> Contract:
    """Return a contract of columns with these numbers of values."""
    columns = tuple(column(name, size) for name, size in sizes.items())
    return Contract("random", "1", "people", PrivacyUnit(), file_server(Path("x"), "csv"), columns)


def column(name: str, size: int) -> Attribute:
    """Return a column of some values."""
    domain = categories([f"{name}-{at:02}" for at in range(size)], "a codebook")
    return Attribute(name, Role.QUASI_IDENTIFIER, domain=domain, hierarchy=hierarchy(domain, [], invalid_level=False))


def planned(
    sizes: Mapping[str, int], tables: Sequence[ContingencyTable], split: Split, noise: NoiseKind = "gaussian"
) -> DpTables:
    """Return the mechanism of some tables."""
    mechanism, findings = plan_dp_tables(tables, contract(sizes), PART, noise=noise, split=split)
    assert mechanism is not None, findings
    return mechanism


def variance_sum(mechanism: DpTables) -> float:
    """Return the sum over all cells of the variance after consistency."""
    if mechanism.residual_noise is not None:
        return float(sum(each.sum() for each in mechanism.residual_noise.after))
    axes = [linear.levels for linear in mechanism.queries]
    after, _ = variances_after(axes, [law.variance for law in mechanism.laws])
    return float(sum(each.sum() for each in after))


def least_sum(mechanism: DpTables) -> float:
    """Return the least possible `variance_sum` at the mechanism's budget."""
    tables = [{name: len(level) for name, level in linear.levels.items()} for linear in mechanism.queries]
    residuals = {frozenset(own) for table in tables for own in _subsets(tuple(table))}
    sizes = {name: size for table in tables for name, size in table.items()}
    root = 0.0
    for residual in residuals:
        own = prod(sizes[name] - 1 for name in residual)
        cost = own / prod(sizes[name] for name in residual)
        finer = [table for table in tables if residual <= set(table)]
        spread = sum(1 / prod(table[name] for name in table if name not in residual) for table in finer)
        root += sqrt(own * spread * cost)
    return root * root / (2 * float(mechanism.budget.spend))


def _subsets(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    return chain.from_iterable(combinations(names, ways) for ways in range(len(names) + 1))


def people(sizes: Mapping[str, int], rows: int, seed: int) -> Records:
    """Return random people: a value is likelier the earlier it comes, and columns depend on one unseen number."""
    random = np.random.default_rng(seed)
    unseen = random.random(rows)
    codes = {name: np.minimum(random.geometric(0.15 + 0.5 * unseen) - 1, size - 1) for name, size in sizes.items()}
    return Records(rows, {name: Column(own.astype(np.int32)) for name, own in codes.items()})


def published_error(mechanism: DpTables, counted: Mapping[str, Histogram], true: Sequence[Any], draws: int) -> float:
    """Return the root mean square error of the published values over all cells and draws."""
    found = [
        [a.cells.value for a in consistent_answers(mechanism, mechanism.protect(counted), Fraction(1, 10))
         if isinstance(a, TableAnswer)]
        for _ in range(draws)
    ]  # fmt: skip
    return root_mean_square(found, true)


def script_error(true: Sequence[Any], noise: str, draws: int) -> float:
    """Return the root mean square error of the script on OpenDP over all cells and draws."""
    return root_mean_square([opendp_tables(true, float(EPSILON), float(DELTA), noise) for _ in range(draws)], true)


def root_mean_square(found: Sequence[Sequence[Floats]], true: Sequence[Any]) -> float:
    """Return the root mean square of the errors of all cells of all releases."""
    errors = [(a - b).reshape(-1) for each in found for a, b in zip(each, true, strict=True)]
    return float(np.sqrt(np.mean(np.square(np.concatenate(errors)))))


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parse(parser, rows=500, draws=1)
    print(f"{'':28}{'after consistency, in parts of the least':^44}{'published':^75}")
    print(f"{'':28}" + 2 * "".join(f"{each:>15}" for each in SPLITS) + f"{'advised':>9}{'OpenDP':>9}{'Laplace':>9}")
    for name, (sizes, tables) in workloads().items():
        records = people(sizes, options.rows, options.seed)
        mechanisms = [planned(sizes, tables, split) for split in SPLITS]
        counted = scan([records], mechanisms[0].views)
        true = mechanisms[0].true_answers(counted)
        ratios = [sqrt(variance_sum(each) / least_sum(each)) for each in mechanisms]
        own = [published_error(each, counted, true, options.draws) for each in mechanisms]
        advised = min(mechanisms[0], planned(sizes, tables, "least-error", "laplace"), key=variance_sum)
        own.append(published_error(advised, counted, true, options.draws))
        others = [script_error(true, noise, max(1, options.draws // 4)) for noise in ("gaussian", "laplace")]
        cells = "".join(f"{each:15.4f}" for each in ratios) + "".join(f"{each:15.2f}" for each in own[:-1])
        print(f"{name:28}{cells}" + "".join(f"{each:9.2f}" for each in (own[-1], *others)), flush=True)


if __name__ == "__main__":
    main()
