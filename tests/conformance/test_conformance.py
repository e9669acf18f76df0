"""Every combination of kind of release, source, output format and ledger store keeps the guarantees of all of them."""

from pathlib import Path

import pytest

from crowdgate.formats import FORMATS
from crowdgate.verification.release import verify
from tests.conformance.copies import DELTA, EPSILON, SLOT, Case, axes, missing, shown
from tests.conformance.lives import Life, live, marked, say, spent
from tests.conformance.pairs import parameters
from tests.forgery.forgery import accepted, sampled
from tests.forgery.generated import forgeries
from tests.workshop import MARK

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module", params=parameters(axes(), shown))
def life(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Life:
    return live(Case(*request.param), tmp_path_factory.mktemp("conformance") / "w")


def test_whatever_is_registered_can_be_tested() -> None:
    assert missing() == []


def test_the_policy_that_a_kind_proposes_is_allowed_and_planned(life: Life) -> None:
    assert (life.check.code, life.plan.code) == (0, 0)
    (checked,) = life.check.json()["policies"]
    assert checked["allowed"] is True
    assert checked["guarantee"] == life.plan.json()["guarantee"]
    assert checked["mechanism"] == life.plan.json()["mechanism"]


def test_a_release_is_published_at_no_more_than_it_was_planned_to_cost(life: Life) -> None:
    assert life.release.code == 0
    said = life.release.json()
    assert (said["outcome"], said["path"]) == ("published", str(life.copy.release_dir(SLOT)))
    assert said["guarantee"] == life.plan.json()["guarantee"]
    epsilon, delta = spent(life.copy)
    assert 0 < epsilon <= EPSILON
    assert 0 <= delta <= DELTA


def test_tables_are_published_in_the_formats_that_the_policy_asks_for_and_in_no_other(life: Life) -> None:
    names = [Path(name) for name in life.copy.published()]
    stems = {name: {path.stem for path in names if path.suffix == f".{name}"} for name in FORMATS}
    tables = set.intersection(*(stems[name] for name in life.copy.case.formats))
    assert tables
    assert not any(tables & stems[name] for name in FORMATS if name not in life.copy.case.formats)


def test_a_release_verifies_from_its_files_and_against_its_ledger(life: Life) -> None:
    folder = life.copy.release_dir(SLOT)
    alone = say("verify", folder, "--json")
    against = say("verify", folder, "--ledger", life.copy.ledger, "--json")
    assert (alone.code, against.code) == (0, 0)
    assert alone.json()["release_id"] == against.json()["release_id"] == f"clinic/1/{SLOT}"


def test_sampled_forgeries_of_a_release_are_refused(life: Life, tmp_path: Path) -> None:
    """All forgeries are tested in tests/forgery."""
    folder = life.copy.release_dir(SLOT)
    assert list(accepted(folder, sampled(forgeries(folder), 20, 1), verify, tmp_path)) == []


def test_the_same_release_again_is_reported_and_nothing_is_charged(life: Life) -> None:
    before, files = spent(life.copy), life.copy.published()
    again = say("release", life.copy.policy, "--as-of", SLOT, "--json")
    assert (again.code, again.json()["outcome"]) == (0, "published")
    assert (spent(life.copy), life.copy.published()) == (before, files)


def test_what_is_said_and_published_holds_no_marked_value(life: Life) -> None:
    for said in (life.check, life.plan, life.release):
        assert MARK not in said.out + said.err + said.log
    assert marked(life.copy) == []
