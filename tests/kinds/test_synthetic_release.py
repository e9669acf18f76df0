"""A release of synthetic rows from its policy file to its outcome: published, verified, withheld, refused, forged."""

import csv
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from crowdgate.errors import ConfigurationError, VerificationFailed
from crowdgate.forecast.outlook import outlook
from crowdgate.kind.run import Request, Result
from crowdgate.ledger.key import draw_key
from crowdgate.ledger.ledger import open_ledger
from crowdgate.planning.plan import plan_policy
from crowdgate.releases import release as job
from crowdgate.verification.release import verify
from tests.forging import Change, Claims, Lines, reseal, reseal_with_page, rewrite_lines, rewrite_rows
from tests.kinds.synthetic import MECHANISM, RICH, synthetic_workshop
from tests.workshop import MARK, Workshop, crowdgate, good_rows, verified

SLOT = "2030-01-01"


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return synthetic_workshop(tmp_path / "w")


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a published release, for tests that read or copy it."""
    return path_of(run(synthetic_workshop(tmp_path_factory.mktemp("synthetic") / "w", RICH)))


def run(workshop: Workshop, slot: str = SLOT) -> Result:
    return job.release(Request(workshop.policy, slot), draw_key)


def path_of(result: Result) -> Path:
    assert result.path is not None
    return result.path


def person(workshop: Workshop) -> None:
    workshop.edit(workshop.contract, "privacyUnit, value: row", "privacyUnit, value: {person: patient, rows: 2}")
    workshop.edit(workshop.budget, "unit: row", "unit: 'person:patient'")


VARIANTS: dict[str, str] = {
    "as it is": "",
    "sampled": "    sampling: {beta: 0.5}\n",
    "of a triple, and impossible values at two levels": RICH,
    "of other shares": "    one_way_share: 0.5\n    certificate_share: 0.3\n",
}


@pytest.mark.thorough
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_is_published_and_verifies(workshop: Workshop, variant: str) -> None:
    workshop.edit(workshop.policy, MECHANISM, MECHANISM + VARIANTS[variant])
    claims = verified(path_of(run(workshop)), workshop.ledger)
    said = claims["mechanism"]
    assert said["kind"] == "dp_synthetic"
    spent = sum(Fraction(each["rho"]) + Fraction(each.get("selection", 0)) for each in said["measured"])
    assert spent + Fraction(said["certificate"]) == Fraction(said["rho"])
    assert run(workshop).path == workshop.release_dir(SLOT)


@pytest.mark.thorough
def test_persons_with_several_rows_are_protected_and_not_sampled(workshop: Workshop) -> None:
    person(workshop)
    alone = verified(path_of(run(workshop)), workshop.ledger)["mechanism"]
    assert alone["rows_per_unit"] == 2
    with path_of(run(workshop)).joinpath("measured.csv").open(newline="") as file:
        sigma = float(next(csv.DictReader(file))["sigma"])
    assert sigma**2 == pytest.approx(4 / (2 * float(Fraction(alone["measured"][0]["rho"]))), rel=1e-4)
    workshop.edit(workshop.policy, MECHANISM, MECHANISM + "    sampling: {beta: 0.5}\n")
    with pytest.raises(ConfigurationError, match="one row per person in the contract"):
        plan_policy(workshop.policy)


@pytest.mark.thorough
def test_a_release_holds_rows_measurements_and_a_certificate(released: Path) -> None:
    claims, names = json.loads((released / "manifest.json").read_text()), {file.name for file in released.iterdir()}
    assert {"README.md", "data.csv", "data.parquet", "measured.csv", "certificate.csv", "dictionary.csv", "levels.csv",
            "pairs.svg", "manifest.json"} == names  # fmt: skip
    table = pq.read_table(released / "data.parquet")
    assert table.column_names == ["age", "ward", "note"]
    assert table.num_rows == claims["data"]["rows"] == pytest.approx(600, abs=40)
    assert not any(row["ward"] == "north" and row["age"] in ("0 to 9", "10 to 19") for row in table.to_pylist())
    with (released / "certificate.csv").open(newline="") as file:
        assert [(row["column"], row["other_column"]) for row in csv.DictReader(file)] == [
            ("age", "ward"), ("age", "note"), ("ward", "note"),
        ]  # fmt: skip
    page = (released / "README.md").read_text()
    assert "These are synthetic rows." in page
    assert "understate uncertainty" in page
    assert "dp_tables" in page
    assert MARK not in "".join(file.read_text(errors="replace") for file in released.iterdir())


@pytest.mark.thorough
@pytest.mark.parametrize("rows", [0, 1])
def test_a_table_of_nobody_or_of_one_ends(workshop: Workshop, rows: int) -> None:
    workshop.edit(workshop.policy, "    - {measure: synthetic_pair_error, at_most: 0.9}\n", "")
    workshop.edit(workshop.policy, "    - {measure: synthetic_mean_error, at_most: 0.9}\n", "")
    workshop.edit(workshop.policy, "    - {measure: trusted_pairs, at_least: 0}\n", "")
    workshop.write(good_rows(rows))
    assert verify(path_of(run(workshop)))


def test_without_rows_no_certificate_is_bought_and_its_gates_withhold(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crowdgate.mechanisms.synthetic.fitting.total_of", lambda _: -1)
    result = run(workshop)
    assert result.outcome == "withheld"
    unmeasured = [v.measure for v in result.verdicts if v.outcome == "inconclusive"]
    assert unmeasured == ["synthetic_pair_error", "synthetic_mean_error", "trusted_pairs"]


def test_gates_withhold_when_their_limits_are_tightened(workshop: Workshop) -> None:
    for measure, limit, tight in (
        ("synthetic_pair_error", "at_most: 0.9", "at_most: 0.001"),
        ("synthetic_mean_error", "at_most: 0.9", "at_most: 0.001"),
        ("trusted_pairs", "at_least: 0", "at_least: 1.1"),
    ):
        workshop.edit(workshop.policy, f"{measure}, {limit}", f"{measure}, {tight}")
    result = run(workshop)
    assert result.outcome == "withheld"
    assert [(found.measure, found.outcome) for found in result.verdicts] == [
        ("guarantee_epsilon", "pass"), ("synthetic_pair_error", "fail"), ("synthetic_mean_error", "fail"),
        ("trusted_pairs", "fail"),
    ]  # fmt: skip
    assert open_ledger(workshop.ledger, None).spent("clinic-patients").epsilon == 2


REFUSED: dict[str, tuple[str, str, str]] = {
    "an unknown attribute": ("ward: exact", "wrad: exact", "unknown attribute 'wrad'.*'ward'"),
    "an unknown level": ("10 years", "11 years", "unknown level '11 years'"),
    "a level of one value": ("10 years", "any", "this level has a single value"),
    "one attribute": ("{age: 10 years, ward: exact, note: exact}", "{age: 10 years}", "attributes"),
    "a direct identifier": ("ward: exact", "patient: exact", "direct identifier"),
    "shares of everything": (MECHANISM, f"{MECHANISM}    one_way_share: 0.95\n", "the rest measures pairs"),
    "no certificate": (MECHANISM, f"{MECHANISM}    certificate_share: 0\n", "certificate_share"),
    "a small model": (MECHANISM, f"{MECHANISM}    model_cells: 8\n", "at least"),
    "a large model": (MECHANISM, f"{MECHANISM}    model_cells: 1048577\n", "a whole number from 1 to 1048576"),
    "an unknown triple": (
        MECHANISM, f"{MECHANISM}    triples: [[age, ward, nose]]\n", "'nose' is not released.*'note'",
    ),
    "a triple of two": (MECHANISM, f"{MECHANISM}    triples: [[age, ward, ward]]\n", "each triple once"),
    "a triple twice": (
        MECHANISM, f"{MECHANISM}    triples: [[age, ward, note], [note, age, ward]]\n", "each triple once",
    ),
    "an impossible value of no domain": (
        MECHANISM, f"{MECHANISM}    impossible: "
            f"[{{age: [0 to 9], ward: [nroth]}}]\n", "'nroth' is not a value.*'north'",
    ),
    "values of two levels": (
        MECHANISM,
        f"{MECHANISM}    impossible: [{{age: [0 to 9, 50+], ward: [north]}}]\n",
        "'50\\+' is not a value at the level",
    ),
    "a value that nothing goes with": (
        MECHANISM,
        f"{MECHANISM}    impossible: [{{age: [0 to 9], ward: [north, south, east, (invalid)]}}]\n",
        "a value of 'age' could not occur at all",
    ),
    "values that contradict each other": (
        MECHANISM,
        MECHANISM
        + "    impossible: [{age: [0 to 9], ward: [north, south]}, {age: [0 to 9], ward: [east, (invalid)]}]\n",
        "a value of 'age' could not occur at all",
    ),
    "everything": (
        MECHANISM,
        f"{MECHANISM}    impossible: [{{note: [short, long, (invalid)], ward: [north, south, east, (invalid)]}}]\n",
        "every combination of values is called impossible",
    ),
    "an epsilon of nothing": ("{epsilon: 2, delta: 0.01}", "{epsilon: 1e-9, delta: 1e-9}", "larger epsilon"),
    "an epsilon of little": ("{epsilon: 2, delta: 0.01}", "{epsilon: 0.01, delta: 1e-9}", "of at most 1000 rows"),
    "a share of nothing for other tables": (
        MECHANISM,
        f"{MECHANISM}    one_way_share: 0.{'9' * 19}8\n    certificate_share: 1e-20\n",
        "the noise in each number of other tables would be",
    ),
    "a share of nothing for distances": (
        MECHANISM, f"{MECHANISM}    certificate_share: 1e-30\n", "noise in each number of distances .* is at "
            "most 100000000",
    ),
    "no delta": ("{epsilon: 2, delta: 0.01}", "{epsilon: 2, delta: 0}", "delta"),
    "a gate on rows": ("trusted_pairs", "smallest_class", "does not measure a release by dp_synthetic"),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("fault", REFUSED)
def test_bad_input_is_refused_before_anything_is_charged(workshop: Workshop, fault: str) -> None:
    old, new, told = REFUSED[fault]
    workshop.edit(workshop.policy, old, new)
    with pytest.raises(ConfigurationError, match=told):
        plan_policy(workshop.policy)
    assert crowdgate("check", workshop.policy) == 2


def test_an_attribute_of_too_many_values_names_the_level_above_it(workshop: Workshop) -> None:
    workshop.edit(workshop.contract, "from: 0, to: 99, top: true", "from: 0, to: 4999")
    workshop.edit(workshop.policy, "age: 10 years", "age: exact")
    with pytest.raises(ConfigurationError, match=r"5000 values at level 'exact'.*write '10 years'"):
        plan_policy(workshop.policy)


def _columns(workshop: Workshop, number: int, values: int) -> None:
    """Add `number` further attributes with `values` values each."""
    column = """\
      - name: c{at}
        logicalType: integer
        customProperties:
          - {{property: privacyRole, value: other}}
          - {{property: domain, value: {{from: 1, to: {values}, source: made up}}}}
"""
    text = workshop.contract.read_text() + "".join(column.format(at=at, values=values) for at in range(number))
    workshop.contract.write_text(text)
    workshop.edit(
        workshop.policy, "note: exact}", "note: exact, " + ", ".join(f"c{at}: exact" for at in range(number)) + "}"
    )


def test_too_many_attributes_and_pairs_of_too_many_cells_are_refused(tmp_path: Path) -> None:
    many, large = synthetic_workshop(tmp_path / "many"), synthetic_workshop(tmp_path / "large")
    _columns(many, 38, 2)
    _columns(large, 3, 4000)
    with pytest.raises(ConfigurationError, match="41 attributes"):
        plan_policy(many.policy)
    with pytest.raises(ConfigurationError, match=r"cells in all.*coarser levels first of c0 \(4000 values\)"):
        plan_policy(large.policy)


def _later(claims: Claims) -> list[Claims]:
    return [each for each in claims["mechanism"]["measured"] if each["round"]]


def _move(claims: Claims) -> None:
    """Move rho from one table to another: their sum is unchanged."""
    one, other = claims["mechanism"]["measured"][0], _later(claims)[0]
    one["rho"], other["rho"] = other["rho"], one["rho"]


def _unpaid(claims: Claims) -> None:
    """State less rho for the certificate than its share."""
    claims["mechanism"]["certificate"] = str(Fraction(claims["mechanism"]["certificate"]) / 2)


def _free(claims: Claims) -> None:
    """Remove the privacy cost of a choice."""
    del _later(claims)[0]["selection"]


def _richer(claims: Claims) -> None:
    """Double each part of rho, beyond epsilon and delta."""
    said = claims["mechanism"]
    for each in (said, *said["measured"]):
        each["rho"] = str(2 * Fraction(each["rho"]))
    for each in _later(claims):
        each["selection"] = str(2 * Fraction(each["selection"]))
    said["certificate"] = str(2 * Fraction(said["certificate"]))


def _together(claims: Claims) -> tuple[dict[str, Any], dict[str, Any]]:
    """State two tables of equal cost as tables of one round: for three columns one is measured in each."""
    one, other = _later(claims)[:2]
    for each in _later(claims)[1:]:
        each["round"] -= 1
    return one, other


def _uneven(claims: Claims) -> None:
    """Move rho from one table of a round to another."""
    one, other = _together(claims)
    half = Fraction(one["rho"]) / 2
    one["rho"], other["rho"] = str(half), str(Fraction(other["rho"]) + half)


def _cheap(claims: Claims) -> None:
    """Move nearly all of a choice's rho to the measurement."""
    _, last = _together(claims)
    all_of_it = Fraction(last["rho"]) + Fraction(last["selection"])
    last["selection"], last["rho"] = "1e-30", str(all_of_it - Fraction(1, 10**30))


SEALED: dict[str, tuple[Change, str]] = {
    "a dearer table in a round": (_uneven, "the tables of a round do not cost the same"),
    "a choice for nearly nothing": (_cheap, "the tables of a round do not cost the same"),
    "more rounds than there can be": (lambda c: _later(c)[-1].update(round=501), "less than or equal to 500"),
    "a triple of other columns": (
        lambda c: c["mechanism"]["triples"].append(["x", "y", "z"]),
        "has a column that is not released",
    ),
    "a smaller model": (
        lambda c: c["mechanism"].update(model_cells=11),
        "a larger model than the policy allows",
    ),
    "rho moved": (_move, "do not spend exactly their share"),
    "a certificate that is not paid": (
        _unpaid,
        "the certificate does not spend exactly its share of the privacy budget",
    ),
    "a choice for nothing": (_free, "the privacy cost of choosing is missing"),
    "twice the rho": (_richer, "the noise is too small for the stated epsilon and delta"),
    "another share": (lambda c: c["mechanism"].update(one_way_share="0.34"), "do not spend exactly their share"),
    "a round left out": (lambda c: c["mechanism"]["measured"].pop(), "do not spend exactly what the other parts leave"),
    "another number of rows": (
        lambda c: c["data"].update(rows=c["data"]["rows"] + 1),
        "the number of rows in the manifest does not follow",
    ),
    "a nearer table": (lambda c: c["data"]["distances"].__setitem__(0, 0), "differs from the data files"),
    "another rate": (lambda c: c["mechanism"].update(beta="0.5"), "noise is too small|bytes differ from those"),
}


@pytest.mark.parametrize("forgery", SEALED)
def test_a_manifest_that_says_otherwise_is_refused(released: Path, tmp_path: Path, forgery: str) -> None:
    change, told = SEALED[forgery]
    copy = _copy(released, tmp_path)
    reseal(copy, change)
    with pytest.raises(VerificationFailed, match=told):
        verify(copy)


def _copy(folder: Path, into: Path) -> Path:
    import shutil

    return Path(shutil.copytree(folder, into / "copy"))


def _cell(name: str, by: int) -> Callable[[Path], None]:
    """Return a forgery of a number in the first line of a listing."""

    def change(lines: Lines) -> Lines:
        at = lines[0].index(name)
        lines[1][at] = str(int(lines[1][at]) + by)
        return lines

    file = "measured.csv" if name == "count" else "certificate.csv"
    return lambda folder: rewrite_lines(folder / file, change)


def _impossible_row(rows: Lines) -> Lines:
    return sorted([["0 to 9", "north", rows[0][2]], *rows[1:]], key=lambda row: (row[0], row[1] != "north", row[1]))


FORGED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a noisy count": (_cell("count", 3), "number of rows|differs from the data files"),
    "a distance": (_cell("distance", -40), "its bytes differ from those"),
    "a row less": (lambda folder: rewrite_rows(folder, lambda rows: rows[1:]), "rows|unreadable"),
    "an impossible row": (lambda folder: rewrite_rows(folder, _impossible_row), "impossible|canonical|classes"),
    "a picture": (lambda folder: (folder / "pairs.svg").write_text("<svg/>"), "pairs.svg"),
    "a page": (lambda folder: (folder / "README.md").write_text("trust it"), "README"),
}


@pytest.mark.parametrize("forgery", FORGED)
def test_files_that_say_otherwise_are_refused(released: Path, tmp_path: Path, forgery: str) -> None:
    change, told = FORGED[forgery]
    copy = _copy(released, tmp_path)
    change(copy)
    reseal(copy)
    with pytest.raises(VerificationFailed, match=told):
        verify(copy)


def test_a_copy_that_is_sealed_again_verifies(released: Path, tmp_path: Path) -> None:
    copy = _copy(released, tmp_path)
    reseal_with_page(copy)
    assert verify(copy)


def test_the_plan_says_what_is_expected_of_tables_of_one_attribute(workshop: Workshop) -> None:
    forecast = outlook(workshop.policy).forecast
    error = forecast.figure("one_way_error")
    assert isinstance(error, float)
    # .4 times cells times sigma over people, for each attribute
    rows = forecast.rows("expected")
    by_hand = [0.3989 * int(str(row["values"])) * float(str(row["sigma"])) / 1000 for row in rows]
    assert error == pytest.approx(sum(by_hand) / len(by_hand), rel=1e-3)
    assert forecast.figure("enough") == "yes"
    workshop.edit(workshop.policy, "{epsilon: 2, delta: 0.01}", "{epsilon: 0.1, delta: 0.001}")
    assert str(outlook(workshop.policy).forecast.figure("enough")).startswith("no: of 1000 people")


def test_the_private_record_says_how_far_pairs_are_from_the_truth(workshop: Workshop) -> None:
    path = path_of(run(workshop))
    (record,) = [json.loads(file.read_text()) for file in (workshop.root / "ledger").rglob("*.json")]
    assert record["rows"] == {"counted": 600}
    with (path / "certificate.csv").open(newline="") as file:
        certified = [(float(row["lower"]), float(row["upper"])) for row in csv.DictReader(file)]
    for said, (lower, upper) in zip(record["utility"]["pairs"], certified, strict=True):
        # in counts against the number of released rows, not in shares; limits of 95 % with room for one in a thousand
        assert lower - 0.05 <= said["total variation"] <= upper + 0.05
