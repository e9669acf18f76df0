"""Brackets, steps, open ends and lists without marks between their entries, as codebooks write them; survey weights,
classifications and places.
"""

import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.review.templates.codebook_values import MOST_MARKS, listed_values
from crowdgate.review.templates.special_labels import is_special
from crowdgate.review.templates.stated_ranges import ListedValues
from crowdgate.review.templates.survey_weights import is_survey_weight
from tests.examples import examples
from tests.review.drafted_items import Facts, drafted_items

OF_NUMBERS = {"under", "over", "than", "least", "most", "below", "above", "unter", "till", "hasta"}
"""The words by which a number behind them is a part of a label."""
WORDS = st.lists(st.text(string.ascii_lowercase, min_size=4, max_size=9), min_size=2, max_size=6, unique=True).filter(
    lambda each: not any(is_special(word) or word in OF_NUMBERS for word in each)
)
MONEY = (("1", "Less than $10,000"), ("2", "$10,000 - $249,999"), ("3", "$250,000 or more"))
CROWNS = (("1", "under 10 000 kr"), ("2", "10 000 - 19 999 kr"), ("3", "20 000 kr og over"))


@settings(max_examples=examples(100))
@given(WORDS, st.sampled_from([0, 1]), st.booleans())
def test_a_list_with_only_blanks_between_its_entries_is_read(words: Sequence[str], first: int, unknown: bool) -> None:
    entries = [f"{code} {word}" for code, word in enumerate(words, first)]
    text = " ".join([*entries, *(["99 Unknown"] if unknown else [])])
    expected = tuple((str(code), word) for code, word in enumerate(words, first))
    assert listed_values(text) == ListedValues(expected, missing=("99",) if unknown else ())


@settings(max_examples=examples(100))
@given(WORDS, st.sampled_from([" ", "; ", "\n", " | "]), st.sampled_from([" ", " = ", ". ", ", "]))
def test_amounts_are_not_cut_at_their_commas(words: Sequence[str], between: str, mark: str) -> None:
    """No code and no label begins or ends within a number."""
    amounts = [f"{word} ${at},000" for at, word in enumerate(words, 10)]
    text = between.join(f"{code}{mark}{amount}" for code, amount in enumerate(amounts, 1))
    found = listed_values(text)
    assert found.values in ((), tuple((str(code), amount) for code, amount in enumerate(amounts, 1)))


@pytest.mark.parametrize("mark", [" = ", "=", " - ", ": ", ". ", ") ", " ", ", "])
@pytest.mark.parametrize("between", ["; ", "\n", " | "])
@pytest.mark.parametrize("values", [MONEY, CROWNS])
def test_labels_that_are_brackets_of_money_belong_to_their_codes(
    values: Sequence[tuple[str, str]], mark: str, between: str
) -> None:
    assert listed_values(between.join(f"{code}{mark}{label}" for code, label in values)).values == values


@pytest.mark.parametrize(
    "entries",
    [
        [label for _, label in MONEY],
        [label for _, label in CROWNS],
        ["<$10,000", "$10,000-$19,999", "$20,000+"],
        ["under 18", "18-64", "65 and over"],
        ["10 000 - 19 999 kr", "20 000 - 29 999 kr"],
        ["0 – 9 999 kr", "10 000 – 19 999 kr", "20 000+ kr"],
    ],
)
def test_brackets_without_codes_are_the_values(entries: Sequence[str]) -> None:
    assert listed_values("; ".join(entries)).values == tuple((each, "") for each in entries)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 to 98 years; 99 = 99 or more", ListedValues(bounds=("0", "99"), decimals=0, top=True)),
        ("0..98 years, 99=99 or more", ListedValues(bounds=("0", "99"), decimals=0, top=True)),
        ("0-98 hours; 99 = 99 or more; 999 = unknown",
         ListedValues(bounds=("0", "99"), missing=("999",), decimals=0, top=True)),
        ("0-120 years (999=unknown)", ListedValues(bounds=("0", "120"), missing=("999",), decimals=0)),
        ("$0-$250,000; 250000 = $250,000 or more", ListedValues(bounds=("0", "250000"), decimals=0, top=True)),
        ("0 - 999 999 kr", ListedValues(bounds=("0", "999999"), decimals=0)),
        ("0, 5, 10, ..., 95", ListedValues(bounds=("0", "95"), decimals=0, step="5")),
        ("0, 5, 10, … 95; 99 = refused", ListedValues(bounds=("0", "95"), missing=("99",), decimals=0, step="5")),
        ("1, 2, ..., 10", ListedValues(bounds=("1", "10"), decimals=0)),
        ("0 to 100 in steps of 5", ListedValues(bounds=("0", "100"), decimals=0, step="5")),
        ("0-100000, multiples of 100", ListedValues(bounds=("0", "100000"), decimals=0, step="100")),
        ("0 bis 100 in Schritten von 5", ListedValues(bounds=("0", "100"), decimals=0, step="5")),
        ("0 à 100 par pas de 5", ListedValues(bounds=("0", "100"), decimals=0, step="5")),
        ("0 to 3 in steps of 0.5", ListedValues(bounds=("0", "3"), decimals=1, step="0.5")),
        ("1 = Under 15 2 = 15 to 24 3 = 25 and over",
         ListedValues((("1", "Under 15"), ("2", "15 to 24"), ("3", "25 and over")))),
        ("1 0-14 2 15-24 3 75 and over", ListedValues((("1", "0-14"), ("2", "15-24"), ("3", "75 and over")))),
        ("1 - 5 kr; 2 - 10 kr; 3 - 20 kr", ListedValues((("1", "5 kr"), ("2", "10 kr"), ("3", "20 kr")))),
        ("9999999\t\tN/A", ListedValues(missing=("9999999",))),
        # what can be read in two ways, or leaves something out
        ("0 to 7 in steps of 2", ListedValues(unread="0 to 7 in steps of 2")),
        ("0, 2, 3, ..., 9", ListedValues(unread="0, 2, 3, ..., 9")),
        ("A, B, C, etc.", ListedValues(unread="A, B, C, etc.")),
        ("1 = a; 2 = b; ...; 9 = z", ListedValues(unread="1 = a; 2 = b; ...; 9 = z")),
        ("0-98; 99+", ListedValues(unread="0-98; 99+")),
        ("1 Male 2 Vitamin B 12 deficiency", ListedValues(unread="1 Male 2 Vitamin B 12 deficiency")),
        ("1 Car 2 Bus 7 Other", ListedValues(unread="1 Car 2 Bus 7 Other")),
        ("0 No, 1 Yes 2 Maybe", ListedValues(unread="0 No, 1 Yes 2 Maybe")),
        ("1 child 2 children 3 children 4 or more", ListedValues(unread="1 child 2 children 3 children 4 or more")),
        ("0-100 (multiples of 15)", ListedValues(unread="0-100 (multiples of 15)")),
        ("10, 20, ..., 100 (999 = some)", ListedValues(unread="10, 20, ..., 100 (999 = some)")),
        ("1 Grade 1 2 Grade 2", ListedValues(unread="1 Grade 1 2 Grade 2")),
        ("1 of 2 answers", ListedValues(unread="1 of 2 answers")),
        ("1 per 100 people", ListedValues()),
    ],
)  # fmt: skip
def test_steps_open_ends_and_runs_are_read_or_quoted(text: str, expected: ListedValues) -> None:
    assert listed_values(text) == expected


WEIGHTS = [
    ("WTFA", "Final annual weight"), ("PERWT", ""), ("PWGTP", "Person's weight"), ("fnlwgt", ""),
    ("EXTRI", "Coefficient de pondération"), ("x", "Factor de expansión"), ("factor", "Factor de elevación"),
    ("hrf", "Hochrechnungsfaktor"), ("w1", "Household sample weight"), ("pspwght", "Post-stratification weight"),
    ("V1028", "Peso do domicílio e das pessoas com calibração"),
]  # fmt: skip
NO_WEIGHTS = [
    ("weight", ""), ("weight", "Weight"), ("wt", "Person weight (kg)"), ("birthwt", "Birth weight in grams"),
    ("gewicht", "Gewicht in kg"), ("peso", "Peso al nacer"), ("wave", "Survey wave"), ("wealth", "Wealth"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "words"), WEIGHTS + NO_WEIGHTS)
def test_weights_of_surveys_are_told_from_those_of_bodies(name: str, words: str) -> None:
    assert is_survey_weight(name, words) == ((name, words) in WEIGHTS)


def domain_of(folder: Path, *row: str) -> Facts:
    """Return the facts of a column that a data dictionary describes in a row: its name, label, values and type."""
    rows = (("variable", "label", "values", "type"), row, ("sex", "Sex", "1-2", ""))
    book = "\n".join("\t".join(each) for each in rows)
    return drafted_items(folder, f"{row[0]},sex", book, ".tsv")[row[0]]


def test_a_weight_is_not_published_and_gets_no_rounding(tmp_path: Path) -> None:
    found = domain_of(tmp_path, "PERWT", "Person weight (2 implied decimals)", "0-99999999", "numeric")
    assert found == {"privacyRole": "other"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Diagnosis, first 3 characters of ICD-9", {"classification": "icd-9"}),
        ("Diagnosis, first three digits of the ICD-9 code", {"classification": "icd-9"}),
        ("Diagnosis, first 3 characters of ICD-10", {"classification": "icd-10", "firstCharacters": "3"}),
        ("Diagnosis (ICD-9)", "write classification, value: icd-9 for codes of 3 characters, such as 250 and V27,"),
        ("Diagnosis, first 3 characters of ICD-9 / ICD-10", "CHANGE ("),
    ],
)
def test_the_edition_of_the_icd_is_that_of_the_codebook(tmp_path: Path, words: str, expected: Any) -> None:
    found = domain_of(tmp_path, "icd", words, "", "char(3)")
    assert found.pop("privacyRole") == "sensitive"
    assert (expected in found["domain"]) if "domain" in found else (found == expected)


OPEN = "missing: ['9'], source: WHERE IT IS PUBLIC}"
FROM_A_FILE = f"each value that can be: {{values: {{file: levels/NAME.csv, column: CODE}}, {OPEN} with a CSV file"
COUNTRIES = "in place of domain and its value write classification, value: iso-3166 for codes of two letters; or"
VALUES = f"each value that can be: {{values: [A, B], {OPEN}, or {{from: 0, to: 99, {OPEN} for numbers and days"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("postcode", FROM_A_FILE),
        ("Gemeinde", FROM_A_FILE),
        ("country", COUNTRIES),
        ("geburtsland", COUNTRIES),
        ("language", VALUES),
    ],
)
def test_a_column_without_a_domain_has_one_change_that_says_what_to_write(
    tmp_path: Path, name: str, expected: str
) -> None:
    book = f"variable,label,missing\n{name},{name},9\n"
    stated = drafted_items(tmp_path, f"{name},sex", book)[name]["domain"]
    assert stated.startswith(f"CHANGE ({expected}")


def test_brackets_in_a_column_of_numbers_are_left_to_decide(tmp_path: Path) -> None:
    brackets = "; ".join(label for _, label in MONEY)
    assert domain_of(tmp_path, "income", "Income", brackets, "integer")["domain"].endswith(f"row 2, says: {brackets})")


@pytest.mark.parametrize("marks", [" ", ";", "; ", " |"])
def test_thousands_of_marks_in_a_list_say_no_more_than_a_few(marks: str) -> None:
    many, few = (listed_values(f"1 = Male{marks * number} 2 = Female") for number in (2000, MOST_MARKS))
    assert many == few
