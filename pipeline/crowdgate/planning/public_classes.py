"""Class sizes of a public table, for gates on unique people: the table is counted, since everybody can count it.

A confidential table is never read here, nor one whose rows per person are bounded at random, nor one that a contract
which can't be read may describe. `check` and `plan` store the sizes beside the ledger, under a key of the contracts
that state that the table is public, and of its files; a release counts its table itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdgate.errors import Code, CrowdgateError, Problem
from crowdgate.planning.bundle import KNOWN, problem_at
from crowdgate.planning.figure_folder import FigureFolder
from crowdgate.planning.public_tables import (
    contracts_describing,
    contracts_in_working_copy,
    unreadable_statement,
    why_private,
)
from crowdgate.risk.class_sizes import ClassSizes
from crowdgate.system.installed_code import code_state, libraries

if TYPE_CHECKING:
    from crowdgate.histogram import Histogram
    from crowdgate.kind.plan import Plan
    from crowdgate.planning.open_ledger import OpenedLedger

FOLDER = "figures"
"""Name of the folder of stored figures, next to the ledger."""
Classes = Mapping[frozenset[str], ClassSizes]
_COUNTED: dict[str, dict[frozenset[str], ClassSizes]] = {}


def count_classes(plan: Plan) -> Classes:
    """Return the class sizes of the plan's public table, by the attributes that its gates name; empty if no gate needs
    them, or the table is not public, can't be read, or has its rows per person bounded. A table is counted once in a
    process."""
    return _count(plan) if _is_countable(plan) else {}


def stored_classes(plan: Plan, opened: OpenedLedger) -> Classes:
    """Return what `count_classes` returns, stored beside the ledger if that can be opened: for previews only, no
    release reads it."""
    if not _is_countable(plan):
        return {}
    try:
        folder = FigureFolder(opened.ledger().path.parent / FOLDER)
    except CrowdgateError:
        return _count(plan)
    key = hashlib.sha256(f"classes {_key(plan)} {code_state()} {sorted(libraries().items())}".encode()).hexdigest()
    found = folder.read(key)
    if found is not None:
        return {frozenset(names): _restored(own) for names, own in found}
    counted = _count(plan)
    if counted:
        folder.write(
            key, [[sorted(names), [own.sizes.tolist(), own.counts.tolist()]] for names, own in counted.items()]
        )
    return counted


def counting_problems(plan: Plan) -> Iterator[Problem]:
    """Yield the problem of a table that gates need counted, where a contract that can't be read may call it
    confidential."""
    contract = plan.bundle.contract
    if contract.public and _needs_counts(plan):
        why = unreadable_statement(contract.server.path, contract, KNOWN)
        if why is not None:
            found = f"gates need the table of contract {contract.id} counted, and {why}"
            expected = "a working copy whose contracts can all be read"
            yield problem_at(plan.bundle, ("spec", "contract"), found, expected, None, Code.NOT_PUBLIC)


def _is_countable(plan: Plan) -> bool:
    return _needs_counts(plan) and why_private(plan.bundle.contract, KNOWN) is None


def _needs_counts(plan: Plan) -> bool:
    """Return True if gates need the classes, a row is a person, and the table is in files."""
    contract = plan.bundle.contract
    return bool(plan.wanted_classes) and contract.unit.person is None and contract.is_in_files


def _count(plan: Plan) -> Classes:
    key = _key(plan)
    if key not in _COUNTED:
        try:
            table = _counted(plan)
        except CrowdgateError:
            return {}
        if _key(plan) != key:  # a file changed while it was counted
            return {}
        _COUNTED[key] = {names: _sizes(table, names) for names in plan.wanted_classes}
    return _COUNTED[key]


def _restored(stored: Any) -> ClassSizes:
    sizes, counts = (np.array(each, dtype=np.float64) for each in stored)
    return ClassSizes(sizes, counts)


def _key(plan: Plan) -> str:
    """Return a digest of the plan's files, the attributes that gates name, the contracts that state that the table is
    public, and the state of the table's files."""
    contract = plan.bundle.contract
    speak = contracts_describing(contract.server.path, contracts_in_working_copy(contract, KNOWN))
    states = [*_states(contract.server.path), *(state for each in speak for state in _states(each.files[0]))]
    wanted = sorted(sorted(names) for names in plan.wanted_classes)
    return hashlib.sha256(json.dumps([plan.bundle.digest, wanted, sorted(states)]).encode()).hexdigest()


def _states(path: Path) -> Iterator[list[Any]]:
    for each in (path, *(path.rglob("*") if path.is_dir() else ())):
        try:
            found = each.stat()
        except OSError:
            continue
        yield [str(each), found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def _counted(plan: Plan) -> Histogram:
    from crowdgate.histogram import View
    from crowdgate.ledger.key import draw_key
    from crowdgate.sources import open_source
    from crowdgate.sources.counting import CountingTask, count_table, histograms, serial
    from crowdgate.system.arrow_without_pandas import use_arrow_without_pandas

    use_arrow_without_pandas()
    contract, levels = plan.bundle.contract, plan.protection.figures.levels
    names = {name for own in plan.wanted_classes for name in own}
    view = View({name: level for name, level in levels.items() if name in names})
    task = CountingTask(contract, plan.columns, {"classes": view})
    source = open_source(contract, plan.columns, contract.server.path)
    return histograms(count_table(source, task, serial()), task, draw_key())["classes"]


def _sizes(table: Histogram, names: frozenset[str]) -> ClassSizes:
    from crowdgate.histogram import project

    return ClassSizes.of(project(table, [name for name in table.names if name in names]).counts)
