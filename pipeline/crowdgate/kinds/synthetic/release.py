"""A release of synthetic rows: rows and certificate drawn, files and manifest entries derived from them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from crowdgate.accounting.zcdp import squared_sigma
from crowdgate.candidate import Candidate, ColumnFacts, Static
from crowdgate.contracts.contract import Attribute, Contract
from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram, collapse, project
from crowdgate.kind.kind import Sections
from crowdgate.kind.randomness import Randomness
from crowdgate.kinds.synthetic.certificate import Certificate
from crowdgate.kinds.synthetic.manifest_fields import (
    MeasuredTableFields,
    SyntheticAxisFields,
    SyntheticColumnFields,
    SyntheticData,
    SyntheticLevelFields,
    SyntheticMechanism,
    SyntheticParameters,
    sorted_combinations,
)
from crowdgate.kinds.synthetic.plan import VIEW, SyntheticPlan
from crowdgate.kinds.synthetic.released_files import NoisyTable, PublishedSynthetic, by_class
from crowdgate.manifest import json_fields
from crowdgate.mechanisms.synthetic.certificate import pairs
from crowdgate.mechanisms.synthetic.domain import Table
from crowdgate.mechanisms.synthetic.fitting import MeasuredTable, seeded_generator, total_variance
from crowdgate.mechanisms.synthetic.rounds import SynthesisResult
from crowdgate.noise import ZcdpSource
from crowdgate.publish.dictionary import DictionaryEntry, entries
from crowdgate.publish.levels import coarser, domains_of


@dataclass(frozen=True, eq=False, kw_only=True)
class SyntheticCandidate(Candidate):
    """The synthesis result and the seed of the rows. Nothing here is confidential: it depends on noisy numbers and the
    plan."""

    drawn: SynthesisResult
    seed: bytes


def protect(
    planned: SyntheticPlan, static: Static, counted: Mapping[str, Histogram], randomness: Randomness
) -> SyntheticCandidate:
    """Sample if the policy does, then draw the noisy tables, the rows and their certificate."""
    drawn, seed = draw_rows(planned, counted, randomness)
    certificate = certificate_of(planned, drawn)
    pairs = None if certificate is None else certificate.summed_up
    return SyntheticCandidate(static=static, drawn=drawn, seed=seed, pairs=pairs)


def draw_rows(
    planned: SyntheticPlan, counted: Mapping[str, Histogram], randomness: Randomness
) -> tuple[SynthesisResult, bytes]:
    """Return the synthesis result (noisy tables, rows, distances), and the seed of the draws that need no noise."""
    mechanism = planned.mechanism
    coins = None if mechanism.beta == 1 else randomness.subsampler(mechanism.beta)
    noise, seed = ZcdpSource(randomness.vectors.gaussian, randomness.choose), randomness.seed()
    return mechanism.draw(counted[VIEW], coins, noise, seeded_generator(seed)), seed


def certificate_of(planned: SyntheticPlan, drawn: SynthesisResult) -> Certificate | None:
    """Return the certificate of the distances; None without rows."""
    mechanism, drawing = planned.mechanism, planned.mechanism.drawing
    if not len(drawn.distances):
        return None
    every = pairs(drawing.domain)
    sigma = squared_sigma(drawing.rows_per_unit, drawing.budget.certificate / len(every))
    sizes = [drawing.domain.cells(table) for table in every]
    of_rows = total_variance(drawn.measured)
    return Certificate(drawn.distances, sigma, sizes, drawn.total, of_rows, mechanism.beta, planned.spec.pair_error)


def parameters(planned: SyntheticPlan) -> dict[str, Any]:
    """Return the mechanism's parameters as known before a release."""
    return json_fields(SyntheticParameters.model_validate(_parameter_fields(planned)))


def mechanism_fields(planned: SyntheticPlan, candidate: SyntheticCandidate) -> SyntheticMechanism:
    """Return the manifest's entry for the mechanism, with the measured tables and their privacy costs."""
    drawn, budget = candidate.drawn, planned.mechanism.drawing.budget
    chosen = iter(drawn.selected)
    measured = tuple(
        _measured_fields(planned, each, next(chosen).rho if each.round else None) for each in drawn.measured
    )
    said = {"measured": measured, "seed": candidate.seed.hex()}
    certificate = budget.certificate if len(drawn.distances) else None
    return SyntheticMechanism.model_validate({**_parameter_fields(planned), **said, "certificate": certificate})


def _parameter_fields(planned: SyntheticPlan) -> dict[str, Any]:
    mechanism, spec = planned.mechanism, planned.spec
    return {
        "kind": "dp_synthetic",
        "beta": mechanism.beta,
        "rows_per_unit": mechanism.drawing.rows_per_unit,
        "attributes": dict(spec.attributes),
        "rho": mechanism.drawing.budget.rho,
        "one_way_share": spec.one_way_share,
        "certificate_share": spec.certificate_share,
        "model_cells": spec.model_cells,
        "pair_error": spec.pair_error,
        "triples": tuple(sorted(tuple(sorted(each)) for each in spec.triples)),
        "impossible": sorted_combinations(
            {name: tuple(sorted({*own})) for name, own in line.items()} for line in spec.impossible
        ),
    }


def _measured_fields(planned: SyntheticPlan, each: MeasuredTable, selection: Any) -> MeasuredTableFields:
    axes = tuple(SyntheticAxisFields(column=name, level=level) for name, level in _axes(planned, each.table))
    return MeasuredTableFields(axes=axes, cells=each.noisy.size, round=each.round, rho=each.rho, selection=selection)


def _axes(planned: SyntheticPlan, table: Table) -> tuple[tuple[str, str], ...]:
    variables = planned.mechanism.drawing.domain.variables
    return tuple((variables[at].attribute, variables[at].level) for at in table)


def publish(planned: SyntheticPlan, candidate: SyntheticCandidate, contract: Contract) -> PublishedSynthetic:
    """Return the rows by class, with the columns at all their levels, the noisy tables and the certificate."""
    mechanism, drawn = planned.mechanism, candidate.drawn
    finest = [(contract.by_name[name], own[0]) for name, own in mechanism.levels.items()]
    above = [(contract.by_name[name], level) for name, own in mechanism.levels.items() for level in own[1:]]
    return PublishedSynthetic(
        rows=histogram(mechanism.finest, drawn), columns=entries(finest),
        ordered=tuple(_ordered(attribute, level) for attribute, level in finest),
        levels=entries(above), coarser=list(coarser([*finest, *above])),
        measured=tuple(NoisyTable(_axes(planned, each.table), each.noisy) for each in drawn.measured),
        distances=drawn.distances,
    )  # fmt: skip


def _ordered(attribute: Attribute, level: Level) -> bool:
    """Return whether the level's values are numbers or days in order."""
    return ColumnFacts.of(attribute).ordered and bool((np.diff(level.codes) >= 0).all())


def histogram(finest: Mapping[str, Level], drawn: SynthesisResult) -> Histogram:
    """Return the synthetic rows as a histogram: for each occurring combination of values at the levels `finest`, the
    number of rows."""
    return by_class(tuple(finest), tuple(map(len, finest.values())), drawn.rows)


def data_fields(held: PublishedSynthetic) -> SyntheticData:
    """Return the manifest's entry for the files: columns, levels, numbers of rows, and the distances of the rows from
    the noisy tables."""
    columns = tuple(
        SyntheticColumnFields(name=each.column, level=each.level, values=len(each.labels), ordered=ordered)
        for each, ordered in zip(held.columns, held.ordered, strict=True)
    )
    domains = domains_of([*held.columns, *held.levels], held.coarser)
    return SyntheticData(
        columns=columns, levels=tuple(map(_level, held.levels)), rows=held.rows.rows, classes=len(held.rows),
        distances=tuple(held.nearness(domains)),
    )  # fmt: skip


def _level(each: DictionaryEntry) -> SyntheticLevelFields:
    return SyntheticLevelFields(name=each.column, level=each.level, values=len(each.labels))


def private(planned: SyntheticPlan, candidate: SyntheticCandidate, counted: Mapping[str, Histogram]) -> Sections:
    """Return the custodian's private record: number of the table's rows, and the error of the released rows in each
    pair of columns."""
    table = counted[VIEW]
    rows = {"counted": table.rows}
    return {"rows": lambda: rows, "utility": lambda: {"pairs": _errors(planned, candidate, table)}}


def _errors(planned: SyntheticPlan, candidate: SyntheticCandidate, table: Histogram) -> list[dict[str, Any]]:
    """Return for each pair of columns the total variation distance between the released rows and the table; None if
    either has no rows."""
    released = histogram(planned.mechanism.finest, candidate.drawn)
    return [
        {"of": list(names), "total variation": _distance(project(released, names), project(table, names))}
        for names in combinations(table.names, 2)
    ]


def _distance(one: Histogram, other: Histogram) -> float | None:
    if not one.rows or not other.rows:
        return None
    # shares as whole multiples of 1 / (product of both numbers of rows)
    signed = replace(other, counts=-other.counts * one.rows)
    names, sizes = one.names, one.sizes
    codes = [np.concatenate([a, b]) for a, b in zip(one.codes, signed.codes, strict=True)]
    counts = np.concatenate([one.counts * other.rows, signed.counts])
    return float(np.abs(collapse(names, sizes, codes, counts).counts).sum() / 2 / one.rows / other.rows)
