"""The public register that gates on matches read: whether it fits the policy, and counted at the levels it releases."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from crowdgate.errors import ConfigurationError, FileFault, Problem
from crowdgate.hierarchy import INVALID_LABEL, Level
from crowdgate.histogram import Histogram, View, collapse
from crowdgate.jobs.public import why_private
from crowdgate.limits import MOST_MATCHED
from crowdgate.measures import MEASURES
from crowdgate.publish.register import Register
from crowdgate.sampling import KEY_BYTES, SecretKey
from crowdgate.sources import Source, open_source
from crowdgate.sources.counting import Task, counted, histograms, serial
from crowdgate.sources.files import FileSource
from crowdgate.sources.source import changed

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract
    from crowdgate.documents import Location
    from crowdgate.kind.kind import Protection
    from crowdgate.kind.plan import Plan
    from crowdgate.policy.files import Bundle, Known

AT: Location = ("spec", "register", "contract")
_NO_SECRET = SecretKey(bytes(KEY_BYTES), injected=True)
"""Which records of a person stay is decided by this key: the register is public, and always the same."""


@dataclass(frozen=True, eq=False)
class _Shared:
    """An attribute at the policy's level, the register's level with the same values, and the policy's code of each of
    the register's (-1: the policy has no such value, and only `(invalid)` can be one)."""

    level: Level
    own: Level
    codes: npt.NDArray[np.int64]


def register_problems(bundle: Bundle, protection: Protection | None, known: Known) -> Iterator[Problem]:
    """What stands against the register that a policy names, or does not name."""
    at = bundle.document.problem
    asking = [i for i, rule in enumerate(bundle.policy.spec.gates) if _asks(rule.measure)]
    if bundle.register is None:
        for i in asking:
            found = f"{bundle.policy.spec.gates[i].measure} without a register"
            yield at(("spec", "gates", i), found, "register: {contract: ...} below spec, the id of a public contract")
        return
    if not asking:
        yield at(("spec", "register"), "no gate reads the register", "a gate on register_matches, or no register")
    if why := why_private(bundle.register, known):
        found = f"the table of contract {bundle.register.id} is not public, {why}: the gate and the release would tell"
        yield at(AT, found, "the id of a contract with {property: public, value: true}, as all that speak of its table")
    elif protection is not None:
        yield from _level_problems(bundle, bundle.register, protection.figures().levels)


def _asks(measure: str) -> bool:
    return measure in MEASURES and MEASURES[measure].register


def _level_problems(bundle: Bundle, register: Contract, levels: Mapping[str, Level]) -> Iterator[Problem]:
    """No level, no problem: gates on matches do not suit such a release, which is said elsewhere."""
    shared = {name: level for name, level in levels.items() if _is_shared(register, name, level)}
    for name, level in shared.items():
        if _comparable(register, name, level) is None:
            found = f"{name!r} is another attribute in contract {register.id}: no level of it has the values of ours"
            yield bundle.document.problem(AT, found, f"a register with {name!r} at the values of {level.name!r}")
    if levels and not shared:
        found, names = f"contract {register.id} has none of the released attributes", ", ".join(levels)
        yield bundle.document.problem(AT, found, f"a register with some of {names}")


def _is_shared(register: Contract, name: str, level: Level) -> bool:
    """Whether the register has a column of this name that can be counted; one of a single value tells nothing."""
    return len(level) > 1 and name in register.by_name and register.by_name[name].releasable


def _comparable(register: Contract, name: str, level: Level) -> _Shared | None:
    """The register's level with the same values, whatever their order, and with or without `(invalid)`."""
    found = register.by_name[name].hierarchy
    place = {label: at for at, label in enumerate(level.labels)}
    for own in () if found is None else found.levels:
        if _values(own) == _values(level):
            return _Shared(level, own, np.array([place.get(label, -1) for label in own.labels], dtype=np.int64))
    return None


def _values(level: Level) -> set[str]:
    return {*level.labels} - {INVALID_LABEL}


def counted_register(plan: Plan) -> Register | None:
    """The policy's register, if it names one, at the finest levels that can be released.

    Raises FileFault where it can't be read, ConfigurationError where it has too many distinct records.
    """
    contract = plan.bundle.register
    if contract is None:
        return None
    found = {
        name: shared
        for name, level in plan.protection.figures().levels.items()
        if _is_shared(contract, name, level) and (shared := _comparable(contract, name, level)) is not None
    }
    task = Task(contract, tuple(found), {"": View({name: each.own for name, each in found.items()})})
    source = open_source(contract, task.columns)
    before = source.fingerprint()
    total = counted(source, task, serial())
    counts = _in_our_codes(histograms(total, task, _NO_SECRET)[""], found)
    files = _digests(source)
    if source.fingerprint() != before:
        raise changed()
    most = MOST_MATCHED // (len(found) + 1)
    if len(counts) > most:
        problem = f"{len(counts)} distinct records on {len(found)} shared attributes"
        raise ConfigurationError(plan.bundle.document.problem(AT, problem, f"at most {most}: coarser levels"))
    view = View({name: each.level for name, each in found.items()})
    return Register(contract.id, contract.version, files, total.facts.rows, view, counts)


def register_here(plan: Plan) -> Register | None:
    """The same; None also where its table can't be read here."""
    try:
        return counted_register(plan)
    except FileFault:
        return None


def _in_our_codes(counts: Histogram, found: Mapping[str, _Shared]) -> Histogram:
    """The register's records by the policy's codes, without those that have a value which the policy lacks."""
    codes = [each.codes[column] for each, column in zip(found.values(), counts.codes, strict=True)]
    known = np.all([column >= 0 for column in codes], axis=0)
    sizes = tuple(len(each.level) for each in found.values())
    return collapse(counts.names, sizes, [column[known] for column in codes], counts.counts[known])


def _digests(source: Source) -> tuple[str, ...]:
    """SHA-256 of the files of a source, sorted; of another source there are none."""
    found = []
    for path in source.paths if isinstance(source, FileSource) else ():
        with path.open("rb") as file:
            found.append(hashlib.file_digest(file, "sha256").hexdigest())
    return tuple(sorted(found))
