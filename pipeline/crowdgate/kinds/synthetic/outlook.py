"""What is expected of synthetic rows before any data are read: errors of tables of one attribute, which follow from the
noise, and of two, which depend on what is related.

A table of two attributes is off by the noise of its measurement, or, where it is not measured, by what its attributes
have to do with each other: whichever is less, since tables are chosen by that. The price of a measurement is taken as
the first rounds have it.
"""

from collections.abc import Iterator, Sequence
from math import pi, sqrt

import numpy as np

from crowdgate.hierarchy import Level, above
from crowdgate.kind.forecast import (
    PEOPLE,
    SHARE,
    Axes,
    CellErrors,
    Column,
    Errors,
    Figure,
    Floats,
    Forecast,
    Listing,
    Value,
)
from crowdgate.kind.prior import Prior
from crowdgate.kinds.synthetic.plan import SyntheticPlan
from crowdgate.mechanisms.synthetic.rounds import PRICES, SELECTING
from crowdgate.mechanisms.synthetic.spec import DpSyntheticSpec

FACTOR = 2.0
"""How many times as large the error of a cell can well be: a model of many tables is no measurement of each."""
SMALL = 0.1
"""Mean distance of the tables of one attribute from which on a table is called too small."""
COLUMNS = (
    Column("attribute", "attribute"),
    Column("level", "level"),
    Column("values", "values", "d"),
    Column("sigma", "noise of a cell"),
    Column("error", "expected distance", SHARE),
)


def outlook(planned: SyntheticPlan, prior: Prior) -> Forecast:
    """Expected distances of the tables of one attribute, the noise of the certificate, and from how many people on
    there are enough."""
    people = _people(prior)
    errors = planned.mechanism.one_way_errors(people)
    mean = sum(errors.values()) / len(errors)
    note = "half the sum of absolute errors, in parts of all rows"
    listed = tuple(_rows(planned, errors))
    return Forecast(
        figures=tuple(_figures(planned, prior, mean, people)),
        made=lambda: (Listing("expected", "Expected distances of tables of one attribute", COLUMNS, listed, note),),
        errors=_errors(planned, prior),
        compared=planned.mechanism.finest,
    )  # fmt: skip


def _figures(planned: SyntheticPlan, prior: Prior, mean: float, people: float) -> Iterator[Figure]:
    one = "expected distance of tables of one attribute, in parts of all rows"
    certified, needed = _certified(planned, people), _needed(planned)
    yield Figure.exact("beta", "sampling rate beta", planned.mechanism.beta)
    yield Figure.exact("rho", "rho of all noise", planned.mechanism.drawing.budget.rho)
    yield Figure.exact("one_way_error", one, mean, SHARE)
    yield Figure.exact("certificate_error", "noise of a certified distance of two attributes", certified, SHARE)
    yield Figure.exact("people_needed", f"people for that distance to be below {SMALL:.0%}", needed, PEOPLE)
    yield Figure.exact("enough", "whether there are enough people", "yes" if mean < SMALL else _too_few(prior))


def propose(levels: Axes) -> Sequence[DpSyntheticSpec]:
    """Synthetic rows of these attributes at these levels."""
    named = {name: level.name for name, level in levels.items()}
    return [DpSyntheticSpec.model_validate({"kind": "dp_synthetic", "attributes": named})] if len(named) > 1 else []


def _too_few(prior: Prior) -> str:
    return f"no: of {prior.people} people or less rows would tell little; take fewer attributes or coarser levels"


def _people(prior: Prior) -> float:
    """How many there are, by the counts that are given or the budget's bound."""
    total = prior.joint({})
    return float(prior.people) if total is None else float(total.people.sum())


def _certified(planned: SyntheticPlan, people: float) -> float:
    """The standard error of a pair's distance."""
    drawing = planned.mechanism.drawing
    number = len(drawing.domain.attributes)
    number = number * (number - 1) // 2
    sigma = drawing.rows_per_unit * sqrt(number / (2 * drawing.budget.certificate))
    return sigma / 2 / max(1.0, float(planned.mechanism.beta) * people)


def _needed(planned: SyntheticPlan) -> int:
    """The people of whom the mean distance is `SMALL`."""
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


def _errors(planned: SyntheticPlan, prior: Prior) -> Errors:
    """Of tables of one and two released attributes, at their levels or coarser ones; in persons of the whole table."""
    mechanism = planned.mechanism
    variances, rate = mechanism.one_way_variances(), float(mechanism.beta)

    def of_table(axes: Axes) -> CellErrors | None:
        counts = prior.counts(axes)
        own = {name: mechanism.finest.get(name) for name in axes}
        if counts is None or not 1 <= len(axes) <= 2 or not all(_finer(own[name], axes[name]) for name in axes):
            return None
        noise, model = (_one_way if len(axes) == 1 else _two_way)(planned, axes, counts, variances)
        coins = np.sqrt(np.maximum(counts, 0) * (1 - rate) / rate)
        parts = {"noise": noise / rate, "model": model, "coins": coins}
        return CellErrors(np.sqrt(sum(np.square(part) for part in parts.values())), parts, factor=FACTOR)

    return of_table


def _finer(own: Level | None, level: Level) -> bool:
    return own is not None and len(own) >= len(level)


def _one_way(planned: SyntheticPlan, axes: Axes, counts: Floats, variances: dict[str, float]) -> tuple[Floats, Floats]:
    """Noise of the cells' sums; nothing else."""
    ((name, level),) = axes.items()
    held = _held(planned, name, level)
    return np.sqrt(variances[name] * held), np.zeros(len(counts))


def _two_way(planned: SyntheticPlan, axes: Axes, counts: Floats, variances: dict[str, float]) -> tuple[Floats, Floats]:
    """Measured, or taken as independent given the tables of one attribute: what has the smaller sum of errors."""
    drawing = planned.mechanism.drawing
    price = (1 - SELECTING) * drawing.budget.rounds / (PRICES * len(drawing.domain.attributes))
    (one, first), (other, second) = axes.items()
    measured = np.full(len(counts), drawing.rows_per_unit / sqrt(2 * price))
    table = counts.reshape(len(first), len(second))
    total = max(1.0, float(table.sum()))
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    related = (np.multiply.outer(rows, columns) / total - table).reshape(-1)
    noise = np.sqrt(
        np.multiply.outer(_held(planned, one, first) * variances[one], np.square(columns / total))
        + np.multiply.outer(np.square(rows / total), _held(planned, other, second) * variances[other])
    ).reshape(-1)
    if np.abs(related).sum() + sqrt(2 / pi) * noise.sum() <= sqrt(2 / pi) * measured.sum():
        return noise, related
    return measured, np.zeros(len(counts))


def _held(planned: SyntheticPlan, name: str, level: Level) -> Floats:
    """How many released values every value of a level holds."""
    codes = above(planned.mechanism.finest[name], level)
    return np.bincount(codes, minlength=len(level)).astype(np.float64)
