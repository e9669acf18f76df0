"""A working copy of an earlier version is upgraded: changes are shown, then written whole, and no policy changes."""

import json
import shutil
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from crowdgate.documents.yaml_text import read_document
from crowdgate.errors import EnvironmentFault
from crowdgate.planning.plan import plan_policy
from crowdgate.releases.schedule_upgrade import changed_text, schedule_changes
from crowdgate.releases.working_copy import bundled
from crowdgate.releases.working_copy_upgrade import upgrades, write_upgrades
from tests.conformance.lives import say
from tests.releases.killing import finish_until
from tests.workshop import Workshop, make_workshop

FIRST = """\
# prefect deploy --all --prefect-file flows/prefect.yaml    (from the root of the working copy)
name: crowdgate
prefect-version: 3.8.8
deployments:
  - name: census-income-yearly
    description: Yearly public-use file. The slot is the day the run was scheduled for.
    entrypoint: flows.release.release
    parameters:
      policy: policies/clinic.yaml
    schedules:
      - cron: "0 6 1 3 *"
        timezone: UTC
    concurrency_limit: 1
    work_pool:
      name: releases
"""
"""The schedules of the first versions, in flows/."""
SECOND = FIRST.replace("flows.release.release", "crowdgate_flows.release.release").replace(
    "parameters:\n", 'parameters:\n      working_copy: ".."\n'
)
"""The schedules of the next ones, in schedules/."""
OTHERS = """\
deployments:
  - name: mine  # its env is not ours
    entrypoint: my_flows.clean.clean
    work_pool: {name: mine}
  - {name: a, entrypoint: "flows.release.release", parameters: {policy: p.yaml}, work_pool: {name: w}}
  - name: b
    entrypoint: 'crowdgate_flows.audit.audit'   # quarterly
    parameters: {policy: p.yaml}
    work_pool:
      name: w
      job_variables:
        env: {TZ: UTC}
  - {name: c, entrypoint: crowdgate_flows.release.release, work_pool: {name: w, job_variables: {image: x}}}
  - {name: d, entrypoint: crowdgate_flows.audit.audit, work_pool: {name: w, job_variables: {env: {DO_NOT_TRACK: "0"}}}}
"""


@pytest.fixture
def old(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """Make a working copy of a first version, with a schema of that version and without one that came later."""
    monkeypatch.chdir(workshop.root)
    return aged(workshop)


def aged(workshop: Workshop) -> Workshop:
    (workshop.root / "flows").mkdir()
    (workshop.root / "flows" / "prefect.yaml").write_text(FIRST)
    shutil.copytree(bundled("policies") / "schema", workshop.root / "policies" / "schema")
    (workshop.root / "policies" / "schema" / "release-policy.json").write_text("{}\n")
    (workshop.root / "policies" / "schema" / "questionnaire.json").unlink()
    return workshop


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def deployments(path: Path) -> list[Any]:
    found: list[Any] = read_document(path).data["deployments"]
    return found


def test_changes_are_shown_and_only_written_when_asked(old: Workshop) -> None:
    before = files(old.root)
    shown = say("upgrade")
    assert (shown.code, files(old.root)) == (0, before)
    assert shown.out.startswith("3 files can be upgraded. Nothing is written without --write.\n")
    for line in (
        "+    entrypoint: crowdgate_flows.release.release",
        '+      working_copy: ".."',
        "moved from flows/prefect.yaml",
    ):
        assert line in shown.out
    assert say("upgrade", "--write").out.startswith("Upgraded 3 files.\n")
    assert say("upgrade").out == (
        "Nothing needs an upgrade.\nPolicies and budgets: 2 unchanged, in the only form that there is.\n"
    )
    after = files(old.root)
    assert {name for name in before | after if before.get(name) != after.get(name)} == {
        "flows/prefect.yaml", "schedules/prefect.yaml", "policies/schema/release-policy.json",
        "policies/schema/questionnaire.json",
    }  # fmt: skip
    assert files(old.root / "policies" / "schema") == files(bundled("policies") / "schema")


def test_upgraded_deployments_are_those_that_this_version_writes(old: Workshop, tmp_path: Path) -> None:
    assert say("upgrade", "--write").code == 0
    digest = plan_policy(old.policy).bundle.digest
    now = bound(digest)
    assert deployments(old.root / "schedules" / "prefect.yaml") == now
    changes = schedule_changes(second(tmp_path), {"policies/clinic.yaml": digest}.get)
    (tmp_path / "second.yaml").write_text(changed_text(SECOND, changes))
    assert deployments(tmp_path / "second.yaml") == now


def bound(digest: str) -> list[dict[str, Any]]:
    """The bundled deployment of a release, for another policy, and bound to files with this digest. Tags are labels: an
    upgrade leaves those of the working copy.
    """
    (found, *_) = deployments(bundled("schedules") / "prefect.yaml")
    del found["tags"]
    own = {"policy": "policies/clinic.yaml", "policy_digest": digest}
    return [found | {"parameters": found["parameters"] | own}]


def second(folder: Path) -> Path:
    path = folder / "before.yaml"
    path.write_text(SECOND)
    return path


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_other_deployments_comments_and_choices_stay(ending: str, tmp_path: Path) -> None:
    path = tmp_path / "prefect.yaml"
    text = OTHERS.replace("\n", ending)
    path.write_bytes(text.encode())
    changes = schedule_changes(path)
    assert [(each.line, each.old) for each in changes if each.old] == [(5, "flows.release.release")]
    assert [each.line for each in changes] == [5, 5, 5, 12, 13]
    path.write_bytes(changed_text(text, changes).encode())
    assert schedule_changes(path) == []
    found = {each["name"]: each for each in deployments(path)}
    assert found["mine"] == {"name": "mine", "entrypoint": "my_flows.clean.clean", "work_pool": {"name": "mine"}}
    assert found["a"]["parameters"] == {"working_copy": "..", "policy": "p.yaml"}
    assert found["b"]["parameters"] == {"policy": "p.yaml"}
    assert found["b"]["work_pool"]["job_variables"] == {"env": {"DO_NOT_TRACK": "1", "TZ": "UTC"}}
    assert found["c"]["work_pool"]["job_variables"] == {"env": {"DO_NOT_TRACK": "1"}, "image": "x"}
    assert found["d"]["work_pool"]["job_variables"] == {"env": {"DO_NOT_TRACK": "0"}}
    assert path.read_text().count("#") == 2


def test_no_policy_changes_and_the_ledger_knows_it_as_before(old: Workshop) -> None:
    assert say("release", old.policy, "--as-of", "2030-01-01").code == 0
    digest, policy = plan_policy(old.policy).bundle.digest, old.policy.read_bytes()
    assert say("upgrade", "--write").code == 0
    assert (plan_policy(old.policy).bundle.digest, old.policy.read_bytes()) == (digest, policy)
    assert say("release", old.policy, "--as-of", "2030-01-02").code == 0


def test_policies_in_another_form_are_named(old: Workshop) -> None:
    old.edit(old.policy, "apiVersion: crowdgate/v1", "apiVersion: crowdgate/v2")
    stated = say("upgrade", "--json").json()
    assert (stated["unchanged_policies"], stated["other_policies"]) == (1, ["policies/clinic.yaml"])
    assert "Not in that form, or unreadable: policies/clinic.yaml." in say("upgrade").out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("work_pool: {name: [", "valid YAML"),
        (FIRST.replace("      name: releases\n", ""), "work_pool: no mapping with a key"),
        (FIRST.replace("entrypoint: flows", "entrypoint:\n      flows"), "a name on another line"),
    ],
)
def test_schedules_that_leave_no_place_for_a_change_are_refused_by_their_line(
    old: Workshop, text: str, words: str
) -> None:
    (old.root / "flows" / "prefect.yaml").write_text(text)
    before = files(old.root)
    refused = say("upgrade", "--write")
    assert refused.code == 2
    assert words in refused.err
    assert "prefect.yaml:" in refused.err
    assert files(old.root) == before


def test_schedules_of_both_forms_are_not_merged(old: Workshop) -> None:
    (old.root / "schedules").mkdir()
    (old.root / "schedules" / "prefect.yaml").write_text(SECOND)
    assert say("upgrade", "--write").code == 0
    assert (old.root / "flows" / "prefect.yaml").read_text() == FIRST
    digest = plan_policy(old.policy).bundle.digest
    assert deployments(old.root / "schedules" / "prefect.yaml") == bound(digest)


def test_a_file_that_was_changed_in_the_meantime_is_not_replaced(old: Workshop) -> None:
    found = upgrades(old.root)
    (old.root / "flows" / "prefect.yaml").write_text(FIRST + "# mine\n")
    with pytest.raises(EnvironmentFault, match="changed in the meantime"):
        write_upgrades(old.root, found)
    assert not (old.root / "schedules" / "prefect.yaml").exists()


def test_a_folder_that_is_no_working_copy_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert say("upgrade").code == 2


def _upgrade(home: Path) -> None:
    write_upgrades(home, upgrades(home))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["replace", "fsync", "open", "unlink"])
def test_an_upgrade_that_is_killed_at_any_call_is_finished_by_the_next(name: str, tmp_path: Path) -> None:
    made = aged(make_workshop(tmp_path / "made"))
    whole = files(made.root)
    _upgrade(made.root)
    done = files(made.root)
    for nth in count(1):
        home = Path(shutil.copytree(made.root, tmp_path / str(nth)))
        (home / "schedules" / "prefect.yaml").unlink()
        for path, data in whole.items():
            (home / path).write_bytes(data)
        (home / "policies" / "schema" / "questionnaire.json").unlink()
        killed = finish_until(_upgrade, (home,), name, nth)
        now = {path: data for path, data in files(home).items() if not path.endswith(".part")}
        assert all(data in (whole.get(path), done.get(path)) for path, data in now.items())
        _upgrade(home)
        assert files(home) == done
        if not killed:
            break
    assert nth > 1


@pytest.mark.usefixtures("old")
def test_the_json_of_an_upgrade_names_files_and_changes() -> None:
    stated = json.loads(say("upgrade", "--json").out)
    assert stated["outcome"] == "upgradable"
    assert stated["files"][0]["moved_from"] == "flows/prefect.yaml"
    assert [each["file"] for each in stated["files"]] == [
        "schedules/prefect.yaml", "policies/schema/questionnaire.json", "policies/schema/release-policy.json",
    ]  # fmt: skip
    assert say("upgrade", "--write", "--json").json()["outcome"] == "upgraded"
    assert say("upgrade", "--json").json()["outcome"] == "up-to-date"
