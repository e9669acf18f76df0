"""Recount a release of rows from its files alone. Data are recounted by other code than made them; k and delta come
from the same accounting."""

import csv
import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from crowdgate import manifest
from crowdgate.accounting import safe_k
from crowdgate.errors import VerificationFailed
from crowdgate.formats import Format
from crowdgate.guarantee import Part
from crowdgate.kind.kind import Formats
from crowdgate.kinds.rows.files import DATA, ESTIMATE_COLUMNS, ESTIMATES, schema
from crowdgate.mechanisms.rows.choice import CHOICE_PART, JOINT_PART, joint_delta
from crowdgate.mechanisms.rows.safe_k import row_part
from crowdgate.publish.dictionary import DICTIONARY

FIXED = {DICTIONARY, ESTIMATES, "README.md"}


def problems(folder: Path, claims: dict[str, Any], formats: Formats) -> Iterator[str]:
    """What does not hold of a release of rows."""
    yield from _guarantee_problems(claims)
    data = {f"{DATA}.{name}": each for name, each in formats.items() if f"{DATA}.{name}" in claims["files"]}
    if not data or data.keys() | FIXED != set(claims["files"]):
        yield "manifest.json: its files are not those of a release of rows"
        return
    if any(not (folder / name).is_file() for name in data.keys() | FIXED):
        return
    if set(claims["data"]) != {"columns", "rows", "classes"}:
        yield "manifest.json: it says more or less of the data than their columns, rows and classes"
    yield from _counted_problems(claims)
    domains = _domains(folder / DICTIONARY)
    yield from _schema_problems(claims, domains)
    names = [column["name"] for column in claims["data"]["columns"]]
    tables = {name: _read(folder / name, each, names) for name, each in sorted(data.items())}
    for name, table in tables.items():
        yield from _data_problems(name, table, claims, domains)
    yield from _estimate_problems(folder / ESTIMATES, next(iter(tables.values())), claims, domains)
    if not all(_same_rows(*pair) for pair in pairwise(tables.values())):
        yield "the data files do not hold the same rows"


def _counted_problems(claims: dict[str, Any]) -> Iterator[str]:
    """Verdicts on what can be counted say what the manifest says of the data, which is recounted."""
    stated = {"released_rows": claims["data"]["rows"], "released_classes": claims["data"]["classes"]}
    for verdict in claims["verdicts"]:
        if verdict["measure"] in stated and verdict["value"] != str(stated[verdict["measure"]]):
            yield f"verdicts: {verdict['measure']} is not what the data hold"


def _guarantee_problems(claims: dict[str, Any]) -> Iterator[str]:
    stated, mechanism = claims["guarantee"], claims["mechanism"]
    try:
        guarantee = manifest.guarantee_of(stated)
    except ValueError:
        yield "guarantee: its parts do not add up to its totals"
        return
    beta = Fraction(mechanism["beta"])
    rows = mechanism.get("rows", 1)
    if stated["words"] != " ".join(manifest.guarantee_words(guarantee, beta, rows)):
        yield "guarantee: its words are not its numbers"
    if rows != 1 and guarantee.unit == "row":
        yield "guarantee: several rows of a unit that is a row"
    parts = {part.name: part for part in guarantee.parts}
    choice = mechanism.get("choice")
    joint = choice is not None and choice["on"] == "sample"
    own = parts[JOINT_PART if joint else "mechanism"]
    if joint:
        delta = joint_delta(mechanism["k"], beta, own.epsilon, Fraction(choice["epsilon"]), choice["candidates"])
    else:
        own = row_part(own, rows)
        delta = safe_k.exact_delta(mechanism["k"], beta, own.epsilon)
    if mechanism["kind"] != "safe_k_anonymity" or not delta <= own.delta:
        yield f"guarantee: k {mechanism['k']} does not reach the stated delta"
    if not _choice_is_paid(choice, parts):
        yield "guarantee: the choice of levels is not paid as the mechanism says"


def _choice_is_paid(choice: Any, parts: dict[str, Part]) -> bool:
    """Whether the parts say of the choice what the mechanism says: none, one on the full table, one on the sample."""
    names = {CHOICE_PART, JOINT_PART} & set(parts)
    if choice is None or choice["on"] not in ("full", "sample") or choice["candidates"] < 1:
        return choice is None and not names
    if choice["on"] == "sample":
        return names == {JOINT_PART} and "mechanism" not in parts
    return names == {CHOICE_PART} and parts[CHOICE_PART].epsilon == Fraction(choice["epsilon"]) > 0


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


def _read(path: Path, form: Format, names: list[str]) -> pa.Table:
    try:
        return form.read(path, schema(names))
    except (pa.ArrowException, OSError, ValueError):
        raise VerificationFailed(f"{path.name}: unreadable") from None


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


def _estimate_problems(path: Path, table: pa.Table, claims: dict[str, Any], domains: Any) -> Iterator[str]:
    """Recounts every column of the data, and checks each rounded figure against its square in exact fractions."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = list(csv.reader(file, strict=True)) or [[]]
    listed = [tuple(line[:3]) for line in lines]
    if header != list(ESTIMATE_COLUMNS) or any(len(line) != 5 for line in lines):
        yield f"{path.name}: its columns are not those of estimates"
    elif listed != [(name, *cell) for name in table.column_names for cell in _margin(table[name], domains[name])]:
        yield f"{path.name}: its cells or counts are not those of the data"
    elif not all(_estimated(int(line[2]), line[3], line[4], Fraction(claims["mechanism"]["beta"])) for line in lines):
        yield f"{path.name}: an estimate or standard error does not follow from its count and beta"


def _margin(column: pa.ChunkedArray, levels: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """Labels that occur in the column, in the order of dictionary.csv, with their counts."""
    counted = {found["values"]: found["counts"] for found in pc.value_counts(column).to_pylist()}
    (labels,) = levels.values()
    return ((label, str(counted[label])) for label in labels if label in counted)


def _estimated(count: int, estimate: str, error: str, beta: Fraction) -> bool:
    """Whether both figures are the nearest hundredths to count / beta and sqrt(count (1 - beta)) / beta."""
    squares = (count / beta) ** 2, count * (1 - beta) / beta**2
    return all(_nearest(text, square) for text, square in zip((estimate, error), squares, strict=True))


def _nearest(text: str, square: Fraction) -> bool:
    if not re.fullmatch(r"(0|[1-9]\d*)\.\d\d", text, re.ASCII):
        return False
    low, high = Fraction(text) - Fraction(1, 200), Fraction(text) + Fraction(1, 200)
    return (low <= 0 or low**2 <= square) and square < high**2
