"""Drafts from codebooks of several countries: their words, types, headings, sheets and forms of numbers and days."""

import re
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.contracts.reading import read_contract
from crowdgate.errors import Code
from crowdgate.planning.bundle import KNOWN
from crowdgate.review.templates.codebook_values import bare_label, listed_values
from crowdgate.review.templates.contract_draft import draft_contract
from crowdgate.review.templates.dictionary_types import StatedType, stated_type
from crowdgate.review.templates.draft_dictionary import read_dictionary
from crowdgate.review.templates.draft_sources import read_draft_source
from crowdgate.review.templates.special_labels import is_special
from crowdgate.review.templates.stated_ranges import ListedValues
from crowdgate.sources.table_header import CellType
from tests.examples import examples
from tests.review.test_contract_draft import problems_of
from tests.review.test_draft_dictionaries import write_csv
from tests.sources.table_files import write_workbook
from tests.workshop import MARK, crowdgate


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Datum (TT.MM.JJJJ)", StatedType(CellType.DAY, day_form="DD.MM.YYYY")),
        ("Date (DD/MM/YYYY)", StatedType(CellType.DAY, day_form="DD/MM/YYYY")),
        ("date (mm/dd/yyyy)", StatedType(CellType.DAY, day_form="MM/DD/YYYY")),
        ("Fecha (dd/mm/aaaa)", StatedType(CellType.DAY, day_form="DD/MM/YYYY")),
        ("datum (dd-mm-jjjj)", StatedType(CellType.DAY, day_form="DD-MM-YYYY")),
        ("Date YYYYMMDD", StatedType(CellType.DAY, day_form="YYYYMMDD")),
        ("date, YYYY-MM-DD", StatedType(CellType.DAY, day_form="YYYY-MM-DD")),
        ("date (mmm yy)", StatedType(CellType.DAY)),
        ("Dezimal (8,2)", StatedType(CellType.NUMBER, 2)),
        ("Numeric(5,1)", StatedType(CellType.NUMBER, 1)),
        ("decimal 10,2", StatedType(CellType.NUMBER, 2)),
        ("NUMBER(5)", StatedType(CellType.WHOLE)),
        ("Integer, 2 digits", StatedType(CellType.WHOLE)),
        ("Ganzzahl (1-stellig)", StatedType(CellType.WHOLE)),
        ("date_mdy", StatedType(CellType.DAY)),
        ("Text (5)", StatedType()),
        ("numbers of a house", StatedType()),
        ("", StatedType()),
    ],
)
def test_a_type_is_read_with_its_size_or_form(text: str, expected: StatedType) -> None:
    assert stated_type(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("von 0,00 bis 99999,99", ListedValues(bounds=("0", "100000"), decimals=2)),
        ("0.0-300.0", ListedValues(bounds=("0", "300"), decimals=1)),
        ("between 1 and 5", ListedValues(bounds=("1", "5"), decimals=0)),
        ("entre 0 y 98", ListedValues(bounds=("0", "98"), decimals=0)),
        ("1 t/m 7", ListedValues(bounds=("1", "7"), decimals=0)),
        ("-9 = missing; 0-120", ListedValues(bounds=("0", "120"), missing=("-9",), decimals=0)),
        ("1-6, 9=Ukjent", ListedValues(bounds=("1", "6"), missing=("9",), decimals=0)),
        ("0-9999=Days", ListedValues(bounds=("0", "9999"), decimals=0)),
        ("1 and 2", ListedValues()),
        ("Sexe: F = féminin, M = masculin", ListedValues((("F", "féminin"), ("M", "masculin")))),
        ("1=YES; 5=NO", ListedValues((("1", "YES"), ("5", "NO")))),
        ("['m', 'w', 'd']", ListedValues((("m", ""), ("w", ""), ("d", "")))),
        ("{'01': 'Heart (all)', '02': \"Men's\"}", ListedValues((("01", "Heart (all)"), ("02", "Men's")))),
        ("01-09-2022 t/m 31-12-2022", ListedValues(bounds=("2022-09-01", "2022-12-31"))),
        ("1=Hombre; 6=Mujer", ListedValues((("1", "Hombre"), ("6", "Mujer")))),
        ("1=low; 5=high", ListedValues(unread="1 = low; 5 = high")),
        ("Abbey / Old Town / East", ListedValues((("Abbey", ""), ("Old Town", ""), ("East", "")))),
        ("1=Man; 2=Vrouw; 9=iets", ListedValues((("1", "Man"), ("2", "Vrouw"), ("9", "iets")))),
        ("41=a; 43=b; 65=c", ListedValues((("41", "a"), ("43", "b"), ("65", "c")))),
        ("18=18 or less; 40=40; 65=65+", ListedValues(unread="18 = 18 or less; 40 = 40; 65 = 65+")),
        ("1=none; 5=some; 9=all", ListedValues(unread="1 = none; 5 = some; 9 = all")),
        ("M, F, I (indeterminate)", ListedValues((("M", ""), ("F", ""), ("I", "indeterminate")))),
        ("M (312), F (298)", ListedValues()),
        ("M (n=312), F (n=298)", ListedValues((("M", ""), ("F", "")))),
        ("1 (one, alone); 2 (two)", ListedValues((("1", "one, alone"), ("2", "two")))),
        ("1 (most deprived) to 10 (least deprived)", ListedValues(bounds=("1", "10"), decimals=0)),
        ("0 to 20, -1 = not recorded", ListedValues(bounds=("0", "20"), missing=("-1",), decimals=0)),
        ("0-8; 9 = No consta", ListedValues(bounds=("0", "8"), missing=("9",), decimals=0)),
    ],
)
def test_ranges_and_lists_are_read_in_words_of_several_languages(text: str, expected: ListedValues) -> None:
    assert listed_values(text) == expected


@pytest.mark.parametrize(
    ("label", "special"),
    [
        ("keine Angabe", True), ("weiß nicht", True), ("Ne sait pas", True), ("NSP", True), ("Weet niet", True),
        ("No sabe/No contesta", True), ("não informado", True), ("Ukjent", True), ("brak danych", True),
        ("Not specified", True), ("Don't know/refused", True), ("Kenia", False), ("no", False), ("male/unknown", False),
        ("1/2", False), ("Nein", False),
    ],
)  # fmt: skip
def test_labels_of_no_value_are_known_in_several_languages(label: str, special: bool) -> None:
    assert is_special(label) is special


@pytest.mark.parametrize(
    "heads",
    [
        ["COD_VAR", "LIB_VAR", "COD_MOD", "LIB_MOD", "TYPE_VAR", "LONG_VAR"],
        ["Variable", "Libellé", "Code", "Libellé de la modalité", "Type", "Longueur"],
        ["Variable", "Etiqueta", "Valor", "Descripción del valor", "Tipo", "Longitud"],
    ],
    ids=lambda heads: str(heads[3]),
)
def test_a_heading_of_labels_beside_one_of_codes_is_that_of_their_labels(heads: Sequence[str]) -> None:
    """The first headings are those of the dictionaries of INSEE."""
    rows = [
        ["A title", *[""] * 5],
        heads,
        ["S", "Sexe", "1", "Homme", "CHAR", "1"],
        ["S", "Sexe", "2", "F", "CHAR", "1"],
    ]
    (sex,) = read_dictionary(Path("d.csv"), rows, ("s",)).columns
    assert (sex.description, sex.values) == ("Sexe", (("1", "Homme"), ("2", "F")))


FORMS = [
    ["Field", "Column heading", "Data format", "Allowed values"],
    ["Merkmal", "Bezeichnung", "Datentyp", "Ausprägungen"],
    ["N°", "Nom dans le fichier", "Type de variable", "Modalités possibles"],
    ["Nr", "Variabelnavn", "Datatype", "Gyldige verdier"],
    ["", "Kolumn", "Sort", "Värdemängd"],
    ["Page", "Question code", "Type of answer", "Response categories"],
]


@pytest.mark.parametrize("heads", FORMS, ids=[each[3] for each in FORMS])
def test_the_headings_of_offices_are_known(heads: Sequence[str]) -> None:
    """The heading of names is the one above names of the table, where several could be."""
    at = 0 if heads[0] == "Merkmal" else 1
    rows = [["A title of the office", "", "", ""], list(heads)]
    rows += [[*(["7", "sex"] if at else ["sex", "7"]), "integer", "1=Male; 2=Female"]]
    rows += [[*(["8", "age"] if at else ["age", "8"]), "integer", "0-120"]]
    sex, age = read_dictionary(Path("d.csv"), rows, ("SEX", "age")).columns
    assert sex.values == (("1", "Male"), ("2", "Female"))
    assert (age.type, age.bounds) == (CellType.WHOLE, ("0", "120"))


@pytest.mark.parametrize(
    ("code", "label", "bare"),
    [
        ("1", "1. Male", "Male"), ("1", "(1) Male", "Male"), ("-9", "-9: None", "None"), ("1", "1 - Yes", "Yes"),
        ("1", "1 child", "1 child"), ("1", "10. x", "10. x"), ("1", "1.", "1."), ("1", "1.5 km", "1.5 km"),
    ],
)  # fmt: skip
def test_a_label_does_not_repeat_its_code(code: str, label: str, bare: str) -> None:
    assert bare_label(code, label) == bare


@pytest.mark.parametrize(
    "rows",
    [
        [["Name", "Label", "Asked"], ["sex", "Sex", "2015-2020"], ["age", "Age of pupil", "2015-2021"]],
        [["Name", "Label", "Columns"], ["sex", "Sex", "1-2"], ["age", "Age of pupil", "3-5"]],
        [["Name", "Label", "Example values"], ["sex", "Sex", "1=Male; 2=Female"], ["age", "Age of pupil", "3, 4"]],
        [["Name", "Label", "Number of categories"], ["sex", "Sex", "1/2"], ["age", "Age of pupil", "99"]],
    ],
    ids=["years", "positions", "examples", "counts"],
)
def test_other_ranges_and_lists_are_no_values(rows: Sequence[Sequence[str]]) -> None:
    found = read_dictionary(Path("d.csv"), rows, ("sex", "age"))
    assert [(each.values, each.bounds) for each in found.columns] == [((), None), ((), None)]


def test_a_title_with_commas_does_not_change_the_delimiter_of_a_dictionary(tmp_path: Path) -> None:
    table, book = write_csv(tmp_path / "t.csv", ["gs"], mark=";"), tmp_path / "b.csv"
    book.write_text("Liste, Stand 2024, Teil 1, 2, 3\nMerkmal;Werte\ngs;1=m, 2=w\n", encoding="utf-8")
    found = read_draft_source(table, tmp_path, header_line=True, codebook=book)
    assert found.columns[0].values == (("1", "m"), ("2", "w"))


@pytest.mark.parametrize("own", [True, False], ids=["sheets beside the table", "a workbook of its own"])
def test_sheets_of_variables_and_of_their_codes_are_one_codebook(tmp_path: Path, own: bool) -> None:
    sheets = {
        "Variabelliste": [
            ["Variabelnavn", "Beskrivelse", "Datatype", "Gyldige verdier"],
            ["kjonn", "Kjønn", "Heltall", "se kodeverk"],
            ["timer", "Timer per uke", "Desimal(4,1)", "0,0–80,0"],
        ],
        "Kodeverk": [["Variabelnavn", "Kode", "Klartekst"], ["kjonn", "1", "Mann"], ["kjonn", "2", "Kvinne"]],
    }
    cells: dict[str, list[list[str]]] = {"Data": [["kjonn", "timer"], ["1", MARK]]}
    source, book = tmp_path / "t.xlsx", tmp_path / ("t.xlsx" if own else "b.xlsx")
    write_workbook(source, cells | (sheets if own else {}))
    if not own:
        write_workbook(book, {"About": [["Read me"]], **sheets})
    found = read_draft_source(source, tmp_path, header_line=True, part="Data", codebook=book)
    sex, hours = found.columns
    assert (sex.description, sex.values) == ("Kjønn", (("1", "Mann"), ("2", "Kvinne")))
    assert (hours.type, hours.bounds, hours.decimals) == (CellType.NUMBER, ("0", "80"), 1)
    assert MARK not in str(found)


def draft_of(folder: Path, head: Sequence[str], *book: Sequence[str], mark: str = ",") -> str:
    table = write_csv(folder / "t.csv", head, mark=mark)
    codebook = write_csv(folder / "b.csv", *book) if book else None
    return draft_contract(read_draft_source(table, folder, header_line=True, codebook=codebook), "t")


@pytest.mark.parametrize(
    ("mark", "kind", "least", "forms"),
    [
        (";", "Datum (TT.MM.JJJJ)", "0,00", 'decimalMark, value: ","}, {property: dayForm, value: "DD.MM.YYYY"}'),
        (";", "Datum", "0.00", 'decimalMark, value: "CHANGE (the mark in numbers: . or ,)"}, {property: dayForm,'),
        (",", "Date (DD/MM/YYYY)", "0,00", 'format: csv, customProperties: [{property: dayForm, value: "DD/MM/YYYY"}]'),
        (",", "Date (YYYY-MM-DD)", "0.00", "format: csv}]"),
        (",", "Dato (DD.MM.ÅÅÅÅ)", "0.00", 'format: csv, customProperties: [{property: dayForm, value: "DD.MM.YYYY"}]'),
    ],
)  # fmt: skip
def test_a_codebook_states_the_forms_of_numbers_and_days(
    tmp_path: Path, mark: str, kind: str, least: str, forms: str
) -> None:
    """A decimal comma counts only where the header leaves the mark open; a codebook's point says nothing."""
    book = [["Name", "Type", "Min", "Max"], ["fee", "", least, "9"], ["seen", kind, "", ""]]
    assert forms in draft_of(tmp_path, ["fee", "seen"], *book, mark=mark)


@pytest.mark.parametrize(
    "name",
    [
        "NINO", "CaseRef", "idnr", "personnummer", "SSN", "patient_id", "household_id", "respnr", "cpf", "HHNR",
        "codice_fiscale", "fødselsnummer", "IdentifiantMénage",
    ],
)  # fmt: skip
def test_numbers_of_persons_and_households_are_direct_identifiers(tmp_path: Path, name: str) -> None:
    """The owner decides only which of them the person is."""
    text = draft_of(tmp_path, [name])
    assert "privacyRole, value: direct-identifier" in text
    assert f"such as {name})" in text or f"{name} names a row, a case or a household)" in text


@pytest.mark.parametrize(
    "name",
    [
        "comune",
        "case_type",
        "kommune",
        "codice_comune",
        "date_ref",
        "jahr",
        "vtid",
        "arbeid",
        "eenzaamheid",
        "postnummer",
    ],
)
def test_other_names_are_no_identifiers(tmp_path: Path, name: str) -> None:
    assert "direct-identifier}" not in draft_of(tmp_path, [name])


@pytest.mark.parametrize("name", ["âge", "Ålder", "leeftijd", "edad", "Età"])
def test_an_age_is_one_in_several_languages(tmp_path: Path, name: str) -> None:
    assert "{from: 0, to: 90, top: true, source: ages in years}" in draft_of(tmp_path, [name])


def test_columns_of_true_and_false_have_a_domain_unless_their_name_can_not_be_published(tmp_path: Path) -> None:
    source = tmp_path / "t.parquet"
    pq.write_table(pa.schema([("uti", pa.bool_()), ("=x", pa.bool_())]).empty_table(), source)
    text = draft_contract(read_draft_source(source, tmp_path), "t")
    assert text.count("property: domain") == 1


def test_the_tenth_edition_of_the_icd_needs_no_decision(tmp_path: Path) -> None:
    rows = [["Name", "Label"], ["diag", "Diagnóstico principal (CID-10)"], ["old", "Diagnosis (ICD-9)"]]
    text = draft_of(tmp_path, ["diag", "old"], *rows)
    diagnosis, _, older = text.partition("name: old")
    assert "{property: classification, value: icd-10}\n          - {property: firstCharacters, value: 3}" in diagnosis
    assert "CHANGE (each value" not in diagnosis
    assert "CHANGE (in place of domain and its value write classification, value: icd-9 for codes" in older


def test_a_letter_of_a_code_of_the_icd_is_no_code(tmp_path: Path) -> None:
    rows = [["Name", "Label"], ["diag", "Primary diagnosis, first letter of the ICD-10 code"]]
    assert "property: classification" not in draft_of(tmp_path, ["diag"], *rows)


def test_missing_codes_and_coarse_numbers_are_told_beside_the_role(tmp_path: Path) -> None:
    rows = [["Name", "Type", "Values", "Missing"], ["x", "integer", "", "-9 = missing; 99"],
            ["y", "decimal", "0.00 to 99999.99", ""]]  # fmt: skip
    text = draft_of(tmp_path, ["x", "y"], *rows)
    assert '# role unknown; not published, as it has no domain; missing: "-9", "99"' in text
    assert "# role unknown; sums and means round to 1: for precision: 0.1 the range is too wide" in text


@pytest.mark.parametrize(
    ("kind", "least", "greatest", "stated"),
    [
        ("integer", "0", "9999999", 'from: "0", to: "10000000", step: 100, precision: 100, source'),
        ("decimal", "0.00", "2500000.00", 'from: "0", to: "2500000", step: 10, precision: 10, source'),
        ("integer", "0", "999998", 'from: "0", to: "999998", source'),
    ],
)
def test_a_wide_range_has_steps_that_a_domain_can_hold(
    tmp_path: Path, kind: str, least: str, greatest: str, stated: str
) -> None:
    text = draft_of(tmp_path, ["x"], ["Name", "Type", "Min", "Max"], ["x", kind, least, greatest])
    assert stated in text
    path = tmp_path / "c.yaml"
    path.write_text(re.sub('"CHANGE .row.*?"}', "row}", re.sub('"CHANGE .[aw].*?"', "people", text)), encoding="utf-8")
    assert read_contract(path, KNOWN.servers).by_name["x"].domain is not None


def test_variables_that_differ_by_number_share_no_decision_if_their_labels_differ(tmp_path: Path) -> None:
    rows = [["Name", "Label", "Type"], ["v012", "Current age", "integer"], ["v201", "Children ever born", "integer"],
            ["v202", "Sons (of all children)", "integer"]]  # fmt: skip
    text = draft_of(tmp_path, [row[0] for row in rows[1:]], *rows)
    assert "like" not in text
    assert text.count("ages in years") == 1
    same = [["Name", "Label", "Type"], *([f"v{i}", f"Children {i}", "integer"] for i in range(3))]
    (tmp_path / "t.csv").unlink()
    assert draft_of(tmp_path, ["v0", "v1", "v2"], *same).count("like, value: v}") == 3


def test_a_decimal_comma_parts_no_missing_codes(tmp_path: Path) -> None:
    rows = [["Name", "Values", "Missing"], ["bmi", "10,0 - 80,0", "99,9"], ["n", "0 - 80", "98,99"]]
    text = draft_of(tmp_path, ["bmi", "n"], *rows)
    assert 'missing: ["99.9"]' in text
    assert 'missing: ["98", "99"]' in text


def test_missing_codes_and_the_form_of_days_are_read_from_words(tmp_path: Path) -> None:
    rows = [
        ["Variable", "Descripción", "Tipo", "Observaciones"],
        ["horas", "Horas (98 = no sabe, 12 = doce)", "N", "01.0 - 98.0; 99,9 = No consta"],
        ["fecha", "Cuando", "A", "dd/mm/aaaa"],
        ["alta", "Fecha del alta", "A", ""],
        ["dia", "Day of the week", "A", ""],
    ]
    table = write_csv(tmp_path / "t.csv", [each[0] for each in rows[1:]], mark=";")
    book = write_csv(tmp_path / "b.csv", *rows)
    found = read_draft_source(table, tmp_path, header_line=True, codebook=book)
    assert found.columns[0].missing == ("98", "99.9")
    assert [each.is_day for each in found.columns] == [False, True, True, False]
    assert found.settings["dayForm"] == "DD/MM/YYYY"


def test_measured_numbers_of_a_ddi_codebook_have_decimals_unless_it_says_otherwise(tmp_path: Path) -> None:
    stated = ("", 'dcml="0"', 'dcml="2"')
    source = tmp_path / "c.xml"
    source.write_text(
        "<codeBook><fileDscr><fileTxt><fileName>t.tab</fileName></fileTxt></fileDscr><dataDscr>"
        + "".join(f'<var name="c{at}" intrvl="contin" {each}/>' for at, each in enumerate(stated))
        + '<var name="f" intrvl="contin"><varFormat type="numeric" formatname="F8.0"/></var>'
        '<var name="d" intrvl="discrete"><varFormat type="numeric"/></var></dataDscr></codeBook>', encoding="utf-8",
    )  # fmt: skip
    write_csv(tmp_path / "t.tab", ["c0", "f"], mark="\t")
    found = read_draft_source(source, tmp_path)
    whole, number = CellType.WHOLE, CellType.NUMBER
    assert [each.type for each in found.columns] == [number, whole, number, whole, whole]
    assert (found.format, found.path, found.settings) == ("csv", "t.tab", {"delimiter": "\t"})
    table = read_draft_source(tmp_path / "t.tab", tmp_path, header_line=True, codebook=source)
    assert (table.format, table.settings) == ("csv", {"delimiter": "\t"})


def test_domains_are_added_to_those_that_need_no_decision(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Columns whose whole domain would be left to decide get one only if they are named; others lose none."""
    table = write_csv(tmp_path / "t.csv", ["sex", "ward", "income", "height", "hours"])
    rows = ["sex", "", "1=a; 2=b"], ["ward", "", "x; y"], ["height", "numeric", "0 to 90"]
    book = write_csv(tmp_path / "b.csv", ["Name", "Type", "Values"], *rows)
    command = ["contract", "draft", table, "--header-line", "--codebook", book]
    assert crowdgate(*command, "--domains", "hours") == 0
    text = capsys.readouterr().out
    names = {
        each: text[text.index(f"name: {each}") :].partition("\n      - ")[0]
        for each in ("sex", "ward", "income", "height")
    }
    assert "A and B; name there, too, each column whose whole domain is CHANGE, or it gets none. By hand" in text
    assert [each for each, part in names.items() if "property: domain" in part] == ["sex", "ward", "height"]
    assert 'precision: "CHANGE (' in names["height"]
    assert "property: domain" in text[text.index("name: hours") :]


def test_empty_cells_and_days_of_a_ddi_codebook_are_known(tmp_path: Path) -> None:
    """Sysmiss is no value, marked as missing or not; a format of days makes days."""
    empty = "<catgry><catValu>Sysmiss</catValu><labl>x</labl></catgry><catgry><catValu>.</catValu></catgry>"
    codes = "".join(f"<catgry><catValu>{code}</catValu><labl>{code}0</labl></catgry>" for code in (1, 2))
    days = ('category="date"', 'formatname="DATE11"', 'formatname="SDATE10"', 'formatname="%td"')
    source = tmp_path / "c.xml"
    source.write_text(
        f'<codeBook><dataDscr><var name="sex">{codes}{empty}<varFormat type="numeric"/></var>'
        + "".join(f'<var name="d{at}"><varFormat type="numeric" {each}/></var>' for at, each in enumerate(days))
        + '<var name="n"><varFormat type="numeric" formatname="F8.2"/></var>'
        '<var name="years" intrvl="contin"><valrng><range min="0" max="98"/></valrng>'
        "<catgry><catValu>17</catValu><labl>17 or more</labl></catgry>"
        "<catgry><catValu>98</catValu><labl>98. DK</labl></catgry>"
        '</var><var name="day"><labl>Interview (YYYYMMDD)</labl></var></dataDscr></codeBook>', encoding="utf-8",
    )  # fmt: skip
    sex, *dated, number, age, day = read_draft_source(source, tmp_path).columns
    assert (sex.values, sex.missing) == ((("1", "10"), ("2", "20")), ())
    assert {each.type for each in dated} == {CellType.DAY}
    assert (number.type, number.decimals) == (CellType.NUMBER, 2)
    assert (age.bounds, age.missing) == (("0", "98"), ("98",))
    assert (day.type, day.day_form) == (CellType.DAY, "YYYYMMDD")


@pytest.mark.parametrize(
    ("kind", "least", "greatest", "left"),
    [
        ("date", "0", "99", "0 to 99"),
        ("decimal", "2020-01-01", "2021-12-31", "2020-01-01 to 2021-12-31"),
        ("date", "2020-01-01", "2021-12-31", ""),
        ("decimal", "0", "99", ""),
    ],
)
def test_a_range_of_another_kind_than_the_type_is_left_to_decide(
    tmp_path: Path, kind: str, least: str, greatest: str, left: str
) -> None:
    text = draft_of(tmp_path, ["x"], ["Name", "Type", "Min", "Max"], ["x", kind, least, greatest])
    assert ("CHANGE (each value that can be" in text) == bool(left)
    assert left in text


CELLS = {
    "Type": ("", "integer", "decimal", "Decimal (8,2)", "date", "Datum (TT.MM.JJJJ)", "text", "Numeric(5)", "boolean"),
    "Values": (
        "", "1=Male; 2=Female; 9=unknown", "a, b, c", "0-10", "0,5 - 99,9", "01.01.2020 - 31.12.2020", "1=x; 2=x; 3==y",
        "-9 = missing; 0-120", "0 = none; 10 = all", "1=1; 2=+2", "Y/N", "1 = a, 1 = b", "0.00 to 99999999.99", "1..1",
        "{'1': 'a'}", "free text, at most 9", "00 | 01 | 99", "1=2; 2=3", "97=97 or more; 99=DK", "true/false",
        "1 = =SUM(A1); 2 = @b", "1=a; 2=b; *=unknown", "* = all; 1 = b",
        "-1, 0, 1", "A-F",
        "leer; 1; 2", "1=a; X=unknown", "-5 to -1; -9=refused", "2020-01-01 to 2019-01-01", "x", "1=(invalid); 2=any",
    ),
    "Min": ("", "0", "1,5", "-3", "2020-01-01"),
    "Max": ("", "5", "99.99", "12345678", "2021-12-31"),
    "Missing": ("", "-9", "-9; 99", "9 = unknown", "1", "a", "99,9", "1900-01-01", "2"),
    "Label": ("", "Age", "Sex", "Diagnosis (ICD-10)", "Household number", "Date of birth", "Income", "Weight"),
}  # fmt: skip


@pytest.mark.thorough
@settings(max_examples=examples(40))
@given(
    st.lists(st.tuples(*map(st.sampled_from, CELLS.values())), min_size=1, max_size=6),
    st.sampled_from([",", ";"]),
    st.booleans(),
)
def test_a_draft_with_a_codebook_is_valid_but_for_what_is_left_to_decide(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, ...]], mark: str, named: bool
) -> None:
    """Whatever cells of a codebook say, and contradict each other in: no drafted line is a mistake."""
    folder = tmp_path_factory.mktemp("t")
    rows = [(*rows[0][:-1], rows[0][-1] or "Sex"), *rows[1:]]  # a codebook that says nothing is refused
    names = [f"{'age' if named and not at else 'v'}{at or ''}" for at in range(len(rows))]
    book = [["Name", *CELLS], *([name, *row] for name, row in zip(names, rows, strict=True))]
    text = draft_of(folder, names, *book, mark=mark)
    left = problems_of(folder, text)
    assert [each for each in left if each.code is not Code.UNDECIDED] == []
