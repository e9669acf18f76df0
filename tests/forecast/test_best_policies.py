"""`crowdgate plan --best`: policies of least expected error on what users need, from public figures alone."""

import json
from collections.abc import Iterator
from itertools import product
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdgate.api import read_release
from crowdgate.forecast import best_policies as searching
from crowdgate.forecast.best_policies import BestPolicies, best_policies
from crowdgate.forecast.needs import needs_of
from crowdgate.forecast.outlook import Outlook, outlook
from crowdgate.kind.forecast import Axes
from crowdgate.kinds import KINDS
from crowdgate.kinds.rows.kind import RowsKind
from tests.workshop import MARK, Workshop, crowdgate, make_workshop

pytestmark = pytest.mark.usefixtures("few_simulations")

PEOPLE = 4000
SIZES = {"region": 12, "age": 60, "job": 9, "home": 20}
LEVELS = {"region": (3,), "age": (5, 20), "job": (3,), "home": (5, 10)}
COLUMN = """\
      - name: {name}
        logicalType: integer
        required: true
        customProperties:
          - {{property: privacyRole, value: quasi-identifier}}
          - {{property: domain, value: {{from: 0, to: {last}, source: drawn for a test}}}}
          - {{property: levels, value: [{levels}]}}
          - {{property: invalid, value: drop}}
"""
CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: clinic
version: 1.0.0
status: active
servers: [{server: local, type: local, path: patients.parquet, format: parquet}]
schema:
  - name: patients
    customProperties:
      - {property: privacyUnit, value: row}
      - {property: population, value: clinic-patients}
      - {property: public, value: true}
      - {property: rowsAtMost, value: 5000}
      - property: analysis
        value: [{table: [region, ill]}, {share: {ill: ["yes"]}}]
    properties:
"""
ILL = """\
      - name: ill
        logicalType: string
        required: true
        customProperties:
          - {property: privacyRole, value: sensitive}
          - {property: domain, value: {values: ["yes", "no"], source: drawn for a test}}
          - {property: invalid, value: drop}
"""
POLICY = """\
apiVersion: crowdgate/v1
kind: ReleasePolicy
metadata: {name: clinic, version: 1, owner: board, description: People by region and illness.}
spec:
  contract: clinic
  budget: clinic-patients
  privacy: {epsilon: 2, delta: 1e-6}
  mechanism:
    kind: safe_k_anonymity
    sampling: {beta: 0.5}
    attributes: {region: "3", age: "5", job: exact, home: "5", ill: exact}
  gates:
    - {measure: guarantee_epsilon, at_most: 2}
    - {measure: released_rows, at_least: 100}
  publish: {to: releases, formats: [csv]}
  spend: {"chance_at_least": 0}
"""


def public_copy(root: Path, seed: int) -> Workshop:
    """A working copy with a public table: columns are related, and differently for each seed."""
    made, draws = make_workshop(root), np.random.default_rng(seed)
    columns = "".join(
        COLUMN.format(name=name, last=size - 1, levels=", ".join(f"{{name: {w}, width: {w}}}" for w in LEVELS[name]))
        for name, size in SIZES.items()
    )
    made.contract.write_text(CONTRACT + columns + ILL, encoding="utf-8")
    made.policy.write_text(POLICY, encoding="utf-8")
    made.edit(made.budget, "people: 1000", "people: 5000")
    made.edit(made.budget, "delta: 0.03", "delta: 0.00001")
    hidden = draws.integers(0, 4, PEOPLE)
    cells = {name: draws.binomial(size - 1, (hidden + 1) / 6) for name, size in SIZES.items()}
    ill = np.where(draws.random(PEOPLE) < (hidden + 1) / 8, "yes", "no")
    pq.write_table(pa.table({**{name: each.astype(np.int64) for name, each in cells.items()}, "ill": ill}), made.data)
    return made


def searched(copy: Workshop) -> Outlook:
    return outlook(copy.policy, copy.data)


def all_levels(search: "searching._PolicySearch") -> Iterator[Axes]:
    """Yield all combinations of levels of the columns that nothing needs."""
    free = [name for name in search.finest if name not in search.needs.levels]
    ladders = [
        [None, *(each for each in search.prior.levels(name) if 1 < len(each) <= len(search.finest[name]))]
        for name in free
    ]
    for chosen in product(*ladders):
        kept = {name: level for name, level in zip(free, chosen, strict=True) if level is not None}
        yield {**search.needs.levels, **kept}


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (2, 3))])
def test_the_frontier_is_within_2_percent_of_all_levels(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gates and margins are left out of the comparison: they are simulated, which takes ten times as long."""
    monkeypatch.setattr(searching, "_outcomes", lambda *_: iter(()))
    monkeypatch.setattr(RowsKind, "vary_costs", lambda *_: ())
    found = searched(public_copy(tmp_path / "w", seed))
    answer = best_policies(found)
    levels = found.forecast.compared or {}
    needs = needs_of(found.plan.bundle.contract, levels)
    every = searching._PolicySearch(found.plan, found.figures.prior, levels, needs)
    for each in all_levels(every):
        for kind in KINDS.values():
            every.best_at(kind, each)
    for name in KINDS:
        told = [each for each in answer.frontier if each.kind == name]
        for best in searching._frontier(every.known(name), attrgetter("first_error.value"))[: len(told)]:
            as_detailed = (each.first_error.value for each in told if each.detail >= best.detail - 1e-9)
            assert min(as_detailed) <= 1.02 * best.first_error.value
    assert answer.tried < len(every.found)


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    made = public_copy(tmp_path / "w", 4)
    monkeypatch.chdir(made.root)
    return made


def best(copy: Workshop, capsys: pytest.CaptureFixture[str], *more: object) -> dict[str, object]:
    capsys.readouterr()
    assert crowdgate("plan", copy.policy, "--best", "--json", *more) == 0
    said: dict[str, object] = json.loads(capsys.readouterr().out)
    return said


@pytest.mark.thorough
def test_written_policies_pass_the_check_and_nothing_is_overwritten(
    copy: Workshop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second command would find the same policies: it is given those of the first."""
    answers: list[BestPolicies] = []

    def once(found: Outlook) -> BestPolicies:
        answers.append(answers[0] if answers else best_policies(found))
        return answers[-1]

    monkeypatch.setattr("crowdgate.forecast.best_policies.best_policies", once)
    said = best(copy, capsys, "--from", copy.data, "--write")
    files = [Path(each) for each in said["files"]]  # type: ignore[attr-defined]
    assert len(files) == len(said["policies"]) > 3  # type: ignore[arg-type]
    assert crowdgate("check", *files) == 0
    before = files[0].read_bytes()
    assert crowdgate("plan", copy.policy, "--best", "--from", copy.data, "--write") == 1
    assert files[0].read_bytes() == before
    assert len(answers) == 2
    for path in files:
        assert crowdgate("diff", copy.policy, path, "--json") in (0, 3)


@pytest.mark.thorough
def test_a_gate_that_stops_better_policies_has_a_price(copy: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    copy.edit(copy.policy, "released_rows, at_least: 100", "released_rows, at_most: 1000")
    said = best(copy, capsys, "--from", copy.data)
    (price,) = [each for each in said["prices"] if each["kind"] == "safe_k_anonymity"]  # type: ignore[attr-defined]
    assert price["gate"].startswith("released_rows at most")
    assert 0 < price["smaller"] < 1


@pytest.mark.thorough
def test_without_public_counts_rows_are_unknown_and_no_table_is_read(
    copy: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    copy.edit(copy.contract, "      - {property: public, value: true}\n", "")
    copy.data.write_text(MARK)
    said = best(copy, capsys)
    assert said["own"] is None
    found: Any = said["policies"]
    assert {each["kind"] for each in found} == {"dp_tables"}, "whose errors are those of the noise alone"
    assert crowdgate("plan", copy.policy, "--best") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "The expected error of the present policy is unknown. A public table or a pilot release may tell" in text
    assert MARK not in text


@pytest.mark.thorough
def test_without_analyses_all_tables_of_two_columns_count(copy: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    stated = copy.contract.read_text()
    start = stated.index("      - property: analysis")
    copy.contract.write_text(stated[:start] + stated[stated.index("    properties:") :])
    said = best(copy, capsys, "--from", copy.data)
    assert (said["analyses_listed"], len(said["tables"])) == (False, 15)  # type: ignore[arg-type]
    assert crowdgate("plan", copy.policy, "--best", "--from", copy.data) == 0
    assert "The contract lists no analysis" in capsys.readouterr().out


@pytest.mark.thorough
def test_errors_of_the_chosen_policies_are_those_of_drawn_releases(
    copy: Workshop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mean error over 30 releases of the best rows is within the stated range, whose ends are 2.25 apart. The
    policy was chosen for its forecast, so this also tests whether the choice makes forecasts too small. The best rows
    are weighted to margins, which the policy lacks.

    The error of one release varies by 36 % of the mean (204 releases), so the mean of 30 by 6.6 %. The lower end is
    4.5 of these below the mean, the upper one further: a false alarm in 300,000 runs. Noise of half or twice the
    standard deviation is found in all but one of 1,000 runs.
    """
    monkeypatch.setattr("crowdgate.kinds.rows.outlook.RIVAL_BETAS", ("0.3", "0.6"))
    said = best(copy, capsys, "--from", copy.data, "--write")
    told = next(each for each in said["policies"] if each["kind"] == "safe_k_anonymity")  # type: ignore[attr-defined]
    copy.edit(copy.budget, "epsilon: 6, delta: 0.00001", "epsilon: 60, delta: 0.0001")
    path, errors = copy.policy.parent / f"clinic-best-{told['number']}.yaml", []
    for day in range(1, 31):
        assert crowdgate("release", path, "--as-of", f"2030-01-{day:02}") == 0
        errors.append(realised(copy, copy.root / f"releases/{path.stem}/1/2030-01-{day:02}"))
    assert told["low"] <= np.mean(errors) <= told["high"]
    assert "margins: none becomes" in told["changes"]


def realised(copy: Workshop, folder: Path) -> float:
    """Return the error of the needed tables made of released rows, as a share of all people."""
    truth = pq.read_table(copy.data).to_pandas()
    truth["region"] = truth["region"] // 3
    rows = read_release(folder).frames["data"].copy()
    beta = float(json.loads((folder / "manifest.json").read_text())["mechanism"]["beta"])
    rows["people"] = rows["weight"] if "weight" in rows else 1 / beta
    rows["region"] = rows["region"].astype(str).str.extract(r"^(\d+)", expand=False).astype(int) // 3
    errors = []
    for columns in (["region", "ill"], ["ill"]):
        shape = truth.groupby(columns).size()
        made = rows.groupby(columns)["people"].sum().reindex(shape.index, fill_value=0)
        errors.append(float(np.sqrt(np.mean((made - shape) ** 2))) / PEOPLE)
    return float(np.mean(errors))
