"""A release of differentially private tables: drawn with noise, made consistent, written."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crowdgate.candidate import Candidate, PublishedCells, Static
from crowdgate.contracts.contract import Attribute, Contract
from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram
from crowdgate.kind.kind import Formats, Sections, Writer
from crowdgate.kind.randomness import Randomness
from crowdgate.kinds.tables.files import (
    COARSER,
    LISTING,
    RAW,
    file_names,
    statistic,
    table_writers,
    write_coarser,
    write_listing,
)
from crowdgate.kinds.tables.plan import TablesPlan
from crowdgate.mechanisms.tables.answers import Answer, QuantileAnswer, consistent_answers, raw_answers
from crowdgate.mechanisms.tables.dp_tables import DpTables
from crowdgate.mechanisms.tables.workload import Mean, Quantiles, Sum, Table
from crowdgate.publish.dictionary import DICTIONARY, write_dictionary

Answers = tuple[Answer | QuantileAnswer, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class AnsweredTables(Candidate):
    """The tables as they would be published; `raw` as drawn, if the policy asks for that. Nothing in it is
    confidential: it is made of noisy numbers and the plan."""

    cells: tuple[PublishedCells, ...]
    answers: Answers
    raw: Answers = ()


def protect(
    planned: TablesPlan, static: Static, counted: Mapping[str, Histogram], randomness: Randomness
) -> AnsweredTables:
    """Sample if the policy does, draw the noise, then what is published of it."""
    mechanism, spec = planned.mechanism, planned.spec
    coins = None if mechanism.beta == 1 else randomness.coins(mechanism.beta)
    noisy = mechanism.protect(counted, coins, randomness.vectors)
    answers = consistent_answers(mechanism, noisy, spec.relative_error)
    raw = raw_answers(mechanism, noisy, spec.relative_error) if spec.raw else ()
    if spec.suppress:
        answers, raw = _suppressed(answers), _suppressed(raw)
    return AnsweredTables(static=static, cells=tuple(_cells(answers)), answers=answers, raw=raw)


def files(planned: TablesPlan, candidate: AnsweredTables, contract: Contract, formats: Formats) -> Mapping[str, Writer]:
    """The tables, what is in them, and the levels of their columns."""
    levels = _labels(contract, candidate.answers)
    return {
        **dict(table_writers(candidate.answers, formats)),
        **dict(table_writers(candidate.raw, formats, RAW)),
        LISTING: lambda path: write_listing(listing(planned.mechanism, candidate.answers), path),
        DICTIONARY: lambda path: write_dictionary(levels, path),
        COARSER: lambda path: write_coarser(levels, path),
    }


def parameters(planned: TablesPlan) -> dict[str, Any]:
    """What the manifest says of the mechanism."""
    spec = planned.spec
    return {
        **planned.mechanism.parameters(),
        "split": spec.split,
        "relative_error": str(spec.relative_error),
        "suppress": spec.suppress,
        "raw": spec.raw,
    }


def data(candidate: AnsweredTables) -> dict[str, Any]:
    """What the manifest says of the files: the axes of every table, and which noisy vectors it is made of."""
    stems, start, tables = file_names(candidate.answers), 0, []
    for stem, each in zip(stems, candidate.answers, strict=True):
        used = 2 if isinstance(each.item, Mean) else 1
        tables.append({"file": stem, **_described(each), "queries": list(range(start, start + used))})
        start += used
    return {"tables": tables}


def private(planned: TablesPlan, candidate: AnsweredTables, counted: Mapping[str, Histogram]) -> Sections:
    """What the curator may know: rows of the table, and how far the published counts are from the true ones."""
    rows = {"counted": next(iter(counted.values())).rows}
    return {
        "rows": lambda: rows,
        "utility": lambda: {"errors of counts": _errors(planned.mechanism, candidate, counted)},
    }


def listing(mechanism: DpTables, answers: Answers) -> Iterator[dict[str, Any]]:
    """A line for every table: its file, what it holds, its number of cells and the standard error of its noise."""
    for stem, each, own in zip(file_names(answers), answers, mechanism.workload.answers, strict=True):
        law, grid = mechanism.laws[own[0]], mechanism.queries[own[0]].grid
        unit = float((1 if grid is None else grid.unit) / mechanism.beta)
        size = each.cells.value.size if isinstance(each, Answer) else each.bins.size
        described = {key: value for key, value in _described(each).items() if key not in ("axes", "at")}
        error = "" if isinstance(each.item, Mean) else f"{law.variance**0.5 * unit:.6g}"
        yield {"file": stem, **described, "cells": size, "noise_error": error}


def _suppressed(answers: Answers) -> Answers:
    return tuple(replace(each, cells=each.cells.suppressed()) if isinstance(each, Answer) else each for each in answers)


def _cells(answers: Answers) -> Iterator[PublishedCells]:
    for each in answers:
        if isinstance(each, Answer):
            total, cells = isinstance(each.item, Table) and not each.item.levels, each.cells
            value, error, flags = cells.value.reshape(-1), cells.error.reshape(-1), cells.trustworthy.reshape(-1)
            yield PublishedCells(statistic(each.item), value, error, flags, total)


def _described(each: Answer | QuantileAnswer) -> dict[str, Any]:
    axes = [{"column": name, "level": level.name} for name, level in each.levels.items()]
    of = {"column": each.item.column} if isinstance(each.item, Sum | Mean | Quantiles) else {}
    at = {"level": each.item.level} if isinstance(each.item, Quantiles) else {}
    probabilities = {"at": [str(p) for p in each.item.probabilities]} if isinstance(each.item, Quantiles) else {}
    return {"table": each.item.name, "kind": statistic(each.item), **of, **at, **probabilities, "axes": axes}


def _labels(contract: Contract, answers: Sequence[Answer | QuantileAnswer]) -> list[tuple[Attribute, Level]]:
    """Every attribute at every level that a table uses, in the contract's order, finest level first."""
    used: dict[str, dict[str, Level]] = {}
    for each in answers:
        own = dict(each.levels)
        if isinstance(each, QuantileAnswer):
            used.setdefault(each.item.column, {})[each.column.name] = each.column
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
        {"table": each.item.name, "root mean square": float(np.sqrt(np.nanmean(np.square(each.cells.value - exact))))}
        for each, own in zip(candidate.answers, mechanism.workload.answers, strict=True)
        if isinstance(each, Answer) and isinstance(each.item, Table)
        for exact in [true[own[0]]]
    ]
