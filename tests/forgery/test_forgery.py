"""Every generated forgery is refused, even with a resealed manifest."""

import json
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from crowdgate.kinds import KINDS
from crowdgate.settings import KEY_VARIABLE
from crowdgate.signing.keys import create
from crowdgate.verification.release import verify
from tests.forgery.careful import careful
from tests.forgery.claims import claims_of, put, say
from tests.forgery.forgery import (
    ACCEPTED,
    CAREFUL_ONLY,
    EXCUSED,
    REFUSED,
    SAME,
    SIGNATURE_ONLY,
    Change,
    Forgery,
    accepted,
    excused,
    is_same,
    outcome,
    reseal,
    sampled,
)
from tests.forgery.generated import FOLDERS, forgeries, released

SAMPLE = {"all tables": 60, "dp_synthetic": 45}
"""The default number of forgeries of a folder that is slow to verify; for others it is 120."""

SEED = 20300101


@pytest.fixture(scope="module", params=FOLDERS)
def release(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    return request.param, released(request.param, tmp_path_factory.mktemp("forgery") / "w")


@pytest.mark.thorough
def test_a_copy_that_is_sealed_again_without_a_change_verifies(release: tuple[str, Path], tmp_path: Path) -> None:
    copy = Path(shutil.copytree(release[1], tmp_path / "copy"))
    reseal(copy)
    assert is_same(release[1], copy)
    assert verify(copy)


EXCUSES: dict[str, tuple[Change, bool]] = {
    "another text": (lambda folder: _stated(folder, "another"), True),
    "another type": (lambda folder: _stated(folder, 7), False),
    "a file more": (lambda folder: (folder / "extra.txt").write_bytes(b""), False),
    "a file changed": (lambda folder: (folder / "README.md").write_bytes(b""), False),
    "another form": (lambda folder: (folder / "manifest.json").write_text(json.dumps(claims_of(folder))), False),
    "a leaf that is recounted": (lambda folder: say(folder, put(claims_of(folder), ("kind",), "Other")), False),
}
"""Changes that verification may or must not accept."""


def _stated(folder: Path, version: object) -> None:
    say(folder, put(claims_of(folder), ("software", "crowdgate"), version))


@pytest.mark.thorough
@pytest.mark.parametrize("change", EXCUSES)
def test_only_what_a_signature_tells_is_excused(release: tuple[str, Path], tmp_path: Path, change: str) -> None:
    apply, may = EXCUSES[change]
    end = outcome(release[1], Forgery("damage: manifest.json: planted", apply), lambda _: None, tmp_path)
    assert end == (EXCUSED if may else ACCEPTED)


@pytest.mark.thorough
def test_sampled_forgeries_are_refused(release: tuple[str, Path], tmp_path: Path) -> None:
    name, folder = release
    chosen = sampled(forgeries(folder, SEED), SAMPLE.get(name, 120), SEED)
    assert list(accepted(folder, chosen, verify, tmp_path)) == []


@pytest.fixture(scope="module", params=KINDS)
def signed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("signed")
    create(root / "one.pem")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY_VARIABLE, (root / "one.pem").read_text(encoding="utf-8"))
        return released(request.param, root / "w"), root / "one.pem.pub"


def _signed_forgeries(folder: Path) -> list[Forgery]:
    return [each for each in forgeries(folder, SEED, careful) if not each.dear]


def _with_key(signed: tuple[Path, Path], chosen: list[Forgery], scratch: Path) -> set[str]:
    """Return the results of verification with the key."""
    folder, public = signed
    return {outcome(folder, each, lambda copy: verify(copy, keys=[public]), scratch) for each in chosen}


@pytest.mark.thorough
def test_with_a_key_nothing_at_all_is_excused(signed: tuple[Path, Path], tmp_path: Path) -> None:
    only = [each for each in _signed_forgeries(signed[0]) if excused(each.name) or excused(each.name, CAREFUL_ONLY)]
    chosen = [*sampled(only, 60, SEED), *sampled(_signed_forgeries(signed[0]), 60, SEED)]
    assert _with_key(signed, chosen, tmp_path) <= {REFUSED, SAME}


@pytest.mark.thorough
def test_the_most_careful_forger_only_changes_what_a_signature_tells(release: tuple[str, Path], tmp_path: Path) -> None:
    name, folder = release
    chosen = sampled(forgeries(folder, SEED, careful), SAMPLE.get(name, 120) // 3, SEED)
    assert _not_excused(accepted(folder, chosen, verify, tmp_path)) == []


def _not_excused(found: Iterable[str]) -> list[str]:
    return [name for name in found if not excused(name, CAREFUL_ONLY)]


@pytest.mark.soak
def test_with_a_key_all_forgeries_are_refused(signed: tuple[Path, Path], tmp_path: Path) -> None:
    assert _with_key(signed, _signed_forgeries(signed[0]), tmp_path) <= {REFUSED, SAME}


@pytest.mark.soak
def test_of_all_careful_forgeries_only_those_that_a_signature_tells_pass(
    release: tuple[str, Path], tmp_path: Path
) -> None:
    every = [each for each in forgeries(release[1], SEED, careful) if not each.dear]
    assert _not_excused(accepted(release[1], every, verify, tmp_path)) == []


@pytest.mark.soak
def test_all_forgeries_are_refused(release: tuple[str, Path], tmp_path: Path) -> None:
    every = [forgery for forgery in forgeries(release[1], SEED) if not forgery.dear]
    found = list(accepted(release[1], every, verify, tmp_path))
    for group, count in Counter(each.partition(": ")[0] for each in found).items():
        print(f"{count:6} accepted  {group}")
    assert found == []


@pytest.mark.soak
def test_forgeries_that_cost_much_are_refused(release: tuple[str, Path], tmp_path: Path) -> None:
    dear = sampled(forgeries(release[1], SEED), 10, SEED, dear=True)
    assert {forgery.group for forgery in dear} == {"parquet bomb", "manifest malformed"}
    assert list(accepted(release[1], dear, verify, tmp_path)) == []


@pytest.mark.thorough
def test_forgeries_are_many_of_every_kind_and_the_same_ones_each_time(
    release: tuple[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """The numbers of forgeries are printed."""
    name, folder = release
    every = list(forgeries(folder, SEED))
    counts = Counter(forgery.group for forgery in every)
    with capsys.disabled():
        listed = ", ".join(f"{group} {count}" for group, count in counts.items())
        print(f"\n{name}: {len(every)} forgeries: {listed}")
    assert len(counts) >= 15
    assert len({forgery.name for forgery in every}) > 0.98 * len(every)
    assert [forgery.name for forgery in every] == [forgery.name for forgery in forgeries(folder, SEED)]


@pytest.mark.thorough
def test_every_file_and_every_leaf_is_forged(release: tuple[str, Path]) -> None:
    _, folder = release
    names = "\n".join(forgery.name for forgery in forgeries(folder, SEED))
    assert all(f"file bytes: {path.name}: " in names for path in folder.iterdir())
    assert all(f": /{key}" in names for key in ("files", "kind", "mechanism", "verdicts"))


@pytest.mark.soak
def test_every_excuse_is_for_some_forgery(tmp_path: Path) -> None:
    """A line of `SIGNATURE_ONLY` without a match would excuse an untested forgery."""
    names = [forgery.name for name in FOLDERS for forgery in forgeries(released(name, tmp_path / name), SEED)]
    unused = dict(SIGNATURE_ONLY)
    for pattern in SIGNATURE_ONLY:
        if any(excused(each, {pattern: ""}) for each in names):
            del unused[pattern]
    assert unused == {}
