"""Forecast for synthetic rows before any data are read, and whether there are enough people for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.kind.forecast import Axes, Figure, Forecast
from crowdgate.kind.listing import Listing, ListingColumn
from crowdgate.kinds.synthetic.expected_errors import table_errors
from crowdgate.mechanisms.synthetic.spec import DpSyntheticSpec
from crowdgate.number_text import PEOPLE, SHARE, Value

if TYPE_CHECKING:
    from crowdgate.kind.prior import Prior
    from crowdgate.kinds.synthetic.plan import SyntheticPlan

SMALL = 0.1
"""A table counts as too small from this mean expected distance of its one-way tables."""
COLUMNS = (
    ListingColumn("attribute", "attribute"),
    ListingColumn("level", "level"),
    ListingColumn("values", "values", "d"),
    ListingColumn("sigma", "noise of a cell"),
    ListingColumn("error", "expected distance", SHARE),
)


def outlook(planned: SyntheticPlan, prior: Prior) -> Forecast:
    """Return expected distances of one-way tables, the noise of the certificate, and the least number of people for
    useful rows."""
    distances = cache(lambda: planned.mechanism.one_way_errors(_expected_people(prior)))
    errors = cache(lambda: table_errors(planned.mechanism, prior))
    return Forecast(
        make_figures=lambda: tuple(_figures(planned, prior, distances())),
        made=lambda: (_listing(planned, distances()),),
        errors=lambda axes: errors()(axes),
        compared=planned.mechanism.finest,
    )


def _listing(planned: SyntheticPlan, errors: dict[str, float]) -> Listing:
    note, rows = "half the sum of absolute errors, in parts of all rows", tuple(_rows(planned, errors))
    return Listing("expected", "Expected distances of tables of one attribute", COLUMNS, rows, note)


def _figures(planned: SyntheticPlan, prior: Prior, errors: dict[str, float]) -> Iterator[Figure]:
    people, mean = _expected_people(prior), sum(errors.values()) / len(errors)
    one = "expected distance of tables of one attribute, in parts of all rows"
    certified, needed = _pair_error(planned, people), _needed_people(planned)
    yield Figure.exact("beta", "sampling rate beta", planned.mechanism.beta)
    yield Figure.exact("rho", "rho of all noise", planned.mechanism.drawing.budget.rho)
    yield Figure.exact("one_way_error", one, mean, SHARE)
    yield Figure.exact("certificate_error", "noise of a certified distance of two attributes", certified, SHARE)
    yield Figure.exact("people_needed", f"people for that distance to be below {SMALL:.0%}", needed, PEOPLE)
    yield Figure.exact("enough", "whether there are enough people", "yes" if mean < SMALL else _too_few_people(prior))


def propose(levels: Axes) -> Sequence[DpSyntheticSpec]:
    """Return a policy for synthetic rows of these attributes at these levels; none for fewer than two attributes."""
    named = {name: level.name for name, level in levels.items()}
    return [DpSyntheticSpec.model_validate({"kind": "dp_synthetic", "attributes": named})] if len(named) > 1 else []


def _too_few_people(prior: Prior) -> str:
    return f"no: of {prior.people} people or less rows would tell little; take fewer attributes or coarser levels"


def _expected_people(prior: Prior) -> float:
    """Return the expected number of people: the total of the given counts or, without counts, the budget's bound on
    people."""
    total = prior.joint({})
    return float(prior.people) if total is None else float(total.people.sum())


def _pair_error(planned: SyntheticPlan, people: float) -> float:
    """Return the standard error, from noise, of the certified distance of a pair of columns, as a share of the rows."""
    drawing = planned.mechanism.drawing
    number = len(drawing.domain.attributes)
    number = number * (number - 1) // 2
    sigma = drawing.rows_per_unit * sqrt(number / (2 * drawing.budget.certificate))
    return sigma / 2 / max(1.0, float(planned.mechanism.beta) * people)


def _needed_people(planned: SyntheticPlan) -> int:
    """Return the number of people, rounded up, at which the expected distance of one-way tables, averaged over the
    attributes, is `SMALL`."""
    errors = planned.mechanism.one_way_errors(1 / float(planned.mechanism.beta))
    return int(np.ceil(sum(errors.values()) / len(errors) / SMALL / float(planned.mechanism.beta)))


def _rows(planned: SyntheticPlan, errors: dict[str, float]) -> Iterator[dict[str, Value]]:
    variances = planned.mechanism.one_way_variances()
    for name, level in planned.mechanism.finest.items():
        yield {
            "attribute": name,
            "level": level.name,
            "values": len(level),
            "sigma": sqrt(variances[name]),
            "error": errors[name],
        }
