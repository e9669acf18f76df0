"""Stock classifications: their files, the levels that a contract gets by one word, and codes that they do not have."""

import hashlib
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from crowdgate.contracts import classifications
from crowdgate.contracts.classifications import CLASSIFICATIONS, STOCK, all_codes, groups, level_names, stock_rows
from crowdgate.contracts.reading import read_contract
from crowdgate.hierarchy import first_split
from crowdgate.planning.bundle import KNOWN
from tests.contracts.clinic import CONTRACT, line_of, problems_of, write
from tests.workshop import crowdgate

ROOT = Path(__file__).parents[2]
LISTS = [name for name, each in CLASSIFICATIONS.items() if each.width is None]
DOMAIN = "          - {property: domain, value: {values: [heart, lung, NO, unknown], source: book}}\n"
LEVELS = "          - {property: levels, value: [{name: chest, tree: {chest: [heart, lung], other: [NO, unknown]}}]}\n"
QUALITY = CONTRACT[CONTRACT.index("        quality:\n          - {name: known") : CONTRACT.index("      - name: note")]
CODES = "{property: domain, value: {values: [I21, Q99, A14], source: x}}"
SECTIONS = "{property: levels, value: [{name: sections, classification: nace-2}]}"
DIGESTS = {
    "icd-10": "52a4341b367a022d",
    "icd-9": "5d903e9ec5c5c60a",
    "isced-2011": "55158a2800f384eb",
    "isco-08": "eefe53543a1ac8b2",
    "iso-3166": "a88a5e13f369f9ec",
    "nace-2": "b96455ef42ecd2ca",
}
"""The SHA-256 of each file, its first 16 digits. A file never changes, since contracts that name it keep their digest:
a correction gets a new name."""


def ward(*lines: str) -> str:
    """The clinic's contract with other facts about its column `ward`."""
    assert DOMAIN + LEVELS in CONTRACT
    return CONTRACT.replace(QUALITY, "").replace(DOMAIN + LEVELS, "".join(f"          - {each}\n" for each in lines))


def hierarchy_of(folder: Path, text: str, name: str = "ward") -> dict[str, dict[str, str]]:
    """The group of each value of a column at each level."""
    attribute = read_contract(write(folder, text), KNOWN.servers).by_name[name]
    assert attribute.domain is not None
    assert attribute.hierarchy is not None
    levels = attribute.hierarchy.levels
    return {
        level.name: {
            value: level.labels[code] for value, code in zip(attribute.domain.labels, level.codes, strict=False)
        }
        for level in levels
    }


def test_no_file_has_changed_and_each_states_its_source_and_licence() -> None:
    found = {path.stem: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in sorted(STOCK.glob("*.csv"))}
    assert found == DIGESTS
    assert all(each.source and each.licence and each.title for each in CLASSIFICATIONS.values())


@pytest.mark.parametrize("name", LISTS)
def test_ranges_do_not_overlap_and_levels_nest(name: str) -> None:
    rows = stock_rows(name)
    codes = [*all_codes(name)]
    assert len(codes) == len(set(codes)) > 0
    assert all(last < first for last, first in zip(rows.lasts, rows.firsts[1:], strict=False))
    assert all(first <= last and len(first) == len(last) for first, last in zip(rows.firsts, rows.lasts, strict=True))
    labels = [groups(name, level, codes) for level in level_names(name)]
    assert all(None not in each for each in labels)
    for fine, coarse in pairwise(labels):
        assert first_split([str(each) for each in fine], [str(each) for each in coarse]) is None


@pytest.mark.parametrize(
    ("name", "level", "code", "group"),
    [
        ("icd-10", "block", "I21.0", "I20-I25"),
        ("icd-10", "chapter", "i210", "IX (I00-I99)"),
        ("icd-10", "block", "W19", "V01-X59"),
        ("icd-10", "chapter", "H60", "VIII (H60-H95)"),
        ("icd-10", "chapter", "A14", None),
        ("icd-9", "chapter", "250.83", "240-279 Endocrine, nutritional and metabolic diseases, and immunity disorders"),
        ("icd-9", "chapter", "E909", "E000-E999 External causes of injury and poisoning"),
        ("icd-9", "chapter", "V92", None),
        ("isced-2011", "broad level", "4", "Medium"),
        ("isco-08", "major group", "2211", "2 Professionals"),
        ("nace-2", "section", "C20.14", "C Manufacturing"),
        ("nace-2", "section", "04", None),
        ("nace-2", "section", "j62.01", "J Information and communication"),
        ("nace-2", "section", "A62", None),
        ("nace-2", "division", "A62", None),
        ("iso-3166", "region", "NO", "Europe"),
        ("iso-3166", "subregion", "br", "South America"),
        ("iso-3166", "subregion", "XX", None),
    ],
)
def test_codes_have_the_groups_of_their_publishers(name: str, level: str, code: str, group: str | None) -> None:
    assert groups(name, level, [code]) == [group]


def test_one_word_gives_a_column_all_codes_and_all_levels(tmp_path: Path) -> None:
    found = hierarchy_of(tmp_path, ward("{property: classification, value: iso-3166}"))
    assert [*found] == ["exact", "subregion", "region", "any"]
    assert len(found["exact"]) == 249
    assert (found["subregion"]["NO"], found["region"]["NO"]) == ("Northern Europe", "Europe")


def test_own_values_and_levels_may_stand_beside_it(tmp_path: Path) -> None:
    codes = "{property: domain, value: {values: [I21.0, I21.9, C50], labels: {C50: breast}, source: study}}"
    three = "{property: classification, value: icd-10}"
    found = hierarchy_of(tmp_path, ward(codes, three))
    assert found["block"] == {"I21.0": "I20-I25", "I21.9": "I20-I25", "breast": "C50"}
    own = "{property: levels, value: [{name: part, classification: icd-10, column: chapter}]}"
    assert [*hierarchy_of(tmp_path, ward(codes, own))] == ["exact", "part", "any"]


def test_ages_get_groups_of_five_years(tmp_path: Path) -> None:
    text = ward(
        "{property: domain, value: {from: 0, to: 90, top: true, source: x}}",
        "{property: classification, value: five-year-ages}",
    ).replace("- name: ward\n        logicalType: string", "- name: ward\n        logicalType: integer")
    found = hierarchy_of(tmp_path, text)
    assert [*found] == ["exact", "5 years", "any"]
    assert len({*found["5 years"].values()}) == 19


def test_definitions_may_name_one(tmp_path: Path) -> None:
    shared = "      - {property: definitions, value: {land: {classification: iso-3166, privacyRole: sensitive}}}\n"
    text = ward("{property: like, value: land}").replace(
        "      - {property: rowsAtMost", shared + "      - {property: rowsAtMost"
    )
    assert "region" in hierarchy_of(tmp_path, text)


@pytest.mark.parametrize(
    ("lines", "found", "expected", "column"),
    [
        (
            [CODES, "{property: classification, value: icd-10}"],
            "the code 'A14' is not in icd-10", "codes of WHO", 59,
        ),
        (["{property: classification, value: icd10}"], "'icd10'", "one of icd-10, icd-9", 40),
        (
            ["{property: classification, value: five-year-ages}"],
            "five-year-ages without a domain", "a domain beside", 40,
        ),
        (
            ["{property: classification, value: nace-2}", SECTIONS],
            "the level 'sections'", "a level of nace-2: division, section", 40,
        ),
    ],
)  # fmt: skip
def test_one_error_at_its_line_and_column(
    tmp_path: Path, lines: list[str], found: str, expected: str, column: int
) -> None:
    (problem,) = problems_of(write(tmp_path, ward(*lines)))
    assert (problem.found, problem.column) == (found, column)
    assert problem.expected.startswith(expected)
    assert problem.line == line_of(DOMAIN) + ("levels" in lines[-1])


def test_a_draft_proposes_one_by_the_name_of_a_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text("country_of_birth,icd10,nace_code,colour\n")
    assert crowdgate("contract", "draft", "table.csv", "--header-line") == 0
    said = capsys.readouterr().out
    assert "{property: classification, value: icd-10}" in said
    for name in ("iso-3166", "nace-2"):
        assert f"CHANGE (in place of domain and its value write classification, value: {name} for codes" in said
    assert said.count("classification, value") == 3


def test_the_guide_names_every_classification_with_its_licence() -> None:
    guide = (ROOT / "data_contracts" / "reference" / "domains-and-levels.md").read_text(encoding="utf-8")
    for name, each in CLASSIFICATIONS.items():
        assert f"| `{name}` |" in guide
        assert all(f"`{level}`" in guide for level in level_names(name))
        assert each.source.split(",")[0].split(" as ")[0] in guide


def test_the_script_makes_levels_of_another_classification(tmp_path: Path) -> None:
    source = tmp_path / "isic.csv"
    source.write_text("Code,Title,Section\n0111,Cereals,A\n0112,Rice,A\n0510,Coal,B\n")
    script = [sys.executable, str(ROOT / "data_contracts" / "make_levels.py"), str(source), "--code", "Code"]
    made = subprocess.run([*script, "--level", "section=Section"], check=True, capture_output=True, text=True).stdout
    assert made == "value,section\n0111,A\n0112,A\n0510,B\n"
    values = "{property: domain, value: {values: {file: levels.csv, column: value}, source: UN}}"
    levels = "{property: levels, value: [{name: section, file: levels.csv}]}"
    (tmp_path / "levels.csv").write_text(made)
    assert hierarchy_of(tmp_path, ward(values, levels))["section"]["0112"] == "A"
    source.write_text("Code,Title,Section\n0111,Cereals,A\n0111,Rice,A\n")
    assert subprocess.run([*script, "--level", "section=Section"], check=False, capture_output=True).returncode == 1


def test_a_planted_fault_in_a_file_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A range that overlaps another one would give a code two groups."""
    (tmp_path / "nace-2.csv").write_text("first,last,division,section\n01,03,a,A\n02,04,b,B\n")
    monkeypatch.setattr(classifications, "STOCK", tmp_path)
    stock_rows.cache_clear()
    try:
        with pytest.raises(AssertionError):
            test_ranges_do_not_overlap_and_levels_nest("nace-2")
    finally:
        stock_rows.cache_clear()
