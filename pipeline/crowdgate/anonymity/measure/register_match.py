"""Linkage of a published release with a register that another contract describes, at the release's levels."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from crowdgate.anonymity.measure.request import AnonymityRequest, error_rates, register_coverage
from crowdgate.anonymity.measure.table import people_by_tuple
from crowdgate.attachments import ATTACHMENTS
from crowdgate.contracts.contract import Attribute, Contract
from crowdgate.contracts.reading import read_contract
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.hierarchy import ANY, INVALID_LABEL, Level
from crowdgate.histogram import Histogram, View, collapse
from crowdgate.kinds import KINDS
from crowdgate.planning.bundle import KNOWN
from crowdgate.risk.linkage import Linkage, linkage
from crowdgate.sources import open_source
from crowdgate.sources.source import Source
from crowdgate.verification.steps import Verification


@dataclass(frozen=True, eq=False)
class RegisterLink:
    """A linkage that is ready to run: a release's rows at its levels, and a register that is opened but not read."""

    release_id: str
    register: Contract
    source: Source
    view: View
    released: Histogram
    wrong: Mapping[str, Fraction]
    coverage: Fraction
    rows_each: int

    def matched(self) -> "RegisterMatch":
        """Read the register and match. Raises FileFault if it can't be read to its end or changes meanwhile."""
        read = people_by_tuple(self.register, self.view, self.source)
        people = read.counts
        wider = Histogram(people.names, self.released.sizes, people.codes, people.counts)
        linked = linkage(self.released, wider, self.wrong, self.coverage, self.rows_each)
        return RegisterMatch(self, linked, read.ingested)


@dataclass(frozen=True, eq=False)
class RegisterMatch:
    """Result of matching a release with a register, and the register's ingestion summary."""

    link: RegisterLink
    linkage: Linkage
    ingested: Mapping[str, Any]


def register_link(asked: AnonymityRequest) -> RegisterLink | None:
    """Return the linkage to run, or None where no release is named; reads public bytes only.

    Raises ConfigurationError where one of release and register is missing, for a release without rows, a register that
    shares no column with it or has other values, and wrong rates; VerificationFailed for a folder that is no release;
    FileFault where the register's file is missing or has other columns.
    """
    if asked.release is None and asked.register is None:
        if (asked.wrong, asked.coverage) != (None, None):
            raise _option_error(
                "--wrong, --coverage",
                "this option needs a release and a register",
                "--release DIR and --register CONTRACT beside it",
            )
        return None
    if asked.release is None or asked.register is None:
        found = "--register" if asked.release is None else "--release"
        raise _option_error(
            found, "only one of --release and --register is given", "--release DIR and --register CONTRACT"
        )
    run = Verification(asked.release, KINDS, ATTACHMENTS)
    said, register = run.run(), read_contract(asked.register, KNOWN.servers)
    published = run.kind.output_candidate(said, run.contents)
    if published.rows is None:
        raise _option_error("--release", f"a release of kind {said.mechanism.kind}, without rows", "a release of rows")
    columns = {name: level for name, level in published.static.levels.items() if level.name != ANY}
    own = _shared_levels(columns, register)
    view = View(own)
    wrong, coverage = error_rates(asked.wrong, view.names), register_coverage(asked.coverage)
    source = open_source(register, view.names)
    released = _release_in_register_codes(published.rows, columns, own)
    rows_each = said.facts.rows_per_unit
    return RegisterLink(said.release.id, register, source, view, released, wrong, coverage, rows_each)


def _shared_levels(columns: Mapping[str, Level], register: Contract) -> dict[str, Level]:
    """Return the register's level of every column that it shares with the release."""
    known = {each.name: each for each in register.attributes if each.releasable}
    shared = {name: _register_level(known[name], level) for name, level in columns.items() if name in known}
    problems = [
        _option_problem("--register", f"{name!r} at {columns[name].name!r} has other values in {register.id}",
                 "a level of that name with the values of the release")
        for name, level in shared.items() if level is None
    ]  # fmt: skip
    if not shared:
        found = f"{register.id} has none of the columns {', '.join(columns)}"
        problems = [_option_problem("--register", found, "one of these columns at least")]
    if problems:
        raise ConfigurationError(problems)
    return {name: level for name, level in shared.items() if level is not None}


def _register_level(attribute: Attribute, released: Level) -> Level | None:
    """Return the register's level of that name, if its values are the release's; otherwise None. The label of cells
    outside the domain is ignored."""
    hierarchy = attribute.hierarchy
    if hierarchy is None or released.name not in hierarchy.names:
        return None
    level = hierarchy.level(released.name)
    return level if {*level.labels} - {INVALID_LABEL} == {*released.labels} - {INVALID_LABEL} else None


def _release_in_register_codes(rows: Histogram, columns: Mapping[str, Level], own: Mapping[str, Level]) -> Histogram:
    """Return the release's rows in the register's codes. Values that the register can't hold get a code after all
    others."""
    codes, sizes = [], []
    for name, level in own.items():
        place = {label: code for code, label in enumerate(level.labels)}
        to_own = np.array([place.get(label, len(level)) for label in columns[name].labels], dtype=np.int32)
        codes.append(to_own[rows.codes[rows.names.index(name)]])
        sizes.append(len(level) + 1)
    return collapse(tuple(own), tuple(sizes), codes, rows.counts)


def _option_error(option: str, found: str, expected: str) -> ConfigurationError:
    return ConfigurationError(_option_problem(option, found, expected))


def _option_problem(option: str, found: str, expected: str) -> Problem:
    return Problem("command line", None, option, found, expected)
