"""Tables that users need, by the analyses that a contract lists, and their expected errors in a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.hierarchy import EXACT, Level
from crowdgate.kind.forecast import Axes, CellErrors, Errors

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract
    from crowdgate.kind.prior import Prior


@dataclass(frozen=True)
class Needs:
    """The tables that users need, each as its columns at levels. `listed`: the contract lists them; otherwise they are
    all tables of one and two of the policy's columns."""

    tables: tuple[Axes, ...]
    listed: bool

    @property
    def levels(self) -> dict[str, Level]:
        """The level of every column that some table needs."""
        return {name: level for table in self.tables for name, level in table.items()}


@dataclass(frozen=True)
class NeedError:
    """The expected error of a needed table: the root mean square over its cells, as a share of all people, with the
    range of such forecasts."""

    value: float
    low: float
    high: float


def needs_of(contract: Contract, own: Axes) -> Needs:
    """Return the tables that users of releases need, by a contract and the levels `own` of a policy.

    A column is at the coarsest level that has all labels which analyses name, or at the policy's level if they name
    none.
    """
    if not contract.analyses:
        names = [name for name, level in own.items() if len(level) > 1]
        ways = (way for size in (1, 2) for way in combinations(names, size))
        return Needs(tuple({name: own[name] for name in way} for way in ways), listed=False)
    wanted = {name: _needed_level(contract, name, own) for each in contract.analyses for name in each.columns}
    tables = ({name: wanted[name] for name in sorted(each.columns)} for each in contract.analyses)
    return Needs(tuple({tuple(table): table for table in tables}.values()), listed=True)


def _needed_level(contract: Contract, name: str, own: Mapping[str, Level]) -> Level:
    hierarchy = contract.by_name[name].hierarchy
    assert hierarchy is not None, "an analysis names columns with a domain"
    labels = {label for each in contract.analyses for label in each.labels.get(name, ())}
    if not labels:
        return own.get(name) or hierarchy.level(EXACT)
    return [level for level in hierarchy.levels if labels <= {*level.labels}][-1]


def need_error(errors: Errors, table: Axes, prior: Prior) -> NeedError | None:
    """Return the expected error of a needed table in a release with these `errors`; None if the release does not have
    the table, or too little is known."""
    found = errors(table)
    return None if found is None else _as_share(found, _people(prior))


def mean_error(errors: Errors, needs: Needs, prior: Prior) -> NeedError | None:
    """Return the mean of the expected errors over all needed tables; None if one of them is unknown."""
    found = [need_error(errors, table, prior) for table in needs.tables]
    known = [each for each in found if each is not None]
    if not found or len(known) < len(found):
        return None
    return NeedError(*(float(np.mean([getattr(each, end) for each in known])) for end in ("value", "low", "high")))


def _people(prior: Prior) -> float:
    total = prior.joint({})
    return max(1.0, float(prior.people) if total is None else float(total.people.sum()))


def _as_share(found: CellErrors, people: float) -> NeedError:
    value = float(np.sqrt(np.mean(np.square(found.error)))) / people
    return NeedError(value, value / found.factor, value * found.factor)
