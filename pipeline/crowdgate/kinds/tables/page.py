"""The README of a release of tables, for the users of the numbers."""

from crowdgate.domain import number_label
from crowdgate.kind.kind import KindPage
from crowdgate.kinds.tables.flags import FLAGS
from crowdgate.kinds.tables.manifest_fields import NumbersFields, TableFields, TablesManifest
from crowdgate.kinds.tables.plan import workload_sentence
from crowdgate.kinds.tables.released_files import PublishedTables
from crowdgate.kinds.tables.standard_errors import counts_plan
from crowdgate.mechanisms.tables.error_methods import FIRST_METHOD
from crowdgate.number_text import decimal
from crowdgate.publish.levels import domains_of


def estimand(table: TableFields) -> str:
    """Return what the numbers of a table about a column estimate; nothing for counts, whose rows the release states."""
    if table.numbers is None:
        level = f"The bin at the level {table.level} that holds each quantile of {table.column}, over the rows"
        return "" if table.kind != "quantiles" else f"{level} of a cell whose {table.column} is valid."
    taken = _clamping_text(table.numbers)
    if table.kind == "clamped":
        low, high = number_label(table.numbers.low), number_label(table.numbers.high)
        end, beyond = (low, f"{low} or less") if table.end == "low" else (high, f"{high} or more")
        rows = f"The rows of a cell whose {table.column}, rounded as in sums and means, is {beyond}"
        return f"{rows}: all numbers of its domain that a sum or a mean takes for {end}."
    over = "The sum" if table.kind == "sum" else "The mean"
    return f"{over} of {table.column} over the rows of a cell where it is valid, {taken}. {_bias(table)}"


def _clamping_text(numbers: NumbersFields) -> str:
    low, high, step = (number_label(each) for each in (numbers.low, numbers.high, numbers.precision))
    clamped = f"numbers of its domain below {low} taken for {low}, above {high} for {high}"
    return (
        clamped
        + {
            "nearest": f", rounded to the nearest of {low} and steps of {step} from there, of two the greater",
            "down": f", each taken for the lower end of its interval of {step}",
            "none": "",
        }[numbers.rounding]
    )


def _bias(table: TableFields) -> str:
    """Return the direction in which the estimand differs from that of the unclamped, unrounded numbers."""
    assert table.numbers is not None, "asked before"
    what, step = f"the {table.kind} of the numbers as they are", number_label(table.numbers.precision)
    clamped = f"Where there are numbers beyond these ends, {what} is another"
    each = f", and every number is taken for up to {step} less than it is"
    return clamped + (each if table.numbers.rounding == "down" else "") + "."


def page(said: TablesManifest, held: PublishedTables) -> KindPage:
    """Return the content of the files, the method, and the meaning of intervals."""
    mechanism, tables = said.mechanism, said.data.tables
    cells = sum(each.cells for each in mechanism.residuals or mechanism.queries)
    assert mechanism.spend is not None, "a mechanism of tables states its budget"
    spend = f"{float(mechanism.spend):.4g}" if said.format == 1 else decimal(mechanism.spend)
    words = workload_sentence(len(tables), cells, mechanism.noise_kind, spend, mechanism.beta)
    values = {
        "tables": [{"file": each.file, "table": each.table, "cells": each.cells} for each in tables],
        "noise": mechanism.noise_kind,
        "beta": f"{float(mechanism.beta):g}",
        "sampled": mechanism.beta != 1,
        "relative": f"{float(mechanism.relative_error):g}",
        "suppress": mechanism.suppress,
        "raw": mechanism.raw,
        "residuals": mechanism.residuals is not None,
        "flags": [{"flag": flag, "meaning": meaning} for flag, meaning in FLAGS.items()],
        "workload": [words],
        "numbers": [{"file": each.file, "words": words} for each in tables if (words := estimand(each))],
        "means": any(each.kind == "mean" for each in tables),
        "quantiles": any(each.kind == "quantiles" for each in tables),
        "grouped": any(each.kind == "quantiles" and len(each.queries) > 1 for each in tables),
        "agree": _agree(said, held) if any(each.kind == "count" for each in tables) else None,
        "width": None if mechanism.width is None else f"{float(mechanism.width):g}",
        "used": "the numbers",
        "estimated": "over the rows that are described above (Whose rows)",
    }
    shown = {None: "", FIRST_METHOD: ".errors"}.get(mechanism.errors, ".published")
    form = f"{said.format}{shown}"
    return KindPage(f"kinds/tables/release.{form}.md.j2", values, ({"estimated": "for the whole source table"},))


def _agree(said: TablesManifest, held: PublishedTables) -> bool:
    """Return whether all tables of counts agree exactly."""
    return counts_plan(said, domains_of(held.columns, held.coarser)).lattice.agreeing
