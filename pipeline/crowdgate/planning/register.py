"""The public register that gates on matches read, and its compatibility with the policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Integers
from crowdgate.errors import Code, Problem
from crowdgate.hierarchy import INVALID_LABEL, Level
from crowdgate.measures import MEASURES
from crowdgate.planning.public_tables import why_private

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract
    from crowdgate.documents.yaml_text import Location
    from crowdgate.kind.kind import Protection
    from crowdgate.policy.files import Bundle, KnownNames

AT: Location = ("spec", "register", "contract")


@dataclass(frozen=True, eq=False)
class SharedAttribute:
    """An attribute of the policy that the public register has too, at a level of each with the same values.

    `codes` maps the register's codes to the policy's (-1: the policy lacks the value, which can only be `(invalid)`).
    """

    level: Level
    own: Level
    codes: Integers


def register_problems(bundle: Bundle, protection: Protection | None, known: KnownNames) -> Iterator[Problem]:
    """Yield the problems of the public register that a policy's gates need, or of its absence."""
    at = bundle.document.problem
    asking = [i for i, rule in enumerate(bundle.policy.spec.gates) if _asks(rule.measure)]
    if bundle.register is None:
        for i in asking:
            found = f"{bundle.policy.spec.gates[i].measure} needs a register, and the policy names none"
            yield at(
                ("spec", "gates", i),
                found,
                "register: {contract: ...} below spec, the id of a public contract",
                None,
                Code.GATE,
            )
        return
    if not asking:
        yield at(
            ("spec", "register"),
            "no gate reads the register",
            "a gate on register_matches, or no register",
            None,
            Code.GATE,
        )
    if why := why_private(bundle.register, known):
        found = (
            f"the table of contract {bundle.register.id} is not public, {why}: the gate and the release would reveal it"
        )
        expected = "the id of a contract with {property: public, value: true}, as all that speak of its table"
        yield at(AT, found, expected, None, Code.NOT_PUBLIC)
    elif protection is not None:
        yield from _level_problems(bundle, bundle.register, protection.figures.levels)


def _asks(measure: str) -> bool:
    return measure in MEASURES and MEASURES[measure].register


def _level_problems(bundle: Bundle, register: Contract, levels: Mapping[str, Level]) -> Iterator[Problem]:
    """Yield a problem for each attribute that the register shares without a level of the released values, and one if it
    shares none.

    A release without levels has no such problem: gates on matches do not suit it.
    """
    shared = {name: level for name, level in levels.items() if is_shared(register, name, level)}
    for name, level in shared.items():
        if comparable(register, name, level) is None:
            found = (
                f"{name!r} has other values in the register's contract {register.id} than in this release, "
                "at every level"
            )
            expected = f"a register with {name!r} at the values of {level.name!r}"
            yield bundle.document.problem(AT, found, expected, None, Code.CONTRADICTION)
    if levels and not shared:
        found, names = f"contract {register.id} has none of the released attributes", ", ".join(levels)
        yield bundle.document.problem(AT, found, f"a register with some of {names}", None, Code.CONTRADICTION)


def is_shared(register: Contract, name: str, level: Level) -> bool:
    """Return whether the register has a releasable column called `name`; False if the policy's level has a single
    value.
    """
    return len(level) > 1 and name in register.by_name and register.by_name[name].releasable


def comparable(register: Contract, name: str, level: Level) -> SharedAttribute | None:
    """Return the attribute at the register's level that has the same values as the policy's `level`, in any order, with
    or without `(invalid)`; None without one.
    """
    found = register.by_name[name].hierarchy
    place = {label: at for at, label in enumerate(level.labels)}
    for own in () if found is None else found.levels:
        if _values(own) == _values(level):
            return SharedAttribute(level, own, np.array([place.get(label, -1) for label in own.labels], dtype=np.int64))
    return None


def _values(level: Level) -> set[str]:
    return {*level.labels} - {INVALID_LABEL}
