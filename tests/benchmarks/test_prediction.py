"""Who is alone on Census-Income, foretold from a release of tables at epsilon 1."""

import pytest

from tests.benchmarks.prediction import OTHER, Released, released
from tests.conformance.lives import quick_rules

WIDE = [
    ("age", "hispanic_origin", "occupation", "tax_filer"),
    ("age", "citizenship", "occupation", "weeks_worked", "tax_filer"),
    tuple(OTHER),
]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Released:
    with pytest.MonkeyPatch.context() as patch:
        quick_rules(patch)
        return released(OTHER, tmp_path_factory.mktemp("pairs"))


@pytest.mark.parametrize("names", WIDE)
def test_joint_figures_are_within_a_third_where_independence_is_off_by_half(
    pairs: Released, names: tuple[str, ...]
) -> None:
    """Of sets with over 500 people alone. The noise is drawn afresh and can't be seeded; in the benchmark's release the
    factors of the joint figures were 1.11, 1.02 and 1.04, and those of independence 2.11, 1.90 and 1.94."""
    found = pairs.compared(names)
    joint, independent = found.factors
    assert found.true > 500
    assert joint <= 4 / 3 < 3 / 2 <= independent, found
    assert found.inside, found
