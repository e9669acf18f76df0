"""`crowdgate diff`: files, folders and git revisions, the effects of changes, and exit codes."""

import subprocess
from pathlib import Path

import pytest

from tests.conformance.lives import Said, say
from tests.workshop import MARK, Workshop


@pytest.fixture
def there(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """Make a working copy under git, including its table, as the current folder."""
    monkeypatch.chdir(workshop.root)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    git("init", "-q")
    git("add", "policies", "data_contracts")
    git("-c", "user.name=board", "-c", "user.email=board@example.org", "commit", "-q", "-m", "first")
    return workshop


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True)


def compared(workshop: Workshop, *options: str) -> Said:
    return say("diff", "HEAD:policies/clinic.yaml", workshop.policy, *options)


def test_the_same_is_equal_and_ends_well(there: Workshop) -> None:
    there.edit(there.policy, "spec:\n", "# a comment\nspec:\n")
    said = compared(there)
    assert said.code == 0
    assert said.out.startswith("clinic: equal")


def test_what_is_only_tighter_ends_well(there: Workshop) -> None:
    there.edit(there.policy, "version: 1", "version: 2")
    there.edit(there.policy, "at_most: 500", "at_most: 400")
    said = compared(there)
    assert said.code == 0
    assert "tighter         spec.gates[singletons].at_most: 500 -> 400" in said.out
    assert "raise it" not in said.out


def test_what_is_looser_ends_otherwise_with_what_it_comes_to(there: Workshop) -> None:
    there.edit(there.policy, "epsilon: 2", "epsilon: 3")
    said = compared(there)
    assert said.code == 3
    for line in ("epsilon of a release: 2 -> 3", "releases left: 3 -> 2", "k, the least class: ", "raise it"):
        assert line in said.out
    assert "now, by the ledger" in said.out


def test_releases_left_are_those_that_the_ledger_still_pays_for(there: Workshop) -> None:
    assert say("release", there.policy, "--as-of", "2030-01-01").code == 0
    there.edit(there.policy, "epsilon: 2", "epsilon: 3")
    assert "releases left: 2 -> 1" in compared(there).out


def test_a_series_is_compared_by_what_all_its_releases_cost(there: Workshop) -> None:
    there.edit(there.policy, "  publish:", "  series: {releases: 2}\n  publish:")
    said = compared(there).out
    assert "epsilon of the series: nothing -> " in said
    assert "delta of the series: nothing -> 0.02" in said


def test_a_new_version_gives_up_the_paid_releases_of_a_series(there: Workshop) -> None:
    """Also where OLD is a copy, whose files have another digest."""
    there.edit(there.policy, "  publish:", "  series: {releases: 2}\n  publish:")
    assert say("release", there.policy, "--as-of", "2030-01-01").code == 0
    old = there.policy.with_name("old.yaml")
    old.write_text(there.policy.read_text(encoding="utf-8"), encoding="utf-8")
    there.edit(there.policy, "version: 1", "version: 2")
    there.edit(there.policy, "{measure: released_rows, at_least: 0}", "{measure: released_rows, at_least: 1}")
    assert "paid releases of the series that are left: 1 -> 0" in say("diff", old, there.policy).out


def test_what_is_added_is_shown_as_the_policy_states_it(there: Workshop) -> None:
    """Defaults that the file does not state, and numbers without their unit, are the program's own."""
    key = "MCowBQYDK2VwAyEAm+hbwSI82bdlmEiCYSeGep1+gMmuiOMtDz+bAW44QoY="
    there.edit(
        there.policy, "  publish:", f"  approval: {{by: [{{name: ada, key: '{key}'}}], expires: 60 days}}\n  publish:"
    )
    said = compared(there).out
    assert f"spec.approval: nothing -> {{by: [{{name: ada, key: {key}}}], expires: 60 days}}" in said


def test_json_and_markdown_say_the_same(there: Workshop) -> None:
    there.edit(there.policy, "beta: 0.5", "beta: 0.25")
    there.edit(there.policy, "board", "a|b `c` <script>")
    found = compared(there, "--json").json()
    (policy,) = found["policies"]
    assert {each["field"]: each["direction"] for each in policy["changes"]} == {
        "metadata.owner": "changed meaning", "spec.mechanism.sampling.beta": "tighter",
    }  # fmt: skip
    assert found["direction"] == policy["direction"] == "changed meaning"
    text = compared(there, "--markdown").out
    assert "| **tighter** | `spec.mechanism.sampling.beta` | `0.5` | `0.25` |" in text
    assert "| `` a\\|b `c` <script> `` |" in text


def test_a_contract_that_was_edited_changes_what_the_policy_means(there: Workshop) -> None:
    there.edit(there.contract, "width: 50", "width: 30")
    said = compared(there)
    assert said.code == 3
    assert "changed meaning contract (its files)" in said.out


def test_public_counts_that_a_contract_names_are_part_of_it(there: Workshop) -> None:
    there.edit(there.root / "data_contracts" / "ward.csv", "south,3", "south,4")
    assert "changed meaning contract (its files)" in compared(there).out


def test_a_comment_in_a_contract_changes_nothing(there: Workshop) -> None:
    there.edit(there.contract, "status: active", "status: active  # since May")
    assert compared(there).code == 0


def test_a_larger_budget_is_looser(there: Workshop) -> None:
    there.edit(there.budget, "epsilon: 6", "epsilon: 8")
    said = compared(there)
    assert said.code == 3
    assert "looser          budget.spec.epsilon: 6 -> 8" in said.out


def test_folders_pair_policies_by_name(there: Workshop) -> None:
    other = there.policy.with_name("other.yaml")
    other.write_text(there.policy.read_text().replace("name: clinic,", "name: other,"))
    come = say("diff", "HEAD:policies", "policies")
    assert (come.code, "other: 1 looser" in come.out, "clinic: equal" in come.out) == (3, True, True)
    assert say("diff", "policies", "HEAD:policies").code == 0


def test_a_revision_is_read_from_a_folder_inside_the_repository(
    there: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(there.root / "policies")
    assert say("diff", "HEAD:./clinic.yaml", "clinic.yaml").code == 0
    assert say("diff", "HEAD:policies/clinic.yaml", "HEAD:policies/clinic.yaml").code == 0


def test_nothing_is_checked_out_and_no_table_leaves_git(there: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    monkeypatch.setattr(Path, "write_bytes", lambda path, data: _write(written, path, data))
    there.edit(there.policy, "epsilon: 2", "epsilon: 3")
    edited = there.policy.read_text()
    assert compared(there).code == 3
    assert there.policy.read_text() == edited
    assert written
    assert not any(MARK.encode() in data for data in written)


def _write(written: list[bytes], path: Path, data: bytes) -> int:
    written.append(data)
    with path.open("wb") as file:
        return file.write(data)


def test_without_a_working_copy_the_fields_are_compared_and_the_rest_is_told(there: Workshop, tmp_path: Path) -> None:
    alone = tmp_path / "alone.yaml"
    alone.write_text(there.policy.read_text())
    said = say("diff", alone, there.policy)
    assert said.code == 0
    assert "Contract and budget were not compared" in said.out


@pytest.mark.parametrize(
    ("level", "code", "direction"), [("any", 0, "tighter"), ("exact", 3, "looser"), ("10 years", 3, "not comparable")]
)
def test_without_a_contract_only_the_finest_and_the_coarsest_level_have_an_order(
    level: str, code: int, direction: str, there: Workshop, tmp_path: Path
) -> None:
    alone = tmp_path / "alone.yaml"
    alone.write_text(there.policy.read_text().replace("age: 50 years", f"age: {level}"))
    said = say("diff", there.policy, alone, "--json")
    (change,) = said.json()["policies"][0]["changes"]
    assert (said.code, change["field"], change["direction"]) == (code, "spec.mechanism.attributes.age", direction)


@pytest.mark.parametrize(
    ("old", "found"),
    [
        ("HEAD:policies/none.yaml", "no such file at that revision"),
        ("HEAD:../clinic.yaml", "a path outside"),
        ("nowhere:policies/clinic.yaml", "no revision that git knows"),
        ("--output=x:policies", "No such option"),
        ("none.yaml", "No such file"),
        ("policies", "a folder and a file"),
    ],
)
def test_what_can_not_be_read_is_refused(there: Workshop, old: str, found: str) -> None:
    said = say("diff", old, there.policy)
    assert (said.code, said.out) == (2, "")
    assert found in said.err


def test_a_broken_contract_of_others_stands_in_no_way(there: Workshop) -> None:
    there.contract.with_name("others.yaml").write_text("a: [")
    git("add", "data_contracts/others.yaml")
    git("-c", "user.name=board", "-c", "user.email=board@example.org", "commit", "-q", "-m", "second")
    assert compared(there).code == 0


def test_links_in_git_are_not_followed(there: Workshop) -> None:
    there.policy.with_name("link.yaml").symlink_to("/etc/hostname")
    git("add", "policies")
    git("-c", "user.name=board", "-c", "user.email=board@example.org", "commit", "-q", "-m", "second")
    assert "no plain file" in say("diff", "HEAD:policies", "policies").err


def test_of_a_gate_that_only_advises_nothing_is_said_to_be_withheld(there: Workshop) -> None:
    line = "    - {measure: suppressed_share, at_most: 0.5, severity: advise}\n"
    there.edit(there.policy, line, line.replace("0.5", "0.7"))
    (limit,) = compared(there, "--json").json()["policies"][0]["changes"]
    there.edit(there.policy, line.replace("0.5", "0.7"), "")
    (gone,) = compared(there, "--json").json()["policies"][0]["changes"]
    assert (limit["direction"], gone["direction"]) == ("looser", "looser")
    assert limit["means"] == gone["means"] == "the gate only advises: it withholds nothing, before and after"


def test_a_policy_of_another_name_has_no_version_to_raise(there: Workshop) -> None:
    said = "The version is the same"
    there.edit(there.policy, "beta: 0.5", "beta: 0.4")
    assert said in compared(there).out
    there.edit(there.policy, "name: clinic", "name: other")
    assert said not in compared(there).out


@pytest.mark.parametrize("moved", ["deep/clinic.yaml", "clinic.yml"])
def test_a_policy_that_was_moved_is_still_there(moved: str, there: Workshop) -> None:
    """A moved policy does not count as one that releases nothing any more, which would be tighter."""
    target = there.policy.parent / moved
    target.parent.mkdir(exist_ok=True)
    there.policy.rename(target)
    there.edit(target, "beta: 0.5", "beta: 0.6")
    said = say("diff", "HEAD:policies", "policies")
    assert (said.code, "sampling.beta: 0.5 -> 0.6" in said.out) == (3, True)


def test_a_waiver_that_comes_with_a_changed_gate_is_shown(there: Workshop) -> None:
    waiver = "waiver: {reason: why, approved_by: who, expires: 2099-01-01}"
    there.edit(there.policy, "released_rows, at_least: 0}", f"released_classes, at_least: 3, {waiver}}}")
    text = compared(there).out
    assert "waived by who until 2099-01-01: why" in text
    assert "a failure of the gate is waived: it withholds nothing while the waiver holds" in text
    assert "one more gate must pass" not in text


def test_a_file_of_another_kind_is_one_problem(there: Workshop) -> None:
    said = say("diff", str(there.budget), str(there.budget))
    assert (said.code, len(said.err.splitlines())) == (2, 1)
    assert "kind: 'PrivacyBudget'; expected 'ReleasePolicy'" in said.err


def test_a_policy_that_is_wrong_is_refused_with_its_line(there: Workshop) -> None:
    there.edit(there.policy, "beta: 0.5", "beta: 5")
    assert f"{there.policy}:10:16: " in compared(there).err
    git("add", "policies")
    git("-c", "user.name=board", "-c", "user.email=board@example.org", "commit", "-q", "-m", "second")
    there.edit(there.policy, "beta: 5", "beta: 0.5")
    said = compared(there)
    assert (said.code, "HEAD:policies/clinic.yaml:10:16: " in said.err) == (2, True)
