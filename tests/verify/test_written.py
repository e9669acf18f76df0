"""Comparison of a file with the output of its writer."""

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdgate.formats.byte_compare import same

on_disk = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
parts = st.lists(st.binary(max_size=20), max_size=5)


def writer(portions: list[bytes]) -> Callable[[BinaryIO], None]:
    def write(into: BinaryIO) -> None:
        for portion in portions:
            assert into.write(portion) == len(portion)

    return write


def held(folder: Path, data: bytes) -> Path:
    path = folder / "file"
    path.write_bytes(data)
    return path


@on_disk
@given(portions=parts, more=st.binary(min_size=1, max_size=9))
def test_a_file_is_the_same_only_with_the_same_bytes(tmp_path: Path, portions: list[bytes], more: bytes) -> None:
    whole = b"".join(portions)
    assert same(held(tmp_path, whole), writer(portions))
    assert not same(held(tmp_path, whole + more), writer(portions))
    assert not same(held(tmp_path, whole), writer([*portions, more]))


@on_disk
@given(portions=parts.filter(any), at=st.integers(min_value=0), bit=st.integers(0, 7))
def test_one_changed_bit_is_found_wherever_it_is(tmp_path: Path, portions: list[bytes], at: int, bit: int) -> None:
    whole = bytearray(b"".join(portions))
    whole[at % len(whole)] ^= 1 << bit
    assert not same(held(tmp_path, bytes(whole)), writer(portions))


def test_writing_ends_at_the_first_difference(tmp_path: Path) -> None:
    def write(into: BinaryIO) -> None:
        into.write(b"ab")
        raise AssertionError("written on after a difference")

    assert not same(held(tmp_path, b"ax"), write)


def test_a_fault_of_the_writer_is_no_difference(tmp_path: Path) -> None:
    def write(_: BinaryIO) -> None:
        raise KeyError("a fault")

    with pytest.raises(KeyError):
        same(held(tmp_path, b""), write)
