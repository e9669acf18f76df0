"""Forecast for a policy of rows from public figures alone, and alternatives to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import log, prod
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.accounting import safe_k
from crowdgate.kind.forecast import Axes, Basis, CellErrors, Chart, Errors, Figure, Forecast, RetainedPeople, no_errors
from crowdgate.kind.listing import Listing, ListingColumn
from crowdgate.kinds.rows.expected_retention import ERROR_FACTOR, UNRELATED_NOTE, ExpectedRetention
from crowdgate.kinds.rows.gate_chances import pass_probabilities
from crowdgate.kinds.rows.splits import splits
from crowdgate.kinds.rows.trade_offs import trade_offs
from crowdgate.kinds.rows.use_forecast import simulated_passes, simulated_releases, use_listing
from crowdgate.limits import MOST_CELLS_FITTED, MOST_FORECASTS
from crowdgate.mechanisms.rows.spec import Candidates, MarginsSpec, SafeKAnonymity, SampleSource
from crowdgate.number_text import BOUND, SHARE, Value, format_value, percent

if TYPE_CHECKING:
    from crowdgate.candidate import Candidate
    from crowdgate.hierarchy import Level
    from crowdgate.kind.prior import ExpectedCounts, ExpectedRange, Prior
    from crowdgate.mechanisms.rows.safe_k import SafeK
    from crowdgate.policy.policy import GateRule

EPSILONS = tuple(Fraction(text) for text in ("0.25", "0.5", "1", "2"))
BETAS = tuple(Fraction(text) for text in ("0.05", "0.1", "0.2", "0.3", "0.5", "0.7"))
RIVAL_BETAS = ("0.05", "0.1", "0.2", "0.3", "0.5", "0.7", "0.9")
MARGINS_FACTORS = tuple(Fraction(text) for text in ("1/8", "1/4", "1/2", "3/2", "2"))
"""Multiples of a policy's cost of margins that are tried."""
ADDED_SHARES = ("0.05", "0.1", "0.3")
"""Shares of epsilon for margins that are tried for a policy without them."""
GOOD_SHARE = 0.9
LEAST_PEOPLE = 1e-6
"""The least expected number of people in a class that counts as one."""
Row = dict[str, Value]

KEPT = (
    ListingColumn("levels", "levels"),
    ListingColumn("classes", "possible classes", "d"),
    ListingColumn("share", "kept share", ".3f", "unknown"),
    ListingColumn("least", "at least", ".3f", ""),
    ListingColumn("greatest", "at most", ".3f", ""),
    ListingColumn("information", "information", ".2f"),
)
"""`least` and `greatest` are bounds on a share that is unknown. `information` sums ln(values) / ln(values at exact)
over the attributes: 1 for each at exact, 0 for each at any."""

ERRORS = (
    ListingColumn("table", "table"),
    ListingColumn("cells", "cells", "d"),
    ListingColumn("error", "root mean square error"),
    ListingColumn("low", "from"),
    ListingColumn("high", "to"),
    ListingColumn("lost", "lost rows", ".1%"),
)


def outlook(safe: SafeK, prior: Prior, gates: Sequence[GateRule] = ()) -> Forecast:
    """Return the forecast: the least k by the exact delta and by the published theorem, the least k at other epsilons
    and sampling rates, and the expected retention of rows."""
    expected = _PlannedRetention(safe, prior)
    return Forecast(
        make_figures=lambda: tuple(_figures(safe, expected.kept, expected.at_most)),
        made=lambda: tuple(_listings(safe, prior, expected, gates)),
        chart=Chart("trade_offs", "beta", ("exact", "theorem5"), "epsilon"),
        pictures=lambda: tuple(trade_offs(safe, _trade_offs(safe).rows, expected.kept)),
        errors=lambda axes: expected.errors(axes),
        first_errors=lambda axes: expected.plain_errors(axes),
        keeping=lambda share: None if expected.kept is None else _levels_retaining(prior, expected.kept, share),
        compared=safe.levels,
        retained=lambda: _retained_people(safe.beta, expected.kept, expected.at_most),
        odds=pass_probabilities(safe, prior),
        passes=lambda rule, measure: simulated_passes(expected.simulated, rule, measure),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _PlannedRetention:
    """Expected retention of rows at the policy's levels, or an upper bound on it if too little is known of them."""

    safe: SafeK
    prior: Prior

    @cached_property
    def kept(self) -> ExpectedRetention | None:
        """The expected retention of classes by all attributes; None if too little is known of them, or there are too
        many cells."""
        joint = self.prior.joint(self.safe.levels)
        return None if joint is None else ExpectedRetention(joint, self.safe.k, self.safe.beta)

    @cached_property
    def errors(self) -> Errors:
        """The expected errors of a table made of the released rows, by its axes."""
        if self.safe.margins is None or self.plain_errors is no_errors:
            return self.plain_errors
        from crowdgate.kinds.rows.weighted_errors import WeightedErrors

        assert self.kept is not None, "plain errors are known"
        return WeightedErrors(self.safe, self.kept).errors

    @cached_property
    def simulated(self) -> tuple[Candidate, ...]:
        """Simulated releases of weighted rows; none if no counts relate the columns."""
        return simulated_releases(self.safe, None if self.kept is None else self.kept.joint)

    @property
    def plain_errors(self) -> Errors:
        """The expected errors where each released row counts as 1 / beta people."""
        return no_errors if self.kept is None or not self.kept.is_known else self.kept.errors

    @cached_property
    def at_most(self) -> ExpectedRetention | None:
        """An upper bound: the expected retention of classes by some of the attributes; None if that by all is known, or
        none is."""
        return _retention_by_some(self.safe, self.prior) if self.kept is None else None


def _retained_people(
    beta: Fraction, kept: ExpectedRetention | None, at_most: ExpectedRetention | None
) -> RetainedPeople:
    found = kept or at_most
    if found is None:
        return RetainedPeople(float(beta))
    known = found.is_known
    share = found.share.value if known else found.share.high
    limit = "" if kept and known else "at most "
    text = f"{percent(beta)} of people are sampled, of whom {limit}about {format_value(share, SHARE)} stay"
    return RetainedPeople(float(beta) * share, text)


def _retention_by_some(safe: SafeK, prior: Prior) -> ExpectedRetention | None:
    """Return the retention by some attributes or coarser levels, if the classes by all have unknown shares or are too
    many. It is an upper bound: a class never grows with more attributes or finer levels."""
    known = {name: found for name, level in safe.levels.items() if (found := prior.known_level(name, level))}
    axes: dict[str, Level] = {}
    for name in sorted(known, key=lambda name: -len(known[name])):
        if prod(map(len, axes.values())) * len(known[name]) <= MOST_CELLS_FITTED:
            axes[name] = known[name]
    joint = prior.joint(axes)
    return None if joint is None or not axes else ExpectedRetention(joint, safe.k, safe.beta)


def _listings(safe: SafeK, prior: Prior, expected: _PlannedRetention, gates: Sequence[GateRule]) -> Iterator[Listing]:
    kept = expected.kept
    joint = None if kept is None else kept.joint
    note = NOTES[Basis.MARGINS if joint is None else joint.basis]
    yield _trade_offs(safe)
    yield _retention_listing("expected_kept_share", "Expected kept share, as planned", _row(safe, prior, joint), note)
    yield _retention_listing("recommended", "Recommended: the most informative levels that keep 9 rows in 10",
                        _recommended_row(safe, prior, joint), note)  # fmt: skip
    yield from use_listing(safe, expected.simulated, gates)
    yield from () if kept is None else splits(safe, kept)
    neighbours = tuple(_neighbours(safe, prior, joint))
    yield Listing("one_level_away", "One level away", KEPT, neighbours, note, further=True)
    if kept is not None and kept.is_known:
        yield _errors(safe, kept, expected.errors)


def propose(levels: Axes) -> Sequence[SafeKAnonymity]:
    """Return policies for rows of these attributes at these levels, one for each sampling rate of RIVAL_BETAS."""
    attributes: dict[str, str | Candidates] = {name: level.name for name, level in levels.items()}
    rates = (SampleSource.model_validate({"beta": beta}) for beta in RIVAL_BETAS)
    return [SafeKAnonymity(kind="safe_k_anonymity", sampling=rate, attributes=attributes) for rate in rates]


def vary_costs(spec: SafeKAnonymity) -> Sequence[SafeKAnonymity]:
    """Return policies whose margins cost more or less, or that add margins to a policy without them."""
    if spec.margins is None:
        found = [MarginsSpec.model_validate({"share": share}) for share in ADDED_SHARES]
    else:
        name = "epsilon" if spec.margins.share is None else "share"
        stated = getattr(spec.margins, name)
        found = [spec.margins.model_copy(update={name: stated * factor}) for factor in MARGINS_FACTORS]
    return [spec.model_copy(update={"margins": each}) for each in found if each.share is None or each.share < 1]


NOTES = {
    Basis.MARGINS: UNRELATED_NOTE,
    Basis.PARTLY: UNRELATED_NOTE,
    Basis.COARSER: "by given counts, some at coarser levels than here",
    Basis.RELATED: "by given counts of two attributes at least",
    Basis.COUNTED: "by a table that is known as a whole",
}


def _figures(safe: SafeK, kept: ExpectedRetention | None, at_most: ExpectedRetention | None) -> Iterator[Figure]:
    part = safe.row_part
    theorem5 = _theorem5(part.epsilon, part.delta, safe.beta)
    yield Figure.exact("beta", "sampling rate beta", safe.beta)
    yield Figure.exact("k", "k, below which classes are suppressed", safe.k)
    yield Figure.exact("exact_delta", "exact delta at this k", safe.delta, BOUND)
    yield Figure.exact("least_k.exact", "least k, exactly", safe.least_k)
    yield Figure.exact("least_k.theorem5", "least k by Theorem 5 of Li, Qardaji, Su (2012)", theorem5)
    if kept is not None:
        yield _ranged_figure("kept_share", "expected share of the sampled rows that stay", kept.share, kept)
        yield _ranged_figure("classes", "expected number of classes that stay", kept.classes, kept)
    if at_most is not None:
        by = ", ".join(_named(safe, name, level) for name, level in at_most.joint.axes.items())
        label = f"expected share of the sampled rows that stay, at most: what stays by {by}"
        yield _ranged_figure("kept_share_at_most", label, at_most.share, at_most)


def _named(safe: SafeK, name: str, level: Level) -> str:
    """Return an attribute's name, with its level if it is coarser than the policy's."""
    return name if len(level) == len(safe.levels[name]) else f"{name} ({level.name})"


def _ranged_figure(name: str, label: str, found: ExpectedRange, kept: ExpectedRetention) -> Figure:
    """Return a figure with its range. Its value is unknown (None) where it depends on a relation of attributes that no
    count tells: independence is a guess."""
    value = found.value if kept.is_known else None
    return Figure(name, label, value, found.low, found.high, kept.joint.basis)


def _errors(safe: SafeK, kept: ExpectedRetention, errors: Errors) -> Listing:
    rows = tuple(_error_row(axes, found) for axes in kept.tables() if (found := errors(axes)) is not None)
    counted = "as 1 / beta of them" if safe.margins is None else "by its weight"
    note = f"in persons, each released row counted {counted}, over all cells of a table"
    return Listing("expected_errors", "Expected errors of tables made of the rows", ERRORS, rows, note, further=True)


def _error_row(axes: Axes, found: CellErrors) -> Row:
    error = float(np.sqrt(np.mean(np.square(found.error))))
    return {
        "table": ", ".join(f"{name} ({level.name})" for name, level in axes.items()),
        "cells": len(found.error),
        "error": error,
        "low": error / ERROR_FACTOR,
        "high": error * ERROR_FACTOR,
        "lost": found.lost,
    }


def _theorem5(epsilon: Fraction, delta: Fraction, beta: Fraction) -> int | None:
    """Return the least k by Theorem 5 of Li, Qardaji, Su (2012); None if it gives none, as for epsilon < -ln(1 -
    beta)."""
    try:
        return safe_k.least_k(epsilon, delta, beta, bound="theorem5")
    except ValueError:
        return None


def _trade_offs(safe: SafeK) -> Listing:
    part, rows = safe.row_part, []
    for epsilon in sorted({*EPSILONS, part.epsilon}):
        for beta in sorted({*BETAS, safe.beta}):
            exact, printed = safe_k.least_k(epsilon, part.delta, beta), _theorem5(epsilon, part.delta, beta)
            rows.append({"epsilon": epsilon, "beta": beta, "exact": exact, "theorem5": printed})
    columns = (
        ListingColumn("epsilon", "epsilon", "g"),
        ListingColumn("beta", "beta", "g"),
        ListingColumn("exact", "exact k", "d"),
        ListingColumn("theorem5", "Theorem 5", "d"),
    )
    note = "Theorem 5 needs an epsilon of at least -ln(1 - beta)"
    return Listing("trade_offs", "The least k at this delta", columns, tuple(rows), note)


def _retention_listing(name: str, title: str, row: Row | None, note: str) -> Listing:
    return Listing(name, title, KEPT, () if row is None else (row,), note, single=True)


def _neighbours(safe: SafeK, prior: Prior, joint: ExpectedCounts | None) -> Iterator[Row]:
    """Yield a listing row for each combination of levels that differs from the policy's in the level of one attribute,
    if enough is known of it."""
    for name, own in safe.levels.items():
        for level in prior.levels(name):
            if level.name != own.name:
                axes = {**safe.levels, name: level}
                known = joint is not None and len(level) <= len(own)
                found = _row(safe, prior, _coarser(prior, joint, axes) if joint and known else prior.joint(axes))
                if found is not None:
                    yield found


def _recommended_row(safe: SafeK, prior: Prior, joint: ExpectedCounts | None) -> Row | None:
    """Return the listing row of the most informative levels, none finer than the policy's, at which 9 of 10 sampled
    rows are expected to be retained; None if there are no such levels."""
    if joint is None:
        return None
    return next((_row(safe, prior, found) for found in _most_informative(prior, joint)
                 if _sure_share(ExpectedRetention(found, safe.k, safe.beta)) >= GOOD_SHARE), None)  # fmt: skip


def _sure_share(kept: ExpectedRetention) -> float:
    """Return the expected retained share, or its lower bound where it is unknown."""
    return kept.expected if kept.is_known else kept.share.low


def _levels_retaining(prior: Prior, kept: ExpectedRetention, share: float) -> Axes | None:
    """Return the most informative levels at which the lower prediction limit of the retained share (the lower bound,
    where it is unknown) is at least `share`; None if there are none. No attribute is coarsened to a single value."""
    for joint in _most_informative(prior, kept.joint):
        if any(len(level) == 1 < len(kept.joint.axes[name]) for name, level in joint.axes.items()):
            continue
        found = ExpectedRetention(joint, kept.k, kept.beta)
        if min(_sure_share(found), found.share.low) >= share:
            return joint.axes
    return None


def _most_informative(prior: Prior, joint: ExpectedCounts) -> Iterator[ExpectedCounts]:
    """Yield the expected counts of a table at all combinations of its levels and coarser ones, the most informative
    first; nothing if there are too many combinations."""
    ladders = [_upwards(prior, name, level) for name, level in joint.axes.items()]
    if prod(map(len, ladders)) > MOST_FORECASTS:
        return
    schemes = [dict(zip(joint.axes, levels, strict=True)) for levels in product(*ladders)]
    for axes in sorted(schemes, key=lambda axes: _all_information(prior, axes), reverse=True):
        yield _coarser(prior, joint, axes)


def _upwards(prior: Prior, name: str, level: Level) -> tuple[Level, ...]:
    ladder = prior.levels(name)
    return ladder[[each.name for each in ladder].index(level.name) :]


def _coarser(prior: Prior, joint: ExpectedCounts, axes: Axes) -> ExpectedCounts:
    """Return the expected counts of a table at coarser levels: sums of its cells, or a product of margins if attributes
    are taken as independent."""
    product_of = prior.joint(axes) if joint.basis is Basis.MARGINS else None
    return product_of or joint.summed(axes)


def _row(safe: SafeK, prior: Prior, joint: ExpectedCounts | None) -> Row | None:
    """Return the listing row of a table's levels: number of classes, expected retained share or its bounds, and
    information; None without a table."""
    if joint is None:
        return None
    names = {name: level.name for name, level in joint.axes.items()}
    classes = int(np.count_nonzero(joint.people > LEAST_PEOPLE))
    kept = ExpectedRetention(joint, safe.k, safe.beta)
    share, bounds = (kept.expected, None) if kept.is_known else (None, kept.share)
    return {
        "levels": names,
        "classes": classes,
        "share": share,
        "least": None if bounds is None else bounds.low,
        "greatest": None if bounds is None else bounds.high,
        "information": _all_information(prior, joint.axes),
    }


def _all_information(prior: Prior, axes: Axes) -> float:
    """Return the sum over attributes of ln(values of its level) / ln(values of its level `exact`): 1 for each attribute
    at `exact`, 0 for each at `any`."""
    return sum(_information(prior, name, level) for name, level in axes.items())


def _information(prior: Prior, name: str, level: Level) -> float:
    exact = prior.levels(name)[0]
    return log(len(level)) / log(len(exact)) if len(exact) > 1 else 0.0
