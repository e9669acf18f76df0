"""A policy of synthetic rows whose release is decided by a gate on an audit."""

from pathlib import Path

import pytest

from crowdgate.audit.common.stored_records import now
from crowdgate.audit.singling_out_audit import SINGLING_OUT
from crowdgate.gate import Outcome
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.releases import release as job
from crowdgate.verification.release import verify
from tests.audit.made import few_steps
from tests.audit.workshop import make_town, only_few_controls
from tests.kinds.synthetic import MECHANISM, NOTE, NOTES

TODAY = now().isoformat()
SECTION = "  audit: {population: towns, units: 30, trials: 25, weight: 1e-3, limit: 0.4}\n"
GATES = "    - {measure: pso_excess, at_most: 0.4, with: {max_age: 30}}\n"


@pytest.mark.thorough
def test_an_audit_of_synthetic_rows_reads_rows_tables_and_certificate_and_decides(tmp_path: Path) -> None:
    town = make_town(tmp_path / "town", SECTION, GATES)
    for contract in (town.contract, town.population):
        town.edit(contract, NOTE, NOTES)
    text = town.policy.read_text(encoding="utf-8")
    start, section, gates, end = (
        text.index(each) for each in ("    kind: safe_k", "  audit:", "  gates:", "  publish:")
    )
    said = f"{text[:start]}{MECHANISM}{text[section:gates]}  gates:\n{GATES}{text[end:]}"
    town.policy.write_text(said, encoding="utf-8")
    with few_steps(), only_few_controls():
        found = town.audit()
        assert found.findings.outcome is Outcome.PASS
        lines = {line.attacker: line.idle for line in found.findings.lines}
        read = ("rows taken for people's", "columns of made rows", "all others known", "noisy cells")
        assert not any(lines[name] for name in read)
        assert "No attacker reads what else is released: which tables were chosen." in SINGLING_OUT.text(found)
        made = job.release(Request(town.policy, TODAY), draw_key)
    assert made.outcome == "published"
    assert made.path is not None
    assert (made.path / "audit.json").read_bytes() == found.path.read_bytes()
    verify(made.path, town.ledger)
