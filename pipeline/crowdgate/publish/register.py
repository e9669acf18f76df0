"""register.json: the public register that a release was compared with, counted on the common attributes.

Codes are those of dictionary.csv. Anyone with the register can count it again from its contract at these levels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np
from pydantic import FailFast, Field, ValidationError

from crowdgate.errors import VerificationFailed
from crowdgate.hierarchy import Level, coarser_codes
from crowdgate.histogram import Histogram, View, collapse, split
from crowdgate.limits import MOST_MATCHED
from crowdgate.manifest import canonical
from crowdgate.manifest.values import Count, Digest, Label, ManifestFields
from crowdgate.number_text import whole
from crowdgate.risk.linkage import usable

REGISTER = "register.json"
_Counts = Annotated[tuple[Count, ...], FailFast(), Field(max_length=MOST_MATCHED)]


class RegisterColumnFields(ManifestFields):
    """An attribute at the released level, and its code in every cell."""

    name: Label
    level: Label
    codes: _Counts


class RegisterFields(ManifestFields):
    """The register's contract, the SHA-256 of its files (none if it is no file), and the counts of its records.

    Cells are distinct, in the order of their codes. `rows` is the number of rows of its table, `usable` the number of
    records with a value in every column. Equal records of one person count once.
    """

    contract: Label
    version: Label
    files: Annotated[tuple[Digest, ...], Field(max_length=100_000)]
    rows: Count
    usable: Count
    columns: Annotated[tuple[RegisterColumnFields, ...], Field(min_length=1, max_length=1000)]
    records: _Counts

    @property
    def words(self) -> str:
        """The number of the register's records that are comparable with the release, in a sentence."""
        return usable_text(
            f"{self.contract} {self.version}", self.usable, self.rows, [each.name for each in self.columns]
        )


def usable_text(register: str, usable: int, rows: int, names: Sequence[str]) -> str:
    """Return a sentence: the number `usable` of a register's `rows` that have a value in each of the attributes
    `names`.
    """
    return (
        f"Of the {whole(rows)} rows of the public register {register}, {whole(usable)} have a value of"
        " every attribute that is "
        f"compared ({', '.join(names)})."
    )


@dataclass(frozen=True, eq=False)
class Register:
    """A public register, with the counts of its records at the finest levels that can be released.

    `rows` is the number of rows of its table; cleaning may leave fewer, and equal records of one person count once.
    With `several`, a person may be in several cells.
    """

    contract: str
    version: str
    files: tuple[str, ...]
    rows: int
    view: View
    counts: Histogram
    several: bool = False

    @property
    def usable(self) -> int:
        """The number of the register's records that have a value of every attribute."""
        return usable(self.counts, self.view.levels)

    @property
    def words(self) -> str:
        """The number of the register's records that are comparable with the release, in a sentence."""
        return usable_text(f"{self.contract} {self.version}", self.usable, self.rows, self.view.names)

    def at(self, levels: Mapping[str, Level]) -> Histogram:
        """Return the counts of the register's records at the released levels. Where a person may be in several cells
        that become one, they are the least number of people there: those of the largest of these cells."""
        view = View({name: levels[name] for name in self.view.names})
        return _largest(self.counts, self.view, view) if self.several else split(self.counts, self.view, {"": view})[""]

    def written(self, levels: Mapping[str, Level]) -> bytes:
        """Return the bytes of register.json for a release at these levels."""
        counts = self.at(levels)
        columns = tuple(
            RegisterColumnFields(name=name, level=levels[name].name, codes=tuple(codes.tolist()))
            for name, codes in zip(counts.names, counts.codes, strict=True)
        )
        said = RegisterFields(
            contract=self.contract, version=self.version, files=self.files, rows=self.rows,
            usable=usable(counts, levels), columns=columns, records=tuple(counts.counts.tolist()),
        )  # fmt: skip
        return _sealed(said)


def _largest(counts: Histogram, finer: View, view: View) -> Histogram:
    """Return a histogram at the levels of `view` in which each cell has the largest count of its finer cells."""
    columns = zip(counts.names, counts.codes, strict=True)
    codes = [coarser_codes(finer.levels[name], view.levels[name])[column] for name, column in columns]
    cells, place = np.unique(np.stack(codes), axis=1, return_inverse=True)
    most = np.zeros(cells.shape[1], dtype=np.int64)
    np.maximum.at(most, place.ravel(), counts.counts)
    return collapse(counts.names, view.sizes, list(cells), most)


def _sealed(said: RegisterFields) -> bytes:
    return canonical(said.model_dump(mode="json"))


def parse_register(data: bytes) -> RegisterFields:
    """Return the content of register.json from its bytes. Raises VerificationFailed for anything else."""
    try:
        said = RegisterFields.model_validate_json(data)
        if _sealed(said) == data:
            return said
    except (ValidationError, ValueError, RecursionError):
        pass
    raise VerificationFailed("its bytes differ from those that Crowdgate would write for a register's counts")


def read_register(data: bytes, levels: Mapping[str, Level]) -> Histogram:
    """Return the counts of the register's records in the bytes of register.json, for a release at these levels. Raises
    VerificationFailed for anything else.
    """
    said = parse_register(data)
    names = tuple(each.name for each in said.columns)
    if len({*names}) != len(names) or any(
        each.name not in levels or levels[each.name].name != each.level for each in said.columns
    ):
        raise VerificationFailed("its columns are not released at these levels")
    if {len(each.codes) for each in said.columns} != {len(said.records)} or 0 in said.records:
        raise VerificationFailed("its cells do not all have codes and records")
    counts = _ordered(said, tuple(len(levels[name]) for name in names))
    if said.usable != usable(counts, levels) or said.rows < counts.rows:
        raise VerificationFailed("its rows, and how many are usable, are not those of its cells")
    return counts


def _ordered(said: RegisterFields, sizes: tuple[int, ...]) -> Histogram:
    codes = tuple(np.array(each.codes, dtype=np.int64) for each in said.columns)
    if any((column >= size).any() for column, size in zip(codes, sizes, strict=True)):
        raise VerificationFailed("it has a code of no value")
    tuples = list(zip(*(each.codes for each in said.columns), strict=True))
    if any(one >= other for one, other in pairwise(tuples)):
        raise VerificationFailed("its cells are not in order, each once")
    names = tuple(each.name for each in said.columns)
    return Histogram(names, sizes, codes, np.array(said.records, dtype=np.int64))
