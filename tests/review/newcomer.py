"""The example of the READMEs as files of a working copy: what a newcomer copies and edits."""

import re
from pathlib import Path

from tests.workshop import Workshop

ROOT = Path(__file__).parents[2]
VISITS_POLICY, VISITS = "policies/visits.yaml", "data_contracts/visits.yaml"
VISITS_BUDGET = "policies/budgets/visits.yaml"
VISITS_TABLES = "policies/visits_tables.yaml"
TABLES_OF_VISITS = """\
apiVersion: crowdgate/v1
kind: ReleasePolicy
metadata: {name: visits-tables, version: 1, owner: disclosure-review}
spec:
  contract: clinic-visits
  budget: visits-patients
  privacy: {epsilon: 1, delta: 1e-9}
  mechanism:
    kind: dp_tables
    noise: gaussian
    levels: {age: 10 years, ward: exact}
    tables:
      - {total: true, share: 0.02}
      - {all: 2}
      - {mean: age, by: [ward]}
      - {quantiles: age, level: 10 years, at: [0.25, 0.5, 0.75]}
  gates:
    - {measure: trusted_share, at_least: 0.9}
    - {measure: pso_bound, at_most: 0.5}
  publish: {to: releases, formats: [parquet]}
"""
"""A second policy of the example's contract, which releases tables."""
_KINDS = {
    VISITS_POLICY: ("policies/README.md", "ReleasePolicy"),
    VISITS: ("data_contracts/README.md", "DataContract"),
    VISITS_BUDGET: ("policies/guide/gates-and-budgets.md", "PrivacyBudget"),
}


def write_visits(workshop: Workshop) -> None:
    """Write the files of the READMEs' example into a working copy, and the header of its table."""
    ledger = re.findall(r"ledger: ([\w-]+)", workshop.budget.read_text(encoding="utf-8"))[0]
    for name, (page, kind) in _KINDS.items():
        blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
        text = next(block for block in blocks if f"kind: {kind}\n" in block)
        text = text.replace("clinic-patients", "visits-patients").replace("{name: clinic, ", "{name: visits, ")
        (workshop.root / name).write_text(text.replace("clinic-0a1b2c3d", ledger), encoding="utf-8")
    (workshop.root / VISITS_TABLES).write_text(TABLES_OF_VISITS, encoding="utf-8")
    (workshop.root / "data_contracts" / "visits.csv").write_text("patient_id;age;admitted;postcode;ward\n", "utf-8")
