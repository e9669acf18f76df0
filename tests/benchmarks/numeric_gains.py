"""Gains of the inference audit at secret numbers, beside a cross-validation that was written independently.

Ten pairs of a table and a secret of more than 30 numbers: three public tables, and two generated ones. A sample of each
is published in one or two known attributes and the secret. The audit's attacks on classes are played, with all of its
baselines; the other side has NumPy alone (own_cross_validation.py). A pair holds at a coverage if the other side's gain
is inside the audit's interval. The audit's gain is shown for another division of the same people as well, since its
interval is of releases only.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd

from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.population import DrawnTable, Population
from crowdgate.audit.inference.findings import InferenceEstimate, estimates
from crowdgate.audit.inference.play import InferenceGame
from crowdgate.audit.inference.secret import Secret
from crowdgate.audit.inference.secret_case import GROUPS, secret_case
from crowdgate.audit.inference.source_table import block_count, source_table
from crowdgate.hierarchy import EXACT, Level
from crowdgate.histogram import Histogram, View, at_least, project
from crowdgate.kind.mechanism_output import MechanismOutput
from tests.benchmarks import bankchurners_table, planning
from tests.benchmarks.options import DATA, parse
from tests.benchmarks.own_cross_validation import FIFTHS, People, Publication, gains

ALPHA = Fraction(1, 20)
COVERAGES = 1.0, 0.1
TITLES = ("table", "secret", "coverage", "audit", "interval", "divided again", "own", "inside", "CPU s")
ATTACKS = frozenset({"likeliest label", "class homogeneity", "class or likeliest"})
SECRET = "secret"
BANK = ("Customer_Age", "Gender", "Dependent_count", "Education_Level", "Marital_Status", "Income_Category",
        "Months_on_book", "Total_Relationship_Count", "Attrition_Flag")  # fmt: skip
ADULT = ("age", "workclass", "education", "marital-status", "occupation", "relationship", "sex", "hours-per-week")
NIST = ("AGEP", "SEX", "MSP", "RAC1P", "NPF", "OWN_RENT", "INDP_CAT", "EDU")


@dataclass(frozen=True)
class Pair:
    """A secret of a table, and what is published with it."""

    table: str
    secret: str
    known: Sequence[str]
    told: Sequence[str]
    rate: float
    least: int


PAIRS = (
    Pair("bank", "Months_on_book", BANK, ("Customer_Age",), 0.5, 3),
    Pair("bank", "Customer_Age", BANK, ("Months_on_book", "Gender"), 0.5, 1),
    Pair("bank", "Total_Trans_Ct", BANK, ("Total_Relationship_Count", "Attrition_Flag"), 0.5, 3),
    Pair("adult", "age", ADULT, ("education", "marital-status"), 0.5, 3),
    Pair("adult", "hours-per-week", ADULT, ("age", "occupation"), 0.5, 1),
    Pair("nist", "AGEP", NIST, ("MSP", "EDU"), 0.3, 3),
    Pair("nist", "POVPIP", NIST, ("OWN_RENT", "EDU"), 0.5, 2),
    Pair("nist", "PINCP", NIST, ("EDU", "INDP_CAT", "AGEP"), 0.7, 1),
    Pair("monotone", "number", ("a", "b", "c"), ("a",), 0.5, 2),
    Pair("uneven", "number", ("a", "b", "c", "d"), ("a", "b"), 0.5, 1),
)


def frame(table: str, folder: Path) -> pd.DataFrame:
    """Return a table, generated or read."""
    if table in GENERATED:
        return GENERATED[table](np.random.default_rng(17), 6000)
    file = {"bank": bankchurners_table.FILE, "adult": planning.ADULT[0], "nist": planning.NIST}[table]
    read = pd.read_csv(folder / file, na_values=["N"] if table == "nist" else None, keep_default_na=False)
    if table != "nist":
        return read
    read["PINCP"] = (read["PINCP"] / 5000).round() * 5000
    return read.fillna(dict.fromkeys(("MSP", "NPF", "INDP_CAT", "EDU"), -1)).dropna(subset=["POVPIP", "PINCP"])


def _monotone(rng: np.random.Generator, size: int) -> pd.DataFrame:
    """A number that grows with the first attribute, which has many values."""
    a, b, c = rng.integers(0, 60, size), rng.integers(0, 5, size), rng.integers(0, 9, size)
    number = 20 + 2 * a + 3 * b + rng.normal(0, 3, size)
    return pd.DataFrame({"a": a, "b": b, "c": c, "number": np.clip(np.rint(number), 1, 200)})


def _uneven(rng: np.random.Generator, size: int) -> pd.DataFrame:
    """A number whose spread differs with an attribute: some people are easily guessed."""
    a, b, c, d = (rng.integers(0, values, size) for values in (30, 8, 4, 12))
    number = 40 + a * (1 + b / 4) + 5 * (c == 2) + rng.normal(0, 0.5 + 2 * b, size)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "number": np.clip(np.rint(number), 1, 200)})


GENERATED: dict[str, Callable[[np.random.Generator, int], pd.DataFrame]] = {"monotone": _monotone, "uneven": _uneven}


def people_of(pair: Pair, folder: Path, most: int) -> tuple[People, list[np.ndarray | None]]:
    """Return at most so many people of a pair's table, and the numbers of known attributes' codes (None: names)."""
    rows = frame(pair.table, folder)
    rows = rows.sample(min(most, len(rows)), random_state=1)
    numbers, secret = np.unique(rows[pair.secret].astype(float), return_inverse=True)
    codes, values = [], list[np.ndarray | None]()
    for name in known_of(pair):
        labels, column = np.unique(rows[name], return_inverse=True)
        codes.append(column)
        values.append(labels.astype(float) if labels.dtype.kind in "if" else None)
    named = [each is None for each in values]
    return People(np.column_stack(codes).astype(np.int64), named, secret.astype(np.int64), numbers), values


def known_of(pair: Pair) -> list[str]:
    """Return what is known of a target: all that is not asked."""
    return [name for name in pair.known if name != pair.secret]


@dataclass(frozen=True)
class SampledClasses:
    """Publishes a sample of the table in some attributes, without classes of few sampled rows."""

    shown: tuple[str, ...]
    rate: float
    least: int
    name: str = "sampled classes"

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: np.random.Generator) -> Observation:
        table = drawn.table
        counts = rng.binomial(table.counts, self.rate)
        sample = Histogram(
            table.names, table.sizes, tuple(each[counts > 0] for each in table.codes), counts[counts > 0]
        )
        rows = at_least(project(sample, self.shown), self.least)
        levels = {name: known.population.levels[name] for name in self.shown}
        return Observation(seen=MechanismOutput((), rows, levels))


def audited(
    pair: Pair, people: People, values: Sequence[np.ndarray | None], releases: int, division: int = 1
) -> list[InferenceEstimate]:
    """Return the audit's estimates for everybody, by its own code, with a seed of the division into blocks."""
    names = known_of(pair)
    population = _population(names, people)
    secret = Secret(SECRET, population.levels[SECRET], people.numbers)
    rng = np.random.default_rng(division)
    table = source_table(population, population.size, names, [secret], rng, block_count(population.size))
    case = secret_case(table, secret, dict(zip(names, values, strict=True)), rng)
    game = InferenceGame(SampledClasses((*pair.told, SECRET), pair.rate, pair.least), [case], 5, 0, attacks=ATTACKS)
    played = {at: game.batch(at, trials) for at, trials in game.batches(releases)}
    found = estimates(game.played(played, "judged", "", None), ALPHA)
    return [each for each in found if each.group == GROUPS[0] and each.coverage in COVERAGES]


def _population(names: Sequence[str], people: People) -> Population:
    columns = [*people.known.T, people.secret]
    cells, counts = np.unique(np.column_stack(columns), axis=0, return_counts=True)
    view = View({name: _level(column) for name, column in zip((*names, SECRET), columns, strict=True)})
    codes = tuple(column.astype(np.int32) for column in cells.T)
    members = counts.astype(np.int64)
    return Population("people", view, Histogram(view.names, view.sizes, codes, members), members)


def _level(column: np.ndarray) -> Level:
    size = int(column.max()) + 1
    return Level(EXACT, tuple(map(str, range(size))), np.arange(size, dtype=np.int32))


@dataclass(frozen=True)
class Line:
    """Both gains of a pair at a coverage, and the audit's interval."""

    pair: Pair
    coverage: float
    audit: float
    low: float
    high: float
    again: float
    other: float

    def cells(self, seconds: float) -> tuple[str, ...]:
        return (
            self.pair.table, self.pair.secret, f"{self.coverage:g}", f"{self.audit:.3f}",
            f"{self.low:.3f} to {self.high:.3f}", f"{self.again:.3f}", f"{self.other:.3f}",
            "yes" if self.inside else "no", f"{seconds:.0f}",
        )  # fmt: skip

    @property
    def inside(self) -> bool:
        return self.low <= self.other <= self.high


def lines(pair: Pair, folder: Path, most: int, releases: int) -> Iterator[Line]:
    """Yield both gains of a pair at each coverage."""
    people, values = people_of(pair, folder, most)
    names = known_of(pair)
    told = Publication([names.index(name) for name in pair.told], pair.rate, pair.least)
    other = dict(zip(COVERAGES, gains(people, told, COVERAGES, max(FIFTHS, releases // 10), 3), strict=True))
    repeated = audited(pair, people, values, releases, division=2)
    again = {each.coverage: np.nan if each.gain is None else float(each.gain.value) for each in repeated}
    for each in audited(pair, people, values, releases):
        stated = each.gain
        if stated is not None:
            limits = float(stated.value), float(stated.lower), float(stated.upper)
            yield Line(pair, each.coverage, *limits, again[each.coverage], other[each.coverage])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of public tables")
    parser.add_argument("--people", type=int, default=6000, help="most people of a table")
    parser.add_argument("--releases", type=int, default=300)
    parser.add_argument("--pairs", type=int, default=len(PAIRS), help="the first so many pairs")
    given = parse(parser, people=100, releases=20, pairs=1)
    _print(TITLES)
    _print(["---"] * len(TITLES))
    found = list[Line]()
    for pair in PAIRS[: given.pairs]:
        start = time.process_time()
        for each in lines(pair, given.data, given.people, given.releases):
            found.append(each)
            _print(each.cells(time.process_time() - start))
    for coverage in COVERAGES:
        own = [each.inside for each in found if each.coverage == coverage]
        print(f"Coverage {coverage:g}: {sum(own)} of {len(own)} inside.")


def _print(cells: Sequence[str]) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
