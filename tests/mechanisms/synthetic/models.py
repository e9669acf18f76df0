"""Small domains with levels, tables over them, and their distributions by brute force."""

from collections.abc import Sequence
from itertools import combinations, permutations

import numpy as np
from hypothesis import strategies as st

from crowdgate.arrays import Codes, Floats
from crowdgate.mechanisms.synthetic.domain import ModelDomain, Table, Variable
from crowdgate.mechanisms.synthetic.model import Impossible, Model


@st.composite
def domains(draw: st.DrawFn, most_attributes: int = 4) -> ModelDomain:
    """Draw attributes of 1 to 5 values, each with up to two coarser levels, whose codes are in any order."""
    variables: list[Variable] = []
    names = [f"a{i}" for i in range(draw(st.integers(1, most_attributes)))]
    for name in names:
        codes = np.arange(draw(st.integers(1, 5)), dtype=np.int32)
        variables.append(Variable(name, "exact", len(codes), codes))
        for level in range(draw(st.integers(0, 2))):
            above = draw(st.lists(st.integers(0, 2), min_size=int(codes.max()) + 1, max_size=int(codes.max()) + 1))
            codes = np.unique(np.array(above)[codes], return_inverse=True)[1].astype(np.int32)
            variables.append(Variable(name, f"level {level}", int(codes.max()) + 1, codes))
    return ModelDomain(tuple(names), tuple(variables))


def all_tables(domain: ModelDomain, most: int) -> list[Table]:
    """Return all tables of 1 to `most` variables of different attributes."""
    found = [table for n in range(1, most + 1) for table in combinations(range(len(domain.variables)), n)]
    return [table for table in found if len({domain.attribute_of[variable] for variable in table}) == len(table)]


def tables(domain: ModelDomain, most: int = 3) -> st.SearchStrategy[list[Table]]:
    return st.lists(st.sampled_from(all_tables(domain, most)), unique=True, max_size=6)


def any_order(tables: Sequence[Table]) -> list[Table]:
    return [order for table in tables for order in permutations(table)]


def code_of(domain: ModelDomain, variable: int) -> Codes:
    """Return a variable's code in each cell of the finest table."""
    shape = domain.shape(domain.finest)
    codes: Codes = domain.variables[variable].of_finest[np.indices(shape)[domain.attribute_of[variable]]]
    return codes


def summed(domain: ModelDomain, cells: Floats, table: Table) -> Floats:
    """Return the finest table summed to another one, cell by cell."""
    out = np.zeros(domain.shape(table))
    np.add.at(out, tuple(code_of(domain, variable) for variable in table), cells)
    return out


def brute_force(model: Model, impossible: Impossible = ()) -> Floats:
    """Return the model's probabilities of all cells of the finest table, from its definition."""
    domain = model.domain
    logs = np.zeros(domain.shape(domain.finest))
    for table, weights in zip(model.network.tables, model.weights, strict=True):
        logs += weights[tuple(code_of(domain, variable) for variable in table)]
    for table, holes in impossible:
        logs[holes[tuple(code_of(domain, variable) for variable in table)]] = -np.inf
    cells = np.exp(logs - logs.max())
    return np.asarray(cells / cells.sum())


def tabulated(domain: ModelDomain, columns: Sequence[Codes]) -> Floats:
    """Return rows, given as codes of the finest variables, as the finest table."""
    out = np.zeros(domain.shape(domain.finest))
    np.add.at(out, tuple(columns), 1)
    return out
