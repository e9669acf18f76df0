"""Tables whose noise is on residuals: from the policy file to a verified release; forgeries found."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from crowdgate.errors import ConfigurationError, VerificationFailed
from crowdgate.forecast.outlook import outlook
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.planning.plan import plan_policy
from crowdgate.releases import release as job
from crowdgate.verification.release import verify
from tests.forging import Change, Claims, reseal, rewrite_table
from tests.workshop import Workshop, make_workshop, verified

SLOT = "2030-01-01"
MECHANISM = """\
  mechanism:
    kind: dp_tables
    levels: {age: 10 years, ward: exact}
    tables: [{total: true}, {all: 1}, {all: 2}]
    split: residuals
  gates:
    - {measure: guarantee_epsilon, at_most: 2}
"""


def on_residuals(root: Path, privacy: str = "epsilon: 2, delta: 1e-6") -> Workshop:
    workshop = make_workshop(root)
    text = workshop.policy.read_text(encoding="utf-8")
    text = text[: text.index("  mechanism:")] + MECHANISM + text[text.index("  publish:") :]
    workshop.policy.write_text(text.replace("epsilon: 2, delta: 0.01", privacy), encoding="utf-8")
    return workshop


def released(workshop: Workshop) -> Path:
    path = job.release(Request(workshop.policy, SLOT), draw_key).path
    assert path is not None
    return path


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tables: [{total: true}", "tables: [{total: true, share: 0.1}"),
        ("split: residuals", "split: automatic"),
        ("levels: {age: 10 years, ward: exact}", "levels: {ward: exact, age: 10 years}"),
        ("split: residuals", "split: residuals\n    suppress: true"),
        pytest.param("split: residuals", "split: residuals\n    sampling: {beta: 0.5}", marks=pytest.mark.thorough),
        pytest.param("delta: 1e-6", "delta: 1e-6, accounting: joint", marks=pytest.mark.thorough),
    ],
)
def test_a_release_verifies_and_states_each_residual(tmp_path: Path, old: str, new: str) -> None:
    workshop = on_residuals(tmp_path / "w")
    workshop.edit(workshop.policy, old, new)
    claims = verified(released(workshop), workshop.ledger)["mechanism"]
    assert claims["split"] == "residuals"
    assert [list(each["levels"]) for each in claims["residuals"]] == [[], ["age"], ["ward"], ["age", "ward"]]
    assert [each["cells"] for each in claims["residuals"]] == [1, 10, 4, 40]
    assert sum(Fraction(each["rho"]) for each in claims["residuals"]) == Fraction(claims["rho"])
    assert not any("rho" in each for each in claims["queries"])


def test_forecasts_know_the_errors_of_tables_on_residuals(tmp_path: Path) -> None:
    workshop = on_residuals(tmp_path / "w")
    rows: Any = outlook(workshop.policy).forecast.rows("expected")
    assert all(0 < row["standard_error"] < row["half_width"] for row in rows)
    joint = plan_policy(on_residuals(tmp_path / "j", "epsilon: 2, delta: 1e-6, accounting: joint").policy)
    assert joint.guarantee.joint is not None


def test_three_rows_of_a_person_enlarge_the_noise_and_verify(tmp_path: Path) -> None:
    workshop = on_residuals(tmp_path / "w")
    once = plan_policy(workshop.policy).protection.mechanism.mechanism
    unit = "{property: privacyUnit, value: {person: patient, rows: 3}}"
    workshop.edit(workshop.contract, "{property: privacyUnit, value: row}", unit)
    workshop.edit(workshop.budget, "unit: row", "unit: 'person:patient'")
    thrice = plan_policy(workshop.policy).protection.mechanism.mechanism
    for one, other in zip(once.laws, thrice.laws, strict=True):
        assert other.variance == pytest.approx(9 * one.variance)
    claims = verified(released(workshop), workshop.ledger)["mechanism"]
    assert claims["residuals"][0]["sensitivity"] == 3 * 1024


@pytest.mark.parametrize(("line", "found"), [("raw: true", "raw: false"), ("noise: laplace", "noise: gaussian")])
def test_other_tables_are_refused_with_their_line(tmp_path: Path, line: str, found: str) -> None:
    workshop = on_residuals(tmp_path / "w")
    workshop.edit(workshop.policy, "split: residuals", f"split: residuals\n    {line}")
    with pytest.raises(ConfigurationError, match=found):
        plan_policy(workshop.policy)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return released(on_residuals(tmp_path_factory.mktemp("residuals") / "w"))


def residual(at: int, **changes: object) -> Change:
    return lambda claims: claims["mechanism"]["residuals"][at].update(changes)


def without_last(claims: Claims) -> None:
    claims["mechanism"]["residuals"].pop()


def half(claims: Claims) -> None:
    """State half of each rho."""
    for each in (claims["mechanism"], *claims["mechanism"]["residuals"]):
        each["rho"] = str(Fraction(each["rho"]) / 2)


FORGERIES: dict[str, tuple[Change, str]] = {
    "a smaller sensitivity": (residual(1, sensitivity=1000), "the cells, the factor or the sensitivity"),
    "another factor": (residual(2, factor=1), "the cells, the factor or the sensitivity"),
    "fewer cells": (residual(3, cells=39), "the cells, the factor or the sensitivity"),
    "a rho": (residual(1, rho="0.0001"), "together spend another rho"),
    "no rho": (residual(1, rho="0"), "must state its rho"),
    "other axes": (residual(1, levels={"age": "50 years"}), "not those of its tables"),
    "a residual less": (without_last, "another rho than the mechanism"),
    "another split": (lambda claims: claims["mechanism"].update(split="least-error"), "exactly if it divides"),
    "less noise than stated": (half, "width of intervals|standard error does not follow"),
    "less for more": (
        lambda claims: [claims["mechanism"].update(rho="9"), claims["mechanism"]["residuals"][0].update(rho="9")],
        "together spend another rho",
    ),
    "a query's own rho": (
        lambda claims: claims["mechanism"]["queries"][0].update(rho="0.001"), "a query spends nothing of its own"
    ),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_residual_is_found(published: Path, tmp_path: Path, name: str) -> None:
    import shutil

    change, found = FORGERIES[name]
    copy = Path(shutil.copytree(published, tmp_path / "copy"))
    reseal(copy, change)
    with pytest.raises(VerificationFailed, match=found):
        verify(copy)


def test_a_forged_cell_is_found(published: Path, tmp_path: Path) -> None:
    import shutil

    copy = Path(shutil.copytree(published, tmp_path / "copy"))
    rewrite_table(
        copy, "2-count-by-age-10-years", lambda rows: [{**rows[0], "error": 0.9 * rows[0]["error"]}, *rows[1:]]
    )
    reseal(copy)
    with pytest.raises(VerificationFailed, match="error of a count does not"):
        verify(copy)
