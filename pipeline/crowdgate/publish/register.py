"""register.json: the public register that a release was compared with, counted on the attributes that both have.

Codes are those of dictionary.csv. Whoever has the register can count it again from its contract at these levels.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np
from pydantic import FailFast, Field, ValidationError

from crowdgate.errors import VerificationFailed
from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram, View, split
from crowdgate.limits import MOST_MATCHED
from crowdgate.manifest import canonical
from crowdgate.manifest.values import Count, Digest, Label, Said

REGISTER = "register.json"
_Counts = Annotated[tuple[Count, ...], FailFast(), Field(max_length=MOST_MATCHED)]


class ColumnSaid(Said):
    """An attribute at the released level, and its code in every cell."""

    name: Label
    level: Label
    codes: _Counts


class RegisterSaid(Said):
    """The contract of the register, the SHA-256 of its files (none, where it is no file), and how many of its records
    are in each cell: distinct ones, in the order of their codes."""

    contract: Label
    version: Label
    files: Annotated[tuple[Digest, ...], Field(max_length=100_000)]
    columns: Annotated[tuple[ColumnSaid, ...], Field(min_length=1, max_length=1000)]
    records: _Counts


@dataclass(frozen=True, eq=False)
class Register:
    """A public register in its contract's words, counted at the finest levels that can be released."""

    contract: str
    version: str
    files: tuple[str, ...]
    view: View
    counts: Histogram

    def at(self, levels: Mapping[str, Level]) -> Histogram:
        """The register at the levels that are released."""
        view = View({name: levels[name] for name in self.view.names})
        return split(self.counts, self.view, {"": view})[""]

    def written(self, levels: Mapping[str, Level]) -> bytes:
        """The file beside a release at these levels."""
        counts = self.at(levels)
        columns = tuple(
            ColumnSaid(name=name, level=levels[name].name, codes=tuple(codes.tolist()))
            for name, codes in zip(counts.names, counts.codes, strict=True)
        )
        said = RegisterSaid(
            contract=self.contract, version=self.version, files=self.files, columns=columns,
            records=tuple(counts.counts.tolist()),
        )  # fmt: skip
        return _sealed(said)


def _sealed(said: RegisterSaid) -> bytes:
    return canonical(said.model_dump(mode="json"))


def read_register(data: bytes, levels: Mapping[str, Level]) -> Histogram:
    """The counts in `data`, of columns of a release at these levels. Raises VerificationFailed for anything else."""
    try:
        said = RegisterSaid.model_validate_json(data)
        written = _sealed(said) == data
    except (ValidationError, ValueError, RecursionError):
        written = False
    if not written:
        raise VerificationFailed("it is not written as a register is")
    names = tuple(each.name for each in said.columns)
    if len({*names}) != len(names) or any(
        each.name not in levels or levels[each.name].name != each.level for each in said.columns
    ):
        raise VerificationFailed("its columns are not released at these levels")
    if {len(each.codes) for each in said.columns} != {len(said.records)} or 0 in said.records:
        raise VerificationFailed("its cells do not all have codes and records")
    return _ordered(said, tuple(len(levels[name]) for name in names))


def _ordered(said: RegisterSaid, sizes: tuple[int, ...]) -> Histogram:
    codes = tuple(np.array(each.codes, dtype=np.int64) for each in said.columns)
    if any((column >= size).any() for column, size in zip(codes, sizes, strict=True)):
        raise VerificationFailed("it has a code of no value")
    tuples = list(zip(*(each.codes for each in said.columns), strict=True))
    if any(one >= other for one, other in pairwise(tuples)):
        raise VerificationFailed("its cells are not in order, each once")
    names = tuple(each.name for each in said.columns)
    return Histogram(names, sizes, codes, np.array(said.records, dtype=np.int64))
