"""The public table of an audit as the input of a release, with a secret mark in every cell that the release must not
show."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdgate.sources import open_source

if TYPE_CHECKING:
    import pyarrow as pa

    from crowdgate.kind.plan import Plan
    from crowdgate.sources.source import Batch

HASHED = 2_000
"""Number of marked cells whose hashes are searched for."""
HASHES = ("md5", "sha1", "sha256", "sha512", "blake2b")
DIGITS = 16
"""Hexadecimal digits of a hash that are compared: with fewer, a chance agreement is possible."""


@dataclass(frozen=True, eq=False)
class Mark:
    """The secret mark of one table: every marked cell is `text` and a number. `cells` are some of them, and none if no
    cell is marked."""

    text: str
    cells: Sequence[str]

    @cached_property
    def hashes(self) -> frozenset[str]:
        """The first digits of the unkeyed hashes of the marked cells."""
        return frozenset(
            hashlib.new(name, cell.encode()).hexdigest()[:DIGITS] for name in HASHES for cell in self.cells
        )


def marked_table(plan: Plan) -> tuple[pa.Table, Mark]:
    """Return the rows of the policy's public population in the columns that a release reads, with a fresh mark in every
    other column of the policy's contract and in the place of each person's identifier."""
    import pyarrow as pa

    contract, mark = plan.bundle.contract, secrets.token_hex(16)
    read = _columns(plan)
    rows = len(next(iter(read.values())))
    person = contract.unit.person
    cells = [f"{mark}{at:08d}" for at in range(rows)]
    unread = {name: pa.array(cells) for name in contract.columns if name not in read}
    if person is not None:
        codes = read[person].dictionary_encode()
        names = pa.array([f"{mark}{at:08d}" for at in range(len(codes.dictionary))])
        unread[person] = names.take(codes.indices)
    marked = cells[:: max(1, rows // HASHED)] if unread else []
    return pa.table({**read, **unread}), Mark(mark, marked)


def _columns(plan: Plan) -> dict[str, Any]:
    """Return the cells of the population's columns that a release reads, by the names of the columns."""
    import pyarrow as pa

    population = plan.bundle.population
    person = [] if population.unit.person is None else [population.unit.person]
    names = tuple(dict.fromkeys([*population.columns_of(plan.columns), *person]))
    batches = [
        {name: _cells(batch, name) for name in names}
        for part in open_source(population, plan.columns).parts
        for batch in part.read(names, person)
    ]
    found = {name: pa.chunked_array([each[name] for each in batches]).combine_chunks() for name in names}
    return _renamed(found, population.unit.person, plan.bundle.contract.unit.person)


def _renamed(found: dict[str, Any], old: str | None, new: str | None) -> dict[str, Any]:
    return {(new if name == old and new is not None else name): cells for name, cells in found.items()}


def _cells(batch: Batch, name: str) -> Any:
    """Return the cells of a column, one for each row, also of a source that groups equal rows."""
    import pyarrow as pa

    cells = batch.cells[name]
    plain = cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells
    return plain if batch.counts is None else plain.take(np.repeat(np.arange(batch.rows), batch.counts))
