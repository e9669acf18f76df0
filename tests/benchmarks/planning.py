"""`plan --from` against what is released: three public tables, random policies of rows, noisy tables as what is known.

Run it with `python -m tests.benchmarks.planning [POLICIES] [SEED] [--data FOLDER]`; tables that are not there are left
out.

Of each table, noisy counts of all tables of one and two attributes are drawn (discrete Gaussian noise of a random
epsilon, made consistent, as `dp_tables` publishes them), at the policy's levels or at coarser ones. From these the kept
share, the number of classes and the errors of tables made of the rows are expected, and compared with a drawn release.
"""

import argparse
import csv
import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import combinations
from math import prod
from pathlib import Path

import numpy as np

from crowdgate.contracts.contract import Attribute, Contract, PrivacyUnit, Role, Server
from crowdgate.domain import categories
from crowdgate.guarantee import Part
from crowdgate.hierarchy import Level, hierarchy
from crowdgate.histogram import Histogram, View, collapse, generalise, project, split
from crowdgate.kind.prior import CountsAtLevels, Prior
from crowdgate.kinds.rows.expected_retention import ExpectedRetention
from crowdgate.ledger.key import draw_key
from crowdgate.mechanisms.rows.safe_k import SafeK
from crowdgate.mechanisms.tables.answers import TableAnswer, consistent_answers
from crowdgate.mechanisms.tables.dp_tables import plan_dp_tables
from crowdgate.mechanisms.tables.workload import ContingencyTable as Wanted
from crowdgate.sampling import bernoulli_subsampler
from tests.benchmarks.options import DATA, parse

ADULT = ("uci_adult_train_32561.csv.gz", "uci_adult_test_16281.csv.gz")
NIST = "nist_acs_national2019.csv.gz"
MOST_CELLS = 1 << 17
EPSILONS, BETAS = ("0.25", "0.5", "1", "2"), ("0.1", "0.3", "0.5", "0.7")


@dataclass(frozen=True, eq=False)
class People:
    """A table as a contract's attributes and a histogram at `exact`."""

    name: str
    contract: Contract
    table: Histogram


@dataclass(frozen=True)
class Compared:
    """Expected and drawn, of one policy; `errors` are ratios of drawn to expected root mean squares, one a table."""

    table: str
    levels: Mapping[str, str]
    basis: str
    k: int
    share: tuple[float, float, float, float]
    classes: tuple[float, float, float, float]
    errors: tuple[float, ...]


def tables(folder: Path = DATA) -> Iterator[People]:
    """Those that are there."""
    from crowdgate.planning.plan import plan_policy
    from crowdgate.releases.working_copy import DEMO_POLICY, bundled
    from crowdgate.sources import open_source
    from crowdgate.sources.counting import CountingTask, count_table, serial

    contract = plan_policy(bundled("policies").parent / DEMO_POLICY).bundle.contract
    names = tuple(each.name for each in contract.attributes if each.hierarchy is not None)
    view = View({name: contract.by_name[name].hierarchy.levels[0] for name in names})  # type: ignore[union-attr]
    found = count_table(open_source(contract, names), CountingTask(contract, names, {"all": view}), serial())
    yield People("census-income", contract, found.histograms["all"])
    if (folder / ADULT[0]).is_file():
        yield _adult(folder)
    if (folder / NIST).is_file():
        yield _nist(folder)


Levels = Mapping[str, Sequence[Callable[[str], str]]]


def _years(width: int) -> Callable[[str], str]:
    return lambda label: str(int(label) // width)


def _adult(folder: Path) -> People:
    rows = [row for name in ADULT for row in _read(folder / name)]
    keep = ("age", "workclass", "education", "marital-status", "occupation", "relationship", "race", "sex")
    cleaned = [{**row, "income": row["income-per-year"].rstrip(".")} for row in rows]
    school = {"Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th"}
    levels: Levels = {
        "age": [_years(5), _years(10), _years(20)],
        "education": [lambda label: "school" if label in school else label, lambda label: str(label in school)],
        "marital-status": [lambda label: str(label.startswith("Married"))],
    }
    return _people("adult", cleaned, (*keep, "income"), levels)


def _nist(folder: Path) -> People:
    keep = ("PUMA", "AGEP", "SEX", "MSP", "HISP", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "EDU", "PINCP_DECILE", "DREM")
    levels: Levels = {
        "AGEP": [_years(5), _years(10), _years(20)],
        "PUMA": [lambda label: label[:2]],
        "RAC1P": [lambda label: str(label == "1")],
        "HISP": [lambda label: str(label == "0")],
    }
    return _people("nist", list(_read(folder / NIST)), keep, levels)


def _read(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, skipinitialspace=True)


def _people(name: str, rows: Sequence[Mapping[str, str]], keep: Sequence[str], levels: Levels) -> People:
    attributes, codes = [], []
    for column in keep:
        labels = sorted({row[column] for row in rows})
        named, finer = [], labels
        for at, coarser in enumerate(levels.get(column, ()), start=1):
            finer = [coarser(label) for label in labels]
            named.append((f"level {at}", finer))
        own = categories(labels, "a public table")
        place = {label: code for code, label in enumerate(labels)}
        codes.append(np.array([place[row[column]] for row in rows], dtype=np.int32))
        counts = tuple(np.bincount(codes[-1]).tolist())
        ladder = hierarchy(own, named, invalid_level=False)
        attributes.append(Attribute(column, Role.QUASI_IDENTIFIER, "", own, ladder, margins=counts))
    unit, server = PrivacyUnit(), Server("csv", {}, Path())
    contract = Contract(name, "1", name, unit, server, tuple(attributes), public=True)
    sizes = tuple(len(each.domain or ()) for each in attributes)
    return People(name, contract, collapse(tuple(keep), sizes, codes, np.ones(len(rows), dtype=np.int64)))


def compared(people: People, draws: np.random.Generator, *, coarser: bool, most: int = MOST_CELLS) -> Compared:
    """One random policy of at most so many classes."""
    while True:
        levels = _some(people, draws, people.table.names)
        if 20 <= prod(map(len, levels.values())) <= most:
            break
    counts = generalise(project(people.table, list(levels)), levels)
    told = {name: _above(people, name, level, draws) if coarser else level for name, level in levels.items()}
    prior = Prior(people.table.rows, people.contract.by_name, _known(people, told, str(draws.choice(EPSILONS))))
    beta, epsilon = Fraction(str(draws.choice(BETAS))), Fraction(str(draws.choice(EPSILONS)))
    joint = prior.joint(levels)
    assert joint is not None, "all attributes have margins"
    from crowdgate.accounting import safe_k

    delta = Fraction(1, 10**9)
    safe = SafeK(beta, safe_k.least_k(epsilon, delta, beta), levels, Part("mechanism", epsilon, delta))
    return _beside(people, ExpectedRetention(joint, safe.k, beta), safe, counts)


def _beside(people: People, kept: ExpectedRetention, safe: SafeK, counts: Histogram) -> Compared:
    made = safe.protect(counts, bernoulli_subsampler(draw_key(), safe.beta, 0))
    shape = tuple(map(len, safe.levels.values()))
    drawn, true = np.zeros(shape), np.zeros(shape)
    drawn[made.output.codes], true[counts.codes] = made.output.counts / float(safe.beta), counts.counts
    ratios, names = [], list(safe.levels)
    for axes in kept.tables():
        errors = kept.errors(axes)
        assert errors is not None, "its columns are released"
        others = tuple(at for at, name in enumerate(names) if name not in axes)
        off = np.sqrt(np.mean(np.square((drawn - true).sum(axis=others))))
        ratios.append(float(off / np.sqrt(np.mean(np.square(errors.error)))))
    share, classes = kept.share, kept.classes
    stayed = made.output.rows / max(made.sample.rows, 1)
    return Compared(
        people.name, {name: level.name for name, level in safe.levels.items()}, kept.joint.basis.name, safe.k,
        (stayed, share.value, share.low, share.high),
        (float(len(made.output)), classes.value, classes.low, classes.high), tuple(ratios),
    )  # fmt: skip


def _some(people: People, draws: np.random.Generator, names: Sequence[str]) -> dict[str, Level]:
    chosen = draws.choice(len(names), int(draws.integers(2, min(8, len(names)))), replace=False)
    ladders = {names[at]: people.contract.by_name[names[at]].hierarchy for at in sorted(chosen)}
    return {
        name: found.levels[int(draws.integers(0, len(found.levels) - 1))] for name, found in ladders.items() if found
    }


def _above(people: People, name: str, level: Level, draws: np.random.Generator) -> Level:
    found = people.contract.by_name[name].hierarchy
    assert found is not None, "it has levels"
    ladder = [each for each in found.levels if 1 < len(each) <= len(level)]
    return ladder[int(draws.integers(0, len(ladder)))] if ladder else level


def _known(people: People, levels: Mapping[str, Level], epsilon: str) -> tuple[CountsAtLevels, ...]:
    """All tables of up to two attributes as `dp_tables` publishes them."""
    names = {name: level.name for name, level in levels.items()}
    wanted = [Wanted({name: names[name] for name in way}) for ways in (0, 1, 2) for way in combinations(names, ways)]
    part = Part("mechanism", Fraction(epsilon), Fraction(1, 10**9))
    mechanism, findings = plan_dp_tables(wanted, people.contract, part, noise="gaussian")
    assert mechanism is not None, findings
    counted = split(project(people.table, list(levels)), _exact(people, list(levels)), mechanism.views)
    answers = consistent_answers(mechanism, mechanism.protect(counted), Fraction(1, 10))
    found = [answer for answer in answers if isinstance(answer, TableAnswer)]
    return tuple(CountsAtLevels(each.levels, each.cells.value, np.square(each.cells.error)) for each in found)


def _exact(people: People, names: Sequence[str]) -> View:
    found = {name: people.contract.by_name[name].hierarchy for name in names}
    return View({name: ladder.levels[0] for name, ladder in found.items() if ladder is not None})


def inside(found: Sequence[Compared]) -> dict[str, float]:
    """How often the drawn share and number of classes lay in their ranges, and ratios of errors within the factor."""
    from crowdgate.kinds.rows.expected_retention import ERROR_FACTOR

    ratios = np.concatenate([each.errors for each in found])
    shares, classes = (np.array([getattr(each, name) for each in found]) for name in ("share", "classes"))
    return {
        "policies": len(found),
        "kept share in range": float(((shares[:, 2] <= shares[:, 0]) & (shares[:, 0] <= shares[:, 3])).mean()),
        "kept share, root mean square off": float(np.sqrt(np.mean((shares[:, 0] - shares[:, 1]) ** 2))),
        "kept share, greatest off": float(np.abs(shares[:, 0] - shares[:, 1]).max()),
        "kept share, mean half width": float((shares[:, 3] - shares[:, 2]).mean() / 2),
        "classes in range": float(((classes[:, 2] <= classes[:, 0]) & (classes[:, 0] <= classes[:, 3])).mean()),
        "errors within the factor": float(((ratios > 1 / ERROR_FACTOR) & (ratios < ERROR_FACTOR)).mean()),
        "errors, 2.5 %": float(np.quantile(ratios, 0.025)),
        "errors, 97.5 %": float(np.quantile(ratios, 0.975)),
    }


def main() -> None:
    """Print a line for every table and basis."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("policies", type=int, nargs="?", default=40)
    options.add_argument("seed", type=int, nargs="?", default=7)
    options.add_argument("--data", type=Path, default=DATA, help="where Adult and the NIST table are")
    options.add_argument("--all", action="store_true", help="every policy as a line of JSON")
    options.add_argument("--cells", type=int, default=MOST_CELLS, help="classes of a policy at most")
    asked = parse(options, policies=1, cells=1000)
    for people in tables(asked.data):
        for coarser in (False, True):
            draws = np.random.default_rng(asked.seed)
            found = [compared(people, draws, coarser=coarser, most=asked.cells) for _ in range(asked.policies)]
            for each in found if asked.all else ():
                print(json.dumps(asdict(each)))
            bases = sorted({each.basis for each in found})
            for basis in bases:
                own = [each for each in found if each.basis == basis]
                print(json.dumps({"table": people.name, "basis": basis, **inside(own)}), flush=True)


if __name__ == "__main__":
    main()
