"""Check a release of rows from its files alone: guarantee, choice, margins, columns, classes, weights."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from crowdgate.accounting import safe_k
from crowdgate.candidate import Candidate, ColumnFacts
from crowdgate.errors import VerificationFailed
from crowdgate.guarantee import Part
from crowdgate.hierarchy import ANY, ANY_LABEL
from crowdgate.histogram import Histogram, with_column
from crowdgate.kind.facts import level_of, static_of
from crowdgate.kind.kind import Formats
from crowdgate.kinds.rows.candidate import CalibratedMargins, PublishedRows, ShareLimits
from crowdgate.kinds.rows.estimates import ESTIMATES, read_shares
from crowdgate.kinds.rows.files import schema
from crowdgate.kinds.rows.joint_check import joint_problems, stated_series_problems
from crowdgate.kinds.rows.manifest_fields import ChoiceFields, RowsManifest, UseFields, released_columns
from crowdgate.kinds.rows.margins import weighted_rows
from crowdgate.kinds.rows.margins_check import margins_problems, read_weighting
from crowdgate.kinds.rows.use import use_fields
from crowdgate.manifest import guarantee_sentences
from crowdgate.mechanisms.rows.calibration import GRID as UNITS
from crowdgate.mechanisms.rows.charge_names import CHOICE_PART, JOINT_PART, WEIGHT
from crowdgate.mechanisms.rows.choice import joint_delta
from crowdgate.mechanisms.rows.safe_k import row_part
from crowdgate.publish.dictionary import DICTIONARY, DictionaryEntry, read_dictionary
from crowdgate.publish.row_runs import RowRuns
from crowdgate.publish.rows import DATA


def manifest_problems(said: RowsManifest) -> Iterator[str]:
    """Yield the problems of the manifest's guarantee, choice, columns and public counts."""
    mechanism = said.mechanism
    guarantee = said.guarantee.guarantee
    rows = mechanism.rows
    if not 0 < mechanism.beta < 1:
        yield "the sampling rate is not between 0 and 1"
        return
    if said.guarantee.words != tuple(guarantee_sentences(guarantee, mechanism.beta, rows)):
        yield "the manifest's sentences on the guarantee differ from its numbers"
    if (rows != 1 and guarantee.unit == "row") or rows != said.facts.rows_per_unit:
        yield "the number of rows per privacy unit differs between the manifest's parts"
    parts = {part.name: part for part in guarantee.parts}
    yield from margins_problems(said)
    if mechanism.choice is not None and not set(mechanism.choice.chosen) <= set(mechanism.attributes):
        yield "the manifest says that a level was chosen for a column that is not released"
    if not _choice_is_paid(mechanism.choice, parts):
        yield "the guarantee does not charge the choice of levels as the mechanism states it"
        return
    yield from _delta_problems(said, parts)
    told = mechanism.attributes if said.format == 1 else released_columns(mechanism.attributes)
    if {name: mechanism.attributes[name] for name in told} != {each.name: each.level for each in said.data.columns}:
        yield "the columns or levels of the data differ from those of the mechanism"
    if said.data.rows > said.facts.people * rows:
        yield "more rows than the population can have"
    yield from _margin_problems(said)


def _margin_problems(said: RowsManifest) -> Iterator[str]:
    """Yield public counts that do not fit the released columns: one count of each value, or of finer values if levels
    were chosen."""
    chosen = set() if said.mechanism.choice is None else set(said.mechanism.choice.chosen)
    values = dict.fromkeys(said.mechanism.attributes, 1) | {each.name: each.values for each in said.data.columns}
    stated = [(name, len(counts)) for name, counts in said.facts.margins.items()]
    stated += [(column.name, column.values) for each in said.facts.joint or () for column in each.columns]
    for name, size in stated:
        least = values.get(name)
        if least is None or size < least or (name not in chosen and size > least):
            yield f"the public counts of {name!r} are not those of its values"
    if len({*stated}) != len({name for name, _ in stated}):
        yield "the public counts of a column are not all of as many values"


def _delta_problems(said: RowsManifest, parts: Mapping[str, Part]) -> Iterator[str]:
    mechanism, choice = said.mechanism, said.mechanism.choice
    joint = choice is not None and choice.on == "sample"
    yield from stated_series_problems(said)
    if said.guarantee.joint is not None:
        yield from joint_problems(said)
        return
    own = parts.get(JOINT_PART if joint else "mechanism")
    if own is None:
        yield "the guarantee has no part for the mechanism"
        return
    if choice is not None and joint:
        delta = joint_delta(mechanism.k, mechanism.beta, own.epsilon, choice.epsilon, choice.candidates)
    else:
        own = row_part(own, mechanism.rows)
        delta = safe_k.exact_delta(mechanism.k, mechanism.beta, own.epsilon)
    if not delta <= own.delta:
        yield f"k {mechanism.k} is too small for the stated epsilon and delta"


def _choice_is_paid(choice: ChoiceFields | None, parts: Mapping[str, Part]) -> bool:
    """Return whether the parts of the guarantee match the mechanism's choice: none, one on the full table, or one on
    the sample."""
    names = {"mechanism", CHOICE_PART, JOINT_PART} & set(parts)
    if choice is None:
        return names == {"mechanism"}
    # each chosen column has at least two candidates, and each choice has a privacy cost
    if not choice.chosen or choice.candidates < 2 ** len(choice.chosen) or choice.epsilon <= 0:
        return False
    if choice.on == "sample":
        return names == {JOINT_PART}
    paid = parts.get(CHOICE_PART)
    own = paid is not None and paid.epsilon == choice.epsilon > 0 == paid.delta
    return own and names == {"mechanism", CHOICE_PART}


def read(folder: Path, said: RowsManifest, formats: Formats) -> PublishedRows:
    """Read the rows by class, in the columns that dictionary.csv lists, with margins and weights if there are any.

    Raises VerificationFailed. Reads the smallest of the data files; the others must hold the same rows.
    """
    listed, ordered = read_dictionary(folder / DICTIONARY), tuple(each.ordered for each in said.data.columns)
    columns, further = _split(said, listed)
    if said.estimand is not None and not all(said.estimand.allows(each.column, each.labels) for each in listed):
        raise VerificationFailed(
            f"{DICTIONARY}: its values do not follow the treatment of invalid cells that the manifest states (estimand)"
        )
    for end in formats:
        if f"{DATA}.{end}" not in said.files:
            raise VerificationFailed(f"{DATA}.{end}: the file is missing")
    end = min(formats, key=lambda name: said.files[f"{DATA}.{name}"].bytes)
    bought = said.mechanism.margins is not None
    runs = RowRuns(f"{DATA}.{end}", columns, said.data.classes, WEIGHT if bought else None, UNITS)
    form = schema(columns, ordered, first=said.format == 1, weighted=bought)
    try:
        for piece in formats[end].read(folder / runs.file, form, said.data.rows):
            runs.add(piece)
    except (pa.ArrowException, OSError, ValueError) as fault:
        raise VerificationFailed(f"{runs.file}: the file can't be read ({type(fault).__name__})") from None
    rows = _released(runs, said)
    weighting = None if not bought else read_weighting(folder, said, formats, rows, runs.units(), columns, further)
    shares = None if weighting is None else _shares(folder, said, rows, weighting)
    return PublishedRows(rows, columns, ordered, weighting, _use(said, rows, weighting), shares)


def _shares(
    folder: Path, said: RowsManifest, rows: Histogram, weighting: CalibratedMargins
) -> tuple[ShareLimits, ...] | None:
    """Return the limits of shares, unless the manifest is of an earlier release that has none."""
    if said.data.margins is None or said.data.margins.shares is None:
        return None
    return read_shares(folder / ESTIMATES, rows, weighting)


def _use(said: RowsManifest, rows: Histogram, weighting: CalibratedMargins | None) -> UseFields | None:
    """Return what the rows can be used for, unless the manifest is of an earlier release that does not state it."""
    if weighting is None or said.data.margins is None or said.data.margins.use is None:
        return None
    return use_fields(rows.counts, weighted_rows(rows, weighting), said.mechanism.beta, said.mechanism.k)


def _split(
    said: RowsManifest, listed: Sequence[DictionaryEntry]
) -> tuple[tuple[DictionaryEntry, ...], tuple[DictionaryEntry, ...]]:
    """Return the entries of dictionary.csv in two groups: columns of the rows, and columns at levels that only margins
    have."""
    own = [(each.name, each.level, each.values) for each in said.data.columns]
    more = () if said.data.margins is None else said.data.margins.levels
    if [*own, *((each.name, each.level, each.values) for each in more)] != [
        (e.column, e.level, len(e.labels)) for e in listed
    ]:
        raise VerificationFailed(f"{DICTIONARY}: its columns, levels or numbers of values differ from the manifest's")
    return tuple(listed[: len(own)]), tuple(listed[len(own) :])


def _released(runs: "RowRuns", said: RowsManifest) -> Histogram:
    rows, k = runs.histogram(), said.mechanism.k
    if len(rows) and int(rows.counts.min()) < k:
        raise VerificationFailed(f"{runs.file}: a combination of values has fewer than k = {k} rows")
    if rows.rows != said.data.rows or len(rows) != said.data.classes:
        raise VerificationFailed(f"{runs.file}: its number of rows or classes differs from the manifest's")
    return rows


def output_candidate(said: RowsManifest, held: PublishedRows) -> Candidate:
    """Return the candidate that output measures read: the rows, with columns at `any` added, and their weights."""
    levels = {each.column: level_of(each.level, each.labels) for each in held.columns}
    facts = {each.column: ColumnFacts(ordered=known) for each, known in zip(held.columns, held.ordered, strict=True)}
    rows = held.rows
    for name in said.mechanism.attributes:
        if name not in levels:
            levels[name], facts[name] = level_of(ANY, (ANY_LABEL,)), ColumnFacts()
            rows = with_column(rows, name)
    weighted = None if held.weighting is None else weighted_rows(held.rows, held.weighting)
    return Candidate(static=static_of(said, levels, facts, said.mechanism.k), rows=rows, weighted=weighted)
