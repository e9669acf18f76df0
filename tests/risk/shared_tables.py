"""Class sizes of real tables outside of the project, and of generated ones, for statistical tests."""

import csv
import gzip
from collections import Counter

import numpy as np
import pytest

from crowdgate.arrays import Integers
from tests.benchmarks.options import DATA, VARIABLE

FILES = {
    "adult": ("uci_adult_train_32561.csv.gz", ("age", "workclass", "marital-status", "sex")),
    "bank": ("bankchurners_clean.csv.gz", ("Customer_Age", "Gender", "Education_Level", "Income_Category")),
    "compas": ("compas_two_years_no_direct_ids.csv.gz", ("age", "sex", "race", "priors_count")),
    "survey": ("nist_acs_national2019.csv.gz", ("AGEP", "SEX", "MSP", "RAC1P")),
}
"""Files of the tables, and the attributes of the classes."""
GENERATED = {"long tail": 1.6, "short tail": 2.2}
"""Exponents of the sizes of classes of generated tables."""
TABLES = (*FILES, *GENERATED)


def class_counts(name: str) -> Integers:
    """Return the sizes of the classes of a table. Skips the test if its file is not at hand."""
    if name in GENERATED:
        sizes = np.random.default_rng(7).zipf(GENERATED[name], 3000)
        return np.minimum(sizes, 2000).astype(np.int64)
    file, columns = FILES[name]
    path = DATA / file
    if not path.exists():
        pytest.skip(f"{file} is not in {DATA}: set {VARIABLE}")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as text:
        held = Counter(tuple(row[each] for each in columns) for row in csv.DictReader(text))
    return np.array(list(held.values()), dtype=np.int64)
