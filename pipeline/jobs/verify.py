"""Verify a published release from its files alone: an independent recount that shares no code with what made it."""

import csv
import hashlib
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from pipeline import manifest
from pipeline.accounting import safe_k
from pipeline.errors import VerificationFailed
from pipeline.io.ledger import open_ledger
from pipeline.io.publisher import file_digest


def verify(folder: Path, ledger: str | None = None) -> dict[str, Any]:
    """The manifest of a release that holds all it claims. Raises VerificationFailed that lists what does not hold.

    Without a ledger the manifest vouches for itself; with one, its digest must be what the ledger committed to.
    """
    try:
        sealed = (folder / manifest.NAME).read_bytes()
        claims = manifest.parse(sealed)
        problems = list(_problems(folder, claims))
        if ledger is not None:
            problems += _ledger_problems(claims, hashlib.sha256(sealed).hexdigest(), ledger)
    except OSError as error:
        raise VerificationFailed(f"{folder}: {error.strerror or 'unreadable'}") from None
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
        raise VerificationFailed("manifest.json lacks a part of a release, or states it in another form") from None
    if problems:
        raise VerificationFailed("\n".join(problems))
    return claims


def _problems(folder: Path, claims: dict[str, Any]) -> Iterator[str]:
    files = claims["files"]
    present = {path.name for path in folder.iterdir()}
    for name in sorted(present ^ {*files, manifest.NAME}):
        yield f"{name}: " + ("not in the manifest" if name in present else "missing")
    for name, digest in sorted(files.items()):
        if name in present and file_digest(folder / name) != digest:
            yield f"{name}: its digest is not the manifest's"
    yield from _guarantee_problems(claims)
    if claims["key"] != "operating system":
        yield "the key was injected: this is no release"
    if not any(name.startswith("data.") for name in files) or "dictionary.csv" not in present:
        yield "there are no data or no dictionary"
        return
    domains = _domains(folder / "dictionary.csv")
    yield from _schema_problems(claims, domains)
    tables = {name: table for name in sorted(present & set(files)) if (table := _read(folder / name)) is not None}
    for name, table in tables.items():
        yield from _data_problems(name, table, claims, domains)
    if not all(_same_rows(*pair) for pair in pairwise(tables.values())):
        yield "the data files do not hold the same rows"


def _guarantee_problems(claims: dict[str, Any]) -> Iterator[str]:
    stated, mechanism = claims["guarantee"], claims["mechanism"]
    try:
        guarantee = manifest.guarantee_of(stated)
    except ValueError:
        yield "guarantee: its parts do not add up to its totals"
        return
    beta = Fraction(mechanism["beta"])
    if stated["words"] != " ".join(manifest.guarantee_words(guarantee, beta)):
        yield "guarantee: its words are not its numbers"
    own = next(part for part in guarantee.parts if part.name == "mechanism")
    delta = safe_k.exact_delta(mechanism["k"], beta, own.epsilon)
    if mechanism["kind"] != "safe_k_anonymity" or not delta <= own.delta:
        yield f"guarantee: k {mechanism['k']} does not reach the stated delta"


def _domains(path: Path) -> dict[str, dict[str, list[str]]]:
    """Labels by column and level, as dictionary.csv lists them."""
    domains: dict[str, dict[str, list[str]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, strict=True):
            domains.setdefault(row["column"], {}).setdefault(row["level"], []).append(row["label"])
    return domains


def _schema_problems(claims: dict[str, Any], domains: dict[str, dict[str, list[str]]]) -> Iterator[str]:
    columns = claims["data"]["columns"]
    stated = {column["name"]: {column["level"]: column["values"]} for column in columns}
    listed = {name: {level: len(set(labels)) for level, labels in levels.items()} for name, levels in domains.items()}
    if stated != listed or list(stated) != list(listed):
        yield "dictionary.csv: its columns, levels or numbers of values are not the manifest's"
    if claims["mechanism"]["attributes"] != {column["name"]: column["level"] for column in columns}:
        yield "manifest.json: the columns of the data are not the mechanism's"


def _read(path: Path) -> pa.Table | None:
    try:
        if path.name == "data.parquet":
            return pq.read_table(path)
        if path.name == "data.csv":
            return _read_csv(path)
    except (pa.ArrowException, OSError):
        raise VerificationFailed(f"{path.name}: unreadable") from None
    return None


def _read_csv(path: Path) -> pa.Table:
    with path.open(encoding="utf-8", newline="") as file:
        header = next(csv.reader(file, strict=True))
    convert = pyarrow.csv.ConvertOptions(column_types={name: pa.string() for name in header}, strings_can_be_null=False)
    parse = pyarrow.csv.ParseOptions(newlines_in_values=True)
    return pyarrow.csv.read_csv(path, convert_options=convert, parse_options=parse)


def _data_problems(name: str, table: pa.Table, claims: dict[str, Any], domains: Any) -> Iterator[str]:
    columns = [column["name"] for column in claims["data"]["columns"]]
    if table.column_names != columns or any(field.type != pa.string() for field in table.schema):
        yield f"{name}: its columns are not the manifest's text columns"
        return
    if table.schema.metadata:
        yield f"{name}: it carries metadata beside its schema"
    for column in columns:
        (labels,) = domains[column].values()
        if not pc.all(pc.is_in(table[column], pa.array(labels, pa.string())), min_count=0).as_py():
            yield f"{name}: column {column!r} holds a value that dictionary.csv does not list"
    classes = table.group_by(columns).aggregate([([], "count_all")])["count_all"]
    data, k = claims["data"], claims["mechanism"]["k"]
    if len(classes) and pc.min(classes).as_py() < k:
        yield f"{name}: a class has fewer than {k} rows"
    if table.num_rows != data["rows"] or len(classes) != data["classes"]:
        yield f"{name}: its rows or classes are not as many as the manifest says"
    if not _sorted(table, columns, domains):
        yield f"{name}: its rows are not in canonical order"


def _sorted(table: pa.Table, columns: list[str], domains: Any) -> bool:
    """Whether rows are ordered by their codes, column after column."""
    codes = [pc.index_in(table[name], pa.array(next(iter(domains[name].values())), pa.string())) for name in columns]
    coded = pa.table(codes, names=[str(i) for i in range(len(codes))])
    order = pc.sort_indices(coded, sort_keys=[(str(i), "ascending") for i in range(len(codes))])
    return bool(coded.equals(coded.take(order)))


def _same_rows(a: pa.Table, b: pa.Table) -> bool:
    return bool(a.column_names == b.column_names and a.columns == b.columns)


def _ledger_problems(claims: dict[str, Any], digest: str, ledger: str) -> list[str]:
    entry = open_ledger(ledger, None).entry(str(claims["release"]["id"]))
    if entry is None:
        return ["the ledger knows no release of this id"]
    return [] if entry.manifest_digest == digest else ["manifest.json: its digest is not the one in the ledger"]
