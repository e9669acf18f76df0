"""Guesses of drafts from words in several languages: roles, whole numbers, letters, codes for no value, empty cells."""

from pathlib import Path

import pytest

from crowdgate.review.templates.codebook_values import codes_in_words, listed_values, missing_codes
from crowdgate.review.templates.column_words import plain_text
from crowdgate.review.templates.dictionary_types import StatedType, stated_type
from crowdgate.review.templates.draft_sources import read_draft_source
from crowdgate.review.templates.role_words import is_identifying, is_sensitive
from crowdgate.review.templates.special_labels import is_empty, is_special, is_unknown
from crowdgate.review.templates.stated_ranges import ListedValues
from crowdgate.sources.table_header import CellType
from tests.review.test_draft_dictionaries import write_csv
from tests.workshop import MARK, crowdgate

WHOLE, NUMBER, DAY = (StatedType(each) for each in (CellType.WHOLE, CellType.NUMBER, CellType.DAY))
LETTERS = tuple((each, "") for each in "ABCDEF")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("liczba całkowita", WHOLE), ("liczba", NUMBER), ("data", DAY), ("liczba (5,1)", StatedType(NUMBER.type, 1)),
        ("data (RRRR-MM-DD)", StatedType(DAY.type, day_form="YYYY-MM-DD")), ("tekst (11)", StatedType()),
        ("helt tal", WHOLE), ("tal", NUMBER), ("Dato (dd-mm-åååå)", StatedType(DAY.type, day_form="DD-MM-YYYY")),
        ("Decimaltal (10,2)", StatedType(NUMBER.type, 2)), ("inteiro", WHOLE), ("número", NUMBER),
        ("Numerico intero (3)", WHOLE), ("Data (GG/MM/AAAA)", StatedType(DAY.type, day_form="DD/MM/YYYY")),
        ("entier", WHOLE), ("Numérique (10,2)", StatedType(NUMBER.type, 2)), ("bedrag", NUMBER), ("getal", NUMBER),
        ("celé číslo", WHOLE), ("desetinné číslo", NUMBER),
        ("Datum (DD.MM.RRRR)", StatedType(DAY.type, day_form="DD.MM.YYYY")),
        ("number (whole)", WHOLE), ("Zahl, ganz", WHOLE), ("texto", StatedType()), ("řetězec", StatedType()),
    ],
)  # fmt: skip
def test_words_for_types_are_known_in_several_languages(text: str, expected: StatedType) -> None:
    assert stated_type(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A t/m F", ListedValues(LETTERS)),
        ("A-F, ZZ = unknown", ListedValues(LETTERS, missing=("ZZ",))),
        ("F-M", ListedValues()),
        ("M = man, V = vrouw, X = onbekend", ListedValues((("M", "man"), ("V", "vrouw")), missing=("X",))),
        ("K - kobieta, M - mężczyzna", ListedValues((("K", "kobieta"), ("M", "mężczyzna")))),
        ("1 - nagły, 2 - planowy, 9 - brak danych", ListedValues((("1", "nagły"), ("2", "planowy")), missing=("9",))),
        ("01 Norte, 02 Sur, 03 Este", ListedValues((("01", "Norte"), ("02", "Sur"), ("03", "Este")))),
        ("J = ja, N = nee, leeg = onbekend", ListedValues((("J", "ja"), ("N", "nee")))),
        ("S Sí\nN No\nblanco No procede", ListedValues((("S", "Sí"), ("N", "No")))),
        ("1=a; 2=b; 0 ou em branco = não informado", ListedValues((("1", "a"), ("2", "b")), missing=("0",))),
        ("I, II, III, X = neznámé", ListedValues((("I", ""), ("II", ""), ("III", "")), missing=("X",))),
        (
            "1. Un homme | 2. Une femme | 99. Refus",
            ListedValues((("1", "Un homme"), ("2", "Une femme")), missing=("99",)),
        ),
        ("1-Nenhuma; 2-Outra", ListedValues((("1", "Nenhuma"), ("2", "Outra")))),
        ("1=Sim 0=Não", ListedValues((("1", "Sim"), ("0", "Não")))),
        ("1 'Male' 2 'Female' -9 \"Don't know\"", ListedValues((("1", "Male"), ("2", "Female")), missing=("-9",))),
        (
            "de 0 à 20000 (-1 = refus, -2 = ne sait pas)",
            ListedValues(bounds=("0", "20000"), missing=("-1", "-2"), decimals=0),
        ),
        ("-10,000.00 – 99,999.99", ListedValues(bounds=("-10000", "100000"), decimals=2)),
        ("0 - 250 000", ListedValues(bounds=("0", "250000"), decimals=0)),
        ("0 - 500.000", ListedValues(unread="0 - 500.000")),
        ("0, 1, 2, 3 or more", ListedValues(unread="0, 1, 2, 3 or more")),
        ("ISO 3166 alfa-3; ZZZ si desconocido", ListedValues(unread="ISO 3166 alfa-3; ZZZ si desconocido")),
        (
            "1=a; 2=b; 3=c; 95=Other; 96=None of these",
            ListedValues((("1", "a"), ("2", "b"), ("3", "c"), ("95", "Other"), ("96", "None of these"))),
        ),
        ("dd/mm/aaaa", ListedValues()),
        ("Leer; Emden; Aurich", ListedValues((("Leer", ""), ("Emden", ""), ("Aurich", "")))),
        ("leer stehend; bewohnt", ListedValues((("leer stehend", ""), ("bewohnt", "")))),
        ("blanco; negro; mestizo", ListedValues((("blanco", ""), ("negro", ""), ("mestizo", "")))),
        ("S; N; blanco", ListedValues((("S", ""), ("N", "")))),
        ("vide : non renseigné; 1 : a; 2 : b", ListedValues((("1", "a"), ("2", "b")))),
        ("1 under 18; 2 18-24; 3 25 or more", ListedValues((("1", "under 18"), ("2", "18-24"), ("3", "25 or more")))),
        ("1 (poor) - 5 (excellent), 9 = not rated", ListedValues(bounds=("1", "5"), missing=("9",), decimals=0)),
        ("leer; 1; 2", ListedValues((("1", ""), ("2", "")))),
        ("leer = entfällt", ListedValues()),
        ("0-110 let", ListedValues(bounds=("0", "110"), decimals=0)),
        ("0-110, -1 No consta", ListedValues(bounds=("0", "110"), missing=("-1",), decimals=0)),
        ("1-5; X = unknown", ListedValues(bounds=("1", "5"), missing=("X",), decimals=0)),
        ("da 1 a 9", ListedValues(bounds=("1", "9"), decimals=0)),
        ("2019-04-01 to 2020-03-31 or blank if alive", ListedValues(bounds=("2019-04-01", "2020-03-31"))),
        ("dal 01/01/2020 al 31/12/2020", ListedValues(bounds=("2020-01-01", "2020-12-31"))),
        ("12/31/2019 - 01/31/2020", ListedValues(bounds=("2019-12-31", "2020-01-31"))),
        ("01/02/2020 - 03/04/2020", ListedValues(unread="01/02/2020 - 03/04/2020")),
        ("1=employed; 5=not employed", ListedValues((("1", "employed"), ("5", "not employed")))),
        ("001 à 095, 02A, 02B, 099 = étranger", ListedValues(unread="001 à 095, 02A, 02B, 099 = étranger")),
    ],
)
def test_lists_with_letters_empty_cells_and_unknown_values_are_read(text: str, expected: ListedValues) -> None:
    """Days with strokes are read where one order of day and month alone fits; sexes are no range of letters."""
    assert listed_values(text) == expected


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("ONB indien onbekend", ("ONB",)), ("only newborns; 0 if not recorded", ("0",)), ("Z = inconnu", ("Z",)),
        ("999 wenn unbekannt", ("999",)), ("0 se non rilevato", ("0",)), ("5 for unknown reasons", ()),
        ("N = number of beds", ()), ("code 7 in words", ()),
    ],
)  # fmt: skip
def test_words_on_a_variable_name_codes_for_no_value(text: str, codes: tuple[str, ...]) -> None:
    assert codes_in_words(text) == codes


@pytest.mark.parametrize(
    "text", ["puste", "leer", "vide", "blank", "en blanco", "leeg", "prázdné", "-", "brak", "none"]
)
def test_words_for_an_empty_cell_are_no_missing_code(text: str) -> None:
    assert missing_codes(text) == ()
    assert missing_codes(f"{text}; 99") == ("99",)


def test_a_range_of_missing_codes_is_each_of_them() -> None:
    assert missing_codes("-3 thru -1; 99") == ("-3", "-2", "-1", "99")


def test_unknown_values_are_told_from_those_that_can_not_be() -> None:
    for label in ("unknown", "onbekend", "nieznany", "Uppgift saknas", "Don't know/Not sure", "sem informação"):
        assert is_unknown(label)
    for label in ("not applicable", "trifft nicht zu", "nie dotyczy", "entfällt"):
        assert (is_special(label), is_unknown(label)) == (True, False)
    for label in ("unknown cause", "Kenia", "male", "1"):
        assert not is_special(label)
    assert not is_empty("Emden")


@pytest.mark.parametrize(
    ("description", "identifies"),
    [
        ("Número da AIH", True), ("Uniek nummer van de verzekerde", True), ("Lfd. Nr. der Person", True),
        ("Numer PESEL pacjenta", True), ("Numéro d'anonymisation du bénéficiaire", True), ("Polisnummer", True),
        ("Codice univoco dell'assistito", True), ("Krypteret personnummer", True), ("Zašifrované rodné číslo", True),
        ("Identifiant patient chiffré", True), ("Unique record ID", True), ("Numer księgi głównej", True),
        ("Number of children", False), ("Número de hijos", False), ("Numero dei figli", False), ("Liczba dni", False),
        ("Numéro du département", False), ("Postnummer", False), ("Number of the week", False), ("Hausnummer", False),
    ],
)  # fmt: skip
def test_phrases_for_identifiers_are_told_from_counts_and_places(description: str, identifies: bool) -> None:
    assert is_identifying(plain_text(description).lower()) is identifies


@pytest.mark.parametrize(
    ("description", "sensitive"),
    [
        ("Diagnosegroep", True), ("Religionszugehörigkeit", True), ("Monatliches Nettoeinkommen", True),
        ("Samlet indkomst i kr.", True), ("Affection de longue durée", True), ("Orientación sexual", True),
        ("Number of previous convictions", True), ("Spożywanie alkoholu", True), ("Trade union membership", True),
        ("Kuřák", True), ("Kontant bruttolön m.m.", True), ("Onemocnění", True), ("Straftaten", True),
        ("Nemocnice", False), ("Archive number", False), ("Broker", False), ("Creato il", False), ("Fett", False),
    ],
)  # fmt: skip
def test_sensitive_columns_are_guessed_by_parts_of_words(description: str, sensitive: bool) -> None:
    assert is_sensitive(plain_text(description).lower()) is sensitive


BOOK = [
    ["Pole", "Popis", "Datový typ", "Hodnoty", "Poznámka"],
    ["c1", "Zašifrované rodné číslo", "text", "", ""],
    ["c2", "Věk v letech", "číslo", "0–110", "999 = neznámý"],
    ["c3", "Počet dětí", "číslo", "0–15", ""],
    ["c4", "Výška v cm", "číslo", "40–230", ""],
    ["c5", "Průměrný počet dětí", "číslo", "0–15", ""],
    ["c6", "Diagnóza", "text", "A až F", ""],
]


def test_a_draft_marks_whole_numbers_and_roles_that_it_guessed(tmp_path: Path) -> None:
    """Counts have whole numbers, heights and means of counts may have decimals: a person decides on these."""
    table, book = write_csv(tmp_path / "t.csv", [row[0] for row in BOOK[1:]], [MARK] * 6), tmp_path / "b.csv"
    write_csv(book, *BOOK)
    draft = tmp_path / "t.yaml"
    assert crowdgate("contract", "draft", table, "--header-line", "--codebook", book, "--to", draft) == 0
    text = draft.read_text(encoding="utf-8")
    lines = {line.split("name: ")[1].split("#")[0].strip(): line for line in text.splitlines() if "# role" in line}
    assert MARK not in text
    assert [name for name, line in lines.items() if "whole numbers guessed" in line] == ["c3"]
    assert "privacyRole, value: direct-identifier" in text.partition("name: c2")[0]
    assert text.count('precision: "CHANGE (the step') == 2
    assert "privacyRole, value: sensitive" in text.partition("name: c6")[2]
    assert 'missing: ["999"]' in text


SECTIONS = """\
# Codebook

### SEQNO
Label: Annual Sequence Number

### Label: General health
**Variable name:** GENHLTH

| Value | Value label | Frequency |
|---|---|---|
| 1 | Good | 12,345 |
| 2 | Poor | 2,345 |
| 9 | Refused | 3 |
| BLANK | Not asked or Missing | 4 |

**SEX**: Sex of the respondent
- 1: Male
- 2: Female

### DAYS
Days of poor health

| Value | Value label | Frequency |
|---|---|---|
| 1 - 30 | Number of days | 1,000 |
| 88 | None | 9,000 |
| 99 | Refused | 9 |

### AGE
| Value | Value label |
|---|---|
| 18-79 | Age in years |
| 80 | 80 or older |

### REGION
Region of residence
1. North
2. South
9. Not known

**GROUP** – ethnic group: W = White, B = Black, NS = not stated.

### ABSENT
| Value | Value label |
|---|---|
| 1 | Yes |
"""


def test_sections_of_a_text_each_describe_a_variable(tmp_path: Path) -> None:
    """Frequencies are passed over, an empty cell is no code, and codes beside a range are left to decide."""
    table, book = (
        write_csv(tmp_path / "t.csv", ["SEQNO", "GENHLTH", "SEX", "DAYS", "AGE", "REGION", "GROUP"]),
        tmp_path / "b.md",
    )
    book.write_text(SECTIONS, encoding="utf-8")
    found = {each.name: each for each in read_draft_source(table, tmp_path, header_line=True, codebook=book).columns}
    assert [each.description for each in found.values()] == [
        "Annual Sequence Number", "General health", "Sex of the respondent", "Days of poor health", "",
        "Region of residence", "ethnic group",
    ]  # fmt: skip
    assert (found["GENHLTH"].values, found["GENHLTH"].missing) == ((("1", "Good"), ("2", "Poor")), ("9",))
    assert found["SEX"].values == (("1", "Male"), ("2", "Female"))
    assert (found["DAYS"].values, found["DAYS"].bounds, found["DAYS"].missing) == ((), None, ("99",))
    assert "88 = None" in found["DAYS"].unread
    assert found["AGE"].bounds == ("18", "80")
    assert (found["GROUP"].values, found["GROUP"].missing) == ((("W", "White"), ("B", "Black")), ("NS",))
    assert (found["REGION"].values, found["REGION"].missing) == ((("1", "North"), ("2", "South")), ("9",))


WITHOUT_BARS = """\
Campo | Descripción | Tipo | Dominio
--- | --- | --- | ---
sexo | Sexo | Numérico | 1: varón; 2: mujer
causa | Causa de muerte | Texto | ICD-10, 3 caracteres
"""
ROWS_OF_CODES = """\
Variabele,Label,Codes en omschrijving
SEXO,Geslacht,1: Mannen
,,2: Vrouwen
,,-: Onbekend
CAUSA,Besteedbaar inkomen,-1000 t/m 9999
,,99999: Onbekend
"""
CODED = "Merkmal;Skala;Wertebereich / Kodierung\nsexo;nominal;M / V\ncausa;ordinal;0 – nie, 1 – oft\n"
MEANINGS = """\
| Položka | Význam | Číselník |
|---|---|---|
| sexo | Pohlaví | M – muž, Z – žena |
| causa | Kraj | A až C |
"""


def test_tables_of_other_forms_are_read(tmp_path: Path) -> None:
    """Tables in Markdown without bars at both ends; codes with their labels in one cell of each row; a heading for
    meanings is one of labels where each variable has one row. A classification in the place of values is a label too.
    """
    table = write_csv(tmp_path / "t.csv", ["sexo", "causa"])
    found = {}
    for name, text in (("a.md", WITHOUT_BARS), ("b.csv", ROWS_OF_CODES), ("c.md", MEANINGS), ("d.csv", CODED)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        found[name] = read_draft_source(table, tmp_path, header_line=True, codebook=tmp_path / name).columns
    assert found["a.md"][0].values == (("1", "varón"), ("2", "mujer"))
    assert found["a.md"][1].description == "Causa de muerte (ICD-10, 3 caracteres)"
    assert (found["b.csv"][0].values, found["b.csv"][0].missing) == ((("1", "Mannen"), ("2", "Vrouwen")), ("-",))
    assert (found["b.csv"][1].bounds, found["b.csv"][1].missing) == (("-1000", "9999"), ("99999",))
    assert [each.values[-1] for each in found["d.csv"]] == [("V", ""), ("1", "oft")]
    assert [(each.description, each.values[-1]) for each in found["c.md"]] == [
        ("Pohlaví", ("Z", "žena")), ("Kraj", ("C", "")),
    ]  # fmt: skip


def test_ranges_without_decimals_are_whole_where_others_have_some(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", ["height", "weight"])
    rows = [["Name", "Type", "Values"], ["height", "numeric", "100-220"], ["weight", "numeric", "30.0-250.0"]]
    book = write_csv(tmp_path / "b.csv", *rows)
    draft = tmp_path / "t.yaml"
    assert crowdgate("contract", "draft", table, "--header-line", "--codebook", book, "--to", draft) == 0
    text = draft.read_text(encoding="utf-8")
    assert text.count("; whole numbers guessed") == 1
    assert 'to: "220", step: 1, precision: 1,' in text


def test_columns_that_domains_leaves_out_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write_csv(tmp_path / "t.csv", ["age", "region", "diagnosis", "weight"])
    draft = tmp_path / "t.yaml"
    assert crowdgate("contract", "draft", table, "--header-line", "--domains", "region", "--to", draft) == 0
    assert (
        "not published, as they have no domain (--domains drafts them): diagnosis, weight\n" in capsys.readouterr().err
    )
    lines = [line for line in draft.read_text(encoding="utf-8").splitlines() if "not published, as it has" in line]
    assert ["diagnosis" in line for line in lines] == [True, False]


@pytest.mark.parametrize(
    ("name", "meant"), [("new", "init DIR --policy"), ("draft", "contract draft"), ("lint", "check")]
)
def test_names_of_other_tools_lead_to_the_command(name: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate(name) == 2
    assert meant in " ".join(capsys.readouterr().err.replace("│", " ").split())
