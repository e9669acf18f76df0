"""Remarks about edits of policies: none for a good edit, the place and a correction for a bad one."""

import re
import shutil
from pathlib import Path

import pytest

from crowdgate.review.files import ERROR, WARNING, Remark, lint, lint_files
from tests.policy.edits import AS_IT_WAS, BAD, DANGEROUS, GOOD, ROWS, Bad, Change, Dangerous
from tests.policy.test_policy_files import with_gate_on_use

ROOT = Path(__file__).parents[2]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for folder in ("policies", "data_contracts"):
        left_out = shutil.ignore_patterns("*.py", "*.md", "schema", "__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=left_out)
    with_gate_on_use(tmp_path / ROWS)
    return tmp_path


def change(home: Path, changes: list[Change]) -> None:
    for file, old, new in changes:
        text = (home / file).read_text(encoding="utf-8")
        assert old in text, old
        (home / file).write_text(text.replace(old, new, 1), encoding="utf-8")


def place(path: Path, part: str) -> tuple[int, int]:
    """Return line and column, from 1, of a text in a file."""
    text = path.read_text(encoding="utf-8")
    assert part in text, part
    before = text[: text.rindex(part)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


@pytest.mark.thorough
@pytest.mark.parametrize("changes", GOOD, ids=[edit[0][2].strip()[:40] for edit in GOOD])
def test_nothing_is_said_of_a_good_edit(changes: list[Change], home: Path) -> None:
    change(home, changes)
    assert lint(home / changes[0][0]).remarks == []


@pytest.mark.thorough
@pytest.mark.parametrize("bad", BAD, ids=[f"{bad.code} {bad.change[2].strip()[:40]}" for bad in BAD])
def test_a_bad_edit_is_told_where_it_stands_and_how_it_is_mended(bad: Bad, home: Path) -> None:
    file = bad.change[0]
    before = (home / file).read_text(encoding="utf-8").splitlines()
    change(home, [bad.change])
    found = lint(home / (bad.checked or file)).remarks
    (told,) = [each for each in found if each.code == bad.code and bad.words in each.message]
    line, column = place(home / file, bad.at)
    assert (told.path, told.line, told.severity) == (str(home / file), line, ERROR)
    assert told.column == (None if file.endswith(".csv") else column)
    assert len(found) == 1 + bad.also
    assert told.corrected == (before[line - 1] if bad.corrected == AS_IT_WAS else bad.corrected)
    if told.corrected is not None:
        mend(told)
        assert [each for each in lint(home / file).remarks if each.message == told.message] == []


def mend(told: Remark) -> None:
    """Write the corrected line."""
    path = Path(told.path)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert told.line is not None
    assert told.corrected is not None
    lines[told.line - 1] = told.corrected
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.thorough
@pytest.mark.parametrize("dangerous", DANGEROUS, ids=["+".join(each.codes) for each in DANGEROUS])
def test_a_dangerous_edit_is_allowed_and_warned_of(dangerous: Dangerous, home: Path) -> None:
    change(home, dangerous.changes)
    policy = next((file for file, _, _ in dangerous.changes if "budgets" not in file), "policies/census_income.yaml")
    found = lint(home / policy).remarks
    assert [(each.severity, each.code) for each in found] == [(WARNING, code) for code in dangerous.codes]
    for each in found:
        assert (each.line, each.column) == place(Path(each.path), dangerous.codes[str(each.code)])


def test_the_table_is_as_long_as_it_says() -> None:
    assert len(GOOD) == 20
    assert len(BAD) + len(DANGEROUS) >= 50


def test_what_follows_from_a_misspelled_attribute_is_not_written_so_elsewhere(home: Path) -> None:
    change(home, [(ROWS, "      occupation: 2", "      ocupation: 2")])
    of_the_gate, of_the_attribute = lint(home / ROWS).remarks
    assert (of_the_gate.instead, of_the_gate.corrected) == (None, None)
    assert of_the_attribute.corrected == "      occupation: 2 groups"


def slips(text: str) -> list[tuple[str, str]]:
    """Return every word of a policy misspelled: two letters swapped, one left out, or capitals."""
    words = dict.fromkeys(word for word in re.findall(r"[a-z]+(?:_[a-z]+)*", text) if len(word) > 3)
    found = []
    for i, word in enumerate(words):
        at = i % (len(word) - 1)
        turned = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        found.append((word, [turned, word[:at] + word[at + 1 :], word.upper()][i % 3]))
    return [(word, slip) for word, slip in found if word != slip]


@pytest.mark.thorough
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.soak)])
def test_no_line_is_proposed_but_the_one_that_was_meant(home: Path, every: int) -> None:
    """For a misspelled word of a policy (each fourth by default), only the intended correction may be suggested."""
    path, proposed = home / ROWS, 0
    text = path.read_text(encoding="utf-8").replace("#", "\n#")
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for word, slip in slips("\n".join(lines))[::every]:
        path.write_text(re.sub(rf"\b{word}\b", slip, text, count=1), encoding="utf-8")
        for told in lint(path).remarks:
            if told.corrected is not None:
                assert told.line is not None
                assert told.corrected == text.splitlines()[told.line - 1].rstrip(), (word, slip)
                proposed += 1
    assert proposed > 30 / every


@pytest.mark.parametrize(
    ("word", "corrected"), [("at_lost", None), ("at_mast", None), ("at_lest", "at_least"), ("at_mst", "at_most")]
)
def test_the_side_of_a_limit_is_only_written_where_it_is_clear(word: str, corrected: str | None, home: Path) -> None:
    change(home, [(ROWS, "released_rows, at_least:", f"released_rows, {word}:")])
    (found,) = [each for each in lint(home / ROWS).remarks if each.code == "CG101"]
    assert (found.corrected is None) == (corrected is None)
    assert corrected is None or f"{corrected}: 80000" in str(found.corrected)


@pytest.mark.thorough
def test_a_folder_is_read_whole_whatever_is_in_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Covers files that end in .yml, a link to itself, and a policy with the name and version of another."""
    monkeypatch.chdir(home)
    text = (home / ROWS).read_text(encoding="utf-8")
    (home / "policies" / "other.yml").write_text(text.replace("gates:", "gtaes:"), encoding="utf-8")
    (home / "policies" / "loop.yaml").symlink_to("loop.yaml")
    (home / "policies" / "same.yaml").write_text(text.replace("at_least: 80000", "at_least: 8"), encoding="utf-8")
    (home / "policies" / "next.yaml").write_text(text.replace("version: 2", "version: 3"), encoding="utf-8")
    found = {str(each.path): [remark.code for remark in each.remarks] for each in lint_files([Path()])}
    assert found["policies/other.yml"] == ["CG102", "CG101"]
    assert found["policies/loop.yaml"] == ["CG106"]
    assert found["policies/same.yaml"] == found["policies/census_income.yaml"] == ["CG105"]
    assert found["policies/next.yaml"] == found["policies/census_income_tables.yaml"] == []


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85"])
def test_no_line_is_hidden_in_a_comment(mark: str, home: Path) -> None:
    """A reader of YAML 1.2 sees a comment; one of YAML 1.1 a gate that only advises."""
    change(home, [(ROWS, "at_least: 80000}", f"at_least: 80000}}  # enough{mark}      # and more")])
    (found,) = lint(home / ROWS).remarks
    assert (found.code, (found.line, found.column)) == ("CG107", place(home / ROWS, mark))


def test_another_name_is_no_misspelling(home: Path) -> None:
    """A missing file is not the one whose name is longer."""
    (home / ROWS).unlink()
    (found,) = lint(home / "policies" / "cases" / "census_income.yaml").remarks
    assert (found.code, found.instead, found.corrected) == ("CG104", "census_income_tables.yaml", None)
