"""Faults in the structure of YAML: each is told at the line that causes it."""

import random
from pathlib import Path

import pytest
import yaml

from crowdgate.documents.yaml_faults import MOST_MENDED, yaml_faults
from crowdgate.documents.yaml_text import read_document
from crowdgate.errors import ConfigurationError

POLICY = """\
metadata: {name: visits, version: 1, owner: review}
spec:
  contract: clinic
  mechanism:
    kind: dp_tables
    noise: gaussian
    tables:
      - {total: true, share: 0.02}
      - {all: 2}
      - {mean: age, by: [ward]}
  gates:
    - {measure: trusted_share, at_least: 0.9}
    - {measure: pso_bound, at_most: 0.5}
  publish: {to: releases}
"""
SLIPS = [
    # what is written, in place of what; what is told; the corrected line
    ("owner: review", "owner: review}", "a brace { that is not closed",
     "metadata: {name: visits, version: 1, owner: review}"),
    ("by: [ward}", "by: [ward]}", "a bracket [ that is not closed", "      - {mean: age, by: [ward]}"),
    ("{all: 2", "{all: 2}", "a brace { that is not closed", "      - {all: 2}"),
    ("{all: 2}}", "{all: 2}", "a brace } that closes nothing", "      - {all: 2}"),
    ("[ward]]}", "[ward]}", "a bracket ] that closes nothing", "      - {mean: age, by: [ward]}"),
    ('owner: "review', "owner: review", "a quotation mark without its end", None),
    ("  gates\n", "  gates:\n", "a key without a colon", "  gates:"),
    ("noise gaussian", "noise: gaussian", "a key without a colon", "    noise: gaussian"),
    ("noise = gaussian", "noise: gaussian", "an equals sign after a key", "    noise: gaussian"),
    ("noise:\u00a0gaussian", "noise: gaussian", "a blank that YAML does not know, after a colon",
     "    noise: gaussian"),
    ("     noise: gaussian", "    noise: gaussian", "a line with 5 blanks before it, beside 4 in line 5", None),
    ("   noise: gaussian", "    noise: gaussian", "a line with 3 blanks before it, beside 4 in line 5", None),
    ("  noise: gaussian", "    noise: gaussian", "a line with 2 blanks before it, beside 4 in line 7", None),
    ("\tnoise: gaussian", "    noise: gaussian", "a tab", None),
    ("   - {measure: pso", "    - {measure: pso", "a line with 3 blanks before it, beside 4 in line 12", None),
    ("    {measure: pso", "    - {measure: pso", "a mapping in braces without a key and without a dash",
     "    - {measure: pso_bound, at_most: 0.5}"),
    ("owner: a: b", "owner: review", "a colon within a value", None),
]  # fmt: skip
UNCERTAIN = [
    # what is written, in place of what: only its author knows which of two lines was meant
    ("kind: dp_tables    noise", "kind: dp_tables\n    noise"),  # a line break is missing, and no quotes
    ("mechanism:    kind", "mechanism:\n    kind"),
    ("spec", "spec:"),
    ("mean: age, by: [ward]}", "{mean: age, by: [ward]}"),
    ("by: ward]", "by: [ward]"),
    ("[share: 0.02}", "share: 0.02}"),
    ("@      - {all", "      - {all"),
    ("  @tables:", "    tables:"),
    ("at_least: |0.9", "at_least: 0.9"),
    ("version: 1,{ owner", "version: 1, owner"),
    ("version\n: 1", "version: 1"),
    ("-{ {all: 2}", "- {all: 2}"),
    ("contract:] clinic", "contract: clinic"),
]


@pytest.mark.parametrize(("written", "right"), UNCERTAIN, ids=lambda each: str(each).strip())
def test_no_wrong_line_is_proposed(written: str, right: str) -> None:
    """A proposed line, put in place, gives what was meant."""
    assert POLICY.count(right) == 1
    text = POLICY.replace(right, written)
    lines = text.splitlines()
    for fault in yaml_faults(text)[0]:
        if fault.certain:
            mended = [*lines[: fault.line], fault.mended, *lines[fault.line + 1 :]]
            assert yaml.load("\n".join(mended), Loader=yaml.CBaseLoader) == yaml.load(POLICY, Loader=yaml.CBaseLoader)


@pytest.mark.parametrize(("written", "right", "found", "corrected"), SLIPS, ids=lambda each: str(each).strip())
def test_a_slip_is_told_once_at_its_line(
    tmp_path: Path, written: str, right: str, found: str, corrected: str | None
) -> None:
    assert POLICY.count(right) == 1
    path = tmp_path / "p.yaml"
    path.write_text(POLICY.replace(right, written), encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        read_document(path)
    (problem,) = caught.value.problems
    assert problem.line == POLICY[: POLICY.index(right)].count("\n") + 1
    assert (problem.found, problem.corrected) == (found, corrected)


def test_no_change_of_a_text_stops_the_search_for_causes() -> None:
    """500 texts with one or two characters removed or put in, seeded: the search ends, and says something of each."""
    drawn, broken = random.Random(7), 0
    for _ in range(500):
        text = POLICY
        for _ in range(drawn.choice((1, 2))):
            at = drawn.randrange(len(text))
            text = text[:at] + drawn.choice(["", *"[]{}:,'\"#- \t&*!>|"]) + text[at + drawn.randrange(2) :]
        try:
            list(yaml.parse(text, Loader=yaml.CSafeLoader))
        except yaml.YAMLError:
            broken += 1
            found, rest = yaml_faults(text)
            assert 0 < len(found) + (rest is not None) <= MOST_MENDED + 1
            assert all(0 <= fault.line <= text.count("\n") for fault in found)
    assert broken > 100
