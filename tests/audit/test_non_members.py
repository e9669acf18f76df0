"""The targets of a baseline, and the people it was fitted on, counted one by one."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.arrays import Floats
from crowdgate.audit.common.observation import Mechanism, Observation, PublicKnowledge
from crowdgate.audit.common.population import DrawnTable, Population, Rng
from crowdgate.audit.inference import models
from crowdgate.audit.inference.baselines import BASELINES
from crowdgate.audit.inference.findings import estimates
from crowdgate.audit.inference.models import FitTask
from crowdgate.audit.inference.play import InferenceGame
from crowdgate.audit.inference.secret import Guesses, Secret
from crowdgate.audit.inference.secret_case import SecretCase, secret_case
from crowdgate.audit.inference.source_table import MOST_FITTED, PARTS, SourceTable, block_count, source_table
from crowdgate.audit.membership.play import MembershipGame as Membership
from crowdgate.audit.membership.target_population import TargetPopulation
from crowdgate.histogram import Histogram
from crowdgate.kind.mechanism_output import MechanismOutput
from tests.audit.people import persons, rows
from tests.audit.playing import Everything
from tests.examples import examples

RNG = np.random.default_rng
QUICK = BASELINES[:3]


def table_of(population: Population, seed: int, blocks: int, units: int | None = None) -> SourceTable:
    *known, last = population.levels
    n = population.size if units is None else units
    return source_table(population, n, known, [Secret(last, population.levels[last])], RNG(seed), blocks)


@dataclass
class Spy:
    """A model that guesses nothing, and records its training data and targets."""

    fits: list[FitTask] = field(default_factory=list)

    def __call__(self, fit: FitTask) -> Floats:
        self.fits.append(fit)
        return np.zeros((len(fit.wanted), fit.labels.size))


def fitted(table: SourceTable) -> tuple[SecretCase, Sequence[FitTask]]:
    spy = Spy()
    case = secret_case(table, table.secrets[0], dict.fromkeys(table.population.levels), RNG(0), [("spy", "", spy)])
    return case, spy.fits


@st.composite
def crowds(draw: st.DrawFn) -> Population:
    """Draw rows, or persons of up to four rows, with two attributes."""
    if draw(st.booleans()):
        counts = draw(st.lists(st.integers(0, 5), min_size=6, max_size=6).filter(lambda found: sum(found) > 1))
        return rows(np.array(counts).reshape(3, 2))
    line = st.lists(st.sampled_from([0, 0, 0, 1, 2]), min_size=6, max_size=6).filter(any).map(tuple)
    lines = np.array(draw(st.lists(line, min_size=2, max_size=8, unique=True)))
    members = draw(st.lists(st.sampled_from([1, 1, 4]), min_size=len(lines), max_size=len(lines)))
    return persons(lines.reshape(-1, 3, 2), np.array(members))


@settings(max_examples=examples(40), deadline=None)
@given(crowds(), st.sampled_from([5, 10, 60]), st.integers(0, 99))
def test_a_baseline_has_seen_every_row_of_everybody_else_and_none_of_its_targets(
    population: Population, blocks: int, seed: int
) -> None:
    """For each block the baseline is fitted on the rows of all other people, counted person by person. In small tables
    each person has a block, so that these are all rows except the person's own."""
    table = table_of(population, seed, blocks)
    case, fits = fitted(table)
    lines = np.eye(len(table.units), dtype=int) if population.rows is None else table.population.rows.toarray()
    people = [(who, block) for (who, block), many in np.ndenumerate(table.units) for _ in range(many)]
    asked = sorted({block for _, block in people})
    assert len(fits) == len(asked)
    if blocks >= len(people):
        assert len(asked) == len(people), "leave one out"
    for block, fit in zip(asked, fits, strict=True):
        seen = sum((lines[who] for who, other in people if other != block), np.zeros(lines.shape[1], dtype=int))
        assert (fit.weights == case.tuples.by_label(case.codes, 2, seen)).all()
        own = sum((lines[who] for who, other in people if other == block), np.zeros(lines.shape[1], dtype=int))
        assert set(fit.wanted) == set(case.tuples.of_cell[own > 0])


@given(st.integers(2, 10**6))
def test_small_tables_are_left_out_one_by_one_and_larger_ones_in_as_many_blocks_as_can_be_fitted(n: int) -> None:
    blocks = block_count(n)
    assert blocks % PARTS == 0
    assert blocks >= PARTS
    assert blocks == PARTS or (blocks - PARTS) * n <= MOST_FITTED
    assert blocks >= n or blocks == PARTS or (blocks + PARTS) * n > MOST_FITTED
    assert block_count(n + 1) <= blocks or n < 400


def test_a_small_table_is_left_out_one_by_one() -> None:
    assert [block_count(n) for n in (200, 315, 1000, 10_000, 20_000, 299_285)] == [200, 315, 100, 10, 5, 5]


def visits() -> np.ndarray:
    """Return sixty persons without a common known value, of three rows each with the same secret, a random bit per
    person."""
    lines = np.zeros((60, 60, 3, 2), dtype=int)
    for who, coin in enumerate(RNG(4).integers(0, 2, 60)):
        lines[who, who, :, coin] = 1
    return lines


@pytest.mark.parametrize("blocks", [5, 60])
def test_the_other_rows_of_a_person_tell_a_baseline_nothing_of_him(blocks: int) -> None:
    """The baseline is right by chance: for at most 46 of 60 random bits, except for one seed in 10,000. A table whose
    rows count as people shows the success of a baseline that has seen a person's other rows."""
    lines = visits()
    table = table_of(persons(lines, np.ones(60, dtype=int)), 1, blocks)
    assert best_of(table) < 46 / 60
    case, _ = fitted(table)
    assert case.unique_cells.all(), "three rows of one person are not three people"
    assert case.targets(1) == case.targets(0) == table.units[:, table.estimate].sum()
    assert best_of(table_of(rows(lines.sum(axis=0)), 1, blocks)) > 0.9, "the fault that is looked for"


@dataclass(frozen=True)
class Torn:
    """Publishes as many rows, without regard to whose they are: the planted fault."""

    name: str = "torn"

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        whole = known.population.cells
        kept = rng.permutation(whole.rows)[: drawn.table.rows]
        codes = tuple(column[np.sort(kept)] for column in whole.codes)
        return Observation(
            seen=MechanismOutput(
                (),
                Histogram(whole.names, whole.sizes, codes, np.ones(len(kept), dtype=np.int64)),
                known.population.levels,
            )
        )


@pytest.mark.parametrize(("mechanism", "least", "most"), [(Everything(), 1.0, 1.0), (Torn(), 0.0, 0.7)])
def test_members_are_persons_with_all_of_their_rows(mechanism: Mechanism, least: float, most: float) -> None:
    """Twenty of sixty persons are in the table, with three rows each: an attacker who sees it claims exactly these."""
    crowd = TargetPopulation(persons(visits(), np.ones(60, dtype=int)), 20)
    game = Membership(mechanism, crowd, (1 / 3,), 1, 0, attacks=frozenset({"likelihood ratio"}))
    assert least <= np.nanmax(game.release(RNG(3))) <= most


def best_of(table: SourceTable) -> float:
    """Return the share of all rows for which the best baseline is right."""
    case = secret_case(table, table.secrets[0], dict.fromkeys(table.population.levels), RNG(2), QUICK)
    return max(float(case.right(each, 0).sum() / table.rows.sum()) for each in case.held)


@settings(max_examples=examples(40), deadline=None)
@given(crowds(), st.integers(0, 99))
def test_alone_is_with_whom_no_other_person_agrees(population: Population, seed: int) -> None:
    table = table_of(population, seed, PARTS)
    case, _ = fitted(table)
    lines = np.eye(len(table.units), dtype=int) if population.rows is None else table.population.rows.toarray()
    known = table.population.codes("a", table.population.levels["a"])
    for cell, alone in enumerate(case.unique_cells):
        having = [who for who, line in enumerate(lines) if line[known == known[cell]].any()]
        assert alone == (table.units[having].sum() == 1)


@settings(max_examples=examples(20), deadline=None)
@given(crowds(), st.integers(0, 99), st.data())
def test_a_table_is_told_of_its_own_people_alone(population: Population, seed: int, data: st.DataObject) -> None:
    """Units and cells that the table lacks are dropped; those of the public population are not."""
    n = data.draw(st.integers(1, population.size))
    table = table_of(population, seed, PARTS, n)
    assert table.size == n
    assert (table.units.sum(axis=1) > 0).all()
    assert (table.rows.sum(axis=1) > 0).all()
    assert table.public is population
    assert table.table(RNG(0)).table.rows == table.rows.sum()


def always(label: int) -> models.Model:
    """Return a model that guesses one label, with the greatest confidence for the smallest code."""

    def guess(fit: FitTask) -> Floats:
        found = np.full((len(fit.wanted), 2), 0.01)
        found[:, label] = 1 - 0.1 * fit.known.codes[0][fit.wanted]
        return found

    return guess


def test_as_many_are_compared_with_the_baseline_that_is_best_at_as_many() -> None:
    """Label 0 is right for the first of four groups, 1 for the others. An attack that guesses only for the first group
    is compared with the baseline that is right there, not with the one that is right for most people."""
    population = rows(np.array([[100, 0], [0, 100], [0, 100], [0, 100]]))
    table = table_of(population, 3, PARTS)
    every = [("first", "", always(0)), ("most", "", always(1))]
    case = secret_case(table, table.secrets[0], dict.fromkeys(table.population.levels), RNG(0), every)
    first = Guesses(np.zeros(4, dtype=int), np.array([0.9, 0.0, 0.0, 0.0]))
    found = case.view(table.finest(table.known)).shares(first, table.estimate)[0, 0]
    share = found[0]
    assert 0.2 < share < 0.3
    assert found[1] == found[3] == pytest.approx(share), "the best one is right of them all"
    assert found[2] == 0, "the one that is best of everybody is right of none of these"
    assert [case.held[case.chosen(0, each)].name for each in (share, 1.0)] == ["first", "most"]


def test_a_baseline_is_chosen_by_twenty_people_at_least() -> None:
    """A fifth of 1,000 people chooses: for shares below a tenth the chosen baseline is the best one for 20 people."""
    population = rows(np.array([[9, 1], [190, 10], [10, 390], [10, 380]]))
    table = table_of(population, 3, PARTS)
    rare = [("first", "", always(0)), ("most", "", always(1))]
    case = secret_case(table, table.secrets[0], dict.fromkeys(table.population.levels), RNG(0), rare)
    curves = case.choosing[0]
    best = [int(np.argmax([curve.at(np.asarray(0.1)) for curve in curves])), case.chosen(0, 0.1)]
    assert best[0] == best[1] == case.chosen(0, 0.001) == case.chosen(0, 0.05)
    assert case.chosen(0, 1.0) == 1


def test_the_record_names_the_baseline_that_was_compared() -> None:
    population = rows(RNG(7).integers(0, 9, (6, 4, 2)) + 1)
    table = table_of(population, 3, 20)
    case = secret_case(table, table.secrets[0], dict.fromkeys(table.population.levels), RNG(0), QUICK)
    game = InferenceGame(Everything(), (case,), 1, 0)
    played = game.played({0: game.batch(0, 3)}, "judged", "", None)
    for each in played.secrets[0].found:
        shares = [line[0] for line in each.shares]
        group = 0 if each.group == "all targets" else 1
        assert each.baseline == case.held[case.chosen(group, shares[0])].name
        assert all(predicted - base <= each.wrong_at + 1e-9 for predicted, _, _, base in each.shares)
    assert estimates(played, Fraction(1, 20))
