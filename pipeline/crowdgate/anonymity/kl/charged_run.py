"""KL and collision quantity of a confidential table, with noise that is paid from the population's budget.

Such a run has the steps of a release: reserve, read, draw, commit, publish. Once reading has begun it is charged,
however it ends. Three noisy sums and quantities derived from them are published, and on request noisy points of a
curve. Whether anything is published depends
on the noisy number of rows, not on the exact one.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import numpy as np

from crowdgate.anonymity.kl import repository_folder
from crowdgate.anonymity.kl.entry import ChargedNoise, digest_of
from crowdgate.anonymity.kl.figures import restricted_counts
from crowdgate.anonymity.kl.index import file_name
from crowdgate.anonymity.kl.subject import EntrySubject
from crowdgate.contracts.csv_file import MOST_BYTES
from crowdgate.errors import ConfigurationError, LedgerRefused, Problem
from crowdgate.interval import Interval
from crowdgate.ledger.ledger import Budget, ChargeRequest, Entry, Ledger, Reservation, Spend, State
from crowdgate.ledger.private import write_private
from crowdgate.limits import LEAST_POPULATION
from crowdgate.noise import CountNoise
from crowdgate.number_text import exact_text
from crowdgate.planning.crash_guard import guarded_step
from crowdgate.planning.crashed_run import crashed_refusal
from crowdgate.risk.kl_curve import SUMS_ALPHA, SUMS_SHARE, CurveGrid, UniqueSharePoint, noisy_curve
from crowdgate.risk.kl_sums import ALPHA, NoisyFigures, SumGrid, noisy_figures, noisy_sums, rows_interval
from crowdgate.sampling import SecretKey
from crowdgate.signing.keys import PublicKey, SigningKey
from crowdgate.signing.statement import LedgerPlace
from crowdgate.sources import Source
from crowdgate.sources.counting import CountingTask, count_table, histograms, serial
from crowdgate.system.regular_files import read_plain

WriteEntry = Callable[[NoisyFigures, Sequence[UniqueSharePoint], int, ChargedNoise], bytes]
"""Function of (figures, points of the curve, greatest number of rows a person may have, basis) that returns the signed
entry."""
WITHHELD = (
    f"The noisy number of rows leaves room for fewer than {LEAST_POPULATION} people: of so few nothing is published, "
    "and the privacy cost stays charged."
)


@dataclass(frozen=True, eq=False)
class ChargedRun:
    """A run that charges a population's budget for the noisy figures of a confidential table, ready to start."""

    subject: EntrySubject
    epsilon: Fraction
    budget: Budget
    ledger: Ledger
    id: str
    digest: str
    source: Source
    folder: Path
    home: Path
    day: date
    curve: bool = False

    @property
    def staged(self) -> Path:
        """Path of the run's signed entry before it is published."""
        return repository_folder.staged_entry(self.folder, self.ledger.id, self.id)


@dataclass(frozen=True)
class ChargedRunResult:
    """Result of a charged run: the digest of its entry (None: withheld), the folder of the repository, and `before`,
    True if an earlier run had this result."""

    digest: str | None
    folder: Path
    before: bool = False


def check_charge(subject: EntrySubject, budget: Budget) -> None:
    """Refuse what can be refused before anything is charged. Raises ConfigurationError."""
    contract, problems = subject.contract, []
    if budget.people < LEAST_POPULATION:
        found = f"the population {budget.population} has at most {budget.people} people"
        expected = f"at least {LEAST_POPULATION}: of fewer, confidential figures are never published"
        problems.append(Problem("command line", None, "--epsilon", found, expected))
    if contract.sample is not None:
        found = f"the table of {contract.id} is an inherited sample, which serves one release and nothing else"
        problems.append(Problem("command line", None, "--epsilon", found, "--from RELEASE_DIR"))
    if problems:
        raise ConfigurationError(problems)


def request_digest(
    subject: EntrySubject, epsilon: Fraction, files: Sequence[Path], words: str, curve: bool = False
) -> str:
    """Return the request's digest for the ledger: the SHA-256 of the question and of the files that decide it."""
    said = {
        "vocabulary": subject.vocabulary().model_dump(mode="json"),
        "restrictions": [each.model_dump(mode="json") for each in subject.restrictions()],
        "epsilon": exact_text(epsilon),
        "said": words,
        **({"curve": True} if curve else {}),
        "files": [
            sha256(read_plain(path, MOST_BYTES)).hexdigest() for path in sorted(path.resolve() for path in files)
        ],
    }
    return sha256(json.dumps(said, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def reserve(run: ChargedRun) -> tuple[Reservation, SumGrid]:
    """Charge the run to its population, and return the grid for its bound on people. Raises LedgerRefused, without a
    charge."""
    spend = Spend(run.epsilon, Fraction(0))
    charge = run.ledger.reserve(ChargeRequest(run.id, run.digest, run.subject.contract.id, run.budget, spend))
    try:
        people = run.ledger.check(run.subject.contract.id, run.budget).people
        return charge, SumGrid(people, run.subject.contract.unit.rows)
    except BaseException:
        run.ledger.void(run.id, charge.number)  # nothing was read
        raise


def conclude(
    run: ChargedRun, charge: Reservation, grid: SumGrid, key: SecretKey, noise: CountNoise, write: WriteEntry
) -> str | None:
    """Read, draw and commit. Return the digest of the staged entry, or None if it is withheld.

    Raises LedgerRefused where the charge was given back. After that any failure raises Crashed, or FileFault with a
    constant message, and the run stays charged.
    """
    run.ledger.begin_reading(run.id, charge.number)
    of_sums, alpha = (run.epsilon * SUMS_SHARE, SUMS_ALPHA) if run.curve else (run.epsilon, ALPHA)

    def work() -> str | None:
        task = CountingTask(run.subject.contract, run.subject.counted.names, {"cells": run.subject.counted})
        counts = restricted_counts(histograms(count_table(run.source, task, serial()), task, key)["cells"], run.subject)
        values, cells = np.unique(counts, return_counts=True)
        counted = list(zip(values.tolist(), cells.tolist(), strict=True))
        sums = grid.sums(counted)
        noisy = noisy_sums(grid, sums, of_sums, noise)
        if rows_interval(grid, noisy, of_sums, alpha).low < LEAST_POPULATION * grid.rows_each:
            run.ledger.commit(run.id, State.WITHHELD, None, None, _record_outcome(run, "withheld"), charge.number)
            return None
        figures = noisy_figures(grid, run.subject.view.cells, noisy, of_sums, alpha)
        points = _draw_curve(run, grid, counted, figures.rows, noise)
        return _commit_entry(run, charge, write(figures, points, grid.rows_each, _charged_basis(run, charge)))

    return guarded_step(run.ledger, charge, "draw", work)


def _draw_curve(
    run: ChargedRun, grid: SumGrid, counted: Sequence[tuple[int, int]], rows: Interval, noise: CountNoise
) -> tuple[UniqueSharePoint, ...]:
    """Return the noisy points of the curve on request, which the rest of the run's epsilon pays."""
    if not run.curve:
        return ()
    rest = run.epsilon * (1 - SUMS_SHARE)
    return noisy_curve(CurveGrid(grid.rows, grid.rows_each), counted, run.subject.view.cells, rows, rest, noise)


def _charged_basis(run: ChargedRun, charge: Reservation) -> ChargedNoise:
    place = LedgerPlace(id=run.ledger.id, line=charge.line.number, digest=charge.line.digest)
    return ChargedNoise(kind="charged", release=run.id, epsilon=run.epsilon, charge=place)


def _commit_entry(run: ChargedRun, charge: Reservation, envelope: bytes) -> str:
    digest = digest_of(envelope)

    def commit() -> None:
        place, noted = _destination(run, digest), _record_outcome(run, "published")
        run.ledger.commit(run.id, State.COMMITTED, digest, place, noted, charge.number)

    repository_folder.stage(run.staged, envelope, run.day, commit)
    return digest


def _destination(run: ChargedRun, digest: str) -> str:
    path = run.folder / file_name(digest)
    return path.relative_to(run.home).as_posix() if path.is_relative_to(run.home) else str(path)


def _record_outcome(run: ChargedRun, outcome: str) -> str:
    return write_private(run.ledger.path, run.ledger.id, run.id, {"outcome": outcome})


def remove_leftovers(run: ChargedRun) -> None:
    """Remove the entries that killed runs left staged in the repository. Entries that the ledger committed to are
    retained for their own runs."""

    def committed() -> list[str]:
        return [each.release_id for each in run.ledger.entries() if each.state is State.COMMITTED]

    repository_folder.remove_uncommitted(run.folder, run.ledger.id, committed)


def publish_staged(
    run: ChargedRun, digest: str, key: SigningKey, trusted: Sequence[PublicKey], today: date
) -> ChargedRunResult:
    """Publish the staged entry of a run whose digest the ledger has committed to. Raises LedgerRefused (lost) if its
    bytes are gone."""
    entry = run.ledger.entry(run.id)
    assert entry is not None, "it was committed"
    return _publish_committed(run, entry, digest, key, trusted, today)


def resume_run(
    run: ChargedRun, entry: Entry, key: SigningKey, trusted: Sequence[PublicKey], today: date
) -> ChargedRunResult:
    """Return the result of an earlier run of this id; publish its entry if it was committed and not yet moved.

    Raises LedgerRefused: spent after a crash, lost where the bytes are gone.
    """
    if entry.policy_digest != run.digest:
        raise LedgerRefused(
            f"{run.id} was used before for another question. Use another --as-of, such as 2026-01-31T1200Z"
        )
    if entry.state is State.WITHHELD:
        return ChargedRunResult(None, run.folder, before=True)
    if entry.state is State.RESERVED or entry.manifest_digest is None:
        raise crashed_refusal(run.ledger, entry, "publish with another --as-of")
    return _publish_committed(run, entry, entry.manifest_digest, key, trusted, today, before=True)


def _publish_committed(
    run: ChargedRun,
    entry: Entry,
    digest: str,
    key: SigningKey,
    trusted: Sequence[PublicKey],
    today: date,
    before: bool = False,
) -> ChargedRunResult:
    folder = (run.home / (entry.destination or "")).parent
    staged = repository_folder.staged_entry(folder, run.ledger.id, run.id)
    envelope = repository_folder.intact_bytes(staged, digest) or repository_folder.intact_bytes(
        folder / file_name(digest), digest
    )
    if envelope is None:
        raise LedgerRefused(
            f"{run.id} was computed before, and its entry is lost or changed. Use another --as-of", "lost"
        )
    repository_folder.add_entry(folder, envelope, run.day, key, trusted, today)
    staged.unlink(missing_ok=True)
    if entry.state is State.COMMITTED:
        run.ledger.published(run.id, entry.number)
    return ChargedRunResult(digest, folder, before)
