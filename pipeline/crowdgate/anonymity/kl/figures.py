"""KL and collision quantity of public data: a public table, or a release's noisy joint counts."""

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import log
from pathlib import Path

import numpy as np

from crowdgate import manifest
from crowdgate.anonymity.kl.entry import PublicTable, PublishedRelease
from crowdgate.anonymity.kl.subject import EntrySubject
from crowdgate.arrays import Floats, Integers
from crowdgate.contracts.contract import Contract
from crowdgate.errors import ConfigurationError, FileFault, Problem
from crowdgate.histogram import Histogram
from crowdgate.interval import Interval
from crowdgate.kind.forecast import Basis
from crowdgate.kind.prior import ExpectedCounts
from crowdgate.ledger.key import draw_key
from crowdgate.planning.bundle import KNOWN
from crowdgate.planning.public_tables import why_private
from crowdgate.policy.files import working_copy
from crowdgate.public_counts.figures import PriorSubject as Asked
from crowdgate.public_counts.figures import other_population, read_prior
from crowdgate.publish.publisher import file_digest
from crowdgate.risk.bins import Bins
from crowdgate.risk.kl import collision_excess, kl_to_uniform
from crowdgate.risk.kl_curve import UniqueSharePoint, curve_of_cells
from crowdgate.risk.kl_sums import consistent
from crowdgate.sources import open_source
from crowdgate.sources.counting import CountingTask, count_table, histograms, serial
from crowdgate.verification.release import verify


@dataclass(frozen=True)
class TableFigures:
    """Published figures of a population: rows, KL in nats, collision quantity, and their basis."""

    rows: int
    kl: Interval
    collision: Interval
    basis: PublicTable | PublishedRelease
    curve: tuple[UniqueSharePoint, ...] = ()


def figures_of_table(subject: EntrySubject, curve: bool = False) -> TableFigures:
    """Return the exact figures of the contract's own table, with its curve on request.

    Raises ConfigurationError unless the contract states that the table is public, and for a table without matching
    rows; FileFault where it can't be read.
    """
    contract = subject.contract
    why = why_private(contract, KNOWN)
    if why is not None:
        own = f"contract {contract.id} does not say that its table is public"
        found = own if not contract.public else f"the table of contract {contract.id} is not public: {why}"
        expected = "--from RELEASE_DIR, or --epsilon E for charged noise"
        raise ConfigurationError(Problem("command line", None, "--public", found, expected))
    source = open_source(contract, subject.counted.names)
    before, digest = source.fingerprint(), digest_of_table(contract)
    task = CountingTask(contract, subject.counted.names, {"cells": subject.counted})
    counts = restricted_counts(histograms(count_table(source, task, serial()), task, draw_key())["cells"], subject)
    if source.fingerprint() != before:
        raise FileFault("the input changed while it was read")
    if not len(counts):
        found, expected = "the table has no row that it keeps", "a population that is not empty"
        raise ConfigurationError(Problem("command line", None, "--where", found, expected))
    bins = Bins.from_counts(counts.astype(np.float64), subject.view.cells - len(counts))
    kl, collision = kl_to_uniform(bins), collision_excess(bins)
    exact = consistent(subject.view.cells, Interval(kl, kl, kl), Interval(collision, collision, collision))
    points = curve_of_cells(Counter(counts.tolist()).items()) if curve else ()
    return TableFigures(int(counts.sum()), *exact, PublicTable(kind="public", digest=digest), points)


def restricted_counts(histogram: Histogram, subject: EntrySubject) -> Integers:
    """Return the numbers of rows in the cells whose values meet the subject's restrictions."""
    keep = np.ones(len(histogram), dtype=np.bool_)
    for name, only in subject.where.items():
        keep &= histogram.codes[histogram.names.index(name)] == only.code
    return histogram.counts[keep]


def digest_of_table(contract: Contract) -> str:
    """Return the SHA-256 of the table's file, or of the list of its files with their digests. Raises FileFault."""
    path = contract.server.path
    try:
        if path.is_file():
            return file_digest(path)
        files = sorted(each for each in path.rglob("*") if each.is_file())
        listed = (f"{each.relative_to(path).as_posix()}\0{file_digest(each)}\n" for each in files)
        return hashlib.sha256("".join(listed).encode()).hexdigest()
    except OSError as error:
        raise FileFault(f"{path}: {error.strerror or 'unreadable'}") from None


def figures_of_release(subject: EntrySubject, path: Path, folder: Path, people: int) -> TableFigures:
    """Return the figures of a verified published release on the contract's population. They are post-processing,
    without privacy cost.

    The interval is the range of the joint model of the release's counts (`kind.prior`), not a confidence interval.
    Raises ConfigurationError if the counts do not relate all these attributes.
    """
    said = verify(folder).manifest
    other = other_population(said.contract.population, subject.contract)
    if other is not None:
        raise _option_error(folder, f"the release is {other}", f"one of {subject.contract.population}")
    asked = Asked(subject.contract, working_copy(path), people, subject.counted.levels)
    prior = read_prior(asked, folder).prior
    joint = prior.joint(subject.counted.levels)
    if (
        joint is None
        or joint.basis in (Basis.PARTLY, Basis.MARGINS)
        or not all(map(prior.is_counted, subject.counted.names))
    ):
        found = f"its counts do not relate {', '.join(subject.counted.names)}"
        raise _option_error(folder, found, "a release with tables of every two of them at least")
    basis = PublishedRelease(kind="release", release=said.release.id, manifest=file_digest(folder / manifest.NAME))
    cells = subject.view.cells
    kl = _figure_range(joint, subject, kl_to_uniform, log(cells))
    collision = _figure_range(joint, subject, collision_excess, (cells - 1) / 2)
    rows = people * subject.contract.unit.rows
    return TableFigures(rows, *consistent(cells, kl, collision), basis)


def _figure_range(
    joint: ExpectedCounts, subject: EntrySubject, figure: Callable[[Bins], float], most: float
) -> Interval:
    def value(people: Floats) -> float:
        return min(figure(_bins(people, subject)), most)

    found = joint.range_of(value, lambda _: 0.0, most)
    return Interval(found.value, found.low, found.high)


def _bins(people: Floats, subject: EntrySubject) -> Bins:
    """Return the probabilities of the bins for the people who meet the restrictions; the restricted attributes are the
    last axes of `people`, the expected people in each cell."""
    for only in reversed(subject.where.values()):
        people = people[..., only.code]
    expected = people[people > 0].reshape(-1)
    if not len(expected):
        raise ConfigurationError(
            Problem("command line", None, "--where", "nobody is expected there", "a population that is not empty")
        )
    return Bins.from_counts(expected, people.size - len(expected))


def _option_error(folder: Path, found: str, expected: str) -> ConfigurationError:
    return ConfigurationError(Problem("command line", None, f"--from {folder}", found, expected))
