"""Working copies whose ledger has more than thirty lines of all sorts, without and with a key."""

import os
from pathlib import Path

import pytest

from tests.planning.histories import History, make_history

KEYS = {"without a key": False, "with a key": True}


@pytest.fixture(scope="session")
def histories(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, History]:
    made, before = {}, Path.cwd()
    for keyed in KEYS.values():
        root = tmp_path_factory.mktemp("history") / "own"
        root.mkdir()
        os.chdir(root)
        made[keyed] = make_history(root, keyed=keyed)
    os.chdir(before)
    return made


@pytest.fixture(params=KEYS.values(), ids=list(KEYS))
def history(
    request: pytest.FixtureRequest, histories: dict[bool, History], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> History:
    found = histories[request.param].copy_to(tmp_path / "own")
    monkeypatch.chdir(found.workshop.root)
    return found
