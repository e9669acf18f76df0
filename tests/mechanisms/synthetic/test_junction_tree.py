"""Each table lies in a clique of a junction tree, and variables that two cliques share are in all cliques between
them."""

from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.limits import MOST_MODEL_CELLS
from crowdgate.mechanisms.synthetic import junction_tree
from crowdgate.mechanisms.synthetic.domain import ModelDomain, Table
from crowdgate.mechanisms.synthetic.junction_tree import Clique, Extensions, cells, tree
from tests.examples import examples
from tests.mechanisms.synthetic.models import all_tables, domains, tables


@st.composite
def cases(draw: st.DrawFn) -> tuple[ModelDomain, list[Table]]:
    domain = draw(domains(6))
    return domain, draw(tables(domain))


def holding(cliques: tuple[Clique, ...], wanted: int) -> list[int]:
    return [at for at, clique in enumerate(cliques) if clique.members & wanted == wanted]


@given(cases())
@settings(max_examples=examples(100), deadline=None)
def test_tables_and_neighbouring_levels_stand_together(case: tuple[ModelDomain, list[Table]]) -> None:
    domain, measured = case
    cliques = tree(domain, measured)
    variables = range(len(domain.variables))
    ties = [(v, v + 1) for v in variables[:-1] if domain.attribute_of[v] == domain.attribute_of[v + 1]]
    for table in (*((v,) for v in variables), *ties, *measured):
        assert holding(cliques, sum(1 << variable for variable in table))


@given(cases())
@settings(max_examples=examples(100), deadline=None)
def test_cliques_with_a_variable_are_a_branch_and_share_their_separators(case: tuple[ModelDomain, list[Table]]) -> None:
    domain, measured = case
    cliques = tree(domain, measured)
    for variable in range(len(domain.variables)):
        with_it = holding(cliques, 1 << variable)
        assert sum(at != 0 and cliques[at].parent in with_it for at in with_it) == len(with_it) - 1
    for at, clique in enumerate(cliques):
        assert clique.parent < at or at == 0
        shared = clique.members & cliques[clique.parent].members if at else 0
        assert clique.separator == domain.finest_of_set(shared)
        assert sorted(clique.axes) == sorted(domain.finest_of_set(clique.members))
        first = [domain.attribute_of[axis] for axis in clique.axes[: len(clique.separator)]]
        assert first == [domain.attribute_of[variable] for variable in clique.separator]


@pytest.mark.thorough
@given(cases(), st.data())
@settings(max_examples=examples(150), deadline=None)
def test_a_further_table_costs_what_the_tree_with_it_has(
    case: tuple[ModelDomain, list[Table]], data: st.DataObject
) -> None:
    domain, measured = case
    table = data.draw(st.sampled_from(all_tables(domain, 3)))
    found = Extensions(domain, measured).with_table(table, MOST_MODEL_CELLS)
    assert found == Extensions(domain, [*measured, table]).cells
    assert found >= cells(domain, [*measured, table])
    assert cells(domain, measured) == sum(prod(domain.shape(clique.axes)) for clique in tree(domain, measured))


@given(cases(), st.data(), st.integers(4, 400))
@settings(max_examples=examples(150), deadline=None)
def test_separators_stay_small_enough_to_reach_far_variables(
    case: tuple[ModelDomain, list[Table]], data: st.DataObject, most: int
) -> None:
    domain, measured = case
    table = data.draw(st.sampled_from(all_tables(domain, 3)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(junction_tree, "MOST_GIVEN", most)
        allowed = Extensions(domain, measured).with_table(table, MOST_MODEL_CELLS) <= MOST_MODEL_CELLS
    shared = [domain.cells(clique.separator) for clique in tree(domain, [*measured, table])]
    assert not allowed or max(shared) * max(domain.sizes) <= most
