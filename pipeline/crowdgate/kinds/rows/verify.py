"""Recount a release of rows from its files alone: classes as runs of equal rows, in bounded memory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crowdgate.accounting import safe_k
from crowdgate.candidate import Candidate, Fact
from crowdgate.errors import VerificationFailed
from crowdgate.guarantee import Part
from crowdgate.histogram import Histogram
from crowdgate.kind.facts import level_of, static_of
from crowdgate.kind.kind import Formats
from crowdgate.kinds.rows.candidate import PublishedRows
from crowdgate.kinds.rows.files import DATA, schema
from crowdgate.kinds.rows.said import ChoiceSaid, RowsManifest
from crowdgate.manifest import guarantee_words
from crowdgate.mechanisms.rows.choice import CHOICE_PART, JOINT_PART, joint_delta
from crowdgate.mechanisms.rows.safe_k import row_part
from crowdgate.publish.dictionary import DICTIONARY, Entry, read_dictionary

Codes = npt.NDArray[np.int32]


def claims(said: RowsManifest) -> Iterator[str]:
    """What does not hold of the guarantee, the choice and the columns by themselves."""
    mechanism = said.mechanism
    guarantee = said.guarantee.guarantee
    rows = mechanism.rows
    if not 0 < mechanism.beta < 1:
        yield "the sampling rate is not between 0 and 1"
        return
    if said.guarantee.words != tuple(guarantee_words(guarantee, mechanism.beta, rows)):
        yield "the words of the guarantee are not its numbers"
    if (rows != 1 and guarantee.unit == "row") or rows != said.facts.rows_per_unit:
        yield "the rows of a privacy unit are not those of its unit"
    parts = {part.name: part for part in guarantee.parts}
    if mechanism.choice is not None and not set(mechanism.choice.chosen) <= set(mechanism.attributes):
        yield "a level was chosen of a column that is not released"
    if not _choice_is_paid(mechanism.choice, parts):
        yield "the choice of levels is not paid as the mechanism says"
        return
    yield from _delta_problems(said, parts)
    if mechanism.attributes != {column.name: column.level for column in said.data.columns}:
        yield "the columns of the data are not the mechanism's"
    if said.data.rows > said.facts.people * rows:
        yield "more rows than the population can have"
    yield from _margin_problems(said)


def _margin_problems(said: RowsManifest) -> Iterator[str]:
    """Public counts are those of released columns, one of each value, or of finer ones where levels were chosen."""
    chosen = set() if said.mechanism.choice is None else set(said.mechanism.choice.chosen)
    values = {column.name: column.values for column in said.data.columns}
    for name, counts in said.facts.margins.items():
        least = values.get(name)
        if least is None or len(counts) < least or (name not in chosen and len(counts) > least):
            yield f"the public counts of {name!r} are not those of its values"


def _delta_problems(said: RowsManifest, parts: Mapping[str, Part]) -> Iterator[str]:
    mechanism, choice = said.mechanism, said.mechanism.choice
    joint = choice is not None and choice.on == "sample"
    own = parts.get(JOINT_PART if joint else "mechanism")
    if own is None:
        yield "no part of the guarantee is the mechanism's"
        return
    if choice is not None and joint:
        delta = joint_delta(mechanism.k, mechanism.beta, own.epsilon, choice.epsilon, choice.candidates)
    else:
        own = row_part(own, mechanism.rows)
        delta = safe_k.exact_delta(mechanism.k, mechanism.beta, own.epsilon)
    if not delta <= own.delta:
        yield f"k {mechanism.k} does not reach the stated delta"


def _choice_is_paid(choice: ChoiceSaid | None, parts: Mapping[str, Part]) -> bool:
    """Whether the parts say of the choice what the mechanism says: none, one on the full table, one on the sample."""
    names = {"mechanism", CHOICE_PART, JOINT_PART} & set(parts)
    if choice is None:
        return names == {"mechanism"}
    # every chosen column has at least two candidates, and no choice is for nothing
    if not choice.chosen or choice.candidates < 2 ** len(choice.chosen) or choice.epsilon <= 0:
        return False
    if choice.on == "sample":
        return names == {JOINT_PART}
    paid = parts.get(CHOICE_PART)
    own = paid is not None and paid.epsilon == choice.epsilon > 0 == paid.delta
    return own and names == {"mechanism", CHOICE_PART}


def read(folder: Path, said: RowsManifest, formats: Formats) -> PublishedRows:
    """The rows by class, in the columns that dictionary.csv lists. Raises VerificationFailed.

    The smallest of the data files is read; the others must be what is written of the same rows.
    """
    columns, ordered = read_dictionary(folder / DICTIONARY), tuple(each.ordered for each in said.data.columns)
    stated = [(each.name, each.level, each.values) for each in said.data.columns]
    if stated != [(each.column, each.level, len(each.labels)) for each in columns]:
        raise VerificationFailed(f"{DICTIONARY}: its columns, levels or numbers of values are not the manifest's")
    if said.estimand is not None and not all(said.estimand.allows(each.column, each.labels) for each in columns):
        raise VerificationFailed(f"{DICTIONARY}: its columns are not treated as the estimand says")
    for end in formats:
        if f"{DATA}.{end}" not in said.files:
            raise VerificationFailed(f"{DATA}.{end}: missing")
    end = min(formats, key=lambda name: said.files[f"{DATA}.{name}"].bytes)
    runs = Runs(f"{DATA}.{end}", columns, said.data.classes)
    try:
        for piece in formats[end].read(folder / runs.file, schema([each.column for each in columns]), said.data.rows):
            runs.add(piece)
    except (pa.ArrowException, OSError, ValueError) as fault:
        raise VerificationFailed(f"{runs.file}: unreadable ({type(fault).__name__})") from None
    return PublishedRows(_released(runs, said), columns, ordered)


def _released(runs: "Runs", said: RowsManifest) -> Histogram:
    rows, k = runs.histogram(), said.mechanism.k
    if len(rows) and int(rows.counts.min()) < k:
        raise VerificationFailed(f"{runs.file}: a class has fewer than {k} rows")
    if rows.rows != said.data.rows or len(rows) != said.data.classes:
        raise VerificationFailed(f"{runs.file}: its rows or classes are not as many as the manifest says")
    return rows


def measured(said: RowsManifest, held: PublishedRows) -> Candidate:
    """The rows as output measures read them."""
    levels = {each.column: level_of(each.level, each.labels) for each in held.columns}
    facts = {each.column: Fact(ordered=known) for each, known in zip(held.columns, held.ordered, strict=True)}
    return Candidate(static=static_of(said, levels, facts, said.mechanism.k), rows=held.rows)


@dataclass
class Runs:
    """Runs of equal rows, which are classes where the rows are sorted. Memory grows with the classes alone."""

    file: str
    columns: Sequence[Entry]
    most: int
    tuples: list[Codes] = field(default_factory=list)
    counts: list[npt.NDArray[np.int64]] = field(default_factory=list)
    found: int = 0

    def add(self, piece: pa.Table) -> None:
        """The next rows. Raises VerificationFailed for foreign values, another order, or too many classes."""
        if not piece.num_rows:
            return
        codes = np.stack([self._codes(piece, each) for each in self.columns])
        # a row starts a run where any of its columns differs from the row before
        starts = np.flatnonzero(np.append(True, (codes[:, 1:] != codes[:, :-1]).any(axis=0)))
        tuples, counts = codes[:, starts], np.diff(starts, append=codes.shape[1])
        if self.found and (tuples[:, 0] == self.tuples[-1][:, -1]).all():
            self.counts[-1][-1] += counts[0]
            tuples, counts = tuples[:, 1:], counts[1:]
        self._keep(tuples, counts)

    def _keep(self, tuples: Codes, counts: npt.NDArray[np.int64]) -> None:
        if not len(counts):
            return
        last = [self.tuples[-1][:, -1:]] if self.found else []
        if not _rising(np.concatenate([*last, tuples], axis=1)):
            raise VerificationFailed(f"{self.file}: its rows are not in canonical order")
        self.found += len(counts)
        if self.found > self.most:
            raise VerificationFailed(f"{self.file}: it has more classes than the manifest says")
        self.tuples.append(tuples)
        self.counts.append(counts)

    def _codes(self, piece: pa.Table, column: Entry) -> Codes:
        chunk = piece[column.column].chunk(0)
        place = {label: code for code, label in enumerate(column.labels)}
        held = chunk.dictionary
        if chunk.null_count or held.null_count or len(held) > len(place):
            raise VerificationFailed(f"{self.file}: column {column.column!r} holds what dictionary.csv does not list")
        codes = np.array([place.get(label, -1) for label in held.to_pylist()], dtype=np.int32)
        found: Codes = codes[chunk.indices.to_numpy(zero_copy_only=False)]
        if (found < 0).any():
            raise VerificationFailed(
                f"{self.file}: column {column.column!r} holds a value that dictionary.csv does not list"
            )
        return found

    def histogram(self) -> Histogram:
        """The classes."""
        names = tuple(each.column for each in self.columns)
        sizes = tuple(len(each.labels) for each in self.columns)
        if not self.found:
            empty = np.zeros(0, dtype=np.int32)
            return Histogram(names, sizes, tuple(empty for _ in names), np.zeros(0, dtype=np.int64))
        return Histogram(names, sizes, tuple(np.concatenate(self.tuples, axis=1)), np.concatenate(self.counts))


def _rising(tuples: Codes) -> bool:
    """Whether every tuple is above the one before it, the first column counting most."""
    equal = np.ones(tuples.shape[1] - 1, dtype=np.bool_)
    for column in tuples:
        if (equal & (column[1:] < column[:-1])).any():
            return False
        equal &= column[1:] == column[:-1]
    return not equal.any()
