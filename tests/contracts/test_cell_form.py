"""Cells in other forms: numbers with a decimal comma, days of other countries, and the first characters of codes."""

import re
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.contracts.cell_form import DAYS, CellForm
from crowdgate.contracts.reading import read_contract
from crowdgate.domain import INVALID, Domain, categories, dates, day_of, numbers, parse_number
from crowdgate.errors import ConfigurationError, FileFault
from crowdgate.planning.bundle import KNOWN
from crowdgate.review.contract_diff import contract_changes
from crowdgate.review.expectation_suite import expectation_suite
from crowdgate.sources import DAY_FORM, DECIMAL_MARK, open_source
from crowdgate.sources.encode import Reason, encode
from crowdgate.sources.table_header import CellType, HeaderColumn, type_fault
from tests.reading import batches
from tests.workshop import MARK

NUMBERS = numbers(Fraction(0), Fraction(1000), Fraction(1), "x", whole=False)
COMMA = CellForm(decimal_mark=",")


@given(st.integers(-(10**12), 10**12), st.integers(0, 3), st.sampled_from(["", ".", " ", "'", "\u00a0"]))
def test_a_decimal_comma_states_the_same_number(units: int, places: int, mark: str) -> None:
    value = Fraction(units, 10**places)
    whole, rest = divmod(abs(units), 10**places)
    digits = f"{whole:,}".replace(",", mark) + (f",{rest:0{places}d}" if places else "")
    (text,) = COMMA.usual([f"{'-' if units < 0 else ''}{digits}"], NUMBERS)
    assert text is not None
    assert parse_number(text) == value


@pytest.mark.parametrize("text", ["1.5", "1e3", "1.23", "12.34,5", "1,2,3", "1.234.5", "0.123", "012.345", "1.234 567"])
def test_a_number_in_another_form_is_none(text: str) -> None:
    """A point is never a decimal mark beside a decimal comma: 1.5 could be a date or a slip, and 0.123 is not 123."""
    (found,) = COMMA.usual([text], NUMBERS)
    assert found is None or parse_number(found) is None


@given(st.dates(date(1000, 1, 1)), st.sampled_from([*DAYS]))
def test_a_day_in_a_stated_form_is_that_day(day: date, form: str) -> None:
    domain = dates(date(1900, 1, 1), date(2100, 1, 1), "x")
    written = form.replace("YYYY", f"{day.year:04}").replace("MM", f"{day.month:02}").replace("DD", f"{day.day:02}")
    texts = CellForm(day=form).usual([written, f" {written} 12:30", day.isoformat(), f"{day} 12:30"], domain)
    assert [None if text is None else day_of(text) for text in texts] == [day, day, None, None]


@pytest.mark.parametrize("text", ["01.02.2024 02.02.2024", "01.02.2024 5 people"])
def test_a_day_before_more_than_a_time_is_none(text: str) -> None:
    (found,) = CellForm(day="DD.MM.YYYY").usual([text], dates(date(1900, 1, 1), date(2100, 1, 1), "x"))
    assert found is not None
    assert day_of(found) is None


@pytest.mark.parametrize(
    ("form", "domain", "missing"),
    [
        (COMMA, NUMBERS, "99,9"),
        (COMMA, NUMBERS, "100.000"),
        (CellForm(day="DD.MM.YYYY"), dates(date(1900, 1, 1), date(2100, 1, 1), "x"), "01.01.1900"),
        (CellForm(first=2), categories(["10", "99"], "x"), "99999"),
    ],
)
def test_a_missing_value_is_stated_as_the_table_has_it(form: CellForm, domain: Domain, missing: str) -> None:
    """Read as a number, a day or first characters, it would be a value of the domain."""
    stated = replace(domain, missing=(missing,))
    (found,) = form.usual([missing], stated)
    assert stated.code(found) == INVALID


def test_blanks_before_a_code_are_none_of_its_first_characters() -> None:
    (found,) = CellForm(first=2).usual([" 10115"], categories(["1", "10"], "x"))
    assert found == "10"


def test_codes_and_missing_values_stay(tmp_path: Path) -> None:
    del tmp_path
    assert COMMA.usual(["NA", None, "1,5"], categories(["1,5"], "x")) == ["NA", None, "1,5"]
    assert COMMA.usual(["NA", None], NUMBERS) == ["NA", None]
    assert CellForm(first=3).usual(["I21.0", "I2", None], categories(["I21"], "x")) == ["I21", "I2", None]


CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: t
version: 1.0.0
status: active
servers:
  - server: here
    type: local
    path: t.csv
    format: csv
    customProperties:
      - {property: delimiter, value: ;}
      - {property: decimalMark, value: ","}
      - {property: dayForm, value: DD.MM.YYYY}
schema:
  - name: t
    customProperties: [{property: privacyUnit, value: row}, {property: population, value: p}]
    properties:
      - name: wage
        logicalType: number
        customProperties:
          - {property: privacyRole, value: other}
          - {property: domain, value: {from: 0, to: 2000, step: 500, source: law}}
      - name: day
        logicalType: date
        customProperties:
          - {property: privacyRole, value: other}
          - {property: domain, value: {from: 1970-01-01, to: 1970-12-31, source: law}}
      - name: icd
        logicalType: string
        customProperties:
          - {property: privacyRole, value: other}
          - {property: domain, value: {values: [I21, J10], source: WHO}}
          - {property: firstCharacters, value: 3}
"""


def test_a_file_is_read_in_its_form(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(CONTRACT, encoding="utf-8")
    (tmp_path / "t.csv").write_text(f"wage;day;icd\n1.234,56;24.12.1970;I21.0\n499,99;1.2.1970;{MARK}\n", "utf-8")
    (found,) = batches(read_contract(path, KNOWN.servers))
    codes = {name: column.codes.tolist() for name, column in found.columns.items()}
    assert codes["wage"] == [2, 0]
    assert codes["day"] == [357, 31]
    assert codes["icd"][0] == 0
    assert found.invalid["icd"].tolist() == [False, True]


def test_a_workbook_in_place_of_a_csv_file_with_a_decimal_comma_is_refused(tmp_path: Path) -> None:
    """It has no decimal mark: the text of its number 1.234 would be read as 1234."""
    path = tmp_path / "t.yaml"
    path.write_text(CONTRACT, encoding="utf-8")
    (tmp_path / "t.xlsx").write_bytes(b"")
    with pytest.raises(FileFault, match="the decimal mark or the form of days of CSV"):
        open_source(read_contract(path, KNOWN.servers), ["wage"], tmp_path / "t.xlsx")


@pytest.mark.parametrize(
    ("before", "after", "column"),
    [
        ('value: ","', 'value: "."', "wage"),
        ("dayForm, value: DD.MM.YYYY", "dayForm, value: MM/DD/YYYY", "day"),
        ("          - {property: firstCharacters, value: 3}\n", "", "icd"),
    ],
)
def test_another_form_is_a_breaking_change(tmp_path: Path, before: str, after: str, column: str) -> None:
    for name, text in (("old", CONTRACT), ("new", CONTRACT.replace(before, after))):
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    found = contract_changes(*(read_contract(tmp_path / f"{name}.yaml", KNOWN.servers) for name in ("old", "new")))
    assert [each.column for each in found if each.breaking] == [column]


def test_a_number_that_is_made_of_rows_has_no_form(tmp_path: Path) -> None:
    """A count of rows is no number of the file."""
    made = "{property: personValues, value: {ill: {count: icd, most: 5}}}"
    unit = f"{{property: privacyUnit, value: {{person: id, rows: 1}}}}, {made}"
    person = "{name: id, logicalType: string, customProperties: [{property: privacyRole, value: direct-identifier}]}"
    text = CONTRACT.replace("{property: privacyUnit, value: row}", unit).replace(
        "      - name: wage\n", f"      - {person}\n      - name: wage\n"
    )
    for name, each in (("old", text), ("new", text.replace('value: ","', 'value: "."'))):
        (tmp_path / f"{name}.yaml").write_text(each, encoding="utf-8")
    found = contract_changes(*(read_contract(tmp_path / f"{name}.yaml", KNOWN.servers) for name in ("old", "new")))
    assert [each.column for each in found if each.breaking] == ["wage"]


def test_great_expectations_compares_the_first_characters(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(CONTRACT.replace("[I21, J10]", "[I21, J1]"), encoding="utf-8")
    suite, _ = expectation_suite(read_contract(path, KNOWN.servers))
    (stated,) = [each["kwargs"] for each in suite["expectations"] if each["meta"]["rule"] == "icd in its domain"]
    cells = ["I21.0", "I21", "J1", "J10", "XI21"]
    assert [re.match(stated["regex"], cell) is not None for cell in cells] == [True, True, True, False, False]


def test_numbers_have_no_first_characters(tmp_path: Path) -> None:
    """The ZIP code 02139 as a number is 2139."""
    path = tmp_path / "t.yaml"
    path.write_text(CONTRACT, encoding="utf-8")
    icd = read_contract(path, KNOWN.servers).by_name["icd"]
    zips = replace(icd, domain=categories(["02", "21"], "x"), form=CellForm(first=2))
    assert type_fault(zips, HeaderColumn("icd", CellType.WHOLE)) == "texts, whose firstCharacters are read"
    read = [encode(cells, zips) for cells in (pa.array(["02139"]), pa.array([2139]))]
    assert [(each.invalid is None, {**each.reasons}) for each in read] == [(True, {}), (False, {Reason.UNREADABLE: 1})]


def test_first_characters_without_a_domain_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    domain = "          - {property: domain, value: {values: [I21, J10], source: WHO}}\n"
    path.write_text(CONTRACT.replace(domain, ""), encoding="utf-8")
    with pytest.raises(ConfigurationError, match="firstCharacters without a domain"):
        read_contract(path, KNOWN.servers)


def test_first_characters_of_numbers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    first = "{property: privacyRole, value: other}\n"
    path.write_text(
        CONTRACT.replace(first, f"{first}          - {{property: firstCharacters, value: 2}}\n", 1), "utf-8"
    )
    with pytest.raises(ConfigurationError, match="first characters of numbers or days"):
        read_contract(path, KNOWN.servers)


@pytest.mark.parametrize(
    ("first", "why"), [(4, "no code of the domain is so long"), (2, "no cell has the longer codes")]
)
def test_first_characters_that_are_not_those_of_codes_are_refused(tmp_path: Path, first: int, why: str) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(CONTRACT.replace("firstCharacters, value: 3", f"firstCharacters, value: {first}"), encoding="utf-8")
    with pytest.raises(ConfigurationError, match=why):
        read_contract(path, KNOWN.servers)


@pytest.mark.parametrize(
    ("stated", "meant"),
    [("dd.mm.yyyy", "DD.MM.YYYY"), ("TT.MM.JJJJ", "DD.MM.YYYY"), ("gg/mm/aaaa", "DD/MM/YYYY"),
     ("MM/JJ/AAAA", "MM/DD/YYYY"),
     ("\u00c5\u00c5\u00c5\u00c5MMDD", "YYYYMMDD"), ("JJMMAAAA", None), ("MM.MM.JJJJ", None), ("JJ.MM.JJ", None),
     ("TMJ", None)],
)  # fmt: skip
def test_a_form_of_days_in_letters_of_another_language_has_one_meaning(stated: str, meant: str | None) -> None:
    assert DAY_FORM.meant(stated) == meant
    assert DECIMAL_MARK.meant(stated) is None
