"""Descriptions for other tools: made from manifest and dictionary, covered by verify; releases as tools read them."""

import csv
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest

import crowdgate
from crowdgate.errors import VerificationFailed
from crowdgate.publish.descriptions import DESCRIPTIONS
from tests.forging import reseal
from tests.workshop import MARK, Workshop

SLOT = "2030-01-01"
FORMATS = "formats: [parquet, csv]"
SMALL = 1 << 14


@pytest.fixture
def described(workshop: Workshop) -> Path:
    workshop.edit(workshop.policy, FORMATS, f"{FORMATS}, describe: [{', '.join(DESCRIPTIONS)}]")
    made = crowdgate.release(workshop.policy, SLOT)
    assert made.path is not None
    return made.path


def loaded(folder: Path, name: str) -> Any:
    return json.loads((folder / DESCRIPTIONS[name][0]).read_text(encoding="utf-8"))


def test_descriptions_name_files_columns_and_values_and_nothing_confidential(described: Path) -> None:
    said = crowdgate.verify(described).manifest
    files = {name: each.sha256 for name, each in said.files.items()}
    texts = [(described / file).read_bytes() for file, _ in DESCRIPTIONS.values()]
    assert all(len(text) < SMALL and MARK.encode() not in text for text in texts)
    package, croissant = loaded(described, "frictionless"), loaded(described, "croissant")
    hashes = {each["path"]: each["hash"] for each in package["resources"]}
    assert hashes == {n: f"sha256:{d}" for n, d in files.items() if n not in {f for f, _ in DESCRIPTIONS.values()}}
    fields = next(each for each in package["resources"] if each["path"] == "data.csv")["schema"]["fields"]
    with (described / "data.csv").open(encoding="utf-8") as file:
        assert [each["name"] for each in fields] == next(csv.reader(file))
    assert {"north", "south", "east"} <= {*fields[1]["constraints"]["enum"]}
    assert {each["sha256"] for each in croissant["distribution"]} <= {*files.values()}
    assert len(croissant["recordSet"]) == 2
    assert loaded(described, "dcat")["dct:identifier"] == said.release.id
    root = ElementTree.parse(described / "ddi-codebook.xml").getroot()
    names = [each.get("name") for each in root.iter("{ddi:codebook:2_5}var")]
    assert names == [each["name"] for each in fields]


@pytest.mark.thorough
@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_a_changed_description_is_refused_even_where_the_manifest_agrees(
    name: str, described: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(described, folder)
    path = folder / DESCRIPTIONS[name][0]
    path.write_bytes(path.read_bytes().replace(b"ward", b"work"))
    reseal(folder)
    with pytest.raises(VerificationFailed, match="this description differs"):
        crowdgate.verify(folder)


def test_a_release_has_no_description_unless_the_policy_lists_it(workshop: Workshop) -> None:
    made = crowdgate.release(workshop.policy, SLOT)
    assert made.path is not None
    assert not {path.name for path in made.path.iterdir()} & {file for file, _ in DESCRIPTIONS.values()}


def test_other_tools_read_the_labels_of_the_dictionary(described: Path) -> None:
    with (described / "dictionary.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    labels = {column: {each["label"] for each in lines if each["column"] == column} for column in ("age", "ward")}
    expected = pq.read_table(described / "data.parquet").to_pylist()
    assert all({row[column] for row in expected} <= labels[column] for column in labels)
    for rows in (_by_pandas(described), _by_polars(described), _by_duckdb(described)):
        assert rows == [expected, expected]


def _by_pandas(folder: Path) -> list[list[dict[str, Any]]]:
    pd = pytest.importorskip("pandas")
    frames = [pd.read_parquet(folder / "data.parquet").astype(str), pd.read_csv(folder / "data.csv", dtype=str)]
    return [frame.to_dict("records") for frame in frames]


def _by_polars(folder: Path) -> list[list[dict[str, Any]]]:
    pl = pytest.importorskip("polars")
    frames = [pl.read_parquet(folder / "data.parquet"), pl.read_csv(folder / "data.csv", infer_schema=False)]
    return [frame.cast(pl.String).to_dicts() for frame in frames]


def _by_duckdb(folder: Path) -> list[list[dict[str, Any]]]:
    duckdb = pytest.importorskip("duckdb")
    queries = [f"FROM '{folder / 'data.parquet'}'", f"FROM read_csv('{folder / 'data.csv'}', all_varchar=true)"]
    return [duckdb.sql(query).to_arrow_table().to_pylist() for query in queries]


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_r_reads_rows_and_dictionary(described: Path) -> None:
    code = "d <- read.csv('data.csv', colClasses='character'); k <- read.csv('dictionary.csv', colClasses='character');"
    code += "stopifnot(all(d$ward %in% k$label[k$column == 'ward']), all(d$age %in% k$label[k$column == 'age']))"
    subprocess.run(["Rscript", "-e", code], cwd=described, check=True)
