"""A release of tables from its policy file to its outcome: published, verified, withheld, refused; forgeries found."""

import csv
import json
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from crowdgate.errors import ConfigurationError, Crashed, VerificationFailed
from crowdgate.forecast.outlook import outlook
from crowdgate.kind.randomness import KeyedRandomness
from crowdgate.kind.run import Request, Result
from crowdgate.kinds.tables import release as tables_job
from crowdgate.ledger.key import draw_key
from crowdgate.ledger.ledger import State, open_ledger
from crowdgate.mechanisms.tables.columns import COUNT_NUMBERS
from crowdgate.noise import NoiseSource
from crowdgate.pages.release import page_of
from crowdgate.planning.plan import plan_policy
from crowdgate.releases import release as job
from crowdgate.sampling import SecretKey
from crowdgate.sources.counting import serial
from crowdgate.verification.release import verify
from tests.forging import Change, Claims, reseal, reseal_with_page, reword, rewrite_lines, rewrite_table
from tests.workshop import MARK, Workshop, crowdgate, make_workshop, verified

SLOT = "2030-01-01"
POLICY = """\
apiVersion: crowdgate/v1
kind: ReleasePolicy
metadata: {name: clinic, version: 1, owner: board, description: Patients by age and ward.}
spec:
  contract: clinic
  budget: clinic-patients
  privacy: {epsilon: 2, delta: 0.01}
  mechanism:
    kind: dp_tables
    noise: gaussian
    levels: {age: 10 years, ward: exact}
    tables:
      - {total: true, share: 0.1}
      - {all: 1}
      - {all: 2, share: 0.3}
      - {attributes: {age: 50 years}}
      - {sum: age, by: [ward], low: 10, high: 60}
      - {mean: age, by: {ward: exact}}
      - {quantiles: age, level: 10 years, at: [0.75, 0.5], by: [ward]}
    relative_error: 0.4
    raw: true
  gates:
    - {measure: guarantee_epsilon, at_most: 2}
    - {measure: pso_bound, at_most: 1}
    - {measure: trusted_share, at_least: 0.05}
    - {measure: total_relative_error, at_most: 0.9}
    - {measure: smallest_trusted_cell, at_least: 0}
  publish: {to: releases, formats: [parquet, csv]}
"""


def tables_workshop(root: Path, **changes: str) -> Workshop:
    workshop = make_workshop(root)
    text = POLICY
    for old, new in changes.items():
        text = text.replace(old, new)
    workshop.policy.write_text(text, encoding="utf-8")
    return workshop


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return tables_workshop(tmp_path / "w")


def run(workshop: Workshop, slot: str = SLOT) -> Result:
    return job.release(Request(workshop.policy, slot), draw_key)


def path_of(result: Result) -> Path:
    assert result.path is not None
    return result.path


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("relative_error", "relative_error"),
        ("noise: gaussian", "noise: laplace"),
        ("noise: gaussian", "sampling: {beta: 0.5}"),
        ("noise: gaussian", "noise: laplace\n    sampling: {beta: 0.25}\n    suppress: true"),
        ("raw: true", "suppress: true"),
        ("    raw: true\n", "    split: equal\n"),
        ("    raw: true\n", "    split: least-error\n"),
        ("formats: [parquet, csv]", "formats: [csv]"),
        ("low: 10, high: 60}", "low: 10, high: 60, clamps: true, share: 0.3}"),
        ("mean: age, by: {ward: exact}}", "mean: age, by: {ward: exact}, high: 90, clamps: true}"),
        ("levels: {age: 10 years, ward: exact}", "levels: {age: any, ward: exact}"),
    ],
)
def test_every_kind_of_tables_is_published_and_verifies(workshop: Workshop, old: str, new: str) -> None:
    workshop.edit(workshop.policy, old, new)
    claims = verified(path_of(run(workshop)), workshop.ledger)
    assert claims["mechanism"]["kind"] == "dp_tables"
    assert claims["mechanism"]["invariants"] == []
    assert len(claims["data"]["tables"]) == 8 + 2 * ("clamps" in new)
    laplace = claims["mechanism"]["noise"] == "discrete laplace"
    assert claims["guarantee"]["delta"] == ("0" if laplace else "0.01")
    assert run(workshop).path == workshop.release_dir(SLOT)


@pytest.mark.parametrize("split", ["least-error", pytest.param("equal", marks=pytest.mark.thorough)])
def test_tables_with_columns_in_another_order_than_by_name_verify(workshop: Workshop, split: str) -> None:
    """A manifest keeps the order of a table's axes, but not that of the names of a query's levels."""
    workshop.edit(workshop.policy, "levels: {age: 10 years, ward: exact}", "levels: {ward: exact, age: 10 years}")
    workshop.edit(workshop.policy, "    raw: true\n", f"    split: {split}\n")
    tables = verified(path_of(run(workshop)), workshop.ledger)["data"]["tables"]
    assert ["ward", "age"] in [[axis["column"] for axis in table["axes"]] for table in tables]


def test_a_release_holds_every_cell_and_no_true_number_without_noise(workshop: Workshop) -> None:
    path = path_of(run(workshop))
    table = pq.read_table(path / "4-count-by-age-10-years-ward-exact.parquet")
    assert table.column_names == ["age", "ward", *COUNT_NUMBERS]
    assert table.num_rows == 10 * 4
    assert "(invalid)" in table["ward"].to_pylist()
    total = pq.read_table(path / "1-count.parquet")
    assert total["standard_error"][0].as_py() > 0
    assert {"README.md", "dictionary.csv", "levels.csv", "tables.csv", "1-count-raw.csv"} <= {
        file.name for file in path.iterdir()
    }
    with (path / "tables.csv").open(newline="") as file:
        assert [row["kind"] for row in csv.DictReader(file)] == [*["count"] * 5, "sum", "mean", "quantiles"]


def test_an_empty_table_publishes_tables_of_noise(workshop: Workshop) -> None:
    workshop.edit(workshop.policy, "    - {measure: trusted_share, at_least: 0.05}\n", "")
    workshop.edit(workshop.policy, "    - {measure: total_relative_error, at_most: 0.9}\n", "")
    workshop.edit(workshop.policy, "    - {measure: smallest_trusted_cell, at_least: 0}\n", "")
    workshop.write([])
    assert verify(path_of(run(workshop)))


def test_a_release_without_a_total_is_withheld_where_a_gate_asks_for_it(workshop: Workshop) -> None:
    workshop.edit(workshop.policy, "      - {total: true, share: 0.1}\n", "")
    result = run(workshop)
    assert result.outcome == "withheld"
    assert [(v.measure, v.outcome) for v in result.verdicts if v.outcome != "pass"] == [
        ("total_relative_error", "inconclusive")
    ]


LIMITS = {
    "guarantee_epsilon": ("guarantee_epsilon, at_most: 2", "guarantee_epsilon, at_most: 1.9", 0),
    "pso_bound": ("pso_bound, at_most: 1", "pso_bound, at_most: 0.001", 0),
    "trusted_share": ("trusted_share, at_least: 0.05", "trusted_share, at_least: 1", 2),
    "total_relative_error": ("total_relative_error, at_most: 0.9", "total_relative_error, at_most: 0.000001", 2),
    "smallest_trusted_cell": ("smallest_trusted_cell, at_least: 0", "smallest_trusted_cell, at_least: 9999", 2),
}


@pytest.mark.thorough
@pytest.mark.parametrize("measure", LIMITS)
def test_each_blocking_gate_withholds_when_its_limit_is_tightened(workshop: Workshop, measure: str) -> None:
    old, new, cost = LIMITS[measure]
    workshop.edit(workshop.policy, old, new)
    result = run(workshop)
    assert result.outcome == "withheld"
    assert [found.measure for found in result.verdicts if found.outcome != "pass"] == [measure]
    assert not list((workshop.root / "releases").rglob("*.csv"))
    assert open_ledger(workshop.ledger, None).spent("clinic-patients").epsilon == cost


def test_nothing_confidential_is_seen_of_a_release_or_a_crash(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate("release", workshop.policy, "--as-of", SLOT, "--json") == 0

    def broken(*_: object) -> object:
        raise KeyError(MARK)

    monkeypatch.setattr(tables_job, "consistent_answers", broken)
    with pytest.raises(Crashed) as crashed:
        run(workshop, "2030-01-02")
    assert crashed.value.__cause__ is None
    assert crashed.value.__context__ is None
    said = capfd.readouterr()
    assert MARK not in said.out + said.err + str(crashed.value)
    for file in (workshop.root / "releases").rglob("*"):
        assert not file.is_file() or MARK.encode() not in file.read_bytes()
    entry = open_ledger(workshop.ledger, None).entry("clinic/1/2030-01-02")
    assert entry is not None
    assert entry.state is State.RESERVED


def test_the_private_record_says_how_far_counts_are_from_the_truth(workshop: Workshop) -> None:
    run(workshop)
    (record,) = [json.loads(file.read_text()) for file in (workshop.root / "ledger").rglob("*.json")]
    assert record["rows"] == {"counted": 600}
    assert record["utility"]["errors of counts"][0]["table"] == "count"


def test_the_same_key_and_noise_stage_the_same_bytes(tmp_path: Path) -> None:
    silent = NoiseSource(lambda values, *_: values + 1, lambda values, *_: values + 1)
    staged = []
    for name in ("a", "b"):
        workshop = tables_workshop(tmp_path / name, **{"noise: gaussian": "sampling: {beta: 0.5}"})
        reserved = job.reserve(job.prepare(Request(workshop.policy, SLOT)))  # type: ignore[arg-type]
        key = SecretKey(bytes(32), injected=True)
        counted = job.read(reserved, key, serial())  # type: ignore[arg-type]
        randomness = KeyedRandomness(key, vectors=silent)
        judged = job.judge(reserved, counted, job.protect(reserved, counted, randomness), randomness)  # type: ignore[arg-type]
        folder = job.stage(reserved, counted, judged).staged.folder  # type: ignore[arg-type]
        staged.append({file.name: file.read_bytes() for file in folder.iterdir() if file.name != "manifest.json"})
    assert staged[0] == staged[1]


# forgeries


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return path_of(run(tables_workshop(tmp_path_factory.mktemp("verify") / "w")))


def test_a_page_names_the_columns_of_each_count(published: Path) -> None:
    """A cell without columns, such as `4, no`, says nothing to a board."""
    page = page_of(published).markdown()
    largest = page[page.index("largest counts") :]
    assert "| ward north |" in largest


@pytest.fixture
def copy(published: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(published, tmp_path / "copy"))


Rows = list[Claims]


def moved(rows: Rows, by: float = 1) -> Rows:
    """Increase the first cell and its whole interval."""
    names = [name for name in ("value", "unbiased", "lower", "upper") if name in rows[0]]
    return [{**rows[0], **{name: rows[0][name] + by for name in names}}, *rows[1:]]


WARDS, BOTH = "3-count-by-ward-exact", "4-count-by-age-10-years-ward-exact"
QUANTILES = "8-quantiles-of-age-at-10-years-by-ward-exact"
TABLES: dict[str, tuple[str, Callable[[Rows], Rows], str]] = {
    "a cell of a margin": (WARDS, moved, "give other totals"),
    "a cell of a larger table": (BOTH, moved, "other totals|interval"),
    "a half": (WARDS, lambda rows: moved(rows, 0.5), "not a multiple of its step"),
    "the total": ("1-count", moved, "give other totals"),
    "a row missing": (WARDS, lambda rows: rows[1:], "not all combinations"),
    "a row more": (WARDS, lambda rows: [*rows, rows[-1]], "more rows than the manifest"),
    "another label": (WARDS, lambda rows: [{**rows[0], "ward": "west"}, *rows[1:]], "not all combinations"),
    "order": (WARDS, lambda rows: rows[::-1], "not all combinations"),
    "a flag": (WARDS, lambda rows: [{**rows[0], "trustworthy": not rows[0]["trustworthy"]}, *rows[1:]], "a flag"),
    "an empty cell": (WARDS, lambda rows: [{**rows[0], "value": None, "trustworthy": False}, *rows[1:]], "empty"),
    "a smaller interval": (WARDS, lambda rows: [{**rows[0], "lower": rows[0]["value"]}, *rows[1:]], "interval"),
    "a value outside": (WARDS, lambda rows: [{**rows[0], "value": rows[0]["upper"] + 1}, *rows[1:]], "outside"),
    "a larger error": (
        WARDS, lambda rows: [{**rows[0], "standard_error": 1.001 * rows[0]["standard_error"]}, *rows[1:]],
        "not follow from the stated noise",
    ),
    "a smaller error of a value": (
        BOTH, lambda rows: [{**rows[0], "error": 0.9 * rows[0]["error"]}, *rows[1:]], "error of a count does not",
    ),
    "another code": (WARDS, lambda rows: [{**rows[0], "flag": "withheld"}, *rows[1:]], "column `flag`"),
    "another code of a bin": (QUANTILES, lambda rows: [{**rows[0], "flag": "no_rows"}, *rows[1:]], "column `flag`"),
    "a quantile without an error": (QUANTILES, lambda rows: [{**rows[0], "error": None}, *rows[1:]], "has no error"),
    "another number of all tables": (
        "all-tables", lambda rows: [{**rows[0], "value": rows[0]["value"] + 1}, *rows[1:]], "all-tables",
    ),
    "another estimate": (
        WARDS, lambda rows: [{**rows[0], "unbiased": rows[0]["unbiased"] + 1e-3}, *rows[1:]], "give other totals",
    ),
    "a number for an estimate": (WARDS, lambda rows: [{**rows[0], "unbiased": None}, *rows[1:]], "only some of value"),
    "a raw error": (f"{WARDS}-raw", lambda rows: [{**rows[0], "error": 0.5}, *rows[1:]], "from the "
        "stated noise"),
    "a foreign bin": (
        QUANTILES, lambda rows: [{**rows[0], "bin": "none"}, *rows[1:]], "does not list",
    ),
    "a far bin": (
        QUANTILES, lambda rows: [{**rows[0], "upper": "0 to 9", "bin": "90+"}, *rows[1:]],
        "outside its interval",
    ),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("name", TABLES)
def test_a_forged_table_is_found_even_when_the_manifest_is_resealed(copy: Path, name: str) -> None:
    stem, change, found = TABLES[name]
    rewrite_table(copy, stem, change)
    reseal(copy)
    with pytest.raises(VerificationFailed, match=f"step 6, contents: .*({found})"):
        verify(copy)


@pytest.mark.thorough
def test_a_resealed_copy_without_changes_verifies_and_a_changed_byte_is_found(copy: Path) -> None:
    before = {file.name: file.read_bytes() for file in copy.iterdir()}
    for stem in (BOTH, QUANTILES, f"{WARDS}-raw"):
        rewrite_table(copy, stem, lambda rows: rows)
    for name in LISTS:
        rewrite_lines(copy / name, lambda lines: lines)
    reseal_with_page(copy)
    assert {file.name: file.read_bytes() for file in copy.iterdir()} == before
    assert verify(copy)
    for name in [file.name for file in copy.iterdir()]:
        data = bytearray((copy / name).read_bytes())
        data[len(data) // 2] ^= 1
        kept = (copy / name).read_bytes()
        (copy / name).write_bytes(data)
        assert crowdgate("verify", copy) == 6, name
        (copy / name).write_bytes(kept)


@pytest.mark.parametrize("stem", [WARDS, f"{WARDS}-raw", QUANTILES])
def test_files_that_differ_are_found(copy: Path, stem: str) -> None:
    """The first format is read, and the other one does not hold equal tables."""
    rewrite_table(copy, stem, lambda rows: rows[1:], "csv")
    reseal(copy)
    with pytest.raises(
        VerificationFailed,
        match=rf"^step 6, contents: {stem}.csv: its bytes differ from those that Crowdgate would write for this "
        r"release[^\n]*$",
    ):
        verify(copy)


def _as_laplace(claims: Claims) -> None:
    """State the spent rho as epsilon: with equal numbers that is a stronger guarantee."""
    mechanism = claims["mechanism"]
    for each in (mechanism, *mechanism["queries"]):
        each["epsilon"] = each.pop("rho")
    mechanism["noise"] = "discrete laplace"


def _half_grid(claims: Claims) -> None:
    """Halve the stated contribution of a row to the sum."""
    query = claims["mechanism"]["queries"][5]
    query["grid"]["high"] //= 2
    query["sensitivity"] //= 2
    claims["data"]["tables"][5]["numbers"]["high"] = "30"


def _for_less(claims: Claims) -> None:
    """State half of the spent epsilon."""
    for each in (claims["guarantee"], *claims["guarantee"]["parts"]):
        each["epsilon"] = "1"
    reword(claims, None)


CLAIMS: dict[str, tuple[Change, str]] = {
    "no queries": (lambda claims: claims["mechanism"].update(queries=[]), "step 2, manifest: .*mechanism.queries: "),
    "a query less": (
        lambda claims: claims["mechanism"]["queries"].pop(0),
        "step 5, guarantee: the manifest's tables do not use each of its queries exactly once, in order",
    ),
    "a table of no query": (
        lambda claims: claims["data"]["tables"][0].update(queries=""),
        "step 2, manifest: .*data.tables.0.queries: ",
    ),
    "a table of a query that there is not": (
        lambda claims: claims["data"]["tables"][0].update(queries=[10**30]),
        "step 5, guarantee: the manifest's tables do not use each of its queries exactly once, in order",
    ),
    "a table of another query": (
        lambda claims: claims["data"]["tables"][0].update(queries=[1]),
        "step 5, guarantee: the manifest's tables do not use each of its queries exactly once, in order",
    ),
    "an error beyond numbers": (
        lambda claims: claims["mechanism"].update(relative_error="1e+400"),
        "step 2, manifest: .*mechanism.relative_error: ",
    ),
    "more rho": (
        lambda claims: claims["mechanism"].update(rho="0.5"),
        "step 5, guarantee: (the noise is too small for|the privacy cost of a query differs)",
    ),
    "a query's rho": (
        lambda claims: claims["mechanism"]["queries"][0].update(rho="0.5"),
        "step 5, guarantee: the queries together spend more than the mechanism",
    ),
    "no rho": (
        lambda claims: claims["mechanism"]["queries"][0].update(rho="0"),
        "step 5, guarantee: the queries together spend more than the mechanism, or one of them spends nothing",
    ),
    "rho and epsilon": (
        lambda claims: claims["mechanism"].update(epsilon="1"),
        "step 5, guarantee: a mechanism with discrete gaussian noise must state",
    ),
    "noise": (
        lambda claims: claims["mechanism"].update(noise="discrete laplace"),
        "step 5, guarantee: a mechanism with discrete laplace noise must state",
    ),
    "noise of the other kind": (
        _as_laplace,
        "step [56], .*(not follow from the (stated )?noise|the privacy cost of a query differs)",
    ),
    "no noise": (lambda claims: claims["mechanism"].update(noise="none"), "step 2, manifest: .*mechanism.noise: "),
    "beta": (
        lambda claims: claims["mechanism"].update(beta="0.5"),
        "step 6, contents: .*(multiple of its step|not follow from the stated noise)",
    ),
    "sensitivity": (
        lambda claims: claims["mechanism"]["queries"][0].update(sensitivity=0),
        "step 2, manifest: .*sensitivity: ",
    ),
    "a larger sensitivity": (
        lambda claims: claims["mechanism"]["queries"][0].update(sensitivity=2),
        "step 5, guarantee: 1-count: the sensitivity in the manifest is wrong",
    ),
    "another grid": (
        lambda claims: claims["mechanism"]["queries"][5]["grid"].update(high=1),
        "step 5, guarantee: .*the sensitivity in the manifest is wrong",
    ),
    "a smaller grid": (
        _half_grid,
        "step 6, contents: 6-sum-of-age-by-ward-exact.parquet: .*not follow from the stated noise",
    ),
    "numbers taken otherwise": (
        lambda claims: claims["data"]["tables"][5]["numbers"].update(high="70"),
        "step 5, guarantee: 6-sum-of-age-by-ward-exact: the manifest describes this table wrongly for a sum",
    ),
    "another mean": (
        lambda claims: claims["data"]["tables"][6]["numbers"].update(low="1"),
        "step 5, guarantee: 7-mean-of-age-by-ward-exact: the manifest describes this table wrongly for a mean",
    ),
    "no width": (
        lambda claims: claims["mechanism"].pop("width"),
        "step 5, guarantee: the stated width of intervals does not follow from the noise",
    ),
    "rows": (
        lambda claims: claims["mechanism"].update(rows_per_unit=2),
        "step 5, guarantee: rows of a privacy unit or the sampling rate",
    ),
    "levels": (
        lambda claims: claims["mechanism"]["queries"][1]["levels"].update(age="exact"),
        "step 5, guarantee: .*or with other queries",
    ),
    "relative error": (
        lambda claims: claims["mechanism"].update(relative_error="1e-05"),
        "step 6, contents: .*a flag `trustworthy` does not follow",
    ),
    "suppressed": (
        lambda claims: claims["mechanism"].update(suppress=True),
        "step 6, contents: .*which this release leaves empty",
    ),
    "invariants": (
        lambda claims: claims["mechanism"].update(invariants=["total"]),
        "step 2, manifest: .*mechanism.invariants: ",
    ),
    "no raw": (
        lambda claims: claims["mechanism"].update(raw=False),
        "step 6, contents: 1-count-raw.csv: a release of this kind has no such file",
    ),
    "a table less": (
        lambda claims: claims["data"]["tables"].pop(),
        "step 5, guarantee: the manifest's tables do not use each of its queries exactly once, in order",
    ),
    "a table of another kind": (
        lambda claims: claims["data"]["tables"][0].update(kind="sum"),
        "step 5, guarantee: 1-count: the manifest describes this table wrongly for a sum",
    ),
    "more cells": (
        lambda claims: claims["data"]["tables"][1].update(cells=99),
        "step 6, contents: 2-count-by-age-10-years: the number of cells in the manifest differs from that of "
        "the table's columns",
    ),
    "more values": (
        lambda claims: claims["data"]["columns"][0].update(values=99),
        "step 6, contents: dictionary.csv: its columns, levels or numbers",
    ),
    "another kind": (
        lambda claims: claims["mechanism"].update(kind="safe_k_anonymity"),
        "step 2, manifest: .*: Extra inputs",
    ),
    "an unknown kind": (
        lambda claims: claims["mechanism"].update(kind="magic"),
        "step 2, manifest: .*its mechanism is unknown",
    ),
    "parts": (
        lambda claims: claims["guarantee"]["parts"][0].update(name="rest"),
        "step 5, guarantee: the parts of the privacy guarantee are not those of the mechanism",
    ),
    "a smaller epsilon": (_for_less, "step 5, guarantee: the noise is too small for"),
    "words": (
        lambda claims: claims["guarantee"].update(words=["nothing can be learnt"]),
        "step 5, guarantee: the manifest's sentences on the guarantee differ from its numbers",
    ),
    "key": (
        lambda claims: claims.update(key="injected"),
        "step 2, manifest: the manifest says that the secret key was injected",
    ),
    "a trusted share": (
        lambda claims: claims["verdicts"][2].update(value="1", low="1", high="1"),
        "step 7, gates: trusted_share: the value in the manifest differs from the value measured again",
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", CLAIMS)
def test_claims_that_do_not_fit_together_are_found(copy: Path, name: str) -> None:
    change, found = CLAIMS[name]
    reseal(copy, change)
    with pytest.raises(VerificationFailed, match=found):
        verify(copy)


LISTS: dict[str, tuple[int, str]] = {
    "tables.csv": (6, "tables.csv: its bytes differ from those that Crowdgate would write for this release"),
    "dictionary.csv": (3, "levels.csv: its levels differ from those of dictionary.csv"),
    "levels.csv": (4, "its counts do not add up to those of 5-count-by-age-50-years|not follow from the stated noise"),
}
"""The column whose first cell is changed, and the expected problem."""


@pytest.mark.parametrize("name", LISTS)
def test_a_forged_list_is_found_even_when_the_manifest_is_resealed(copy: Path, name: str) -> None:
    at, found = LISTS[name]

    def forged(lines: list[list[str]]) -> list[list[str]]:
        other = "0.001" if name == "tables.csv" else lines[-1][at]
        return [lines[0], [*lines[1][:at], other, *lines[1][at + 1 :]], *lines[2:]]

    rewrite_lines(copy / name, forged)
    reseal(copy)
    with pytest.raises(VerificationFailed, match=f"step 6, contents: .*({found})"):
        verify(copy)


# policies that are refused before anything is read


def problems(workshop: Workshop) -> list[tuple[str, int | None, str, str, str | None]]:
    with pytest.raises(ConfigurationError) as caught:
        plan_policy(workshop.policy)
    return [(p.where, p.line, p.found, p.expected, p.instead) for p in caught.value.problems]


LINES = POLICY.splitlines()
WRONG: dict[str, tuple[str, str, str, str, str | None]] = {
    # text of the policy, its replacement; place, text found, correct word
    "level": ("levels: {age: 10 years,", "levels: {age: 10 yers,", "levels.age", "unknown level '10 yers'",
              "10 years"),
    "attribute": ("levels: {age: 10 years, ward", "levels: {age: 10 years, wad", "levels.wad",
                  "unknown attribute 'wad'", "ward"),
    "direct": ("levels: {age", "levels: {patient: exact, age", "levels.patient", "a direct identifier", None),
    "own level": ("{age: 50 years}", "{age: 51 years}", "tables.3.attributes.age", "unknown level '51 years'",
                  "50 years"),
    "own attribute": ("{age: 50 years}", "{aeg: 50 years}", "tables.3.attributes.aeg", "unknown attribute 'aeg'",
                      "age"),
    "not in levels": ("sum: age, by: [ward]", "sum: age, by: [wrd]", "tables.4.by.0", "'wrd' has no level", "ward"),
    "column": ("sum: age,", "sum: aeg,", "tables.4.sum", "unknown attribute 'aeg'", "age"),
    "not numeric": ("mean: age, by: {ward: exact}", "mean: ward", "tables.5.mean", "'ward' is not numeric", None),
    "itself": ("mean: age, by: {ward: exact}", "mean: age, by: {age: exact}", "tables.5.by", "'age' is the "
        "column of this table itself", None),
    "quantile level": ("level: 10 years, at", "level: 11 years, at", "tables.6.level", "unknown level '11 years'",
                       "10 years"),
    "probability": ("at: [0.75, 0.5]", "at: [0.75, 1]", "tables.6.at", "['3/4', '1']", None),
    "bounds reversed": ("low: 10, high: 60", "low: 60, high: 10", "tables.4.low", "bounds 60 to 10", None),
    "bounds off the grid": ("low: 10, high: 60", "low: 10.5, high: 60", "tables.4.low", "bounds 21/2 to 60", None),
    "share 0": ("share: 0.1}", "share: 0}", "tables.0.share", "share 0", None),
    "share over": ("share: 0.1}", "share: 0.8}", "tables", "add up to 11/10, more than the whole", None),
    "nothing left": ("share: 0.1}", "share: 0.7}", "tables.1", "no budget left", None),
    "twice": ("{attributes: {age: 50 years}}", "{attributes: [ward, age]}", "tables.3", "'count by ward (exact), age",
              None),
    "all twice": ("{all: 1}", "{all: 2}", "tables.2", "repeats entry 2 of `tables`", None),
    "too many ways": ("{all: 1}", "{all: 3}", "tables.1.all", "tables of 3 attributes, and `levels` has 2", None),
    "delta": ("delta: 0.01}", "delta: 0}", "noise", "delta must be a number in (0, 1)", None),
    "gate": ("trusted_share, at_least: 0.05", "released_rows, at_least: 1", "gates.2.measure",
             "released_rows does not measure a release by dp_tables", None),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_workload_is_refused_with_its_place(workshop: Workshop, name: str) -> None:
    old, new, where, found, instead = WRONG[name]
    workshop.edit(workshop.policy, old, new)
    text = workshop.policy.read_text().splitlines()
    (problem,) = problems(workshop)
    assert problem[0] == ("spec." if where.startswith("gates") else "spec.mechanism.") + where
    assert found in problem[2]
    assert problem[4] == instead
    assert problem[1] is not None
    assert new.split("\n")[0] in text[problem[1] - 1] or where in ("tables", "noise", "tables.1", "tables.2")


SLIPS = [
    ("{all: 1}", "{all: 1, total: true}", "tables.1", "exactly one of the keys attributes, all, total"),
    ("{all: 1}", "{share: 0.1}", "tables.1", "exactly one of the keys"),
    ("{all: 1}", "{all: 1, shar: 0.1}", "tables.1.shar", "one of share, all"),
    ("{all: 1}", "{all: one}", "tables.1.all", "a whole number of attributes from 0 to 16"),
    ("{all: 1}", "{attributes: [age, age]}", "tables.1.attributes", "a list of attributes, each once"),
    ("{all: 1}", "{total: false}", "tables.1.total", "true"),
    ("level: 10 years, at", "at", "tables.6.level", "a value for level"),
    ("sum: age,", "sum: age, lo: 3,", "tables.4.lo", "one of share, sum, by, low, high, clamps"),
    ("noise: gaussian", "noise: gausian", "noise", "'laplace' or 'gaussian'"),
    ("raw: true", "raw: perhaps", "raw", "true or false"),
    ("raw: true", "row: true", "row", "one of kind, noise, sampling, levels, tables"),
    ("relative_error: 0.4", "relative_error: 0", "relative_error", "a number above 0 and at most 1"),
    ("kind: dp_tables", "kind: dp_table", "kind", "'safe_k_anonymity' or 'dp_tables'"),
    ("kind: dp_tables", "mind: dp_tables", "kind", "a value for kind"),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("old", "new", "where", "expected"), SLIPS)
def test_a_slip_is_one_problem_with_its_line(workshop: Workshop, old: str, new: str, where: str, expected: str) -> None:
    workshop.edit(workshop.policy, old, new)
    (problem,) = problems(workshop)
    assert problem[0] == f"spec.mechanism.{where}"
    assert problem[3].startswith(expected)
    assert problem[1] is not None


def test_all_problems_stand_in_one_error_before_data_are_read(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    workshop.data.unlink()
    for name in ("own level", "column", "itself", "probability", "share 0", "too many ways", "gate"):
        workshop.edit(workshop.policy, *WRONG[name][:2])
    assert len(problems(workshop)) == 7
    assert crowdgate("release", workshop.policy) == 2
    said = capsys.readouterr().err
    assert said.count(str(workshop.policy)) == 7
    assert not open_ledger(workshop.ledger, None).entries()


def test_a_comparison_sets_both_mechanisms_beside_each_other_without_data(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    workshop.data.unlink()
    assert crowdgate("plan", workshop.policy, "--compare") == 2
    assert "'age' has no public margins" in capsys.readouterr().err
    workshop.edit(workshop.policy, "levels: {age: 10 years, ward", "levels: {ward")
    workshop.edit(workshop.policy, "      - {all: 2, share: 0.3}\n", "")
    assert crowdgate("plan", workshop.policy, "--compare", "--json") == 0
    compared = json.loads(capsys.readouterr().out)["compared"]
    (table,) = compared["tables"]
    assert table["levels"] == {"ward": "exact"}
    beta = float(Fraction(compared["safe_k_anonymity"]["beta"]))
    for cell, share in zip(table["cells"], (0.5, 0.3, 0.2, 0), strict=True):
        assert cell["expected_count"] == pytest.approx(1000 * share)
        assert cell["sampling"] == pytest.approx((1000 * share * (1 - beta) / beta) ** 0.5)
        assert 0 < cell["dp_tables"] < 10
        assert cell["safe_k_anonymity"] >= cell["suppression"] * (1 - 1e-9)
        kept = cell["suppression"] < 1e-6
        assert not kept or cell["safe_k_anonymity"] == pytest.approx(cell["sampling"], rel=1e-3)


@pytest.mark.thorough
def test_too_many_cells_are_refused_with_their_number(workshop: Workshop) -> None:
    workshop.edit(workshop.contract, "{from: 0, to: 99, top: true", "{from: 0, to: 599999, top: true")
    workshop.edit(workshop.policy, "{attributes: {age: 50 years}}", "{attributes: {age: exact}}")
    (problem,) = problems(workshop)
    assert problem[0] == "spec.mechanism.tables"
    assert problem[2].endswith("cells")
    assert int(problem[2].split()[0]) > 1_000_000


WIDE = "width: 1000000000000000000000, origin: 1}, {name: 50 years, width: 5000000000000000000000, origin: 1}"


def test_numbers_that_no_noise_is_drawn_for_are_refused(workshop: Workshop) -> None:
    wide = "{from: 1, to: 9900000000000000000001, step: 100000000000000000000, top: true"
    workshop.edit(workshop.contract, "{from: 0, to: 99, top: true", wide)
    workshop.edit(workshop.contract, "width: 10}, {name: 50 years, width: 50}", WIDE)
    workshop.edit(workshop.policy, ", low: 10, high: 60", "")
    found = problems(workshop)
    assert ("spec.mechanism.tables.4.sum", "numbers of too many steps") in [(p[0], p[2]) for p in found]


def test_an_attribute_named_like_a_number_of_the_tables_is_refused(workshop: Workshop) -> None:
    for path in (workshop.contract, workshop.policy):
        path.write_text(path.read_text().replace("ward", "value").replace("value.csv", "ward.csv"), encoding="utf-8")
    assert any("'value' is the name of a column that every table has" in p[2] for p in problems(workshop))


def test_a_plan_tells_cells_and_errors_without_data(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    workshop.data.unlink()
    found = outlook(workshop.policy)
    assert found.forecast.figure("cells") == 1 + 10 + 4 + 40 + 2 + 4 + 2 * 4 + 40
    rows: Any = found.forecast.rows("expected")
    assert all(row["half_width"] > row["standard_error"] > 0 and row["coverage"] >= 0.95 for row in rows)
    halves = [(row["consistent_standard_error"], row["consistent_half_width"]) for row in rows]
    assert [half is None for _, half in halves] == [error is None for error, _ in halves]
    assert all(1.95 * error < half < 2.5 * error for error, half in halves if error is not None)
    assert found.releases == 3
    assert crowdgate("plan", workshop.policy, "--json") == 0
    stated = json.loads(capsys.readouterr().out)
    assert [row["cells"] for row in stated["expected"]] == [row["cells"] for row in rows]
    assert crowdgate("plan", workshop.policy) == 0
    assert "count by age (10 years), ward (exact)" in capsys.readouterr().out
    assert crowdgate("check", workshop.policy) == 0


def by_person(workshop: Workshop, rows: int) -> None:
    unit = f"{{property: privacyUnit, value: {{person: patient, rows: {rows}}}}}"
    workshop.edit(workshop.contract, "{property: privacyUnit, value: row}", unit)
    workshop.edit(workshop.budget, "unit: row", "unit: 'person:patient'")


def test_several_rows_of_a_person_enlarge_the_noise_and_verify(workshop: Workshop) -> None:
    once: Any = outlook(workshop.policy).forecast.rows("expected")
    by_person(workshop, 3)
    thrice: Any = outlook(workshop.policy).forecast.rows("expected")
    for row, other in zip(once, thrice, strict=True):
        assert other["standard_error"] == pytest.approx(3 * row["standard_error"], rel=0.05)
    claims = verified(path_of(run(workshop)), workshop.ledger)
    assert (claims["mechanism"]["rows_per_unit"], claims["guarantee"]["unit"]) == (3, "person")


def test_several_rows_of_a_person_are_not_sampled_row_by_row(workshop: Workshop) -> None:
    by_person(workshop, 3)
    workshop.edit(workshop.policy, "noise: gaussian", "sampling: {beta: 0.5}")
    (problem,) = problems(workshop)
    assert problem[:1] + problem[2:3] == ("spec.mechanism.sampling", "sampling with 3 rows per person")
