"""A release of differentially private tables: drawn with noise, made consistent, written."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.candidate import Candidate, PublishedCells, Static
from crowdgate.contracts.contract import Attribute, Contract
from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram
from crowdgate.kind.kind import Sections
from crowdgate.kind.randomness import Randomness
from crowdgate.kinds.tables.files import file_names, statistic, tidy, tidy_raw
from crowdgate.kinds.tables.manifest_fields import (
    NumbersFields,
    TableFields,
    TablesAxisFields,
    TablesData,
    TablesMechanism,
    ValuesFields,
)
from crowdgate.kinds.tables.plan import TablesPlan
from crowdgate.kinds.tables.released_files import PublishedTables
from crowdgate.manifest import json_fields
from crowdgate.mechanisms.tables.answers import QuantileAnswer, TableAnswer, consistent_answers, raw_answers
from crowdgate.mechanisms.tables.dp_tables import DpTables
from crowdgate.mechanisms.tables.error_methods import LATEST_METHOD
from crowdgate.mechanisms.tables.workload import ContingencyTable, Mean, Quantiles, RowsAtBound
from crowdgate.noisy_counts.statements import noise_fields
from crowdgate.publish.dictionary import entries
from crowdgate.publish.levels import coarser

Answers = tuple[TableAnswer | QuantileAnswer, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class AnsweredTables(Candidate):
    """The tables as they would be published; `raw` as drawn, if the policy publishes them; and the `noisy` answers of
    all queries. Nothing here is confidential: it depends on noisy numbers and the plan."""

    cells: tuple[PublishedCells, ...]
    answers: Answers
    raw: Answers = ()
    noisy: tuple[Integers, ...] = ()


def protect(
    planned: TablesPlan, static: Static, counted: Mapping[str, Histogram], randomness: Randomness
) -> AnsweredTables:
    """Sample if the policy does, draw the noise, then compute the published numbers."""
    mechanism, spec = planned.mechanism, planned.spec
    coins = None if mechanism.beta == 1 else randomness.subsampler(mechanism.beta)
    noisy = mechanism.protect(counted, coins, randomness.vectors)
    answers = consistent_answers(mechanism, noisy, spec.relative_error)
    raw = raw_answers(mechanism, noisy, spec.relative_error) if spec.raw else ()
    cells = published_cells(planned, answers)
    if spec.suppress:
        answers, raw = _without_untrustworthy(answers), _without_untrustworthy(raw)
    return AnsweredTables(static=static, cells=cells, answers=answers, raw=raw, noisy=noisy)


def published_cells(planned: TablesPlan, answers: Answers) -> tuple[PublishedCells, ...]:
    """Return the cells that gates read, without untrustworthy numbers if the policy suppresses them."""
    return tuple(_cells(_without_untrustworthy(answers) if planned.spec.suppress else answers))


def publish(_: TablesPlan, candidate: AnsweredTables, contract: Contract) -> PublishedTables:
    """Return the tables as they are written, their manifest entries, and the levels of their columns."""
    levels = _levels(contract, candidate.answers)
    return PublishedTables(
        said=_table_fields(candidate.answers), tables=tuple(map(tidy, candidate.answers)),
        raw=tuple(map(tidy_raw, candidate.raw)), columns=entries(levels), coarser=list(coarser(levels)),
    )  # fmt: skip


def parameters(planned: TablesPlan) -> dict[str, Any]:
    """Return the mechanism's parameters as known before a release."""
    return json_fields(mechanism(planned))


def mechanism_fields(planned: TablesPlan, _: AnsweredTables) -> TablesMechanism:
    """Return the manifest's entry for the mechanism: all of it is known before there is a candidate."""
    return mechanism(planned)


def mechanism(planned: TablesPlan) -> TablesMechanism:
    """Return the manifest's entry for the mechanism. Each number carries noise, so there are no invariants."""
    made, spec = planned.mechanism, planned.spec
    stated = {
        "kind": "dp_tables", **noise_fields(made, _division(planned)), "beta": made.beta, "rows_per_unit": made.rows,
        "invariants": (), "relative_error": spec.relative_error, "suppress": spec.suppress, "raw": spec.raw,
        "errors": LATEST_METHOD,
    }  # fmt: skip
    return TablesMechanism.model_validate(stated)


def _division(planned: TablesPlan) -> str:
    """Return the division of the noise budget: that which the policy states, or which was chosen."""
    stated = planned.spec.split
    return stated if stated != "automatic" else "residuals" if planned.mechanism.residuals else "least-error"


def data_fields(held: PublishedTables) -> TablesData:
    """Return the manifest's entry for the files: the axes of each table, and its noisy vectors."""
    columns = tuple(ValuesFields(name=e.column, level=e.level, values=len(e.labels)) for e in held.columns)
    return TablesData(columns=columns, tables=held.said)


def private(planned: TablesPlan, candidate: AnsweredTables, counted: Mapping[str, Histogram]) -> Sections:
    """Return the custodian's private record: number of the table's rows, and the errors of the published counts."""
    rows = {"counted": next(iter(counted.values())).rows}
    return {
        "rows": lambda: rows,
        "utility": lambda: {"errors of counts": _errors(planned.mechanism, candidate, counted)},
    }


def _without_untrustworthy(answers: Answers) -> Answers:
    return tuple(each.suppressed() if isinstance(each, TableAnswer) else each for each in answers)


def _cells(answers: Answers) -> Iterator[PublishedCells]:
    for each in answers:
        if isinstance(each, TableAnswer):
            total, cells = isinstance(each.item, ContingencyTable) and not each.item.levels, each.cells
            value, error, flags = cells.value.reshape(-1), cells.error.reshape(-1), cells.trustworthy.reshape(-1)
            yield PublishedCells(statistic(each.item), value, error, flags, total)


def _table_fields(answers: Answers) -> tuple[TableFields, ...]:
    start, said = 0, []
    for stem, each in zip(file_names(answers), answers, strict=True):
        used = 2 if isinstance(each.item, Mean) else 1 + len(each.groups) if isinstance(each, QuantileAnswer) else 1
        said.append(_table(stem, each, tuple(range(start, start + used))))
        start += used
    return tuple(said)


def _table(stem: str, each: TableAnswer | QuantileAnswer, queries: tuple[int, ...]) -> TableFields:
    item = each.item
    quantiles = item if isinstance(item, Quantiles) else None
    taken = each.taken if isinstance(each, TableAnswer) else None
    return TableFields(
        file=stem, table=item.name, kind=statistic(item),
        column=None if isinstance(item, ContingencyTable) else item.column,
        end=item.end if isinstance(item, RowsAtBound) else None,
        numbers=None if taken is None else NumbersFields.model_validate(vars(taken)),
        level=None if quantiles is None else quantiles.level,
        at=None if quantiles is None else tuple(quantiles.probabilities),
        axes=tuple(TablesAxisFields(column=name, level=level.name) for name, level in each.levels.items()),
        cells=each.bins.size if isinstance(each, QuantileAnswer) else each.cells.value.size, queries=queries,
    )  # fmt: skip


def _levels(contract: Contract, answers: Sequence[TableAnswer | QuantileAnswer]) -> list[tuple[Attribute, Level]]:
    """Return each attribute at each level that a table uses, in the contract's order, finest level first."""
    used: dict[str, dict[str, Level]] = {}
    for each in answers:
        own = dict(each.levels)
        if isinstance(each, QuantileAnswer):
            used.setdefault(each.item.column, {}).update({own.name: own for own in (each.column, *each.groups)})
        for name, level in own.items():
            used.setdefault(name, {})[level.name] = level
    return [
        (attribute, level)
        for attribute in contract.attributes
        for level in sorted(used.get(attribute.name, {}).values(), key=len, reverse=True)
    ]


def _errors(mechanism: DpTables, candidate: AnsweredTables, counted: Mapping[str, Histogram]) -> list[dict[str, Any]]:
    true = mechanism.true_answers(counted)
    return [
        {"table": each.item.name, "root mean square": _root_mean_square(each.cells.value - exact)}
        for each, own in zip(candidate.answers, mechanism.workload.answers, strict=True)
        if isinstance(each, TableAnswer) and isinstance(each.item, ContingencyTable)
        for exact in [true[own[0]]]
    ]


def _root_mean_square(errors: Floats) -> float | None:
    """Return the root mean square of the errors that are not NaN; None if all are."""
    stated = errors[~np.isnan(errors)]
    return float(np.sqrt(np.mean(np.square(stated)))) if stated.size else None
