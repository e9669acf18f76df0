"""A destination is never another part's folder, by any name, and an empty name is invalid."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.ledger.ledger import open_ledger
from crowdgate.planning.destinations import destination_conflict
from crowdgate.publish.file_names import STAGING
from crowdgate.signing import keys
from tests.workshop import Workshop, crowdgate

TAKEN = {
    "policies": "policies",
    "inside the policies": "policies/new",
    "contracts": "data_contracts",
    "inside the contracts": "data_contracts/a/b",
    "ledger": "ledger",
    "inside the ledger": "ledger/new",
    "private records": "ledger/private",
    "inside those": "ledger/private/new",
    "key": "keys",
    "inside the key": "keys/new",
    "around the key": "secrets",
    "staging": f"releases/{STAGING}",
    "inside the staging": f"releases/{STAGING}/new",
    "by a way round": "releases/../policies",
    "a link": "link",
    "inside a link": "link/new",
    "too long a name": "n" * 300,
    "too long a path": "/".join(["n" * 200] * 25),
}


@pytest.fixture
def copy(workshop: Workshop) -> Workshop:
    """Return a working copy with a link to the ledger, and keys in a folder and in a nested one."""
    (workshop.root / "link").symlink_to("ledger")
    return workshop


@pytest.mark.thorough
@pytest.mark.parametrize("place", TAKEN)
def test_a_folder_that_is_anothers_is_refused_by_check_and_release_before_the_charge(
    copy: Workshop, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    key = "secrets/below/key" if place == "around the key" else "keys/key"
    (copy.root / key).parent.mkdir(parents=True, exist_ok=True)
    keys.create(copy.root / key)
    with (copy.root / "crowdgate.toml").open("a") as file:
        file.write(f'signing_key = "{key}"\n')
    assert crowdgate("release", copy.policy, "--to", copy.root / TAKEN[place]) == 2
    assert "--to" in capsys.readouterr().err
    copy.edit(copy.policy, "to: releases", f"to: {TAKEN[place]}")
    for command in ("check", "release"):
        assert crowdgate(command, copy.policy) == 2
        assert "publish.to" in capsys.readouterr().err
    assert open_ledger(copy.ledger, None).entries() == []


@pytest.mark.parametrize("place", [".", ".."])
def test_a_folder_around_the_working_copy_is_refused(copy: Workshop, place: str) -> None:
    assert crowdgate("release", copy.policy, "--to", copy.root / place) == 2


def test_a_ledger_at_the_root_of_a_working_copy_leaves_room_beside_it(tmp_path: Path) -> None:
    assert destination_conflict(tmp_path, tmp_path / "releases", tmp_path / "ledger.db") is None
    assert destination_conflict(tmp_path, tmp_path / "private" / "new", tmp_path / "ledger.db") is not None
    assert destination_conflict(tmp_path / "copy", tmp_path / "releases", tmp_path / "ledger.db") is None
    assert (
        destination_conflict(tmp_path / "copy", tmp_path / "shared" / "releases", tmp_path / "shared" / "ledger.db")
        is not None
    )


NAMES = st.lists(st.sampled_from(["policies", "data_contracts", "ledger", "private", "releases", ".."]), max_size=4)


@given(NAMES)
def test_what_is_not_refused_shares_no_folder_with_anything_of_ours(names: list[str]) -> None:
    home = Path("/nowhere/home")
    to, ours = home.joinpath(*names), ("policies", "data_contracts", "ledger")
    if destination_conflict(home, to, home / "ledger" / "ledger.db") is None:
        target = to.resolve()
        assert all(not target.is_relative_to(home / own) and not (home / own).is_relative_to(target) for own in ours)


@pytest.mark.parametrize("option", ["--to", "--input"])
@pytest.mark.parametrize("name", ["", " ", "\t\n"])
def test_an_empty_name_is_a_wrong_command(
    workshop: Workshop, option: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate("release", workshop.policy, option, name) == 2
    assert option in capsys.readouterr().err
    assert open_ledger(workshop.ledger, None).entries() == []
