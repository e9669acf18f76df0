from collections.abc import Callable

import pytest

from crowdgate.accounting.numbers import Number
from crowdgate.risk.inference import precision_improvement
from crowdgate.risk.membership import precision
from tests.accounting.vectors import Entry, of


@of("precision", "risk.json")
def test_membership_precision_has_its_reference_values(entry: Entry) -> None:
    i = entry["inputs"]
    assert precision(i["TPR"], i["FPR"], i["N"] / i["M"]) == pytest.approx(entry["expected"], rel=1e-12)


@of("PI", "risk.json")
def test_precision_improvement_has_its_reference_values(entry: Entry) -> None:
    i = entry["inputs"]
    assert precision_improvement(i["P_atk"], i["P_base"]) == pytest.approx(entry["expected"], abs=1e-12)


def test_a_worse_attack_than_guessing_has_negative_improvement() -> None:
    assert precision_improvement(0.25, 0.5) == -0.5


@pytest.mark.parametrize(
    ("call", "arguments", "name"),
    [
        (precision_improvement, (0.5, 1), "base"),
        (precision_improvement, (1.5, 0), "attack"),
        (precision, (0, 0, 1), "tpr"),
        (precision, (0.5, 0.5, 0), "skew"),
        (precision, (2, 0.5, 1), "tpr"),
    ],
)
def test_an_argument_out_of_range_is_refused_by_name(
    call: Callable[..., object], arguments: tuple[Number, ...], name: str
) -> None:
    with pytest.raises(ValueError, match=f"^{name}.* must"):
        call(*arguments)
