"""Crowdgate in Python: the commands as functions, for notebooks and programs. Paths go in, values come out.

Nothing is printed; notebooks show checks, plans, releases, budgets and audits as pages. Functions raise the errors of
`crowdgate.errors`, which say what to correct and quote nothing confidential. `import crowdgate` gives all names of this
module, and imports what they need on first use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate.errors import ConfigurationError, Problem
from crowdgate.notebooks import register_pages
from crowdgate.system.short_repr import short_repr

if TYPE_CHECKING:
    import pandas as pd

    from crowdgate.audit.common.audit import FinishedAudit
    from crowdgate.contracts.contract import Contract
    from crowdgate.forecast.outlook import Outlook
    from crowdgate.kind.run import Result
    from crowdgate.kinds.rows.ratios import RatioEstimate, WeightedTable
    from crowdgate.ledger.ledger import Ledger
    from crowdgate.policy.policy import ReleasePolicy
    from crowdgate.report.report import Report
    from crowdgate.review.check import PolicyCheck
    from crowdgate.sources.arrow_stream import ArrowTable
    from crowdgate.verification.release import VerifiedRelease

register_pages()
Where = str | PathLike[str]
"""A file or a folder."""
Labels = Mapping[str, str | Sequence[str]]
"""Maps a column of a release to a label, or to several."""
Values = Mapping[str, float | tuple[float, float]]
"""Maps a label to its number, or to the least and the greatest number that it stands for."""


@dataclass(frozen=True, eq=False)
class ReleasedData:
    """A verified release, as data frames.

    `verified` states the content and the signer of the release; `frames` are its tables by the names of their files,
    without the extension: rows are `data`. `dictionary` has a line for each label of each column: `column`, `level`,
    `code`, `label`, `description`.
    """

    __repr__ = short_repr

    verified: VerifiedRelease
    frames: Mapping[str, pd.DataFrame]
    dictionary: pd.DataFrame
    _contents: object = None

    @property
    def weights(self) -> pd.Series[float] | None:
        """For each released row, the number of people of the source table that it represents; None if rows have no
        weights, or the release has no rows."""
        data = self.frames.get("data")
        return None if data is None or "weight" not in data.columns else data["weight"]

    def share(self, where: Labels, among: Labels | None = None) -> RatioEstimate:
        """Return the share of the source table's rows that have the labels `where`, among all rows or those that have
        the labels `among`: by weighted rows, with an interval.

        Labels are by column, one or a list: `{"sex": "female"}`. The intervals of all shares, ratios and means of a
        release hold together with 95 % probability. `use` is "tables" if an interval is wider than half the number: do
        not use the rows for it. Raises ConfigurationError for a release without margins, and for unknown columns or
        labels.
        """
        return self._table.share(where, among or {})

    def ratio(self, where: Labels, to: Labels) -> RatioEstimate:
        """Return the number of the source table's rows with the labels `where`, divided by that of the rows with the
        labels `to`. Intervals and errors are those of `share`."""
        return self._table.ratio(where, to)

    def mean(self, column: str, where: Labels | None = None, values: Values | None = None) -> RatioEstimate:
        """Return the mean of a column over the source table's rows, or those with the labels `where`.

        Labels of whole numbers without a gap, such as "30" or "30 to 34", stand for themselves; for all others `values`
        gives the number of each label, or its least and greatest number. The interval holds for all numbers that labels
        stand for; the estimate takes the middle. Intervals and errors are those of `share`.
        """
        return self._table.mean(column, where or {}, values)

    @property
    def _table(self) -> WeightedTable:
        from crowdgate.kinds.rows.ratios import weighted_table

        return weighted_table(self._contents)


def init(folder: Where, name: str = "ledger") -> Path:
    """Make a new working copy: the bundled policies and contracts, and a ledger whose id begins with `name`.

    Raises EnvironmentFault if any part exists already; then nothing is changed.
    """
    from crowdgate.releases.working_copy import init as make

    return make(Path(folder), name)


def read_policy(policy: Where) -> ReleasePolicy:
    """Return a policy. Raises ConfigurationError that lists all problems of its file and of the files that it names."""
    from crowdgate.planning.plan import bundle_of

    return bundle_of(Path(policy)).policy


def read_contract(contract: Where) -> Contract:
    """Return a contract with its attributes, their public domains and levels. Raises ConfigurationError for an invalid
    one."""
    from crowdgate.contracts.reading import read_contract as read
    from crowdgate.planning.bundle import KNOWN

    return read(Path(contract), KNOWN.servers)


def open_ledger(working_copy: Where = ".", url: str | None = None) -> Ledger:
    """Return the ledger that a working copy names, or the one at `url` (`sqlite:///FILE`), for reading.

    Raises ConfigurationError if none is named, LedgerRefused for one that is missing, damaged or edited,
    EnvironmentFault for one that is out of reach.
    """
    from crowdgate.planning.open_ledger import ledger_for_reading

    return ledger_for_reading(Path(working_copy), url)


def check(policy: Where) -> PolicyCheck:
    """Check whether a policy is valid and could be released, as `crowdgate check`: `allowed`, verdicts and gates.

    No data are read except a public register. Raises ConfigurationError that lists all invalid files.
    """
    from crowdgate.review.check import check as run

    return run(Path(policy))


def plan(policy: Where, source: Where | None = None) -> Outlook:
    """Return the guarantee, the privacy cost and a forecast for a policy, as `crowdgate plan`.

    `source` holds counts for the forecast: a release of tables, or a public table. Only public files are read. Raises
    ConfigurationError, and VerificationFailed for a `source` that is no release.
    """
    from crowdgate.forecast.outlook import outlook

    return outlook(Path(policy), None if source is None else Path(source), ())


def budget(population: str, working_copy: Where = ".", url: str | None = None) -> Report:
    """Return the page of a population's lifetime budget, as `crowdgate report budget`, from the ledger that a working
    copy names, or the one at `url`.

    Raises as `open_ledger`, and LedgerRefused for a population that the ledger does not know.
    """
    from crowdgate.pages.budget import budget_page

    opened = open_ledger(working_copy, url)
    opened.attest()
    return budget_page(opened, population)


def audit_policy(policy: Where, of: str = "singling-out") -> FinishedAudit[Any, Any]:
    """Audit a policy on its public population with the policy's settings, as `crowdgate audit --of`, in one process; an
    earlier audit with these settings is reported.

    Raises ConfigurationError for wrong files, an unknown question, and settings in which nothing can be found.
    """
    from crowdgate.audit.common.run import AuditRequest, audit
    from crowdgate.candidate import AuditQuestion
    from crowdgate.releases.whole_releases.audits import playable

    known = {str(each): each for each in AuditQuestion}
    if of not in known:
        raise ConfigurationError(Problem("arguments", None, "of", repr(of), f"one of {', '.join(known)}"))
    return audit(playable(known[of]), AuditRequest(Path(policy)))


def write_table(table: ArrowTable, contract: Where) -> Path:
    """Write a table to the file that a contract names, in the contract's format, readable by its owner only; an
    existing table is replaced. Return the file.

    `table` is a data frame or relation of pandas, Polars, DuckDB, Ibis or PyArrow. A pandas index is left out. The file
    is Parquet, CSV (gz and zst by its suffix) or Arrow IPC. Columns and cells are checked when the table is released,
    as in any other file. In CSV, rows with a line end in a cell are lost. Raises ConfigurationError for a contract of
    another format or of no file, FileFault for a table that can't be read, EnvironmentFault if the file can't be
    written.
    """
    from crowdgate.releases.table_from_frame import write

    return write(table, read_contract(contract))


def release(
    policy: Where,
    as_of: str | None = None,
    *,
    input: Where | ArrowTable | None = None,
    to: Where | None = None,
    ledger: str | None = None,
    anchors: Sequence[str] = (),
    anyway: str | None = None,
) -> Result:
    """Make one release, as `crowdgate release`: `outcome` is "published", with its `path`, "withheld", "held" or
    "waiting" (staged, until its manifest is approved).

    `as_of` is the slot, YYYY-MM-DD or YYYY-MM-DDTHHMMZ (today, UTC, or the current period of a calendar). A slot is
    never released twice: an existing release is reported. `input` replaces the contract's table: a file, a folder, or a
    table of pandas, Polars, DuckDB, Ibis or PyArrow, which is read once and written nowhere. `to` replaces the policy's
    folder, and `ledger` (a URL) the working copy's; `anchors` are lines that the ledger must hold, `LINE:DIGEST`.
    `anyway` is the reason why a release is charged that past runs would hold. Charges the population's budget before
    any data are read. Raises ConfigurationError, FileFault, LedgerRefused, EnvironmentFault, and Crashed for a run that
    stopped after it had read data.
    """
    from crowdgate.kind.run import Request
    from crowdgate.ledger.key import draw_key
    from crowdgate.releases.release import release as run

    path, table = (_path(input), None) if input is None or isinstance(input, str | PathLike) else (None, input)
    places = (Path(policy), _slot(as_of), path, _path(to), ledger)
    at = datetime.now(UTC) if as_of is None else None
    request = Request(*places, anchors=tuple(anchors), anyway=anyway, at=at, table=table)
    return run(request, draw_key)


def verify(
    folder: Where,
    keys: Sequence[Where] = (),
    *,
    ledger: str | None = None,
    refit: bool = False,
    policy: Where | None = None,
) -> VerifiedRelease:
    """Verify a release from its files alone, as `crowdgate verify`.

    `keys` are files of public keys, of which one must have signed it; the `ledger` (a URL) must have committed to it;
    with `refit` synthetic rows are recomputed; with a `policy` gates and waivers must be those of that file. Raises
    VerificationFailed that lists all problems, and ConfigurationError for an invalid key, ledger or policy.
    """
    from crowdgate.verification.release import verify as run

    return run(Path(folder), ledger, [Path(key) for key in keys], refit, None if policy is None else Path(policy))


def read_release(folder: Where, keys: Sequence[Where] = ()) -> ReleasedData:
    """Return the data of a release, after verifying it: tables as data frames, with their dictionary and weights.

    Labels are text. Raises VerificationFailed for a release that fails verification.
    """
    from crowdgate.releases.frames_of_release import read
    from crowdgate.verification.release import verified_contents

    verified, contents = verified_contents(Path(folder), [Path(key) for key in keys])
    return ReleasedData(verified, *read(Path(folder), verified.manifest), contents)


def _slot(as_of: str | None) -> str:
    from crowdgate.policy.policy import parse_slot

    try:
        return datetime.now(UTC).date().isoformat() if as_of is None else parse_slot(as_of)
    except ValueError as error:
        raise ConfigurationError(Problem("arguments", None, "as_of", repr(as_of), str(error))) from None


def _path(place: Where | None) -> Path | None:
    return None if place is None else Path(place)
