"""Random tables with the names, columns and values of the public tables that benchmarks read."""

import csv
import gzip
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from tests.benchmarks import adult, bankchurners, bankchurners_table, koot_areas, planning

ROWS, CODES = 500, 8
Columns = Mapping[str, Sequence[object]]


ADULT: Columns = {
    "age": range(17, 91, 5), "workclass": ["Private", "State-gov"], "fnlwgt": range(10_000, 900_000),
    "education": ["Bachelors", "HS-grad"], "education-num": range(1, 17), "marital-status": ["Divorced", "Widowed"],
    "occupation": ["Sales", "Tech-support"], "relationship": ["Husband", "Wife"], "race": ["Black", "White"],
    "sex": ["Female", "Male"], "capital-gain": (0, 0, 0, 2174, 99_999), "capital-loss": (0, 0, 0, 1902),
    "hours-per-week": range(1, 100, 10), "native-country": ["Canada", "France"], "income-per-year": ["<=50K", ">50K"],
}  # fmt: skip
NIST: Columns = {
    **dict.fromkeys(
        ("MSP", "HISP", "RAC1P", "NOC", "NPF", "HOUSING_TYPE", "OWN_RENT", "DENSITY", "INDP", "INDP_CAT", "EDU",
         "PINCP", "PINCP_DECILE", "DVET", "DREM", "DPHY", "DEYE", "DEAR", "PWGTP", "WGTP"), ("0", "1", "2", "N"),
    ),
    "PUMA": ("01-01301", "06-07502", "06-08507"), "AGEP": range(100), "SEX": (1, 2), "POVPIP": ("N", 0, 116, 501),
}  # fmt: skip
UK_CENSUS: Columns = {
    **dict.fromkeys(chain.from_iterable(koot_areas.UK_PAIRS), range(1, 7)),
    "Region": ("E12000002", "E12000007", "W92000004"), "Sex": (1, 2), "Age": range(1, 9),
}  # fmt: skip
BANK: Columns = {
    bankchurners_table.ID: range(10**8),
    **dict.fromkeys(bankchurners_table.NAMES, ("A", "A", "B")),
    **dict.fromkeys(bankchurners.NUMBERS, range(1, 5)),
}
FILES: Mapping[str, Columns] = {
    **dict.fromkeys(planning.ADULT, ADULT),
    planning.NIST: NIST,
    koot_areas.UK_CENSUS: UK_CENSUS,
    bankchurners_table.FILE: BANK,
}


def write_tables(folder: Path, rows: int = ROWS) -> None:
    """Write all of them, and Adult as ARX ships it, with the levels that the benchmark's schemes name."""
    random = np.random.default_rng(1)
    for name, columns in FILES.items():
        _write(folder / name, columns, rows, random)
    _write(folder / adult.TABLE, dict.fromkeys(adult.SCHEMES["MEDIUM"], range(CODES)), rows, random, ";")
    (folder / adult.LEVELS).parent.mkdir()
    for name, level in adult.SCHEMES["MEDIUM"].items():
        with (folder / adult.LEVELS.format(name)).open("w", encoding="utf-8", newline="") as file:
            lines = ([code, *(code // 4**at for at in range(1, level)), "*"] for code in range(CODES))
            csv.writer(file, delimiter=";").writerows(lines)


def _write(path: Path, columns: Columns, rows: int, random: np.random.Generator, delimiter: str = ",") -> None:
    cells = [[values[at] for at in random.integers(len(values), size=rows)] for values in columns.values()]
    with gzip.open(path, "wt", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([[*columns], *zip(*cells, strict=True)])
