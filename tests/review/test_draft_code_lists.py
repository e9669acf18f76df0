"""Drafts from codebooks whose lists of codes stand apart from their variables: in blocks, sheets and Markdown."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from crowdgate.errors import ConfigurationError
from crowdgate.review.templates.code_lists import code_lists
from crowdgate.review.templates.draft_column import DraftColumn
from crowdgate.review.templates.draft_sources import read_draft_source
from crowdgate.review.templates.markdown_tables import markdown_tables
from crowdgate.sources.table_header import CellType
from tests.review.test_draft_dictionaries import write_csv
from tests.sources.table_files import write_workbook

SEX, LEVEL = (("1", "Hombre"), ("6", "Mujer")), (("AN", "Analfabetos"), ("SU", "Superior"))
VARIABLES: list[Sequence[str | None]] = [
    ["Variable", "Descripción", "Longitud", "Tipo", "Diccionario"],
    ["SEXO", "Sexo", "1", "N", "TSEXO"],
    ["NIVEL", "Nivel", "2", "A", "TNIVEL"],
    ["HORAS", "Horas", "3", "N", None],
]
LISTS: dict[str, dict[str, list[Sequence[str | None]]]] = {
    "blocks below their titles": {
        "Tablas": [
            ["TABLAS", None], [None, None], ["TSEXO", None], ["Código", "Descripción"], *SEX, [None, None],
            ["TNIVEL", None], ["Cód.", "Texto"], *LEVEL, [None, None], ["TOTRO", None], ["1", "x"], ["2", "y"],
        ]
    },
    "a title and its codes, with an empty row between": {
        "Tablas": [["TSEXO", None], [None, None], *SEX, ["TNIVEL", None], [None, None], *LEVEL]
    },
    "blocks with the names of variables": {
        "Tablas": [["SEXO", None], ["Código", "Descripción"], *SEX, ["NIVEL", None], ["Código", "Descripción"], *LEVEL]
    },
    "a sheet for each list": {"TSEXO": [["Código", "Texto"], *SEX], "TNIVEL": [["Código", "Texto"], *LEVEL]},
    "the name of a list beside each code": {
        "Tablas": [["Tabla", "Código", "Descripción"], *(["TSEXO", *each] for each in SEX),
                   *(["TNIVEL", *each] for each in LEVEL)]
    },
}  # fmt: skip


@pytest.mark.parametrize("name", LISTS)
def test_a_variable_has_the_codes_of_the_list_that_its_row_names(tmp_path: Path, name: str) -> None:
    table = write_csv(tmp_path / "t.csv", ["SEXO", "NIVEL", "HORAS"])
    book = tmp_path / "b.xlsx"
    variables = "Diseño" if "sheet" not in name else "Hoja1"
    write_workbook(book, {variables: [["Diseño de registro", *[None] * 4], *VARIABLES], **LISTS[name]})
    found = read_draft_source(table, tmp_path, header_line=True, codebook=book)
    sex, level, hours = found.columns
    assert (sex.type, sex.values) == (CellType.TEXT, SEX)
    assert tuple(each for each in level.values if each[0] != "Cód.") == LEVEL
    assert (hours.type, hours.values) == (CellType.NUMBER, ())
    assert "columns with a code list elsewhere in it: 2" in found.note


@pytest.mark.parametrize(
    ("rows", "lists"),
    [
        ([["T"], ["1", "a"], ["2", "b"]], {"t": (("1", "a"), ("2", "b"))}),
        ([["T"], ["Nr", "Wert"], ["1", "a"], ["2", "b"]], {"t": (("1", "a"), ("2", "b"))}),
        ([["T"], ["Wert", "Bezeichnung"], ["1", "a"], ["2", "2 - b"]], {"t": (("1", "a"), ("2", "b"))}),
        ([["T"], ["1", "a"], ["1", "b"]], {}),
        ([["T"], ["Value", "Freq."], ["1", "312"], ["2", "298"]], {}),
        ([["T"], ["1", "12.5 %"], ["2", "1,298 (87.5 %)"]], {}),
        ([["T"], ["Code", "N", "Label"], ["1", "312", "a"], ["2", "298", "b"]], {"t": (("1", "a"), ("2", "b"))}),
        ([["T"], ["1", "a"]], {}),
        ([["1", "a"], ["2", "b"]], {}),
    ],
)
def test_a_block_with_a_title_is_a_list(rows: Sequence[Sequence[str]], lists: object) -> None:
    assert code_lists(rows) == lists


def test_a_list_adds_no_values_to_a_variable_that_has_its_own_and_missing_codes_to_a_number(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", ["a", "n"])
    book = tmp_path / "b.xlsx"
    variables = [["Variable", "Label", "Values", "List"], ["a", "A", "x; y", "L"], ["n", "N", "0-8", "M"]]
    lists: list[Sequence[str | None]] = [
        ["L", None],
        ["1", "p"],
        ["2", "q"],
        ["M", None],
        ["98", "don't know"],
        ["99", "refused"],
    ]
    write_workbook(book, {"Variables": variables, "Codes": lists})
    a, n = read_draft_source(table, tmp_path, header_line=True, codebook=book).columns
    assert a.values == (("x", ""), ("y", ""))
    assert (n.values, n.bounds, n.missing) == ((), ("0", "8"), ("98", "99"))


MARKDOWN = """# Spells

A **patient** has one | row.

| Field | Type | Description | Allowed values |
|---|:-:|---|---|
| `sex` | char(1) | Sex | 1 = Male<br>2 = Female |
| **ward** | varchar(2) | Ward | see table below |
| pipe | text | a \\| b | x; y |

### `ward`

| Code | Meaning |
| ---- | ------- |
| A | Heart |
| B | Lung |
"""


def markdown_columns(folder: Path, text: str) -> Sequence[DraftColumn]:
    table = write_csv(folder / "t.csv", ["sex", "ward", "pipe"])
    (folder / "b.md").write_text(text, encoding="utf-8")
    return read_draft_source(table, folder, header_line=True, codebook=folder / "b.md").columns


def test_tables_of_markdown_are_a_codebook(tmp_path: Path) -> None:
    sex, ward, pipe = markdown_columns(tmp_path, MARKDOWN)
    assert sex.values == (("1", "Male"), ("2", "Female"))
    assert (ward.values, ward.unread) == ((("A", "Heart"), ("B", "Lung")), "")
    assert pipe.description == "a | b"
    assert [title for title, _ in markdown_tables(MARKDOWN)] == ["Spells", "ward"]


def test_a_text_without_a_table_is_no_codebook(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no table in Markdown"):
        markdown_columns(tmp_path, "# Spells\n\nNothing.\n")
