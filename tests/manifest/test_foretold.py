"""Values that no manifest can hold are refused before any charge: after reading they would crash the run."""

from collections.abc import Callable

import pytest

from crowdgate.ledger.ledger import open_ledger
from tests.workshop import Workshop, crowdgate


def long_words(workshop: Workshop) -> None:
    workshop.edit(workshop.policy, "description: Patients by age and ward.", f"description: {'x' * 100_001}")


def many_people(workshop: Workshop) -> None:
    """Write public counts that fit individually, but whose sum at the released level does not."""
    counts = "value,count\nnorth,600000000000000\nsouth,600000000000000\neast,2\n"
    (workshop.root / "data_contracts" / "ward.csv").write_text(counts)
    workshop.edit(workshop.policy, "ward: exact", "ward: any")


TOO_MUCH: dict[str, tuple[Callable[[Workshop], None], str]] = {
    "words": (long_words, "description"),
    "public counts": (many_people, "margins.ward"),
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_what_no_manifest_can_hold_is_refused_before_it_is_charged(
    workshop: Workshop, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change, place = TOO_MUCH[name]
    change(workshop)
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 2
    assert place in capsys.readouterr().err
    assert open_ledger(workshop.ledger, None).entries() == []
