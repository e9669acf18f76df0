"""`plan --from` and `predict --from` with counts coarser than the requested levels."""

import json
import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdgate.anonymity.predict.coarser import widths_listing
from crowdgate.anonymity.predict.laws import laws
from crowdgate.contracts.contract import Contract
from crowdgate.contracts.reading import read_contract
from crowdgate.errors import ConfigurationError
from crowdgate.hierarchy import Level
from crowdgate.kind.forecast import Basis
from crowdgate.kind.prior import CountsAtLevels, Prior
from crowdgate.planning.bundle import KNOWN
from crowdgate.public_counts.figures import PriorFigures, PriorSubject
from crowdgate.public_counts.unknown_shares import unknown_shares
from tests.anonymity.predict.forms import written
from tests.forecast.test_plan_from import figure, public, released
from tests.workshop import Workshop, crowdgate

COARSER = "'age' has no public margins, and its counts are at '50 years', coarser than '10 years'"
LEVELS = ("exact", "10 years", "50 years", "any")
MARGINS = tuple(1 + each % 7 for each in range(100))


@pytest.fixture
def finer(workshop: Workshop) -> Path:
    """Make a release of tables of age at 50 years, and the workshop's policy at 10 years."""
    folder = released(workshop)
    workshop.edit(workshop.policy, "age: 50 years", "age: 10 years")
    return folder


def test_a_plan_finer_than_its_counts_says_what_is_unknown_and_bounds_what_stays(
    workshop: Workshop, finer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Regression of an AssertionError. The 600 people are in 6 classes at 50 years, 100 in each."""
    capsys.readouterr()
    assert crowdgate("plan", workshop.policy, "--from", finer) == 0
    shown = capsys.readouterr().out
    assert f"Figures that need age at '10 years' are unknown: {COARSER}. Give 'age' at '50 years'" in shown
    assert re.search(r"stay, at most: what stays by ward, age \(50 years\) +(1|0\.9\d+) ", shown)
    assert crowdgate("plan", workshop.policy, "--from", finer, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["from"]["attributes_with_unknown_shares"] == {"age": "50 years"}
    assert said["prediction"] == []
    assert figure(said, "kept_share_at_most")["basis"] == Basis.RELATED
    assert not any(each["name"] == "kept_share" for each in said["figures"])


@pytest.mark.thorough
@pytest.mark.parametrize("wish", [["--compare"], ["--within", "0.1"]])
def test_a_wish_finer_than_the_counts_is_refused_and_told_its_level(
    workshop: Workshop, finer: Path, capsys: pytest.CaptureFixture[str], wish: list[str]
) -> None:
    assert crowdgate("plan", workshop.policy, "--from", finer, *wish) == 2
    expected = "expected 'age' at '50 years' or coarser, counts at '10 years' or finer, or margins in the contract"
    assert f"{wish[0]}: {COARSER}; {expected}" in capsys.readouterr().err


def test_columns_wanted_as_rows_are_proposed_at_the_level_of_the_counts(
    workshop: Workshop, finer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert crowdgate("plan", workshop.policy, "--from", finer, "--rows", "age,ward", "--json") == 0
    (answer,) = json.loads(capsys.readouterr().out)["wishes"]
    assert answer["proposals"][0]["mechanism"]["attributes"] == {"age": "50 years", "ward": "exact"}


def test_a_prediction_finer_than_its_counts_is_refused_and_told_its_level(
    workshop: Workshop, finer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Regression of an AssertionError."""
    assert crowdgate("predict", workshop.contract, "--of", "ward,age=10 years", "--from", finer) == 2
    assert f"{COARSER}; expected 'age' at '50 years' or coarser" in capsys.readouterr().err
    assert crowdgate("predict", workshop.contract, "--of", "ward,age=50 years", "--from", finer) == 0


def test_a_question_finer_than_its_counts_is_refused_at_its_line(
    workshop: Workshop, finer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [{"name": "age", "attribute": "age", "level": "10 years"}, {"name": "ward", "attribute": "ward"}]
    form = written(workshop.policy.parent, asked, contract="clinic")
    assert crowdgate("predict", form, "--from", finer) == 2
    assert f"spec.questions.0.level: {COARSER}" in capsys.readouterr().err


def test_levels_finer_than_the_counts_are_listed_as_unknown(
    workshop: Workshop, finer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Regression of an AssertionError: `--at-most` reads every level, also finer ones than requested."""
    capsys.readouterr()
    asked = ("--of", "ward,age=50 years", "--at-most", "0.1", "--from", finer, "--json")
    assert crowdgate("predict", workshop.contract, *asked) == 0
    rows = [each for each in json.loads(capsys.readouterr().out)["widths"] if each["attribute"] == "age"]
    assert {each["level"] for each in rows if each["share_alone"] is not None} == {"50 years", "any"}
    assert {each["meets"] for each in rows if each["share_alone"] is None} == {"unknown"}


def test_rehearsed_rows_say_that_values_in_a_coarser_one_are_drawn_evenly(
    workshop: Workshop, finer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    crowdgate("rehearse", workshop.policy, "--from", finer, "--people", "200")
    expected = (
        "age: drawn from the counts, together with ward, at '50 years': the values of a group with equal probability"
    )
    assert expected in capsys.readouterr().out


@pytest.mark.parametrize("rows", [0, 1])
def test_a_public_table_that_counts_nobody_is_refused(
    workshop: Workshop, capsys: pytest.CaptureFixture[str], rows: int
) -> None:
    """Regression of a ValueError: no rows, or no valid one."""
    public(workshop)
    cells = {"patient": ["p"], "age": ["old"], "ward": ["north"], "note": [""]}
    pq.write_table(pa.table(cells).slice(0, rows), workshop.data)
    for asked in (("plan", workshop.policy), ("predict", workshop.contract, "--of", "ward,age=50 years")):
        assert crowdgate(*asked, "--from", workshop.data) == 2
        assert "no row of this table has valid values" in capsys.readouterr().err


def test_a_public_table_without_the_attributes_is_refused(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    """Regression of a ValueError."""
    public(workshop)
    other = workshop.contract.read_text(encoding="utf-8").replace("id: clinic\n", "id: other\n")
    other = other.replace("name: age", "name: years").replace("name: ward", "name: place")
    (workshop.root / "data_contracts" / "other.yaml").write_text(
        other.replace("patients.parquet", "other.parquet"), encoding="utf-8"
    )
    table = workshop.root / "data_contracts" / "other.parquet"
    pq.write_table(pq.read_table(workshop.data).rename_columns(["patient", "years", "place", "note"]), table)
    assert crowdgate("plan", workshop.policy, "--from", table) == 2
    assert "contract other has no attribute of age, ward" in capsys.readouterr().err


def known(contract: Contract, released: tuple[str | None, str | None]) -> PriorFigures:
    """Return figures with counts of age at one level alone, and at another with ward (None: no such table)."""
    own, with_ward = ((None if each is None else level(contract, "age", each)) for each in released)
    axes: list[dict[str, Level]] = [{"ward": level(contract, "ward", "exact")}]
    axes += [] if own is None else [{"age": own}]
    axes += [] if with_ward is None else [{"age": with_ward, "ward": level(contract, "ward", "exact")}]
    shapes = [tuple(map(len, each.values())) for each in axes]
    tables = [
        CountsAtLevels(each, np.full(size, 600 / np.prod(size)), np.zeros(size))
        for each, size in zip(axes, shapes, strict=True)
    ]
    return PriorFigures(Prior(600, contract.by_name, tuple(tables)), contract.population, "counts")


def with_margins(contract: Contract, margins: tuple[int, ...] | None) -> Contract:
    """Return the contract with margins of age."""
    own = (replace(each, margins=margins) if each.name == "age" else each for each in contract.attributes)
    return replace(contract, attributes=tuple(own))


def level(contract: Contract, name: str, called: str) -> Level:
    hierarchy = contract.by_name[name].hierarchy
    assert hierarchy is not None
    return hierarchy.level(called)


@pytest.mark.thorough
@pytest.mark.parametrize("margins", [None, MARGINS])
def test_shares_are_known_by_margins_or_counts_as_fine_as_asked_at_all_levels(
    workshop: Workshop, margins: tuple[int, ...] | None
) -> None:
    """Each of five released levels alone and five with ward, at each of four requested ones: a distribution or a
    refusal.
    """
    read = read_contract(workshop.contract, KNOWN.servers)
    contract = with_margins(read, margins)
    for own, with_ward, asked in product((None, *LEVELS), (None, *LEVELS), LEVELS):
        figures = known(contract, (own, with_ward))
        axes = {"age": level(contract, "age", asked), "ward": level(contract, "ward", "exact")}
        subject = PriorSubject(contract, None, 600, axes)
        told = [LEVELS.index(each) for each in (own, with_ward) if each is not None]
        fine = margins is not None or asked == "any" or min(told, default=9) <= LEVELS.index(asked)
        assert fine == (not [*unknown_shares(figures.prior, axes)])
        if not fine:
            with pytest.raises(ConfigurationError, match="'age' has no public margins"):
                laws(subject, figures)
            continue
        found = laws(subject, figures)
        assert found.joint is not None
        assert found.joint.people.sum() == pytest.approx(600)
        assert found.shares["age"].sum() == pytest.approx(1)
        finest = 0 if margins else min([*told, 3])
        rows = [each for each in widths_listing(subject, figures, 20, 0.5).rows if each["attribute"] == "age"]
        shares = {str(each["level"]): each["share_alone"] for each in rows if each["level"] in LEVELS}
        assert all((shares[name] is not None) == (at >= finest) for at, name in enumerate(LEVELS))


def test_counts_at_one_value_relate_nothing(workshop: Workshop) -> None:
    """Regression: a table of age at `any` by ward was used as counts of both at coarser levels."""
    read = read_contract(workshop.contract, KNOWN.servers)
    contract = with_margins(read, MARGINS)
    axes = {"age": level(contract, "age", "10 years"), "ward": level(contract, "ward", "exact")}
    for with_ward, basis in (("any", Basis.PARTLY), ("50 years", Basis.COARSER), ("10 years", Basis.COUNTED)):
        found = known(contract, (None, with_ward)).prior.joint(axes)
        assert found is not None
        assert found.basis is basis
