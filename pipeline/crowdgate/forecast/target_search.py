"""Search for policies that meet a target at a policy's guarantee: tables within a relative error, or columns as rows.

Every kind proposes policies, which are judged by the unfavourable prediction limit of their forecasts. As many of a
person's rows are retained as the target allows. Forecasts are no guarantee: a proposal without a known range states
that.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from pydantic import BaseModel

from crowdgate.accounting.numbers import exact
from crowdgate.contracts.contract import Contract
from crowdgate.errors import ConfigurationError, Problem, nearest
from crowdgate.forecast.outlook import Outlook
from crowdgate.hierarchy import EXACT, Level
from crowdgate.kind.forecast import Axes, Forecast
from crowdgate.kind.kind import Allowance
from crowdgate.kind.plan import Plan
from crowdgate.kind.prior import Prior
from crowdgate.kinds import KINDS
from crowdgate.limits import MOST_CELLS_FITTED
from crowdgate.number_text import Value, format_value, rounded
from crowdgate.policy.policy import MechanismSpec
from crowdgate.public_counts.unknown_shares import unknown_shares

KEEP = Fraction(9, 10)
ABOVE = Fraction(1, 100)
"""Least number of people in a cell of a target by default, as a share of all people: smaller cells are ignored."""


@dataclass(frozen=True)
class ErrorTarget:
    """A target for tables: in all tables of one and two of the policy's attributes, each cell of `above` people or more
    has at most the relative standard error `error`."""

    error: Fraction
    above: int


@dataclass(frozen=True)
class RowsTarget:
    """A target for rows: these columns are released as rows, of which at least the share `keep` is retained."""

    columns: tuple[str, ...]
    keep: Fraction


@dataclass(frozen=True)
class MechanismProposal:
    """A mechanism as a policy states it, the greatest number of rows of a person, and the value that it reaches.

    That is the greatest relative error of a cell, or the least share of rows that is retained (None: unknown). `met`:
    it meets the target.
    """

    mechanism: Mapping[str, Any]
    rows: int
    reached: float | None
    met: bool

    def to_json(self) -> dict[str, Any]:
        """Return the proposal as an object of JSON."""
        return {"mechanism": dict(self.mechanism), "rows": self.rows, "reached": self.reached, "met": self.met}


@dataclass(frozen=True)
class TargetAnswer:
    """Answer to a target: the target in words (`wish`), the nearest proposals, and advice in a sentence."""

    wish: str
    proposals: tuple[MechanismProposal, ...]
    advice: str

    def to_json(self) -> dict[str, Any]:
        """Return the target, the proposals and the advice as an object of JSON."""
        return {"wish": self.wish, "proposals": [each.to_json() for each in self.proposals], "advice": self.advice}


@dataclass(frozen=True)
class TargetRequest:
    """Options of `crowdgate plan` that state targets, as text: errors of tables (`within`, `above`) and columns as rows
    (`rows`, `keep`)."""

    within: str | None = None
    above: int | None = None
    rows: str | None = None
    keep: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that `--rows` requests as rows, each once."""
        return tuple(dict.fromkeys(name.strip() for name in (self.rows or "").split(",") if name.strip()))


def target_answers(found: Outlook, asked: TargetRequest) -> Iterator[TargetAnswer]:
    """Yield an answer for every target. Raises ConfigurationError for invalid options, or ones without their target."""
    if asked.within is None and asked.above is not None:
        raise _refused("--above", "this option needs --within", "--within ERROR as well")
    if asked.rows is None and asked.keep is not None:
        raise _refused("--keep", "this option needs --rows", "--rows COLUMNS as well")
    prior = found.figures.prior
    if asked.within is not None:
        above = asked.above or max(1, int(ABOVE * prior.people))
        yield tables_within_error(
            found.plan, prior, found.forecast, ErrorTarget(_share("--within", asked.within), above)
        )
    if asked.rows is not None:
        keep = KEEP if asked.keep is None else _share("--keep", asked.keep)
        yield columns_as_rows(found.plan, prior, RowsTarget(asked.columns, keep))


def _share(option: str, text: str) -> Fraction:
    try:
        number = exact(option, text, 0, 1, open_low=True)
    except ValueError:
        raise _refused(option, repr(text), "a number above 0 and at most 1") from None
    return number


def tables_within_error(plan: Plan, prior: Prior, forecast: Forecast, wish: ErrorTarget) -> TargetAnswer:
    """Return the answer to a target for tables: the nearest proposal of each kind of release.

    Raises ConfigurationError if too little is known.
    """
    levels = forecast.compared or {}
    _check_shares("--within", prior, levels)
    if not levels or (_worst(forecast, prior, levels, wish) is None and prior.counts(levels) is None):
        raise _refused(
            "--within", "attributes of which too little is known", "public margins of each, or --from counts"
        )
    said = (
        f"cells of at least {wish.above} people within {rounded(wish.error, 3)}, in all tables of one and two"
        " attributes"
    )
    found = [_nearest_proposal(_table_proposals(plan, prior, name, levels, wish)) for name in KINDS]
    proposals = tuple(each for each in found if each is not None)
    return TargetAnswer(said, proposals, _advice(forecast, prior, levels, wish, proposals))


def _table_proposals(
    plan: Plan, prior: Prior, kind: str, levels: Axes, wish: ErrorTarget
) -> Iterator[MechanismProposal]:
    """Yield proposals of a kind of release at these levels, then at coarser ones until one meets the target."""
    coarser: Axes | None = levels
    while coarser:
        own = [
            MechanismProposal(plain_values(spec), rows, worst, worst is not None and worst <= wish.error)
            for spec, rows, forecast in _forecasts(plan, prior, kind, coarser)
            for worst in [_worst(forecast, prior, coarser, wish)]
        ]
        yield from own
        if not own or any(each.met for each in own) or all(each.reached is None for each in own):
            return
        coarser = _coarsened(prior, coarser)


def _coarsened(prior: Prior, levels: Axes) -> Axes | None:
    """Return the levels with one attribute, that of most values, at its next coarser level; None if it has no coarser
    level of at least two values."""
    name = max(levels, key=lambda each: len(levels[each]))
    ladder = prior.levels(name)
    further = [each for each in ladder if 1 < len(each) < len(levels[name])]
    return {**levels, name: further[0]} if further else None


def _nearest_proposal(proposals: Iterator[MechanismProposal]) -> MechanismProposal | None:
    known = [each for each in proposals if each.reached is not None]
    met = [each for each in known if each.met]
    return next(iter(met), None) or min(known, key=lambda each: each.reached or 0.0, default=None)


def _worst(forecast: Forecast, prior: Prior, levels: Axes, wish: ErrorTarget) -> float | None:
    """Return the greatest relative error (its prediction limit) of a cell of `wish.above` people or more, over all
    tables of one and two attributes; None if the errors of some table are unknown."""
    worst = 0.0
    for chosen in (each for ways in (1, 2) for each in combinations(levels, min(ways, len(levels)))):
        axes = {name: levels[name] for name in chosen}
        errors, counts = forecast.errors(axes), prior.counts(axes)
        if errors is None or counts is None:
            return None
        part = counts >= wish.above
        worst = max(worst, float((errors.factor * errors.error[part] / counts[part]).max(initial=0.0)))
    return worst


def _advice(
    forecast: Forecast, prior: Prior, levels: Axes, wish: ErrorTarget, found: Sequence[MechanismProposal]
) -> str:
    own = _worst(forecast, prior, levels, wish)
    if own is not None and own <= wish.error:
        return f"the unchanged policy meets the target: {rounded(own, 3)} at the most"
    met = [each for each in found if each.met]
    if not met:
        return "no kind of release meets it at this guarantee: ask for fewer attributes, coarser levels or larger cells"
    if len(met) == len(found):
        return f"use {met[0].mechanism['kind']}: {'both' if len(met) == 2 else 'all'} meet the target"
    missed = ", ".join(
        f"{each.mechanism['kind']} reaches {format_value(each.reached, '.3g')}" for each in found if not each.met
    )
    return f"use {met[0].mechanism['kind']}: {missed}"


def columns_as_rows(plan: Plan, prior: Prior, wish: RowsTarget) -> TargetAnswer:
    """Return the answer to a target for rows: the best proposal that releases these columns as rows.

    Raises ConfigurationError for columns that can't be released, or of which too little is known.
    """
    levels = _finest(plan, prior, wish.columns)
    _check_shares("--rows", prior, levels)
    found = [proposal for name in KINDS for proposal in _row_proposals(plan, prior, name, levels, wish)]
    best = max(found, key=lambda each: (each[1].met, each[0]), default=None)
    said = f"{', '.join(wish.columns)} as rows, {rounded(wish.keep, 3)} of them retained"
    if best is not None and best[1].met:
        return TargetAnswer(said, (best[1],), f"rows of {best[1].rows} a person at these levels meet the target")
    return TargetAnswer(said, () if best is None else (best[1],), _instead(best[1] if best else None))


def _instead(best: MechanismProposal | None) -> str:
    kept = "nothing" if best is None or best.reached is None else f"{rounded(best.reached, 3)} of the rows"
    least = f"at most {kept} would be retained as rows of these columns, even at coarser levels"
    return f"use tables: {least} (kind: dp_tables); or synthetic rows (kind: dp_synthetic)"


def _finest(plan: Plan, prior: Prior, columns: Sequence[str]) -> Axes:
    """Return each column at the policy's level, or at `exact`; coarser if shares are unknown, or classes too many."""
    contract, stated = plan.bundle.contract, plan.protection.figures.levels
    known = [attribute.name for attribute in contract.attributes if attribute.releasable]
    levels: dict[str, Level] = {}
    for name in columns:
        hierarchy = contract.by_name[name].hierarchy if name in known else None
        if hierarchy is None:
            meant = nearest(name, known)
            raise _refused("--rows", f"{name!r} can't be released", f"columns of contract {contract.id}", meant)
        level = stated.get(name, hierarchy.level(EXACT))
        levels[name] = prior.known_level(name, level) or level
    found: Axes = levels
    while prod(map(len, found.values())) > MOST_CELLS_FITTED:
        coarser = _coarsened(prior, found)
        if coarser is None:
            raise _refused("--rows", "columns with too many classes", "fewer columns")
        found = coarser
    return found


def _row_proposals(
    plan: Plan, prior: Prior, kind: str, levels: Axes, wish: RowsTarget
) -> Iterator[tuple[tuple[float, ...], MechanismProposal]]:
    """Yield proposals of rows with their sort keys: rows per person, logarithm of the number of classes, and beta, the
    rate of Bernoulli sampling.

    The key of a proposal that misses the target is 0 and the share of rows that is retained.
    """
    for spec, rows, forecast in _forecasts(plan, prior, kind, levels):
        axes = forecast.keeping(float(wish.keep))
        numbers = {figure.name: _number(figure.value) for figure in forecast.figures}
        kept = numbers.get("kept_share")
        if axes is not None:
            told = sum(float(np.log(len(level))) for level in axes.values())
            coarser = {**plain_values(spec), "attributes": {name: level.name for name, level in axes.items()}}
            yield (rows, told, numbers["beta"] or 0.0), MechanismProposal(coarser, rows, float(wish.keep), True)
        elif kept is not None:
            yield (0.0, kept), MechanismProposal(plain_values(spec), rows, kept, False)


def _number(value: Value) -> float | None:
    return float(value) if isinstance(value, int | float | Fraction) else None


def _forecasts(plan: Plan, prior: Prior, kind: str, levels: Axes) -> Iterator[tuple[MechanismSpec, int, Forecast]]:
    """Yield the mechanisms that a kind of release proposes at these levels, each with its rows per person and its
    forecast: with the contract's bound on rows per person, then with half of it, down to one."""
    allowance = Allowance(plan.guarantee.epsilon, plan.guarantee.delta)
    for contract in _bounds(plan.bundle.contract):
        for spec in KINDS[kind].propose(levels):
            protection, _ = KINDS[kind].plan(spec, contract, allowance)
            if protection is not None:
                yield spec, contract.unit.rows, protection.kind.outlook(protection.mechanism, prior)


def _bounds(contract: Contract) -> Iterator[Contract]:
    """Yield the contract, then versions with half as many rows of a person, down to one."""
    rows = contract.unit.rows
    while rows:
        yield replace(contract, unit=replace(contract.unit, rows=rows))
        rows //= 2


def plain_values(value: object) -> Any:
    """Return a value of a policy in the types of its file: models and mappings as dictionaries, fractions as text."""
    if isinstance(value, BaseModel):
        return {
            name: plain_values(getattr(value, name))
            for name in type(value).model_fields
            if name in value.model_fields_set
        }
    if isinstance(value, Mapping):
        return {str(key): plain_values(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain_values(each) for each in value]
    return rounded(value, 6) if isinstance(value, Fraction) else value


def _check_shares(option: str, prior: Prior, levels: Axes) -> None:
    """Raise ConfigurationError for attributes whose shares of people by value are unknown at these levels."""
    unknown = [*unknown_shares(prior, levels)]
    if unknown:
        raise ConfigurationError([Problem("command line", None, option, each.found, each.expected) for each in unknown])


def _refused(option: str, found: str, wanted: str, instead: str | None = None) -> ConfigurationError:
    return ConfigurationError(Problem("command line", None, option, found, wanted, instead))
