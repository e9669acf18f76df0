"""Workloads drawn by chance on six public tables: columns, rows, bounds and budget.

A method that is right for a few chosen workloads can be so by luck, or because it was made while they were looked at.
Each number of a workload names the same one for ever. Persons are made: neighbours in an order of the rows by three
columns, one to eight rows a person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.contracts.contract import NO, YES, Attribute, Contract, PersonRule, PersonValue, PrivacyUnit, Role
from crowdgate.domain import categories, numbers
from crowdgate.hierarchy import by_width, hierarchy
from crowdgate.histogram import Column, Histogram, Records, View, scan
from crowdgate.mechanisms.tables.dp_tables import DpTables
from crowdgate.mechanisms.tables.workload import ContingencyTable, Item, Mean, Quantiles, Sum, all_ways
from crowdgate.sources.people import merge_people, people_of
from crowdgate.sources.persons import person_histogram, row_view
from tests.benchmarks.options import DATA
from tests.reading import file_server

FILES = {
    "nist": "nist_acs_national2019.csv.gz", "census": "uk_census2011_nanodata_10000.csv.gz",
    "compas": "compas_two_years_no_direct_ids.csv.gz", "adult": "uci_adult_train_32561.csv.gz",
    "kdd": "census_income_kdd_299285.parquet", "bank": "bankchurners_clean.csv.gz",
}  # fmt: skip
"""The file of each table."""
MOST_ROWS = 50_000
EPSILONS = ("0.25", "0.5", "1", "2", "4")
Columns = Mapping[str, Integers]
BINS = (10, 50, 100)
"""Numbers of bins of quantiles; a number from 0 to 799 has levels of 80, 16 and 8 values."""
VALUES = 800


@dataclass(frozen=True, eq=False)
class WorkloadTable:
    """A table: codes of its columns (`number` from 0 to 799), columns of few and of many values, columns whose
    combinations are mostly empty, the person of each row, and epsilon. `marked` is a column with the code that `any`,
    `all` and `count` look for."""

    name: str
    columns: Columns
    few: Sequence[str]
    many: str
    empty: Sequence[str]
    person: Integers
    marked: tuple[str, int]
    epsilon: str

    @property
    def rows(self) -> int:
        return len(self.person)

    def records(self) -> Records:
        return Records(self.rows, {name: Column(codes.astype(np.int32)) for name, codes in self.columns.items()})

    def contract(self) -> Contract:
        made = tuple(_attribute(name, codes) for name, codes in self.columns.items())
        return Contract(self.name, "1", "people", PrivacyUnit(), file_server(Path("x"), "csv"), made)

    def persons(self) -> Contract:
        """Return the contract of persons: whether any and all rows are marked, the number of marked rows, the largest
        number, and the first value of each column of few values."""
        row_attributes = self.contract().attributes
        by_name = {each.name: each for each in row_attributes}
        column, code = by_name[self.marked[0]], self.marked[1]
        hits: Bools = np.arange(int(self.columns[column.name].max()) + 1) == code
        yes = categories([NO, YES], "a codebook")
        made = [
            Attribute(rule.value, Role.OTHER, domain=yes, hierarchy=hierarchy(yes, [], invalid_level=False),
                      of_person=PersonValue(rule, column, hits, (str(code),)))
            for rule in (PersonRule.ANY, PersonRule.ALL)
        ]  # fmt: skip
        six = numbers(Fraction(0), Fraction(7), Fraction(1), "a codebook", top=True)
        made.append(Attribute("count", Role.OTHER, domain=six, hierarchy=hierarchy(six, [], invalid_level=False),
                              of_person=PersonValue(PersonRule.COUNT, column, hits, (str(code),), 7)))  # fmt: skip
        for name, rule in (("number", PersonRule.GREATEST), *((each, PersonRule.LEAST) for each in self.few)):
            own = by_name[name]
            made.append(Attribute(name, own.role, domain=own.domain, hierarchy=own.hierarchy,
                                  of_person=PersonValue(rule, own)))  # fmt: skip
        unit = PrivacyUnit("id", 1)
        server = file_server(Path("x"), "csv")
        return Contract(self.name, "1", "people", unit, server, tuple(made), row_attributes=row_attributes)


def _attribute(name: str, codes: Integers) -> Attribute:
    if name != "number":
        domain = categories([f"{name} {at}" for at in range(int(codes.max()) + 1)], "a codebook")
        return Attribute(name, Role.OTHER, domain=domain, hierarchy=hierarchy(domain, [], invalid_level=False))
    domain = numbers(Fraction(0), Fraction(VALUES - 1), Fraction(1), "a codebook")
    levels = [(f"{bins} bins", by_width(domain, Fraction(VALUES, bins))) for bins in reversed(BINS)]
    return Attribute(name, Role.OTHER, domain=domain, hierarchy=hierarchy(domain, levels, invalid_level=False))


def workloads(table: WorkloadTable) -> dict[str, tuple[Item, ...]]:
    """Return the tables of each stratum of the issue."""
    few, many = dict.fromkeys(table.few, "exact"), {table.many: "exact"}
    empty, first = dict.fromkeys(table.empty, "exact"), {table.few[0]: "exact"}
    second = {table.few[1]: "exact"}
    both = {**first, **second}
    return {
        "dense": (ContingencyTable(), *all_ways(1, few), *all_ways(2, few)),
        "sparse": (ContingencyTable(), *all_ways(1, empty), ContingencyTable(empty)),
        "sparse alone": (ContingencyTable(empty),),
        "small groups": (ContingencyTable(), ContingencyTable(many), ContingencyTable({**many, **first})),
        "numbers": (
            Sum("number", first), Sum("number", many), Mean("number", both), Mean("number", many),
            Quantiles("number", "10 bins", by=both), Quantiles("number", "10 bins", by=many),
        ),
        "bins": (Quantiles("number", "50 bins", by=second), Quantiles("number", "100 bins", by=second)),
        "bins in groups": (
            Quantiles("number", "50 bins", by=second, hierarchical=True),
            Quantiles("number", "100 bins", by=second, hierarchical=True),
        ),
    }  # fmt: skip


def person_workload(table: WorkloadTable) -> tuple[Item, ...]:
    """Return tables of persons: of each rule alone, by a column of few values, and by each other; and of numbers."""
    first, second = table.few[0], table.few[1]
    rules = ("any", "all", "count")
    tables = [ContingencyTable({rule: "exact"}) for rule in rules]
    tables += [ContingencyTable({rule: "exact", by: "exact"}) for rule in rules for by in (first, second)]
    tables += [ContingencyTable({first: "exact", second: "exact"}), ContingencyTable({"any": "exact", "all": "exact"})]
    return (
        ContingencyTable(), *tables, Sum("count", {second: "exact"}), Mean("count", {second: "exact"}),
        Mean("number", {second: "exact"}), Quantiles("count", "exact", by={second: "exact"}),
        Quantiles("number", "10 bins", by={second: "exact"}),
    )  # fmt: skip


def counted_rows(table: WorkloadTable, mechanism: DpTables) -> dict[str, Histogram]:
    return scan([table.records()], mechanism.views)


def counted_persons(table: WorkloadTable, mechanism: DpTables, contract: Contract) -> dict[str, Histogram]:
    """Return the histograms of the one row of each person, by the library's own summary of their rows."""
    ids, out = pa.array(table.person.astype(np.int64)), {}
    for name, view in mechanism.views.items():
        people = merge_people([people_of(row_view(contract, view), [(ids, table.records())])])
        out[name] = person_histogram(people, contract, View(view.levels))
    return out


def random_workload(name: str, seed: int) -> WorkloadTable:
    """Return the workload of this number on some rows of a table."""
    random = np.random.default_rng([seed, *name.encode()])
    table = _read(name)
    rows = min(len(table), int(MOST_ROWS * 10 ** random.uniform(-1.5, 0)))
    table = table.iloc[np.sort(random.choice(len(table), rows, replace=False))]
    number = str(random.choice([str(each) for each in table if _is_number(table[each])]))
    codes = {str(each): _codes(table[each]) for each in table if each != number}
    sizes = {each: int(own.max()) + 1 for each, own in codes.items()}
    few, many, empty = _attributes(sizes, random)
    kept = {each: codes[each] for each in dict.fromkeys((*few, many, *empty))}
    kept["number"] = _scaled(_numbers(table[number]), random)
    order = [codes[str(each)] for each in random.choice(list(codes), 3, replace=False)]
    person = _persons(order, np.random.default_rng(int(random.integers(1 << 30))))
    marked = min(few, key=lambda each: sizes[each])
    code, epsilon = int(random.integers(sizes[marked])), str(random.choice(EPSILONS))
    return WorkloadTable(f"{name} {seed}", kept, few, many, empty, person, (marked, code), epsilon)


def _read(name: str) -> pd.DataFrame:
    path = DATA / FILES[name]
    table = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path, dtype=str, keep_default_na=False)
    return table.astype(str)


def _codes(column: pd.Series[str]) -> Integers:
    return np.unique(column.to_numpy(dtype=str), return_inverse=True)[1].astype(np.int64)


def _numbers(column: pd.Series[str]) -> Floats:
    return np.asarray(pd.to_numeric(column, errors="coerce"), dtype=np.float64)


def _is_number(column: pd.Series[str]) -> bool:
    return bool(np.isfinite(_numbers(column)).mean() > 0.9) and column.nunique() >= 8


def _attributes(sizes: Mapping[str, int], random: np.random.Generator) -> tuple[list[str], str, list[str]]:
    """Return four columns of few values, one of many, and three whose combinations are often empty."""
    few = [str(each) for each in random.permutation([each for each, size in sizes.items() if 2 <= size <= 12])[:4]]
    many = str(random.choice([each for each, size in sizes.items() if 12 < size <= 120] or few))
    others = [each for each, size in sizes.items() if 3 <= size <= 60 and each not in (many, *few)]
    return few, many, [many, *(str(each) for each in random.permutation(others)[:2])]


def _scaled(numbers: Floats, random: np.random.Generator) -> Integers:
    """Return numbers from 0 to 799, with an upper bound that cuts off some or leaves bins empty."""
    known = np.nan_to_num(numbers)
    known -= known.min()
    step = np.diff(np.unique(known)).min()
    greatest = np.quantile(known, 0.99) * random.uniform(0.6, 1.5) + step
    shares = (known + step * random.random(len(known))) / greatest
    return np.asarray(np.clip(np.floor(shares * VALUES), 0, VALUES - 1), dtype=np.int64)


def _persons(order: Sequence[Integers], random: np.random.Generator) -> Integers:
    """Return the person of each row: 1 to 8 neighbours in this order, half of the persons with a single one."""
    rows = len(order[0])
    sizes = np.minimum(random.geometric(0.5, rows), 8)
    numbered = np.repeat(np.arange(rows), sizes)[:rows]
    out = np.empty(rows, dtype=np.int64)
    out[np.lexsort(tuple(reversed(list(order))))] = numbered
    return out
