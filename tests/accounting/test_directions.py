"""All numbers of guarantees lie on their safe side of the truth in 50 digits."""

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from math import gcd
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowdgate.accounting
import crowdgate.risk
from crowdgate import guarantee
from crowdgate.accounting import safe_k, zcdp
from crowdgate.accounting.numbers import up
from tests.accounting import truth
from tests.accounting.directions import ELSEWHERE, ESTIMATES, LINES, Arguments, Line, Solver, as_real, drawn, grid
from tests.examples import examples

ROOT = Path(__file__).parents[2]
MOST = 25
"""Number of fixed cases of a function in each run, evenly spaced in its grid; `soak` tests all."""


def faults(line: Line | Solver, case: Arguments) -> list[str]:
    """Return the faults of the answer to one case: wrong side, or too far from the truth."""
    found = line.call(*case)
    with mp.workdps(truth.DIGITS):
        many = [as_real(argument) for argument in case]
        if isinstance(line, Solver):
            return list(_solver_faults(line, found, many))
        figures, truths = (each if isinstance(each, tuple) else (each,) for each in (found, line.truth(*many)))
        pairs = zip(figures, truths, line.sides, strict=True)
        return [fault for value, true, side in pairs if (fault := _fault(value, true, side, line.apart))]


def _solver_faults(line: Solver, found: Any, many: list[Any]) -> Iterator[str]:
    if not line.holds(found, *many):
        yield f"{found} does not hold"
    better = line.beyond(found)
    if line.limit is not None:
        many[line.limit] *= 1 - mp.mpf("1e-9")
    if better is not None and better != found and line.holds(better, *many):
        yield f"{better} would hold, not only {found}"


def _fault(value: Any, true: Any, side: str, apart: float | None) -> str | None:
    exact = mp.mpf(value) if isinstance(value, float) else truth.real(value)
    if exact == true:
        return None
    off = (exact - true) / abs(true) if true else mp.sign(exact - true) * mp.inf
    wrong = {"up": off < -truth.NEAR, "down": off > truth.NEAR, "near": False}[side]
    tiny = abs(exact) < mp.mpf("1e-300")  # where floats have few digits, or one
    if wrong or not (tiny or apart is None or abs(off) <= apart):
        return f"{side}: {value!r} is off by {mp.nstr(off, 5)} of {mp.nstr(true, 20)}"
    return None


def public(module: ModuleType, inside: str) -> Iterator[str]:
    """Yield functions, and methods and properties of classes, that the module itself defines under public names."""
    for name, thing in vars(module).items():
        if name.startswith("_") or getattr(thing, "__module__", "") != module.__name__:
            continue
        if inspect.isfunction(thing):
            yield f"{inside}.{name}"
        elif inspect.isclass(thing):
            yield from (
                f"{inside}.{name}.{of}"
                for of, part in vars(thing).items()
                if not of.startswith("_") and isinstance(part, FunctionType | property | classmethod)
            )


def rooms() -> Iterator[str]:
    for package in (crowdgate.accounting, crowdgate.risk):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            name = module.name.removeprefix("crowdgate.")
            yield from public(importlib.import_module(module.name), name)
    yield from public(guarantee, "guarantee")


def test_every_public_function_has_a_side_or_says_where_it_is_tested() -> None:
    estimates = {name for name in rooms() if ".".join(name.split(".")[:2]) in ESTIMATES}
    assert set(rooms()) - estimates == set(LINES) | set(ELSEWHERE)
    assert not set(LINES) & set(ELSEWHERE)
    assert all((ROOT / path).is_file() for path in ESTIMATES.values())


@pytest.mark.thorough
@pytest.mark.parametrize("name", LINES)
def test_a_number_is_on_its_side_of_the_truth(name: str) -> None:
    """2,537 cases of the fixed grids, with the extremes of every argument."""
    cases = grid(LINES[name])
    step = max(1, len(cases) // MOST)
    while gcd(step, len(cases)) > 1:
        step += 1  # so that all values of all arguments come
    assert not [found for case in cases[::step] for found in faults(LINES[name], case)]


@pytest.mark.thorough
@pytest.mark.parametrize("name", LINES)
@settings(max_examples=examples(5), deadline=None)
@given(data=st.data())
def test_a_drawn_number_is_on_its_side_of_the_truth(name: str, data: st.DataObject) -> None:
    assert not faults(LINES[name], data.draw(drawn(LINES[name])))


@pytest.mark.soak
@pytest.mark.parametrize("name", LINES)
@settings(max_examples=examples(1000), deadline=None)
@given(data=st.data())
def test_a_thousand_drawn_numbers_are_on_their_side_of_the_truth(name: str, data: st.DataObject) -> None:
    assert not faults(LINES[name], data.draw(drawn(LINES[name])))


@pytest.mark.soak
def test_all_fixed_cases_are_on_their_side_of_the_truth() -> None:
    """129,226 cases, three minutes."""
    wrong = {name: found for name, line in LINES.items() for case in grid(line) if (found := faults(line, case))}
    print(f"{sum(len(grid(line)) for line in LINES.values())} cases, {len(wrong)} functions on the wrong side")
    assert not wrong


@pytest.mark.parametrize(
    ("name", "planted"),
    [
        ("accounting.amplification.amplify", lambda e, d, b: (cancelling(float(e), float(b)), float(d * b))),
        ("accounting.pso.bound", lambda n, w, e, d: min(1.0, n * (math.exp(min(e, 700)) * float(w) + float(d)))),
        ("accounting.zcdp.zcdp_epsilon", lambda r, d: float(zcdp.zcdp_epsilon(r, d)) * (1 - 1e-13)),
        ("accounting.safe_k.least_k", lambda e, d, b: max(1, safe_k.least_k(e, d, b) - 1)),
        ("accounting.person.per_row", lambda e, _, m: (up(Fraction(e) / m), Fraction(0))),
    ],
)
def test_a_planted_fault_is_seen(name: str, planted: Callable[..., Any]) -> None:
    """The cancelling form of amplification, sums in nearest floats, a part in 10^13, one less, the wrong rounding."""
    faulty = replace(LINES[name], call=planted)
    cases = grid(faulty)
    assert any(faults(faulty, case) for case in cases[:: max(1, len(cases) // 400)])


def cancelling(epsilon: float, beta: float) -> float:
    return max(0.0, epsilon + math.log(beta + (1 - beta) * math.exp(-epsilon)))
