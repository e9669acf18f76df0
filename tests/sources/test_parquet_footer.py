"""Footers and headers of Parquet are understood alike in the usual form and in any other, and Arrow agrees."""

import io
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.sources import pages, parquet_footer, thrift
from crowdgate.sources.parquet_footer import FooterLimit, FooterWalk, footer_of
from tests.examples import examples

NEVER = re.compile(b"(?!)")
"""A pattern that nothing matches, so that everything is walked."""


def written(cells: list[str | None], names: list[str], **options: Any) -> bytes:
    file = io.BytesIO()
    numbers = pa.array([None if cell is None else len(cell) for cell in cells], pa.int64())
    columns = {name: numbers if at % 2 else pa.array(cells, pa.string()) for at, name in enumerate(names)}
    pq.write_table(pa.table(columns), file, **options)
    return file.getvalue()


files = st.builds(
    written,
    st.lists(st.none() | st.text("ab", max_size=20), max_size=9),
    st.lists(st.text("abc", min_size=1, max_size=60), min_size=1, max_size=4, unique=True),
    row_group_size=st.integers(1, 9),
    compression=st.sampled_from(["none", "snappy", "zstd"]),
    data_page_version=st.sampled_from(["1.0", "2.0"]),
    data_page_size=st.integers(1, 100),
    write_batch_size=st.just(1),
    use_dictionary=st.booleans(),
    write_statistics=st.booleans(),
    write_page_index=st.booleans(),
    write_page_checksum=st.booleans(),
)


def understood(content: bytes) -> Iterator[object]:
    """Yield what is understood of each row group of a file, and a fault's kind at the end."""
    try:
        footer = footer_of(content)
        yield from enumerate(FooterWalk(footer).groups(range(99)))
        stated = [element.get(parquet_footer.NAME) for element, _ in FooterWalk(footer).columns]
        names = [name.decode("utf-8", "replace") for name in stated if isinstance(name, bytes)]
        yield from pages.chunks_of(content, pages.places_of(footer, names))
    except ValueError as error:
        yield isinstance(error, FooterLimit)


def by_walk(content: bytes) -> list[object]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet_footer, "column_chunk", lambda: NEVER)
        patch.setattr(pages, "page_header", lambda: NEVER)
        return list(understood(content))


@settings(max_examples=examples(60), deadline=None)
@given(files)
def test_a_pattern_finds_what_a_walk_finds_and_what_arrow_states(content: bytes) -> None:
    found = list(understood(content))
    assert found == by_walk(content)
    metadata = pq.read_metadata(pa.BufferReader(content))
    groups = list(FooterWalk(footer_of(content)).groups(range(99)))
    for number, group in enumerate(groups):
        for at, said in enumerate(group):
            column = metadata.row_group(number).column(at)
            assert said[parquet_footer.VALUES] == column.num_values
            assert said[parquet_footer.DATA_AT] == column.data_page_offset
            assert said.get(parquet_footer.DICTIONARY_AT) == column.dictionary_page_offset
    assert len(groups) == metadata.num_row_groups


@settings(max_examples=examples(60), deadline=None)
@given(files, st.data())
def test_a_damaged_file_is_understood_alike_by_pattern_and_by_walk(content: bytes, data: st.DataObject) -> None:
    damaged = bytearray(content)
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(4, len(damaged) - 9))] = data.draw(st.integers(0, 255))
    assert list(understood(bytes(damaged))) == by_walk(bytes(damaged))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("change", [0x01, 0x10])
def test_each_byte_of_a_file_may_be_damaged(version: str, change: int) -> None:
    content = written(["ab", None, "ab"], ["x", "y"], data_page_version=version, compression="none")
    for at in range(4, len(content) - 8):
        damaged = content[:at] + bytes([content[at] ^ change]) + content[at + 1 :]
        assert list(understood(damaged)) == by_walk(damaged)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_footer_or_a_fault(footer: bytes) -> None:
    with suppress(ValueError):
        list(FooterWalk(footer).groups(range(9)))


SCHEMA = b"\x15\x02\x19\x2c\x48\x01s\x15\x02\x00\x15\x02\x38\x01x\x00"
"""The version, and a schema of one column of numbers."""


def grouped(groups: int, columns: int) -> bytes:
    """Return a footer of row groups, each of so many columns of which nothing is said."""
    listed = b"\x19\xfc" + bytes([columns]) + b"\0" * columns + b"\0"
    return SCHEMA + b"\x29\xfc" + bytes([groups]) + listed * groups + b"\0"


def test_columns_of_row_groups_are_limited_before_arrow_makes_objects_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(list(FooterWalk(grouped(100, 1)).groups(()))) == 100
    with pytest.raises(ValueError, match="other columns than the schema's"):
        list(FooterWalk(grouped(1, 100)).groups(()))
    monkeypatch.setattr(parquet_footer, "MOST_CHUNKS", 99)
    with pytest.raises(FooterLimit, match="more than 99 columns together"):
        list(FooterWalk(grouped(100, 1)).groups(()))


def test_items_of_lists_are_limited_whatever_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thrift, "MOST_ITEMS", 99)
    for items in (b"\x19\xfc\x64" + b"\0" * 100, b"\x19\xf8\x64" + b"\0" * 100, b"\x1b\x64\x88" + b"\0" * 200):
        with pytest.raises(ValueError, match="more than 99 items"):
            thrift.parse(items + b"\0", {})
    numbers = b"\x19\xf5\x64" + b"\0" * 101
    assert thrift.parse(numbers, {}).size == len(numbers)


def test_columns_of_a_schema_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_footer, "MOST_COLUMNS", 3)
    footer = footer_of(written(["a"], list("abcd")))
    parquet_footer._columns_of.cache_clear()
    with pytest.raises(FooterLimit, match="more than 3 columns"):
        FooterWalk(footer)


def test_fields_are_limited_for_a_struct_and_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    many = b"\x11" * thrift.MOST_FIELDS_OF_STRUCT
    either: tuple[thrift.Kept, ...] = ({}, {1: {}})
    for kept in either:
        assert thrift.parse(b"\x1c" + many + b"\0\0", kept).size == len(many) + 3
        with pytest.raises(ValueError, match="more fields"):
            thrift.parse(b"\x1c\x11" + many + b"\0\0", kept)
    with pytest.raises(ValueError, match="more fields"):
        list(thrift.ThriftCursor(many + b"\x11\0").heads())
    monkeypatch.setattr(thrift, "MOST_FIELDS", 99)
    for structs in (b"\x1c\x11\0" * 50, b"\x19\xfc\x32" + b"\x11\0" * 50 + b"\x11" * 50):
        with pytest.raises(ValueError, match="more fields"):
            thrift.parse(structs + b"\0", {})


def varint(number: int) -> bytes:
    """Return a number with its sign as Thrift writes it."""
    left, found = (number << 1) ^ (number >> 127), b""
    while left > 0x7F:
        found, left = found + bytes([left & 0x7F | 0x80]), left >> 7
    return found + bytes([left])


@pytest.mark.parametrize(("kind", "bits"), [(4, 15), (5, 31), (6, 63)])
def test_numbers_are_those_that_their_type_holds(kind: int, bits: int) -> None:
    """Arrow cuts a number to its type, so that a greater one would be another one there."""
    for number in (0, -1, 1, (1 << bits) - 1, -(1 << bits)):
        assert thrift.parse(bytes([0x10 | kind]) + varint(number) + b"\0", {1: kind}).fields == {1: number}
    for number in (1 << bits, -(1 << bits) - 1, (1 << bits + 1) + 5):
        with pytest.raises(ValueError, match="beyond its type"):
            thrift.parse(bytes([0x10 | kind]) + varint(number) + b"\0", {1: kind})


@pytest.mark.parametrize("number", [0, -1, 1 << 15, (1 << 16) + 1])
def test_fields_have_numbers_of_16_bits(number: int) -> None:
    """Arrow cuts them to 16 bits, so that field 65,537 would be field 1 there."""
    field = b"\x05" + varint(number) + varint(7) + b"\0"
    with pytest.raises(ValueError, match="a number that none has"):
        thrift.parse(field, {1: thrift.I32})
    with pytest.raises(ValueError, match="a number that none has"):
        list(thrift.ThriftCursor(field).heads())


@pytest.mark.parametrize("at", range(3))
def test_a_header_with_a_number_beyond_32_bits_matches_no_pattern(at: int) -> None:
    def header(*said: int) -> bytes:
        size, compressed, values = map(varint, said)
        return b"\x15\0\x15" + size + b"\x15" + compressed + b"\x2c\x15" + values + b"\x15\0\x15\0\x15\0\0\0"

    said = [10, 10, 5]
    assert pages._usual_page(header(*said), 0) is not None
    said[at] = 1 << 32
    assert pages._usual_page(header(*said), 0) is None


@pytest.mark.parametrize("kept", [thrift.I32, thrift.I64, thrift.BINARY, {}])
def test_a_field_has_its_own_type(kept: thrift.Kept | int) -> None:
    """Arrow passes over a field of another type, so a number that is found there would be one that it does not use."""
    for kind in range(1, 13):
        data = bytes([0x10 | kind]) + b"\x02" * 9 + b"\0" * 20
        if kind == (kept if isinstance(kept, int) else thrift.STRUCT):
            with suppress(ValueError):
                thrift.parse(data, {1: kept})
        else:
            with pytest.raises(ValueError, match="another type than its own"):
                thrift.parse(data, {1: kept})


@pytest.mark.parametrize("between", [b"", b"\x16\x02", b"\x16\x02\x16\x08", b"\x26\x08", b"\x06\x16\x08", b"\x36\x02"])
def test_a_pattern_overlooks_no_place_of_a_dictionary(between: bytes) -> None:
    """Between the place of the data and the end there may be fields 10, 11 and later ones, in any form."""
    meta = b"\x15\x0c\x19\x25\x00\x10\x19\x18\x01a\x15\x00\x16\x02\x16\x02\x16\x02\x26\x64" + between + b"\0"
    group = b"\x19\x1c\x26\x08\x1c" + meta + b"\0\0"
    footer = SCHEMA + b"\x29\x1c" + group + b"\0"
    (((found,),)) = (list(FooterWalk(footer).groups({0})),)
    (said,) = found
    has_dictionary = between in (b"\x16\x02\x16\x08", b"\x26\x08", b"\x06\x16\x08")
    assert said.get(parquet_footer.DICTIONARY_AT) == (4 if has_dictionary else None)
    assert said[parquet_footer.DATA_AT] == 50
