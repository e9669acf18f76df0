"""A release of differentially private tables: counted in one scan, drawn with noise, made consistent, written."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pipeline import manifest
from pipeline.candidate import PublishedCells, TablesCandidate
from pipeline.contract import Attribute
from pipeline.hierarchy import Level
from pipeline.histogram import Histogram, Records
from pipeline.io.release_files import write_dictionary
from pipeline.io.table_files import (
    COARSER,
    LISTING,
    RAW,
    file_names,
    kind_name,
    table_writers,
    write_coarser,
    write_listing,
)
from pipeline.jobs.plan import Plan
from pipeline.jobs.run import Coins, Judged, Reserved, Run, Sources
from pipeline.mechanisms import DpTables
from pipeline.mechanisms.dp_answers import Answer, QuantileAnswer, consistent_answers, raw_answers
from pipeline.mechanisms.dp_counting import answer as true_answers
from pipeline.mechanisms.dp_workload import Mean, Quantiles, Sum, Table
from pipeline.policy_tables import DpTablesSpec
from pipeline.report.tables_page import tables_page


@dataclass(frozen=True, eq=False)
class AnsweredTables(TablesCandidate):
    """The tables as they would be published; `raw` as drawn, if the policy asks for that."""

    answers: tuple[Answer | QuantileAnswer, ...]
    raw: tuple[Answer | QuantileAnswer, ...] = ()


def columns(mechanism: DpTables) -> Iterable[str]:
    """What is read: every attribute of a table, every numeric column."""
    return {name for view in mechanism.views.values() for name in view.levels}


def count(mechanism: DpTables, batches: Iterable[Records], coins: Coins) -> Mapping[str, Histogram]:
    """The views behind all tables; of the sample, where there is one: a coin a row, then every view counts the same."""
    return mechanism.count(batches, None if mechanism.beta == 1 else coins)


def protect(reserved: Reserved, views: Mapping[str, Histogram], _: Coins, sources: Sources) -> AnsweredTables:
    """Draw the noise, then what is published of it."""
    plan = reserved.run.plan
    mechanism, spec = _mechanism(plan), _spec(plan)
    noisy = mechanism.protect(views, sources.tables)
    answers = consistent_answers(mechanism, noisy, spec.relative_error)
    raw = raw_answers(mechanism, noisy, spec.relative_error) if spec.raw else ()
    if spec.suppress:
        answers, raw = _suppressed(answers), _suppressed(raw)
    return AnsweredTables(reserved.static, tuple(_cells(answers)), answers, raw)


def writers(run: Run, judged: Judged) -> dict[str, Callable[[Path], None]]:
    """The published files: the tables, what is in them, and how to use them."""
    found, formats = _answered(judged.candidate), run.plan.bundle.policy.spec.publish.formats
    levels = _labels(run.plan, found.answers)
    page = _page(run, judged, found)
    return {
        **dict(table_writers(found.answers, formats)),
        **dict(table_writers(found.raw, formats, RAW)),
        LISTING: lambda path: write_listing(_listing(run.plan, found.answers), path),
        "dictionary.csv": lambda path: write_dictionary(levels, path),
        COARSER: lambda path: write_coarser(levels, path),
        "README.md": lambda path: _write_text(path, page),
    }


def mechanism(plan: Plan, _: TablesCandidate) -> dict[str, Any]:
    """What the manifest says of the mechanism."""
    spec = _spec(plan)
    return {
        **_mechanism(plan).parameters(),
        "split": spec.split,
        "relative_error": str(spec.relative_error),
        "suppress": spec.suppress,
        "raw": spec.raw,
    }


def data(candidate: TablesCandidate) -> dict[str, Any]:
    """What the manifest says of the files: the axes of every table, and which noisy vectors it is made of."""
    found = _answered(candidate)
    stems, start, tables = file_names(found.answers), 0, []
    for stem, each in zip(stems, found.answers, strict=True):
        used = 2 if isinstance(each.item, Mean) else 1
        tables.append({"file": stem, **_described(each), "queries": list(range(start, start + used))})
        start += used
    return {"tables": tables}


def private(plan: Plan, candidate: TablesCandidate, views: Mapping[str, Histogram]) -> dict[str, Any]:
    """What the curator may know: rows that were counted, and how far the published counts are from the true ones."""
    rows = {"counted": next(iter(views.values())).rows}
    try:
        return {"rows": rows, "utility": {"errors of counts": _errors(_mechanism(plan), candidate, views)}}
    except Exception as fault:  # must not decide how a release ends, which everybody sees
        return {"rows": rows, "utility": {"fault": type(fault).__name__}}


def guarantee_lines(plan: Plan) -> list[str]:
    """The guarantee in words, and its form for users who take the number of people as known: all parts twice."""
    return manifest.guarantee_words(plan.guarantee, None)


def workload_lines(plan: Plan) -> list[str]:
    """How many tables and numbers, with which noise, in words."""
    found = _mechanism(plan)
    tables, cells = len(found.workload.items), found.workload.cells
    unit = "epsilon" if found.budget.noise == "laplace" else "rho"
    rate = "" if found.beta == 1 else f" on a sample of rate {float(found.beta):g}"
    spend = f"{unit} {float(found.budget.spend):.4g}"
    return [f"{tables} tables from {cells} noisy numbers: discrete {found.budget.noise} noise of {spend}{rate}."]


def _mechanism(plan: Plan) -> DpTables:
    assert isinstance(plan.mechanism, DpTables)
    return plan.mechanism


def _spec(plan: Plan) -> DpTablesSpec:
    spec = plan.bundle.policy.spec.mechanism
    assert isinstance(spec, DpTablesSpec)
    return spec


def _answered(candidate: object) -> AnsweredTables:
    assert isinstance(candidate, AnsweredTables)
    return candidate


def _suppressed(answers: Sequence[Answer | QuantileAnswer]) -> tuple[Answer | QuantileAnswer, ...]:
    return tuple(replace(each, cells=each.cells.suppressed()) if isinstance(each, Answer) else each for each in answers)


def _cells(answers: Sequence[Answer | QuantileAnswer]) -> Iterator[PublishedCells]:
    for each in answers:
        if isinstance(each, Answer):
            kind, total = kind_name(each.item), isinstance(each.item, Table) and not each.item.levels
            cells = each.cells
            value, error, flags = cells.value.reshape(-1), cells.error.reshape(-1), cells.trustworthy.reshape(-1)
            yield PublishedCells(kind, value, error, flags, total)


def _described(each: Answer | QuantileAnswer) -> dict[str, Any]:
    axes = [{"column": name, "level": level.name} for name, level in each.levels.items()]
    of = {"column": each.item.column} if isinstance(each.item, Sum | Mean | Quantiles) else {}
    at = {"level": each.item.level} if isinstance(each.item, Quantiles) else {}
    probabilities = {"at": [str(p) for p in each.item.probabilities]} if isinstance(each.item, Quantiles) else {}
    return {"table": each.item.name, "kind": kind_name(each.item), **of, **at, **probabilities, "axes": axes}


def _listing(plan: Plan, answers: Sequence[Answer | QuantileAnswer]) -> Iterator[dict[str, Any]]:
    found = _mechanism(plan)
    for stem, each, own in zip(file_names(answers), answers, found.workload.answers, strict=True):
        law, grid = found.laws[own[0]], found.queries[own[0]].grid
        unit = float((1 if grid is None else grid.unit) / found.beta)
        size = each.cells.value.size if isinstance(each, Answer) else each.bins.size
        described = {key: value for key, value in _described(each).items() if key not in ("axes", "at")}
        error = "" if isinstance(each.item, Mean) else f"{law.variance**0.5 * unit:.6g}"
        yield {"file": stem, **described, "cells": size, "noise_error": error}


def _labels(plan: Plan, answers: Sequence[Answer | QuantileAnswer]) -> list[tuple[Attribute, Level]]:
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
        for attribute in plan.bundle.contract.attributes
        for level in sorted(used.get(attribute.name, {}).values(), key=len, reverse=True)
    ]


def _errors(found: DpTables, candidate: TablesCandidate, views: Mapping[str, Histogram]) -> list[dict[str, Any]]:
    true = true_answers(found.queries, found.views, views)
    published = _answered(candidate).answers
    return [
        {"table": each.item.name, "root mean square": float(np.sqrt(np.nanmean(np.square(each.cells.value - exact))))}
        for each, own in zip(published, found.workload.answers, strict=True)
        if isinstance(each, Answer) and isinstance(each.item, Table)
        for exact in [true[own[0]] / float(found.beta)]
    ]


def _page(run: Run, judged: Judged, found: AnsweredTables) -> str:
    plan, policy = run.plan, run.plan.bundle.policy
    mechanism, spec = _mechanism(plan), _spec(plan)
    return tables_page(
        title=policy.metadata.name,
        description=policy.metadata.description,
        owner=policy.metadata.owner,
        release_id=run.id,
        tables=[(row["file"], row["table"], row["cells"]) for row in _listing(plan, found.answers)],
        formats=policy.spec.publish.formats,
        noise=mechanism.budget.noise,
        beta=mechanism.beta,
        relative=spec.relative_error,
        suppress=spec.suppress,
        raw=spec.raw,
        workload=workload_lines(plan),
        guarantee=guarantee_lines(plan),
        verdicts=judged.verdicts,
    )


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
