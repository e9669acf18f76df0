"""The public register that gates on matches read, counted at the levels that a policy releases.

People are counted: where the register's privacy unit is a person, equal records of one person count once. Otherwise a
released row that matches two records of one person would count as one that matches two people. The bound on rows per
person does not apply, since everybody can read the other records too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.errors import Code, ConfigurationError, FileFault
from crowdgate.histogram import Histogram, View, collapse
from crowdgate.limits import MOST_MATCHED
from crowdgate.planning.register import AT, SharedAttribute, comparable, is_shared
from crowdgate.publish.register import Register
from crowdgate.sampling import KEY_BYTES, SecretKey
from crowdgate.sources import Source, open_source
from crowdgate.sources.counting import CountingTask, PartialCounts, count_table, histograms, serial
from crowdgate.sources.files import FileSource
from crowdgate.sources.locations import opened
from crowdgate.sources.people import bounded_entries
from crowdgate.sources.source import table_changed

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan

_NO_SECRET = SecretKey(bytes(KEY_BYTES), injected=True)
"""The key of a choice among a person's records, of which there is none: all are retained."""


def counted_register(plan: Plan) -> Register | None:
    """Return the policy's register, if it names one, at the finest levels that can be released.

    Raises FileFault if it is unreadable, ConfigurationError if it has too many distinct records.
    """
    contract = plan.bundle.register
    if contract is None:
        return None
    found = {
        name: shared
        for name, level in plan.protection.figures.levels.items()
        if is_shared(contract, name, level) and (shared := comparable(contract, name, level)) is not None
    }
    task = CountingTask(contract, tuple(found), {"": View({name: each.own for name, each in found.items()})})
    source = open_source(contract, task.columns)
    before = source.fingerprint()
    total = count_table(source, task, serial())
    counts = _in_policy_codes(_people_by_cell(total, task), found)
    files = _digests(source)
    if source.fingerprint() != before:
        raise table_changed()
    most = MOST_MATCHED // (len(found) + 1)
    if len(counts) > most:
        problem = f"{len(counts)} distinct records on {len(found)} shared attributes"
        raise ConfigurationError(
            plan.bundle.document.problem(AT, problem, f"at most {most}: coarser levels", None, Code.CONTRACT)
        )
    view = View({name: each.level for name, each in found.items()})
    several = total.people is not None and not contract.is_of_persons
    return Register(contract.id, contract.version, files, total.facts.rows, view, counts, several)


def register_or_fault(plan: Plan) -> tuple[Register | None, str | None]:
    """Return the policy's register (None: it names none), and the reason if its table is unreadable here."""
    try:
        return counted_register(plan), None
    except FileFault as fault:
        return None, str(fault)


def _people_by_cell(total: PartialCounts, task: CountingTask) -> Histogram:
    """Return the number of people of the register in each cell: records, or persons, who may be in several cells
    unless the contract makes one row of all rows of a person."""
    if total.people is None or task.contract.is_of_persons:
        return histograms(total, task, _NO_SECRET)[""]
    every = int(total.people.rows.max(initial=1))
    _, codes, counts = bounded_entries(total.people, every, _NO_SECRET)
    own = total.people.view
    return collapse(own.names, own.sizes, codes, np.ones_like(counts))


def _in_policy_codes(counts: Histogram, found: Mapping[str, SharedAttribute]) -> Histogram:
    """Return the counts of the register's records in the policy's codes, without records with a value that the policy
    lacks.
    """
    codes = [each.codes[column] for each, column in zip(found.values(), counts.codes, strict=True)]
    known = np.all([column >= 0 for column in codes], axis=0)
    sizes = tuple(len(each.level) for each in found.values())
    return collapse(counts.names, sizes, [column[known] for column in codes], counts.counts[known])


def _digests(source: Source) -> tuple[str, ...]:
    """Return the SHA-256 of each file of a source of files, sorted; an empty tuple for other sources."""
    found = []
    for path in source.paths if isinstance(source, FileSource) else ():
        with opened(path) as file:
            found.append(hashlib.file_digest(file, "sha256").hexdigest())
    return tuple(sorted(found))
