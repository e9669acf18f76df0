"""Releases by shares state a joint curve that a second computation confirms; it finds planted faults."""

import json
from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from tests.verify.keep import BY_SHARES, KEPT
from tests.verify.second_joint import problems

Change = Callable[[Any], object]


@cache
def said(name: str) -> Any:
    return json.loads((KEPT / "3" / name / "manifest.json").read_bytes())


@pytest.mark.thorough
@pytest.mark.parametrize("name", BY_SHARES)
def test_a_second_computation_confirms_the_joint_curve(name: str) -> None:
    assert said(name)["guarantee"]["joint"]["curve"]
    assert problems(said(name)) == []


def point(at: int, factor: str) -> Change:
    def change(claims: Any) -> None:
        own = claims["guarantee"]["joint"]["curve"][at]
        own["delta"] = str(Fraction(own["delta"]) * Fraction(factor))

    return change


def smaller_k(claims: Any) -> None:
    claims["mechanism"]["k"] -= 1


def less_noise(claims: Any) -> None:
    mechanism = claims["mechanism"].get("margins", claims["mechanism"])
    for query in mechanism["queries"]:
        query["rho"] = str(Fraction(query["rho"]) * Fraction(21, 20))


def dearer_gate(claims: Any) -> None:
    own = next(each for each in claims["verdicts"] if each.get("charge"))
    own["charge"] = str(Fraction(own["charge"]) * Fraction(11, 10))


def replaced(claims: Any) -> None:
    claims["guarantee"]["joint"]["replaced"]["epsilon"] = claims["guarantee"]["epsilon"]


FAULTS: dict[str, Change] = {
    "a delta 1 % smaller": point(-1, "0.99"),
    "the first delta 1 % smaller": point(0, "0.99"),
    "less noise": less_noise,
    "a dearer gate": dearer_gate,
    "a smaller k": smaller_k,
    "the epsilon of a removal for a replacement": replaced,
}
NEED = {"a smaller k": "rows_by_shares", "the epsilon of a removal for a replacement": "tables_by_shares"}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "fault"), [(name, fault) for name in BY_SHARES for fault in FAULTS if NEED.get(fault, name) == name]
)
def test_a_planted_fault_is_found(name: str, fault: str) -> None:
    claims = deepcopy(said(name))
    FAULTS[fault](claims)
    assert problems(claims) != []
