"""Populations for the figures of Koot's thesis: parts of public tables, where it has Dutch municipalities."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crowdgate.risk.bins import Bins

Floats = NDArray[np.float64]
Joint = tuple[tuple[str, ...], Floats]
ACS = "nist_acs_national2019.csv.gz"
CENSUS = Path(__file__).parents[2] / "data_contracts" / "census_income.parquet"
UK_CENSUS = "uk_census2011_nanodata_10000.csv.gz"
UK_PAIRS = (
    ("Age", "Sex"),
    ("Age", "Marital Status"),
    ("Occupation", "Industry"),
    ("Region", "Ethnic Group"),
    ("Region", "Age", "Occupation"),
)
PAIRS = (
    ("age", "sex"),
    ("age", "marital_status"),
    ("education", "occupation"),
    ("industry", "occupation"),
    ("age", "education", "marital_status"),
)
FEWEST = 500
"""People of a group of Census-Income that counts as a population."""


@dataclass(frozen=True, eq=False)
class Area:
    """The ages in years of a population's people, and whether they are of the first sex."""

    name: str
    ages: NDArray[np.int64]
    first: NDArray[np.bool_]

    def up_to(self, oldest: int) -> "Area":
        """Those who are not older."""
        kept = self.ages <= oldest
        return Area(self.name, self.ages[kept], self.first[kept])

    def bins(self, oldest: int, years: int = 1) -> Bins:
        """Intervals of so many years from 0 to `oldest`, empty ones too."""
        return Bins.from_counts(self.counts(oldest, years))

    def counts(self, oldest: int, years: int = 1) -> Floats:
        """People by intervals of so many years."""
        ages = self.ages[self.ages <= oldest]
        return np.bincount(ages // years, minlength=oldest // years + 1).astype(np.float64)

    def pairs(self, oldest: int) -> Floats:
        """People by age and sex."""
        kept = self.ages <= oldest
        return np.bincount(2 * self.ages[kept] + self.first[kept], minlength=2 * (oldest + 1)).astype(np.float64)


@dataclass(frozen=True)
class Source:
    """Populations of one table, and the oldest age that it tells apart."""

    name: str
    words: str
    oldest: int
    areas: Sequence[Area]
    banded: bool = False
    """True if ages are numbers of bands instead of years."""
    joint: Sequence[Joint] = ()
    """Joint counts of some attributes."""
    groups: int = 600_000
    """Groups of people that are drawn from each population at most."""

    def together(self) -> Area:
        """All of them as one."""
        return Area(
            "all",
            np.concatenate([area.ages for area in self.areas]),
            np.concatenate([area.first for area in self.areas]),
        )


def acs(folder: Path) -> Source:
    """The areas (PUMAs) of NIST's excerpt of the American Community Survey 2019. Ages are cut off at 94, as in the
    thesis."""
    table = pd.read_csv(folder / ACS, usecols=["PUMA", "AGEP", "SEX"])
    groups = [(str(name), group) for name, group in table.groupby("PUMA")]
    areas = [Area(name, group["AGEP"].to_numpy(), (group["SEX"] == 1).to_numpy()) for name, group in groups]
    words = "NIST Diverse Communities excerpt of the ACS 2019: its areas (PUMAs), ages 0 to 94"
    return Source("ACS areas", words, 94, areas)


def census_income() -> Source:
    """Census-Income (CPS 1994/95) by country of birth. Age 90 is "90 or more", and is left out."""
    table = pd.read_parquet(CENSUS, columns=["age", "sex", "country_of_birth"])
    groups = [(str(name), group) for name, group in table.groupby("country_of_birth", observed=True)]
    large = [(name, group) for name, group in groups if len(group) >= FEWEST and name != "?"]
    areas = [Area(name, group["age"].to_numpy(), (group["sex"] == "Male").to_numpy()) for name, group in large]
    words = f"Census-Income (CPS 1994/95) by country of birth (at least {FEWEST} people), ages 0 to 89"
    return Source("Census-Income", words, 89, areas, joint=[joint(pd.read_parquet(CENSUS), names) for names in PAIRS])


def uk_census(folder: Path) -> Source:
    """The regions of the teaching file of the UK census of 2011. Its ages are eight bands, the first up to 15 years,
    the last from 75 on, the others of nine and ten years."""
    table = pd.read_csv(folder / UK_CENSUS)
    groups = [(str(name), group) for name, group in table.groupby("Region")]
    areas = [Area(name, group["Age"].to_numpy() - 1, (group["Sex"] == 1).to_numpy()) for name, group in groups]
    words = "ONS teaching file of the UK census 2011: regions of England and Wales, ages in eight bands"
    return Source("UK regions", words, 7, areas, True, [joint(table, names) for names in UK_PAIRS])


def joint(table: pd.DataFrame, names: tuple[str, ...]) -> Joint:
    """Attributes of a table with their joint counts."""
    codes = [pd.factorize(table[name])[0] for name in names]
    shape = tuple(int(code.max()) + 1 for code in codes)
    cells = np.bincount(np.ravel_multi_index(codes, shape), minlength=math.prod(shape))
    return names, cells.reshape(shape).astype(np.float64)
