"""Audits of inference and of membership on persons with several rows each; and of two policies of one population."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crowdgate.audit.common.run import AuditRequest, audit
from crowdgate.audit.common.stored_records import AuditRuntime
from crowdgate.audit.inference_audit import INFERENCE
from crowdgate.audit.membership.text import Claimed
from crowdgate.audit.membership_audit import MEMBERSHIP
from crowdgate.errors import VerificationFailed
from crowdgate.gate import Outcome
from tests.audit.test_inference_audit import SECRET
from tests.audit.workshop import SEED, Town, five_blocks, make_town, without_ceilings
from tests.workshop import write_parquet

SECTION = """\
  audit: {population: towns, trials: 60, weight: 1e-3, limit: 0.9, inference: {releases: 20, limit: 0.9},
          membership: {releases: 30, skew: 5, recall: 0.2, limit: 0.5}}
"""
PERSONS, ROWS = 450, 3
WARDS = ("north", "south", "east")


def rows() -> list[dict[str, Any]]:
    """Return equal rows for each person; persons of one age live in three wards."""
    every = [(who, who % 150 % 100, WARDS[who // 150]) for who in range(PERSONS)]
    return [
        {"patient": f"p{who}", "age": age, "ward": ward, "note": "x"} for who, age, ward in every for _ in range(ROWS)
    ]


@pytest.fixture(scope="module", autouse=True)
def _no_ceilings() -> Iterator[None]:
    with without_ceilings():
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working copy of persons with up to three rows."""
    town = make_town(tmp_path_factory.mktemp("persons") / "town", SECTION, "")
    level = "          - {property: invalid, value: level}\n"
    for contract in (town.contract, town.population):
        town.edit(contract, level, f"{level}{SECRET}")
        town.edit(contract, "value: row}", f"value: {{person: patient, rows: {ROWS}}}}}")
    town.edit(town.budget, "unit: row", 'unit: "person:patient"')
    write_parquet(town.root / "data_contracts" / "towns.parquet", rows())
    return town.root


@pytest.fixture
def town(made: Path, tmp_path: Path) -> Town:
    shutil.copytree(made, tmp_path / "town")
    return Town(tmp_path / "town")


def claim(policy: Path, **overrides: str) -> Claimed:
    return audit(MEMBERSHIP, AuditRequest(policy, **overrides), AuditRuntime(draw=lambda: SEED))


@pytest.mark.thorough
def test_inference_counts_persons_and_leaves_out_all_of_their_rows(town: Town) -> None:
    """tests/audit/test_non_members.py counts which persons a baseline has seen."""
    with five_blocks():
        found = audit(INFERENCE, AuditRequest(town.policy), AuditRuntime(draw=lambda: SEED))
    setting, own = found.record.setting, found.record.policy_results.secrets[0].found[0]
    assert (setting.n, setting.population_size, setting.rows, setting.blocks) == (PERSONS, PERSONS, ROWS, 5)
    assert own.targets == PERSONS * 4 // 5
    assert all(each.works for each in found.findings.controls)
    assert [each.control for each in found.findings.controls] == ["identity", "constant"]
    assert any("a person with up to 3 rows: each row is a target" in line for line in INFERENCE.text(found))


@pytest.mark.thorough
def test_membership_counts_persons(town: Town) -> None:
    """Half of the persons are members, each with all rows. No cap is reported, since the cap holds for one row."""
    found = claim(town.policy)
    assert (found.record.setting.n, found.record.setting.population_size) == (PERSONS // 2, PERSONS)
    assert found.record.setting.cap is None
    assert found.record.policy_results.others == PERSONS - PERSONS // 2
    assert found.findings.outcome is Outcome.PASS
    assert all(each.works for each in found.findings.controls)
    assert any("a person's rows are one by one" in line for line in MEMBERSHIP.text(found))


@pytest.mark.thorough
def test_two_policies_of_one_population_keep_their_records_apart(town: Town) -> None:
    """Each page names its policy, contract and population; a record counts only for its own setting."""
    other = town.root / "policies" / "wards.yaml"
    text = town.policy.read_text(encoding="utf-8")
    other.write_text(text.replace("name: clinic,", "name: wards,").replace("age: 50 years, ", ""), encoding="utf-8")
    first, second = claim(town.policy), claim(other)
    assert first.record.setting.population == second.record.setting.population == "towns"
    assert first.record.setting.population_digest != second.record.setting.population_digest, "without ages"
    assert first.record.setting.policy_digest != second.record.setting.policy_digest
    assert first.path != second.path
    assert [each.record.attempt for each in (first, second)] == [1, 1]
    for each, name in ((first, "clinic"), (second, "wards")):
        page = MEMBERSHIP.report(each).markdown()
        assert page.startswith(f"# Membership audit of {name}, version 1")
        assert "units of towns" in page
    smaller = claim(town.policy, units="220")
    for record, place in ((smaller, first), (first, second)):
        kept = place.path.read_bytes()
        place.path.write_bytes(record.path.read_bytes())
        with pytest.raises(VerificationFailed, match="another ledger or setting"):
            claim(town.policy if place is first else other)
        place.path.write_bytes(kept)
