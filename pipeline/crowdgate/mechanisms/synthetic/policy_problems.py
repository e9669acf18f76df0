"""Findings against a policy of synthetic rows in its contract, before any data are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from crowdgate.errors import Finding, nearest
from crowdgate.limits import (
    MOST_CANDIDATE_CELLS,
    MOST_CANDIDATE_TABLES,
    MOST_SYNTHETIC_ATTRIBUTES,
    MOST_SYNTHETIC_ROWS,
    MOST_SYNTHETIC_VALUES,
)
from crowdgate.mechanisms.synthetic.junction_tree import cells
from crowdgate.mechanisms.synthetic.rounds import AT_FIRST
from crowdgate.mechanisms.tables.workload import ContingencyTable as Count
from crowdgate.mechanisms.tables.workload import resolve

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract
    from crowdgate.mechanisms.synthetic.domain import ModelDomain, Table
    from crowdgate.mechanisms.synthetic.spec import DpSyntheticSpec


def policy_findings(spec: DpSyntheticSpec, contract: Contract) -> list[Finding]:
    """Return the findings against a policy's attributes, levels and triples, and against its contract."""
    return [*_level_findings(spec, contract), *_contract_findings(spec, contract), *_triple_findings(spec)]


def _level_findings(spec: DpSyntheticSpec, contract: Contract) -> Iterator[Finding]:
    """Yield a finding for each attribute or level that does not exist, has only one value, or has too many."""
    _, found = resolve([Count(spec.attributes)], contract, most_cells=1 << 62)
    wrong = {place[2] for place, *_ in found if len(place) > 2}
    for place, what, expected, instead in found:
        if len(place) > 2:
            yield ("attributes", *place[2:]), what, expected, instead
    for name, level in spec.attributes.items():
        hierarchy = contract.by_name[name].hierarchy if name not in wrong else None
        if hierarchy is None:
            continue
        size = len(hierarchy.level(level))
        if size < 2:
            yield (
                ("attributes", name),
                "this level has a single value, so it carries no information",
                "a finer level, or no such attribute",
                None,
            )
        if size > MOST_SYNTHETIC_VALUES:
            fitting = [each.name for each in hierarchy.levels if 1 < len(each) <= MOST_SYNTHETIC_VALUES]
            expected = f"a level of at most {MOST_SYNTHETIC_VALUES}"
            offered = expected if fitting else f"{expected}, which the contract must have"
            yield ("attributes", name), f"{size} values at level {level!r}", offered, next(iter(fitting), None)


def _contract_findings(spec: DpSyntheticSpec, contract: Contract) -> Iterator[Finding]:
    if contract.sample is not None:
        taken = f"synthetic rows of the inherited sample {contract.sample.name!r}"
        yield ("kind",), taken, "safe_k_anonymity, the one release that a sample serves", None
    if spec.sampling is not None and spec.sampling.beta != 1 and contract.unit.rows != 1:
        yield (
            ("sampling",),
            f"sampling with {contract.unit.rows} rows per person",
            "one row per person in the contract, or no sampling",
            None,
        )
    if len(spec.attributes) > MOST_SYNTHETIC_ATTRIBUTES:
        expected = f"at most {MOST_SYNTHETIC_ATTRIBUTES}: those that are used together, in a policy each"
        yield ("attributes",), f"{len(spec.attributes)} attributes", expected, None
    if contract.rows_at_most is not None and contract.rows_at_most > MOST_SYNTHETIC_ROWS:
        found = f"a contract of up to {contract.rows_at_most} rows"
        yield ("kind",), found, f"at most {MOST_SYNTHETIC_ROWS} rows, or dp_tables", "dp_tables"


def _triple_findings(spec: DpSyntheticSpec) -> Iterator[Finding]:
    seen: set[frozenset[str]] = set()
    for at, triple in enumerate(spec.triples):
        for i, name in enumerate(triple):
            if name not in spec.attributes:
                found = f"{name!r} is not released"
                yield ("triples", at, i), found, "a released attribute", nearest(name, list(spec.attributes))
        if len({*triple}) < len(triple) or frozenset(triple) in seen:
            yield (
                ("triples", at),
                "an attribute, or a triple, a second time",
                "three attributes, each triple once",
                None,
            )
        seen.add(frozenset(triple))


def size_findings(domain: ModelDomain, candidates: Sequence[Table], spec: DpSyntheticSpec) -> Iterator[Finding]:
    if len(candidates) > MOST_CANDIDATE_TABLES:
        expected = f"at most {MOST_CANDIDATE_TABLES}: fewer triples"
        yield ("triples",), f"{len(candidates)} tables to choose among", expected, None
    finest = {*domain.finest}
    counted = sum(domain.cells(table) for table in candidates if finest.issuperset(table))
    if counted > MOST_CANDIDATE_CELLS:
        widest = sorted(domain.finest, key=lambda variable: -domain.sizes[variable])[:3]
        names = ", ".join(f"{domain.variables[each].attribute} ({domain.sizes[each]} values)" for each in widest)
        expected = f"at most {MOST_CANDIDATE_CELLS}: coarser levels first of {names}, or fewer attributes"
        yield ("attributes",), f"pairs and triples of {counted} cells in all", expected, None
    least = cells(domain, [(variable,) for variable in domain.finest])
    if least > AT_FIRST * spec.model_cells:
        expected = f"at least {int(least / AT_FIRST)} cells, which the tables of one attribute need"
        yield (
            ("model_cells",),
            f"a model of {spec.model_cells} cells is too small",
            expected,
            str(int(least / AT_FIRST)),
        )
