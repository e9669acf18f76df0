"""Gains of the inference audit at secret numbers, beside a cross-validation that was written independently.

Three times ten pairs of a table and a secret of more than 30 numbers, of public and generated tables
(numeric_pairs.py). A sample of each is published in one or two known attributes and the secret. The audit's attacks on
classes are played, with all of its baselines; the other side has NumPy alone (own_cross_validation.py). A pair holds at
a coverage if the other side's gain is inside the audit's interval for people like the targets. The narrower interval of
releases is shown beside it: it is of one table, divided once.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.population import DrawnTable, Population
from crowdgate.audit.inference.findings import InferenceEstimate, estimates
from crowdgate.audit.inference.play import InferenceGame
from crowdgate.audit.inference.secret import Secret
from crowdgate.audit.inference.secret_case import GROUPS, secret_case
from crowdgate.audit.inference.source_table import block_count, source_table
from crowdgate.candidate import Measurement
from crowdgate.hierarchy import EXACT, Level
from crowdgate.histogram import Histogram, View, at_least, project
from crowdgate.kind.mechanism_output import MechanismOutput
from tests.benchmarks.numeric_pairs import SETS, Pair, rounded_frame
from tests.benchmarks.options import DATA, parse
from tests.benchmarks.own_cross_validation import FIFTHS, People, Publication, gains

ALPHA = Fraction(1, 20)
COVERAGES = 1.0, 0.1, 0.01
TITLES = ("table", "secret", "coverage", "audit", "for people", "inside", "of releases", "inside", "own", "CPU s")
ATTACKS = frozenset({"likeliest label", "class homogeneity", "class or likeliest"})
SECRET = "secret"


def people_of(pair: Pair, folder: Path, most: int) -> tuple[People, list[np.ndarray | None]]:
    """Return at most so many people of a pair's table, and the numbers of known attributes' codes (None: names)."""
    rows = rounded_frame(pair, folder)
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


def audited(pair: Pair, people: People, values: Sequence[np.ndarray | None], releases: int) -> list[InferenceEstimate]:
    """Return the audit's estimates for everybody, by its own code."""
    names = known_of(pair)
    population = _population(names, people)
    secret = Secret(SECRET, population.levels[SECRET], people.numbers)
    rng = np.random.default_rng(1)
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
    """Both gains of a pair at a coverage, and the audit's intervals: for people like the targets, and of releases."""

    pair: Pair
    coverage: float
    audit: float
    people: tuple[float, float]
    releases: tuple[float, float]
    other: float

    def cells(self, seconds: float) -> tuple[str, ...]:
        return (
            self.pair.table, self.pair.secret, f"{self.coverage:g}", f"{self.audit:.3f}",
            *_interval(self.people, self.other), *_interval(self.releases, self.other), f"{self.other:.3f}",
            f"{seconds:.0f}",
        )  # fmt: skip

    @property
    def inside(self) -> bool:
        return _within(self.people, self.other)


def _interval(limits: tuple[float, float], value: float) -> tuple[str, str]:
    return f"{limits[0]:.3f} to {limits[1]:.3f}", "yes" if _within(limits, value) else "no"


def _within(limits: tuple[float, float], value: float) -> bool:
    return limits[0] <= value <= limits[1]


def lines(pair: Pair, folder: Path, most: int, releases: int) -> Iterator[Line]:
    """Yield both gains of a pair at each coverage."""
    people, values = people_of(pair, folder, most)
    names = known_of(pair)
    told = Publication([names.index(name) for name in pair.told], pair.rate, pair.least)
    other = dict(zip(COVERAGES, gains(people, told, COVERAGES, max(FIFTHS, releases // 10), 3), strict=True))
    for each in audited(pair, people, values, releases):
        if each.gain is not None and each.for_people is not None:
            both = _limits(each.for_people), _limits(each.gain)
            yield Line(pair, each.coverage, float(each.gain.value), *both, other[each.coverage])


def _limits(of: Measurement) -> tuple[float, float]:
    return float(of.lower), float(of.upper)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of public tables")
    parser.add_argument("--people", type=int, default=6000, help="most people of a table")
    parser.add_argument("--releases", type=int, default=300)
    parser.add_argument("--pairs", type=int, default=10, help="the first so many pairs of the set")
    parser.add_argument("--set", type=int, default=1, choices=range(1, 4), help="which ten pairs")
    given = parse(parser, people=100, releases=20, pairs=1)
    _print(TITLES)
    _print(["---"] * len(TITLES))
    found = list[Line]()
    for pair in SETS[given.set - 1][: given.pairs]:
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
