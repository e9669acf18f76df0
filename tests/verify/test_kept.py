"""A release of every format that was ever published verifies, with its key and without."""

from pathlib import Path

import pytest

from crowdgate.manifest import FORMAT
from crowdgate.verification.release import verify
from tests.verify.keep import KEPT, KINDS

RELEASES = sorted(path.parent for path in KEPT.glob("*/*/manifest.json"))


def test_one_release_of_every_kind_is_kept_in_the_present_format() -> None:
    assert {path.name for path in RELEASES if path.parent.name == str(FORMAT)} == set(KINDS)


@pytest.mark.thorough
@pytest.mark.parametrize("folder", RELEASES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_kept_release_verifies(folder: Path) -> None:
    found = verify(folder, keys=[*folder.parent.glob("*.pub")], refit=folder.name == "dp_synthetic")
    assert str(found.manifest.format) == folder.parent.name
    assert found.origin == "a trusted key signed it"
