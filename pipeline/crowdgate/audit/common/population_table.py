"""A public table as the population of an audit: its rows, or its persons with their rows."""

from collections.abc import Mapping, Sequence

import numpy as np

from crowdgate.arrays import AnyIntegers, Integers
from crowdgate.audit.common.population import Population
from crowdgate.contracts.contract import Contract
from crowdgate.errors import Code, ConfigurationError, Problem
from crowdgate.hierarchy import EXACT, Level
from crowdgate.histogram import Histogram, View, collapse, joint
from crowdgate.kind.plan import Plan
from crowdgate.sampling import KEY_BYTES, SecretKey
from crowdgate.sources import open_source
from crowdgate.sources.counting import CountingTask, count_table, retained_entries, serial
from crowdgate.sources.people import RowsByPerson

_NO_SECRET = bytes(KEY_BYTES)
"""Key that decides which rows of a person are retained. It is constant: the table is public, and the population must
always be the same."""


def population(plan: Plan, contract: Contract, beside: Sequence[str] | None = None) -> Population:
    """Return the privacy units of a contract's table, in the attributes and levels that the policy's mechanism counts;
    with additional attributes `beside`, all attributes are exact. Raises ConfigurationError if attributes, levels,
    labels or the privacy unit differ from the policy's; FileFault if the table can't be read."""
    view = joint(plan.protection.views.values())
    own = _levels(plan, contract, view.levels)
    if beside is not None:
        names = dict.fromkeys((*own, *beside))
        view = View({name: _exact(plan, contract, name) for name in names})
        own = view.levels
    task = CountingTask(contract, view.names, {"all": View(own)})
    found = count_table(open_source(contract, view.names), task, serial())
    if found.people is None:
        cells = found.histograms["all"]
        return Population(contract.id, view, cells, cells.counts)
    return _persons(contract, view, View(own), found.people)


def _levels(plan: Plan, contract: Contract, levels: Mapping[str, Level]) -> Mapping[str, Level]:
    """Return the policy's levels by attribute name, as the population's contract defines them. Raises
    ConfigurationError where labels, their order or the privacy unit differ from the policy's."""
    found: dict[str, Level] = {}
    for name, level in levels.items():
        attribute = contract.by_name.get(name)
        own = None if attribute is None else attribute.hierarchy
        if own is None or level.name not in own.names or own.level(level.name).labels != level.labels:
            expected = f"a population whose contract has {name!r} at {level.name!r} with the values of the policy's"
            raise ConfigurationError(_problem(plan, contract, f"{name!r} is another attribute there", expected))
        found[name] = own.level(level.name)
    if contract.is_of_persons != plan.bundle.contract.is_of_persons:
        expected = "a population whose contract counts rows, or persons, as the policy's does"
        raise ConfigurationError(_problem(plan, contract, "personValues in one of both contracts alone", expected))
    unit, own_unit = contract.unit, plan.bundle.contract.unit
    if (unit.person is None, unit.rows) != (own_unit.person is None, own_unit.rows):
        expected = f"a population of the policy's privacy unit: {own_unit}, at most {own_unit.rows} rows"
        found_unit = f"its privacy unit is {unit}, at most {unit.rows} rows"
        raise ConfigurationError(_problem(plan, contract, found_unit, expected))
    return found


def _exact(plan: Plan, contract: Contract, name: str) -> Level:
    attribute = contract.by_name.get(name)
    if attribute is None or attribute.hierarchy is None:
        expected = "a population whose contract has it with a domain, or knownToAttackers: false"
        raise ConfigurationError(_problem(plan, contract, f"{name!r} is no attribute with a domain there", expected))
    return attribute.hierarchy.level(EXACT)


def _problem(plan: Plan, contract: Contract, found: str, expected: str) -> Problem:
    where = f"audit population {contract.id}"
    return Problem(str(plan.bundle.document.path), None, where, found, expected, code=Code.CONTRACT)


def _persons(contract: Contract, view: View, own: View, people: RowsByPerson) -> Population:
    """Return a population of persons: distinct vectors of row counts by cell, with the number of persons that have
    each. `own` is the view with the levels of the population's contract."""
    from scipy.sparse import csr_array

    of, codes, counts = retained_entries(people, contract, own, SecretKey(_NO_SECRET, injected=True))
    cells = collapse(view.names, view.sizes, codes, counts)
    lines, members = _distinct(of, _places(cells, codes), counts)
    starts = np.cumsum([0, *map(len, lines)])
    entries = np.array([entry for line in lines for entry in line], dtype=np.int64).reshape(-1, 2)
    rows = csr_array((entries[:, 1], entries[:, 0], starts), shape=(len(lines), len(cells)))
    return Population(contract.id, view, cells, members, rows)


def _places(cells: Histogram, codes: list[AnyIntegers]) -> AnyIntegers:
    """Return the index among `cells` of each tuple of codes (`codes`: one array per attribute)."""
    known = {key: at for at, key in enumerate(zip(*(column.tolist() for column in cells.codes), strict=True))}
    return np.array([known[key] for key in zip(*(column.tolist() for column in codes), strict=True)], dtype=np.int64)


def _distinct(
    of: AnyIntegers, cell: AnyIntegers, counts: Integers
) -> tuple[list[tuple[tuple[int, int], ...]], Integers]:
    """Return the distinct persons, each as pairs (cell, number of rows), and the number of persons equal to each. Input
    by entry: the person (`of`), the cell, and the number of rows."""
    if not len(of):
        return [], np.zeros(0, dtype=np.int64)
    order = np.lexsort((cell, of))
    entries = list(zip(cell[order].tolist(), counts[order].tolist(), strict=True))
    starts = np.flatnonzero(np.diff(of[order], prepend=-1)).tolist()
    tally: dict[tuple[tuple[int, int], ...], int] = {}
    for start, stop in zip(starts, [*starts[1:], len(entries)], strict=True):
        line = tuple(entries[start:stop])
        tally[line] = tally.get(line, 0) + 1
    return list(tally), np.array(list(tally.values()), dtype=np.int64)
