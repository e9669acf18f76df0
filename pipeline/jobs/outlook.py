"""What a policy promises and costs, from public figures alone, and its alternatives."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import log, prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline import manifest
from pipeline.accounting import safe_k
from pipeline.hierarchy import Level
from pipeline.io.policies import read_bundle
from pipeline.jobs.plan import Plan, plan_release
from pipeline.jobs.tables_outlook import TablesOutlook, pso_bound, releases_in_budget, tables_outlook
from pipeline.mechanisms import SafeK
from pipeline.risk.kept_share import expected_kept_share

EPSILONS = tuple(Fraction(text) for text in ("0.25", "0.5", "1", "2"))
BETAS = tuple(Fraction(text) for text in ("0.05", "0.1", "0.2", "0.3", "0.5", "0.7"))
GOOD_SHARE = 0.9
MOST_CLASSES = 1 << 24
MOST_COMBINATIONS = 5000


@dataclass(frozen=True)
class TradeOff:
    """The least k for a guarantee at a sampling rate, exactly and by Theorem 5 (None below its smallest epsilon)."""

    epsilon: Fraction
    beta: Fraction
    exact: int
    theorem5: int | None


@dataclass(frozen=True)
class KeptShare:
    """The expected kept share at a combination of levels, if attributes were independent with the public margins.

    `information` sums ln(values) / ln(values at exact) over the attributes: 1 for each at exact, 0 for each at any.
    """

    levels: Mapping[str, str]
    classes: int
    share: float
    information: float


@dataclass(frozen=True)
class Outlook:
    """The guarantee of a policy, its class size by both bounds, what repeated releases come to, and alternatives."""

    plan: Plan
    least_k_exact: int
    least_k_theorem5: int | None
    exact_delta: float
    releases: int
    pso_bounds: tuple[float, ...]
    trade_offs: tuple[TradeOff, ...]
    kept: KeptShare | None
    neighbours: tuple[KeptShare, ...]
    recommended: KeptShare | None

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        return {
            "guarantee": manifest.guarantee_json(self.plan.guarantee),
            "mechanism": self.plan.mechanism.parameters(),
            "least_k": {"exact": self.least_k_exact, "theorem5": self.least_k_theorem5},
            "exact_delta": self.exact_delta,
            "people_times_delta": float(self.plan.bundle.budget.spec.people * self.plan.guarantee.delta),
            "releases_in_budget": self.releases,
            "pso_bound_after_release": list(self.pso_bounds),
            "trade_offs": [
                {"epsilon": float(row.epsilon), "beta": float(row.beta), "exact": row.exact, "theorem5": row.theorem5}
                for row in self.trade_offs
            ],
            "expected_kept_share": _kept_json(self.kept),
            "one_level_away": [_kept_json(row) for row in self.neighbours],
            "recommended": _kept_json(self.recommended),
        }


def outlook(policy: Path) -> Outlook | TablesOutlook:
    """The outlook of a policy. Raises ConfigurationError for wrong files. Reads no data."""
    plan = plan_release(read_bundle(policy))
    return _outlook(plan, plan.mechanism) if isinstance(plan.mechanism, SafeK) else tables_outlook(plan)


def _outlook(plan: Plan, mechanism: SafeK) -> Outlook:
    part, beta = mechanism.row_part, mechanism.beta
    releases = releases_in_budget(plan)
    names = {name: level.name for name, level in mechanism.levels.items()}
    return Outlook(
        plan=plan,
        least_k_exact=mechanism.least_k,
        least_k_theorem5=_theorem5(part.epsilon, part.delta, beta),
        exact_delta=mechanism.delta,
        releases=releases,
        pso_bounds=tuple(pso_bound(plan, count) for count in range(1, min(releases, 12) + 1)),
        trade_offs=tuple(_trade_offs(plan)),
        kept=_kept(plan, names),
        neighbours=tuple(_neighbours(plan, names)),
        recommended=_recommended(plan, names),
    )


def _theorem5(epsilon: Fraction, delta: Fraction, beta: Fraction) -> int | None:
    """The least k by the published theorem, or None below its smallest epsilon, -ln(1 - beta)."""
    try:
        return safe_k.least_k(epsilon, delta, beta, bound="theorem5")
    except ValueError:
        return None


def _trade_offs(plan: Plan) -> Iterator[TradeOff]:
    assert isinstance(plan.mechanism, SafeK)
    part = plan.mechanism.row_part
    for epsilon in sorted({*EPSILONS, part.epsilon}):
        for beta in sorted({*BETAS, plan.mechanism.beta}):
            exact = safe_k.least_k(epsilon, part.delta, beta)
            yield TradeOff(epsilon, beta, exact, _theorem5(epsilon, part.delta, beta))


def _neighbours(plan: Plan, names: Mapping[str, str]) -> Iterator[KeptShare]:
    """All combinations that differ from the policy's in the level of one attribute."""
    for name in names:
        for level in _levels(plan, name):
            found = _kept(plan, {**names, name: level.name}) if level.name != names[name] else None
            if found is not None:
                yield found


def _recommended(plan: Plan, names: Mapping[str, str]) -> KeptShare | None:
    """Of all combinations at least as coarse as the policy's, the most informative that keeps 9 rows in 10."""
    ladders = [[level.name for level in _levels(plan, name)] for name in names]
    coarser = [ladder[ladder.index(level) :] for ladder, level in zip(ladders, names.values(), strict=True)]
    if prod(map(len, coarser)) > MOST_COMBINATIONS:
        return None
    found = (_kept(plan, dict(zip(names, levels, strict=True))) for levels in product(*coarser))
    good = [kept for kept in found if kept is not None and kept.share >= GOOD_SHARE]
    return max(good, key=lambda kept: kept.information, default=None)


def _levels(plan: Plan, name: str) -> tuple[Level, ...]:
    found = plan.bundle.contract.by_name[name].hierarchy
    return () if found is None else found.levels


def _kept(plan: Plan, names: Mapping[str, str]) -> KeptShare | None:
    """The expected kept share, or None without public margins or for too many classes."""
    found = {name: {level.name: level for level in _levels(plan, name)}[level] for name, level in names.items()}
    margins = [_margin(plan, name, level) for name, level in found.items()]
    if prod(len(level) for level in found.values()) > MOST_CLASSES:
        return None
    shares = np.ones(1)
    for margin in margins:
        if margin is None:
            return None
        shares = np.outer(shares, margin).ravel()
    people = plan.bundle.budget.spec.people
    assert isinstance(plan.mechanism, SafeK)
    share = expected_kept_share(shares, people, plan.mechanism.k, plan.mechanism.beta)
    return KeptShare(
        dict(names), len(shares), share, sum(_information(plan, name, level) for name, level in found.items())
    )


def _information(plan: Plan, name: str, level: Level) -> float:
    exact = _levels(plan, name)[0]
    return log(len(level)) / log(len(exact)) if len(exact) > 1 else 0.0


def _margin(plan: Plan, name: str, level: Level) -> npt.NDArray[np.float64] | None:
    margins = plan.bundle.contract.by_name[name].margins
    if margins is None:
        return None
    counts = np.bincount(level.codes[: len(margins)], weights=np.asarray(margins, dtype=np.float64))
    shares: npt.NDArray[np.float64] = counts[counts > 0] / counts.sum()
    return shares


def _kept_json(row: KeptShare | None) -> dict[str, Any] | None:
    return (
        None
        if row is None
        else {"levels": dict(row.levels), "classes": row.classes, "share": row.share, "information": row.information}
    )
