"""Check a release of tables from its files alone: guarantee, files, domains, flags, and that whole numbers add up."""

import csv
from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import pyarrow as pa

from crowdgate import manifest
from crowdgate.accounting.discrete_laws import Law
from crowdgate.accounting.tables_plan import NoiseKind, Query, law_of, stated_guarantee
from crowdgate.errors import VerificationFailed
from crowdgate.formats import Format
from crowdgate.kind.kind import Formats
from crowdgate.kinds.tables.files import (
    COARSER,
    COARSER_COLUMNS,
    LISTING,
    LISTING_COLUMNS,
    NUMBERS,
    QUANTILE_COLUMNS,
    RAW,
)
from crowdgate.kinds.tables.recount import (
    Domains,
    cell_problems,
    levels_of,
    margin_problems,
    quantile_problems,
    query_levels,
)
from crowdgate.publish.dictionary import DICTIONARY, DICTIONARY_COLUMNS

NOISE: dict[str, NoiseKind] = {"discrete laplace": "laplace", "discrete gaussian": "gaussian"}
FIXED = {LISTING, DICTIONARY, COARSER, "README.md"}
Claims = dict[str, Any]


def problems(folder: Path, claims: Claims, formats: Formats) -> Iterator[str]:
    """What does not hold of a release of tables."""
    yield from _guarantee_problems(claims)
    tables, suffixes = claims["data"]["tables"], ("", RAW) if claims["mechanism"]["raw"] else ("",)
    first = tables[0]["file"] if tables else ""
    ends = [end for end in formats if f"{first}.{end}" in claims["files"]]
    names = {f"{table['file']}{suffix}.{end}" for table in tables for suffix in suffixes for end in ends}
    if not ends or names | FIXED != set(claims["files"]):
        yield "manifest.json: its files are not those of its tables"
        return
    if any(not (folder / name).is_file() for name in names | FIXED):
        return
    domains = _domains(folder)
    yield from _query_problems(claims, domains)
    yield from _listing_problems(folder / LISTING, claims)
    for suffix in suffixes:
        held, sound = {}, True
        for table in tables:
            copies = [_read(folder / f"{table['file']}{suffix}.{end}", table, formats[end]) for end in ends]
            found = list(_table_problems(f"{table['file']}{suffix}", copies, table, claims, domains, raw=bool(suffix)))
            yield from found
            held[table["file"]], sound = copies[0], sound and not found
        if sound and not suffix:
            yield from margin_problems(claims["data"]["tables"], Fraction(claims["mechanism"]["beta"]), held, domains)


def _guarantee_problems(claims: Claims) -> Iterator[str]:
    stated, mechanism = claims["guarantee"], claims["mechanism"]
    try:
        guarantee = manifest.guarantee_of(stated)
    except ValueError:
        yield "guarantee: its parts do not add up to its totals"
        return
    if stated["words"] != " ".join(manifest.guarantee_words(guarantee, None)):
        yield "guarantee: its words are not its numbers"
    if [part.name for part in guarantee.parts] != ["mechanism"] or mechanism["invariants"] != []:
        yield "guarantee: a release of tables has one part, the mechanism, and no invariants"
        return
    beta, rows = Fraction(mechanism["beta"]), mechanism["rows_per_unit"]
    if not 0 < beta <= 1 or (rows != 1 and (guarantee.unit == "row" or beta != 1)):
        yield "guarantee: rows of a privacy unit or sampling rate are not what it is computed for"
    unit = _unit(mechanism)
    spends = [Fraction(query[unit]) for query in mechanism["queries"]]
    if not spends or min(spends) <= 0 or sum(spends) > Fraction(mechanism[unit]):
        yield f"guarantee: the {unit} of the queries is more than the mechanism's"
    delta = min(guarantee.delta / beta, 1 - Fraction(1, 10**9)) if unit == "rho" else Fraction(0)
    spent = stated_guarantee(NOISE[mechanism["noise"]], Fraction(mechanism[unit]), delta, beta)
    if spent[0] > guarantee.epsilon or spent[1] > guarantee.delta:
        yield f"guarantee: {unit} {mechanism[unit]} does not keep the stated epsilon and delta"


def _unit(mechanism: Claims) -> str:
    return "epsilon" if NOISE[mechanism["noise"]] == "laplace" else "rho"


def _law(mechanism: Claims, at: int) -> Law:
    """The law of the noise on a count."""
    query = mechanism["queries"][at]
    stated = Query(query["name"], query["cells"])
    return law_of(stated, Fraction(query[_unit(mechanism)]), mechanism["rows_per_unit"], NOISE[mechanism["noise"]])


def _query_problems(claims: Claims, domains: Domains) -> Iterator[str]:
    mechanism = claims["mechanism"]
    queries, rows = mechanism["queries"], mechanism["rows_per_unit"]
    used = [at for table in claims["data"]["tables"] for at in table["queries"]]
    if used != list(range(len(queries))):
        yield "manifest.json: its tables are not made of its queries"
        return
    for table in claims["data"]["tables"]:
        levels = query_levels(table)
        for at in table["queries"]:
            query = queries[at]
            cells = prod(len(domains.labels(*axis)) for axis in levels.items())
            if query["levels"] != levels or query["cells"] != cells:
                yield f"{table['file']}: its levels or cells are not those of its query"
            counted = table["kind"] in ("count", "quantiles")
            if query["sensitivity"] < rows or (counted and query["sensitivity"] != rows):
                yield f"{table['file']}: the sensitivity of its query is not that of {rows} rows"


def _listing_problems(path: Path, claims: Claims) -> Iterator[str]:
    mechanism, expected = claims["mechanism"], []
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = list(csv.reader(file, strict=True)) or [[]]
    for table in claims["data"]["tables"]:
        law, queries = _law(mechanism, table["queries"][0]), mechanism["queries"]
        column = table.get("level")
        cells = queries[table["queries"][0]]["cells"]
        if table["kind"] == "quantiles":
            cells = None
        error = f"{law.variance**0.5 / float(Fraction(mechanism['beta'])):.6g}"
        own = [table["file"], table["table"], table["kind"], table.get("column", ""), column or ""]
        expected.append((own, cells, error if table["kind"] == "count" else None))
    found = len(lines) == len(expected) and all(
        len(line) == len(LISTING_COLUMNS)
        and line[:5] == own
        and (cells is None or line[5] == str(cells))
        and (error is None or line[6] == error)
        for line, (own, cells, error) in zip(lines, expected, strict=True)
    )
    if header != list(LISTING_COLUMNS) or not found:
        yield f"{path.name}: it does not list the tables of the manifest"


def _table_problems(
    name: str, copies: list[pa.Table], table: Claims, claims: Claims, domains: Domains, *, raw: bool
) -> Iterator[str]:
    if any(copy.schema != _schema(table) for copy in copies) or any(copy.schema.metadata for copy in copies):
        yield f"{name}: its columns are not those of the manifest"
        return
    if any(not copy.equals(copies[0]) for copy in copies):
        yield f"{name}: its files do not hold the same rows"
    axes = levels_of(table)
    texts = [f"{float(Fraction(p)):g}" for p in table.get("at", [])]
    if not domains.complete(copies[0], axes, texts):
        yield f"{name}: its cells are not all cells of its domain, in their order"
        return
    if table["kind"] == "quantiles":
        yield from quantile_problems(name, copies[0], table, domains)
        return
    law = _law(claims["mechanism"], table["queries"][0]) if table["kind"] == "count" else None
    yield from cell_problems(name, copies[0], claims["mechanism"], law, raw=raw)


def _schema(table: Claims) -> pa.Schema:
    axes = [(name, pa.string()) for name in levels_of(table)]
    if table["kind"] == "quantiles":
        return pa.schema([*axes, *((name, pa.string()) for name in QUANTILE_COLUMNS)])
    numbers = [(name, pa.bool_() if name == "trustworthy" else pa.float64()) for name in NUMBERS]
    return pa.schema([*axes, *numbers])


def _read(path: Path, table: Claims, form: Format) -> pa.Table:
    try:
        return form.read(path, _schema(table))
    except (pa.ArrowException, OSError, ValueError):
        raise VerificationFailed(f"{path.name}: unreadable") from None


def _domains(folder: Path) -> Domains:
    listed: dict[tuple[str, str], list[str]] = {}
    above: dict[tuple[str, str, str], dict[str, str]] = {}
    for row in _rows(folder / DICTIONARY, DICTIONARY_COLUMNS):
        listed.setdefault((row["column"], row["level"]), []).append(row["label"])
    for row in _rows(folder / COARSER, COARSER_COLUMNS):
        key = row["column"], row["level"], row["coarser_level"]
        above.setdefault(key, {})[row["label"]] = row["coarser_label"]
    return Domains(listed, above)


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[Mapping[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        if tuple(reader.fieldnames or ()) != columns:
            raise VerificationFailed(f"{path.name}: its columns are not {', '.join(columns)}")
        for row in reader:
            if None in row or None in row.values():
                raise VerificationFailed(f"{path.name}: a line has not as many cells as the header")
            yield row
