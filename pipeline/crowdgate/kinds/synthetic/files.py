"""The files of a release of synthetic rows: rows, the noisy tables behind them, and their distances from the source
table."""

from collections.abc import Iterator, Mapping
from math import ceil, floor, sqrt

import numpy as np
import pyarrow as pa

from crowdgate.formats import Format
from crowdgate.formats.byte_compare import Writer
from crowdgate.kind.kind import Formats
from crowdgate.kinds.synthetic.certificate import Certificate
from crowdgate.kinds.synthetic.certificate_picture import write_picture
from crowdgate.kinds.synthetic.manifest_fields import SyntheticManifest
from crowdgate.kinds.synthetic.plan import SyntheticPlan
from crowdgate.kinds.synthetic.released_files import PublishedSynthetic
from crowdgate.mechanisms.synthetic.rounds import PRICES
from crowdgate.publish import rows
from crowdgate.publish.dictionary import DICTIONARY, write_dictionary, write_lines
from crowdgate.publish.levels import COARSER, COARSER_COLUMNS

MEASURED = "measured.csv"
AXES = 3
"""Largest number of columns of a measured table."""
MEASURED_COLUMNS = (
    "table", "round", *(f"{what}_{at}" for at in range(1, AXES + 1) for what in ("column", "level", "label")),
    "count", "sigma",
)  # fmt: skip
_MOST_NOISE = 10_000
"""Synthetic rows beyond twice those of the table, where the noisy number of rows of a small table is too large."""
CERTIFICATE = "certificate.csv"
CERTIFICATE_COLUMNS = (
    "column", "other_column", "cells", "distance", "sigma", "error", "lower", "upper", "trustworthy",
)  # fmt: skip
PICTURE = "pairs.svg"


def files(said: SyntheticManifest, held: PublishedSynthetic, formats: Formats) -> Mapping[str, Writer]:
    """Return a writer for each file, by its name: the rows in each format, their columns at all levels, the noisy
    tables, and the certificate with its picture."""
    schema = rows.schema(held.columns, held.ordered)
    certified = certificate_of(said, held)
    return {
        **{f"{rows.DATA}.{name}": _writer(each, held, schema) for name, each in formats.items()},
        DICTIONARY: lambda into: write_dictionary((*held.columns, *held.levels), into),
        COARSER: lambda into: write_lines(into, COARSER_COLUMNS, held.coarser),
        MEASURED: lambda into: write_lines(into, MEASURED_COLUMNS, measured_lines(said, held)),
        CERTIFICATE: lambda into: write_lines(into, CERTIFICATE_COLUMNS, certificate_lines(held, certified)),
        PICTURE: lambda into: write_picture(into, [each.column for each in held.columns], certified),
    }


def certificate_of(said: SyntheticManifest, held: PublishedSynthetic) -> Certificate | None:
    """Return the certificate made of the noisy distances between rows and table; None if there are no rows."""
    mechanism = said.mechanism
    if mechanism.certificate is None:
        return None
    sigma = mechanism.squared_sigma(mechanism.certificate / len(held.pairs))
    cells = [len(one.labels) * len(other.labels) for one, other in held.pairs]
    rows, of_rows = said.data.rows, mechanism.rows_variance
    return Certificate(held.distances, sigma, cells, rows, of_rows, mechanism.beta, mechanism.pair_error)


def measured_lines(said: SyntheticManifest, held: PublishedSynthetic) -> Iterator[list[object]]:
    """Yield a line for each cell of each noisy table, in the order of their measurement."""
    labels = {(each.column, each.level): each.labels for each in (*held.columns, *held.levels)}
    for number, (stated, table) in enumerate(zip(said.mechanism.measured, held.measured, strict=True), start=1):
        sigma = f"{sqrt(said.mechanism.squared_sigma(stated.rho)):.6g}"
        empty = [""] * (3 * (AXES - len(table.axes)))
        for cell, count in np.ndenumerate(table.noisy):
            axes = [each for axis, code in zip(table.axes, cell, strict=True) for each in (*axis, labels[axis][code])]
            yield [number, stated.round, *axes, *empty, int(count), sigma]


def certificate_lines(held: PublishedSynthetic, certified: Certificate | None) -> Iterator[list[object]]:
    """Yield a line for each pair of columns; none if there are no rows."""
    if certified is None:
        return
    sigma = f"{sqrt(certified.squared_sigma):.6g}"
    found = zip(certified.errors, certified.lower, certified.upper, certified.trustworthy, strict=True)
    for (one, other), distance, (error, lower, upper, trusted) in zip(held.pairs, held.distances, found, strict=True):
        shares = (f"{max(0.0, error):.6f}", *_limits_text(lower, upper), str(bool(trusted)).lower())
        yield [one.column, other.column, len(one.labels) * len(other.labels), int(distance), sigma, *shares]


def _limits_text(lower: float, upper: float) -> tuple[str, str]:
    """Return the limits of an interval as text with six decimals, rounded outwards."""
    return f"{floor(1e6 * lower) / 1e6:.6f}", f"{ceil(1e6 * upper) / 1e6:.6f}"


def _writer(into: Format, held: PublishedSynthetic, schema: pa.Schema) -> Writer:
    return lambda sink: into.write(sink, schema, _pieces(held, schema))


def _pieces(held: PublishedSynthetic, schema: pa.Schema) -> Iterator[pa.Table]:
    for part in rows.parts(held.rows):
        made = [rows.column(part, each, schema.field(each.column).type) for each in held.columns]
        yield pa.table(made, schema=schema)


def most_lines(mechanism: SyntheticPlan, rows: int) -> tuple[int, int]:
    """Return the greatest numbers of synthetic rows and of noisy numbers with pairs, for a table of `rows` rows. The
    number of synthetic rows is noisy, so it may exceed that of the table.
    """
    drawing = mechanism.mechanism.drawing
    size = drawing.domain.cells
    largest = sorted(map(size, drawing.candidates), reverse=True)[: PRICES * len(drawing.domain.attributes)]
    pairs = len(drawing.domain.attributes) ** 2
    return 2 * rows + _MOST_NOISE, sum(map(size, drawing.one_ways)) + sum(largest) + 2 * pairs
