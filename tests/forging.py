"""A careful forger without ledger and key: changes a copy of a release, writes every file as the maker does, and
reseals it.
"""

import csv
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from crowdgate import manifest
from crowdgate.attachments import README
from crowdgate.formats import FORMATS
from crowdgate.kind.attachment import Context
from crowdgate.kinds import KINDS
from crowdgate.manifest import NAME, GuaranteeFields, guarantee_sentences, json_fields, plain_guarantee
from crowdgate.publish.dictionary import DICTIONARY, read_dictionary
from crowdgate.publish.publisher import file_fields

Claims = dict[str, Any]
Lines = list[list[str]]
Change = Callable[[Claims], object]
PAGE = "README.md"


def stated(folder: Path) -> Claims:
    """Return the manifest as JSON."""
    found: Claims = json.loads((folder / NAME).read_text(encoding="utf-8"))
    return found


def reseal(folder: Path, change: Change = lambda _: None) -> None:
    """Write a manifest of the current files, with changed statements."""
    claims = stated(folder)
    claims["files"] = {name: json_fields(file_fields(folder / name)) for name in claims["files"]}
    change(claims)
    (folder / NAME).write_bytes(manifest.canonical(claims))


def reseal_with_page(folder: Path, change: Change = lambda _: None) -> None:
    """Change and reseal a release, with the README that fits. Raises VerificationFailed if the files are unreadable."""
    reseal(folder, change)
    sealed = (folder / NAME).read_bytes()
    kind = KINDS[manifest.kind_in(sealed)]
    said = manifest.parsed(kind.manifest_class(), sealed)
    held = kind.read(folder, said, {name: FORMATS[name] for name in said.formats})
    page = README.make(Context(manifest=said, page=kind.page(said, held)))
    assert page is not None
    (folder / PAGE).write_bytes(page)
    reseal(folder)


def reword(claims: Claims, beta: Fraction | None) -> None:
    """Replace the words of the guarantee by those that follow from its numbers."""
    said = GuaranteeFields.model_validate_json(json.dumps(claims["guarantee"])).guarantee
    claims["guarantee"]["words"] = guarantee_sentences(said, beta)
    replain(claims)


def replain(claims: Claims) -> None:
    """Replace the plain words of the guarantee by those that follow from the spend."""
    facts, spent = claims["facts"], claims["facts"]["spent"]
    pair = Fraction(spent["epsilon"]), Fraction(spent["delta"])
    claims["guarantee"]["plain"] = list(plain_guarantee(facts["people"], facts["rows_per_unit"], pair))


def rewrite_lines(path: Path, change: Callable[[Lines], Lines]) -> None:
    """Change the lines of a listing, including its header."""
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(change(lines))


def rewrite_rows(folder: Path, change: Callable[[Lines], Lines], *ends: str) -> None:
    """Change the rows in the data files, or in those with these suffixes."""
    with (folder / "data.csv").open(newline="", encoding="utf-8") as file:
        _, *rows = list(csv.reader(file))
    table = _coded(folder, change(rows))
    for end in ends or FORMATS:
        with (folder / f"data.{end}").open("wb") as file:
            FORMATS[end].write(file, table.schema, [table])


def _coded(folder: Path, rows: Lines) -> pa.Table:
    """Return numbers unchanged, and labels in the order of their dictionary; unknown labels last."""
    place = {(e.column, label): at for e in read_dictionary(folder / DICTIONARY) for at, label in enumerate(e.labels)}
    columns = []
    held = pq.read_schema(folder / "data.parquet")
    for name, cells in zip(held.names, zip(*rows, strict=True), strict=True):
        if not pa.types.is_string(held.field(name).type):
            columns.append(pa.array(cells).cast(held.field(name).type))
            continue
        labels = sorted({*cells}, key=lambda label: (place.get((name, label), len(place)), label))
        codes = pa.array([labels.index(cell) for cell in cells], pa.int32())
        columns.append(pa.DictionaryArray.from_arrays(codes, pa.array(labels, pa.string())))
    return pa.table(columns, names=held.names)


def rewrite_table(folder: Path, stem: str, change: Callable[[list[Claims]], list[Claims]], *ends: str) -> None:
    """Change the lines of a table with noise in all formats, or in those with these suffixes."""
    table = pq.read_table(folder / f"{stem}.parquet")
    forged = pa.Table.from_pylist(change(table.to_pylist()), schema=table.schema)
    for end in ends or FORMATS:
        with (folder / f"{stem}.{end}").open("wb") as file:
            FORMATS[end].write(file, forged.schema, [forged])
