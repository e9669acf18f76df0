"""Crowdgate in Python: what the commands do, for notebooks and programs. Paths go in, values come out.

Nothing is printed. Functions raise the errors of `crowdgate.errors`, which say what to mend and quote nothing
confidential. `import crowdgate` gives all names of this module, and imports what they need when they are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate.errors import ConfigurationError, Problem
from crowdgate.system.short_repr import short_repr

if TYPE_CHECKING:
    import pandas as pd

    from crowdgate.contracts.contract import Contract
    from crowdgate.forecast.outlook import Outlook
    from crowdgate.kind.run import Result
    from crowdgate.ledger.ledger import Ledger
    from crowdgate.policy.policy import ReleasePolicy
    from crowdgate.review.check import PolicyCheck
    from crowdgate.verification.release import VerifiedRelease

Where = str | PathLike[str]
"""A file or a folder."""


@dataclass(frozen=True, eq=False)
class ReleasedData:
    """A release that holds what it claims, as data frames.

    `verified` says of what it is and who vouches for it; `frames` are its tables by the names of their files, without
    the ending: rows are `data`. `dictionary` has a line for each label of each column: `column`, `level`, `code`,
    `label`, `description`.
    """

    __repr__ = short_repr

    verified: VerifiedRelease
    frames: Mapping[str, pd.DataFrame]
    dictionary: pd.DataFrame

    @property
    def weights(self) -> pd.Series[float] | None:
        """For each released row how many people of the table it stands for; None where rows have no weights, or there
        are none."""
        data = self.frames.get("data")
        return None if data is None or "weight" not in data.columns else data["weight"]


def init(folder: Where, name: str = "ledger") -> Path:
    """A new working copy: the bundled policies and contracts, and a ledger whose id begins with `name`.

    Raises EnvironmentFault when any part is there already; then nothing is changed.
    """
    from crowdgate.releases.working_copy import init as make

    return make(Path(folder), name)


def read_policy(policy: Where) -> ReleasePolicy:
    """What a policy file says. Raises ConfigurationError that lists every problem of it and of all that it names."""
    from crowdgate.planning.plan import bundle_of

    return bundle_of(Path(policy)).policy


def read_contract(contract: Where) -> Contract:
    """A contract with its attributes, their public domains and levels. Raises ConfigurationError for a wrong one."""
    from crowdgate.contracts.reading import read_contract as read
    from crowdgate.planning.bundle import KNOWN

    return read(Path(contract), KNOWN.servers)


def open_ledger(working_copy: Where = ".", url: str | None = None) -> Ledger:
    """The ledger that a working copy names, or the one at `url` (`sqlite:///FILE`), to be read.

    Raises ConfigurationError where none is named, LedgerRefused for one that is missing, damaged or edited,
    EnvironmentFault for one that is out of reach.
    """
    from crowdgate.planning.open_ledger import ledger_for_reading

    return ledger_for_reading(Path(working_copy), url)


def check(policy: Where) -> PolicyCheck:
    """Whether a policy is right and could be let through, as `crowdgate check`: `allowed`, verdicts and gates.

    No data are read but those of a public register. Raises ConfigurationError that lists every wrong file.
    """
    from crowdgate.review.check import check as run

    return run(Path(policy))


def plan(policy: Where, source: Where | None = None) -> Outlook:
    """What a policy promises and costs, and what is expected of it, as `crowdgate plan`.

    `source` are counts to expect from: a release of tables, or a public table. Nothing is read but what is public.
    Raises ConfigurationError, and VerificationFailed for a `source` that is no release.
    """
    from crowdgate.forecast.outlook import outlook

    return outlook(Path(policy), None if source is None else Path(source), ())


def write_table(frame: pd.DataFrame, contract: Where) -> Path:
    """Writes a data frame where a contract says that its table is, as Parquet, for its owner only; a table that is
    there already is replaced. Returns the file.

    The index is left out. Columns and cells are judged when the table is released, as those of any other file. Raises
    ConfigurationError for a contract of another format than Parquet, EnvironmentFault where the file can't be written.
    """
    from crowdgate.releases.table_from_frame import write

    return write(frame, read_contract(contract))


def release(
    policy: Where,
    as_of: str | None = None,
    *,
    input: Where | None = None,
    to: Where | None = None,
    ledger: str | None = None,
    anchors: Sequence[str] = (),
) -> Result:
    """Makes one release, as `crowdgate release`: `outcome` is "published", with its `path`, or "withheld".

    `as_of` is the slot, YYYY-MM-DD or YYYY-MM-DDTHHMMZ (today, UTC); the same slot is never released twice, and a
    release that is there is reported. `input` is in place of the contract's table, `to` of the policy's folder, and
    `ledger` (a URL) of the working copy's; `anchors` are lines that the ledger must hold, `LINE:DIGEST`.

    Charges the population's budget before anything is read. Raises ConfigurationError, FileFault, LedgerRefused,
    EnvironmentFault, and Crashed for a run that stopped after it had read data.
    """
    from crowdgate.kind.run import Request
    from crowdgate.ledger.key import draw_key
    from crowdgate.releases.release import release as run

    places = (Path(policy), _slot(as_of), _path(input), _path(to), ledger)
    return run(Request(*places, anchors=tuple(anchors)), draw_key)


def verify(
    folder: Where,
    keys: Sequence[Where] = (),
    *,
    ledger: str | None = None,
    refit: bool = False,
    policy: Where | None = None,
) -> VerifiedRelease:
    """Finds out from its files alone that a release is what it says it is, as `crowdgate verify`.

    `keys` are files of public keys, of which one must have signed it; the `ledger` (a URL) must have committed to it;
    with `refit` synthetic rows are made again; with a `policy` gates and waivers must be those of that file. Raises
    VerificationFailed that lists what does not hold, and ConfigurationError for a wrong key, ledger or policy.
    """
    from crowdgate.verification.release import verify as run

    return run(Path(folder), ledger, [Path(key) for key in keys], refit, None if policy is None else Path(policy))


def read_release(folder: Where, keys: Sequence[Where] = ()) -> ReleasedData:
    """The data of a release, which is verified first: tables as data frames, with their dictionary and weights.

    Labels are text. Raises VerificationFailed for a release that does not hold what it claims.
    """
    from crowdgate.releases.frames_of_release import read

    verified = verify(folder, keys)
    return ReleasedData(verified, *read(Path(folder), verified.manifest))


def _slot(as_of: str | None) -> str:
    from crowdgate.policy.policy import parse_slot

    try:
        return datetime.now(UTC).date().isoformat() if as_of is None else parse_slot(as_of)
    except ValueError as error:
        raise ConfigurationError(Problem("arguments", None, "as_of", repr(as_of), str(error))) from None


def _path(place: Where | None) -> Path | None:
    return None if place is None else Path(place)
