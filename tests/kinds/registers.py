"""A clinic whose policy compares its release with a public register, and has expectations from joint counts."""

from collections.abc import Iterable
from pathlib import Path

from tests.workshop import PATIENT, Row, Workshop, make_workshop, write_parquet

TOWN_HEAD = """\
apiVersion: v3.1.0
kind: DataContract
id: town
version: 2.0.0
status: active
servers: [{server: local, type: local, path: town.FORMAT, format: FORMAT}]
schema:
  - name: people
    customProperties:
      - {property: privacyUnit, value: row}
      - {property: population, value: town}
      - {property: public, value: true}
    properties:
"""
REGISTER = (
    TOWN_HEAD.replace("FORMAT", "parquet")
    + PATIENT
    + """\
          - {property: domain, value: {from: 0, to: 99, top: true, source: register}}
          - {property: levels, value: [{name: tens, width: 10}, {name: halves, width: 50}]}
      - name: ward
        logicalType: string
        customProperties:
          - {property: privacyRole, value: quasi-identifier}
          - {property: domain, value: {values: [south, east, north], source: register}}
      - name: note
        logicalType: string
        customProperties:
          - {property: privacyRole, value: other}
"""
)
MATCHES = """\
    - {measure: register_matches, at_most: 1000}
    - {measure: register_match_share, with: {size: 3}, at_most: 1, severity: advise}
"""
EXPECTED = """\
    - {measure: expected_singletons, at_most: 3, with: {people: 20}, severity: advise}
    - {measure: singleton_probability, at_most: 1, over: [age, ward], with: {people: 20}}
    - {measure: expected_share_in_sets_up_to, at_most: 0.9, with: {size: 3, people: 20, least_people: 20}}
"""
JOINT = "age,ward,count\n0 to 49,north,30\n0 to 49,south,20\n50+,north,10\n50+,east,38\n50+,south,2\n"
TABLE = "      - {property: population, value: clinic-patients}\n"
TOWN: tuple[tuple[int, str], ...] = (
    *((5, "north"),) * 3,
    (60, "north"),
    (12, "south"),
    (44, "south"),
    *((99, "east"),) * 9,
    (3, "nowhere"),
)
"""16 people of whom one is dropped: one matches alone (50+, north), two are alike (0 to 49, south)."""


def people(of: Iterable[tuple[int, str]] = TOWN) -> list[Row]:
    return [{"patient": f"p{i}", "age": age, "ward": ward, "note": ""} for i, (age, ward) in enumerate(of)]


def register_workshop(root: Path) -> Workshop:
    """The clinic's working copy, with a register, joint counts and gates on both."""
    workshop = make_workshop(root)
    folder = root / "data_contracts"
    (folder / "town.yaml").write_text(REGISTER, encoding="utf-8")
    (folder / "joint.csv").write_text(JOINT, encoding="utf-8")
    write_parquet(folder / "town.parquet", people())
    workshop.edit(workshop.contract, TABLE, f"{TABLE}      - {{property: jointMargins, value: joint.csv}}\n")
    workshop.edit(workshop.policy, "  publish:", f"{MATCHES}{EXPECTED}  register: {{contract: town}}\n  publish:")
    return workshop
