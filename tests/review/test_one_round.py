"""All mistakes of policy, contract and budget are reported in one round, and no false ones."""

import pytest

from crowdgate.errors import Code, ConfigurationError, Problem
from crowdgate.policy.corrections import follows
from crowdgate.review.check import check
from tests.workshop import Workshop

POLICY = [
    # of shape
    ("owner: board", "onwer: board"),
    ("privacy: {epsilon: 2", "privacy: {epsilon: two"),
    ("severity: advise", "severity: shrug"),
    # of meaning
    ("released_rows", "released_rosw"),
    ("pso_bound, at_most: 1", "pso_bound, at_most: 1, with: {wait: 1}"),
    ("to: releases", "to: ../releases"),
    ("[parquet, csv]", "[csv, csv]"),
    ("over: [ward]", "over: [wrad]"),
    ("ward: exact", "wadr: exact"),
]
CONTRACT = [("{name: 50 years, width: 50}", "{name: 50 years, width: 15}"), ("top: true", "tpo: true")]
BUDGET = [("people: 1000", "people: many"), ("unit: row", "unit: person")]
TOLD = [
    "metadata.onwer: unknown key", "metadata.owner: the key is missing", "spec.privacy.epsilon: 'two'",
    "spec.gates.5.severity: 'shrug'", "spec.gates.3.measure: unknown measure 'released_rosw'",
    "spec.gates.0.with.wait: unknown option", "spec.publish.to: '../releases' is not inside",
    "spec.publish.formats: a format is listed twice", "spec.gates.1.over.0: 'wrad' is not released",
    "spec.mechanism.attributes.wadr: unknown attribute", "age.domain.tpo: an unknown key",
    "spec.people: 'many'", "spec.unit: 'person'",
]  # fmt: skip


def told(workshop: Workshop) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        check(workshop.policy)
    return [str(problem) for problem in caught.value.problems]


def break_all(workshop: Workshop) -> None:
    for file, edits in ((workshop.policy, POLICY), (workshop.contract, CONTRACT), (workshop.budget, BUDGET)):
        for old, new in edits:
            workshop.edit(file, old, new)


def test_a_dozen_mistakes_of_all_files_come_in_one_round(workshop: Workshop) -> None:
    break_all(workshop)
    found = told(workshop)
    for words in TOLD:
        assert sum(words in line for line in found) == 1, words
    assert len(found) == len(TOLD)


DOUBTS = [
    # a mistake of the contract or the budget, one of the policy's meaning beside it, and whether that is told
    ("contract", "width: 50", "width: 15", "age: 50 years", "age: 50 yers", False),
    ("contract", "width: 50", "width: 15", "ward: exact", "ward: exat", True),
    ("contract", "width: 50", "width: 15", "beta: 0.5", "beta: 1", False),
    ("contract", "rowsAtMost", "rowsAtMots", "ward: exact", "ward: exat", False),
    ("contract", "rowsAtMost", "rowsAtMots", "to: releases", "to: ../releases", True),
    ("budget", "people: 1000", "people: many", "ward: exact", "ward: exat", True),
]


@pytest.mark.parametrize(("file", "old", "new", "meant", "instead", "is_told"), DOUBTS)
def test_what_may_follow_from_another_mistake_waits_for_it(
    file: str, old: str, new: str, meant: str, instead: str, is_told: bool, workshop: Workshop
) -> None:
    workshop.edit(getattr(workshop, file), old, new)
    alone = told(workshop)
    workshop.edit(workshop.policy, meant, instead)
    both = told(workshop)
    assert both[: len(alone)] == alone
    assert len(both) == len(alone) + is_told


def test_a_policy_that_can_not_be_mended_still_tells_of_its_contract_and_budget(workshop: Workshop) -> None:
    break_all(workshop)
    text = workshop.policy.read_text(encoding="utf-8")
    start, end = text.index("  gates:"), text.index("  publish:")
    workshop.policy.write_text(text[:start] + "  gates: none\n" + text[end:], encoding="utf-8")
    found = told(workshop)
    for words in ("spec.gates: 'none'", "age.domain.tpo: an unknown key", "spec.people: 'many'"):
        assert sum(words in line for line in found) == 1, words


def test_a_k_waits_for_the_epsilon_that_it_is_for(workshop: Workshop) -> None:
    workshop.edit(workshop.policy, "{beta: 0.5}", "{beta: 0.5}\n    k: 20")
    assert check(workshop.policy).allowed
    workshop.edit(workshop.policy, "epsilon: 2,", "epsilon: two,")
    (line,) = told(workshop)
    assert "spec.privacy.epsilon" in line


def test_a_gate_waits_for_the_kind_of_release_that_it_is_for() -> None:
    gate = Problem("x.yaml", 1, "spec.gates.3.measure", "does not speak of it", "another", code=Code.GATE)
    assert follows(gate, {("spec", "mechanism", "kind")})
    assert not follows(gate, {("metadata", "owner"), ("spec", "publish", "to")})
