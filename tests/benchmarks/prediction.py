"""Unique people, estimated from a published release of tables at epsilon 1, beside who is, and beside independence.

Run it with `python -m tests.benchmarks.prediction [--only SET ...] [--attributes N]`. A policy of noisy counts of all
pairs of some attributes of the bundled Census-Income table is released, by the commands; from its files alone the
number of unique people is estimated for every subset of the attributes, and compared with the table. Nothing is
tuned to these subsets: they are all there are.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from crowdgate.anonymity.predict.laws import JOINT, laws
from crowdgate.anonymity.predict.subject import levels_of
from crowdgate.contracts.reading import read_contract
from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram, View, project
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.limits import MOST_CELLS_FITTED
from crowdgate.planning.bundle import KNOWN
from crowdgate.public_counts.figures import PriorFigures, PriorSubject, read_prior
from crowdgate.releases.release import release
from crowdgate.releases.working_copy import init
from crowdgate.risk.singletons import expected
from crowdgate.sources import open_source
from crowdgate.sources.counting import CountingTask, count_table, serial
from tests.benchmarks.options import parse

FINE = dict.fromkeys(
    ("age", "sex", "race", "education", "marital_status", "household_role", "class_of_worker"), "exact"
)
COARSE = {
    "age": "10 years", "sex": "exact", "education": "6 groups", "marital_status": "4 groups",
    "employment": "4 groups", "income": "exact",
}  # fmt: skip
OTHER = {
    "age": "5 years", "hispanic_origin": "exact", "citizenship": "exact", "occupation": "exact",
    "weeks_worked": "6 bands", "tax_filer": "exact",
}  # fmt: skip
FRESH = {
    "age": "exact", "sex": "exact", "hispanic_origin": "2 groups", "industry": "exact", "country_of_birth": "subregion",
    "employment": "exact",
}  # fmt: skip
"""Which nothing was set on: the share FITTED of a range was, on the three above."""
POLICY = """\
apiVersion: crowdgate/v1
kind: ReleasePolicy
metadata: {{name: pairs, version: 1, owner: benchmark}}
spec:
  contract: census-income
  budget: us-cps-1994-95
  privacy: {{epsilon: 1, delta: 1e-9}}
  mechanism:
    kind: dp_tables
    noise: gaussian
    levels: {{{levels}}}
    tables: [{{total: true, share: 0.02}}, {{all: 1}}, {{all: 2}}]
  gates:
    - {{measure: guarantee_epsilon, at_most: 1}}
  publish: {{to: releases, formats: [parquet]}}
"""


SETS = {"fine": FINE, "coarse": COARSE, "other": OTHER, "fresh": FRESH}


@dataclass(frozen=True)
class Compared:
    """People who are alone by these attributes, and how many are estimated by joint figures (with their range) and by
    independence."""

    names: tuple[str, ...]
    true: int
    joint: float
    low: float
    high: float
    independent: float

    @property
    def factors(self) -> tuple[float, float]:
        """How many times too many or too few are estimated, above 1: by joint figures, and by independence."""
        return off(self.joint, self.true), off(self.independent, self.true)

    @property
    def inside(self) -> bool:
        """True if the truth is in the range of the joint figures."""
        return self.low <= self.true <= self.high


def off(found: float, true: float) -> float:
    """The larger over the smaller, each at least half a person."""
    return max(found, 0.5) / max(true, 0.5) if found > true else max(true, 0.5) / max(found, 0.5)


@dataclass(frozen=True, eq=False)
class Released:
    """A release of the pairs of some attributes, what it tells, and the table."""

    subject: PriorSubject
    figures: PriorFigures
    table: Histogram

    def compared(self, names: Sequence[str]) -> Compared:
        """By some of the attributes."""
        levels = {name: self.subject.levels[name] for name in names}
        found = laws(PriorSubject(self.subject.contract, self.subject.root, self.table.rows, levels), self.figures)
        ends = found.bounds(JOINT, self.table.rows)
        assert found.related is not None
        true = int((project(self.table, names).counts == 1).sum())
        both = (expected(bins, self.table.rows) for bins in (found.related, found.independent))
        joint, independent = both
        return Compared(tuple(names), true, joint, ends["low"], ends["high"], independent)

    def subsets(self, least: int = 2) -> Iterator[tuple[str, ...]]:
        """All of at least so many attributes that have few enough classes."""
        levels = self.subject.levels
        for many in range(least, len(levels) + 1):
            for names in combinations(levels, many):
                if prod(len(levels[name]) for name in names) <= MOST_CELLS_FITTED:
                    yield names


def released(levels: Mapping[str, str], folder: Path) -> Released:
    """Release all pairs of these attributes at epsilon 1 in a new working copy, and read what it tells."""
    root = init(folder / "copy", "benchmark")
    contract_file, policy = root / "data_contracts" / "census_income.yaml", root / "policies" / "pairs.yaml"
    policy.write_text(POLICY.format(levels=", ".join(f"{name}: {level}" for name, level in levels.items())))
    ended = release(Request(policy, "2030-01-01"), draw_key)
    assert ended.path is not None, ended.plain
    contract = read_contract(contract_file, KNOWN.servers)
    at = levels_of(contract, ",".join(f"{name}={level}" for name, level in levels.items()))
    subject = PriorSubject(contract, root, 300_000, at)
    return Released(subject, read_prior(subject, ended.path), _table(subject, at))


def _table(subject: PriorSubject, levels: Mapping[str, Level]) -> Histogram:
    names = tuple(levels)
    task = CountingTask(subject.contract, names, {"all": View(levels)})
    return count_table(open_source(subject.contract, names), task, serial()).histograms["all"]


def main() -> None:
    """Print every subset, and by the number of people alone what the factors come to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=SETS, default=[*SETS])
    parser.add_argument("--attributes", type=int, help="the first so many of each set")
    options = parse(parser, only=["coarse"], attributes=3)
    for title in options.only:
        levels = dict(list(SETS[title].items())[: options.attributes])
        with TemporaryDirectory() as folder:
            held = released(levels, Path(folder))
            found = [held.compared(names) for names in held.subsets()]
        print(f"\n{title}: {', '.join(f'{name} ({level})' for name, level in levels.items())}")
        print(
            f"{'alone':>8} {'joint':>9} {'factor':>7} {'from':>8} {'to':>8} {'independ.':>10} {'factor':>7}  attributes"
        )
        for each in found:
            joint, independent = each.factors
            print(
                f"{each.true:8} {each.joint:9.1f} {joint:7.2f} {each.low:8.0f} {each.high:8.0f}"
                f" {each.independent:10.1f} {independent:7.2f}  {', '.join(each.names)}"
            )
        for least, most in ((0, 10), (10, 100), (100, 1000), (1000, 10**9)):
            own = [each for each in found if least <= each.true < most]
            if own:
                print(f"{len(own)} sets of {least} to {most} alone: {summary(own)}")


def summary(found: Sequence[Compared]) -> str:
    """The factors of some subsets, median and worst."""
    joint, independent = [each.factors[0] for each in found], [each.factors[1] for each in found]
    inside = sum(each.inside for each in found)
    return (
        f"joint {median(joint):.2f}, at worst {max(joint):.2f}; independence {median(independent):.2f}, at worst"
        f" {max(independent):.2f}; {inside} in the range of the joint figures"
    )


if __name__ == "__main__":
    main()
