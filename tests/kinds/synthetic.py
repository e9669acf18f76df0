"""A clinic that releases synthetic rows of its patients, whose notes are of three kinds."""

from pathlib import Path

from tests.workshop import Workshop, make_workshop

MECHANISM = """\
    kind: dp_synthetic
    attributes: {age: 10 years, ward: exact, note: exact}
"""
GATES = """\
    - {measure: guarantee_epsilon, at_most: 2}
    - {measure: synthetic_pair_error, at_most: 0.9}
    - {measure: synthetic_mean_error, at_most: 0.9}
    - {measure: trusted_pairs, at_least: 0}
"""
NOTE = """\
          - {property: privacyRole, value: other}
"""
NOTES = """\
          - {property: privacyRole, value: other}
          - {property: domain, value: {values: [short, long], source: clinic handbook}}
          - {property: invalid, value: level}
"""


RICH = """\
    triples: [[note, ward, age]]
    impossible: [{age: [0 to 49], ward: [north, east], note: [long]}, {age: [0 to 9, 10 to 19], ward: [north]}]
    model_cells: 2000
    pair_error: 0.1
"""
"""Further lines that a policy may have."""


def synthetic_workshop(root: Path, further: str = "") -> Workshop:
    """Return the clinic's working copy, with further lines in its policy; its marked notes are all invalid."""
    workshop = make_workshop(root)
    workshop.edit(workshop.contract, NOTE, NOTES)
    text = workshop.policy.read_text(encoding="utf-8")
    start, gates, end = (text.index(each) for each in ("    kind: safe_k", "  gates:\n", "  publish:"))
    workshop.policy.write_text(f"{text[:start]}{MECHANISM}{further}  gates:\n{GATES}{text[end:]}", encoding="utf-8")
    assert start < gates < end
    return workshop
