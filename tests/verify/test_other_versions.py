"""A release stays verifiable where another version of pyarrow is installed, as long as that writes the same data."""

import io
import re
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from crowdgate.errors import VerificationFailed
from crowdgate.formats.parquet import same_bytes_but_writer, write
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.releases import release as job
from crowdgate.verification.release import verify
from tests.forging import reseal
from tests.workshop import make_workshop


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workshop = make_workshop(tmp_path_factory.mktemp("versions") / "w")
    found = job.release(Request(workshop.policy, "2030-01-01"), draw_key).path
    assert found is not None
    return found


def rewritten(published: Path, copy: Path, change: Callable[[bytes], bytes]) -> Path:
    """A copy whose Parquet file is changed behind its data, sealed again."""
    shutil.copytree(published, copy)
    whole = (copy / "data.parquet").read_bytes()
    begins = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    footer = change(whole[begins:-8])
    (copy / "data.parquet").write_bytes(whole[:begins] + footer + len(footer).to_bytes(4, "little") + whole[-4:])
    reseal(copy)
    return copy


def _by(writer: bytes) -> Callable[[bytes], bytes]:
    """The footer with another writer; a text of less than 128 bytes has one byte of length before it."""

    def change(footer: bytes) -> bytes:
        (found,) = re.findall(rb"parquet-cpp-arrow version [0-9.]+", footer)
        return footer.replace(bytes([len(found)]) + found, bytes([len(writer)]) + writer)

    return change


@pytest.mark.parametrize("writer", [b"parquet-cpp-arrow version 26.0.99", b"parquet-cpp-arrow version 126.10.0"])
def test_a_file_of_another_version_that_writes_the_same_data_is_accepted(
    published: Path, tmp_path: Path, writer: bytes
) -> None:
    assert verify(rewritten(published, tmp_path / "copy", _by(writer)))


@pytest.mark.parametrize(
    "writer", [b"Alice has HIV", b"parquet-cpp-arrow version 26.0.1 (Alice)", b"parquet-cpp-arrow version 26.0.0001"]
)
def test_anything_else_in_place_of_the_version_is_refused(published: Path, tmp_path: Path, writer: bytes) -> None:
    with pytest.raises(
        VerificationFailed,
        match=r"step 6, contents: data\.parquet: its bytes differ from those that Crowdgate would write",
    ):
        verify(rewritten(published, tmp_path / "copy", _by(writer)))


def test_a_footer_that_says_more_is_refused(published: Path, tmp_path: Path) -> None:
    """The addition is a field that readers skip, after the last one: header, length and text, before the end of the
    struct.
    """
    for more in (b"\x58\x05Alice\x00", b"\x00Alice"):
        with pytest.raises(VerificationFailed, match="step 6, contents"):
            verify(rewritten(published, tmp_path / more.hex(), lambda footer, more=more: footer[:-1] + more))  # type: ignore[misc]


@pytest.mark.parametrize(("described", "accepted"), [(True, True), (["ward"], False), (False, False)])
def test_statistics_are_those_of_the_first_column_or_of_all_as_in_earlier_versions(
    published: Path, tmp_path: Path, described: bool | list[str], accepted: bool
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(published, copy)
    held = pq.ParquetFile(copy / "data.parquet", read_dictionary=["age", "ward"])
    group = held.metadata.row_group(0)
    assert [group.column(place).is_stats_set for place in range(2)] == [True, False]
    pieces = held.read()
    with pq.ParquetWriter(
        copy / "data.parquet", pieces.schema, compression="none", store_schema=False, write_statistics=described
    ) as out:
        out.write_table(pieces)
    reseal(copy)
    with nullcontext() if accepted else pytest.raises(VerificationFailed, match="its bytes differ"):
        verify(copy)


def test_a_file_that_is_only_compared_is_not_parsed(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some damaged footers abort a process that parses them, and of several data files only one is read."""
    honest = pq.ParquetFile

    def of_own_bytes(source: object, **settings: object) -> object:
        assert isinstance(source, io.BytesIO)
        return honest(source, **settings)

    held = pq.read_table(published / "data.parquet").slice(1)
    for place in (pq, pq.core):
        monkeypatch.setattr(place, "ParquetFile", of_own_bytes)
    assert not same_bytes_but_writer(published / "data.parquet", lambda into: write(into, held.schema, [held]))
