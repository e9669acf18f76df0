"""Joint public counts in a contract: read at the levels whose values they have, or refused with a line."""

import re
from pathlib import Path

import pytest

from crowdgate.errors import ConfigurationError
from crowdgate.kind.plan import Plan
from crowdgate.planning.plan import plan_policy
from crowdgate.public_counts.figures import PriorSubject, read_prior
from tests.kinds.registers import JOINT, register_workshop
from tests.workshop import Workshop


@pytest.fixture
def clinic(tmp_path: Path) -> Workshop:
    return register_workshop(tmp_path / "w")


def planned(clinic: Workshop, text: str) -> Plan:
    (clinic.root / "data_contracts" / "joint.csv").write_text(text, encoding="utf-8")
    return plan_policy(clinic.policy)


def test_counts_are_taken_at_the_finest_level_that_has_all_values(clinic: Workshop) -> None:
    (found,) = planned(clinic, JOINT).bundle.contract.joint
    assert {name: level.name for name, level in found.levels.items()} == {"age": "50 years", "ward": "exact"}
    cells = list(zip(*(column.tolist() for column in found.counts.codes), found.counts.counts.tolist(), strict=True))
    assert cells == [(0, 0, 30), (0, 1, 20), (1, 0, 10), (1, 1, 2), (1, 2, 38)]


def test_finer_counts_are_summed_to_the_released_levels(clinic: Workshop) -> None:
    plan = planned(clinic, "ward,age,count\nnorth,3,5\nnorth,44,7\neast,99,1\neast,98,0\n")
    (found,) = plan.first_release_facts().joint
    assert found.names == ("ward", "age")
    cells = list(zip(*(column.tolist() for column in found.codes), found.counts.tolist(), strict=True))
    assert cells == [(0, 0, 12), (2, 1, 1)]


@pytest.mark.parametrize("times", [1, 7])
def test_the_people_of_the_budget_are_expected_in_the_shares_of_the_counts(clinic: Workshop, times: int) -> None:
    """The budget bounds the people by 1,000; the counts are of 100 people, or of 700."""
    plan = planned(clinic, re.sub(r"\d+$", lambda count: str(times * int(count[0])), JOINT, flags=re.MULTILINE))
    (table,) = read_prior(PriorSubject.of_plan(plan), None).prior.tables
    assert [len(level) for level in table.axes.values()] == [2, 4]
    assert table.counts.tolist() == [[300, 200, 0, 0], [100, 20, 380, 0]]


REFUSED = {
    "one attribute": ("age,count\n3,1\n", 1, "a header of two or more attributes"),
    "no count": ("age,ward,people\n3,north,1\n", 1, "a header of two or more attributes"),
    "unknown attribute": ("age,wart,count\n3,north,1\n", 1, "attributes of the contract that have a domain"),
    "no domain": ("age,note,count\n3,north,1\n", 1, "attributes of the contract that have a domain"),
    "unknown value": ("age,ward,count\n3,north,1\n4,nroth,1\n", 3, "a value of 'ward', all at the same level"),
    "two levels": ("age,ward,count\n3,north,1\n0 to 49,north,1\n", 3, "a value of 'age', all at the same level"),
    "invalid": ("age,ward,count\n3,(invalid),1\n", 2, "a value of 'ward', all at the same level"),
    "a cell twice": ("age,ward,count\n3,north,1\n3,north,1\n", 3, "one line for each combination of values"),
    "a cell twice in other words": (
        "age,ward,count\n3,north,1\n03,north,1\n",
        3,
        "one line for each combination of values",
    ),
    "too long": ("age,ward,count\n3,north,1234567890123456\n", 2, "at most 15 digits"),
    "too many": (f"age,ward,count\n3,north,{10**15 - 1}\n3,south,2\n", None, "add up to at most 1000000000000000"),
    "a power": ("age,ward,count\n3,north,1e300\n", 2, "a whole number, 0 or more"),
    "no number": ("age,ward,count\n3,north,NaN\n", 2, "a whole number, 0 or more"),
    "no cell": ("age,ward,count\n", None, "at least one count above 0"),
    "nothing": ("", 1, "a first line that names each column"),
    "negative": ("age,ward,count\n3,north,-1\n", 2, "a whole number, 0 or more"),
    "a share": ("age,ward,count\n3,north,0.5\n", 2, "a whole number, 0 or more"),
    "nobody": ("age,ward,count\n3,north,0\n", None, "at least one count above 0"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("fault", REFUSED)
def test_wrong_joint_counts_are_refused_at_their_line(clinic: Workshop, fault: str) -> None:
    text, line, expected = REFUSED[fault]
    with pytest.raises(ConfigurationError) as caught:
        planned(clinic, text)
    (problem,) = caught.value.problems
    assert Path(problem.file).name == "joint.csv"
    assert (problem.line, expected in problem.expected) == (line, True)


def test_a_list_of_no_files_is_refused(clinic: Workshop) -> None:
    clinic.edit(clinic.contract, "value: joint.csv", "value: []")
    with pytest.raises(ConfigurationError, match="expected a file, or a list of at least one"):
        plan_policy(clinic.policy)


def test_a_missing_file_is_refused(clinic: Workshop) -> None:
    (clinic.root / "data_contracts" / "joint.csv").unlink()
    with pytest.raises(ConfigurationError, match=r"joint\.csv"):
        plan_policy(clinic.policy)


def test_counts_at_a_coarser_level_than_is_released_are_refused_where_a_gate_reads_them(clinic: Workshop) -> None:
    clinic.edit(clinic.policy, "age: 50 years", "age: 10 years")
    with pytest.raises(ConfigurationError) as caught:
        plan_policy(clinic.policy)
    assert {problem.found for problem in caught.value.problems if "joint" in problem.found} == {
        "joint counts of 'age' are at '50 years', coarser than it is released"
    }


def test_more_figures_than_a_manifest_holds_are_refused(clinic: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdgate.planning.gate_rules.MOST_JOINT_FIGURES", 14)
    with pytest.raises(ConfigurationError, match="joint counts of 15 numbers"):
        plan_policy(clinic.policy)


def test_the_digest_of_a_policy_covers_the_file(clinic: Workshop) -> None:
    before = plan_policy(clinic.policy).bundle.digest
    assert planned(clinic, JOINT.replace("30", "31")).bundle.digest != before
