"""Tables in an object store: the same counts as the file's, keys from the environment only, no secret in errors."""

import datetime as dt
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

from crowdgate.contracts.contract import Contract, Server
from crowdgate.errors import CrowdgateError, EnvironmentFault, FileFault
from crowdgate.histogram import View
from crowdgate.sources import LOCATION, SOURCES, files, open_source, parquet, s3
from crowdgate.sources.counting import CountingTask, count_table
from crowdgate.sources.workers import executor_of
from tests.sources import s3_server
from tests.sources.s3_server import Objects, object_store
from tests.sources.table_files import WRITERS
from tests.sources.test_formats import EXACT, WARDS, columns_of, counted, form, table_at, write_parts
from tests.sources.test_sources import everything_said
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


def test_a_contract_without_an_endpoint_names_the_store_of_the_environment(
    objects: tuple[Objects, str], tmp_path: Path
) -> None:
    there, _ = objects
    contract = form("csv", tmp_path, columns_of(ROWS))
    there["bucket/t.csv"] = contract.server.path.read_bytes()
    assert counted(at("", "bucket/t.csv", "csv")) == counted(contract)


@pytest.mark.usefixtures("objects")
def test_a_store_that_a_contract_alone_names_gets_no_keys() -> None:
    """Planted: another server, which keeps what it is sent."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        other = f"http://127.0.0.1:{listener.getsockname()[1]}"
        said = refused(at(other, "bucket/t.csv", "csv"), EnvironmentFault)
        with suppress(TimeoutError):
            asked.append(listener.accept()[0].recv(4096))
    assert asked == []
    assert f"set AWS_ENDPOINT_URL={other}" in said


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


def test_an_object_without_an_etag_is_refused(objects: tuple[Objects, str], monkeypatch: pytest.MonkeyPatch) -> None:
    there, url = objects
    there["bucket/t.csv"] = b"ward\nnorth\n"
    monkeypatch.setattr(s3_server, "TAG", "X-Other")
    assert "states no ETag" in refused(at(url, "bucket/t.csv", "csv"), FileFault)


def test_objects_in_folders_that_state_no_column_are_not_left_out(objects: tuple[Objects, str], tmp_path: Path) -> None:
    there, url = objects
    data = form("csv", tmp_path, columns_of(ROWS)).server.path.read_bytes()
    there.update({"bucket/t/a.csv": data, "bucket/t/_log/b.csv": data, "bucket/t/.old/b.csv": data})
    contract = at(url, "bucket/t/", "csv")
    assert counted(contract) == counted(at(url, "bucket/t/a.csv", "csv"))
    there[f"bucket/t/{MARK}/b.csv"] = data
    assert "not named column=value" in refused(contract, FileFault)
    assert MARK not in refused(contract, FileFault)


def test_an_input_in_place_of_an_object_has_the_delimiter_of_the_contract(
    objects: tuple[Objects, str], tmp_path: Path
) -> None:
    _, url = objects
    contract, remote = form("csv", tmp_path, columns_of(ROWS)), at(url, "bucket/t.csv", "csv")
    path = contract.server.path
    whole = counted(contract)
    pyarrow.csv.write_csv(pa.table(columns_of(ROWS)), path, pyarrow.csv.WriteOptions(delimiter=";"))
    object.__setattr__(remote.server, "settings", {**remote.server.settings, "delimiter": ";"})
    assert counted(remote, path) == whole


@pytest.mark.parametrize("location", ["bucket//t.csv", "bucket/\0t.csv", f"bucket/{'k' * 1025}", "bu cket/t.csv"])
def test_a_location_that_names_no_object_is_no_location(location: str) -> None:
    assert re.fullmatch(LOCATION.pattern, f"s3://{location}") is None


@pytest.mark.parametrize("location", ["bucket", "bucket/", "bucket/a b/é=1/t.csv", f"bucket/{'k' * 1024}"])
def test_locations_may_have_long_keys_and_any_letters(location: str) -> None:
    assert re.fullmatch(LOCATION.pattern, f"s3://{location}") is not None


def test_no_key_and_no_value_of_a_folder_is_in_a_representation(objects: tuple[Objects, str], tmp_path: Path) -> None:
    there, url = objects
    data = form("csv", tmp_path, columns_of(ROWS)).server.path.read_bytes()
    there[f"bucket/t/{MARK}=1/b.csv"] = data
    source = open_source(at(url, "bucket/t/", "csv"), ["age"])
    assert MARK not in repr(source)
    assert MARK not in repr([list(part.read(["age"], [])) for part in source.parts])


@pytest.mark.thorough
def test_workers_get_the_keys_of_the_store_and_count_the_same(
    objects: tuple[Objects, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, url = objects
    data = form("parquet", tmp_path, columns_of(ROWS)).server.path.read_bytes()
    there.update({f"bucket/t/{name}.parquet": data for name in "ab"})
    for module in (files, parquet):
        monkeypatch.setattr(module, "PART_ROWS", 1)
    contract = at(url, "bucket/t/", "parquet")
    names = ("ward", "age")
    task = CountingTask(contract, names, {"": View({name: EXACT[name] for name in names})})
    with executor_of(2) as executor:
        found = count_table(open_source(contract, names), task, executor(None))
    assert found.facts.rows == 2 * len(ROWS) + 4


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
    return everything_said(caught.value)
