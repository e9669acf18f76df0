"""Drafts from sections whose points state attributes of a variable, and from headings of roles and missing codes."""

from pathlib import Path

import pytest

from crowdgate.contracts.contract import Role
from crowdgate.review.templates.codebook_values import listed_values, missing_codes
from crowdgate.review.templates.contract_draft import draft_contract
from crowdgate.review.templates.draft_column import DraftColumn, DraftSource
from crowdgate.review.templates.draft_sources import read_draft_source
from crowdgate.review.templates.stated_roles import is_no_role, stated_role
from crowdgate.sources.table_header import CellType
from tests.review.test_draft_dictionaries import write_csv

SECTIONS = """\
# Population, 2023

The file has one line for each person. Sensitive variables are marked.

## PNR

Number of the person

TYPE: TEXT, 10 digits
ROLE: DIRECT

## KOEN

Sex

TYPE: WHOLE
VALUES: 1 = A, 2 = B
SOURCE: civil register
ROLE: PLAIN

## KOM

Municipality

TYPE: TEXT, 3 digits

| KODE | LABEL |
|------|-------|
| 101 | A |
| 147 | B |
| 159 | C |

ROLE: PLAIN

## POSTNR

Postal code

TYPE: TEXT
MISSING: 0999
ROLE: INDIRECT

## BORN

Number of children

TYPE: WHOLE
RANGE: 0-9 (9 = 9 OR MORE)
ROLE: PLAIN

## KIRKE

Religion

TYPE: TEXT
VALUES: J = A, N = B, X = C
MISSING: X
ROLE: SENSITIVE
"""
WORDS = {
    "da": {
        "TYPE": "Type", "ROLE": "Personoplysning", "VALUES": "Værdier", "MISSING": "Uoplyst", "RANGE": "Interval",
        "TEXT": "tekst", "WHOLE": "heltal", "INDIRECT": "almindelig (indirekte identifikation)", "SOURCE": "Kilde",
        "DIRECT": "direkte identifikation", "PLAIN": "almindelig", "SENSITIVE": "følsom", "KODE": "Kode",
        "LABEL": "Betydning", "OR MORE": "eller flere",
    },
    "en": {
        "TYPE": "Type", "ROLE": "Sensitivity", "VALUES": "Values", "MISSING": "Missing", "RANGE": "Range",
        "TEXT": "text", "WHOLE": "integer", "INDIRECT": "indirect identifier", "DIRECT": "direct identifier",
        "PLAIN": "none", "SENSITIVE": "sensitive", "KODE": "Code", "LABEL": "Meaning", "OR MORE": "or more",
        "SOURCE": "Source",
    },
}  # fmt: skip
HEADS = ("TYPE", "ROLE", "VALUES", "MISSING", "RANGE", "SOURCE")


def _book(language: str, form: str) -> str:
    text = SECTIONS
    for head in HEADS:
        text = text.replace(f"\n{head}: ", f"\n{form.format(head)} ")
    for word, local in sorted(WORDS[language].items(), key=lambda each: -len(each[0])):
        text = text.replace(word, local)
    return text


def _columns(tmp_path: Path, book: str, names: list[str], end: str = "md") -> tuple[DraftSource, list[DraftColumn]]:
    (tmp_path / f"b.{end}").write_text(book, encoding="utf-8")
    table = write_csv(tmp_path / "t.csv", names)
    found = read_draft_source(table, tmp_path, header_line=True, codebook=tmp_path / f"b.{end}")
    return found, list(found.columns)


@pytest.mark.parametrize("form", ["- {}:", "* {}:", "- **{}:**", "- **{}**:", "{}:", "**{}:**", "- `{}`:"])
@pytest.mark.parametrize("language", WORDS)
def test_points_of_a_section_are_attributes_and_no_codes(tmp_path: Path, language: str, form: str) -> None:
    names = ["PNR", "KOEN", "KOM", "POSTNR", "BORN", "KIRKE"]
    source, found = _columns(tmp_path, _book(language, form), names)
    pnr, sex, place, post, children, church = found
    assert [each.description for each in found] == [
        "Number of the person", "Sex", "Municipality", "Postal code", "Number of children", "Religion",
    ]  # fmt: skip
    assert [each.role for each in found] == [
        Role.DIRECT_IDENTIFIER, None, None, Role.QUASI_IDENTIFIER, None, Role.SENSITIVE,
    ]  # fmt: skip
    assert (pnr.values, pnr.unread, post.values, post.missing) == ((), "", (), ("0999",))
    assert (sex.values, place.values) == ((("1", "A"), ("2", "B")), (("101", "A"), ("147", "B"), ("159", "C")))
    assert (children.type, children.bounds, children.top) == (CellType.WHOLE, ("0", "9"), True)
    assert (church.values, church.missing) == ((("J", "A"), ("N", "B")), ("X",))
    if form[0] in "-*" and form[1] == " ":
        assert f"ignored: {WORDS[language]['SOURCE']}" in source.note


@pytest.mark.parametrize("point", ["- ", ""])
def test_left_sides_are_codes_unless_they_are_headings_or_recur(tmp_path: Path, point: str) -> None:
    """Left sides that recur in most sections are never codes, and `Type 1` is no heading."""
    section = "## {0}\n\n{1}Origin: office {0}\n{1}Kilde: {0}\n\n"
    book = "".join(section.format(each, point) for each in ("a", "b", "c"))
    book += "## d\n\n- Type 1: mild\n- Type 2: severe\n"
    source, (*others, coded) = _columns(tmp_path, book, ["a", "b", "c", "d"])
    assert not any(each.values or each.unread for each in others)
    assert "ignored: Origin, Kilde" in source.note
    assert coded.values == (("Type 1", "mild"), ("Type 2", "severe"))


IN_ONE_LINE = """\
# Register

## sex
The sex of the person

Type: heltal Værdier: 1 = Mand, 2 = Kvinde Personoplysning: almindelig

## age
Age. Type: heltal. Interval: 0-110. Uoplyst: 999. Personoplysning: følsom

## kom

- **Type:** tekst
- **Værdier:**
  - 101: Ada
  - 147: Bodil
  - 159: Carl
- **Uoplyst:** 999

## inc
Income

- Type: decimal (2 decimals)
- Missing (codes): -7
- Unit: kr.
- Population: all

## own

| Attribute | Text |
|---|---|
| Type | integer |
| Values | 1 = Own, 2 = Rent |
"""


def test_attributes_in_one_line_above_codes_and_in_a_table(tmp_path: Path) -> None:
    """Points beside a type of numbers with decimals are no codes, whatever they are."""
    _, (sex, age, kom, inc, own) = _columns(tmp_path, IN_ONE_LINE, ["sex", "age", "kom", "inc", "own"])
    assert (sex.description, sex.values) == ("The sex of the person", (("1", "Mand"), ("2", "Kvinde")))
    assert (age.description, age.bounds, age.missing, age.role) == ("Age", ("0", "110"), ("999",), Role.SENSITIVE)
    assert (kom.values, kom.missing) == ((("101", "Ada"), ("147", "Bodil"), ("159", "Carl")), ("999",))
    assert (inc.type, inc.values, inc.unread, inc.missing) == (CellType.NUMBER, (), "", ("-7",))
    assert own.values == (("1", "Own"), ("2", "Rent"))


HEADED = """\
Field,Definition,Data type,Permissible values,{missing},{role},Notes
birth,Year of birth,Integer,1930-2025,,Quasi-identifier,1930 = born 1930 or earlier
doctor,Doctor,Text,G01-G14,,Low risk,
month,Month,Text(2),01-12,,nessuna,
press,Pressure,Integer,60-260,-1 = not measured,dato particolare (salute),
post,Postal code,Text,,0000,Class B,
bmi,Body,Decimal(4.1),10.0-70.0,blank if not done,,
"""


@pytest.mark.parametrize("missing", ["Null / unknown value", "Null value", "Missing value(s)", "Unknown values"])
@pytest.mark.parametrize("role", ["Identifiability", "Disclosure", "Disclosure risk", "Personal data"])
def test_headings_of_missing_codes_and_roles_are_known(tmp_path: Path, missing: str, role: str) -> None:
    names = ["birth", "doctor", "month", "press", "post", "bmi"]
    source, found = _columns(tmp_path, HEADED.format(missing=missing, role=role), names, "csv")
    birth, doctor, month, press, post, bmi = found
    assert (birth.bounds, birth.bottom, birth.top) == (("1930", "2025"), True, False)
    assert [code for code, _ in doctor.values] == [f"G{each:02}" for each in range(1, 15)]
    assert [code for code, _ in month.values] == [f"{each:02}" for each in range(1, 13)]
    assert (press.bounds, press.missing, press.role) == (("60", "260"), ("-1",), Role.SENSITIVE)
    assert (post.missing, bmi.missing) == (("0000",), ())
    assert [each.unread_role for each in found] == ["", "", "", "", "Class B", ""]
    draft = draft_contract(source, "t")
    assert draft.count("role not understood") == 1
    assert 'role not understood: "Class B"' in draft
    assert 'from: "1930", to: "2025", bottom: true' in draft
    assert "so lost" not in draft


def test_the_head_says_what_is_lost_with_a_heading(tmp_path: Path) -> None:
    book = "variable,label,missing,missing reason,sensitivity,disclosure risk\na,x,9,8,none,sensitive\n"
    source, _ = _columns(tmp_path, book, ["a"], "csv")
    assert "so lost: missing codes of missing reason, roles of disclosure risk" in source.note


@pytest.mark.parametrize(
    "text",
    ["dato particolare (salute)", "categoria particolare", "besondere Kategorie", "Art. 9 DSGVO", "følsom",
     "særlig kategori", "GDPR Article 9"],
)  # fmt: skip
def test_words_of_laws_state_that_a_variable_is_sensitive(text: str) -> None:
    assert stated_role(text) is Role.SENSITIVE


@pytest.mark.parametrize(
    "text", ["", "nessuna", "none", "ingen", "keine", "Low risk", "almindelig", "not sensitive", "-"]
)
def test_words_of_no_role_are_understood(text: str) -> None:
    assert stated_role(text) is None
    assert is_no_role(text)
    assert not is_no_role("not to be published")


def test_a_range_of_codes_has_an_end() -> None:
    assert len(listed_values("G001-G200").values) == 200
    assert listed_values("G001-G201").values == listed_values("G14-G01").values == ()
    assert missing_codes("blank if not done") == ()


def test_cells_that_state_roles_are_ones_below_any_heading(tmp_path: Path) -> None:
    book = "variable,label,class\na,x,sensitive\nb,y,quasi-identifier\nc,z,\n"
    _, found = _columns(tmp_path, book, ["a", "b", "c"], "csv")
    assert [each.role for each in found] == [Role.SENSITIVE, Role.QUASI_IDENTIFIER, None]


WEIGHTS = """\
Campo;Descrizione;Tipo;Lung.;Dominio
peso;Peso;Num. decimale;7,4;0,1000 - 20,0000
importo;Importo;Num. decimale;9,2;0 - 500
wide;Peso finale;Num. decimale;10,4;0,0001 - 99999,9999
giorni;Giorni;N;3;0-180
"""


def test_the_ends_of_a_short_range_keep_their_decimals(tmp_path: Path) -> None:
    """Lengths such as 9,2 state decimals, also below a heading that is short for a length."""
    source, found = _columns(tmp_path, WEIGHTS, ["peso", "importo", "wide", "giorni"], "csv")
    assert [each.bounds for each in found] == [("0.1", "20"), ("0", "500"), ("0", "100000"), ("0", "180")]
    assert [each.decimals for each in found] == [4, 2, 4, 0]
    draft = draft_contract(source, "t")
    assert 'from: "0.1", to: "20", step: 0.1, precision: 0.0001' in draft
    assert 'from: "0", to: "500", step: 1, precision: 0.01' in draft


@pytest.mark.parametrize(("cell", "missing"), [("X", ()), ("Y", ()), ("No", ()), ("-9", ("-9",))])
def test_answers_below_a_heading_of_empty_values_are_no_codes(
    tmp_path: Path, cell: str, missing: tuple[str, ...]
) -> None:
    book = f"variable,label,null values allowed\na,x,{cell}\nb,y,\n"
    _, (first, _) = _columns(tmp_path, book, ["a", "b"], "csv")
    assert first.missing == missing
    _, (other, _) = _columns(tmp_path, book.replace("null values allowed", "missing"), ["a", "b"], "csv")
    assert cell == "No" or other.missing == (cell,)
