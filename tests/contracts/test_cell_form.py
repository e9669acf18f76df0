"""Cells in other forms: numbers with a decimal comma, days of other countries, and the first characters of codes."""

from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.contracts.cell_form import DAYS, CellForm
from crowdgate.contracts.reading import read_contract
from crowdgate.domain import categories, dates, numbers, parse_date, parse_number
from crowdgate.errors import ConfigurationError
from crowdgate.planning.bundle import KNOWN
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


@pytest.mark.parametrize("text", ["1.5", "1e3", "1.23", "12.34,5", "1,2,3", "1.234.5"])
def test_a_number_in_another_form_is_none(text: str) -> None:
    """A point is never a decimal mark beside a decimal comma: 1.5 could be a date or a slip."""
    (found,) = COMMA.usual([text], NUMBERS)
    assert found is None or parse_number(found) is None


@given(st.dates(date(1000, 1, 1)), st.sampled_from([*DAYS]))
def test_a_day_in_a_stated_form_is_that_day(day: date, form: str) -> None:
    domain = dates(date(1900, 1, 1), date(2100, 1, 1), "x")
    written = form.replace("YYYY", f"{day.year:04}").replace("MM", f"{day.month:02}").replace("DD", f"{day.day:02}")
    texts = CellForm(day=form).usual([written, f" {written} 12:30", day.isoformat()], domain)
    assert [None if text is None else parse_date(text) for text in texts] == [day, day, None]


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


def test_first_characters_of_numbers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    first = "{property: privacyRole, value: other}\n"
    path.write_text(
        CONTRACT.replace(first, f"{first}          - {{property: firstCharacters, value: 2}}\n", 1), "utf-8"
    )
    with pytest.raises(ConfigurationError, match="first characters of numbers or days"):
        read_contract(path, KNOWN.servers)


def test_first_characters_that_no_code_has_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(CONTRACT.replace("firstCharacters, value: 3", "firstCharacters, value: 4"), encoding="utf-8")
    with pytest.raises(ConfigurationError, match="no code of the domain is so long"):
        read_contract(path, KNOWN.servers)
