"""A published release against a register that another contract describes, at the release's levels."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from crowdgate.attachments import ATTACHMENTS
from crowdgate.contracts.contract import Attribute, Contract
from crowdgate.contracts.reading import read_contract
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.hierarchy import INVALID_LABEL, Level
from crowdgate.histogram import Histogram, View, collapse
from crowdgate.jobs.anonymity.asked import Asked, numbers_by_name
from crowdgate.jobs.anonymity.table import people_at
from crowdgate.jobs.plan import KNOWN
from crowdgate.kinds import KINDS
from crowdgate.kinds.rows.candidate import PublishedRows
from crowdgate.publish.dictionary import Entry
from crowdgate.risk.linkage import Linkage, linkage
from crowdgate.sources import open_source
from crowdgate.sources.source import Source
from crowdgate.verify.verify import Verification


@dataclass(frozen=True, eq=False)
class Link:
    """What will be matched: a release's rows at its levels, and a register that is opened but not read."""

    release_id: str
    register: Contract
    source: Source
    view: View
    released: Histogram
    wrong: Mapping[str, Fraction]
    coverage: Fraction

    def matched(self) -> Linkage:
        """Read the register and match. Raises FileFault when it can't be read to its end or changes meanwhile."""
        people = people_at(self.register, self.view, self.source)
        wider = Histogram(people.names, self.released.sizes, people.codes, people.counts)
        return linkage(self.released, wider, self.wrong, self.coverage)


def link_of(asked: Asked) -> Link | None:
    """What is to be matched, or None where no release is named; reads public bytes only.

    Raises ConfigurationError where one of release and register is missing, for a release of no rows, a register that
    shares no column with it or has other values, and wrong rates; VerificationFailed for a folder that is no release;
    FileFault where the register's file is missing or has other columns.
    """
    if asked.release is None and asked.register is None:
        if asked.wrong or asked.coverage:
            raise _refused("--wrong, --coverage", "no register", "--release DIR and --register CONTRACT beside it")
        return None
    if asked.release is None or asked.register is None:
        found = "--register" if asked.release is None else "--release"
        raise _refused(found, "one without the other", "--release DIR and --register CONTRACT")
    run = Verification(asked.release, KINDS, ATTACHMENTS)
    said, register = run.run(), read_contract(asked.register, KNOWN.servers)
    if not isinstance(run.held, PublishedRows):
        raise _refused("--release", f"a release of kind {said.mechanism.kind}", "a release of rows")
    shared = _shared(run.held.columns, register)
    view = View({entry.column: level for _, entry, level in shared})
    wrong = numbers_by_name("--wrong", asked.wrong, view.names)
    coverage = numbers_by_name("--coverage", f"coverage={asked.coverage or 1}", ["coverage"])["coverage"]
    source = open_source(register, view.names)
    released = _released(run.held.rows, shared)
    return Link(said.release.id, register, source, view, released, wrong, coverage)


def _shared(columns: tuple[Entry, ...], register: Contract) -> list[tuple[int, Entry, Level]]:
    """The columns of the release that the register has, each with its place and the register's level."""
    found = [(at, each, _level(register.by_name[each.column], each)) for at, each in enumerate(columns)
             if each.column in register.by_name and register.by_name[each.column].releasable]  # fmt: skip
    problems = list(_problems(found, register))
    if not found:
        own = ", ".join(each.column for each in columns)
        problems = [
            _problem("--register", f"{register.id} has none of the columns {own}", "one of these columns at least")
        ]
    if problems:
        raise ConfigurationError(problems)
    return [(at, each, level) for at, each, level in found if level is not None]


def _problems(found: list[tuple[int, Entry, Level | None]], register: Contract) -> Iterator[Problem]:
    for _, each, level in found:
        if level is None:
            said = f"{each.column!r} at {each.level!r} has other values in {register.id}"
            yield _problem("--register", said, "a level of that name with the values of the release")


def _level(attribute: Attribute, entry: Entry) -> Level | None:
    """The register's level of that name, if its values are the release's; cells outside the domain may be none."""
    hierarchy = attribute.hierarchy
    if hierarchy is None or entry.level not in hierarchy.names:
        return None
    level = hierarchy.level(entry.level)
    return level if {*level.labels} - {INVALID_LABEL} == {*entry.labels} - {INVALID_LABEL} else None


def _released(rows: Histogram, shared: list[tuple[int, Entry, Level]]) -> Histogram:
    """The release's rows in the register's codes; what the register can't hold has a code behind all others."""
    codes, sizes = [], []
    for at, entry, level in shared:
        place = {label: code for code, label in enumerate(level.labels)}
        codes.append(np.array([place.get(label, len(level)) for label in entry.labels], dtype=np.int32)[rows.codes[at]])
        sizes.append(len(level) + 1)
    return collapse(tuple(entry.column for _, entry, _ in shared), tuple(sizes), codes, rows.counts)


def _refused(option: str, found: str, expected: str) -> ConfigurationError:
    return ConfigurationError(_problem(option, found, expected))


def _problem(option: str, found: str, expected: str) -> Problem:
    return Problem("command line", None, option, found, expected)
