"""Ingestion summary: cells, rows and people of a table. Confidential: for charged gates and the curator."""

from collections.abc import Mapping
from typing import Any

from crowdgate.candidate import Input
from crowdgate.contracts.contract import Attribute
from crowdgate.sources.counting import CountingTask, PartialCounts
from crowdgate.sources.encode import Reason
from crowdgate.sources.facts import TableFacts


def units(total: PartialCounts, task: CountingTask) -> Input:
    """Return the table's input for gates, in privacy units. In a ragged row every cell is invalid, and no person is
    identified.
    """
    facts, found = total.facts, total.figures
    if found is None:
        invalid = {name: facts.invalid[name] + facts.ragged for name in task.watched}
        return Input(facts.rows, facts.broken, invalid, 0)
    anywhere, *each = found.faulty
    truncated = 0 if task.contract.is_of_persons else found.truncated
    return Input(found.people, anywhere, dict(zip(task.watched, each, strict=True)), truncated)


def ingestion_figures(total: PartialCounts, task: CountingTask) -> dict[str, Any]:
    """Return figures for the curator's private record: rows, people, and columns with the reasons of invalid cells.

    The most frequent reason comes first. Counts and names of columns only, no value of the table.
    """
    facts, read = total.facts, task.contract.columns_of(task.columns)
    columns = {name: _column(facts, task.contract.columns[name]) for name in read}
    rows = {
        "in the files": facts.rows,
        "of a wrong number of cells": facts.ragged,
        "with an invalid cell": facts.broken,
        "dropped": facts.dropped,
    }
    return {
        "rows": rows | _person_rows_figures(total, task),
        "people": _people_figures(total, task),
        "columns": columns,
    }


def _column(facts: TableFacts, attribute: Attribute) -> dict[str, Any]:
    invalid, cells = facts.invalid[attribute.name], facts.rows - facts.ragged
    reasons = [{"reason": str(each), "cells": facts.reasons[attribute.name, each]} for each in Reason]
    return {
        "invalid": invalid,
        "share": invalid / cells if cells else 0.0,
        "reasons": sorted((each for each in reasons if each["cells"]), key=_rarity),
        "then": "the row is dropped" if attribute.invalid == "drop" else "the cell counts as (invalid)",
    }


def _rarity(counted: Mapping[str, Any]) -> int:
    return -int(counted["cells"])


def _person_rows_figures(total: PartialCounts, task: CountingTask) -> dict[str, int]:
    found = total.figures
    if found is None:
        return {}
    nobody = total.facts.rows - total.facts.ragged - found.named
    truncated = {} if task.contract.is_of_persons else {"truncated": found.excess}
    return {"that name no person": nobody, **truncated}


def _people_figures(total: PartialCounts, task: CountingTask) -> dict[str, int]:
    if total.figures is None:
        return {}
    found = units(total, task)
    return {"named": found.units, "with an invalid cell": found.invalid, "truncated": found.truncated}
