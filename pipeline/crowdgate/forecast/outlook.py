"""The guarantee, privacy cost and expected figures of a policy, from public facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate import manifest
from crowdgate.accounting.numbers import up
from crowdgate.accounting.pso_curve import WeightBounds, curve, stated_bounds
from crowdgate.anonymity.predict.planned_release import prediction
from crowdgate.anonymity.predict.population_check import population_warnings
from crowdgate.forecast.chances.from_past_runs import next_measurement
from crowdgate.forecast.chances.gate_chances import Chances, chances
from crowdgate.forecast.chances.gate_chances import next_release as known_beforehand
from crowdgate.forecast.singling_out_curve import singling_out
from crowdgate.forecast.stored_figures import StoredFigures, stored_figures
from crowdgate.kind.forecast import Basis, Figure, Forecast
from crowdgate.kind.listing import Listing, ListingColumn
from crowdgate.kind.pass_probability import PassProbability
from crowdgate.measures.guarantees import kept_costs
from crowdgate.number_text import BOUND, Value
from crowdgate.planning.budget_left import LedgerStatus, ledger_of, ledger_status, releases_in_budget, today
from crowdgate.planning.charges import charges
from crowdgate.planning.plan import plan_policy
from crowdgate.planning.public_classes import stored_classes
from crowdgate.public_counts.figures import PriorFigures, PriorSubject, read_prior
from crowdgate.public_counts.pilot import counts_source
from crowdgate.system.notebook_page import ShownInNotebooks
from crowdgate.system.short_repr import short_repr

if TYPE_CHECKING:
    from crowdgate.candidate import Cost, Static
    from crowdgate.history.past_runs import PastRun
    from crowdgate.kind.picture import Picture
    from crowdgate.kind.plan import Plan
    from crowdgate.measures import Measure
    from crowdgate.policy.policy import GateRule

MOST_BOUNDS = 12
MEASURED = {"classes": "released_classes"}
"""The measure that measures an expected figure, by the figure's name."""

CURVE = (
    ListingColumn("releases", "releases", "d"),
    ListingColumn("weight", "weight"),
    ListingColumn("baseline", "without them", BOUND),
    ListingColumn("bound", "with them", BOUND),
    ListingColumn("in_sample", "of the sample", BOUND),
    ListingColumn("ratio", "times the baseline", BOUND),
    ListingColumn("excess", "above the baseline", BOUND),
)


@dataclass(frozen=True, eq=False)
class Outlook(ShownInNotebooks):
    """A plan with its forecast and the public figures behind it, the number of such releases in the budget, the bound
    on singling out after each of them (`pso_bounds`), and the probabilities of its gates."""

    __repr__ = short_repr

    plan: Plan
    figures: PriorFigures
    forecast: Forecast
    releases: int
    standing: LedgerStatus
    pso_bounds: tuple[tuple[WeightBounds, ...], ...]
    chances: Chances
    stored: StoredFigures

    def rests_on(self) -> list[str]:
        """Return the basis of the expected figures in sentences; nothing if that is only the contract's margins."""
        if self.figures.source is None:
            return []
        said = f"Expected figures rest on {self.figures.source}, of the population {self.figures.population}."
        return [
            *population_warnings(self.figures, PriorSubject.of_plan(self.plan)),
            " ".join([said, *self.figures.gaps()]),
        ]

    @property
    def informed(self) -> bool | None:
        """True if the policy is informed by confidential data; None if its ledger is unreadable."""
        return self.standing.informed

    @property
    def charges(self) -> tuple[str, ...]:
        """The privacy cost of every charged gate, in words."""
        return charges(self.plan)

    @property
    def people_times_delta(self) -> Fraction:
        """The bound on the number of people in the population, times delta of one release. Near 1, the bound on
        singling out is empty."""
        return people_times_delta(self.plan)

    @property
    def first_count(self) -> int:
        """The number of releases after which the first of `pso_bounds` holds: all of a series, and in Renyi
        divergences."""
        return _counts(self.plan, self.releases)[0]

    @cached_property
    def pso_curve(self) -> Listing:
        """Listing of the bound on the success of predicate singling out by predicate weight, after the first such
        release and after all that the budget allows."""
        counts = _counts(self.plan, self.releases)
        note = "at most, by predicates up to a weight; no one weight is the right one"
        rows = tuple(row for count in counts for row in _curve(self.plan, count))
        return Listing("pso_curve", "success of predicate singling out", CURVE, rows, note)

    @cached_property
    def prediction(self) -> Listing:
        """Listing of the expected number of people who are unique in the combination of all counted attributes."""
        return self.stored.listing("prediction", lambda: prediction(self.plan, self.figures))

    @cached_property
    def singling_out(self) -> Picture:
        """Picture of the bound on the success of predicate singling out by predicate weight, with the limits of the
        policy's gates."""
        static, counts = self.plan.first_release_facts(), _counts(self.plan, self.releases)
        kept = {f"after {count} of them, at most": kept_costs(static, _cost(self.plan, count)) for count in counts}
        return singling_out(static.most_rows, kept, [rule for rule, _ in self.plan.gates])

    def to_json(self) -> dict[str, Any]:
        """Return the outlook as an object of JSON."""
        return {
            "guarantee": manifest.guarantee_json(self.plan.guarantee),
            "mechanism": self.plan.protection.kind.parameters(self.plan.protection.mechanism),
            "people_times_delta": up(self.people_times_delta),
            "releases_in_budget": self.releases,
            "informed": self.informed,
            "left": self.standing.left.to_json(),
            "charges": list(self.charges),
            "pso_bound_after_release": [middle.bound for _, middle, _ in self.pso_bounds],
            "pso_curve": self.pso_curve.to_json(),
            "from": self.figures.to_json(),
            "prediction": self.prediction.to_json(),
            "forecast": self.chances.to_json(),
            **self.forecast.to_json(),
        }


def outlook(policy: Path, source: Path | None = None, further: Sequence[str] = ()) -> Outlook:
    """Return the outlook of a policy, from the contract's margins or also from counts in `source` (see
    public_counts.figures), or in the pilot release that the policy names.

    `further` attributes are included. Raises ConfigurationError for faulty files. Reads no data that are not public.
    """
    plan = plan_policy(policy)
    day, opened = today(), ledger_of(plan)
    plan = replace(plan, count_classes=lambda made: stored_classes(made, opened))
    source = counts_source(plan, source)
    known = read_prior(PriorSubject.of_plan(plan), source, further)
    releases = releases_in_budget(plan)
    bounds = pso_bounds(plan, releases)
    stored = stored_figures(plan, opened, public=source is None)
    gates = [rule for rule, _ in plan.gates]
    expected = stored.forecast(plan.protection.kind.outlook(plan.protection.mechanism, known.prior, gates))
    found = ledger_status(plan, opened, day)
    simulated = partial(_simulated, expected) if known.source is not None else (lambda *_: None)
    beforehand = known_beforehand(plan, opened, found, lambda *gate: _by_counts(known, expected, gate), simulated)
    foretold = chances(beforehand, found, day)
    expected = _with_history(expected, plan, beforehand.past or ())
    return Outlook(plan, known, expected, releases, found, bounds, foretold, stored)


def _with_history(expected: Forecast, plan: Plan, past: Sequence[PastRun]) -> Forecast:
    """Return a forecast whose unknown figures are those of past runs, where a gate has measured the same number."""
    if not past:
        return expected
    return replace(expected, make_figures=lambda: tuple(_of_past(each, plan, past) for each in expected.figures))


def _of_past(figure: Figure, plan: Plan, past: Sequence[PastRun]) -> Figure:
    gate = next((each for each in plan.gates if MEASURED.get(figure.name) == each[1].name), None)
    found = None if figure.value is not None or gate is None else next_measurement(plan, *gate, past)
    if found is None:
        return figure
    value, low, high = found
    return replace(figure, value=value, low=low, high=high, basis=Basis.PAST)


def _by_counts(
    known: PriorFigures, expected: Forecast, gate: tuple[GateRule, Measure, Static]
) -> tuple[PassProbability, str] | None:
    odds = expected.odds(*gate)
    return None if odds is None else (odds, known.source or "the contract's public margins")


def _simulated(expected: Forecast, rule: GateRule, measure: Measure) -> str | None:
    found = expected.passes(rule, measure)
    return None if found is None else f"{found[0]} of {found[1]} simulated releases pass"


def people_times_delta(plan: Plan) -> Fraction:
    """Return the bound on the number of people in the population, times delta of one release."""
    return plan.bundle.budget.spec.people * plan.guarantee.delta


def _curve(plan: Plan, count: int) -> Iterator[Mapping[str, Value]]:
    static = plan.first_release_facts()
    for point in curve(static.most_rows, kept_costs(static, _cost(plan, count)), static.sampled_rate):
        yield {
            "releases": count, "weight": point.weight, "baseline": point.baseline, "bound": point.bound,
            "in_sample": point.in_sample, "ratio": point.ratio, "excess": point.excess,
        }  # fmt: skip


def _counts(plan: Plan, releases: int) -> list[int]:
    """Return the numbers of releases after which singling out is shown: one, and all that the budget allows."""
    whole = max(1, releases)
    return [whole] if paid_as_one(plan) else sorted({1, whole})


def paid_as_one(plan: Plan) -> bool:
    """Return True if the promise is about all releases, however many are made: those of a series, or of a budget in
    Renyi divergences."""
    return plan.series is not None or plan.bundle.budget.spec.lifetime is not None


def _cost(plan: Plan, count: int) -> Cost:
    """Return the epsilon and delta of `count` such releases, of the whole series if they are one, or of all that a
    budget in Renyi divergences allows."""
    once, budget = plan.guarantee, plan.bundle.budget.spec
    if budget.lifetime is not None:
        return budget.epsilon, budget.delta
    if plan.series is not None:
        return plan.series.epsilon, plan.series.delta
    return count * once.epsilon, count * once.delta


def pso_bounds(plan: Plan, releases: int) -> tuple[tuple[WeightBounds, ...], ...]:
    """Return the bounds on the success probability of predicate singling out at the three stated weights, after each of
    the first of `releases` such releases; of a series and in Renyi divergences once, after all that the budget
    allows."""
    most = 1 if paid_as_one(plan) else MOST_BOUNDS
    static, counts = plan.first_release_facts(), range(1, min(releases, most) + 1)
    return tuple(stated_bounds(static.most_rows, kept_costs(static, _cost(plan, count))) for count in counts)
