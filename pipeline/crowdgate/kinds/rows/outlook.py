"""What a policy of rows promises and costs, from public figures alone, and its alternatives."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import log, prod

import numpy as np

from crowdgate.accounting import safe_k
from crowdgate.hierarchy import Level
from crowdgate.kind.forecast import (
    Axes,
    Basis,
    CellErrors,
    Chart,
    Column,
    Errors,
    Figure,
    Floats,
    Forecast,
    Listing,
    Prior,
    Value,
    no_errors,
)
from crowdgate.limits import MOST_CLASSES, MOST_FORECASTS
from crowdgate.mechanisms.rows.safe_k import SafeK
from crowdgate.mechanisms.rows.spec import Candidates, SafeKAnonymity, SampleSource
from crowdgate.risk.kept_share import estimate_moments, expected_kept_share

EPSILONS = tuple(Fraction(text) for text in ("0.25", "0.5", "1", "2"))
BETAS = tuple(Fraction(text) for text in ("0.05", "0.1", "0.2", "0.3", "0.5", "0.7"))
RIVAL_BETAS = ("0.05", "0.1", "0.2", "0.3", "0.5", "0.7", "0.9")
GOOD_SHARE = 0.9
Row = dict[str, Value]

KEPT = (
    Column("levels", "levels"),
    Column("classes", "classes", "d"),
    Column("share", "kept share", ".3f"),
    Column("information", "information", ".2f"),
)
"""`information` sums ln(values) / ln(values at exact) over the attributes: 1 for each at exact, 0 for each at any."""


def outlook(safe: SafeK, prior: Prior) -> Forecast:
    """Class size by both bounds, what other budgets and sampling rates would ask for, and how much stays."""
    names = {name: level.name for name, level in safe.levels.items()}
    kept = _kept(safe, prior, names)
    return Forecast(
        figures=tuple(_figures(safe, kept)),
        listings=(
            _trade_offs(safe),
            _kept_listing("expected_kept_share", "Expected kept share, as planned", kept),
            _kept_listing("recommended", "Recommended: the most informative levels that keep 9 rows in 10",
                          _recommended(safe, prior, names)),
            Listing("one_level_away", "One level away", KEPT, tuple(_neighbours(safe, prior, names)), _INDEPENDENT,
                    further=True),
        ),
        chart=Chart("trade_offs", "beta", "sampling rate beta", ("exact", "theorem5"),
                    "least k (dashed: Theorem 5)", "epsilon"),
        errors=_errors(safe, prior),
        compared=safe.levels,
    )  # fmt: skip


def propose(levels: Axes) -> Sequence[SafeKAnonymity]:
    """Rows of these attributes at these levels, at some sampling rates."""
    attributes: dict[str, str | Candidates] = {name: level.name for name, level in levels.items()}
    rates = (SampleSource.model_validate({"beta": beta}) for beta in RIVAL_BETAS)
    return [SafeKAnonymity(kind="safe_k_anonymity", sampling=rate, attributes=attributes) for rate in rates]


_INDEPENDENT = "as if attributes were independent with the public margins; related ones can keep more or less"


def _figures(safe: SafeK, kept: Row | None) -> Iterator[Figure]:
    part = safe.row_part
    theorem5 = _theorem5(part.epsilon, part.delta, safe.beta)
    yield Figure.exact("beta", "sampling rate beta", safe.beta)
    yield Figure.exact("k", "k, below which classes are suppressed", safe.k)
    yield Figure.exact("exact_delta", "exact delta at this k", safe.delta)
    yield Figure.exact("least_k.exact", "least k, exactly", safe.least_k)
    yield Figure.exact("least_k.theorem5", "least k by Theorem 5 of Li, Qardaji, Su (2012)", theorem5)
    if kept is not None:
        yield Figure("kept_share", "expected share of the sampled rows that stay", kept["share"], 0.0, 1.0,
                     Basis.MARGINS)  # fmt: skip


def _theorem5(epsilon: Fraction, delta: Fraction, beta: Fraction) -> int | None:
    """The least k by the published theorem, or None below its smallest epsilon, -ln(1 - beta)."""
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
        Column("epsilon", "epsilon", "g"),
        Column("beta", "beta", "g"),
        Column("exact", "exact k", "d"),
        Column("theorem5", "Theorem 5", "d"),
    )
    note = "Theorem 5 needs an epsilon of at least -ln(1 - beta)"
    return Listing("trade_offs", "The least k at this delta", columns, tuple(rows), note)


def _kept_listing(name: str, title: str, row: Row | None) -> Listing:
    return Listing(name, title, KEPT, () if row is None else (row,), _INDEPENDENT, single=True)


def _neighbours(safe: SafeK, prior: Prior, names: Mapping[str, str]) -> Iterator[Row]:
    """All combinations that differ from the policy's in the level of one attribute."""
    for name in names:
        for level in prior.levels(name):
            found = _kept(safe, prior, {**names, name: level.name}) if level.name != names[name] else None
            if found is not None:
                yield found


def _recommended(safe: SafeK, prior: Prior, names: Mapping[str, str]) -> Row | None:
    """Of all combinations at least as coarse as the policy's, the most informative that keeps 9 rows in 10."""
    ladders = [[level.name for level in prior.levels(name)] for name in names]
    coarser = [ladder[ladder.index(level) :] for ladder, level in zip(ladders, names.values(), strict=True)]
    if prod(map(len, coarser)) > MOST_FORECASTS:
        return None
    best: tuple[float, Row] | None = None
    for levels in product(*coarser):
        found = _kept(safe, prior, dict(zip(names, levels, strict=True)))
        if found is not None and _number(found["share"]) >= GOOD_SHARE:
            information = _number(found["information"])
            best = max(best or (information, found), (information, found), key=lambda pair: pair[0])
    return None if best is None else best[1]


def _number(value: Value) -> float:
    return float(value) if isinstance(value, int | float | Fraction) else 0.0


def _kept(safe: SafeK, prior: Prior, names: Mapping[str, str]) -> Row | None:
    """The expected kept share, or None without public margins or for too many classes."""
    found = {name: {level.name: level for level in prior.levels(name)}[level] for name, level in names.items()}
    if prod(len(level) for level in found.values()) > MOST_CLASSES:
        return None
    shares = np.ones(1)
    for name, level in found.items():
        margin = prior.shares(name, level)
        if margin is None:
            return None
        shares = np.outer(shares, margin[margin > 0]).ravel()
    share = expected_kept_share(shares, prior.people, safe.k, safe.beta)
    information = sum(_information(prior, name, level) for name, level in found.items())
    return {"levels": dict(names), "classes": len(shares), "share": share, "information": information}


def _information(prior: Prior, name: str, level: Level) -> float:
    exact = prior.levels(name)[0]
    return log(len(level)) / log(len(exact)) if len(exact) > 1 else 0.0


def _errors(safe: SafeK, prior: Prior) -> Errors:
    """Expected errors of tables of the released rows, each released row counted as 1 / beta persons, as if the classes
    held independent Poisson numbers of people with means from the product of the public margins."""
    if prod(map(len, safe.levels.values())) > MOST_CLASSES:
        return no_errors
    people = np.full((), float(prior.people))
    for name, level in safe.levels.items():
        margin = prior.shares(name, level)
        if margin is None:
            return no_errors
        people = np.multiply.outer(people, margin)
    missing, variance = estimate_moments(people, safe.k, safe.beta)
    return lambda axes: _of_table(safe, people, missing, variance, axes)


def _of_table(safe: SafeK, people: Floats, missing: Floats, variance: Floats, axes: Axes) -> CellErrors | None:
    if any(name not in safe.levels or safe.levels[name].name != level.name for name, level in axes.items()):
        return None
    others = tuple(at for at, name in enumerate(safe.levels) if name not in axes)
    counts, loss, spread = (part.sum(axis=others).reshape(-1) for part in (people, missing, variance))
    rate = float(safe.beta)
    parts = {"sampling": np.sqrt(counts * (1 - rate) / rate), "suppression": loss}
    return CellErrors(np.sqrt(spread + loss**2), parts, float(loss.sum() / counts.sum()))
