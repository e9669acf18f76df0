"""Tables in an object store: the same counts as the file's, keys from the environment only, no secret in errors."""

import datetime as dt
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from crowdgate.contracts.contract import Contract, Server
from crowdgate.errors import CrowdgateError, EnvironmentFault, FileFault
from crowdgate.sources import SOURCES, open_source, s3
from tests.sources.s3_server import Objects, object_store
from tests.sources.table_files import WRITERS
from tests.sources.test_formats import WARDS, columns_of, counted, form, table_at, write_parts
from tests.workshop import MARK

ROWS = [(f"p{i}", WARDS.labels[i % 9], i, 0.5, dt.date(2024, 1, 5)) for i in range(30)]


@pytest.fixture
def objects(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Objects, str]]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "reader")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", f"secret{MARK}")
    found: Objects = {}
    with object_store(found) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        yield found, url
    s3.store.cache_clear()


def at(url: str, place: str, kind: str) -> Contract:
    contract = table_at(Path(), kind)
    settings = {"location": f"s3://{place}", "endpointUrl": url, **contract.server.settings}
    del settings["path"]
    object.__setattr__(contract, "server", Server(f"s3 {kind}", settings, Path()))
    return contract


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["parquet", "csv", "zst", "arrow", "arrow stream"])
def test_an_object_counts_as_its_file(name: str, objects: tuple[Objects, str], tmp_path: Path) -> None:
    there, url = objects
    contract = form(name, tmp_path, columns_of(ROWS))
    path = contract.server.path
    there[f"bucket/tables/{path.name}"] = path.read_bytes()
    remote = at(url, f"bucket/tables/{path.name}", WRITERS[name][0])
    assert counted(remote) == counted(contract)
    header = SOURCES[remote.server.reader].header
    assert header(remote).names == SOURCES[contract.server.reader].header(contract).names


@pytest.mark.thorough
def test_a_prefix_is_a_partitioned_folder(objects: tuple[Objects, str], tmp_path: Path) -> None:
    there, url = objects
    columns = columns_of(ROWS)
    write_parts(tmp_path / "parts", columns, "parquet")
    for path in (tmp_path / "parts").rglob("*.parquet"):
        there[f"bucket/t/{path.relative_to(tmp_path / 'parts').as_posix()}"] = path.read_bytes()
    there["bucket/t/_SUCCESS"] = b""
    assert counted(at(url, "bucket/t/", "parquet")) == counted(form("parquet", tmp_path / "one", columns))


def test_an_object_that_changes_while_it_is_read_is_refused(objects: tuple[Objects, str], tmp_path: Path) -> None:
    there, url = objects
    text = form("csv", tmp_path, columns_of(ROWS)).server.path.read_bytes()
    there["bucket/t.csv"] = text
    source = open_source(at(url, "bucket/t.csv", "csv"), ["ward"])
    before = source.fingerprint()
    there["bucket/t.csv"] = text.replace(b"p1", b"p2")
    assert source.fingerprint() != before
    with pytest.raises(FileFault, match="changed while it was read"):
        list(source.parts[0].read(["ward"], []))


def test_what_the_store_refuses_is_one_error_without_keys(
    objects: tuple[Objects, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, url = objects
    said = [refused(at(url, f"bucket/{MARK}.csv", "csv"), FileFault)]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    s3.store.cache_clear()
    said.append(refused(at(url, f"bucket/{MARK}.csv", "csv"), EnvironmentFault))
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    s3.store.cache_clear()
    said.append(refused(at(url, f"bucket/{MARK}.csv", "csv"), EnvironmentFault))
    assert "AWS_SECRET_ACCESS_KEY" in said[2]
    with pytest.raises(FileNotFoundError):  # a warning of check
        SOURCES["s3 csv"].header(at(url, f"bucket/{MARK}.csv", "csv"))
    assert not any(MARK in each for each in said)


def refused(contract: Contract, kind: type[CrowdgateError]) -> str:
    with pytest.raises(kind) as caught:
        counted(contract)
    return "".join(traceback.format_exception(caught.value))
