"""The key that signs a release is the one that was configured when its run reserved."""

from pathlib import Path

import pytest

from crowdgate.publish.file_names import SIGNED
from crowdgate.releases import release as job
from crowdgate.verification.release import verify
from tests.workshop import Workshop, crowdgate, make_workshop

SLOT = "2030-01-01"


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    made = make_workshop(tmp_path)
    monkeypatch.chdir(made.root)
    return made


def configure(workshop: Workshop, name: str) -> None:
    settings = workshop.root / "crowdgate.toml"
    lines = [line for line in settings.read_text().splitlines() if not line.startswith("signing_key")]
    settings.write_text("\n".join([*lines, f'signing_key = "{name}"', ""]))


def while_reading(monkeypatch: pytest.MonkeyPatch, change: object) -> None:
    """Change the settings between the first read and the end of a run."""
    count = job.count

    def counted(*arguments: object) -> object:
        change()  # type: ignore[operator]
        return count(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(job, "count", counted)


def test_a_key_that_is_configured_while_a_run_reads_signs_the_next_one(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert crowdgate("keys", "create", "own.key") == 0
    while_reading(monkeypatch, lambda: configure(workshop, "own.key"))
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 0
    assert not (workshop.release_dir(SLOT) / SIGNED).exists()
    assert crowdgate("verify", workshop.release_dir(SLOT)) == 0


@pytest.mark.parametrize("how", ["replaced", "gone"])
def test_a_key_that_is_replaced_or_goes_while_a_run_reads_signs_it_all_the_same(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    for name in ("own.key", "other.key"):
        assert crowdgate("keys", "create", name) == 0
    configure(workshop, "own.key")
    assert crowdgate("ledger", "sign") == 0

    def change() -> None:
        if how == "replaced":
            configure(workshop, "other.key")
        else:
            (workshop.root / "crowdgate.toml").write_text(f'ledger = "{workshop.ledger}"\n')

    while_reading(monkeypatch, change)
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 0
    found = verify(workshop.release_dir(SLOT), keys=[workshop.root / "own.key.pub"])
    assert found.signed
