"""Check a release of synthetic rows from its files alone: budget, noisy tables, rows, distances, certificate."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import comb, prod
from pathlib import Path

import numpy as np
import pyarrow as pa

from crowdgate.accounting.tables_plan import stated_guarantee
from crowdgate.arrays import Integers
from crowdgate.candidate import Candidate
from crowdgate.errors import VerificationFailed
from crowdgate.histogram import Histogram
from crowdgate.kind.facts import static_of
from crowdgate.kind.kind import Formats
from crowdgate.kinds.synthetic.files import (
    CERTIFICATE,
    CERTIFICATE_COLUMNS,
    MEASURED,
    MEASURED_COLUMNS,
    certificate_of,
)
from crowdgate.kinds.synthetic.manifest_fields import SyntheticManifest, sorted_combinations
from crowdgate.kinds.synthetic.released_files import NoisyTable, PublishedSynthetic
from crowdgate.kinds.synthetic.variables import ReleasedVariables, released_variables
from crowdgate.limits import MOST_NUMBERS, MOST_SYNTHETIC_ROWS
from crowdgate.manifest import guarantee_sentences
from crowdgate.mechanisms.synthetic.junction_tree import cells
from crowdgate.publish import rows
from crowdgate.publish.dictionary import DICTIONARY, DictionaryEntry, read_dictionary, read_lines
from crowdgate.publish.levels import COARSER, ReleasedDomains, domains_of, read_coarser
from crowdgate.publish.row_runs import RowRuns

WHOLE = 1 << 62


def manifest_problems(said: SyntheticManifest) -> Iterator[str]:
    """Yield the problems of the manifest's guarantee, budget, tables and columns."""
    stated, mechanism = said.guarantee.guarantee, said.mechanism
    if said.format == 1:
        yield "synthetic rows came with format 2"
    if said.facts.margins or said.facts.joint or said.facts.classes is not None:
        yield "no gate on synthetic rows reads public counts"
    if said.guarantee.words != tuple(guarantee_sentences(stated, None)):
        yield "the manifest's sentences on the guarantee differ from its numbers"
    beta, units = mechanism.beta, mechanism.rows_per_unit
    if not 0 < beta <= 1 or (units != 1 and (stated.unit == "row" or beta != 1)) or units != said.facts.rows_per_unit:
        yield "the guarantee was computed for another sampling rate, or another number of rows per privacy unit"
        return
    yield from _axis_problems(said)
    faults = list(_budget_problems(said))
    yield from faults
    if not faults:
        yield from _spend_problems(said)


def _axis_problems(said: SyntheticManifest) -> Iterator[str]:
    """Yield tables with repeated columns or unknown levels, and other faults of columns, triples and impossible
    combinations."""
    sizes, columns = said.data.sizes, said.data.columns
    if len(sizes) != len(columns) + len(said.data.levels) or len({each.name for each in columns}) != len(columns):
        yield "the manifest lists a column, or a column at a level, twice"
    if said.mechanism.attributes != {each.name: each.level for each in columns}:
        yield "the columns or levels of the data differ from those of the mechanism"
    if not {each.name for each in said.data.levels} <= {each.name for each in columns}:
        yield "the manifest has a level of a column that is not released"
    for each in said.mechanism.measured:
        axes = each.named
        if len({name for name, _ in axes}) != len(axes) or not {*axes} <= {*sizes}:
            yield "a measured table repeats a column, or has one that is not released"
        elif each.cells != prod(sizes[axis] for axis in axes):
            yield "the number of cells of a measured table differs from that of its columns"
    stated, lines = said.mechanism.triples, said.mechanism.impossible
    ordered = sorted_combinations({name: tuple(sorted({*own})) for name, own in line.items()} for line in lines)
    if stated != tuple(sorted({tuple(sorted({*each})) for each in stated})) or lines != ordered:
        yield "triples or impossible combinations are not in order, each once"
    if not {name for each in (*stated, *lines) for name in each} <= {each.name for each in columns}:
        yield "a triple or an impossible combination has a column that is not released"
    triples = {frozenset(each) for each in stated}
    wide = [frozenset(name for name, _ in each.named) for each in said.mechanism.measured if len(each.axes) > 2]
    if not triples.issuperset(wide):
        yield "a table of three columns was measured that the policy does not name"
    if sum(each.cells for each in said.mechanism.measured) > MOST_NUMBERS:
        yield f"more than {MOST_NUMBERS} noisy numbers"


def _budget_problems(said: SyntheticManifest) -> Iterator[str]:
    """Yield the faults of the budget. Each part must be positive, and the parts must add up to each purpose's share
    exactly; rounds and certificate may be absent from a release without rows."""
    mechanism, columns = said.mechanism, said.data.columns
    first = [each for each in mechanism.measured if each.round == 0]
    later = [each for each in mechanism.measured if each.round > 0]
    if any(each.rho <= 0 for each in mechanism.measured) or mechanism.rho <= 0:
        yield "a measurement has no privacy cost"
        return
    if [each.named for each in first] != [((each.name, each.level),) for each in columns]:
        yield "the tables of one column are not measured first, each once"
    if any(each.selection is not None for each in first) or not all((each.selection or 0) > 0 for each in later):
        yield "the privacy cost of choosing is missing for a table of a later round, or stated for the first round"
    if any(b.round - a.round not in (0, 1) for a, b in pairwise(mechanism.measured)) or mechanism.measured[0].round:
        yield "the rounds do not follow each other"
    if any(a.round == b.round and (a.rho, a.selection) != (b.rho, b.selection) for a, b in pairwise(later)):
        yield "the tables of a round do not cost the same"
    shares = (mechanism.one_way_share, mechanism.certificate_share)
    if min(shares) <= 0 or sum(shares) >= 1:
        yield "the stated shares leave no privacy budget to measure pairs of columns"
        return
    own, certificate = (mechanism.rho * share for share in shares)
    if sum(each.rho for each in first) != own:
        yield "the tables of one column do not spend exactly their share of the privacy budget"
    if sum(each.spent for each in later) != (mechanism.rho - own - certificate if later else 0):
        yield "the rounds do not spend exactly what the other parts leave of the privacy budget"
    if mechanism.certificate != (certificate if said.data.rows else None):
        yield "the certificate does not spend exactly its share of the privacy budget"
    if said.data.rows and not later:
        yield "the release has rows, and no two of its columns were measured together"


def _spend_problems(said: SyntheticManifest) -> Iterator[str]:
    """Yield a problem if rho does not give the stated epsilon and delta on a sample of rate beta."""
    own = {part.name: part for part in said.guarantee.guarantee.parts}.get("mechanism")
    beta = said.mechanism.beta
    if own is None or own.delta <= 0:
        yield "a release of synthetic rows has a part that is the mechanism, with a delta"
        return
    inner = min(own.delta / beta, 1 - Fraction(1, 10**9))
    epsilon, delta = stated_guarantee("gaussian", said.mechanism.rho, inner, beta, again=True)
    if epsilon > own.epsilon or delta > own.delta:
        yield "the noise is too small for the stated epsilon and delta"


def read(folder: Path, said: SyntheticManifest, formats: Formats) -> PublishedSynthetic:
    """Read and recount the files. Raises VerificationFailed.

    Reads the smallest of the data files; the others must hold the same rows.
    """
    if not 0 < said.mechanism.beta <= 1 or (said.mechanism.certificate is None) != (said.data.rows == 0):
        raise VerificationFailed("the sampling rate is not in (0, 1], or there are rows without a certificate")
    listed, above = read_dictionary(folder / DICTIONARY), read_coarser(folder / COARSER)
    domains = domains_of(listed, above)
    columns, levels = _split(said, listed)
    if said.estimand is not None and not all(said.estimand.allows(each.column, each.labels) for each in listed):
        raise VerificationFailed(
            f"{DICTIONARY}: its values do not follow the treatment of invalid cells that the manifest states (estimand)"
        )
    measured = tuple(_read_tables(folder, said))
    total = _total(said, measured)
    if said.data.rows != (total if 0 < total <= MOST_SYNTHETIC_ROWS else 0):
        raise VerificationFailed(
            f"{MEASURED}: the number of rows in the manifest does not follow from its noisy totals"
        )
    ordered = tuple(each.ordered for each in said.data.columns)
    found = _rows(folder, said, formats, columns, ordered)
    _refuse_impossible(said, domains, found)
    distances = _distances(folder, comb(len(columns), 2) if said.mechanism.certificate is not None else 0)
    held = PublishedSynthetic(found, columns, ordered, levels, above, measured, distances)
    _refuse_large(said, released_variables(said, held))
    return held


def _refuse_large(said: SyntheticManifest, space: ReleasedVariables) -> None:
    """Refuse a model of the measured tables and impossible combinations with more cells than the policy allows."""
    tables = [*space.measured, *(table for table, _ in space.impossible)]
    if cells(space.domain, tables) > said.mechanism.model_cells:
        raise VerificationFailed("the measured tables need a larger model than the policy allows")


def _split(
    said: SyntheticManifest, listed: Sequence[DictionaryEntry]
) -> tuple[tuple[DictionaryEntry, ...], tuple[DictionaryEntry, ...]]:
    """Return the entries of dictionary.csv in two groups: columns of the rows, and columns at coarser levels."""
    stated = list(said.data.sizes.items())
    if stated != [((each.column, each.level), len(each.labels)) for each in listed]:
        raise VerificationFailed(f"{DICTIONARY}: its columns, levels or numbers of values differ from the manifest's")
    own = len(said.data.columns)
    return tuple(listed[:own]), tuple(listed[own:])


def _read_tables(folder: Path, said: SyntheticManifest) -> Iterator[NoisyTable]:
    """Yield the noisy counts, table after table; the rest of each line is written again and compared elsewhere."""
    sizes, lines = said.data.sizes, read_lines(folder / MEASURED, MEASURED_COLUMNS)
    counts = _whole_numbers(MEASURED, (line[-2] for line in lines))
    if len(counts) != sum(each.cells for each in said.mechanism.measured):
        raise VerificationFailed(f"{MEASURED}: its number of cells differs from the manifest's")
    ends = np.cumsum([each.cells for each in said.mechanism.measured])
    for stated, noisy in zip(said.mechanism.measured, np.split(counts, ends[:-1]), strict=True):
        yield NoisyTable(stated.named, noisy.reshape([sizes[axis] for axis in stated.named]))


def _distances(folder: Path, number: int) -> Integers:
    lines = read_lines(folder / CERTIFICATE, CERTIFICATE_COLUMNS)
    found = _whole_numbers(CERTIFICATE, (line[CERTIFICATE_COLUMNS.index("distance")] for line in lines))
    if len(found) != number:
        raise VerificationFailed(f"{CERTIFICATE}: it must have one line for every pair of columns")
    return found


def _whole_numbers(name: str, texts: Iterator[str]) -> Integers:
    found: list[int] = []
    for text in texts:
        if len(found) >= MOST_NUMBERS or len(text) > 20 or str(number := _number(text)) != text or abs(number) >= WHOLE:
            raise VerificationFailed(
                f"{name}: a cell is not a whole number as Crowdgate writes it, or there are too many numbers"
            )
        found.append(number)
    return np.array(found, dtype=np.int64)


def _number(text: str) -> int:
    return int(text) if text.removeprefix("-").isdecimal() and text.isascii() else WHOLE


def _total(said: SyntheticManifest, measured: Sequence[NoisyTable]) -> int:
    """Return the number of rows by the noisy tables: the mean of their totals, weighted by 1/variance, to the nearest
    whole number."""
    mechanism = said.mechanism
    weights = [1 / (mechanism.squared_sigma(each.rho) * each.cells) for each in mechanism.measured]
    sums = [weight * int(table.noisy.sum()) for weight, table in zip(weights, measured, strict=True)]
    return round(sum(sums, Fraction(0)) / sum(weights, Fraction(0)))


def _rows(
    folder: Path, said: SyntheticManifest, formats: Formats, columns: Sequence[DictionaryEntry], ordered: Sequence[bool]
) -> Histogram:
    for end in formats:
        if f"{rows.DATA}.{end}" not in said.files:
            raise VerificationFailed(f"{rows.DATA}.{end}: the file is missing")
    end = min(formats, key=lambda name: said.files[f"{rows.DATA}.{name}"].bytes)
    runs = RowRuns(f"{rows.DATA}.{end}", columns, said.data.classes)
    try:
        for piece in formats[end].read(folder / runs.file, rows.schema(columns, ordered), said.data.rows):
            runs.add(piece)
    except (pa.ArrowException, OSError, ValueError) as fault:
        raise VerificationFailed(f"{runs.file}: the file can't be read ({type(fault).__name__})") from None
    found = runs.histogram()
    if found.rows != said.data.rows or len(found) != said.data.classes:
        raise VerificationFailed(f"{runs.file}: its number of rows or classes differs from the manifest's")
    return found


def _refuse_impossible(said: SyntheticManifest, domains: ReleasedDomains, found: Histogram) -> None:
    """Refuse rows with a combination that the policy calls impossible: each of its columns has one of its values."""
    finest = {each.name: each.level for each in said.data.columns}
    for line in said.mechanism.impossible:
        held = np.ones(len(found), dtype=np.bool_)
        for name, values in line.items():
            level = next((each for each in _levels(said, name) if {*values} <= {*domains.labels(name, each)}), None)
            if level is None:
                raise VerificationFailed(
                    f"{DICTIONARY}: it lacks a value of a combination that the manifest calls impossible"
                )
            labels = np.array(domains.labels(name, level), dtype=object)
            codes = domains.codes(name, finest[name], level)[found.codes[found.names.index(name)]]
            held &= np.isin(labels, values)[codes]
        if held.any():
            raise VerificationFailed("the data have a row with a combination that the policy calls impossible")


def _levels(said: SyntheticManifest, name: str) -> list[str]:
    """Return the names of a column's levels, finest first."""
    return [level for column, level in said.data.sizes if column == name]


def output_candidate(said: SyntheticManifest, held: PublishedSynthetic) -> Candidate:
    """Return the candidate that output measures read: the certificate of the pairs of columns."""
    certified = certificate_of(said, held)
    pairs = None if certified is None else certified.summed_up
    return Candidate(static=static_of(said, {}, {}, 1), pairs=pairs)
