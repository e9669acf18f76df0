"""A release of a table in a database has the bytes of the file's release, under the same key."""

from pathlib import Path

import pytest

from crowdgate.kind.randomness import KeyedRandomness
from crowdgate.noise import NoiseSource
from crowdgate.releases import release as job
from tests.databases import DATABASES, patients
from tests.releases.test_partitions import MODES, PERSON, ROWS, one_file, recorded, staged
from tests.workshop import Workshop, make_workshop


def _of_mode(root: Path, mode: str) -> Workshop:
    workshop = make_workshop(root)
    policy, person = MODES[mode]
    workshop.policy.write_text(policy, encoding="utf-8")
    workshop.edit(workshop.budget, "epsilon: 6, delta: 0.03", "epsilon: 600, delta: 0.9")
    if person:
        workshop.edit(workshop.contract, *PERSON)
        workshop.edit(workshop.budget, "unit: row", 'unit: "person:patient"')
    return workshop


@pytest.mark.thorough
@pytest.mark.parametrize("mode", ["rows of people", "tables"])
def test_a_database_gives_the_bytes_of_the_file(mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = NoiseSource(recorded, recorded)
    monkeypatch.setattr(job, "KeyedRandomness", lambda key: KeyedRandomness(key, vectors=noise))
    workshop = _of_mode(tmp_path / "w", mode)
    expected = staged(workshop, "2030-01-01", one_file(tmp_path))
    assert expected
    for engine in DATABASES:
        copy = _of_mode(tmp_path / engine, mode)
        line = DATABASES[engine](copy.contract.parent, patients(ROWS))
        copy.edit(copy.contract, "{server: local, type: local, path: patients.parquet, format: parquet}", line)
        assert staged(copy, "2030-01-01") == expected, engine
