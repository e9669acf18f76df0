"""The forms in which codebooks write lists, ranges, open ends, empty cells and roles."""

import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from crowdgate.contracts.contract import Role
from crowdgate.review.templates.codebook_values import listed_values
from crowdgate.review.templates.contract_draft import draft_contract
from crowdgate.review.templates.draft_column import DraftColumn
from crowdgate.review.templates.draft_dictionary import read_dictionary
from crowdgate.review.templates.draft_sources import read_draft_source
from crowdgate.review.templates.special_labels import is_empty, is_special
from crowdgate.review.templates.stated_ranges import ListedValues
from crowdgate.review.templates.stated_roles import role_in_brackets, stated_role
from crowdgate.sources.table_header import CellType
from tests.examples import examples
from tests.review.test_draft_dictionaries import write_csv

LABELS = st.lists(st.text(string.ascii_lowercase, min_size=4, max_size=9), min_size=2, max_size=6, unique=True).filter(
    lambda each: not any(is_special(label) or is_empty(label) for label in each)
)
MARKS = [" = ", "=", ": ", " - ", "- ", "-", "–", "– ", " – ", ". ", ") "]
"""The marks between a code and its label."""
BETWEEN = ["; ", ", ", " | ", "\n", " "]
"""The marks between two entries. A blank alone parts those with one-digit codes."""
EMPTY = [
    "blank",
    "empty",
    "leer",
    "vide",
    "vacío",
    "vazia",
    "vuoto",
    "leeg",
    "puste",
    "tomt",
    "tom",
    "prázdné",
    "NULL",
    "Tomt",
    "lege cel",
    "célula vazia",
    "tom celle",
    "leere Zelle",
]
UNKNOWN = [
    "unknown", "not stated", "missing", "Ignorado", "ignorada", "uppgift saknas", "okänt", "Weet niet", "onbekend",
    "unbekannt", "keine Angabe", "ne sait pas", "non renseigné", "no contesta", "não informado", "non risponde",
    "ukjent", "uoplyst", "nie wiem", "neví", "refused to say [missing]",
]  # fmt: skip


def column(values: str, **others: str) -> DraftColumn:
    """Return a column that a data dictionary states so."""
    rows = [["variable", "values", *others], ["x", values, *others.values()]]
    return read_dictionary(Path("b.csv"), rows, ["x"]).columns[0]


@settings(max_examples=examples(150))
@given(LABELS, st.sampled_from(MARKS), st.sampled_from(BETWEEN), st.booleans())
def test_every_written_form_of_a_list_gives_its_codes_and_labels(
    labels: Sequence[str], mark: str, between: str, letters: bool
) -> None:
    """Never are texts with their codes the values: a list that is not read is quoted."""
    codes = string.ascii_uppercase if letters else string.digits[1:]
    text = between.join(f"{code}{mark}{label}" for code, label in zip(codes, labels, strict=False))
    expected = tuple(zip(codes, labels, strict=False))
    assert listed_values(text).values == expected


@pytest.mark.parametrize("unknown", UNKNOWN)
@pytest.mark.parametrize("mark", ["- ", "-", " = ", " "])
def test_a_code_for_unknown_is_missing_in_every_form(unknown: str, mark: str) -> None:
    found = listed_values(f"1{mark}Sim; 2{mark}Talvez; 9{mark}{unknown}")
    assert found.values == (("1", "Sim"), ("2", "Talvez"))
    assert found.missing == ("9",)


@pytest.mark.parametrize("word", EMPTY)
def test_words_for_an_empty_cell_are_no_values_and_no_codes(word: str) -> None:
    for values in (
        word,
        f"0-5; {word} = none",
        f"0-5, {word} = none" if " " not in word else word,
        f"1=a; 2=b; {word}=not asked",
        f"1=a; 2=b; {word}",
    ):
        found = column(values, missing=word)
        assert not found.missing
        assert not found.unread
        assert word not in [code for code, _ in found.values]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0-90; 90 = 90 years and older; 999 = unknown",
         ListedValues(bounds=("0", "90"), missing=("999",), decimals=0, top=True)),
        ("18 - 85   (85 = 85 of ouder)\n999 Weigert  [missing]",
         ListedValues(bounds=("18", "85"), missing=("999",), decimals=0, top=True)),
        ("3.0-20.0, -9 = not done, blank = result pending",
         ListedValues(bounds=("3", "20"), missing=("-9",), decimals=1)),
        ("Y/N, U = unknown", ListedValues((("Y", ""), ("N", "")), missing=("U",))),
        ("1.000 a 999.999", ListedValues(unread="1.000 a 999.999")),
        ("0,300 - 3,000", ListedValues(bounds=("0.3", "3"), decimals=3)),
        ("01/01/2023 to 31/12/2023", ListedValues(bounds=("2023-01-01", "2023-12-31"))),
        ("20 A, 21 B,\n22 C", ListedValues((("20", "A"), ("21", "B"), ("22", "C")))),
        ("0-90; 90 = retired; 999 = unknown",
         ListedValues(unread="0-90; 90 = retired; 999 = unknown", missing=("999",))),
        ("1=no, 2 = mild 3 = severe", ListedValues(unread="1=no, 2 = mild 3 = severe")),
        ("1 no, 2 mild; 3 severe", ListedValues(unread="1 no, 2 mild; 3 severe")),
        ("1-Sim; Talvez", ListedValues(unread="1-Sim; Talvez")),
    ],
)  # fmt: skip
def test_a_list_is_read_as_a_whole_or_not_at_all(text: str, expected: ListedValues) -> None:
    assert listed_values(text) == expected


CLAUSES = ["0-90", "90 = 90 or older", "999 = unknown", "in whole years", "97 = a few", "blank = none", "see note 3"]


@settings(max_examples=examples(100))
@given(st.lists(st.sampled_from(CLAUSES), min_size=1, max_size=4, unique=True), st.sampled_from(["; ", ", ", "\n"]))
def test_no_clause_is_dropped_without_a_mark(clauses: Sequence[str], between: str) -> None:
    """A clause that says something else than a range, its open end or its missing codes is quoted."""
    assume(between != ", " or "blank = none" not in clauses[:-1])  # its label may have a comma
    found = column(between.join(clauses))
    others = {*clauses} - {"0-90", "90 = 90 or older", "999 = unknown", "blank = none"}
    assert others <= {code for code, _ in found.values} or found.unread or found.remark


@pytest.mark.parametrize(
    ("label", "is_open"),
    [
        ("90 years and older", True), ("90+", True), ("90 of ouder", True), ("90 ans et plus", True),
        ("90 oder mehr", True), ("90 und älter", True), ("90 eller fler", True), ("90 o más", True),
        ("90 ou mais", True),
        ("90 e oltre", True), ("90 lub więcej", True), ("90 a více", True), (">= 90", True), ("at least 90", True),
        ("or more", True), ("91 or more", False), ("retired", False), ("Morelia", False), ("and mored", False),
    ],
)  # fmt: skip
def test_an_open_end_is_known_by_its_label(label: str, is_open: bool) -> None:
    found = listed_values(f"0-90; 90 = {label}")
    assert found.top is is_open
    assert (found.bounds is None) is not is_open


@pytest.mark.parametrize(
    ("cell", "role"),
    [
        ("Identificador", Role.DIRECT_IDENTIFIER), ("Identifierare", Role.DIRECT_IDENTIFIER),
        ("Identifiant direct, non diffusable", Role.DIRECT_IDENTIFIER), ("direct identifier", Role.DIRECT_IDENTIFIER),
        ("identifier - do not release", Role.DIRECT_IDENTIFIER), ("personal identifier", Role.DIRECT_IDENTIFIER),
        ("Quase-identificador", Role.QUASI_IDENTIFIER), ("Kvasi-identifierare", Role.QUASI_IDENTIFIER),
        ("quasi-identifier", Role.QUASI_IDENTIFIER), ("Quasi-Identifikator", Role.QUASI_IDENTIFIER),
        ("indirect identifier", Role.QUASI_IDENTIFIER), ("cuasi-identificador", Role.QUASI_IDENTIFIER),
        ("Sensível", Role.SENSITIVE), ("Känslig", Role.SENSITIVE), ("Donnée sensible", Role.SENSITIVE),
        ("gevoelig", Role.SENSITIVE), ("sensibel", Role.SENSITIVE), ("følsom", Role.SENSITIVE),
        ("citlivé", Role.SENSITIVE),
        ("confidential", Role.SENSITIVE), ("not sensitive", None), ("non-sensible", None), ("nicht sensibel", None),
        ("ej känslig", None), ("não sensível", None), ("pseudo-identifier", None), ("niet gevoelig", None),
        ("public", None),
        ("not an identifier", None), ("", None), ("none", None),
    ],
)  # fmt: skip
def test_a_role_is_read_from_a_cell_about_sensitivity(cell: str, role: Role | None) -> None:
    assert stated_role(cell) is role
    for heading in ("Sensitivity", "Confidentiality", "Sigilo", "Känslighet", "Vertraulichkeit", "Sensibilité"):
        assert column("", **{heading: cell}).role is role


@pytest.mark.parametrize(
    ("words", "role"),
    [
        ("Ethnic group, level 1 (sensitive)", Role.SENSITIVE), ("Ervaren gezondheid (gevoelig)", Role.SENSITIVE),
        ("Health number (identifier - do not release)", Role.DIRECT_IDENTIFIER),
        ("Respondentnummer (identificator, intern)", Role.DIRECT_IDENTIFIER),
        ("Income [sensitive data]", Role.SENSITIVE),
        ("Skin (sensitive to light)", None), ("Ward (identifier of the ward)", None), ("Code (case sensitive)", None),
        ("Sensitive skin", None), ("Postcode (not sensitive)", None),
    ],
)  # fmt: skip
def test_a_role_in_brackets_is_read_if_they_say_nothing_else(words: str, role: Role | None) -> None:
    assert role_in_brackets(words) is role


def test_a_role_of_the_codebook_that_is_no_guess_is_marked(tmp_path: Path) -> None:
    """A codebook makes a column less protected than its name does only with a mark."""
    text = draft(tmp_path, ["variable", "description", "values", "sensitivity"],
                 ["patient_id", "The patient", "", "quasi-identifier"], ["sex", "Sex", "1=m; 2=f", "Sensitive"],
                 ["age", "Age", "0-90", ""], ["grp", "Group", "1=a; 2=b", "Quasi-identifier"])  # fmt: skip
    assert "name: patient_id  # role from the codebook, not direct-identifier as its words suggest" in text
    assert "name: sex  # role from the codebook, not quasi-identifier as its words suggest" in text
    assert "name: age  # role guessed\n" in text
    assert "name: grp  # role from the codebook\n" in text


def test_what_stands_in_the_place_of_values_and_is_not_understood_is_quoted(tmp_path: Path) -> None:
    text = draft(
        tmp_path, ["variable", "values"], ["a", "Table of the office, 6 digits"], ["b", "yyyy-mm-dd"], ["c", "blank"]
    )
    assert '# role unknown; not published, as it has no domain; not understood: "Table of the office' in text
    assert text.count("not understood") == 1


def test_the_range_and_the_open_end_of_ages_are_those_of_the_codebook(tmp_path: Path) -> None:
    text = draft(tmp_path, ["variable", "values", "notes"], ["age", "15-95", "95 = 95 ans et plus"],
                 ["children", "0–4", "4 = fyra eller fler"])  # fmt: skip
    assert '{from: "15", to: "95", top: true, source' in text
    assert '{from: "0", to: "4", ' in text
    assert text.count("top: true") == 2
    unread = draft(tmp_path, ["variable", "values"], ["age", "0-90; 85 = some; 999 = unknown"])
    assert "missing: ['999'], source: WHERE" in unread
    assert "; the codebook b.csv, row 2, says: 0-90; 85 = some; 999 = unknown)" in unread
    assert "ages in years" not in unread
    assert "levels" not in unread  # no value is known that they could hold


@pytest.mark.parametrize(
    ("words", "form"),
    [
        ("01/01/2023 to 31/12/2023", "DD/MM/YYYY"), ("01/01/2023 to 12/31/2023", "MM/DD/YYYY"),
        ("01.01.2023 bis 31.12.2023", "DD.MM.YYYY"), ("2023-01-01 to 2023-12-31", ""), ("01/01/2023 to 01/01/2023", ""),
    ],
)  # fmt: skip
def test_days_are_in_the_form_of_their_range(tmp_path: Path, words: str, form: str) -> None:
    text = draft(tmp_path, ["variable", "type", "values"], ["x", "date", words])
    assert (f'{{property: dayForm, value: "{form}"}}' in text) is bool(form)
    assert 'from: "2023-01-01"' in text


@pytest.mark.parametrize(
    "words",
    ["between 2022-01-01 and 2022-12-31", "entre 2022-01-01 e 2022-12-31", "Du 2022-01-01 au 2022-12-31",
     "; de 2022-01-01 a 2022-12-31", "01-01-2022 t/m 31-12-2022", "20220101–20221231"],
)  # fmt: skip
def test_a_range_of_days_is_read_among_words(words: str) -> None:
    found = column("", type="date", description=f"Day of entry {words}")
    assert found.bounds == ("2022-01-01", "2022-12-31") or words.startswith("2022")
    assert column(words.strip("; "), type="date").bounds == ("2022-01-01", "2022-12-31")
    twice = column("", type="date", description="2022-01-01 to 2022-12-31, later 2023-01-01 to 2023-12-31")
    assert twice.bounds is None


def test_whole_numbers_have_marks_between_thousands_and_codes_zeros_before_them() -> None:
    assert column("1.000 a 999.999", type="number(7)").bounds == ("1000", "999999")
    assert column("1.000 a 999.999", type="decimal (7,3)").bounds is None
    assert column("0110-9893", type="Char").type is CellType.TEXT
    assert column("110-9893", type="Num").type is CellType.NUMBER


def test_lengths_state_whole_numbers_where_some_have_decimals() -> None:
    """Lengths of 8 bytes for all numbers, as SAS lists them, state nothing."""
    head = ["variable", "type", "len", "values"]
    for length, kind in (("10.2", CellType.WHOLE), ("8", CellType.NUMBER)):
        rows = [head, ["x", "Num", "3", "0 - 365"], ["y", "Num", length, "0 - 5000"]]
        assert read_dictionary(Path("b.csv"), rows, ["x", "y"]).columns[0].type is kind


def test_a_ddi_codebook_states_letters_that_are_missing_open_ends_and_roles(tmp_path: Path) -> None:
    marks = '<catgry missing="Y"'
    security = "<security>Donnée sensible</security>"
    missing = "<catgry><catValu>Z</catValu><labl>Sans objet</labl></catgry>"
    one = "".join(
        f"<catgry><catValu>{code}</catValu><labl>{label}</labl></catgry>"
        for code, label in (("A", "Cadres"), ("B", "Autres"))
    )
    limits = '<valrng><range min="15" max="95"/></valrng>'
    (tmp_path / "t.xml").write_text(
        f'<codeBook><dataDscr><var name="csp"><invalrng><item VALUE="Z"/></invalrng>{one}{missing}{security}'
        f'</var><var name="marked">{one}{missing.replace("<catgry", marks)}</var>'
        f'<var name="age" dcml="0"><labl>Âge</labl>{limits}<catgry><catValu>95</catValu>'
        f'<labl>95 ans et plus</labl></catgry></var><var name="age2" dcml="0"><labl>age</labl>{limits}</var>'
        '<var name="day"><labl>Jour</labl>'
        '<notes>Du 2021-10-01 au 2022-01-31</notes><varFormat category="date"/></var></dataDscr></codeBook>',
        encoding="utf-8",
    )  # fmt: skip
    csp, marked, age, other, day = read_draft_source(tmp_path / "t.xml", tmp_path).columns
    assert (marked.values, marked.missing) == ((("A", "Cadres"), ("B", "Autres")), ("Z",))
    assert (csp.values, csp.missing, csp.role) == ((("A", "Cadres"), ("B", "Autres")), ("Z",), Role.SENSITIVE)
    assert (age.bounds, age.top, age.is_designed) == (("15", "95"), True, True)
    assert (other.top, other.is_designed) == (False, False)  # it may be the range of the cells
    assert day.bounds == ("2021-10-01", "2022-01-31")


def test_formats_and_labelled_ends_of_spss_are_read(tmp_path: Path) -> None:
    cells = pd.DataFrame({"lft": [30.0, 85.0], "tevr": [1.0, 9.0], "w": [0.5, 1.5]})
    labels: dict[str, Any] = {"lft": {85: "85 of ouder"}, "tevr": {0: "Ontevreden", 10: "Tevreden"}}
    pyreadstat.write_sav(
        cells, tmp_path / "t.sav", column_labels=["Leeftijd in jaren", "Tevredenheid (0-10)", "Gewicht (gevoelig)"],
        variable_value_labels=labels, variable_format={"lft": "F3.0", "tevr": "F2.0", "w": "F8.3"},
        variable_measure=dict.fromkeys(cells.columns, "scale"),
    )  # fmt: skip
    age, scale, weight = read_draft_source(tmp_path / "t.sav", tmp_path).columns
    assert (age.bounds, age.top, age.type) == (("0", "85"), True, CellType.WHOLE)
    assert (scale.bounds, scale.type) == (("0", "10"), CellType.WHOLE)
    assert (weight.type, weight.role) == (CellType.NUMBER, Role.SENSITIVE)


PLAIN = """A SURVEY, 2024

sex   Sex of the person (sensitive)
      1 Male
      2 Female
      9 Refused to say  [missing]
opl   Opleiding, oplopend
      20 Low, 21 Middle,
      22 High
day   Day, dd/mm/yyyy
      01/03/2024 to 31/05/2024
"""


@pytest.mark.parametrize("end", ["txt", "md"])
def test_sections_of_a_text_describe_variables(tmp_path: Path, end: str) -> None:
    text = PLAIN
    if end == "md":
        lines = PLAIN.replace("A SURVEY", "# A SURVEY").splitlines()
        points = [f"- {each.strip()}" if each[:1] == " " else each for each in lines]
        text = "\n".join(f"## {each}".replace("   ", "\n\n") if "   " in each else each for each in points)
    (tmp_path / f"b.{end}").write_text(text, encoding="utf-8")
    table = write_csv(tmp_path / "t.csv", ["sex", "opl", "day"])
    found = read_draft_source(table, tmp_path, header_line=True, codebook=tmp_path / f"b.{end}")
    sex, opl, day = found.columns
    assert (sex.values, sex.missing, sex.role) == ((("1", "Male"), ("2", "Female")), ("9",), Role.SENSITIVE)
    assert (opl.description, opl.values) == ("Opleiding, oplopend", (("20", "Low"), ("21", "Middle"), ("22", "High")))
    assert (day.bounds, found.settings) == (("2024-03-01", "2024-05-31"), {"dayForm": "DD/MM/YYYY"})


def test_the_form_of_days_stands_in_the_text_around_a_table(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text(
        "Dates are mm/dd/yyyy.\n\n| Field | Type |\n|---|---|\n| x | Date |\n", encoding="utf-8"
    )
    table = write_csv(tmp_path / "t.csv", ["x", "y"])
    found = read_draft_source(table, tmp_path, header_line=True, codebook=tmp_path / "b.md")
    assert found.settings == {"dayForm": "MM/DD/YYYY"}


def test_a_codebook_without_values_leaves_those_of_the_file(tmp_path: Path) -> None:
    labels: dict[str, Any] = {"sex": {1: "Male", 2: "Female", 7: "Others"}}
    cells = pd.DataFrame({"sex": [1.0, 2.0]})
    pyreadstat.write_sav(cells, tmp_path / "t.sav", variable_value_labels=labels, missing_ranges={"sex": [7]})
    book = write_csv(tmp_path / "b.csv", ["variable", "label"], ["sex", "Sex (sensitive)"])
    (found,) = read_draft_source(tmp_path / "t.sav", tmp_path, codebook=book).columns
    assert (found.values, found.role) == ((("1", "Male"), ("2", "Female")), Role.SENSITIVE)
    assert found.missing == ("7",)


@pytest.mark.parametrize("code", ["DK", "KA", "NA", "NC", "NI", "NR", "NS", "RF"])
def test_a_place_that_can_abbreviate_unknown_stays_a_value(code: str) -> None:
    """A list that loses a place counts its people as missing, and says nothing."""
    listed = ["BY", code, "SE"]
    labelled = [f"{at}={each}" for at, each in enumerate(listed, 1)]
    rows = [["variable", "value", "value label"], *(["x", each, each] for each in listed)]
    numbered = [rows[0], *(["x", str(at), each] for at, each in enumerate(listed, 1))]
    for found in (
        column(", ".join(listed)),
        column("; ".join(labelled)),
        *(read_dictionary(Path("b.csv"), each, ["x"]).columns[0] for each in (rows, numbered)),
    ):
        assert len(found.values) == 3
        assert (found.missing, found.unread) == ((), "")


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("1=SPD; 2=CDU; 9=KA", "9"), ("0=neg; 1=pos; 3=NA", "3"), ("0=no; 1=yes; 2=DK", "2"),
        ("1=DE; 2=FR; -1=DK", "-1"),
        ("1=DE; 2=FR; 99=NS/NR", "99"), ("A, B, unknown", "unknown"), ("A, B, onbekend", "onbekend"),
        ("1=DE; 2=FR; 3=refused", "3"),
    ],
)  # fmt: skip
def test_what_can_only_say_unknown_is_a_missing_code(text: str, missing: str) -> None:
    found = column(text)
    assert (len(found.values), found.missing) == (2, (missing,))


def test_an_abbreviation_next_to_the_values_of_a_list_is_one() -> None:
    assert len(column("6=SE; 7=NO; 8=FI; 9=DK").values) == 4
    assert len(column("1=NI; 2=NA; 3=NC").values) == len(column("NC=NC; NR=NR; NA=NA").values) == 3
    assert column("8=DK; 9=NA").missing == ("8", "9")


@pytest.mark.parametrize(
    ("words", "range_", "role"),
    [
        ("CPR number of the patient", "101000001 to 3112999999", "direct-identifier"),
        ("Unique number of the patient", "1 to 500", "direct-identifier"),
        ("Identification number of applicant", "1 to 90000", "direct-identifier"),
        ("Identification number of applicant", "", "direct-identifier"),
        ("Matrikelnummer", "100000 to 999999", "direct-identifier"),
        ("Minutes of CPR", "0 to 120", "quasi-identifier"), ("Talla del niño", "40 to 200", "quasi-identifier"),
        ("Number of the visits", "0 to 50", "quasi-identifier"),
    ],
)  # fmt: skip
def test_the_range_of_an_identifier_makes_it_no_quasi_identifier(
    tmp_path: Path, words: str, range_: str, role: str
) -> None:
    text = draft(tmp_path, ["variable", "label", "type", "values"], ["x", words, "integer", range_])
    line = text.partition("name: x")[2].partition("name: other")[0]
    assert f"value: {role}" in line
    assert ("# role guessed" in line and "domain" not in line) is (role == "direct-identifier")


def test_points_between_thousands_are_none_of_decimals_where_numbers_are_whole() -> None:
    for text, bounds in (("10.000 bis 250.000", ("10000", "250000")), ("1.000 - 5.000", ("1000", "5000")),
                         ("0 to 20.000", ("0", "20000"))):  # fmt: skip
        found = column(text, type="integer", missing="999.999")
        assert (found.bounds, found.missing) == (bounds, ("999999",))
    ends = column("", type="integer", min="0", max="250.000")
    assert ends.bounds == ("0", "250000")


@pytest.mark.parametrize(
    ("cell", "codes"),
    [
        ("99999 (refused)", ("99999",)), ("98 or 99", ("98", "99")), ("-8 und -9", ("-8", "-9")),
        ("99 refused", ("99",)), ("97, 98 or 99", ("97", "98", "99")), ("99 = refused", ("99",)), ("NA", ("NA",)),
        ("98 (refused), 99 (unknown)", ("98", "99")), ("99 - refused", ("99",)), ("-9 thru -7", ("-9", "-8", "-7")),
    ],
)  # fmt: skip
def test_a_cell_of_missing_codes_is_split(cell: str, codes: tuple[str, ...]) -> None:
    assert column("0 to 90", missing=cell).missing == codes


def test_only_answers_share_a_definition_named_yesno(tmp_path: Path) -> None:
    head, states = ["variable", "values"], "NC, NY, NJ"
    for values, name in ((states, "shared"), ("NY, NJ", "shared"), ("1=Yes; 0=No", "yesno")):
        text = draft(tmp_path, head, ["a", values], ["b", values])
        assert f"          {name}: {{" in text


def draft(folder: Path, *rows: Sequence[str]) -> str:
    """Return the draft of a table whose codebook has these rows."""
    table = write_csv(folder / "t.csv", [row[0] for row in rows[1:]] + ["other"])
    book = write_csv(folder / "b.csv", *rows)
    return draft_contract(read_draft_source(table, folder, header_line=True, codebook=book), "t")
