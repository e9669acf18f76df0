"""YAML documents: text and lines, or one ConfigurationError; never another exception."""

from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crowdgate.documents.yaml_text import read_document
from crowdgate.errors import MOST_PROBLEMS, ConfigurationError, Problem
from tests.examples import examples

anything = st.recursive(
    st.one_of(st.text(max_size=8), st.sampled_from(["1e-9", "NO", "0x1", "2020-01-01", "null", "~", ".5"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
shared_folder = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(200)
)


@shared_folder
@given(anything)
def test_every_scalar_stays_the_text_that_was_written(tmp_path: Path, data: object) -> None:
    path = tmp_path / "any.yaml"
    path.write_text(yaml.safe_dump(data, allow_unicode=True, default_style='"'), encoding="utf-8")
    document = read_document(path)
    assert document.data == data
    assert document.typed == data


@shared_folder
@given(st.one_of(st.binary(max_size=60), st.text("{}[]:-,&*!|>%@\"'#? \n\tab\\xUu0", max_size=40).map(str.encode)))
@example(b'"\\UFFFFFFFF"')
@example(b'a: "\\ud800"')
@example(b'"\\ud800": a')
@example(b"%YAML 9" + b"9" * 5000 + b"\n---\na")
@example(b"[" * 100_000)
@example(b"a: \x00")
@example(b'{"a\\nb": 1, "a\\nb": 2}')
def test_any_bytes_give_a_document_or_a_configuration_error(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "any.yaml"
    path.write_bytes(raw)
    problems: tuple[Problem, ...] = ()
    try:
        read_document(path)
    except ConfigurationError as error:
        problems = error.problems
        str(error).encode()
    assert all(len(str(problem).splitlines()) == 1 for problem in problems)
    assert all(problem.file == str(path) for problem in problems)


def test_scalars_have_the_types_of_yaml_1_2_for_the_schema(tmp_path: Path) -> None:
    path = tmp_path / "types.yaml"
    path.write_text('[1e-9, 0.05, "0.05", NO, true, null, 010, 0x10, 1_000, 2020-01-01, .5]')
    document = read_document(path)
    assert document.data[:4] == ["1e-9", "0.05", "0.05", "NO"]
    assert document.typed == [1e-9, 0.05, "0.05", "NO", True, None, 10, "0x10", "1_000", "2020-01-01", 0.5]


def test_a_location_has_its_line_or_the_line_around_it(tmp_path: Path) -> None:
    path = tmp_path / "lines.yaml"
    path.write_text("a: 1\nb:\n  - x\n  - c: 2\n    d: 3\n")
    document = read_document(path)
    assert [document.line(at) for at in [(), ("b",), ("b", 1, "d"), ("b", 1, "e"), ("b", 7, "e")]] == [1, 2, 5, 4, 2]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "line", "found", "expected"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "the key is there twice", "each key once"),
        ("a: &x 1\nb: 2\n", 1, "a YAML anchor or alias", "written out"),
        ("a: 1\nb: *x\n", 2, "a YAML anchor or alias", "written out"),
        ("a: 1\nb: !!int 2\n", 2, "the tag", "without YAML tags"),
        ("a: 1\n---\nb: 2\n", 2, "a second YAML document begins here", "one document in each file"),
        ("a:\n  [b]: 1\n", 2, "a key that is a list, a mapping or empty", "a key that is plain text"),
        ('a: 1\nb: "\\ud800"\n', 2, "invalid Unicode", "valid YAML"),
        ("a: 1\nb: [\n", 3, "did not find expected node content", "valid YAML"),
        ("[" * 40, 1, "nested too deeply", "at most 30 levels"),
        ("a: [" + "1," * 50_000 + "]", 1, "too many keys and values", "at most 50,000"),
        ("".join(f"k{i}: 1\n" for i in range(60_000)), 25_000, "too many keys and values", "at most 50,000"),
        ("# nothing\n", None, "an empty file", "one document"),
        ("a: \x07", None, "the file holds a character that YAML does not allow", "valid YAML"),
        ("a: " + "b" * (1 << 20), None, "larger than 1 MiB", "at most 1 MiB"),
    ],
)
def test_what_a_reader_could_take_two_ways_is_refused(
    tmp_path: Path, text: str, line: int | None, found: str, expected: str
) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        read_document(path)
    problem = caught.value.problems[0]
    assert (Path(problem.file).name, problem.line) == ("wrong.yaml", line)
    assert found in problem.found
    assert expected in problem.expected


def test_all_problems_come_at_once(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text("a: 1\na: 2\nb: {c: 1, c: 2}\n")
    with pytest.raises(ConfigurationError) as caught:
        read_document(path)
    assert [problem.line for problem in caught.value.problems] == [2, 3]


@pytest.mark.parametrize("line", ["- &a 1\n", "- *a\n", "a: 1\n", "- ? [1]\n"])
def test_no_more_problems_are_told_than_anybody_reads(tmp_path: Path, line: str) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(line * 5000)
    with pytest.raises(ConfigurationError) as caught:
        read_document(path)
    assert len(caught.value.problems) == MOST_PROBLEMS
    assert str(caught.value).endswith(f"and more than these {MOST_PROBLEMS} problems")


def test_a_long_key_is_cut_off_in_errors(tmp_path: Path) -> None:
    path = tmp_path / "long.yaml"
    path.write_text(f"? {'k' * 70_000}\n: {{a: 1, a: 2}}\n")
    with pytest.raises(ConfigurationError) as caught:
        read_document(path)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("name", ["missing.yaml", ".", "latin.yaml"])
def test_a_file_that_cannot_be_read_as_text_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"a: \xe9")
    with pytest.raises(ConfigurationError):
        read_document(tmp_path / name)


def test_a_document_is_that_of_the_file_as_it_is_now_whatever_its_readers_did(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    for text in ("a: {b: [1, 2]}\n", "a: {b: [1, 3]}\n"):
        path.write_text(text)
        expected = {"a": {"b": ["1", text[-4]]}}
        for _ in range(2):
            found = read_document(path)
            assert found.data == expected
            found.data["a"]["b"].append("of one reader")
            found.typed["a"].clear()
        assert read_document(path).typed == {"a": {"b": [1, int(text[-4])]}}
