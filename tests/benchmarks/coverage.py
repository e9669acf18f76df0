"""How often the interval of a count holds the truth, for every published table by itself.

Run it with `python -m tests.benchmarks.coverage [DRAWS] [SEED] [--only WORD]`: the bundled table of 299,285 persons,
the bundled policy of tables at three epsilons, the same beside a sparse table of 10,829 cells, with Laplace noise, and
on samples. Noise is drawn by numpy from its exact law, consistency and intervals are the library's.

The coverage of a table is the share of its cells whose interval holds the true count, averaged over releases. A table
fails if it covers less than .95 by an exact test (Holm's procedure over all tables, .01 in all), or less than .92 in
these releases. The share of a release is a number from 0 to 1, so the number of releases times their mean is below a
limit at most e times as often as a binomial number is (Bentkus 2004); for a table of one cell it is binomial.
"""

import argparse
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from crowdgate.accounting.discrete_laws import DiscreteGaussian
from crowdgate.contracts.contract import Contract
from crowdgate.guarantee import Part
from crowdgate.histogram import Histogram
from crowdgate.mechanisms.tables.accuracy import Cells, consistent_cells
from crowdgate.mechanisms.tables.coarse_to_fine import whole_tables
from crowdgate.mechanisms.tables.consistency import variances_after
from crowdgate.mechanisms.tables.dp_tables import DpTables, plan_dp_tables
from crowdgate.mechanisms.tables.orthogonal import Orthogonal
from crowdgate.mechanisms.tables.spec import DpTablesSpec
from crowdgate.mechanisms.tables.workload import ContingencyTable, Item
from crowdgate.mechanisms.tables.workload_lines import plan_tables
from crowdgate.noise import NoiseSource
from tests.benchmarks.options import parse

Floats = npt.NDArray[np.float64]
Vector = npt.NDArray[np.int64]
LEAST, WORST, FAMILY = 0.95, 0.92, 0.01
SPARSE = {"age": "exact", "education": "exact", "marital_status": "exact"}


@dataclass(frozen=True, eq=False)
class Case:
    """A workload on a table: what is planned, and what is counted."""

    name: str
    mechanism: DpTables
    counted: Mapping[str, Histogram]


@dataclass(eq=False)
class Covered:
    """Coverage of one table, by release: shares of intervals that hold, of all cells, of empty ones and of the largest.

    Also the mean error of the published sum of all cells, in standard errors of the noise.
    """

    name: str
    cells: int
    shares: list[float] = field(default_factory=list)
    empty: list[float] = field(default_factory=list)
    largest: list[float] = field(default_factory=list)
    off: list[float] = field(default_factory=list)

    @property
    def coverage(self) -> float:
        """The mean share."""
        return float(np.mean(self.shares))

    @property
    def p_value(self) -> float:
        """Lower limit of a coverage of .95."""
        draws, held = len(self.shares), math.ceil(math.fsum(self.shares) - 1e-9)
        chance = float(binom.cdf(held, draws, LEAST))
        return chance if self.cells == 1 else min(1.0, math.e * chance)


def failures(found: Sequence[Covered]) -> list[Covered]:
    """Tables that cover too little."""
    ordered = sorted(found, key=lambda each: each.p_value)
    refuted = 0
    while refuted < len(ordered) and ordered[refuted].p_value <= FAMILY / (len(ordered) - refuted):
        refuted += 1
    return [each for at, each in enumerate(ordered) if at < refuted or each.coverage < WORST]


def numpy_noise(random: np.random.Generator) -> NoiseSource:
    """Discrete Laplace noise as the difference of two geometric numbers, Gaussian noise by its distribution."""

    def laplace(values: Vector, sensitivity: int, epsilon: Fraction) -> Vector:
        chance = -math.expm1(-float(epsilon / sensitivity))
        drawn = random.geometric(chance, values.shape) - random.geometric(chance, values.shape)
        return np.asarray(values + drawn)

    def gaussian(values: Vector, sensitivity: int, rho: Fraction) -> Vector:
        sigma = DiscreteGaussian(Fraction(sensitivity**2) / (2 * rho)).sigma
        reach = math.ceil(12 * sigma)
        steps = np.arange(-reach, reach + 1)
        masses = np.exp(-(steps**2) / (2 * sigma * sigma))
        return np.asarray(
            values + steps[np.searchsorted(np.cumsum(masses) / masses.sum(), random.random(values.shape))]
        )

    return NoiseSource(laplace, gaussian)


Release = tuple[list[Vector], list[Cells]]


def releases(case: Case, draws: int, random: np.random.Generator) -> Iterator[Release]:
    """The true counts of the full table, and the cells of a release, of every table of counts."""
    mechanism, beta = case.mechanism, case.mechanism.beta
    places = [at for at, linear in enumerate(mechanism.queries) if linear.grid is None]
    axes = [mechanism.queries[at].levels for at in places]
    spread = [mechanism.laws[at].variance for at in places]
    made, (after, _) = Orthogonal.of(axes, spread), variances_after(axes, spread)
    exact = mechanism.true_answers(case.counted)
    true, width = [exact[at] for at in places], mechanism.width
    assert width is not None, "there are counts"
    source = numpy_noise(random)
    coins = None if beta == 1 else lambda sizes: random.binomial(sizes, float(beta))
    for _ in range(draws):
        if coins is None:
            noisy = [_drawn(source, mechanism, at, exact[at]) for at in places]
        else:
            all_of_them = mechanism.protect(case.counted, coins, source)
            noisy = [all_of_them[at] for at in places]
        flat = made.estimate(np.concatenate([table.reshape(-1) for table in noisy]).astype(np.float64))
        parts = np.split(flat, np.cumsum([table.size for table in noisy])[:-1])
        linear = [part.reshape(table.shape) for part, table in zip(parts, noisy, strict=True)]
        whole = whole_tables(axes, linear, spread)
        triples = zip(whole, linear, after, strict=True)
        yield true, [consistent_cells(w, z, v, np.sqrt(v), width, beta, Fraction(1, 10)) for w, z, v in triples]


def _drawn(source: NoiseSource, mechanism: DpTables, at: int, values: Vector) -> Vector:
    draw = source.laplace if mechanism.budget.noise == "laplace" else source.gaussian
    return draw(values, mechanism.queries[at].query.sensitivity(mechanism.rows), mechanism.spends[at])


Intervals = Callable[[Cells], tuple[Floats, Floats]]


def published(cells: Cells) -> tuple[Floats, Floats]:
    """The intervals as they are."""
    return cells.lower, cells.upper


def covered(case: Case, drawn: Iterable[Release], ends: Intervals = published) -> list[Covered]:
    """Every table's intervals against the truth."""
    names = [linear.query.name for linear in case.mechanism.queries if linear.grid is None]
    found: list[Covered] = []
    for true, tables in drawn:
        found = found or [Covered(name, table.size) for name, table in zip(names, true, strict=True)]
        for each, exact, cells in zip(found, true, tables, strict=True):
            lower, upper = ends(cells)
            held = (lower <= exact) & (exact <= upper)
            each.shares.append(float(held.mean()))
            if (exact == 0).any():
                each.empty.append(float(held[exact == 0].mean()))
            each.largest.append(float(held.reshape(-1)[exact.argmax()]))
            each.off.append(float((cells.value.sum() - exact.sum()) / tables[0].standard_error.max()))
    return found


def contract_and_items() -> tuple[Contract, tuple[Item, ...]]:
    """The bundled contract, and what the bundled policy of tables publishes."""
    from crowdgate.planning.plan import plan_policy
    from crowdgate.releases.working_copy import DEMO_TABLES, bundled

    bundle = plan_policy(bundled("policies").parent / DEMO_TABLES).bundle
    spec = bundle.policy.spec.mechanism
    assert isinstance(spec, DpTablesSpec), "it is a policy of tables"
    mechanism, faults = plan_tables(spec, bundle.contract, Part("mechanism", Fraction(1), Fraction(1, 10**9)))
    assert mechanism is not None, faults
    return bundle.contract, mechanism.workload.items


def bundled_case(name: str, items: Sequence[Item], contract: Contract, epsilon: str, **how: object) -> Case:
    """A workload on the bundled table."""
    from crowdgate.sources import open_source
    from crowdgate.sources.counting import CountingTask, count_table, serial

    part = Part("mechanism", Fraction(epsilon), Fraction(1, 10**9))
    mechanism, faults = plan_dp_tables(items, contract, part, **{"noise": "gaussian", **how})  # type: ignore[arg-type]
    assert mechanism is not None, faults
    columns = tuple(each.name for each in contract.attributes if each.hierarchy is not None)
    found = count_table(open_source(contract, columns), CountingTask(contract, columns, mechanism.views), serial())
    return Case(name, mechanism, found.histograms)


def cases() -> Iterator[Callable[[], Case]]:
    """All of them, each made when it is its turn."""
    contract, items = contract_and_items()
    sparse = (*items, ContingencyTable(SPARSE))
    for epsilon in ("1", "0.1", "0.005"):
        yield lambda e=epsilon: bundled_case(f"bundled, epsilon {e}", items, contract, e)  # type: ignore[misc]
    for epsilon in ("1", "0.25"):
        yield lambda e=epsilon: bundled_case(f"sparse, epsilon {e}", sparse, contract, e)  # type: ignore[misc]
    yield lambda: bundled_case("sparse, Laplace", sparse, contract, "1", noise="laplace")
    yield lambda: bundled_case("bundled, Laplace", items, contract, "0.1", noise="laplace")
    for beta in (Fraction(1, 2), Fraction(1, 10)):
        yield lambda b=beta: bundled_case(f"bundled, a sample of {b}", items, contract, "1", beta=b)  # type: ignore[misc]
    yield lambda: bundled_case("sparse, a sample of 1/2", sparse, contract, "1", beta=Fraction(1, 2))


def report(case: Case, found: Sequence[Covered]) -> None:
    """The tables that cover least, and the total."""
    lost = failures(found)
    print(f"{case.name}: {len(found)} tables, {len(found[0].shares)} releases, {len(lost)} fail")
    total = next(each for each in found if each.cells == 1)
    print(f"  total: coverage {total.coverage:.3f}, mean error {np.mean(total.off):+.2f} of its standard errors")
    for each in sorted(found, key=lambda own: own.coverage)[:3]:
        print(
            f"  least: {each.name}, {each.cells} cells, {each.coverage:.4f}, largest cell {np.mean(each.largest):.3f}"
        )
    empty = [(float(np.mean(each.empty)), each) for each in found if each.empty]
    if empty:
        share, each = min(empty, key=lambda pair: pair[0])
        print(f"  least of empty cells: {each.name}, {share:.4f}")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("draws", nargs="?", type=int, default=1000)
    parser.add_argument("seed", nargs="?", type=int, default=20301101)
    parser.add_argument("--only", default="")
    options = parse(parser, draws=1, only="sparse, a sample")
    for at, make in enumerate(cases()):
        case = make()
        if options.only in case.name:
            random = np.random.default_rng([options.seed, at])
            report(case, covered(case, releases(case, options.draws, random)))


if __name__ == "__main__":
    main()
