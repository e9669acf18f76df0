"""Recodes as statisticians write them: labels of codes, missing values, cuts between values, prefixes in trees."""

from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.contracts.contract import Attribute, Contract, Role
from crowdgate.contracts.reading import read_contract
from crowdgate.domain import INVALID, numbers
from crowdgate.hierarchy import hierarchy
from crowdgate.planning.bundle import KNOWN
from crowdgate.sources.encode import Reason, encode
from tests.contracts.clinic import CONTRACT, problems_of, write
from tests.contracts.test_contract_refusals import AGE, CHEST, WARD
from tests.examples import examples
from tests.workshop import Workshop, crowdgate, good_rows

CODES = "{values: ['1', '2', '3', '9'], labels: {1: heart, '2': lung, '3': 'NO', 9: unknown}, source: book}"
KNOWN_WARDS = "validValues: [heart, lung, NO]"


def contract(folder: Path, *edits: tuple[str, str]) -> Contract:
    text = CONTRACT
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new, 1)
    return read_contract(write(folder, text), KNOWN.servers)


def levels(made: Contract, name: str, level: str) -> dict[str, str]:
    """The label of each value of a column at a level."""
    attribute = made.by_name[name]
    assert attribute.domain is not None
    assert attribute.hierarchy is not None
    found = attribute.hierarchy.level(level)
    return {value: found.labels[code] for value, code in zip(attribute.domain.labels, found.codes, strict=False)}


def test_a_label_stands_for_its_code_in_rules_trees_and_cells(tmp_path: Path) -> None:
    """Trees and rules may name the code or the label; patterns match the code; cells are codes, however written."""
    mixed = "{name: chest, tree: {chest: ['1', lung], other: ['3', unknown]}}"
    made = contract(tmp_path, (WARD, CODES), (CHEST, mixed), (KNOWN_WARDS, "validValues: ['1', lung, 'NO']"),
                    ('"[a-z]+"', '"[0-9]"'))  # fmt: skip
    assert levels(made, "ward", "chest") == {"heart": "chest", "lung": "chest", "NO": "other", "unknown": "other"}
    attribute = made.by_name["ward"]
    assert attribute.accepted is not None
    assert attribute.accepted.tolist() == [True, True, True, False]
    assert attribute.domain is not None
    assert attribute.domain.codes(["1", "2.0", "03", "9", "heart", "4"]).tolist() == [0, 1, 2, 3, 0, INVALID]


def test_labels_flow_into_every_output_and_codes_into_none(workshop: Workshop) -> None:
    codes = {"north": "- 71.", "south": "-72", "east": "73"}  # two would be formulas of a spreadsheet
    labels = ", ".join(f"'{code}': {label}" for label, code in codes.items())
    workshop.edit(
        workshop.contract, "{values: [north, south, east],", f"{{values: {[*codes.values()]}, labels: {{{labels}}},"
    )
    workshop.write([{**row, "age": 50, "ward": codes[str(row["ward"])]} for row in good_rows(600)])
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 0
    folder = workshop.release_dir("2030-01-01")
    assert set(pq.read_table(folder / "data.parquet")["ward"].to_pylist()) <= set(codes)
    for path in folder.rglob("*"):
        if path.suffix in (".csv", ".md", ".json"):
            text = path.read_text(encoding="utf-8")
            assert not any(
                f"{before}{code}{after}" in text for code in codes.values() for before, after in ('""', ",,")
            )
    assert "north" in (folder / "dictionary.csv").read_text(encoding="utf-8")
    assert crowdgate("verify", folder) == 0


@settings(max_examples=examples(200))
@given(
    st.lists(st.integers(-12, 12), max_size=3),
    st.lists(st.one_of(st.none(), st.integers(-15, 15), st.just(-999)), max_size=30),
    st.sampled_from([None, Fraction(1), Fraction(1, 2)]),
    st.booleans(),
)
def test_a_missing_value_is_invalid_and_never_clamped(
    missing: list[int], cells: list[int | None], precision: Fraction | None, as_text: bool
) -> None:
    """All three ways of reading numbers agree: by range, by rounding and by text."""
    whole = precision != Fraction(1, 2)
    domain = numbers(
        Fraction(-5), Fraction(5), Fraction(1), "x", top=True, bottom=True, whole=whole, precision=precision
    )
    domain = type(domain)(domain.labels, "x", grid=domain.grid, missing=("?", "-999", *map(str, missing)))
    attribute = Attribute("a", Role.OTHER, domain=domain, hierarchy=hierarchy(domain, [], invalid_level=False))
    array = (
        pa.array([None if cell is None else str(cell) for cell in cells]) if as_text else pa.array(cells, pa.int64())
    )
    found = encode(array, attribute)
    lost = [cell is None or cell in (-999, *missing) for cell in cells]
    assert (found.invalid.tolist() if found.invalid is not None else [False] * len(cells)) == lost
    assert found.reasons.get(Reason.MISSING, 0) == sum(lost)
    assert sum(found.reasons.values()) == sum(lost)


def test_texts_can_be_missing_too(tmp_path: Path) -> None:
    made = contract(tmp_path, (AGE, AGE.replace("source", "missing: ['?', -9, 1e3], source")))
    domain = made.by_name["age"].domain
    assert domain is not None
    assert domain.codes(["?", " ?", "-9", "-9.0", "1000", "20", "-10"]).tolist() == [INVALID] * 5 + [6, 0]


def test_prefixes_group_what_is_listed_nowhere_else(tmp_path: Path) -> None:
    values = "{values: [A00, A01, B20, I10, I21, I210, Z9, X], source: ICD-10}"
    tree = (
        "{name: chapter, tree: {infections: ['A*', 'B*'], attack: ['I21*'], heart: ['I*'], known: [Z9], rest: ['*']}}"
    )
    made = contract(tmp_path, (WARD, values), (CHEST, tree), (KNOWN_WARDS, "validValues: [A00]"), ('"[a-z]+"', '".*"'))
    assert levels(made, "ward", "chapter") == {
        "A00": "infections", "A01": "infections", "B20": "infections", "I10": "heart", "I21": "attack",
        "I210": "attack", "Z9": "known", "X": "rest",
    }  # fmt: skip


def test_a_tree_over_prefixes_names_their_masked_values_or_prefixes_of_them(tmp_path: Path) -> None:
    """`B***` is a value of the level before, so it is no prefix."""
    made = contract(
        tmp_path, ("{name: side, file: towns.csv, column: half}", "{name: side, tree: {west: ['B***', 'A*']}}")
    )
    assert set(levels(made, "town", "side").values()) == {"west"}


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (WARD, "{values: [a, b], labels: {c: x}, source: s}", "a label of 'c', which is no value"),
        (WARD, "{values: [a, b], labels: {a: x, b: x}, source: s}", "two values have the label 'x'"),
        (WARD, "{values: [a, b], labels: {a: b, b: c}, source: s}", "the label 'b' is another value"),
        (WARD, "{values: [a, b], labels: {a: '=x'}, source: s}", "'=x' begins with = + - or @"),
        (WARD, "{values: [heart, '?'], missing: ['?'], source: s}", "'?' is a value of the domain, too"),
        (WARD, "{values: [heart, '9.0'], missing: ['9'], source: s}", "'9.0' is a value of the domain, too"),
        (AGE, AGE.replace("source", "labels: {0: x}, source"), "a mapping"),
        (CHEST, "{name: c, tree: {a: [heart, 'z*'], b: ['*']}}", "the prefix 'z*' fits no value that is left"),
        (CHEST, "{name: c, tree: {a: ['l*'], b: ['l*', '*']}}", "the prefix 'l*' is in two groups"),
        (CHEST, "{name: c, tree: {a: ['l*']}}", "is in no group"),
    ],
)
def test_a_recode_that_is_not_clear_is_refused(tmp_path: Path, old: str, new: str, found: str) -> None:
    assert old in CONTRACT
    problems = problems_of(write(tmp_path, CONTRACT.replace(old, new, 1)))
    assert any(found in problem.found for problem in problems), "\n".join(map(str, problems))
