"""Singling out by simulation: the papers' results and attacks on public tables, as Markdown, and the hash's time.

Run it with `python -m tests.benchmarks.audit_papers [--trials T] [--data FOLDER]`. Rates stand with their exact 95 %
intervals (2.5 % on each side). Tables that are not there are left out.

The second table attacks tables of n = 1,000 rows drawn with replacement from a public one. Mondrian makes boxes of
eight columns, with ends computed from the data; nothing of the tag is published. `weight` is the mean weight of the
predicates under the public table, with its own baseline B(n, weight). A near-unique column is a ninth: Adult's fnlwgt,
or the tag where the table has none.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from crowdgate.accounting.intervals import clopper_pearson
from crowdgate.accounting.pso import baseline
from crowdgate.audit.common.observation import Mechanism, PublicKnowledge
from crowdgate.audit.common.population import Population
from crowdgate.audit.common.predicates import Predicate
from crowdgate.audit.singling_out.play import SinglingOutGame
from crowdgate.audit.singling_out_attackers.base import Attacker, SinglingOutAttackerView
from crowdgate.audit.singling_out_attackers.trivial import TrivialHash
from crowdgate.audit.singling_out_controls.exact_counts import ExactCountsControl, MaskedCounts
from crowdgate.audit.singling_out_controls.groups import Mondrian
from crowdgate.audit.singling_out_controls.raw_rows import Constant
from crowdgate.histogram import View, project
from tests.audit.games import BY_NAME, isolations, play_trials
from tests.audit.papers import STATED
from tests.audit.people import rows
from tests.benchmarks.options import DATA, parse
from tests.benchmarks.planning import ADULT, People, _people, _read, tables

N = 1000
COLUMNS = {
    "census-income": (
        "age",
        "class_of_worker",
        "education",
        "marital_status",
        "occupation",
        "household_role",
        "race",
        "sex",
    ),
    "adult": ("age", "workclass", "education", "marital-status", "occupation", "relationship", "race", "sex"),
}


class Counts21(ExactCountsControl):
    """One strip, 20 bits."""

    name, bits = "21 exact counts", 20


class Counts84(Counts21):
    """Four strips."""

    name, repeats = "84 exact counts", 4


class Masked85(MaskedCounts):
    """Four strips, and the number of odd tags with each."""

    name, bits, repeats = "84 counts, those below 10 masked", 20, 4


@dataclass(frozen=True)
class Found:
    """Isolations of one attacker, and the mean weight of its predicates."""

    isolated: int
    trials: int
    weight: float


def attack(
    mechanism: Mechanism, attacker: Attacker, known: PublicKnowledge, weights: Sequence[Fraction], trials: int
) -> list[Found]:
    """Isolations and weights at each of the greatest weights."""
    rng = np.random.default_rng(20)
    isolated, weight = np.zeros(len(weights), dtype=np.int64), np.zeros(len(weights))
    for _ in range(trials):
        drawn = known.population.draw(known.n, rng)
        answers = attacker.answer(SinglingOutAttackerView(mechanism.apply(drawn, known, rng), known, weights)) or ()
        for at, predicate in enumerate(answers):
            if isinstance(predicate, Predicate):
                isolated[at] += predicate.isolates(drawn, rng)
                weight[at] += float(predicate.weight(known.population)) / trials
    return [Found(int(one), trials, float(own)) for one, own in zip(isolated, weight, strict=True)]


def populations(folder: Path) -> Iterator[tuple[Population, Population | None]]:
    """Public tables in eight columns, and in nine with a near-unique one."""
    for people in tables(folder):
        if people.name in COLUMNS:
            near = _near_unique(folder) if people.name == "adult" else None
            yield _population(people, COLUMNS[people.name]), near


def _near_unique(folder: Path) -> Population:
    names = (*COLUMNS["adult"], "fnlwgt")
    return _population(_people("adult", [row for file in ADULT for row in _read(folder / file)], names, {}), names)


def _population(people: People, names: tuple[str, ...]) -> Population:
    cells = project(people.table, names)
    levels = {name: people.contract.by_name[name].hierarchy.levels[0] for name in names}  # type: ignore[union-attr]
    return Population(people.name, View(levels), cells, cells.counts)


def rate(found: int, trials: int) -> str:
    low, high = clopper_pearson(found, trials, Fraction(25, 1000))
    return f"{found / trials:.3f} [{low:.3f}, {high:.3f}]"


def line(*cells: object) -> None:
    """One line of a table in Markdown."""
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def papers(trials: int) -> None:
    """The first table."""
    line("mechanism", "attacker", "n", "weight up to", "stated", "isolation", "tables")
    line(*["---"] * 7)
    for each in STATED:
        found = rate(isolations(each.mechanism, each.attacker, each.n, trials, each.weight, seed=9), trials)
        stated = f"{float(each.weight):.2g}", f"{each.success:.4f}"
        line(each.mechanism.name, each.attacker, each.n, *stated, found, f"{trials:,}")


def public(folder: Path, trials: int) -> None:
    """The second table."""
    print()
    line("table", "published", "attacker", "weight up to", "isolation", "weight", "B(n, weight)")
    line(*["---"] * 7)
    for population, near in populations(folder):
        known, weights = PublicKnowledge(population, N), (Fraction(1), Fraction(1, N), Fraction(1, 4 * N))
        for k in (5, 10):
            for name in ("described group and hash", "end point"):
                _lines(Mondrian(k, tagged=False), name, known, weights, trials, "8 columns")
        nearly = PublicKnowledge(near or population, N)
        _lines(Mondrian(10, near is None), "end point", nearly, weights, trials, "8 columns and a near-unique one")
        for mechanism, name in (
            (Counts21(), "exact counts"),
            (Counts84(), "exact counts"),
            (Masked85(), "differences of counts"),
        ):
            _lines(mechanism, name, known, (Fraction(1, 10**9),), trials, "of tags")


def _lines(
    mechanism: Mechanism, name: str, known: PublicKnowledge, weights: Sequence[Fraction], trials: int, what: str
) -> None:
    published = f"{mechanism.name}: {what}"
    for most, found in zip(weights, attack(mechanism, BY_NAME[name], known, weights, trials), strict=True):
        own = rate(found.isolated, trials), f"{found.weight:.2g}", f"{baseline(N, found.weight):.3f}"
        line(known.population.name, published, name, f"{float(most):.2g}", *own)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parse(parser, trials=1)
    papers(options.trials)
    public(options.data, options.trials)
    start = time.process_time()
    known = PublicKnowledge(rows(np.array([1])), N)
    tally = play_trials(SinglingOutGame(Constant(), (TrivialHash(),), known, (Fraction(1, N),), 1, 0), 100_000)
    found, cpu = int(tally.light[0, 0]), time.process_time() - start
    print(f"\n100,000 trials of the hash attack at n = {N:,}: {found / 100_000:.4f}, {cpu:.3f} CPU s")


if __name__ == "__main__":
    main()
