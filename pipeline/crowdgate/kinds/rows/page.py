"""The README of a release of rows, for the users of the data."""

from collections.abc import Iterator, Sequence

import numpy as np

from crowdgate.kind.kind import KindPage
from crowdgate.kinds.rows import first_estimates
from crowdgate.kinds.rows.candidate import CalibratedMargins, PublishedMargin, PublishedRows
from crowdgate.kinds.rows.manifest_fields import ChoiceFields, MarginsFields, RowsManifest
from crowdgate.kinds.rows.margins import decimal_text, labels_of, limits_text, margin_fit
from crowdgate.kinds.rows.weights import RIDGE
from crowdgate.measures.weighted_rows import effective_rows
from crowdgate.mechanisms.rows.calibration import GRID as UNITS
from crowdgate.mechanisms.rows.choice import choice_sentence
from crowdgate.number_text import decimal

LISTED = 20
"""The largest number of cells listed in the README; the files hold the others."""
Cell = dict[str, object]


def page(said: RowsManifest, held: PublishedRows) -> KindPage:
    """Return the columns, the method, instructions for use, and an example with the release's numbers."""
    safe = said.mechanism
    values: dict[str, object] = {
        "columns": [{"name": each.name, "level": each.level, "values": each.values} for each in said.data.columns],
        "beta": f"{float(safe.beta):g}",
        "k": safe.k,
        "rows": safe.rows,
        "inherited": safe.inherited,
        "uses": said.use_text,
        "choice": [] if safe.choice is None else [_choice_text(safe.choice, said.format)],
    }
    own = _first_format_values(said, held) if said.format == 1 else _second_format_values(said, held)
    return KindPage(f"kinds/rows/release.{said.format}.md.j2", {**values, **own})


def _choice_text(choice: ChoiceFields, form: int) -> str:
    price = f"{float(choice.epsilon):g}" if form == 1 else decimal(choice.epsilon)
    return choice_sentence(choice.chosen, choice.candidates, choice.score, choice.target, choice.on, price)


def _first_format_values(said: RowsManifest, held: PublishedRows) -> dict[str, object]:
    """Return the values, by name, that only READMEs of format 1 use: the share 1 - beta, a row's weight 1 / beta, and
    example estimates."""
    beta = said.mechanism.beta
    found = first_estimates.largest_cells(first_estimates.estimates(held.rows, beta, held.labels))
    return {
        "rest": f"{float(1 - beta):g}",
        "weight": f"{float(1 / beta):g}",
        "examples": list(map(first_estimates.example_line, found)),
    }


def _second_format_values(said: RowsManifest, held: PublishedRows) -> dict[str, object]:
    bought, weighting, found = said.mechanism.margins, held.weighting, said.data.margins
    if bought is None or weighting is None or found is None:
        return {"margins": None}
    noise = {"kind": bought.noise, "tables": len(bought.queries), "cells": found.cells, "epsilon": _costs_text(said)}
    weights = weighting.weights / UNITS
    return {
        "margins": noise,
        "coarser": bool(weighting.entries),
        "bounds": _bounds(bought),
        "least": decimal_text(float(weights.min())) if len(weights) else "0",
        "most": decimal_text(float(weights.max())) if len(weights) else "0",
        "shares": "" if found.shares is None else f"{float(100 * found.shares.level):g} of 100",
        "exact": bought.calibration != RIDGE,
        "flat": bool(len(weights)) and bool((weighting.weights == round(UNITS / said.mechanism.beta)).all()),
        "effective": effective_rows(held.rows.counts, weighting.weights),
        "weighted": decimal_text(float(held.rows.counts @ weighting.weights) / UNITS),
        "total": decimal_text(float(weighting.margins[0].value.sum())),
        "represented": found.represented,
        "met": found.met,
        "examples": list(_largest(held, weighting)),
        "absent": list(_absent(held, weighting)),
    }


def _costs_text(said: RowsManifest) -> str:
    return next(decimal(part.epsilon) for part in said.guarantee.parts if part.name == "margins")


def _bounds(bought: MarginsFields) -> dict[str, str]:
    return {"low": f"{float(bought.low):g}", "high": f"{float(bought.high):g}"}


def _largest(held: PublishedRows, weighting: CalibratedMargins, most: int = 3) -> Iterator[Cell]:
    """Yield the largest cell of each of the `most` one-way margins whose largest cells are the largest."""
    one_way = [each for each in weighting.margins if len(each.levels) == 1 and len(each.value)]
    for margin in sorted(one_way, key=lambda each: -float(each.value.max()))[:most]:
        yield _cell(held, margin, int(margin.value.argmax()))


def _absent(held: PublishedRows, weighting: CalibratedMargins) -> Iterator[Cell]:
    """Yield cells of one-way margins without a released row whose interval excludes 0."""
    shown = 0
    for margin in weighting.margins:
        if len(margin.levels) == 1:
            for at in np.flatnonzero((margin_fit(held, margin).rows == 0) & (margin.lower > 0)).tolist():
                shown += 1
                if shown <= LISTED:
                    yield _cell(held, margin, at)


def _cell(held: PublishedRows, margin: PublishedMargin, at: int) -> Cell:
    (axis,), found = margin.levels.items(), margin_fit(held, margin)
    labels: Sequence[str] = labels_of(held)[axis]
    low, high = limits_text(margin.lower[at], margin.upper[at])
    return {
        "column": axis[0],
        "label": labels[at],
        "rows": int(found.rows[at]),
        "estimate": decimal_text(margin.value[at]),
        "interval": f"{low} to {high}",
        "weighted": decimal_text(found.weighted[at] / UNITS),
    }
