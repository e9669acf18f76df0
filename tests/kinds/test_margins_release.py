"""Releases of rows with margins: sums agree, and forgeries are found."""

import json
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from crowdgate.api import read_release
from crowdgate.errors import ConfigurationError, VerificationFailed
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.releases import release as job
from crowdgate.verification.release import verify
from tests.forging import Claims, reseal, reseal_with_page, rewrite_lines, rewrite_rows, rewrite_table, stated
from tests.kinds.margins import ATTRIBUTES, MARGINS, margins_workshop
from tests.workshop import Workshop, crowdgate, good_rows, verified

SLOT = "2030-01-01"
SAMPLE = "{name: spring, method: bernoulli, beta: 0.5, secret: true, size: unpublished}"


@pytest.fixture
def bought(tmp_path: Path) -> Workshop:
    return margins_workshop(tmp_path / "w")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = job.release(Request(margins_workshop(tmp_path_factory.mktemp("m") / "w").policy, SLOT), draw_key).path
    assert path is not None
    return path


@pytest.fixture
def copy(published: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(published, tmp_path / "copy"))


def released(workshop: Workshop, slot: str = SLOT) -> tuple[Path, Claims]:
    assert crowdgate("release", workshop.policy, "--as-of", slot) == 0
    return workshop.release_dir(slot), verified(workshop.release_dir(slot), workshop.ledger)


def test_margins_are_a_part_of_the_guarantee_and_of_what_k_is_left(bought: Workshop) -> None:
    folder, claims = released(bought)
    parts = {part["name"]: (part["epsilon"], part["delta"]) for part in claims["guarantee"]["parts"]}
    assert parts == {"mechanism": ("1", "0.01"), "margins": ("0.5", "0"), "gate singletons": ("0.5", "0")}
    assert claims["guarantee"]["epsilon"] == "2"
    assert sum(Fraction(query["epsilon"]) for query in claims["mechanism"]["margins"]["queries"]) == Fraction(1, 2)
    assert (folder / "counts.csv").exists() is False


USES = {
    "represented_share": ("at_least: 0.5", "at_least: 1.1"), "worst_share_error": ("at_most: 0.9", "at_most: 0.0001"),
    "margins_met": ("at_least: 0.1", "at_least: 1.1"), "absent_values": ("at_most: 4", "at_most: -1"),
    "effective_rows": ("at_least: 10", "at_least: 999"),
}  # fmt: skip
"""Limits that a release of the clinic meets and does not meet, by measure of weighted rows."""
LAST = "    - {measure: released_rows, at_least: 0}\n"


def add_gate(workshop: Workshop, measure: str, limit: str) -> None:
    workshop.edit(workshop.policy, LAST, f"{LAST}    - {{measure: {measure}, {limit}}}\n")


@pytest.mark.thorough
def test_gates_on_weighted_rows_are_measured_again_by_verify(bought: Workshop) -> None:
    for measure, (met, _) in USES.items():
        add_gate(bought, measure, met)
    folder, claims = released(bought)
    verdicts = {gate["measure"]: gate for gate in claims["verdicts"]}
    assert {verdicts[measure]["outcome"] for measure in USES} == {"pass"}
    for measure in USES:
        forged = Path(shutil.copytree(folder, folder.parent / measure))
        edit = {"value": "0.77", "low": "0.77", "high": "0.77"}
        reseal(forged, lambda said, name=measure, edit=edit: next(  # type: ignore[misc]
            gate for gate in said["verdicts"] if gate["measure"] == name).update(edit))  # fmt: skip
        with pytest.raises(VerificationFailed, match=f"{measure}: the value in the manifest differs"):
            verify(forged)


@pytest.mark.thorough
@pytest.mark.parametrize("measure", USES)
def test_a_gate_on_weighted_rows_withholds(measure: str, bought: Workshop) -> None:
    add_gate(bought, measure, USES[measure][1])
    assert crowdgate("release", bought.policy, "--as-of", SLOT) == 3


def test_a_gate_on_weighted_rows_needs_margins(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    add_gate(workshop, "margins_met", "at_least: 0.1")
    assert crowdgate("check", workshop.policy) == 2
    assert "the policy has no margins" in " ".join(capsys.readouterr().err.split())


def test_a_ward_whose_people_have_no_row_is_named_first_and_withheld_by_a_gate(
    bought: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    """60 people of one ward, 30 of each age, are too few for classes of 40; the other classes have 150 people. That one
    of those misses 40 has probability 1e-8."""
    rows = good_rows(900)
    north = [row for row in rows if row["ward"] == "north"][:60]
    bought.write([*north, *(row for row in rows if row["ward"] != "north")])
    bought.edit(bought.policy, ATTRIBUTES, f"k: 40\n    {ATTRIBUTES}")
    folder, claims = released(bought)
    assert claims["data"]["margins"]["use"]["unfit"] == ["ward"]
    assert "Do not use these rows for: ward." in (folder / "README.md").read_text()
    assert "Do not use these rows for: ward." in capsys.readouterr().out
    add_gate(bought, "absent_values", "at_most: 0")
    bought.edit(bought.policy, "version: 1", "version: 2")
    assert crowdgate("release", bought.policy, "--as-of", SLOT) == 3
    assert "absent_values at most 0" in capsys.readouterr().out


def test_readme_page_and_result_say_first_what_the_rows_are_good_for(
    bought: Workshop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, claims = released(bought)
    use = claims["data"]["margins"]["use"]
    share = use["represented"]
    assert Fraction(share["low"]) <= Fraction(share["share"]) <= Fraction(share["high"])
    said = f"These rows represent about {float(100 * Fraction(share['share'])):g} % of the full table"
    agreed = f"Their weights agree with {use['met']} of {use['cells']} noisy counts"
    first = " ".join((folder / "README.md").read_text().split("\n\n")[1].split())
    page = tmp_path / "page.md"
    capsys.readouterr()
    assert crowdgate("report", "release", folder, "--page", page) == 0
    for text in (first, page.read_text()):
        assert said in text
        assert agreed in text


def test_a_statement_on_use_that_the_rows_do_not_give_is_refused(published: Path, copy: Path) -> None:
    for edit in ({"represented": {"share": "0.5", "low": "0.4", "high": "0.6"}}, {"met": 1}, {"unfit": ["age"]}):
        forged = Path(shutil.copytree(published, copy.parent / "-".join(edit)))
        reseal(forged, lambda said, edit=edit: said["data"]["margins"]["use"].update(edit))  # type: ignore[misc]
        with pytest.raises(VerificationFailed, match="description of the data differs"):
            verify(forged)


def test_all_rows_of_a_class_have_one_weight_and_the_tables_say_what_weights_add_up_to(published: Path) -> None:
    rows, margins = pd.read_parquet(published / "data.parquet"), pd.read_parquet(published / "margins.parquet")
    assert (rows.groupby(["age", "ward"], observed=True)["weight"].nunique() == 1).all()
    units = (rows["weight"] * 10_000).round().astype(int)
    assert (rows["weight"] > 0).all()
    for line in margins.to_dict("records"):
        chosen = np.ones(len(rows), dtype=bool)
        for at in (1, 2):
            if pd.notna(line[f"column_{at}"]):
                chosen &= (rows[line[f"column_{at}"]] == line[f"label_{at}"]).to_numpy()
        assert line["rows"] == chosen.sum()
        assert line["weighted"] == units[chosen].sum() / 10_000
        assert line["lower"] <= line["estimate"] <= line["upper"]
        near = min(max(line["weighted"], line["lower"]), line["upper"])
        residual = line["residual"]
        assert np.isnan(residual) if line["rows"] == 0 else residual == line["weighted"] - near


def test_estimates_are_the_margins_of_one_column_with_intervals_that_are_not_shortened(published: Path) -> None:
    margins = pd.read_parquet(published / "margins.parquet")
    own = margins[margins["column_1"].notna() & margins["column_2"].isna()]
    every = pd.read_csv(published / "estimates.csv")
    lines = every[every["column_2"].isna()]
    assert list(zip(lines["column"], lines["label"], strict=True)) == list(
        zip(own["column_1"], own["label_1"], strict=True)
    )
    assert (lines["estimate"].to_numpy() == own["estimate"].to_numpy()).all()
    assert (lines["lower"].to_numpy() <= own["lower"].to_numpy()).all()
    assert (lines["upper"].to_numpy() >= own["upper"].to_numpy()).all()
    assert np.abs(lines["upper"].to_numpy() - own["upper"].to_numpy()).max() <= 0.0100001


def test_each_share_of_one_and_two_columns_has_an_interval_and_the_advice_that_follows_from_it(published: Path) -> None:
    lines = pd.read_csv(published / "estimates.csv")
    assert len(lines) == sum(pd.read_parquet(published / "margins.parquet")["column_1"].notna())
    wide = lines["share_upper"] - lines["share_lower"] > lines["share"] / 2
    outside = (lines["share"] < lines["share_lower"]) | (lines["share"] > lines["share_upper"])
    assert (lines["use"] == np.where(wide | outside, "tables", "rows")).all()
    assert {*lines["use"]} == {"rows", "tables"}
    said = stated(published)["data"]["margins"]["shares"]
    assert (said["level"], said["unit"]) == ("0.95", "1e-05")
    assert Fraction(said["width"]) > Fraction(stated(published)["mechanism"]["margins"]["width"])
    page = (published / "README.md").read_text()
    assert "All these intervals hold\n  together in 95 of 100 releases." in page


@pytest.mark.thorough
def test_shares_ratios_and_means_have_intervals_in_python(published: Path) -> None:
    found = read_release(published)
    lines = pd.read_csv(published / "estimates.csv")
    for line in lines[lines["column_2"].isna()].to_dict("records"):
        answer = found.share({line["column"]: line["label"]})
        assert line["share_lower"] <= answer.lower <= answer.upper <= line["share_upper"] + 1e-8
        assert answer.use == line["use"]
    young = found.share({"age": "0 to 49"}, among={"ward": "north"})
    mean = found.mean("age", {"ward": "north"}, {"50+": (50, 100)})
    assert young.lower <= 0.5 <= young.upper, "half of the clinic's people are below 50"
    assert mean.lower < 50 < mean.upper
    assert "use the tables" in str(mean)
    both = found.ratio({"ward": "north"}, {"ward": ["south", "east"]})
    assert both.value is not None
    assert both.lower < 0.5 < both.upper, "each ward has a third of the people"
    whole = found.ratio({"age": ["0 to 49", "50+"]}, {"age": ["0 to 49", "50+"]})
    assert str(whole).startswith("1 (")
    assert found.share({"age": "0 to 49"}, among={"ward": "(invalid)"}).value is None


def test_a_question_on_what_is_not_there_is_refused(published: Path) -> None:
    found = read_release(published)
    for where, words in (({"wrd": "north"}, "write 'ward'"), ({"ward": "nroth"}, "write 'north'")):
        with pytest.raises(ConfigurationError, match=words):
            found.share(where)
    with pytest.raises(ConfigurationError, match="'north' is no number"):
        found.mean("ward")
    with pytest.raises(ConfigurationError, match="which numbers between"):
        found.mean("age", {}, {"50+": (60, 100)})  # the labels may stand for 50 to 59 as well


def test_limits_of_a_share_that_margins_do_not_give_are_refused(published: Path, copy: Path) -> None:
    def narrower(lines: list[list[str]]) -> list[list[str]]:
        at = lines[0].index("share_lower")
        return [lines[0], [*lines[1][:at], f"{float(lines[1][at]) + 0.00003:.5f}", *lines[1][at + 1 :]], *lines[2:]]

    rewrite_lines(copy / "estimates.csv", narrower)
    reseal(copy)
    with pytest.raises(VerificationFailed, match="limits of a share differ"):
        verify(copy)
    for edit in ({"width": "1.5"}, {"level": "0.99"}, {"unit": "0.001"}):
        forged = Path(shutil.copytree(published, copy.parent / "-".join(edit)))
        reseal(forged, lambda said, edit=edit: said["data"]["margins"]["shares"].update(edit))  # type: ignore[misc]
        with pytest.raises(VerificationFailed, match="description of the data differs"):
            verify(forged)


def test_without_margins_no_estimate_is_printed_and_the_page_says_what_to_buy(workshop: Workshop) -> None:
    folder, _ = released(workshop)
    assert {path.name for path in folder.iterdir()} >= {"counts.csv"}
    assert not (folder / "estimates.csv").exists()
    page = (folder / "README.md").read_text()
    assert "margins: {epsilon: ..., tables: [{all: 2}]}" in page
    assert "The full table has at least as many rows in a cell" in page
    for word in ("`weight`", "95 %", "standard error", "persons, estimated"):
        assert word not in page
    rows = pd.read_parquet(folder / "data.parquet")
    for line in pd.read_csv(folder / "counts.csv").to_dict("records"):
        assert line["at_least"] == (rows[line["column"]] == line["label"]).sum()


def test_margins_at_coarser_levels_are_told_with_what_belongs_to_what(bought: Workshop) -> None:
    bought.edit(bought.policy, "age: 50 years", "age: 10 years")
    bought.edit(bought.policy, MARGINS, "margins: {epsilon: 0.5, levels: {age: 50 years}}")
    folder, claims = released(bought)
    assert [level["level"] for level in claims["data"]["margins"]["levels"]] == ["50 years"]
    lines = pd.read_csv(folder / "levels.csv")
    assert set(lines["level"]) == {"10 years"}
    assert set(lines["coarser_level"]) == {"50 years"}
    assert "`levels.csv`" in (folder / "README.md").read_text()


def test_levels_that_are_chosen_are_chosen_first_and_margins_are_at_them(bought: Workshop) -> None:
    chosen = (
        "choose: {epsilon: 0.25}\n    attributes: {age: {choose: [10 years, 50 years]}, ward: {choose: [exact, any]}}"
    )
    bought.edit(bought.policy, ATTRIBUTES, chosen)
    bought.edit(bought.policy, "over: [ward]", "over: [ward], with: {people: 1000}")
    _, claims = released(bought)
    at = claims["mechanism"]["attributes"]
    named = {tuple(query["levels"].items()) for query in claims["mechanism"]["margins"]["queries"]}
    assert () in named
    assert {(("age", at["age"]),)} <= named
    assert [part["name"] for part in claims["guarantee"]["parts"]] == [
        "mechanism", "choice of levels", "margins", "gate singletons",
    ]  # fmt: skip


def test_gaussian_margins_take_a_part_of_delta(bought: Workshop) -> None:
    bought.edit(bought.policy, MARGINS, "margins: {epsilon: 0.5}")
    _, claims = released(bought)
    parts = {part["name"]: part["delta"] for part in claims["guarantee"]["parts"]}
    assert parts == {"mechanism": "0.009", "margins": "0.001", "gate singletons": "0"}


def test_margins_of_persons_with_several_rows_count_their_rows(bought: Workshop) -> None:
    bought.edit(bought.contract, "value: row}", "value: {person: patient, rows: 2}}")
    bought.edit(bought.budget, "unit: row", 'unit: "person:patient"')
    bought.write([{**row, "patient": f"p{i // 3}"} for i, row in enumerate(good_rows(900))])
    folder, claims = released(bought)
    assert {query["sensitivity"] for query in claims["mechanism"]["margins"]["queries"]} == {2}
    total = pd.read_parquet(folder / "margins.parquet").iloc[0]
    assert (
        total["lower"] <= 600 + 40
    )  # 300 people with two of their three rows each; the noise has a spread of about 20
    assert total["upper"] >= 600 - 40
    assert "A person counts with at most 2 rows" in (folder / "README.md").read_text()


@pytest.mark.parametrize("rows", [0, 3])
def test_tables_of_nobody_and_of_few_are_released_too(bought: Workshop, rows: int) -> None:
    bought.write(good_rows(rows))
    folder, claims = released(bought)
    assert claims["data"]["margins"]["represented"] == 0
    assert pd.read_parquet(folder / "data.parquet").empty
    assert (pd.read_parquet(folder / "margins.parquet")["rows"] == 0).all()


def test_whole_numbers_at_exact_are_numbers_in_parquet_as_in_csv(workshop: Workshop) -> None:
    workshop.edit(workshop.policy, ATTRIBUTES, "attributes: {age: exact}")
    workshop.edit(workshop.policy, "    - {measure: expected_singletons, at_most: 4, over: [ward]}\n", "")
    workshop.edit(workshop.contract, "top: true, ", "")
    workshop.write([{"patient": "p", "age": 40 + i % 2, "ward": "north", "note": "n"} for i in range(600)])
    folder, _ = released(workshop)
    assert str(pq.read_schema(folder / "data.parquet").field("age").type) == "int64"
    frames = pd.read_parquet(folder / "data.parquet"), pd.read_csv(folder / "data.csv")
    assert frames[0]["age"].tolist() == frames[1]["age"].tolist()
    assert set(frames[0]["age"]) == {40, 41}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "attributes", ["{age: any, ward: exact}", "{age: 50 years, ward: any}", "{age: any, ward: any}"]
)
def test_a_column_at_any_is_no_column_unless_all_are(bought: Workshop, attributes: str) -> None:
    bought.edit(bought.policy, ATTRIBUTES, f"attributes: {attributes}")
    folder, claims = released(bought)
    told = [name for name, level in claims["mechanism"]["attributes"].items() if level != "any"] or ["age", "ward"]
    assert list(pd.read_parquet(folder / "data.parquet").columns) == [*told, "weight"]
    assert set(pd.read_csv(folder / "dictionary.csv")["column"]) == set(told)
    if told != ["age", "ward"]:
        assert "= *" not in (folder / "README.md").read_text()


REFUSED: dict[str, tuple[str, tuple[str, ...]]] = {
    "all of epsilon": ("margins: {epsilon: 1.5}", ("the margins and the charged gates take 2 of epsilon, which "
        "leaves nothing",)),
    "a delta of no noise": ("margins: {epsilon: 0.5, noise: laplace, delta: 0.001}", ("with gaussian noise only",)),
    "all of delta": ("margins: {epsilon: 0.5, noise: gaussian, delta: 0.01}", ("margins.delta", "such as a tenth")),
    "an unknown level": ("margins: {epsilon: 0.5, levels: {ward: exat}}", ("margins.levels.ward", "write 'exact'")),
    "a finer level": ("margins: {epsilon: 0.5, levels: {age: 10 years}}", ("margins.levels.age", "write '50 years'")),
    "no column": ("margins: {epsilon: 0.5, tables: [{attributes: [agee]}]}", ("attributes.0", "write 'age'")),
    "two wishes": ("margins: {epsilon: 0.5, tables: [{all: 1, attributes: [age]}]}", ("either {all:",)),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_margins_that_can_not_be_bought_are_refused_with_their_place(
    bought: Workshop, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    instead, said = REFUSED[name]
    bought.edit(bought.policy, MARGINS, instead)
    assert crowdgate("check", bought.policy) == 2
    error = capsys.readouterr().err
    assert "clinic.yaml:" in error
    for words in said:
        assert words in error


def test_an_inherited_sample_has_no_margins(bought: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    attested = f"      - {{property: sample, value: {SAMPLE}}}\n      - {{property: rowsAtMost"
    bought.edit(bought.contract, "      - {property: rowsAtMost", attested)
    bought.edit(bought.policy, "sampling: {beta: 0.5}", "sampling: {inherited: spring}")
    bought.edit(bought.policy, "    - {measure: singletons, at_most: 500, charge: {epsilon: 0.5}}\n", "")
    assert crowdgate("check", bought.policy) == 2
    assert "would read the inherited sample a second time" in capsys.readouterr().err


Forge = Callable[[Path], object]


def says(change: Callable[[Claims], object]) -> Forge:
    return lambda folder: reseal(folder, change)


def margins(change: Callable[[dict[str, Any]], dict[str, Any]], at: int = 1) -> Forge:
    """Return a forgery of one line of the margins in all formats."""

    def forge(folder: Path) -> None:
        rewrite_table(folder, "margins", lambda lines: [*lines[:at], change(lines[at]), *lines[at + 1 :]])
        reseal(folder)

    return forge


def weights(factor: float, only: str = "") -> Forge:
    """Return a forgery of the weights of rows with a label, on the grid."""

    def forge(folder: Path) -> None:
        rewrite_rows(
            folder,
            lambda rows: [
                [*row[:-1], str(round(float(row[-1]) * factor, 4))] if only in ("", row[1]) else row for row in rows
            ],
        )
        reseal(folder)

    return forge


def one_row_heavier(folder: Path) -> None:
    rewrite_rows(folder, lambda rows: [[*rows[0][:-1], str(float(rows[0][-1]) + 0.001)], *rows[1:]])
    reseal(folder)


def without_the_part(claims: Claims) -> None:
    claims["guarantee"]["parts"] = [part for part in claims["guarantee"]["parts"] if part["name"] != "margins"]
    claims["guarantee"]["epsilon"] = "1.5"


def cheaper(claims: Claims) -> None:
    for part in claims["guarantee"]["parts"]:
        if part["name"] == "margins":
            part["epsilon"] = "0.4"
    claims["guarantee"]["epsilon"] = "1.9"


def less_noise(claims: Claims) -> None:
    claims["mechanism"]["margins"]["epsilon"] = "0.6"


FORGED: dict[str, Forge] = {
    "a weight of one row": one_row_heavier,
    "all weights": weights(1.01),
    "weights of one ward": weights(1.2, "north"),
    "weights out of all bounds": weights(1e6),
    "a count": margins(lambda line: {**line, "estimate": line["estimate"] + 1}),
    "a count is below 0": margins(lambda line: {**line, "estimate": -1.0}),
    "half a count": margins(lambda line: {**line, "estimate": line["estimate"] + 0.5}),
    "a smaller error": margins(lambda line: {**line, "standard_error": line["standard_error"] * 0.99}),
    "a shorter interval": margins(lambda line: {**line, "lower": line["lower"] + 0.5}),
    "another linear estimate": margins(lambda line: {**line, "unbiased": line["unbiased"] + 3}),
    "what weights add up to": margins(lambda line: {**line, "weighted": line["weighted"] + 1}),
    "no interval": margins(lambda line: {**line, "lower": None}),
    "a residual hidden": margins(lambda line: {**line, "residual": None}),
    "margins that nobody paid": says(without_the_part),
    "margins for less": says(cheaper),
    "less noise than stated": says(less_noise),
    "other bounds of weights": says(lambda claims: claims["mechanism"]["margins"].update(high="40")),
    "another unit of weights": says(lambda claims: claims["mechanism"]["margins"].update(unit="0.001")),
    "a query more sensitive": says(lambda claims: claims["mechanism"]["margins"]["queries"][0].update(sensitivity=2)),
    "more met than there is": says(lambda claims: claims["data"]["margins"].update(met=1000)),
    "no margins in the data": says(lambda claims: claims["data"].pop("margins")),
    "no margins in the mechanism": says(lambda claims: claims["mechanism"].pop("margins")),
    "of format 1": says(lambda claims: (claims.update(format=1), claims.pop("estimand"))),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", FORGED)
def test_a_forged_margin_or_weight_is_found(copy: Path, name: str) -> None:
    verify(copy)
    FORGED[name](copy)
    assert stated(copy)
    with pytest.raises(VerificationFailed):
        verify(copy)


def test_a_file_of_margins_that_is_missing_is_found(copy: Path) -> None:
    (copy / "margins.csv").unlink()
    claims = json.loads((copy / "manifest.json").read_text())
    del claims["files"]["margins.csv"]
    (copy / "manifest.json").write_text(json.dumps(claims))
    with pytest.raises(VerificationFailed):
        verify(copy)


def test_a_release_written_and_sealed_again_without_changes_still_holds(copy: Path) -> None:
    rewrite_rows(copy, lambda rows: rows)
    rewrite_table(copy, "margins", lambda lines: lines)
    reseal_with_page(copy)
    verify(copy)
