"""Search for the policies that answer what users need with the least expected error, at a policy's privacy cost.

Every kind of release is tried at the policy's epsilon and delta: for rows with several sampling rates and costs of
margins, and with columns that no analysis needs at coarser levels. Only public and published figures decide: those that
`crowdgate plan` reads. A candidate is judged by the policy's own gates, as far as they suit its kind.

Levels are searched from both ends: from the policy's levels, and from the needed columns alone. Of levels that no other
ones beat in both detail and error, all neighbours are tried, which differ in one column by one level.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, zip_longest
from math import log
from operator import attrgetter
from typing import TYPE_CHECKING

from crowdgate.errors import ConfigurationError
from crowdgate.forecast.needs import NeedError, Needs, mean_error, needs_of
from crowdgate.gate import Outcome, gate_text, verdict
from crowdgate.hierarchy import Level
from crowdgate.kind.forecast import Axes
from crowdgate.kinds import KINDS
from crowdgate.measures import MEASURES
from crowdgate.number_text import rounded
from crowdgate.planning.plan import plan_release

if TYPE_CHECKING:
    from crowdgate.candidate import MechanismFigures
    from crowdgate.forecast.outlook import Outlook
    from crowdgate.kind.forecast import Forecast
    from crowdgate.kind.kind import AnyKind
    from crowdgate.kind.plan import Plan
    from crowdgate.kind.prior import Prior
    from crowdgate.policy.policy import GateRule, MechanismSpec

MOST_POLICIES = 10
"""The most policies on a frontier."""
MOST_TRIED = 200
"""The most candidates of one kind."""
MOST_JUDGED = 5
"""The most candidates of one kind, without variations of their cost, whose rows are judged by their weights."""
LIKELY = 0.5
"""A gate counts as passed if its expected probability of passing is at least this."""


@dataclass(frozen=True, eq=False)
class PolicyCandidate:
    """A policy that was tried: its plan, its forecast with the columns at their levels, and its expected error.
    `first_error` is that of rows without weights. `detail` is the sum over the columns of the logarithm of the number
    of values, each as a share of that of the finest level."""

    plan: Plan
    forecast: Forecast
    levels: Axes
    first_error: NeedError
    detail: float
    judge: Callable[[Forecast], NeedError | None]

    @cached_property
    def error(self) -> NeedError:
        """The expected error, of rows with margins by their weights."""
        found = self.judge(self.forecast)
        assert found is not None, "tables whose error is known without weights have one with them"
        return found

    @property
    def spec(self) -> MechanismSpec:
        """The mechanism, as a policy states it."""
        return self.plan.bundle.policy.spec.mechanism

    @property
    def kind(self) -> str:
        """The kind of release."""
        return self.plan.protection.kind.name

    @cached_property
    def outcomes(self) -> Mapping[str, bool | None]:
        """For each blocking gate whether it is expected to pass (None: unknown)."""
        return {gate_text(rule): passes for rule, passes in _outcomes(self.plan, self.forecast)}

    @property
    def failing(self) -> frozenset[str]:
        """The blocking gates that are expected to fail."""
        return frozenset(gate for gate, passes in self.outcomes.items() if passes is False)

    @property
    def unknown(self) -> int:
        """The number of blocking gates of which nothing is known."""
        return sum(passes is None for passes in self.outcomes.values())


@dataclass(frozen=True, eq=False)
class BestPolicies:
    """The answer to the search: what users need, the policy itself (None: its error is unknown), the frontier, and the
    price of each gate: the blocking gate, and by how much smaller the least error of a kind would be without it."""

    needs: Needs
    own: PolicyCandidate | None
    frontier: tuple[PolicyCandidate, ...]
    prices: tuple[tuple[str, str, float], ...]
    tried: int


def best_policies(found: Outlook) -> BestPolicies:
    """Return the policies of least expected error on what users need, among all kinds of release. Reads no data that
    are not public."""
    levels = found.forecast.compared or {}
    search = _PolicySearch(found.plan, found.figures.prior, levels, needs_of(found.plan.bundle.contract, levels))
    for kind in KINDS.values():
        search.explore(kind)
    best = {name: search.frontier(name) for name in KINDS}
    prices = (each for name, those in best.items() if those for each in search.prices(name))
    return BestPolicies(search.needs, search.own, tuple(_in_turn(best.values())), tuple(prices), len(search.found))


def _in_turn(frontiers: Iterable[Sequence[PolicyCandidate]]) -> Iterator[PolicyCandidate]:
    """Yield the first candidates of all frontiers, then the second ones, and so on: at most MOST_POLICIES."""
    rounds = zip_longest(*frontiers)
    yield from islice((each for row in rounds for each in row if each is not None), MOST_POLICIES)


class _PolicySearch:
    """The candidates that were tried, by specification."""

    def __init__(self, plan: Plan, prior: Prior, levels: Axes, needs: Needs) -> None:
        self.plan, self.prior, self.levels, self.needs = plan, prior, levels, needs
        self.found: dict[str, PolicyCandidate | None] = {}
        self.judged: dict[str, list[PolicyCandidate]] = {}

    @cached_property
    def own(self) -> PolicyCandidate | None:
        """The policy itself, as a candidate."""
        return self.candidate(self.plan.bundle.policy.spec.mechanism)

    def known(self, kind: str) -> list[PolicyCandidate]:
        """Return the candidates of a kind whose error is known."""
        return [each for each in self.found.values() if each is not None and each.kind == kind]

    def explore(self, kind: AnyKind) -> None:
        """Try the policies of one kind: from the policy's levels and from the needed columns alone, every level beside
        one that no other beats in both detail and error; then other divisions of the cost of those that none beats."""
        if kind.name == self.plan.protection.kind.name:
            self.candidate(self.plan.bundle.policy.spec.mechanism)
        waiting, seen, most = deque([self.needs.levels, self.finest]), set[str](), len(self.found) + MOST_TRIED
        while waiting and len(self.found) < most:
            levels = waiting.popleft()
            if (name := _name(levels)) not in seen:
                seen.add(name)
                best = self.best_at(kind, levels)
                if best is None or not self._is_beaten(best):
                    waiting.extend(self.neighbours(levels))
        own = [] if self.own is None or self.own.kind != kind.name else [self.own]
        chosen = list(
            dict.fromkeys([*own, *_frontier(self.known(kind.name), attrgetter("first_error.value"))[:MOST_JUDGED]])
        )
        varied = [self.candidate(spec) for each in chosen for spec in kind.vary_costs(each.spec)]
        self.judged[kind.name] = [*chosen, *(each for each in varied if each is not None)]

    @property
    def finest(self) -> Axes:
        """The policy's levels, with those of the needed columns."""
        return {**self.levels, **self.needs.levels}

    def _is_beaten(self, one: PolicyCandidate) -> bool:
        return any(
            other.detail >= one.detail and other.first_error.value < one.first_error.value
            for other in self.known(one.kind)
        )

    def neighbours(self, levels: Axes) -> Iterator[Axes]:
        """Yield the levels with one column that nothing needs at the next coarser or finer level; the coarsest one
        leaves it out."""
        for name, finest in self.finest.items():
            if name not in self.needs.levels:
                ladder = [*(each for each in self.prior.levels(name) if 1 < len(each) <= len(finest)), None]
                at = next(i for i, each in enumerate(ladder) if each is None or each.name == _level_name(levels, name))
                for step in ladder[max(0, at - 1) : at] + ladder[at + 1 : at + 2]:
                    rest = {other: level for other, level in levels.items() if other != name}
                    yield rest if step is None else {**rest, name: step}

    def best_at(self, kind: AnyKind, levels: Axes) -> PolicyCandidate | None:
        """Return the candidate of least error at these levels; None if none is known."""
        found = [self.candidate(spec) for spec in self.proposals(kind, levels)]
        known = (each for each in found if each is not None)
        return min(known, key=lambda each: each.first_error.value, default=None)

    def proposals(self, kind: AnyKind, levels: Axes) -> Iterator[MechanismSpec]:
        """Yield specifications of a kind at these levels. Those of the policy's own kind have all else that the policy
        states, such as margins."""
        own = self.plan.bundle.policy.spec.mechanism
        ordered = {name: levels[name] for name in self.finest if name in levels}
        for each in kind.propose(ordered, self.needs.tables) if ordered else ():
            kept = own.model_fields_set - each.model_fields_set if each.kind == own.kind else set()
            yield each.model_copy(update={name: getattr(own, name) for name in kept})

    def candidate(self, spec: MechanismSpec) -> PolicyCandidate | None:
        """Return the candidate with this mechanism; None if the policy's cost does not allow it, or its error is
        unknown."""
        key = repr(spec)
        if key not in self.found:
            self.found[key] = self._tried(spec)
        return self.found[key]

    def _tried(self, spec: MechanismSpec) -> PolicyCandidate | None:
        try:
            plan = with_mechanism(self.plan, spec)
        except ConfigurationError:
            return None
        forecast = plan.protection.kind.outlook(plan.protection.mechanism, self.prior)
        levels, errors = forecast.compared or {}, forecast.first_errors or forecast.errors
        first = mean_error(errors, self.needs, self.prior)
        if first is None:
            return None
        return PolicyCandidate(plan, forecast, levels, first, self._detail(levels), self._judge)

    def _judge(self, forecast: Forecast) -> NeedError | None:
        return mean_error(forecast.errors, self.needs, self.prior)

    def _detail(self, levels: Mapping[str, Level]) -> float:
        """Return the detail of levels: for each column the share that they keep of the detail of its finest level."""
        finest = {name: self.prior.levels(name)[0] for name in levels}
        return sum(log(len(level)) / log(len(finest[name])) for name, level in levels.items() if len(finest[name]) > 1)

    def frontier(self, kind: str) -> list[PolicyCandidate]:
        """Return the candidates of a kind that pass the gates and that no other one beats in both detail and error, the
        least error first."""
        return _frontier(self.judged[kind], attrgetter("error.value"))

    def prices(self, kind: str) -> Iterator[tuple[str, str, float]]:
        """Yield each gate that alone stops candidates of a kind with a smaller error than the least one that passes,
        and the share by which the error would be smaller, in both cases without weights."""
        least = min(each.first_error.value for each in self.judged[kind] if not each.failing)
        stopped: dict[str, float] = {}
        for each in self.known(kind):
            if each.first_error.value < least and len(each.failing) == 1:
                (gate,) = each.failing
                stopped[gate] = min(each.first_error.value, stopped.get(gate, each.first_error.value))
        yield from ((gate, kind, 1 - error / least) for gate, error in sorted(stopped.items()))


def _frontier(found: Iterable[PolicyCandidate], error: Callable[[PolicyCandidate], float]) -> list[PolicyCandidate]:
    """Return the candidates that pass the gates and that no other one beats in both detail and error, the least error
    first."""
    best: list[PolicyCandidate] = []
    for each in sorted(found, key=lambda one: (error(one), -one.detail)):
        if (not best or each.detail > best[-1].detail) and not each.failing:
            best.append(each)
    return best


def _name(levels: Axes) -> str:
    return repr(sorted((name, level.name) for name, level in levels.items()))


def _level_name(levels: Axes, name: str) -> str | None:
    return levels[name].name if name in levels else None


def with_mechanism(plan: Plan, spec: MechanismSpec) -> Plan:
    """Return the plan of one release of the policy with another mechanism, and without the gates that do not suit its
    kind. Raises ConfigurationError if its privacy cost does not allow the mechanism."""
    policy = plan.bundle.policy
    gates = fitting_gates(policy.spec.gates, spec)
    update = {"mechanism": spec, "gates": gates, "series": None}
    changed = policy.model_copy(update={"spec": policy.spec.model_copy(update=update)})
    changed.spec.divide_shares()
    made = plan_release(replace(plan.bundle, policy=changed))
    return replace(made, count_classes=plan.count_classes)


def fitting_gates(gates: Sequence[GateRule], spec: MechanismSpec) -> list[GateRule]:
    """Return the gates whose measures suit releases of a mechanism."""
    shapes = KINDS[spec.kind].shapes_of(spec)
    return [rule for rule in gates if MEASURES[rule.measure].shape in shapes]


def _outcomes(plan: Plan, forecast: Forecast) -> Iterator[tuple[GateRule, bool | None]]:
    """Yield each blocking gate, and whether it is expected to pass (None: unknown)."""
    static = plan.first_release_facts()
    for rule, measure in plan.gates:
        if rule.severity != "block":
            continue
        if measure.of_static is not None:
            yield rule, verdict(rule, measure, measure.of_static(static, rule)).outcome is Outcome.PASS
        else:
            odds = forecast.odds(rule, measure, static)
            yield rule, None if odds is None else odds.value >= LIKELY


def changes(found: Outlook, other: PolicyCandidate) -> list[str]:
    """Return what differs between a policy's mechanism and that of a candidate, in words: the kind, levels, numbers."""
    said, plan = list[str](), found.plan
    same = plan.protection.kind.name == other.kind
    if not same:
        said.append(f"{plan.protection.kind.name} becomes {other.kind}")
    before, after = found.forecast.compared or {}, other.levels
    for name in dict.fromkeys([*before, *after]):
        old, new = (levels[name].name if name in levels else "left out" for levels in (before, after))
        if old != new:
            said.append(f"{name}: {old} becomes {new}")
    if same:
        said += _words(plan.bundle.policy.spec.mechanism, other.spec)
        said += [*_numbers(plan.protection.figures, other.plan.protection.figures), *_costs(plan, other.plan)]
    return said


def _words(before: MechanismSpec, after: MechanismSpec) -> Iterator[str]:
    """Yield the settings of a mechanism that are words and differ, such as the noise."""
    for name, old in before:
        new = getattr(after, name)
        if isinstance(old, str) and old != new:
            yield f"{name}: {old} becomes {new}"


def _numbers(before: MechanismFigures, after: MechanismFigures) -> Iterator[str]:
    """Yield the sampling rate and the least class size that differ."""
    if before.beta != after.beta:
        yield f"beta: {rounded(before.beta)} becomes {rounded(after.beta)}"
    if before.least_class != after.least_class:
        yield f"k: {before.least_class} becomes {after.least_class}"


def _costs(before: Plan, after: Plan) -> Iterator[str]:
    """Yield the parts of the privacy cost that differ, but for the mechanism's own, which is what the others leave."""
    old, new = ({part.name: part.epsilon for part in plan.guarantee.parts[1:]} for plan in (before, after))
    for name in dict.fromkeys([*old, *new]):
        was, will = (f"epsilon {rounded(cost[name])}" if name in cost else "none" for cost in (old, new))
        if was != will:
            yield f"{name}: {was} becomes {will}"
