"""All reference values of the thesis's formulas, and errors for arguments for which they are not defined."""

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from crowdgate.risk import approximations
from crowdgate.risk.bins import Bins
from crowdgate.risk.singletons import expected, probability_all_unique, probability_none, variance
from tests.accounting.vectors import FOLDER, Entry

ENTRIES: list[Entry] = json.loads((FOLDER / "koot.json").read_text())
SIMULATED = "ES,VarS,P(S=0),P(unique)"


def given(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return arguments, with probabilities like 1/16 as fractions."""
    return {name: [Fraction(p) for p in value] if name == "p" else value for name, value in inputs.items()}


def near(entry: Entry) -> Any:
    """Return the expected value with its tolerances, relative and absolute."""
    tolerance = {name: size for name, size in entry["tolerance"].items() if size}
    return pytest.approx(entry["expected"], **{"rel": 0.0, "abs": 0.0, **tolerance})


@pytest.mark.parametrize(
    "entry", [each for each in ENTRIES if each["function"] != SIMULATED], ids=lambda each: str(each["id"])
)
def test_a_formula_has_its_reference_value(entry: Entry) -> None:
    found = getattr(approximations, entry["function"])(**given(entry["inputs"]))
    assert (found if isinstance(found, Sequence) else float(found)) == near(entry)


def test_exact_values_lie_within_four_standard_errors_of_a_simulation() -> None:
    (entry,) = (each for each in ENTRIES if each["function"] == SIMULATED)
    bins, k = Bins.grouped(entry["inputs"]["alpha"], entry["inputs"]["F"]), entry["inputs"]["k"]
    means, apart = entry["expected"], entry["tolerance"]
    assert expected(bins, k) == pytest.approx(means["ES"], abs=apart["ES"])
    assert variance(bins, k) == pytest.approx(means["VarS"], abs=apart["VarS"])
    assert probability_none(bins, k) == pytest.approx(means["PS0"], abs=apart["prob"])
    assert probability_all_unique(bins, k) == pytest.approx(means["Puniq"], abs=apart["prob"])
