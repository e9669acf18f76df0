"""Encoding of cells as domain codes, through their text, for any primitive type of the file.

A cell that is not in the domain, or against a row rule, is invalid: it gets the attribute's invalid level, or its row
is dropped. No cell content raises an exception.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crowdgate.arrays import Array, Bools, Codes, Integers, marked_rows
from crowdgate.contracts.cell_form import ISO, POINT
from crowdgate.contracts.contract import Attribute
from crowdgate.domain import INVALID, Domain, day_of, parse_number
from crowdgate.histogram import Column
from crowdgate.limits import LONGEST_CELL

_EXACT_FLOAT = float(2**53)
LONG = 2**63
"""Bound on whole numbers of 64 bits."""
_NO_UTF8 = b"\xff"


class Reason(StrEnum):
    """The reason why a cell is invalid."""

    MISSING = "missing"
    """No value, or a float that is no number."""
    UNREADABLE = "unreadable"
    """No UTF-8, longer than any public value, or no number or day in a domain of numbers or days."""
    OUTSIDE = "outside the domain"
    RULE = "against a row rule"


Reasons = Mapping[Reason, int]
"""The number of invalid cells by reason."""


@dataclass(frozen=True, eq=False)
class EncodedColumn:
    """A column of domain codes, and marks of the rows whose cell is invalid (None: no row), with the reasons.

    An invalid cell has code `domain.size` if the attribute has an invalid level. Otherwise its row is to be dropped,
    and its code is 0 so that every code is one of the hierarchy's. `held` are the codes that valid cells may have: for
    a dictionary, those of all its valid values, including unused ones.
    """

    column: Column
    invalid: Bools | None
    held: Codes
    reasons: Reasons = field(default_factory=dict)


def invalid_code(attribute: Attribute, domain: Domain) -> int:
    """Return the code of an attribute's invalid cells: `domain.size` if it has an invalid level, otherwise 0, as the
    row is dropped.
    """
    return domain.size if attribute.invalid == "level" else 0


def encode(cells: Any, attribute: Attribute, counts: Integers | None = None) -> EncodedColumn:
    """Return an attribute's cells (one Arrow array) as domain codes; each cell is of as many rows as `counts` says
    (None: one). Raises ValueError if the attribute has no domain, but not for any cell.
    """
    if attribute.domain is None:
        raise ValueError(f"attribute {attribute.name!r} has no domain: it cannot be read as codes")
    cells = plain(cells)
    whole = _whole_numbers(cells) if _unit_steps(attribute.domain) else None
    if whole is not None:
        return _by_range(*whole, attribute, attribute.domain, counts)
    return _by_dictionary(cells, attribute, attribute.domain, counts)


def plain(cells: Any) -> Any:
    """Return the Arrow array with types that Arrow's kernels know, in place of extensions, views, half floats and
    nulls.
    """
    kind = cells.type
    if kind == pa.uuid():
        return _uuid_texts(cells.storage)
    if isinstance(kind, pa.BaseExtensionType):
        return plain(cells.storage)
    if pa.types.is_null(kind):
        return pa.nulls(len(cells), pa.binary())
    if pa.types.is_float16(kind):
        return cells.cast(pa.float32())
    if kind in (pa.string_view(), pa.binary_view()):
        return cells.cast(pa.large_binary())
    return cells


def _uuid_texts(cells: Any) -> Any:
    encoded = cells.dictionary_encode()
    names = [None if cell is None else str(UUID(bytes=cell)) for cell in encoded.dictionary.to_pylist()]
    return pa.array(names, pa.string()).take(encoded.indices)


def texts(values: Any) -> list[str | None]:
    """Return the text of each value. Invalid UTF-8 becomes lone surrogates, which no domain holds, as does text that is
    too long. NaN becomes None.
    """
    kind = values.type
    if pa.types.is_floating(kind):
        return _float_texts(values)
    if is_text(kind):
        raw = shortened(values.cast(pa.large_binary()), LONGEST_CELL, _NO_UTF8).to_pylist()
        return [None if cell is None else cell.decode("utf-8", "surrogateescape") for cell in raw]
    try:
        cells: list[str | None] = values.cast(pa.string()).to_pylist()
    except (pa.ArrowException, ValueError):
        return [None] * len(values)
    return cells


def shortened(cells: Any, longest: int, instead: bytes | None) -> Any:
    """Return the cells (bytes), with `instead` in place of those of more than `longest` bytes."""
    long = too_long(cells, longest)
    return pc.if_else(long, pa.scalar(instead, cells.type), cells) if long.true_count else cells


def too_long(cells: Any, longest: int) -> Any:
    """Return marks of the cells of more than `longest` bytes."""
    return pc.greater(pc.binary_length(cells), longest)


def is_text(kind: Any) -> bool:
    """Return whether cells of this Arrow type are text or bytes already."""
    return any(
        test(kind)
        for test in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_binary,
            pa.types.is_large_binary,
            pa.types.is_fixed_size_binary,
        )
    ) and not pa.types.is_decimal(kind)


def _float_texts(values: Any) -> list[str | None]:
    """Return the shortest texts of floats; whole numbers as integers, since one null turns an integer column into
    floats.
    """
    return [_float_text(value, text) for value, text in zip(values.to_pylist(), _cast_texts(values), strict=True)]


def _cast_texts(values: Any) -> list[str | None]:
    cells: list[str | None] = values.cast(pa.string()).to_pylist()
    return cells


def _float_text(value: float | None, text: str | None) -> str | None:
    if value is None or not np.isfinite(value):
        return None
    return str(int(value)) if value.is_integer() and abs(value) <= _EXACT_FLOAT else text


def _unit_steps(domain: Domain) -> bool:
    """Return whether the values of the domain are consecutive integers that fit 32 bits."""
    grid = domain.grid
    if grid is None or grid.unit != 1 or grid.first.denominator != 1:
        return False
    return max(abs(grid.first), abs(grid.greatest)) < 2**31


def _whole_numbers(cells: Any) -> tuple[Array, Bools | None] | None:
    """Return a column's whole numbers, and marks of the cells that hold one (None: all do); None for a column that is
    not of whole numbers.
    """
    kind = cells.type
    if pa.types.is_floating(kind):
        return _whole_floats(cells)
    if not pa.types.is_integer(kind) or kind == pa.uint64():
        return None
    valid = _valid(cells)
    return (cells if valid is None else cells.fill_null(0)).to_numpy(zero_copy_only=False), valid


def _whole_floats(cells: Any) -> tuple[Array, Bools] | None:
    values = cells.fill_null(np.nan).to_numpy(zero_copy_only=False)
    valid = np.isfinite(values)
    values = np.where(valid, values, 0)
    if (np.abs(values) > _EXACT_FLOAT).any() or (np.floor(values) != values).any():
        return None
    return values.astype(np.int64), valid


def _valid(cells: Any) -> Bools | None:
    if cells.null_count == 0:
        return None
    valid: Bools = cells.is_valid().to_numpy(zero_copy_only=False)
    return valid


def _by_range(
    values: Array, valid: Bools | None, attribute: Attribute, domain: Domain, counts: Integers | None
) -> EncodedColumn:
    """Return the codes of whole numbers in a domain of consecutive integers, by subtracting the least one, without
    hashing and text.
    """
    assert domain.grid is not None
    grid, low, high = domain.grid, int(domain.grid.first), int(domain.grid.greatest)
    invalid = np.zeros(len(values), dtype=np.bool_) if valid is None else ~valid
    if domain.missing_numbers:
        invalid |= np.isin(
            values, [int(each) for each in domain.missing_numbers if each.denominator == 1 and -LONG < each < LONG]
        )
    missing = marked_rows(invalid, counts)
    if len(values) and (values.min() < low or values.max() > high):
        wide = values.astype(np.int64)
        invalid |= (wide < low) & (not grid.bottom)
        invalid |= (wide > high) & (not grid.top)
        values = np.clip(wide, low, high)
    unfit = marked_rows(invalid, counts)
    codes = np.subtract(values, low, dtype=np.int32, casting="unsafe")
    if attribute.accepted is not None:
        invalid |= ~attribute.accepted[codes]
    broken = marked_rows(invalid, counts)
    held = _distinct(codes[~invalid] if broken else codes)
    codes[invalid] = invalid_code(attribute, domain)
    reasons = {Reason.MISSING: missing, Reason.OUTSIDE: unfit - missing, Reason.RULE: broken - unfit}
    return EncodedColumn(Column(codes), invalid if broken else None, held, reasons)


def _distinct(codes: Codes) -> Codes:
    return np.flatnonzero(np.bincount(codes)).astype(np.int32)


def _by_dictionary(cells: Any, attribute: Attribute, domain: Domain, counts: Integers | None) -> EncodedColumn:
    """Return the codes of cells by a lookup from their distinct values, each of which is mapped once."""
    encoded = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
    values = plain(encoded.dictionary)
    held = _usual_texts(values, attribute, domain)
    indices, codes = _indices(encoded, _accepted(domain.codes(held), attribute))
    bad = codes == INVALID
    invalid = bad[indices] if bad.any() else None
    lookup = np.where(bad, np.int32(invalid_code(attribute, domain)), codes)
    if invalid is None or not invalid.any():
        return EncodedColumn(Column(indices, lookup), None, codes[~bad])
    # a null points at a further entry
    reasons = _reasons(indices[invalid], None if counts is None else counts[invalid], [*held, None], domain)
    return EncodedColumn(Column(indices, lookup), invalid, codes[~bad], reasons)


def _usual_texts(values: Any, attribute: Attribute, domain: Domain) -> list[str | None]:
    """Return the text of each value in the usual form. Cells with a type state numbers and days in one way, and have no
    first characters: numbers lack the zeros before them."""
    if is_text(values.type):
        return attribute.form.usual(texts(values), domain)
    if attribute.form.first is not None:
        return [_NO_UTF8.decode("utf-8", "surrogateescape")] * len(values)
    return replace(attribute.form, decimal_mark=POINT, day=ISO).usual(texts(values), domain)


def _reasons(places: Array, counts: Integers | None, held: Sequence[str | None], domain: Domain) -> Reasons:
    """Return the number of invalid cells by reason; `places` are the indices of their texts in `held`."""
    found: Counter[Reason] = Counter()
    totals = np.zeros(len(held), dtype=np.int64)
    np.add.at(totals, places, 1 if counts is None else counts)
    for place in np.flatnonzero(totals).tolist():
        found[_reason(held[place], domain)] += int(totals[place])
    return found


def _reason(text: str | None, domain: Domain) -> Reason:
    """Return the reason why a cell with this text (None: missing), which the column does not accept, is invalid."""
    if text is None or not text.strip() or domain.is_missing(text):
        return Reason.MISSING
    if domain.code(text) != INVALID:
        return Reason.RULE
    numeric, days = domain.grid is not None, domain.first_day is not None
    unread = (numeric and parse_number(text) is None) or (days and day_of(text) is None)
    return Reason.UNREADABLE if unread or not _is_utf8(text) else Reason.OUTSIDE


def _is_utf8(text: str) -> bool:
    """Return whether a text came from valid UTF-8: invalid bytes are lone surrogates in it."""
    return text.encode(errors="replace").decode() == text


def _indices(encoded: Any, codes: Codes) -> tuple[Array, Codes]:
    """Return the index of each cell among the dictionary's values, and their codes. Nulls get an additional, invalid
    code; without any, nothing is copied.
    """
    valid = _valid(encoded.indices)
    if valid is None:
        return encoded.indices.to_numpy(zero_copy_only=False), codes
    filled = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return np.where(valid, filled, len(codes)), np.append(codes, np.int32(INVALID))


def _accepted(codes: Codes, attribute: Attribute) -> Codes:
    if attribute.accepted is None:
        return codes
    accepted = np.append(attribute.accepted, False)
    return np.where(accepted[codes], codes, np.int32(INVALID))
