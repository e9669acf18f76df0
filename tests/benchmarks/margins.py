"""Margins beside rows on three public tables: coverage of their intervals, and what weights make of the rows.

Run it with `python -m tests.benchmarks.margins [DRAWS] [WEIGHTED] [--data FOLDER]`: so many draws of margins, and so
many releases with weights. Tables that are not there are left out. Epsilon 1 in all: .3 for all tables of two columns,
.05 for a gate; delta 1e-9; sampling rate .3.
"""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crowdgate.accounting.safe_k import least_k
from crowdgate.guarantee import Part
from crowdgate.histogram import Histogram, generalise, project
from crowdgate.kinds.rows.calibrated_margins import calibrated_margins
from crowdgate.kinds.rows.candidate import PublishedMargin, PublishedRows
from crowdgate.kinds.rows.margins import cells, margin_fit
from crowdgate.ledger.key import draw_key
from crowdgate.mechanisms.rows.charge_names import MARGINS_PART
from crowdgate.mechanisms.rows.margins import PlannedMargins
from crowdgate.mechanisms.rows.safe_k import SafeK
from crowdgate.mechanisms.rows.spec import MarginsSpec
from crowdgate.mechanisms.tables.answers import TableAnswer, consistent_answers
from crowdgate.noise import OPENDP
from crowdgate.publish.dictionary import entries
from crowdgate.sampling import bernoulli_subsampler
from tests.benchmarks.options import DATA, parse
from tests.benchmarks.planning import People, tables

LEVELS: Mapping[str, Mapping[str, str]] = {
    "census-income": {
        "age": "5 years", "sex": "exact", "marital_status": "2 groups", "employment": "4 groups",
        "occupation": "2 groups", "income": "exact",
    },
    "adult": {
        "age": "level 2", "sex": "exact", "race": "exact", "education": "level 1", "marital-status": "level 1",
        "income": "exact",
    },
    "nist": {"AGEP": "level 3", "SEX": "exact", "HISP": "level 1", "RAC1P": "level 1", "OWN_RENT": "exact",
             "EDU": "exact"},
}  # fmt: skip
"""Released values of each table."""
BETA, EPSILON, GATE, DELTA = (Fraction(text) for text in ("0.3", "1", "0.05", "1e-9"))
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Covered:
    """Shares of intervals that hold over all draws: tables of one column, of two, and cells whose true count is above
    three standard errors."""

    one_way: float
    two_way: float
    large: float
    cells: int


@dataclass(frozen=True)
class Weighted:
    """Root mean square errors of cells of one and of two columns: of rows times 1/beta, of weights, of the margins; the
    median errors of log odds ratios, and the root mean squares of prevalences in points, by rows and by weights."""

    kept: float
    classes: int
    rows: tuple[float, float]
    weights: tuple[float, float]
    margins: tuple[float, float]
    odds: tuple[float, float]
    prevalence: tuple[float, float]


def mechanism(people: People) -> tuple[SafeK, Histogram]:
    """The mechanism that a policy would plan, and the full table at its levels."""
    levels = {name: people.contract.by_name[name].hierarchy.level(at) for name, at in LEVELS[people.name].items()}  # type: ignore[union-attr]
    full = generalise(project(people.table, list(levels)), levels)
    spec = MarginsSpec.model_validate({"epsilon": "0.3", "tables": [{"all": "2"}]})
    epsilon, delta = spec.cost(DELTA)
    own = Part("mechanism", EPSILON - epsilon - GATE, DELTA - delta)
    bought = PlannedMargins(spec, people.contract, Part(MARGINS_PART, epsilon, delta))
    return SafeK(BETA, least_k(own.epsilon, own.delta, BETA), levels, own, margins=bought), full


def covered(people: People, draws: int) -> Covered:
    """The coverage of the published margins of so many draws."""
    safe, full = mechanism(people)
    assert safe.margins is not None
    held: dict[int, list[npt.NDArray[np.bool_]]] = {0: [], 1: [], 2: []}
    large = []
    for _ in range(draws):
        drawn = safe.margins.draw(full, safe.levels, OPENDP)
        for answer in consistent_answers(drawn.mechanism, drawn.noisy, Fraction(1, 10)):
            assert isinstance(answer, TableAnswer)
            found, true = answer.cells, _true(full, safe, {n: at.name for n, at in answer.levels.items()})
            holds = (found.lower.reshape(-1) <= true) & (true <= found.upper.reshape(-1))
            held[len(answer.levels)].append(holds)
            large.append(holds[true > 3 * found.error.reshape(-1)])
    both = np.concatenate(held[1]), np.concatenate(held[2])
    return Covered(
        float(both[0].mean()), float(both[1].mean()), float(np.concatenate(large).mean()), both[0].size + both[1].size
    )


def _true(full: Histogram, safe: SafeK, levels: Mapping[str, str]) -> Floats:
    """The true counts of a table."""
    lookup = {(name, at): np.arange(len(safe.levels[name]), dtype=np.int32) for name, at in levels.items()}
    sizes = {(name, at): len(safe.levels[name]) for name, at in levels.items()}
    out = np.zeros(int(np.prod(list(sizes.values()))))
    np.add.at(out, cells(full, levels, lookup, sizes), full.counts)
    return out


def weighted_release(people: People) -> Weighted:
    """Return one release of the table."""
    safe, full = mechanism(people)
    made = safe.protect(full, bernoulli_subsampler(draw_key(), BETA))
    assert made.margins is not None
    bought = calibrated_margins(BETA, made.output, safe.levels, made.margins, people.contract)
    columns = entries([(people.contract.by_name[name], level) for name, level in safe.levels.items()])
    held = PublishedRows(made.output, columns, (False,) * len(columns), bought)
    errors: dict[int, list[Floats]] = {1: [], 2: []}
    for margin in bought.margins:
        if len(margin.levels) in errors:
            errors[len(margin.levels)].append(np.stack(list(_errors(held, margin, full, safe))))
    joined = {ways: np.concatenate(found, axis=1) for ways, found in errors.items()}
    rms = {ways: np.sqrt(np.mean(np.square(found), axis=1)) for ways, found in joined.items()}
    odds, prevalence = _ratios(made.output, bought.weights, full)
    rows, weights, margins = ((float(rms[1][at]), float(rms[2][at])) for at in range(3))
    return Weighted(made.output.rows / made.sample.rows, len(made.output), rows, weights, margins, odds, prevalence)


def _errors(held: PublishedRows, margin: PublishedMargin, full: Histogram, safe: SafeK) -> Iterator[Floats]:
    true, found = _true(full, safe, margin.levels), margin_fit(held, margin)
    yield found.rows / float(BETA) - true
    yield found.weighted / 10_000 - true
    yield margin.value - true


def _ratios(rows: Histogram, weights: npt.NDArray[np.int64], full: Histogram) -> tuple[tuple[float, float], ...]:
    """Errors of log odds ratios of every two columns, each cut into its commonest value and the others, and of the
    prevalence of each commonest value: by rows, by weights."""
    top = {n: int(np.bincount(column, full.counts).argmax()) for n, column in zip(full.names, full.codes, strict=True)}
    true = _of_two(full, full.counts.astype(np.float64), top)
    odds, shares = [], []
    masses: tuple[Floats, Floats] = (rows.counts.astype(np.float64), (rows.counts * weights).astype(np.float64))
    for mass in masses:
        found = _of_two(rows, mass, top)
        both = np.isfinite(found[0]) & np.isfinite(true[0])
        odds.append(float(np.median(np.abs(found[0] - true[0])[both])))
        shares.append(100 * float(np.sqrt(np.mean(np.square(found[1] - true[1])))))
    return (odds[0], odds[1]), (shares[0], shares[1])


def _of_two(table: Histogram, mass: Floats, top: Mapping[str, int]) -> tuple[Floats, Floats]:
    marks = {name: column == top[name] for name, column in zip(table.names, table.codes, strict=True)}
    shares = np.array([mass[marks[name]].sum() / mass.sum() for name in table.names])
    logs = []
    for at, one in enumerate(table.names):
        for other in table.names[at + 1 :]:
            a, b = marks[one], marks[other]
            four = [mass[a & b].sum(), mass[~a & ~b].sum(), mass[a & ~b].sum(), mass[~a & b].sum()]
            logs.append(np.log(four[0] * four[1] / (four[2] * four[3])) if min(four) > 0 else np.nan)
    return np.array(logs), shares


def main() -> None:
    """Print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("draws", type=int, nargs="?", default=60)
    parser.add_argument("weighted", type=int, nargs="?", default=3)
    parser.add_argument("--data", type=Path, default=DATA)
    asked = parse(parser, draws=1, weighted=1)
    for people in tables(asked.data):
        found = covered(people, asked.draws)
        print(f"{people.name}: {asked.draws} draws, intervals that hold: one-way {found.one_way:.4f}, two-way "
              f"{found.two_way:.4f}, above three standard errors {found.large:.4f}")  # fmt: skip
        for _ in range(asked.weighted):
            each = weighted_release(people)
            print(f"  kept {each.kept:.3f}, {each.classes} classes; errors (one-way, two-way): rows {_two(each.rows)}, "
                  f"weighted {_two(each.weights)}, margins {_two(each.margins)}; log odds ratios {each.odds[0]:.3f} -> "
                  f"{each.odds[1]:.3f}; prevalences {each.prevalence[0]:.2f} -> {each.prevalence[1]:.2f}")  # fmt: skip


def _two(pair: tuple[float, float]) -> str:
    return f"{pair[0]:.0f}, {pair[1]:.0f}"


if __name__ == "__main__":
    main()
