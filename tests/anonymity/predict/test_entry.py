"""Predictions from an entry of a KL repository only, compared with exact figures of possible distributions."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from crowdgate.anonymity.kl.entry import signed_entry
from crowdgate.anonymity.predict.entry import COLLISION, KL, LEAST_BINS, TrustedKeys, predict_entry
from crowdgate.errors import ConfigurationError, VerificationFailed
from crowdgate.report.report import Report
from crowdgate.risk import approximations
from crowdgate.risk.approximations.validity import GROUP_SHARE_ERROR, LOGARITHM_ERROR, SINGLETON_ERROR, VARIANCE_ERROR
from crowdgate.risk.bins import Bins
from crowdgate.risk.class_sizes import ClassSizes
from crowdgate.risk.drawn_groups import expected_singletons
from crowdgate.risk.groups import share_in_groups_of
from crowdgate.risk.kl import collision_excess, kl_to_uniform
from crowdgate.risk.prediction import predict_singletons
from crowdgate.signing import keys
from crowdgate.signing.keys import SigningKey, signing_key
from tests.examples import examples
from tests.forecast.test_plan_from import public
from tests.kl_repository.shelves import TODAY, entry, said
from tests.oracles.koot import outliers
from tests.reports import listings_of
from tests.workshop import Workshop, crowdgate

Row = dict[str, Any]


@pytest.fixture(scope="module")
def holder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("holder")
    keys.create(folder / "holder.key")
    return folder


def key_of(holder: Path) -> SigningKey:
    return signing_key((holder / "holder.key").read_bytes(), "holder.key")


def file_of(holder: Path, stated: Row) -> Path:
    path = holder / "entry.json"
    path.write_bytes(signed_entry(entry(stated), key_of(holder)))
    return path


def foretold(holder: Path, stated: Row, people: str | None) -> Report:
    trust = TrustedKeys([holder / "holder.key.pub"], TODAY)
    return predict_entry(file_of(holder, stated), trust, people)


def rows_of(found: Report, name: str = "alone") -> list[Row]:
    return [dict(row) for listing in listings_of(found) if listing.name == name for row in listing.rows]


def of_one(bins: int, kl: float, collision: float, rows: int = 10**6, wide: float = 0.0, **changes: Any) -> Row:
    """Return a public or charged entry on one attribute with `bins` values."""
    ends = [{"value": each, "low": each * (1 - wide), "high": each * (1 + wide)} for each in (kl, collision)]
    basis = said("charged" if wide else "public", bins=bins, kl=kl, collision=collision)
    attribute = {"name": "ward", "level": "exact", "values": bins}
    return {
        **basis,
        "vocabulary": {**basis["vocabulary"], "attributes": [attribute]},
        "people": {**basis["people"], "rows": rows},
        "kl": ends[0],
        "collision": ends[1],
        **changes,
    }


@settings(max_examples=examples(25), deadline=None, derandomize=True)
@given(
    parts=st.lists(st.integers(60, 100), min_size=LEAST_BINS, max_size=60),
    people=st.integers(1, 80),
)
def test_what_is_told_of_even_bins_is_near_the_exact_figure(holder: Path, parts: list[int], people: int) -> None:
    """Without outliers the predicted figures are off by at most the errors in the notes, which are those of
    `validity`."""
    bins = Bins.from_counts(parts)
    if outliers(bins) is not None:
        return
    found = foretold(holder, of_one(len(parts), kl_to_uniform(bins), collision_excess(bins)), str(people))
    exact = predict_singletons(bins, people)
    assert f"at most {SINGLETON_ERROR.kl} by KL" in " ".join(found.to_json()["notes"]) or people == 1
    for row in rows_of(found):
        alone = SINGLETON_ERROR.kl if row["by"] == KL else SINGLETON_ERROR.collisions
        told = (("share_alone", exact.singletons / people, alone), *_together(bins, people))
        for key, truth, off in told:
            assert row[key] is None or row[key] == pytest.approx(truth, abs=off + 1e-9)
        if row["spread"] is not None:
            assert row["spread"] ** 2 == pytest.approx(exact.spread**2, abs=VARIANCE_ERROR * people + 1e-9)
        if row["all_alone"]:
            assert np.log(row["all_alone"]) == pytest.approx(exact.all_unique.value, abs=LOGARITHM_ERROR + 1e-9)


def _together(bins: Bins, people: int) -> list[tuple[str, float, float]]:
    return [(f"of_{size}", share_in_groups_of(bins, people, size), GROUP_SHARE_ERROR) for size in (2, 3)]


@settings(
    max_examples=examples(40), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.filter_too_much]
)
@given(
    bins=st.integers(1, 10**6),
    share=st.floats(0, 1),
    above=st.floats(0, 3),
    wide=st.sampled_from([0.0, 0.2]),
    people=st.integers(1, 10**4),
)
def test_nothing_that_is_told_is_impossible(
    holder: Path, bins: int, share: float, above: float, wide: float, people: int
) -> None:
    kl = share * np.log(bins) / (1 + wide)
    least = np.expm1(kl) / 2
    collision = min((bins - 1) / 2, least * (1 + above)) / (1 + wide)
    kl = min(kl, np.log1p(2 * collision)) / (1 + wide)
    stated = of_one(bins, kl, collision, rows=bins * 10**4, wide=wide)
    try:
        entry(stated)
    except ValidationError:
        reject()  # no table has these figures
    for row in rows_of(foretold(holder, stated, str(people))):
        for key, most in (("singletons", people), ("all_alone", 1), ("of_2", 1), ("of_3", 1)):
            assert row[key] is None or 0 <= row[key] <= most
        if row["low"] is not None:
            assert 0 <= row["low"] <= row["high"] <= people
            assert row["singletons"] is None or row["low"] <= row["singletons"] <= row["high"]


def test_figures_are_the_formulas_within_the_bounds_of_the_entry(holder: Path) -> None:
    kl, collision = rows_of(foretold(holder, of_one(1000, 0.02, 0.03, wide=0.1), "40"))
    assert (kl["by"], collision["by"]) == (KL, COLLISION)
    for row, kappa in ((kl, 0.02), (collision, 0.03)):
        assert row["singletons"] == min(max(approximations.ES_kl(40, 1000, kappa), row["low"]), row["high"])
        assert row["spread"] ** 2 == pytest.approx(approximations.VarS_kl_corrected(40, 1000, kappa))
        assert row["all_alone"] == approximations.uniqueness_kl_corrected(40, 1000, kappa)
        assert row["all_alone"] == pytest.approx(np.exp(-(0.5 + kappa) * 40**2 / 1000), rel=0.05)
        assert row["share_alone"] == row["singletons"] / 40
        assert [row["of_2"], row["of_3"]] == [approximations.phi_j_kl(j, 40, 1000, kappa) for j in (2, 3)]


def test_what_is_outside_the_range_is_not_told_and_the_reason_is(holder: Path) -> None:
    found = foretold(holder, of_one(1000, 1.2, 1.4), "40")
    assert all(row["singletons"] is None for row in rows_of(found))
    low, high = (rows_of(found)[0][name] for name in ("low", "high"))
    assert 34 < low < high < 35.1
    assert "34.49 to 34.96 over all tables that fit are expected to be unique" in found.to_json()["plain"]
    why = {(row["by"], row["figure"]): row["why"] for row in rows_of(found, "refused")}
    assert "kappa must be at most 0.25, not 1.2" in why[KL, "alone"]
    assert "kappa must be at most 0.25, not 1.4" in why[COLLISION, "alone"]
    assert "A contract's margins have no such range" in " ".join(found.to_json()["notes"])
    assert "unknown" in found.markdown()
    few = foretold(holder, of_one(LEAST_BINS - 1, 0.01, 0.01), "5")
    assert "N must be at least 20, not 19" in rows_of(few, "refused")[0]["why"]


def test_the_range_is_that_of_all_tables_with_these_distances(holder: Path) -> None:
    """The expansions say 3.86 for 5 people of 315 in 20 bins; 4.09 is true."""
    table = ClassSizes.of(np.array([15] * 19 + [30]))
    bins = Bins.from_counts([15.0] * 19 + [30.0])
    found = foretold(holder, of_one(20, kl_to_uniform(bins), collision_excess(bins), rows=315), "5")
    truth = expected_singletons(table, 5)
    assert approximations.ES_kl(5, 20, kl_to_uniform(bins)) < truth - 0.1
    for row in rows_of(found):
        assert row["low"] <= truth <= row["high"] <= row["low"] + 0.02


def test_a_group_that_may_be_larger_than_the_table_has_no_range(holder: Path) -> None:
    """The data cover 90 % of the people."""
    found = foretold(holder, of_one(1000, 0.2, 0.15, rows=900), "950")
    assert {row["low"] for row in rows_of(found)} == {None}
    assert "the group may be larger than the table" in {row["why"] for row in rows_of(found, "refused")}


def test_the_upper_end_decides_whether_anything_is_told(holder: Path) -> None:
    assert rows_of(foretold(holder, of_one(1000, 0.24, 0.24), "40"))[0]["singletons"] is not None
    assert rows_of(foretold(holder, of_one(1000, 0.24, 0.24, wide=0.1), "40"))[0]["singletons"] is None


@pytest.mark.parametrize(("bins", "people"), [(1, 1), (1, 7), (95, 40), (95, 500), (1000, 1)])
def test_where_one_law_is_left_the_figures_are_exact(holder: Path, bins: int, people: int) -> None:
    (row,) = rows_of(foretold(holder, of_one(bins, 0, 0), str(people)))
    exact = predict_singletons(Bins.uniform(bins), people)
    assert row["by"] == "exactly"
    assert (row["singletons"], row["spread"]) == (exact.singletons, exact.spread)
    assert row["share_alone"] + row["of_2"] <= 1
    if bins == 1:
        assert row["singletons"] == (1 if people == 1 else 0)
    found = foretold(holder, of_one(bins, 0, 0), str(people))
    sentence = found.to_json()["plain"]
    assert "exactly" not in sentence
    assert sentence.startswith("Of 1 person who is asked" if people == 1 else f"Of {people} people who are asked")
    notes = " ".join(found.to_json()["notes"])
    assert "The figures are exact" in notes
    assert not any(words in notes for words in ("off by at most", "far more probable", "chance"))


def test_chance_outliers_and_restrictions_are_said(holder: Path) -> None:
    few = foretold(holder, of_one(1000, 0.5, 0.55, rows=2000), "40")
    assert "About 0.25 of KL and of the collision quantity is chance" in " ".join(few.to_json()["notes"])
    many = foretold(holder, of_one(1000, 0.5, 0.55, rows=10**6), "40")
    assert "chance" not in " ".join(many.to_json()["notes"])
    assert "Two distances do not rule out" in " ".join(many.to_json()["notes"])
    skew = foretold(holder, of_one(1000, 0.5, 0.9), "40")
    assert "far more or far less probable" in " ".join(skew.to_json()["notes"])
    only = [{"name": "sex", "level": "exact", "value": "female"}]
    some = of_one(1000, 0.1, 0.1, population={"words": "Patients", "id": "p", "restrictions": only})
    assert "Patients, sex female" in foretold(holder, some, "40").to_json()["notes"][0]


def test_groups_are_of_the_population_that_the_entry_covers_a_part_of(holder: Path) -> None:
    stated = of_one(1000, 0.2, 0.15, rows=900)
    assert rows_of(foretold(holder, stated, None))[0]["people"] == 1000
    with pytest.raises(ConfigurationError, match="from 1 to 1000"):
        foretold(holder, stated, "1001")


# what is refused


def test_an_entry_is_read_with_a_trusted_key_of_its_day_only(holder: Path, tmp_path: Path) -> None:
    path, public = file_of(holder, of_one(1000, 0.1, 0.1)), holder / "holder.key.pub"
    with pytest.raises(ConfigurationError, match="without a key"):
        predict_entry(path, TrustedKeys((), TODAY), "40")
    with pytest.raises(VerificationFailed, match="dated in the future"):
        predict_entry(path, TrustedKeys([public], date(2029, 12, 31)), "40")
    keys.create(tmp_path / "other.key")
    with pytest.raises(VerificationFailed, match=r"entry\.json: .*none of these keys is among"):
        predict_entry(path, TrustedKeys([tmp_path / "other.key.pub"], TODAY), "40")


def test_an_absurd_entry_is_refused_however_well_it_is_signed(holder: Path) -> None:
    path = holder / "absurd.json"
    good = entry(of_one(1000, 0.1, 0.1))
    ends = good.kl.model_copy(update={"value": 7.0, "high": 7.0})
    path.write_bytes(signed_entry(good.model_copy(update={"kl": ends}), key_of(holder)))
    with pytest.raises(VerificationFailed, match="ln of the number of bins"):
        predict_entry(path, TrustedKeys([holder / "holder.key.pub"], TODAY), "40")


def test_the_command_knows_an_entry_by_its_file(
    holder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("crowdgate.cli.predict.today", lambda: TODAY)
    path, key = file_of(holder, of_one(1000, 0.1, 0.1)), ("--key", holder / "holder.key.pub")
    page = tmp_path / "page.html"
    assert crowdgate("predict", path, *key, "--people", "40,9000", "--json", "--page", page) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["bins"] == 1000
    assert found["alone"][0]["singletons"] == found["alone"][0]["low"] > approximations.ES_kl(40, 1000, 0.1)
    assert found["refused"][-1]["people"] == 9000
    assert "<svg" in page.read_text(encoding="utf-8")
    assert crowdgate("predict", path, *key, "--people", "40") == 0
    assert "by KL" in capsys.readouterr().out
    assert crowdgate("predict", path) == 2
    assert crowdgate("predict", path, *key, "--of", "ward", "--at-most", "0.1") == 2
    assert (
        "this option is for contracts: an entry of a KL repository has its own; expected no --of"
        in capsys.readouterr().err
    )


def test_a_published_entry_foretells_what_its_table_holds(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """600 rows, six of each age from 0 to 99: 100 uniform bins, with figures computed by hand."""
    public(workshop)
    keys.create(workshop.root / "holder.key")
    toml = workshop.root / "crowdgate.toml"
    toml.write_text(toml.read_text(encoding="utf-8") + 'signing_key = "holder.key"\n', encoding="utf-8")
    monkeypatch.chdir(workshop.root)
    stated = ("--words", "Patients", "--coverage", "1", "--error", "0", "--as-of", "2026-01-01", "--public")
    assert crowdgate("kl", "publish", workshop.contract, "--of", "age", "--to", "kl", *stated) == 0
    (path,) = (each for each in (workshop.root / "kl").glob("*.json") if not each.name.startswith("index"))
    trusted = TrustedKeys([workshop.root / "holder.key.pub"], TODAY)
    rows = rows_of(predict_entry(path, trusted, "1,2,40,600"))
    assert [row["people"] for row in rows] == [1, 2, 40, 600]
    for row in rows:
        k = int(row["people"])
        assert row["singletons"] == pytest.approx(k * (1 - 1 / 100) ** (k - 1), rel=1e-12)
        unique = np.prod([1 - taken / 100 for taken in range(k)]) if k <= 100 else 0.0
        assert row["all_alone"] == pytest.approx(unique, rel=1e-9)
    for people in ("0", "601", "1e12", "2.5", "-1"):
        with pytest.raises(ConfigurationError, match="a whole number from 1 to 600"):
            predict_entry(path, trusted, people)
