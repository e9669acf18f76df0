"""The budget left of a policy, and its status in the ledger, if that is readable.

The status tells whether the policy is informed by confidential data, whether the ledger would refuse it, and how many
more such releases the budget and the policy's own gates allow.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any

from crowdgate.accounting.numbers import GREATEST_EPSILON
from crowdgate.errors import CrowdgateError, LedgerRefused
from crowdgate.gate import Verdict, verdict
from crowdgate.ledger.filters import zero
from crowdgate.ledger.values import ZERO, Budget, Spend, State
from crowdgate.manifest import INFORMED
from crowdgate.number_text import Rounding, decimal, exact_text
from crowdgate.planning.budget_values import budget_of
from crowdgate.planning.low_budget import low_by_part, low_by_releases
from crowdgate.planning.open_ledger import OpenedLedger
from crowdgate.planning.paid_series import PaidSeries, charged_next, paid_series, series_text, undeclared_series_text
from crowdgate.policy.policy import version_of

if TYPE_CHECKING:
    from crowdgate.accounting.lifetime import Lifetime
    from crowdgate.accounting.renyi import Divergences
    from crowdgate.candidate import Static
    from crowdgate.kind.plan import Plan
    from crowdgate.ledger.ledger import Entry, Ledger

UNKNOWN = "Whether it is informed by confidential data is not known: its ledger can't be read here."
UNREAD = "its ledger can't be read here"
REFUSES = "its ledger refuses it"
RECENT = 3
MOST_RELEASES = 1000
"""The greatest number of successive releases that gates are judged for."""


@dataclass(frozen=True)
class BudgetLeft:
    """The budget left of a policy, and the number of further such releases.

    `spent` and `cap` are those of the ledger, or, if it is `unread` for a reason, those of a population without
    charges. `releases` fit into the budget; `passing` of them, one after the other, pass the gates that read no data
    (at most MOST_RELEASES are judged); `stops` is the verdict that withholds the next one (None: none does). `people`
    bounds the population. `sample` names a table that is a sample already, which serves one release. `used` is the part
    of a filter that is used, and `lifetime` its promise, if releases are counted in Renyi divergences. `series` is the
    state of the policy's series, if it declares one: `releases` are then those of the series.
    `delta_binds` says that its epsilon alone would pay for more.
    """

    spent: Spend
    cap: Spend
    unread: str | None
    releases: int
    passing: int
    stops: Verdict | None
    people: int
    sample: str | None = None
    used: Fraction | None = None
    lifetime: Lifetime | None = None
    series: PaidSeries | None = None
    delta_binds: bool = False

    @property
    def read(self) -> bool:
        """True if the ledger was read."""
        return self.unread is None

    @property
    def next_refusal(self) -> str | None:
        """The reason why the very next release is impossible; None if it is possible, or the ledger was not read."""
        if not self.read or self.passing:
            return None
        stopped = self.stops
        return f"{stopped.gate}: {stopped.reason}" if stopped else f"Budget left: {self.amounts_text()}"

    @property
    def low(self) -> str | None:
        """The warning that the budget is low, in a sentence; None if it is not, or if a paid series needs none of it.

        A table that is a sample serves one release, however much is left, so the number of releases says nothing.
        """
        if self.series is not None and self.series.payer is not None:
            return None
        counted = self.series is None and self.sample is None
        few = low_by_releases(self.releases) if counted or not self.releases else None
        return few or low_by_part(_part_left(self.spent, self.cap, self.used))

    def words(self) -> list[str]:
        """Return the budget left, and the gates that would stop further releases, in sentences."""
        alone = "" if self.read else f" ({self.unread}; this assumes that nothing was spent)"
        said = [f"Budget left: {self.amounts_text()}{alone}"]
        if self.stops is not None:
            which = "the next one" if not self.passing else f"all but the first {self.passing}"
            said.append(f"Its gates would withhold {which} of these: {self.stops.gate}: {self.stops.reason}.")
        elif self.releases > self.passing:
            said.append(f"Its gates would pass the first {self.passing} of these.")
        return [*said, *([] if self.low is None else [self.low])]

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        gone = self.spent.left_of(self.cap) if self.used is None else self.cap
        counted = {} if self.used is None else {"accounting": "renyi", "used": float(self.used)}
        return {
            "ledger_read": self.read,
            "epsilon": exact_text(gone.epsilon),
            "delta": exact_text(gone.delta),
            **counted,
            "releases_in_budget": self.releases,
            "releases_past_gates": self.passing,
            "stopped_by": None if self.stops is None else self.stops.gate,
            **({} if self.series is None else {"series": self.series.to_json()}),
        }

    def several_json(self, releases: int) -> dict[str, Any]:
        """Return whether so many releases fit into the budget left, and whether they pass the gates that read no data,
        as an object of JSON."""
        unstopped = self.stops is None or releases <= self.passing
        return {"number": releases, "in_budget": releases <= self.releases, "past_gates": unstopped}

    def several_text(self, releases: int, plan: Plan) -> list[str]:
        """Return whether so many releases fit into the budget left, and what they cost together, in sentences."""
        many = f"{releases} such release{'' if releases == 1 else 's'}"
        fit = "fit" if releases <= self.releases else "do not fit"
        said = [f"{many} {fit} into the budget left, which pays for {self.releases}."]
        if self.stops is not None and self.passing < releases:
            first = f" but the first {self.passing}" if self.passing else ""
            said.append(f"{self.stops.gate} withholds all of them{first}.")
        if self.lifetime is not None:
            epsilon, delta = decimal(self.cap.epsilon), decimal(self.cap.delta)
            return [*said, f"With all other releases of these people they keep epsilon {epsilon}, delta {delta}."]
        series = series_text(plan, self.series)
        if series is not None:
            return [*said, f"Series: {series}."]
        epsilon, delta = (decimal(releases * getattr(plan.guarantee, name)) for name in ("epsilon", "delta"))
        said.append(f"Together they cost epsilon {epsilon}, delta {delta}.")
        left = self.spent.left_of(self.cap)
        return said if self.sample or releases < 2 else [*said, *undeclared_series_text(plan, releases, left)]

    def amounts_text(self) -> str:
        """Return the budget left, and the number of further such releases that it allows, as text: epsilon and delta,
        or the part of them that is left in Renyi divergences."""
        closed = ZERO if self.lifetime is None else Spend(*self.lifetime.closed)
        left = (self.spent if self.used is None else closed).left_of(self.cap)
        epsilon, delta = (decimal(getattr(left, name), rounding=Rounding.DOWN) for name in ("epsilon", "delta"))
        part = "" if self.used is None else f"{floor(100 * max(Fraction(0), 1 - self.used))} % of "
        unit = "" if self.used is None else " in Renyi divergences"
        if closed != ZERO:
            unit += f" (beside {closed} of a closed budget)"
        enough = f"enough for {self.releases} such release{'' if self.releases == 1 else 's'}"
        once = f": the table is the sample {self.sample}, which may be released once" if self.sample else ""
        binds = " (delta allows no more, epsilon would)" if self.delta_binds else ""
        return f"{part}epsilon {epsilon}, delta {delta}{unit}, {enough}{binds}{once}"


def _part_left(spent: Spend, cap: Spend, used: Fraction | None) -> Fraction:
    """Return the part of a budget that is left: of its filter, or the lesser one of epsilon and delta."""
    if used is not None:
        return 1 - used
    left = spent.left_of(cap)
    pairs = ((left.epsilon, cap.epsilon), (left.delta, cap.delta))
    return min((each / of for each, of in pairs if of), default=Fraction(0))


@dataclass(frozen=True)
class LedgerStatus:
    """The status of a policy in the ledger.

    `informed` is None if the ledger is unreadable; `refused` gives the reason for a refusal; `ended` are the last
    releases of this policy's name, published or withheld, at most RECENT.
    """

    informed: bool | None
    refused: str | None
    left: BudgetLeft
    ended: tuple[Entry, ...] = ()


def today() -> str:
    """Return the current day (UTC), YYYY-MM-DD."""
    return datetime.now(UTC).date().isoformat()


def ledger_of(plan: Plan) -> OpenedLedger:
    """Return the ledger that a policy's budget names, not yet opened."""
    return OpenedLedger(plan.bundle.root, plan.bundle.budget.spec.ledger)


def ledger_status(plan: Plan, opened: OpenedLedger, day: str | None = None) -> LedgerStatus:
    """Return a policy's status in the ledger of its budget. Waivers are judged as of `day` (YYYY-MM-DD, by default
    today).
    """
    day = today() if day is None else day
    try:
        ledger = opened.ledger()
    except CrowdgateError:
        return LedgerStatus(None, None, _left_of_unspent(plan, day, UNREAD))
    try:
        budget, refused = _budget(plan, ledger)
        left = _left(plan, _Standing.of(ledger, budget), day, used=refused is not None)
        return LedgerStatus(_informed(plan, ledger), refused or left.next_refusal, left, _ended_releases(plan, ledger))
    except LedgerRefused as refusal:
        return LedgerStatus(_informed(plan, ledger), str(refusal), _left_of_refused(plan, ledger, day))
    except CrowdgateError:
        return LedgerStatus(None, None, _left_of_unspent(plan, day, UNREAD))


def _budget(plan: Plan, ledger: Ledger) -> tuple[Budget, str | None]:
    """Return the budget in force, and the reason why the ledger refuses this version of the policy or its sample (None:
    it does not).

    Raises LedgerRefused if the ledger returns no budget either.
    """
    bundle = plan.bundle
    stated, sample = (bundle.contract.id, budget_of(bundle)), bundle.contract.sample
    name = None if sample is None else sample.name
    try:
        return ledger.check(*stated, version_of(bundle.policy), bundle.digest, name), None
    except LedgerRefused as refusal:
        return ledger.check(*stated), str(refusal)


def _left_of_refused(plan: Plan, ledger: Ledger, day: str) -> BudgetLeft:
    """Return the budget left in a ledger that refuses the next release, e.g. because the population is frozen. If the
    ledger reports no budget, it is assumed that nothing was spent.
    """
    try:
        budget = ledger.budget(plan.bundle.contract.population)
        if budget is not None:
            return _left(plan, _Standing.of(ledger, budget), day)
    except CrowdgateError:
        pass
    return _left_of_unspent(plan, day, REFUSES)


def _left_of_unspent(plan: Plan, day: str, unread: str) -> BudgetLeft:
    return _left(plan, _Standing(budget_of(plan.bundle)), day, unread=unread)


def _informed(plan: Plan, ledger: Ledger) -> bool | None:
    """Return whether a release of the policy now would be marked as informed by confidential data; None if the ledger
    can't tell.
    """
    try:
        return ledger.informed(plan.bundle.contract.population, plan.bundle.digest)
    except CrowdgateError:
        return None


def _ended_releases(plan: Plan, ledger: Ledger) -> tuple[Entry, ...]:
    name = plan.bundle.policy.metadata.name
    return tuple(ledger.last_entries(name, RECENT, lambda each: each.state in (State.PUBLISHED, State.WITHHELD)))


@dataclass(frozen=True)
class _Standing:
    """A budget in force with its charges: their sum, and their Renyi divergences if a filter counts them."""

    budget: Budget
    spent: Spend = ZERO
    counted: Divergences | None = None
    ledger: Ledger | None = None

    @classmethod
    def of(cls, ledger: Ledger, budget: Budget) -> _Standing:
        """Return the standing of a population in the ledger."""
        return cls(budget, ledger.spent(budget.population), ledger.divergences(budget.population), ledger)

    @property
    def used(self) -> Fraction | None:
        """The part of the filter that is used; None for an additive budget."""
        lifetime = self.budget.lifetime
        if lifetime is None:
            return None
        return Fraction(0) if self.counted is None else lifetime.used(self.counted)

    def releases(self, plan: Plan) -> int:
        """Return how many releases of a policy the budget still allows; with a series, how many of it."""
        series = paid_series(plan, self.ledger)
        if series is not None:
            return series.left if series.payer is not None or self._pays(plan) else 0
        once, lifetime = Spend(plan.guarantee.epsilon, plan.guarantee.delta), self.budget.lifetime
        if lifetime is None:
            return releases_in(self.spent.left_of(self.budget.cap), once)
        if not once.within(self.budget.cap):
            return 0
        return lifetime.filter.left(self.counted or zero(lifetime), plan.divergences(lifetime.filter))

    def _pays(self, plan: Plan) -> bool:
        """Return whether the budget still allows the whole series of a policy."""
        lifetime, cost = self.budget.lifetime, charged_next(plan, paid_series(plan, None))
        if lifetime is None or plan.series is None:
            return (self.spent + cost).within(self.budget.cap)
        series = plan.divergences(lifetime.filter).times(plan.series.releases)
        return cost.within(self.budget.cap) and lifetime.filter.allows(self.counted or zero(lifetime), series)


def releases_left(plan: Plan, budget: Budget, ledger: Ledger | None = None) -> int:
    """Return how many releases of a policy a budget allows beside the charges in the ledger, or (None) as a whole."""
    standing = _Standing(budget) if ledger is None else _Standing.of(ledger, budget)
    return standing.releases(plan)


def budget_after(plan: Plan, ledger: Ledger) -> BudgetLeft | None:
    """Return the budget left of a policy as if no gate stopped a release; None if the ledger holds none. Asks the
    ledger only for sums."""
    budget = ledger.budget(plan.bundle.contract.population)
    return None if budget is None else _ungated(plan, _Standing.of(ledger, budget))


def _left(plan: Plan, standing: _Standing, day: str, *, unread: str | None = None, used: bool = False) -> BudgetLeft:
    left = _ungated(plan, standing, used)
    once, most = charged_next(plan, left.series), min(left.releases, MOST_RELEASES)
    passing, stops = _passing(plan, standing.budget, standing.spent, once, most, day)
    return replace(left, unread=unread, passing=passing, stops=stops)


def _ungated(plan: Plan, standing: _Standing, used: bool = False) -> BudgetLeft:
    """Return the budget left as if no gate stopped a release; `used` says that the table's sample was released."""
    budget, sample, series = standing.budget, plan.bundle.contract.sample, paid_series(plan, standing.ledger)
    allowed = standing.releases(plan)
    releases = _of_table(plan, allowed, used)
    binds = budget.lifetime is None and series is None and allowed == releases and _delta_binds(plan, standing, allowed)
    return BudgetLeft(
        standing.spent, budget.cap, None, releases, releases, None, budget.people,
        None if sample is None else sample.name, standing.used, budget.lifetime, series, binds,
    )  # fmt: skip


def _delta_binds(plan: Plan, standing: _Standing, releases: int) -> bool:
    """Return whether the epsilon left of an additive budget would pay for more than so many releases."""
    left, epsilon = standing.spent.left_of(standing.budget.cap), plan.guarantee.epsilon
    return bool(epsilon) and left.epsilon >= (releases + 1) * epsilon


def releases_in_budget(plan: Plan) -> int:
    """Return the number of releases of this policy that the population's whole lifetime budget allows."""
    return _of_table(plan, releases_left(plan, budget_of(plan.bundle)))


def _of_table(plan: Plan, releases: int, used: bool = False) -> int:
    """Return `releases`, the number that the budget allows; for a table that is a sample at most 1, or 0 once the
    sample is used.
    """
    return releases if plan.bundle.contract.sample is None else min(releases, 0 if used else 1)


def releases_in(amount: Spend, once: Spend) -> int:
    """Return the number of releases, each of privacy cost `once`, that the epsilon and delta of `amount` allow."""
    by_epsilon = int(amount.epsilon / once.epsilon)
    return min(by_epsilon, int(amount.delta / once.delta)) if once.delta else by_epsilon


def _passing(plan: Plan, budget: Budget, spent: Spend, once: Spend, most: int, day: str) -> tuple[int, Verdict | None]:
    """Return the number of successive releases, at most `most`, that pass every blocking gate that reads no data, and
    the verdict that stops the next one (None: none does). `once` is what the next one is charged; with a series, which
    pays for all that follow.

    The first release is judged by all these gates, later ones by those whose measures accumulate. Such a measure never
    falls as more is spent. A gate that stops a later release stops all that follow, so the first is found by bisection.
    """
    facts = plan.static(
        budget.people, (budget.cap.epsilon, budget.cap.delta), (Fraction(0), Fraction(0)), budget.lifetime
    )

    def stops(done: int) -> Verdict | None:
        charged = done + 1 if plan.series is None else 1
        epsilon, delta = (getattr(spent, name) + charged * getattr(once, name) for name in ("epsilon", "delta"))
        static = replace(facts, spent=(epsilon, delta) if budget.lifetime is None else facts.spent)
        return next(_stopping(plan, static, day, every=done == 0), None)

    done = first_stopped(lambda each: stops(each) is not None, most)
    return done, stops(done) if done < most else None


def first_stopped(stops: Callable[[int], bool], most: int) -> int:
    """Return the number of the first release, from 0, for which `stops` returns True; `most` if there is none below it.

    From number 1 on, every release after a stopped one must be stopped, too.
    """
    if not most or stops(0):
        return 0
    return 1 + bisect_left(range(1, most), True, key=stops)


def _stopping(plan: Plan, static: Static, day: str, *, every: bool) -> Iterator[Verdict]:
    """Yield the verdicts that withhold a release: of all blocking gates that read no data if `every`, else only of
    those whose measures accumulate.
    """
    for rule, measure in plan.gates:
        asked = rule.severity == "block" and measure.asks is None and (every or measure.accumulates)
        if asked and measure.of_static is not None:
            found = verdict(rule, measure, measure.of_static(static, rule), static, day)
            if found.withholds:
                yield found


def facts_at_next(plan: Plan, left: BudgetLeft) -> Static:
    """Return the public facts by which gates would judge the next release, even if the budget does not allow it.

    Epsilon is capped at the greatest one and delta at 1, where the guarantee is empty.
    """
    spent = left.spent + charged_next(plan, left.series)
    most = min(spent.epsilon, Fraction(GREATEST_EPSILON)), min(spent.delta, Fraction(1))
    return plan.static(left.people, (left.cap.epsilon, left.cap.delta), most, left.lifetime)


def next_release_sentences(plan: Plan, left: BudgetLeft) -> tuple[str, ...]:
    """Return the guarantee of the next release in sentences, with all earlier charges if the ledger is readable."""
    return plan.plain(facts_at_next(plan, left), first=left.spent == ZERO)


def guarantee_sentences(plan: Plan, left: BudgetLeft) -> list[str]:
    """Return two statements in sentences: the guarantee of the next release together with all earlier charges, and that
    of the next release only.
    """
    return [*next_release_sentences(plan, left), *plan.guarantee_text()]


def informed_text(found: bool | None) -> list[str]:
    """Return the sentence that a policy is informed by confidential data, or that this is unknown (`found` None); no
    sentence if it is uninformed.
    """
    return [UNKNOWN] if found is None else [INFORMED] if found else []
