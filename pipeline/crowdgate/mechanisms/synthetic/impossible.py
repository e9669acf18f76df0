"""The policy's impossible combinations as tables, and a check that each value remains possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from crowdgate.arrays import Bools
from crowdgate.errors import Finding, nearest
from crowdgate.hierarchy import Level
from crowdgate.limits import MOST_MODEL_CELLS
from crowdgate.mechanisms.synthetic.junction_tree import cells
from crowdgate.mechanisms.synthetic.model import Impossible, Model, Objective
from crowdgate.mechanisms.synthetic.rounds import AT_FIRST

if TYPE_CHECKING:
    from crowdgate.mechanisms.synthetic.domain import ModelDomain, Table
    from crowdgate.mechanisms.synthetic.spec import DpSyntheticSpec

Levels = Mapping[str, tuple[Level, ...]]
"""For each attribute the released level and the coarser ones."""


def impossible_tables(spec: DpSyntheticSpec, levels: Levels, domain: ModelDomain) -> tuple[Impossible, list[Finding]]:
    """Return a table for each line of the policy, true where a combination can't occur, and the findings against the
    lines."""
    findings = [each for at, line in enumerate(spec.impossible) for each in _line_findings(at, line, levels)]
    if findings or not spec.impossible:
        return (), findings
    made = impossible_cells(spec.impossible, levels, domain)
    return made, [*_fit_findings(domain, made, spec), *_contradictions(domain, made)]


def impossible_cells(lines: Iterable[Mapping[str, Sequence[str]]], levels: Levels, domain: ModelDomain) -> Impossible:
    """Return a table for each line of values that can't occur together, true for these values, over the finest level of
    each attribute that has all its values. Raises ValueError if no level has them."""
    variables = {(each.attribute, each.level): at for at, each in enumerate(domain.variables)}
    out: list[tuple[Table, Bools]] = []
    for line in lines:
        found = {name: level_of(levels[name], values) for name, values in line.items()}
        of = {variables[name, level.name]: np.isin(_labels(level), line[name]) for name, level in found.items()}
        table = tuple(sorted(of))
        out.append((table, np.asarray(reduce(np.logical_and.outer, (of[variable] for variable in table)))))
    return tuple(out)


def named_levels(spec: DpSyntheticSpec, levels: Levels) -> set[tuple[str, str]]:
    """Return (attribute, level) for each level that has all values of a line of impossible combinations."""
    return {
        (name, level.name)
        for line in spec.impossible
        for name, values in line.items()
        for level in levels.get(name, ())
        if {*values} <= {*level.labels}
    }


def level_of(levels: Sequence[Level], values: Sequence[str]) -> Level:
    """Return the finest level that has all these values. Raises ValueError if none has."""
    for level in levels:
        if {*values} <= {*level.labels}:
            return level
    raise ValueError("no level has these values")


def _labels(level: Level) -> npt.NDArray[np.object_]:
    return np.array(level.labels, dtype=object)


def _line_findings(at: int, line: Mapping[str, Sequence[str]], levels: Levels) -> Iterator[Finding]:
    for name, values in line.items():
        place = ("impossible", at, name)
        if name not in levels:
            yield place, f"{name!r} is not released", "a released attribute", nearest(name, list(levels))
        elif not any({*values} <= {*level.labels} for level in levels[name]):
            known = levels[name][0].labels
            wrong = next((value for value in values if value not in known), values[0])
            expected = "values of one level of the attribute, as released or coarser"
            yield place, f"{wrong!r} is not a value at the level of the other values", expected, nearest(wrong, known)


def _fit_findings(domain: ModelDomain, made: Impossible, spec: DpSyntheticSpec) -> Iterator[Finding]:
    needed = cells(domain, [*((variable,) for variable in domain.finest), *(table for table, _ in made)])
    if needed > AT_FIRST * spec.model_cells:
        expected = f"at most {int(AT_FIRST * spec.model_cells)}, a quarter of model_cells, or coarser levels there"
        yield ("impossible",), f"a model of {needed} cells for these alone", expected, None


def _contradictions(domain: ModelDomain, made: Impossible) -> Iterator[Finding]:
    """Yield a finding if the lines together make a value of a domain impossible in all combinations."""
    if cells(domain, [table for table, _ in made]) > MOST_MODEL_CELLS:
        return
    expected = "combinations that leave every value of every domain something to go with"
    try:
        objective = Objective(domain, (), 1.0, made)
    except ValueError:
        yield ("impossible",), "every combination of values is called impossible", expected, None
        return
    model = Model(domain, objective.network, (), objective.network.beliefs([]))
    for variable in dict.fromkeys(each for table, _ in made for each in table):
        if (model.marginal((variable,)) == 0).any():
            name = domain.variables[variable].attribute
            yield ("impossible",), f"a value of {name!r} could not occur at all", expected, None
            return
