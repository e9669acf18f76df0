"""Who is alone on Census-Income, foretold from a release of tables at epsilon 1."""

import pytest

from tests.benchmarks.prediction import OTHER, released
from tests.conformance.lives import quick_rules

FOUR = {name: OTHER[name] for name in ("age", "hispanic_origin", "occupation", "tax_filer")}


@pytest.mark.statistical
def test_joint_figures_are_within_a_quarter_where_independence_is_off_by_2(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1,092 people are alone by four attributes, of which all pairs are released. OpenDP's noise can't be seeded: in
    four releases the factor of the joint figures was 1.087 to 1.108 (standard deviation .010, so that 1.25 is fourteen
    of them away); that of independence is 2.11 always, and fails the same limit."""
    quick_rules(monkeypatch)
    found = released(FOUR, tmp_path_factory.mktemp("pairs")).compared(tuple(FOUR))
    joint, independent = found.factors
    assert found.true == 1092
    assert joint <= 1.25 < 2 <= independent, found
    assert found.inside, found
