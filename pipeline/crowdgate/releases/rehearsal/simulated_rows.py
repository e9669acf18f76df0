"""Simulated rows, drawn from the public facts of a contract: its domains, margins and joint counts, or a release.

Attributes that are counted together are drawn together, as many as fit into a fitted table. All others are drawn
independently, from their public margins, or uniformly without any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.kind.forecast import Basis
from crowdgate.limits import MOST_CELLS_FITTED

if TYPE_CHECKING:
    import pyarrow as pa

    from crowdgate.arrays import Codes, Floats
    from crowdgate.contracts.contract import Attribute, Contract
    from crowdgate.hierarchy import Level
    from crowdgate.kind.prior import ExpectedCounts, Prior
    from crowdgate.public_counts.figures import PriorSubject

MARGINS = "public margins, by itself"
ROWS_OF_PERSONS = 3
"""The greatest number of simulated rows of a person, where a table of persons is made of them."""
COUNTED = (Basis.COUNTED, Basis.RELATED, Basis.COARSER)
"""The bases of counts that relate all attributes of a group."""
EVENLY = "all its values with equal probability: it has no public counts"


@dataclass(frozen=True, eq=False)
class SimulatedTable:
    """A table of simulated rows, in words the source of each column's values, and the sets of columns that were drawn
    by counts which relate them: whole groups, pairs, or a column for itself."""

    table: pa.Table
    drawn_from: Mapping[str, str]
    related: tuple[frozenset[str], ...]


def simulate_rows(subject: PriorSubject, prior: Prior, seed: int) -> SimulatedTable:
    """Return a table of simulated rows of the subject's people: one row each, or a random number of rows up to the
    contract's bound.

    If the table is an inherited sample, only the people in it have rows, by Bernoulli sampling.
    """
    import pyarrow as pa

    random, contract = np.random.default_rng(seed), subject.contract
    persons = _persons(contract, subject.people, random)
    columns: dict[str, object] = {}
    said: dict[str, str] = {}
    related: list[frozenset[str]] = []
    for group in _row_columns(contract) if contract.is_of_persons else _groups(subject, prior):
        joint = None if contract.is_of_persons else prior.joint(group)
        weights = _weights(group, contract, joint)
        cells = np.unravel_index(random.choice(weights.size, len(persons), p=weights.reshape(-1)), weights.shape)
        for (name, level), codes in zip(group.items(), cells, strict=True):
            columns[name] = _texts(contract.columns[name], level, np.asarray(codes), random)
        if contract.is_of_persons:
            continue
        sets = tuple(_related_sets(group, prior))
        said |= {name: _origin_text(name, level, sets, prior) for name, level in group.items()}
        related += sets
    for name in contract.by_name if contract.is_of_persons else ():
        said[name], related = EVENLY, [*related, frozenset({name})]
    if contract.unit.person is not None:
        columns[contract.unit.person] = pa.array([f"nobody-{at}" for at in persons.tolist()])
    return SimulatedTable(pa.table(columns), said, tuple(related))


def _related_sets(group: Mapping[str, Level], prior: Prior) -> Iterator[frozenset[str]]:
    """Yield the attributes of a group that public counts relate: all of them, or else each and the related pairs."""
    if _is_related(group, prior):
        yield frozenset(group)
        return
    yield from (frozenset({name}) for name in group)
    for pair in combinations(group, 2):
        if _is_related({name: group[name] for name in pair}, prior):
            yield frozenset(pair)


def _is_related(group: Mapping[str, Level], prior: Prior) -> bool:
    """Return True if public counts relate all attributes of a group."""
    joint = prior.joint(group)
    return joint is not None and joint.basis in COUNTED


def _persons(contract: Contract, people: int, random: np.random.Generator) -> Codes:
    each = np.ones(people, dtype=np.int64)
    if contract.unit.person is not None:
        most = ROWS_OF_PERSONS if contract.is_of_persons else contract.unit.rows
        each = random.integers(1, most, people, endpoint=True)
    if contract.sample is not None:
        each[random.random(people) >= float(contract.sample.beta)] = 0
    return np.repeat(np.arange(people, dtype=np.int32), each)


def _row_columns(contract: Contract) -> Iterator[dict[str, Level]]:
    """Yield the columns of the source of a table of persons. Nothing is known of rows: public counts are of persons."""
    for name, each in contract.columns.items():
        if each.hierarchy is not None:
            yield {name: each.hierarchy.levels[0]}


def _groups(subject: PriorSubject, prior: Prior) -> Iterator[dict[str, Level]]:
    """Yield groups of attributes that are drawn jointly, each attribute at the finest level with known counts;
    attributes without a domain are left out.

    Attributes that are counted together are in one group while its cells are few enough. Those that the policy releases
    come first, at its own levels if their finest ones have too many cells together.
    """
    group: dict[str, Level] = {}
    released = _released_levels(subject, prior)
    for each in sorted(subject.contract.attributes, key=lambda each: each.name not in released):
        if each.domain is None:
            continue
        own = {each.name: released.get(each.name) or _level(each.name, prior)}
        if not prior.is_counted(each.name):
            yield own
        elif prod(map(len, (*group.values(), *own.values()))) <= MOST_CELLS_FITTED:
            group |= own
        else:
            yield group
            group = own
    if group:
        yield group


def _released_levels(subject: PriorSubject, prior: Prior) -> dict[str, Level]:
    """Return the levels at which the released attributes are drawn: the finest with known counts, or the policy's."""
    planned = {name: level for name, level in subject.levels.items() if len(level) > 1 and prior.is_counted(name)}
    finest = {name: _level(name, prior) for name in planned}
    if prod(map(len, finest.values())) <= MOST_CELLS_FITTED:
        return finest
    return {name: prior.known_level(name, level) or level for name, level in planned.items()}


def _level(name: str, prior: Prior) -> Level:
    levels = prior.levels(name)
    return next((level for level in levels if prior.shares(name, level) is not None), levels[0])


def _weights(group: Mapping[str, Level], contract: Contract, joint: ExpectedCounts | None) -> Floats:
    """Return the probability of every combination of the group's values: 0 for those that the contract's row rules
    refuse. Cells are invalid only as often as counts of a release say.
    """
    counted = joint is not None and joint.basis in COUNTED
    found = np.ones(tuple(map(len, group.values()))) if joint is None else joint.people
    allowed = np.asarray(1.0)
    for name, level in group.items():
        may = _allowed(contract.columns[name])
        some = np.bincount(level.of_values[: len(may)], weights=may, minlength=len(level))
        some[_invalid_codes(contract.columns[name], level)] += counted
        allowed = np.multiply.outer(allowed, some > 0)
    kept = found * allowed if (found * allowed).any() else allowed
    return np.asarray(kept / kept.sum(), dtype=np.float64)


def _allowed(attribute: Attribute) -> Floats:
    """Return, for each value of the attribute's domain, 1 if the row rules accept it, otherwise 0."""
    domain = attribute.domain
    assert domain is not None, "asked before"
    if attribute.accepted is None:
        return np.ones(len(domain))
    return np.asarray(np.bincount(domain.values, weights=attribute.accepted) > 0, dtype=np.float64)


def _invalid_codes(attribute: Attribute, level: Level) -> Codes:
    """Return the level code of `(invalid)`, which follows those of the domain; none if the level has no such value."""
    assert attribute.domain is not None, "asked before"
    return level.of_values[len(attribute.domain) :] if len(level) > 1 else level.of_values[:0]


def _texts(attribute: Attribute, level: Level, codes: Codes, random: np.random.Generator) -> object:
    """Return one cell of text for each code of a level: a value with that code that the row rules accept, drawn
    uniformly; an empty cell for `(invalid)`.
    """
    import pyarrow as pa

    domain, values = attribute.domain, np.empty(len(codes), dtype=np.int32)
    assert domain is not None, "asked before"
    may, empty = _allowed(attribute) > 0, np.isin(codes, _invalid_codes(attribute, level))
    for code in np.unique(codes[~empty]):
        here = codes == code
        values[here] = random.choice(np.flatnonzero((level.of_values[: len(may)] == code) & may), here.sum())
    return pa.DictionaryArray.from_arrays(pa.array(values, mask=empty), pa.array(list(domain.labels)))


def _origin_text(name: str, level: Level, related: tuple[frozenset[str], ...], prior: Prior) -> str:
    others = sorted({other for own in related if name in own for other in own} - {name})
    if prior.is_counted(name):
        counts = f"the counts, together with {', '.join(others)}" if others else "the counts, by itself"
        return (
            counts
            if len(level) == len(prior.levels(name)[0])
            else f"{counts}, at {level.name!r}: the values of a group with equal probability"
        )
    return EVENLY if prior.attributes[name].margins is None else MARGINS
