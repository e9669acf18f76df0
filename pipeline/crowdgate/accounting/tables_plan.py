"""Privacy cost of a workload of tables: sensitivities for one privacy unit, and the split of its budget. Pure, exact.

A query is a vector of cells of which one row changes exactly one, by at most `contribution` (a count: 1; a sum: the
greatest absolute value on its grid). A privacy unit has at most m rows, in the worst case all in one cell: the L1 and
the L2 change of one query are then both m contribution. Across queries L1 changes add up, and so do squared L2 changes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from crowdgate.accounting.amplification import amplified_again, amplify
from crowdgate.accounting.discrete_laws import DiscreteGaussian, DiscreteLaplace, Law
from crowdgate.accounting.numbers import Number, down, epsilon_of, exact, probability, up, whole
from crowdgate.accounting.zcdp import greatest_rho, squared_sigma, zcdp_epsilon

NoiseKind = Literal["laplace", "gaussian"]
Split = Literal["equal", "least-variance"]


@dataclass(frozen=True)
class Query:
    """The numbers of one noisy vector. `share` is its stated part of the budget, None: a part of the undivided rest."""

    name: str
    cells: int
    contribution: int = 1
    share: Fraction | None = None

    def sensitivity(self, rows: int) -> int:
        """Return the largest L1 and L2 change by one privacy unit with at most `rows` rows."""
        return whole("rows", rows, 1) * self.contribution


def share_faults(queries: Sequence[Query]) -> list[tuple[str, str]]:
    """Return pairs of a query and its fault: a share of 0 or less, shares above the whole, nothing left for the
    rest."""
    faults = [(q.name, f"share {q.share}") for q in queries if q.share is not None and not 0 < q.share <= 1]
    stated = sum((q.share for q in queries if q.share is not None), Fraction(0))
    open_ones = [q.name for q in queries if q.share is None]
    if stated > 1:
        faults.append(("shares", f"add up to {stated}, more than the whole"))
    elif open_ones and stated == 1:
        faults.append((open_ones[0], "no budget left: the stated shares take all of it"))
    return faults


def split_budget(queries: Sequence[Query], total: Fraction, noise: NoiseKind, how: Split) -> tuple[Fraction, ...]:
    """Return the budget of each query: exact parts, which add up to `total` exactly (below it if all shares are
    stated).

    "equal" gives equal parts to the queries without a share. "least-variance" minimises the sum over their cells of the
    noise variance, each in multiples of the contribution of one row: with c cells, epsilon in proportion to c^(1/3)
    (Laplace: the variance is proportional to 1/epsilon^2), rho in proportion to c^(1/2) (Gaussian: to 1/rho).

    Raises ValueError for invalid shares.
    """
    faults = share_faults(queries)
    if faults:
        raise ValueError("; ".join(f"{name}: {fault}" for name, fault in faults))
    rest = 1 - sum((q.share for q in queries if q.share is not None), Fraction(0))
    weights = [_weight(q, noise, how) for q in queries]
    whole_weight = sum((w for q, w in zip(queries, weights, strict=True) if q.share is None), Fraction(0))
    return tuple(
        total * (q.share if q.share is not None else rest * w / whole_weight)
        for q, w in zip(queries, weights, strict=True)
    )


def _weight(query: Query, noise: NoiseKind, how: Split) -> Fraction:
    if how == "equal":
        return Fraction(1)
    power = 1 / 3 if noise == "laplace" else 1 / 2
    return Fraction(query.cells**power).limit_denominator(10**9)


def law_of(query: Query, budget: Fraction, rows: int, noise: NoiseKind) -> Law:
    """Return the distribution of the noise on each cell of the query, for its `budget` (epsilon or rho) and privacy
    units of at most `rows` rows."""
    change = query.sensitivity(rows)
    return DiscreteLaplace(change / budget) if noise == "laplace" else DiscreteGaussian(squared_sigma(change, budget))


@dataclass(frozen=True)
class TablesBudget:
    """The budget of the noise: epsilon (Laplace) or rho (Gaussian) in `spend`, such that after one Bernoulli sample of
    rate `beta` the release is (epsilon, delta)-DP."""

    noise: NoiseKind
    spend: Fraction
    beta: Fraction
    epsilon: Fraction
    delta: Fraction


def tables_budget(epsilon: Number, delta: Number, noise: NoiseKind, beta: Number = 1) -> TablesBudget:
    """Return the greatest noise budget within (epsilon, delta) for all outputs computed from one sample.

    zCDP is converted first, then amplified once. Raises ValueError for Gaussian noise with delta 0 or a number out of
    range; Laplace noise does not use delta.
    """
    eps, rate = exact("epsilon", epsilon, 0, 700, open_low=True), probability("beta", beta, open_low=True)
    allowed = probability("delta", delta)
    if noise == "gaussian" and not 0 < allowed < 1:
        raise ValueError("delta must be a number in (0, 1) for gaussian noise")
    inner_delta = min(allowed / rate, 1 - Fraction(1, 10**9)) if noise == "gaussian" else Fraction(0)
    inner = _before_sampling(eps, rate)
    spend = inner if noise == "laplace" else greatest_rho(inner, inner_delta)
    spent = stated_guarantee(noise, spend, inner_delta, rate)
    assert spent[0] <= eps, "the guarantee must be within the budget"
    assert spent[1] <= allowed, "the guarantee must be within the budget"
    return TablesBudget(noise, spend, rate, *spent)


def stated_guarantee(
    noise: NoiseKind, spend: Number, inner_delta: Number, beta: Number, *, again: bool = False
) -> tuple[Fraction, Fraction]:
    """Return (epsilon, delta) of a release whose noise spends `spend` on one Bernoulli sample of rate beta, rounded up.

    `again` rounds up less, but enough, to confirm a guarantee stated by another machine, whose logarithms and
    exponentials may differ in the last bit. A `spend` computed for that epsilon could otherwise exceed it here.
    """
    rate, delta = probability("beta", beta, open_low=True), probability("delta", inner_delta)
    epsilon: Number = zcdp_epsilon(spend, delta, again=again) if noise == "gaussian" else epsilon_of(spend)
    if rate == 1:
        return epsilon_of(epsilon), delta
    amplified = amplified_again(epsilon, rate) if again else Fraction(amplify(epsilon, delta, rate)[0])
    return amplified, delta * rate


def _before_sampling(epsilon: Fraction, beta: Fraction) -> Fraction:
    """Return the greatest epsilon whose amplification at rate beta is at most `epsilon`."""
    if beta == 1:
        return epsilon
    inner = math.log1p(math.expm1(down(epsilon)) / up(beta)) if epsilon < 30 else down(epsilon) - math.log(up(beta))
    while Fraction(amplify(inner, 0, beta)[0]) > epsilon:
        inner = math.nextafter(inner * (1 - 1e-15), 0.0)
    return Fraction(inner)
