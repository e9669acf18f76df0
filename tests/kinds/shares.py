"""A clinic whose policies state shares of their total: rows with margins or a choice, and tables."""

from pathlib import Path

from tests.workshop import Workshop, good_rows, make_workshop

OWN = "charge: {epsilon: 0.5}"
SHARE = "charge: {share: 0.25}"
MARGINS = "    margins: {share: 0.3, tables: [{all: 2}]}\n"
CHOICE = "    choose: {share: 0.2}\n"
GATE = "    - {measure: invalid_people, at_most: 500, charge: {share: 0.25}}\n"
TABLES = "[{all: 1}, {mean: age, by: [ward]}]"
GAUSSIAN = "noise: gaussian"
TOTAL = "epsilon: 2, delta: 1e-6"


def rows_by_shares(root: Path, more: str = MARGINS) -> Workshop:
    """Return a working copy whose policy states shares of its total, epsilon 2."""
    workshop = make_workshop(root)
    workshop.edit(workshop.policy, OWN, SHARE)
    workshop.edit(workshop.policy, "  gates:\n", more + "  gates:\n")
    if more == CHOICE:
        workshop.edit(workshop.policy, "age: 50 years", "age: {choose: [50 years, any]}")
    workshop.edit(workshop.policy, "delta: 0.01", "delta: 0.000001")
    workshop.write(good_rows(500))
    return workshop


def tables_by_shares(root: Path, *, noise: str = GAUSSIAN, gates: str = GATE, privacy: str = TOTAL) -> Workshop:
    """Return a working copy whose policy publishes tables of age and ward."""
    workshop = make_workshop(root)
    text = workshop.policy.read_text(encoding="utf-8")
    mechanism = f"  mechanism: {{kind: dp_tables, {noise}, levels: {{age: 50 years, ward: exact}}, tables: {TABLES}}}\n"
    gates = f"  gates:\n    - {{measure: guarantee_epsilon, at_most: 2}}\n{gates}"
    text = text[: text.index("  mechanism:")] + mechanism + gates + text[text.index("  publish:") :]
    workshop.policy.write_text(text.replace("epsilon: 2, delta: 0.01", privacy), encoding="utf-8")
    return workshop
