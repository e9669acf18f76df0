"""Expectations from public figures: compared with listing all ways in which people can fall into classes."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdgate.candidate import Measurement, Static
from crowdgate.gate import GateReach, Outcome, reach, verdict
from crowdgate.histogram import Histogram, collapse
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.measures import MEASURES, expected_classes
from crowdgate.releases import release as job
from crowdgate.risk.joint import fitted
from crowdgate.verification.release import verify
from tests.kinds.registers import register_workshop
from tests.measures.test_measures import gate, level, of_static, static

NAMES = ("expected_singletons", "singleton_probability", "expected_share_in_sets_up_to")
LEVELS = {"x": level([0, 1, 2]), "y": level([0, 1]), "z": level([0, 1])}
MARGINS: dict[str, tuple[int, ...] | None] = {"x": (1, 2, 3), "y": (1, 1), "z": (3, 1)}
Cells = dict[tuple[int, ...], int]
Shares = Mapping[tuple[int, ...], Fraction]
XY: Cells = {(0, 0): 4, (1, 1): 3, (2, 0): 1, (2, 1): 2}


def counts(names: tuple[str, ...], cells: Cells) -> Histogram:
    codes = [np.array([cell[at] for cell in cells]) for at in range(len(names))]
    return collapse(names, tuple(len(LEVELS[name]) for name in names), codes, np.array(list(cells.values())))


def facts(*joint: Histogram, margins: dict[str, tuple[int, ...] | None] = MARGINS) -> Static:
    return replace(static(margins, LEVELS), joint=joint)


def listed(shares: Shares, people: int, size: int) -> tuple[Fraction, Fraction, Fraction]:
    """Return the expected number of singletons, the probability of at least one, and the expected share of people in
    classes of at most `size`, over all ways in which the people can fall into the classes."""
    cells = [share for share in shares.values() if share]
    total = [Fraction(0)] * 3
    for places in product(range(len(cells)), repeat=people):
        chance = math.prod((cells[place] for place in places), start=Fraction(1))
        held = [places.count(place) for place in range(len(cells))]
        few = Fraction(sum(count for count in held if count <= size), people)
        for at, value in enumerate((Fraction(held.count(1)), Fraction(1 in held), few)):
            total[at] += chance * value
    return total[0], total[1], total[2]


def independent(names: str) -> Shares:
    own = {name: MARGINS[name] or () for name in names}
    parts = [[Fraction(count, sum(own[name])) for count in own[name]] for name in names]
    cells = product(*(enumerate(part) for part in parts))
    return {tuple(at for at, _ in cell): math.prod((p for _, p in cell), start=Fraction(1)) for cell in cells}


def with_joint() -> Shares:
    """Return x and y as counted together, z independent of them."""
    return {(*cell, z): Fraction(count, 10) * Fraction((3, 1)[z], 4) for cell, count in XY.items() for z in range(2)}


CASES: list[tuple[str, Static, Shares, tuple[str, ...]]] = [
    ("margins", facts(), independent("xy"), ("x", "y")),
    ("joint counts", facts(counts(("x", "y"), XY)), {c: Fraction(n, 10) for c, n in XY.items()}, ("x", "y")),
    ("in another order", facts(counts(("y", "x"), {(y, x): n for (x, y), n in XY.items()})),
     {c: Fraction(n, 10) for c, n in XY.items()}, ("x", "y")),
    ("joint counts and a margin", facts(counts(("x", "y"), XY)), with_joint(), ("x", "y", "z")),
    ("one of the joint ones", facts(counts(("x", "y"), XY)), {(0,): Fraction(1, 2), (1,): Fraction(1, 2)}, ("y",)),
]  # fmt: skip


@pytest.mark.parametrize(("found", "shares", "over"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
@pytest.mark.parametrize("people", [1, 2, 4])
def test_expectations_are_those_of_listing_all_ways_to_fall(
    found: Static, shares: Shares, over: tuple[str, ...], people: int
) -> None:
    for name, exact in zip(NAMES, listed(shares, people, 2), strict=True):
        size = {"size": "2"} if name == NAMES[2] else {}
        given: dict[str, Any] = {"over": list(over), "with": {"people": str(people), **size}}
        measured = of_static(name, found, **given)
        assert measured is not None
        assert measured.lower <= exact <= measured.upper
        assert measured.value == pytest.approx(float(exact), rel=1e-9, abs=1e-11)
        assert float(measured.upper - measured.lower) < 1e-8


def test_two_joint_tables_are_fitted_and_an_attribute_between_them_relates_the_others() -> None:
    """With x-y and y-z known the fit is the conditional independence of x and z, in closed form."""
    yz: Cells = {(0, 0): 4, (0, 1): 1, (1, 1): 5}
    found = facts(counts(("x", "y"), XY), counts(("y", "z"), yz))
    shares: dict[tuple[int, ...], Fraction] = {
        (x, y, z): Fraction(n * m, 50) for (x, y), n in XY.items() for (at, z), m in yz.items() if at == y
    }
    measured = of_static("expected_singletons", found, over=["x", "y", "z"], **{"with": {"people": "3"}})
    assert measured is not None
    assert measured.value == pytest.approx(float(listed(shares, 3, 1)[0]), rel=1e-6)


def sparse() -> Static:
    """Return facts with three two-way tables of a table of 8 x 8 x 8 with 100,000 people, most of whose cells are
    empty."""
    draws = np.random.default_rng(9)
    shares = draws.gamma(0.05, 1, (8, 8, 8))
    table = draws.multinomial(10**5, (shares / shares.sum()).ravel()).reshape(8, 8, 8)
    levels = {name: level(list(range(8))) for name in "xyz"}
    tables = []
    for left, pair in enumerate((("y", "z"), ("x", "z"), ("x", "y"))):
        codes, held = np.nonzero(table.sum(axis=left)), table.sum(axis=left)
        tables.append(collapse(pair, (8, 8), list(codes), held[codes]))
    return replace(static(dict.fromkeys("xyz"), levels), joint=tuple(tables))


def test_ends_of_a_fit_hold_what_fitting_for_long_comes_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a thousand people. The limits exclude 60 rounds of fitting, as used for plans."""
    given: dict[str, Any] = {"with": {"people": "1000"}}
    found = of_static("expected_singletons", sparse(), **given)
    assert found is not None
    assert found.upper - found.lower < 1e-6
    for rounds, inside in ((60, False), (30_000, True)):
        monkeypatch.setattr("crowdgate.risk.joint.ROUNDS", rounds)
        monkeypatch.setattr("crowdgate.risk.joint.NEAR", 1e-7 if inside else 1e-3)
        with monkeypatch.context() as patch:
            patch.setattr(expected_classes, "nearest", lambda base, tables: (law := fitted(base, tables)) / law.sum())
            rough = of_static("expected_singletons", sparse(), **given)
        assert rough is not None
        assert (found.lower - 1e-6 <= rough.value <= found.upper + 1e-6) == inside


def test_joint_counts_that_contradict_each_other_are_inconclusive_and_named() -> None:
    """Half of the people have y = 0 by one table and two thirds by the other."""
    both = facts(counts(("x", "y"), XY), counts(("y", "z"), {(0, 0): 4, (1, 1): 2}))
    for name in NAMES:
        given: dict[str, Any] = {"with": {"size": "2"} if name == NAMES[2] else {}}
        found = verdict(gate(name, **given), MEASURES[name], of_static(name, both, **given), both)
        assert found.outcome is Outcome.INCONCLUSIVE
        assert "no law of x, y, z has all their joint counts" in (found.why or "")


def test_of_two_counts_of_the_same_attributes_the_first_holds() -> None:
    """Also for those with equal attributes once other attributes are summed over."""
    other = counts(("x", "z"), {(0, 0): 1, (1, 1): 8})
    both = facts(counts(("x", "y"), XY), other, counts(("y", "x"), {(0, 0): 1, (1, 2): 1}))
    for over, joint in ((["x"], both.joint), (["x", "y"], both.joint[::2])):
        given: dict[str, Any] = {"over": over, "with": {"people": "3"}}
        alone = of_static("expected_singletons", facts(counts(("x", "y"), XY)), **given)
        assert alone is not None
        assert of_static("expected_singletons", replace(both, joint=joint), **given) == alone


def test_a_probability_is_never_above_the_expected_number_nor_1() -> None:
    for people in (1, 5, 50, 5000):
        with_people: dict[str, Any] = {"with": {"people": str(people)}}
        number, chance = (of_static(name, facts(), **with_people) for name in NAMES[:2])
        assert number is not None
        assert chance is not None
        assert 0 <= chance.lower <= chance.value <= chance.upper <= min(1, number.upper)


def unmeasured() -> Iterator[tuple[str, Static, dict[str, Any]]]:
    for name in NAMES:
        yield name, facts(margins={**MARGINS, "y": None}), {"with": {"size": "1"} if name == NAMES[2] else {}}
    yield "singleton_probability", facts(), {"with": {"people": "1000000000"}}
    yield "expected_share_in_sets_up_to", facts(), {}


@pytest.mark.parametrize(("name", "found", "given"), list(unmeasured()))
def test_what_cannot_be_measured_is_inconclusive_and_open(name: str, found: Static, given: dict[str, Any]) -> None:
    rule = gate(name, **given)
    assert of_static(name, found, **given) is None
    assert reach(rule, MEASURES[name].reach(found, rule)) is GateReach.OPEN


def test_too_many_cells_are_not_fitted_and_too_many_shares_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected_classes, "MOST_CELLS_FITTED", 5)
    both = facts(counts(("x", "y"), XY), counts(("y", "z"), {(0, 0): 1, (1, 1): 1}))
    assert of_static("expected_singletons", both) is None
    monkeypatch.setattr(expected_classes, "MOST_SIZED", 1)
    assert of_static("expected_share_in_sets_up_to", facts(), **{"with": {"size": "1"}}) is None


def test_a_share_is_at_most_1_also_at_its_upper_end() -> None:
    found = of_static("expected_share_in_sets_up_to", facts(), **{"with": {"size": "9", "people": "9"}})
    assert found == Measurement(1.0, 1 - 1e-9, 1.0)


def test_a_release_judged_by_joint_counts_states_them_and_verifies(tmp_path: Path) -> None:
    clinic = register_workshop(tmp_path / "w")
    path = job.release(Request(clinic.policy, "2030-01-01"), draw_key).path
    assert path is not None
    (joint,) = verify(path).manifest.facts.joint or ()
    assert ([each.name for each in joint.columns], joint.counts) == (["age", "ward"], (30, 20, 10, 2, 38))
