"""Estimates of time and memory, beside a simulation of the tasks on the workers."""

import json
from heapq import heapify, heappop, heappush

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.cli.plan import whole_number
from crowdgate.forecast.computing_cost import CountedViews, computing_cost, counting_steps, levels
from crowdgate.kind.unit_costs import UNITS
from crowdgate.planning.plan import plan_policy
from crowdgate.sources.cluster import SUMMANDS
from crowdgate.sources.spill import MOST_ENTRIES
from tests.examples import examples
from tests.workshop import Workshop, crowdgate


def simulated(counted: CountedViews, rows: int, workers: int) -> float:
    """Return the seconds until the last sum, if each free worker takes the first task whose arguments are there."""
    tree, free = levels(workers), [0.0] * workers
    ends = [_run(free, 0.0, rows / tree[0] * counted.row_seconds) for _ in range(tree[0])]
    for below in tree[:-1]:
        inputs = [ends[at : at + SUMMANDS] for at in range(0, len(ends), SUMMANDS)]
        seconds = counted.combinations(rows / below) * UNITS.addition
        ends = [_run(free, max(each), len(each) * seconds) for each in inputs]
    return ends[0]


def _run(free: list[float], ready: float, seconds: float) -> float:
    """Run a task on the worker that is free first, and return its end."""
    heapify(free)
    end = max(ready, heappop(free)) + seconds
    heappush(free, end)
    return end


VIEWS = st.builds(
    CountedViews, st.integers(1, 120), st.lists(st.integers(1, 10**12), min_size=1, max_size=3).map(tuple)
)


@settings(max_examples=examples(200), deadline=None)
@given(counted=VIEWS, rows=st.integers(10**6, 10**11), workers=st.integers(1, 100))
def test_a_simulation_takes_at_most_the_estimated_time_and_no_less_than_its_longest_step(
    counted: CountedViews, rows: int, workers: int
) -> None:
    _, reading, adding = (step.seconds or 0.0 for step in counting_steps(counted, rows, workers))
    found = simulated(counted, rows, workers)
    assert reading * (1 - 1e-9) <= found <= (reading + adding) * (1 + 1e-9)


def test_the_plan_for_ten_billion_rows_is_that_of_the_page(workshop: Workshop) -> None:
    """The figures of pipeline/internals/count-at-scale.md: 12 columns, 432,000 classes, 50 workers."""
    counted = CountedViews(12, (432_000,))
    _, reading, adding = (step.seconds for step in counting_steps(counted, 10**10, 50))
    assert reading == pytest.approx(18, abs=1)
    assert adding == pytest.approx(0.6, abs=0.05)
    assert simulated(counted, 10**10, 50) == pytest.approx(18.6, abs=0.1)
    cost = computing_cost(plan_policy(workshop.policy), 10**10, 50)
    assert cost.bottleneck.name == "protect, judge and write"
    assert cost.bottleneck.seconds == pytest.approx(460)


def test_more_workers_read_in_less_time_and_never_need_more_memory(workshop: Workshop) -> None:
    one, many = (computing_cost(plan_policy(workshop.policy), 10**9, workers) for workers in (1, 16))
    assert one.steps[1].seconds == pytest.approx(16 * (many.steps[1].seconds or 0))
    assert many.worker_memory <= one.worker_memory
    assert one.bytes_read == many.bytes_read


def test_entries_of_people_may_be_as_many_as_rows(workshop: Workshop) -> None:
    of_rows = computing_cost(plan_policy(workshop.policy), 10**9, 4)
    workshop.edit(workshop.contract, "privacyUnit, value: row", "privacyUnit, value: {person: patient, rows: 2}")
    workshop.edit(workshop.budget, "unit: row", 'unit: "person:patient"')
    of_people = computing_cost(plan_policy(workshop.policy), 10**9, 4)
    assert of_people.worker_memory > 10**9 / 4 * UNITS.held_entry
    assert of_people.bytes_sent == 10**9 * UNITS.spilled_entry
    assert (of_rows.process_memory, of_rows.temporary_files) == (None, None)
    more = computing_cost(plan_policy(workshop.policy), 10**10, 4)
    assert more.process_memory == of_people.process_memory == UNITS.process + MOST_ENTRIES * UNITS.held_entry
    assert more.temporary_files == 10**10 * UNITS.spilled_entry


def test_no_process_of_a_cluster_holds_all_people(workshop: Workshop) -> None:
    workshop.edit(workshop.contract, "privacyUnit, value: row", "privacyUnit, value: {person: patient, rows: 2}")
    workshop.edit(workshop.budget, "unit: row", 'unit: "person:patient"')
    few, many = (computing_cost(plan_policy(workshop.policy), 10**10, workers) for workers in (4, 64))
    every = 10**10 * UNITS.held_entry
    assert few.worker_memory < every
    assert many.worker_memory < every / 16
    assert max(few.run_memory, many.run_memory) < every / 64
    assert [step.name for step in few.steps] == ["start", "read and count", "merge people", "protect, judge and write"]


def test_plan_states_memory_and_temporary_files_of_people(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    workshop.edit(workshop.contract, "privacyUnit, value: row", "privacyUnit, value: {person: patient, rows: 2}")
    workshop.edit(workshop.budget, "unit: row", 'unit: "person:patient"')
    assert crowdgate("plan", workshop.policy, "--workers", "2", "--table-rows", "1e9") == 0
    said = capsys.readouterr().out
    assert "memory of a worker on a cluster, at most: " in said
    assert "memory of each process with --workers, at most (if ids are whole numbers): 803 MB" in said
    assert "temporary files, at most (if ids are whole numbers): 30 GB" in said


def test_plan_names_the_bottleneck_and_the_age_of_its_figures(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate("plan", workshop.policy, "--workers", "16", "--table-rows", "1e9") == 0
    said = capsys.readouterr().out
    assert "1,000,000,000 rows, 16 workers with a core each. Unit costs were measured on 20" in said
    assert "The bottleneck is: protect, judge and write." in said
    assert crowdgate("plan", workshop.policy, "--workers", "2", "--json") == 0
    found = json.loads(capsys.readouterr().out)["computing"]
    assert (found["rows"], found["workers"]) == (1000, 2)


@pytest.mark.parametrize(("text", "number"), [("1e9", 10**9), ("2.5e3", 2500), ("7", 7), ("2.5", None), ("x", None)])
def test_numbers_of_rows_may_have_an_exponent(text: str, number: int | None) -> None:
    assert whole_number(text) == number


def test_a_number_of_rows_that_is_none_is_refused(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("x", "1e99", "0"):
        assert crowdgate("plan", workshop.policy, "--table-rows", text) == 2
        assert f"--table-rows: {text}; expected a whole number such as 1e9" in capsys.readouterr().err
