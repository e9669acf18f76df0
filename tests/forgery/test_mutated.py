"""For any change of a published folder, verification either accepts or refuses it, without any other error."""

from pathlib import Path

import pytest

from crowdgate.verification.release import verify
from tests.forgery.forgery import EXCUSED, REFUSED, SAME, outcome
from tests.forgery.generated import FOLDERS, released
from tests.forgery.mutated import LONGEST, Ended, damaged, mixture, verified

SEED, FOLDERS_IN_ALL = 20300102, 5000
FINE = (REFUSED, SAME, EXCUSED)


@pytest.fixture(scope="module", params=FOLDERS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return released(request.param, tmp_path_factory.mktemp("mutated") / "w")


@pytest.mark.thorough
def test_some_mutated_folders_are_refused_and_nothing_else_happens(folder: Path, tmp_path: Path) -> None:
    chosen = mixture(folder, 100 // len(FOLDERS), SEED)
    ends = {forgery.name: outcome(folder, forgery, verify, tmp_path) for forgery in chosen}
    assert {name: end for name, end in ends.items() if end not in FINE} == {}


@pytest.mark.thorough
def test_damage_is_nearly_always_a_change_and_always_the_same_one(folder: Path, tmp_path: Path) -> None:
    first, second = ([next(made) for _ in range(20)] for made in (damaged(folder, SEED), damaged(folder, SEED)))
    assert [forgery.name for forgery in first] == [forgery.name for forgery in second]
    ends = [outcome(folder, forgery, lambda _: None, tmp_path) for forgery in first]
    assert ends.count(SAME) < 5
    assert ends == [outcome(folder, forgery, lambda _: None, tmp_path) for forgery in second]


@pytest.mark.soak
def test_thousands_of_mutated_folders_are_refused_in_time(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The longest verification and the peak memory are printed."""
    ended = list(verified(folder, FOLDERS_IN_ALL // len(FOLDERS), SEED))
    with capsys.disabled():
        print(f"\n{_words(ended)}")
    assert [(each.name, each.end) for each in ended if each.end not in FINE] == []
    assert max(each.seconds for each in ended) < LONGEST


def _words(ended: list[Ended]) -> str:
    slowest = max(ended, key=lambda each: each.seconds)
    memory = max(each.memory for each in ended) / 1024
    return f"{len(ended)} folders; {slowest.seconds:.2f} s for {slowest.name}; at most {memory:.0f} MiB"
