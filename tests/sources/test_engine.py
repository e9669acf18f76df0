"""Great Expectations judges its rules as the facts do, in a process that leaves nothing behind."""

import json
import os
import select
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdgate.contracts.contract import Contract, Expectation, Fact, PrivacyUnit, TableRule
from crowdgate.errors import EnvironmentFault
from crowdgate.hierarchy import hierarchy
from crowdgate.histogram import View
from crowdgate.ledger.ledger import State, open_ledger
from crowdgate.sources import engine as engine_file
from crowdgate.sources import open_source
from crowdgate.sources.counting import CountingTask, count_table, serial
from crowdgate.sources.engine import engine
from crowdgate.sources.expectations import expectation_results, import_engine
from crowdgate.sources.rules import run_rules
from tests.examples import examples
from tests.reading import file_server
from tests.sources.test_rules import AGE, SEX, contract_of
from tests.workshop import Workshop, crowdgate, write_csv

SLOT = "2030-01-01"


def mean_of(column: str, low: float) -> Expectation:
    kwargs = {"column": column, "min_value": low}
    return Expectation(f"mean of {column}", "expect_column_mean_to_be_between", (column,), kwargs)


MEAN = mean_of("age", 10.5)
AGES: dict[tuple[str, ...], Any] = {("age",): {"cells": [[9], [12], [None]], "counts": [1, 1, 3]}}
"""The counts of two ages, whose mean is 10.5, and of three missing ones."""

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the modules that the engine imports
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent at once")

# --- the same rule, judged by the engine and by facts ---


def by_rows(frame: pd.DataFrame, rule: TableRule) -> bool:
    """Return the verdict of Great Expectations on the rows themselves."""
    gx: Any = import_engine()
    ends = {"min_value": rule.low, "max_value": rule.high}
    expectations = {
        Fact.ROWS: lambda: gx.expectations.ExpectTableRowCountToBeBetween(**ends),
        Fact.MEAN: lambda: gx.expectations.ExpectColumnMeanToBeBetween(column="age", **ends),
        Fact.INVALID_SHARE: lambda: gx.expectations.ExpectColumnValuesToBeInSet(
            column="sex", value_set=list(SEX.labels), mostly=1 - (rule.high or 0)
        ),
        Fact.DUPLICATE_SHARE: lambda: gx.expectations.ExpectColumnProportionOfUniqueValuesToBeBetween(
            column="name", min_value=1 - (rule.high or 0)
        ),
    }
    asset = gx.get_context(mode="ephemeral").data_sources.add_pandas("memory").add_dataframe_asset("frame")
    batch = asset.add_batch_definition_whole_dataframe("whole").get_batch({"dataframe": frame})
    return bool(batch.validate(expectations[rule.fact]()).success)


def by_facts(folder: Path, frame: pd.DataFrame, rules: Sequence[TableRule]) -> list[bool | None]:
    """Return the verdicts of a run, which has read the rows from a file."""
    path = folder / "t.csv"
    frame.to_csv(path, index=False)
    of = contract_of(table_rules=rules)
    contract = Contract("c", "1", "p", PrivacyUnit("name", 9), file_server(path, "csv"), of.attributes,
                        table_rules=of.table_rules)  # fmt: skip
    view = View({"sex": hierarchy(SEX, [], invalid_level=False).level("exact"),
                 "age": hierarchy(AGE, [], invalid_level=False).level("exact")})  # fmt: skip
    task = CountingTask(contract, ("sex", "age"), {"all": view})
    facts = count_table(open_source(contract, task.columns, None), task, serial()).facts
    outcomes = run_rules(contract, {}, facts.values(contract), {})
    return [outcome.passed for outcome in outcomes]


row = st.tuples(st.sampled_from(["p", "q", "r", "s"]), st.sampled_from([*SEX.labels[:2], "x"]), st.integers(0, 90))
share = st.sampled_from([0.125, 0.25, 0.5, 0.75])


@pytest.mark.thorough
@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(row, min_size=1, max_size=8),
    count=st.integers(0, 8),
    mean=st.integers(0, 90),
    shares=st.tuples(share, share),
)
def test_engine_and_facts_agree_on_random_tables(
    tmp_path: Path, rows: list[Any], count: int, mean: int, shares: tuple[float, float]
) -> None:
    """Great Expectations gets the rows, a run its facts: counts, means, sets and uniqueness."""
    frame = pd.DataFrame(rows, columns=["name", "sex", "age"])
    rules = [
        TableRule("rows", Fact.ROWS, None, count, None),
        TableRule("few", Fact.ROWS, None, None, count),
        TableRule("mean", Fact.MEAN, "age", mean / 2, mean),
        TableRule("sex", Fact.INVALID_SHARE, "sex", None, shares[0]),
        TableRule("name", Fact.DUPLICATE_SHARE, "name", None, shares[1]),
    ]
    assert by_facts(tmp_path, frame, rules) == [by_rows(frame, rule) for rule in rules]


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(row, min_size=1, max_size=12), ragged=st.integers(0, 2), invalid=st.sampled_from(["drop", "level"])
)
def test_the_counts_for_expectations_are_those_of_the_rows(
    tmp_path: Path, rows: list[Any], ragged: int, invalid: str
) -> None:
    """A cell outside the domain is missing, as are the cells of a ragged line."""
    path = tmp_path / "t.csv"
    text = "".join(f"{name},{sex},{age}\n" for name, sex, age in [("name", "sex", "age"), *rows])
    path.write_text(text + "p\n" * ragged, encoding="utf-8")
    names: list[tuple[str, ...]] = [("sex",), ("age",), ("sex", "age")]
    stated = tuple(Expectation(str(each), "", each, {}) for each in names)
    of = contract_of(invalid=invalid)
    contract = Contract("c", "1", "p", PrivacyUnit(), file_server(path, "csv"), of.attributes, expectations=stated)
    task = CountingTask(contract, ("sex", "age"), {"all": View({})})
    total = count_table(open_source(contract, task.columns, None), task, serial()).facts
    cells = [(sex if sex in SEX.labels else None, age) for _, sex, age in rows] + [(None, None)] * ragged
    counts = {
        each: Counter(tuple(cell[("sex", "age").index(name)] for name in each) for cell in cells) for each in names
    }
    found = total.weighted_cells(contract)
    assert {each: _counter(found[each]) for each in names} == counts
    total.add(total)
    assert _counter(total.weighted_cells(contract)["sex", "age"]).total() == 2 * len(cells)


def _counter(weighted: Any) -> Counter[Any]:
    counted: Counter[Any] = Counter()
    for cell, count in zip(weighted["cells"], weighted["counts"], strict=True):
        counted[tuple(cell)] += count
    return counted


# --- the process ---


def answers(asked: Sequence[Expectation], cells: Any = AGES) -> list[bool | None]:
    with engine(asked) as ask:
        told = ask(cells)
        return [told.get(each) for each in asked]


@pytest.mark.thorough
def test_the_process_answers_and_says_and_writes_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Columns without counts have no answer; every file that Great Expectations could leave would be in this folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    assert answers([mean_of("age", 10), mean_of("age", 10.6), mean_of("other", 1), MEAN]) == [True, False, None, True]
    assert "".join(capfd.readouterr()) == ""
    assert list(tmp_path.rglob("*")) == []


EXECUTED = """
import sys
from crowdgate.sources import expectations
exit = expectations.os._exit
expectations.os._exit = lambda code: None
expectations.main()
heavy = {"altair", "narwhals", "pyarrow", "scipy.stats._stats_py", "sqlalchemy"}
open(sys.argv[1], "w").write(" ".join(sorted(heavy & set(sys.modules))) or "none")
exit(0)
"""


@pytest.mark.thorough
def test_the_process_executes_no_library_that_no_rule_asks_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For one expectation most of its time went into charts, distributions and databases."""
    seen = tmp_path / "seen"
    monkeypatch.setattr(engine_file, "_COMMAND", (sys.executable, "-P", "-c", EXECUTED, str(seen)))
    assert answers([MEAN]) == [True]
    assert seen.read_text() == "altair"  # as a name alone


@pytest.mark.thorough
def test_an_expectation_that_great_expectations_can_not_decide_leaves_the_others_theirs() -> None:
    table = {"cells": [[1], [3]], "counts": [2, 1]}
    mean, unknown = "expect_column_mean_to_be_between", "expect_column_mean_to_be_nice"
    kwargs = {"column": "age", "min_value": 1.5}
    asked = [{"type": kind, "kwargs": kwargs, "table": 0} for kind in (mean, unknown, mean)]
    assert expectation_results([table], asked) == [True, None, True]


@pytest.mark.thorough
def test_it_is_told_to_send_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GX_ANALYTICS_ENABLED", "true")
    import_engine()
    assert os.environ["GX_ANALYTICS_ENABLED"] == "false"


def instead(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Replace the engine's process by another one."""
    monkeypatch.setattr(engine_file, "_COMMAND", (sys.executable, "-P", "-c", code))


@linux
def test_it_can_not_be_dumped_when_it_is_told_the_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    code = """
import ctypes, resource
from crowdgate.sources import expectations
expectations.import_engine = lambda: None
state = lambda: (resource.getrlimit(resource.RLIMIT_CORE), ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
expectations.expectation_results = lambda **_: [state() == ((0, 0), 0)]
expectations.main()
"""
    instead(monkeypatch, code)
    assert answers([MEAN]) == [True]


FAULTY = {
    "dies": "import os; os.kill(os.getpid(), 9)",
    "dies after its answer": "print('[true]'); raise SystemExit(1)",
    "says nothing": "",
    "answers more": "print('[true, true]')",
    "answers less": "print('[]')",
    "answers something": "print('[1]')",
    "answers no list": "print('{\"0\": true}')",
    "babbles": "print('true or false')",
    "hangs": "import time; time.sleep(1000)",
}


@pytest.mark.parametrize("fault", FAULTY)
def test_a_process_that_does_not_answer_decides_nothing_and_is_gone(
    monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    started = []
    popen = subprocess.Popen

    def noted(*args: Any, **kwargs: Any) -> Any:
        started.append(popen(*args, **kwargs))
        return started[-1]

    monkeypatch.setattr(engine_file, "Popen", noted)
    monkeypatch.setattr(engine_file, "_PATIENCE", 0.1 if fault == "hangs" else 300)
    instead(monkeypatch, FAULTY[fault])
    with pytest.raises(EnvironmentFault, match="did not answer"):
        answers([MEAN])
    (process,) = started
    assert process.returncode is not None
    assert not Path(f"/proc/{process.pid}").exists()


def test_where_no_rule_is_stated_for_it_no_process_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_file, "Popen", None)
    assert answers([]) == []


PARENT = """
import sys
from crowdgate.contracts.contract import Expectation
from crowdgate.sources import engine
engine._COMMAND = (sys.executable, "-P", "-c", sys.argv[1])
engine.Popen = lambda *args, made=engine.Popen, **kwargs: noted(made(*args, **kwargs))
def noted(process):
    print(process.stdout.readline().decode().strip(), process.pid, flush=True)
    return process
with engine.engine([Expectation("r", "", ("a",), {})]) as ask:
    ask({("a",): {}})
"""
HANGING = """
import sys, time
from crowdgate.sources import expectations
def hang():
    print("ready", file=sys.__stdout__, flush=True)
    time.sleep(1000)
expectations.import_engine = hang
expectations.main()
"""


@linux
def test_it_ends_with_a_run_that_is_killed_even_if_it_hangs() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, HANGING], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent:
        word, pid = parent.stdout.readline().split()
        child = os.pidfd_open(int(pid))
        parent.send_signal(signal.SIGKILL)
    assert word == "ready"
    ended, _, _ = select.select([child], [], [], 60)
    os.close(child)
    assert ended == [child]


# --- a release ---

RULE = (
    "{name: mean, type: custom, engine: greatExpectations, implementation: "
    "{type: expect_column_mean_to_be_between, kwargs: {min_value: 20, max_value: 80}}}"
)


@pytest.fixture
def stated(workshop: Workshop) -> Workshop:
    """Add a rule for Great Expectations to the contract."""
    workshop.edit(workshop.contract, "      - name: ward\n", f"        quality: [{RULE}]\n      - name: ward\n")
    return workshop


def state_of(workshop: Workshop) -> State | None:
    entry = open_ledger(workshop.ledger, None).entry(f"clinic/1/{SLOT}")
    return None if entry is None else entry.state


def rules_of(workshop: Workshop) -> list[dict[str, Any]]:
    (record,) = (workshop.root / "ledger" / "private").glob("*.json")
    rules = json.loads(record.read_text())["rules"]
    return [rule for rule in rules if rule["kind"] == "table"]


def test_a_release_whose_engine_dies_is_a_crash_that_names_nothing(
    stated: Workshop, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    instead(monkeypatch, FAULTY["dies"])
    assert crowdgate("release", stated.policy, "--as-of", SLOT) == 1
    assert "Expectations" not in "".join(capfd.readouterr())
    assert not stated.release_dir(SLOT).exists()
    assert state_of(stated) is State.RESERVED


def test_a_missing_engine_is_told_before_anything_is_charged(
    stated: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "great_expectations", None)
    assert crowdgate("release", stated.policy, "--as-of", SLOT) == 2
    assert "pip install 'crowdgate[expectations]'" in capsys.readouterr().err
    assert state_of(stated) is None


@pytest.mark.thorough
def test_a_table_without_the_fact_is_released_and_the_rule_has_no_outcome(stated: Workshop) -> None:
    """The existence of a mean can depend on one person, so it decides nothing."""
    stated.edit(stated.contract, "path: patients.parquet, format: parquet", "path: patients.csv, format: csv")
    write_csv(stated.data.with_suffix(".csv"), [])
    assert crowdgate("release", stated.policy, "--as-of", SLOT) == 0
    assert {"rule": "mean", "kind": "table", "passed": None} in rules_of(stated)


LEAN = """
import sys
from crowdgate_flows.command import main
try:
    main()
finally:
    heavy = {"great_expectations", "pandas", "sklearn"} & set(sys.modules)
    import pyarrow
    frame = pyarrow.table({"a": [1]}).to_pandas()
    print(sorted(heavy), type(frame).__name__, file=sys.stderr)
"""


@pytest.mark.thorough
def test_a_release_without_such_a_rule_imports_neither_the_engine_nor_pandas(workshop: Workshop) -> None:
    """A later request to pyarrow for a data frame still works."""
    command = [sys.executable, "-c", LEAN, "release", str(workshop.policy), "--as-of", SLOT]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (0, "[] DataFrame"), ended.stderr
