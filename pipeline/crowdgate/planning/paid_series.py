"""The series of a policy in the ledger: what its next release is charged, and how many slots are left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crowdgate.kind.series import planned_series
from crowdgate.ledger.series import SeriesRequest
from crowdgate.ledger.values import ZERO, Spend
from crowdgate.limits import MOST_SERIES
from crowdgate.number_text import decimal, exact_text, shortened
from crowdgate.policy.policy import SeriesSpec, version_of

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan
    from crowdgate.kind.series import PlannedSeries
    from crowdgate.ledger.ledger import Ledger


def series_request(planned: PlannedSeries | None) -> SeriesRequest | None:
    """Return a planned series as it is requested of the ledger; None for none."""
    if planned is None:
        return None
    return SeriesRequest(planned.releases, Spend(planned.epsilon, planned.delta), planned.law)


@dataclass(frozen=True)
class PaidSeries:
    """The state of a policy's series: its number of `releases`, and how many are `taken` of a series that `payer` paid
    for (None: the next release will pay)."""

    releases: int
    payer: str | None = None
    taken: int = 0

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        return {"releases": self.releases, "left": self.left, "paid_by": self.payer}

    @property
    def left(self) -> int:
        """The number of releases that the series still has."""
        return self.releases - self.taken


def paid_series(plan: Plan, ledger: Ledger | None) -> PaidSeries | None:
    """Return the state of a policy's series; None for a policy without one. Without a ledger nothing is paid."""
    if plan.series is None:
        return None
    policy, digest = plan.bundle.policy, plan.bundle.digest
    found = None if ledger is None else ledger.series_payer(version_of(policy), digest)
    if found is None:
        return PaidSeries(plan.series.releases)
    return PaidSeries(plan.series.releases, found[0].release_id, found[1])


def charged_next(plan: Plan, series: PaidSeries | None) -> Spend:
    """Return the privacy cost that is charged with the next release: nothing if its series was paid."""
    if plan.series is None or series is None:
        return Spend(plan.guarantee.epsilon, plan.guarantee.delta)
    return ZERO if series.payer is not None else Spend(plan.series.epsilon, plan.series.delta)


def undeclared_series_text(plan: Plan, releases: int, left: Spend) -> list[str]:
    """Return what so many releases of a policy would cost as a series, whose delta fits into what is `left`, in a
    sentence; nothing if that is not less than their sum, or if no series can be so long.
    """
    if releases > MOST_SERIES or not left.delta:
        return []
    spec, guarantee = plan.bundle.policy.spec, plan.guarantee
    most = releases * guarantee.delta
    stated = SeriesSpec.model_construct(releases=releases, delta=None if most <= left.delta else shortened(left.delta))
    found = planned_series(spec.model_copy(update={"series": stated}), plan.protection, guarantee)
    if found is None or found.epsilon >= releases * guarantee.epsilon:
        return []
    declared = f"releases: {releases}" + ("" if stated.delta is None else f", delta: {exact_text(found.delta)}")
    cost = f"epsilon {decimal(found.epsilon)}, delta {decimal(found.delta)}"
    fits = "" if Spend(found.epsilon, found.delta).within(left) else ", more than is left"
    return [f"Declared as a series ({{{declared}}}) and paid at once, they cost {cost}{fits}."]


def series_text(plan: Plan, series: PaidSeries | None) -> str | None:
    """Return what a policy's series costs, and who pays or paid for it, in words; None without a series."""
    planned = plan.series
    if planned is None or series is None:
        return None
    cost = f"epsilon {decimal(planned.epsilon)}, delta {decimal(planned.delta)}"
    if series.payer is None:
        return (
            f"the first of {planned.releases} releases pays {cost} for all of them; nothing is given back once it read"
        )
    return f"{series.payer} paid {cost} for {planned.releases} releases; {series.left} left"
