"""Rounds draw nothing without paying for it: replayed on a table with one person more, and enumerated."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram, collapse
from crowdgate.mechanisms.synthetic import certificate, counting, fitting, rounds
from crowdgate.mechanisms.synthetic.domain import ModelDomain, Table
from crowdgate.mechanisms.synthetic.junction_tree import cells
from crowdgate.mechanisms.synthetic.rounds import RoundsPlan, SynthesisResult, SyntheticBudget, synthesize
from crowdgate.noise import ZcdpSource
from tests.examples import examples

Counts = npt.NDArray[np.int64]


@pytest.fixture(autouse=True, scope="module")
def quick_fits() -> Iterator[None]:
    """Reduce the steps of a fit, as its quality is irrelevant here."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(fitting, "STEPS", 2)
        patched.setattr(fitting, "LAST_STEPS", 2)
        yield


SIZES = {"a": 2, "b": 3, "c": 6}
HALVES = np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)


def domain() -> ModelDomain:
    """Return three attributes, the last one at two levels."""
    levels = {
        name: [Level("exact", tuple(map(str, range(size))), np.arange(size, dtype=np.int32))]
        for name, size in SIZES.items()
    }
    levels["c"].append(Level("halves", ("low", "high"), HALVES))
    return ModelDomain.of(levels)


def drawing(rho: Fraction = Fraction(1), rows_per_unit: int = 1, cells: int = 1 << 12) -> RoundsPlan:
    made = domain()
    tables = [
        pair
        for pair in combinations(range(len(made.variables)), 2)
        if len({*map(made.attribute_of.__getitem__, pair)}) == 2
    ]
    one_ways = (rho / 8, rho / 8, rho / 4)
    return RoundsPlan(
        made, tuple(tables), (), cells, rows_per_unit, SyntheticBudget(one_ways, rho * Fraction(2, 5), rho / 10)
    )


def histogram(people: Sequence[tuple[int, int, int]]) -> Histogram:
    codes = [np.array([each[at] for each in people], dtype=np.int32) for at in range(3)]
    return collapse(tuple(SIZES), tuple(SIZES.values()), codes, np.ones(len(people), dtype=np.int64))


Asked = tuple[str, tuple[int, ...], int, Fraction]


@dataclass
class Script:
    """Noise that records requests and answers; `before` repeats the answers of another script, as long as requests are
    equal."""

    noise: np.random.Generator
    before: "Script | None" = None
    asked: list[Asked] = field(default_factory=list)
    values: list[Counts] = field(default_factory=list)
    said: list[Any] = field(default_factory=list)

    def source(self) -> ZcdpSource:
        return ZcdpSource(self.gaussian, self.choose)

    def gaussian(self, values: Counts, sensitivity: int, rho: Fraction) -> Counts:
        return np.array(self._next("gaussian", values, sensitivity, rho), dtype=np.int64)

    def choose(self, scores: Counts, sensitivity: int, rho: Fraction) -> int:
        return int(self._next("choose", scores, sensitivity, rho))

    def _next(self, kind: str, values: Counts, sensitivity: int, rho: Fraction) -> Any:
        at, asked = len(self.asked), (kind, values.shape, sensitivity, rho)
        self.asked.append(asked)
        self.values.append(values.copy())
        if self.before is not None:
            if self.before.asked[at : at + 1] != [asked]:
                raise AskedOtherwise
            self.said.append(self.before.said[at])
        elif kind == "choose":
            self.said.append(self.noise.integers(len(values)))
        else:
            self.said.append(values + self.noise.integers(-3, 4, values.shape))
        return self.said[-1]


class AskedOtherwise(Exception):
    """The neighbouring table leads to another request."""


People = Sequence[tuple[int, int, int]]


def faults(drawn: RoundsPlan, people: People, more: People, seed: int) -> list[str]:
    """Return how the outputs of a table and of its neighbour with further rows differ, other than by paid noise, when
    all random draws have equal outcomes."""
    first = Script(np.random.default_rng(seed))
    made = synthesize(drawn, histogram(people), first.source(), np.random.default_rng(seed))
    second = Script(np.random.default_rng(seed), before=first)
    try:
        beside = synthesize(drawn, histogram([*people, *more]), second.source(), np.random.default_rng(seed))
    except AskedOtherwise:
        return ["what is asked depends on the table"]
    return [*_unpaid_changes(first, second), *_published(made, beside), *_overspent(made, first, drawn)]


def _unpaid_changes(first: Script, second: Script) -> Iterator[str]:
    """Yield the changes that exceed the paid sensitivity: the L2 change of a table, and the greatest change of scores
    and distances, which are paid individually."""
    if len(first.asked) != len(second.asked):
        yield "what is asked depends on the table"
    for at, (kind, shape, sensitivity, _) in enumerate(second.asked):
        apart = second.values[at] - first.values[at]
        single = kind == "choose" or (shape == (len(certificate.pairs(domain())),) and at == len(first.asked) - 1)
        far = np.abs(apart).max() if single else sqrt((apart**2).sum())
        if far > sensitivity:
            yield f"{kind} changes by {far}, and {sensitivity} is paid"


def _published(made: SynthesisResult, beside: SynthesisResult) -> Iterator[str]:
    alike = all((a == b).all() for a, b in zip(made.rows, beside.rows, strict=True) if len(a) == len(b))
    if made.total != beside.total or not alike or (made.distances != beside.distances).any():
        yield "what is published depends on the table"


def _overspent(made: SynthesisResult, first: Script, drawn: RoundsPlan) -> Iterator[str]:
    certified = [rho * shape[0] for kind, shape, _, rho in first.asked[-1:] if kind == "gaussian" and made.total]
    if made.total and sum(certified, made.spent) != drawn.budget.rho:
        yield "what is spent is not what is stated"


PERSON = st.tuples(*(st.integers(0, size - 1) for size in SIZES.values()))


@pytest.mark.thorough
@given(st.lists(PERSON, min_size=0, max_size=30), PERSON, st.integers(0, 100), st.sampled_from([1, 3]))
@settings(max_examples=examples(25), deadline=None)
def test_one_person_more_changes_nothing_but_what_is_paid_for(
    people: list[tuple[int, int, int]], person: tuple[int, int, int], seed: int, rows: int
) -> None:
    """A person with several rows, all of them alike or of two kinds."""
    other = (1 - person[0], *person[1:])
    for more in ([person] * rows, [person, *[other] * (rows - 1)]):
        drawn = drawing(rows_per_unit=rows)
        assert faults(drawn, people, more, seed) == []


MANY = [(i % 2, i % 3, i % 6) for i in range(60)]


@pytest.mark.parametrize("most", [11, 18, 36])
def test_a_model_stays_within_its_cells(most: int) -> None:
    """Also if a round picks more tables than there are sets of attributes that fit."""
    drawn = drawing(cells=most)
    found = synthesize(drawn, histogram(MANY), Script(np.random.default_rng(0)).source(), np.random.default_rng(0))
    picked = {each.table for each in found.measured}
    assert all(cells(drawn.domain, [*drawn.one_ways, table]) <= most for table in picked)
    assert cells(drawn.domain, picked) <= most


def test_noisy_numbers_of_several_attributes_stay_within_their_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def wide() -> int:
        found = synthesize(
            drawing(), histogram(MANY), Script(np.random.default_rng(0)).source(), np.random.default_rng(0)
        )
        assert found.spent + drawing().budget.certificate == drawing().budget.rho
        return sum(each.noisy.size for each in found.measured if len(each.table) > 1)

    assert wide() > 20
    for most in (0, 20):
        monkeypatch.setattr(rounds, "WIDE_NUMBERS", most)
        assert wide() <= most


def _halved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "PAIR", 4)
    honest = rounds._Rounds.choose

    def cheap(self: Any, tables: Any, scores: Any, number: int, rho: Fraction) -> Table:
        monkeypatch.setattr(rounds, "PAIR", 1)
        found = honest(self, tables, scores, number, rho)
        monkeypatch.setattr(rounds, "PAIR", 4)
        return found

    monkeypatch.setattr(rounds._Rounds, "choose", cheap)


def _filtered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plant a fault: some tables are no candidates, depending on one of their counts."""
    monkeypatch.setattr(
        rounds._Rounds,
        "fitting",
        lambda self, tables, *_: [table for table in tables if int(self._counts.of(table).flat[0]) % 3 > 0],
    )


def _exact(monkeypatch: pytest.MonkeyPatch) -> None:
    people = {"n": 0}
    honest = counting.count

    def counted(domain: ModelDomain, held: Histogram, table: Table) -> Counts:
        people["n"] = held.rows
        return honest(domain, held, table)

    monkeypatch.setattr(rounds, "count", counted)
    monkeypatch.setattr(fitting, "total_of", lambda _: people["n"])


def _unpaid(monkeypatch: pytest.MonkeyPatch) -> None:
    def free(domain: ModelDomain, held: Histogram, made: Any, *_: object) -> Counts:
        own = [certificate.table_of(domain, made, table) for table in certificate.pairs(domain)]
        return np.array([np.abs(a).sum() + held.rows for a in own], dtype=np.int64)

    monkeypatch.setattr(rounds, "distances", free)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (_halved, "choose changes by"),
        (_filtered, "what is asked depends on the table"),
        (_exact, "depends on the table"),
        (_unpaid, "what is spent is not what is stated"),
    ],
)
def test_planted_faults_are_seen(
    monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None], said: str
) -> None:
    plant(monkeypatch)
    drawn = drawing()
    every = [
        fault
        for seed in range(4)
        for more in ([(0, 0, 0)], [(1, 2, 5)])
        for people in (MANY, MANY[:7])
        for fault in faults(drawn, people, more, seed)
    ]
    assert any(said in fault for fault in every), every
