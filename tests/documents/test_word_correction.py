"""Corrected lines: exactly one word of the file's line differs, and only certain corrections are suggested."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.documents.word_correction import LONGEST_LINE, CorrectableText, is_misspelling
from crowdgate.documents.yaml_text import read_document
from crowdgate.errors import Code, nearest
from crowdgate.measures import MEASURES

TEXT = """\
spec:
  gates:   # which must pass
    - {measure: pso_buond, at_most: 1, "severty": "blok"}  # a comment
  over: age
  only: [age]
  long: >
    pso_buond
"""
GATE = ("spec", "gates", 0)
CORRECTED = [
    ((*GATE, "measure"), "pso_bound", 'pso_bound, at_most: 1, "severty": "blok"}  # a comment'),
    ((*GATE, "severty"), "severity", 'pso_buond, at_most: 1, "severity": "blok"}  # a comment'),
    ((*GATE, "severty"), "block", 'pso_buond, at_most: 1, "severty": "block"}  # a comment'),
]


@pytest.mark.parametrize(("at", "meant", "rest"), CORRECTED)
def test_a_word_is_another_where_it_stands_and_the_rest_of_its_line_stays(
    at: tuple[str | int, ...], meant: str, rest: str
) -> None:
    assert CorrectableText(TEXT).respelled_line(at, meant, key=False) == f"    - {{measure: {rest}"


def test_one_word_becomes_a_list_and_a_list_of_one_a_word() -> None:
    assert CorrectableText(TEXT).as_list(("spec", "over")) == "  over: [age]"
    assert CorrectableText(TEXT).as_single_word(("spec", "only")) == "  only: age"
    assert CorrectableText(TEXT).replaced(("spec", "over"), "sex") == "  over: sex"


@pytest.mark.parametrize(
    ("written", "corrected"),
    [
        ("a, b", "[a, b]"),
        ("a; b;", "[a, b]"),
        ('"a, b,"', '["a", "b"]'),
        ("1, 5", "[1, 5]"),
        ("1,5", None),  # a number with a decimal comma, or two
        ("1,5; 2,5", None),
        ("a {x}, b", None),
        ("'a\"x, b'", None),
    ],
)
def test_a_text_of_several_words_becomes_a_list_where_they_are_clear(written: str, corrected: str | None) -> None:
    found = CorrectableText(f"over: {written}\nby: x\n").as_list(("over",))
    assert found == (None if corrected is None else f"over: {corrected}")


NOT_SURE = [
    # what the file says, where, what is near
    ("a: 15 years", ("a",), "5 years"),  # another number
    ("a: v2", ("a",), "v1"),
    ("a: block", ("a",), "lock 2"),
    ("a: sex", ("a",), "age"),  # hardly alike
    ("at_most: 1\nat_mots: 2", ("at_mots",), "at_most"),  # it would be there twice
    ("a: >\n  pso_buond", ("a",), "pso_bound"),  # more than one line
    ("a: pso_buond", ("b",), "pso_bound"),  # nothing is there
    ("a: wadr", ("a",), "ward: x"),  # a text that would be something else
    (f"a: pso_buond # {LONGEST_LINE * 'x'}", ("a",), "pso_bound"),
]


@pytest.mark.parametrize(("text", "at", "meant"), NOT_SURE)
def test_what_is_not_sure_is_not_corrected(text: str, at: tuple[str | int, ...], meant: str) -> None:
    assert CorrectableText(text).respelled_line(at, meant, key=False) is None


def test_a_word_that_stands_for_something_is_none_misspelled() -> None:
    assert CorrectableText("a: wages").respelled_line(("a",), "wage", key=False) == "a: wage"
    assert CorrectableText("a: wages").respelled_line(("a",), "wage", key=False, known={"wages"}) is None
    assert CorrectableText("wages: a").respelled_line(("wages",), "wage", key=True, known={"wages"}) is None


def test_only_a_word_in_one_line_is_put_into_a_list_or_taken_out() -> None:
    text = CorrectableText("a: [x, y]\nb: {}\nc: [{}]\nd:\n  - x\n")
    assert [text.as_single_word((key,)) for key in "abcd"] == [None, None, None, None]
    assert [text.as_list((key,)) for key in "abcd"] == [None, None, None, None]


@given(st.sampled_from(sorted(MEASURES)), st.data())
def test_a_slip_of_the_finger_is_the_word_that_was_meant_or_not_seen(measure: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(measure) - 2))
    slips = [measure[:at] + measure[at + 1] + measure[at] + measure[at + 2 :], measure.upper()]
    slip = data.draw(st.sampled_from([each for each in slips if each not in MEASURES]))
    meant = nearest(slip, [*MEASURES])
    assert meant == measure or meant is None or not is_misspelling(slip, meant)


def test_of_two_files_that_contradict_each_other_it_is_not_known_which_errs(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: pso_buond\n", encoding="utf-8")
    document = read_document(path)
    assert document.problem(("a",), "x", "y", "pso_bound", Code.CONTRADICTION).corrected is None
    assert document.problem(("a",), "x", "y", "pso_bound", Code.GATE).corrected == "a: pso_bound"


def test_marks_at_the_start_of_a_file_and_other_ends_of_lines_move_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes("\ufeffa: [\u00e9\u00e9, pso_buond]\r\nb: pso_buond\r\n".encode())
    document = read_document(path)
    assert document.problem(("a", 1), "x", "y", "pso_bound").corrected == "a: [\u00e9\u00e9, pso_bound]"
    assert document.problem(("b",), "x", "y", "pso_bound").corrected == "b: pso_bound"


def test_half_a_year_is_no_misspelling_of_a_year() -> None:
    assert nearest("half-year", ["month", "quarter", "year"]) is None
    assert nearest("yaer", ["month", "quarter", "year"]) == "year"
