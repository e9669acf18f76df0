"""The table of planted faults is true: each audit sees the faults that it names, and no others.

Long tests play a cell of the table each (10 to 60 CPU seconds), so that they can be run in pieces: `pytest -m soak -s
tests/audit/test_planted_faults.py -k "inference and tails"`. With `-s` each prints how many plays failed.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from crowdgate.audit.common.planted_faults import ATTACKED, PLANTED_FAULTS, PlantedFault, unseen_faults
from crowdgate.candidate import AuditQuestion
from crowdgate.gate import Outcome
from tests.audit.file_plants import WRITTEN
from tests.audit.law_plants import DRAWN, Plant, planted
from tests.audit.plant_games import AttackedPolicy, attacked_policy, judged_without_controls

ROOT = Path(__file__).parents[2]
PLANTS: Mapping[str, Plant] = {each.name: each for each in (*DRAWN, *WRITTEN)}
READ = {"the noise of margins", "suppression", "the sampling rate"}
"""Subjects of faults in what attackers are given."""
RUNS = 10
CASES = [(question, fault) for question in ATTACKED for fault in PLANTED_FAULTS]
READ_CASES = [(question, fault) for question, fault in CASES if fault.subject in READ]
HIDDEN = [(question, fault) for question, fault in CASES if fault.subject not in READ]
CHEAP = [
    (AuditQuestion.MEMBERSHIP, PLANTED_FAULTS[0]), (AuditQuestion.MEMBERSHIP, PLANTED_FAULTS[1]),
    (AuditQuestion.SINGLING_OUT, PLANTED_FAULTS[1]),
]  # fmt: skip


def named(value: object) -> str:
    return value.name if isinstance(value, PlantedFault) else str(value)


@pytest.fixture(scope="module", autouse=True)
def _judged() -> Iterator[None]:
    with judged_without_controls():
        yield


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> Mapping[AuditQuestion, AttackedPolicy]:
    """The policy with many unique people, under each audit by attackers."""
    folder = tmp_path_factory.mktemp("crowds")
    return {question: attacked_policy(folder / question, question) for question in ATTACKED}


def test_every_planted_fault_is_in_the_table_once_and_some_audit_sees_it() -> None:
    assert [each.name for each in PLANTED_FAULTS] == [each.name for each in (*DRAWN, *WRITTEN)]
    assert all(each.releases for each in PLANTED_FAULTS)
    assert len(PLANTED_FAULTS) == 20


@pytest.mark.parametrize("question", AuditQuestion)
def test_an_audit_names_each_fault_that_it_can_not_see(question: AuditQuestion) -> None:
    said = unseen_faults(question)
    for each in PLANTED_FAULTS:
        assert (each.name in said or each.subject in said) == (question not in each.releases), each.name


def test_the_reference_lists_every_planted_fault_with_the_audits_that_see_it() -> None:
    guide = (ROOT / "policies" / "reference" / "audits.md").read_text(encoding="utf-8")
    columns = list(AuditQuestion)[3:] + list(AuditQuestion)[:3]
    rows = [f"| {each.name} | {' | '.join(each.cell(of) for of in columns)} |" for each in PLANTED_FAULTS]
    head = f"| planted fault | {' | '.join(columns)} |", "| --- | --- | --- | --- | --- | --- |"
    assert "\n".join([*head, *rows, ""]) in guide


@pytest.mark.thorough
@pytest.mark.statistical
@pytest.mark.parametrize(("question", "fault"), CHEAP, ids=named)
def test_attackers_see_a_planted_fault(
    question: AuditQuestion, fault: PlantedFault, policies: Mapping[AuditQuestion, AttackedPolicy]
) -> None:
    """One seeded audit each, of a power above .99."""
    with planted(PLANTS[fault.name]):
        assert policies[question].outcome(0) is Outcome.FAIL


@pytest.mark.soak
@pytest.mark.statistical
@pytest.mark.parametrize(("question", "fault"), READ_CASES, ids=named)
def test_attackers_see_the_faults_of_the_table_and_no_others(
    question: AuditQuestion, fault: PlantedFault, policies: Mapping[AuditQuestion, AttackedPolicy]
) -> None:
    """At a power of .99, fewer than 9 of 10 audits fail with probability .005. A fault that is called unseen makes at
    most half of them fail."""
    with planted(PLANTS[fault.name]):
        failed = [policies[question].outcome(seed) is Outcome.FAIL for seed in range(RUNS)]
    print(f"{question}, {fault.name}: {sum(failed)} of {RUNS}")
    assert sum(failed) >= RUNS - 1 if question in fault.releases else sum(failed) <= RUNS // 2


@pytest.mark.soak
@pytest.mark.statistical
@pytest.mark.parametrize("question", ATTACKED, ids=str)
def test_no_honest_audit_of_twenty_fails(
    question: AuditQuestion, policies: Mapping[AuditQuestion, AttackedPolicy]
) -> None:
    """An audit fails an honest mechanism with probability at most .05, so that more than 5 of 20 do with probability
    below .001. Its limit leaves room, so that in truth hardly any does."""
    failed = [policies[question].outcome(seed) is Outcome.FAIL for seed in range(2 * RUNS)]
    print(f"{question}, honest: {sum(failed)} of {2 * RUNS}")
    assert sum(failed) <= 5


@pytest.mark.thorough
def test_few_trials_differ_with_a_fault_that_attackers_are_given(
    policies: Mapping[AuditQuestion, AttackedPolicy],
) -> None:
    """So the comparison below could have found a difference."""
    honest = policies[AuditQuestion.MEMBERSHIP].few_trials()
    with planted(PLANTS["a third of k"]):
        assert policies[AuditQuestion.MEMBERSHIP].few_trials() != honest


@pytest.mark.soak
@pytest.mark.parametrize(("question", "fault"), HIDDEN, ids=named)
def test_what_attackers_are_given_is_the_same_with_any_other_fault(
    question: AuditQuestion, fault: PlantedFault, policies: Mapping[AuditQuestion, AttackedPolicy]
) -> None:
    """Trials are equal to the last digit for equal seeds, so that no number of them shows such a fault."""
    honest = policies[question].few_trials()
    with planted(PLANTS[fault.name]):
        assert policies[question].few_trials() == honest
    assert question not in fault.releases
