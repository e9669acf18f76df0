"""The outlook of a policy as a report: probability of passing, privacy cost, expected figures, and alternatives."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

from crowdgate.accounting.pso_curve import STATED_DIVISORS
from crowdgate.forecast.compare import KindComparison
from crowdgate.forecast.needs import need_error, needs_of
from crowdgate.forecast.outlook import Outlook
from crowdgate.forecast.target_search import MechanismProposal, TargetAnswer
from crowdgate.kind.band import Band
from crowdgate.kind.forecast import Basis, CellErrors, Chart, Figure
from crowdgate.kind.listing import Column, Listing, json_value, text_listing
from crowdgate.kind.section import ANNEX, Section, table_section
from crowdgate.number_text import BOUND, SHARE, Value, decimal, format_value
from crowdgate.planning.budget_left import guarantee_sentences, informed_text
from crowdgate.planning.cost_text import cost_rows
from crowdgate.planning.policy_band import PolicyOutcome, policy_band
from crowdgate.report.report import Report

if TYPE_CHECKING:
    from crowdgate.forecast.computing_cost import ComputingCost

WEIGHTS = tuple(f"at the weight 1/({divisor:,} n)" for divisor in STATED_DIVISORS)
BY_WEIGHT = (
    "By weight, up to 1 in as many as there are rows. Baseline: the probability that a predicate chosen without any"
    " release fits exactly one row. Bounds: the greatest probability for a predicate chosen with the releases, for"
    " one row, and for one of the sampled rows."
)
NEXT = "check the policy with crowdgate check, then release it with crowdgate release."
REFUSED = "change the policy or the budget: the ledger would refuse this release."
TOO_LITTLE = (
    "Nothing: too little is known of the released attributes (public margins, or counts that are given), or they have"
    " too many classes."
)


@dataclass(frozen=True, eq=False)
class PlanReport:
    """The outlook of a policy with optional parts: answers to targets, a comparison with other kinds of release, and a
    number of `releases` that the budget should pay for, the `cost` of computing one."""

    found: Outlook
    answers: Sequence[TargetAnswer] = ()
    beside: KindComparison | None = None
    releases: int | None = None
    cost: "ComputingCost | None" = None

    def report(self) -> Report:
        """Return the outlook as a report for terminal, page and JSON."""
        about = self.found.plan.bundle.policy.metadata
        title = f"Plan of {about.name}, version {about.version}"
        return Report(title, lambda: list(self._sections()), self._json, band=self._band)

    def _band(self) -> Band:
        """Return the band of the plan: held and refused releases are named first."""
        found = self.found
        outcome = PolicyOutcome("PLAN", "plain", NEXT)
        if found.standing.refused is not None:
            outcome = PolicyOutcome("REFUSED", "bad", REFUSED, charged=False)
        elif found.chances.holds:
            outcome = PolicyOutcome("WOULD BE HELD", "open", found.chances.step_if_held, charged=False)
        return policy_band(found.plan, found.standing.left, "plan", outcome)

    def _json(self) -> dict[str, Any]:
        compared = {} if self.beside is None else {"compared": self.beside.to_json()}
        wishes = {"wishes": [answer.to_json() for answer in self.answers]} if self.answers else {}
        left = self.found.standing.left
        many = {} if self.releases is None else {"releases": left.several_json(self.releases)}
        cost = (
            {} if self.cost is None else {"computing": {**asdict(self.cost), "bottleneck": self.cost.bottleneck.name}}
        )
        return {**self.found.to_json(), **compared, **wishes, **many, **cost}

    def _sections(self) -> Iterator[Section]:
        found = self.found
        costs = cost_rows(found.plan, found.standing.left)
        yield Section(
            sentences=[f"{label}: {text}." for label, text in (("Publication", found.chances.publication()), *costs)]
        )
        if self.releases is not None:
            yield Section(sentences=found.standing.left.several_text(self.releases, found.plan))
        if found.standing.refused is not None:
            yield Section(sentences=[f"Refused: {found.standing.refused}."])
        if self.cost is not None:
            yield _computing(self.cost)
        gates = ((each.gate, each.probability()) for each in found.chances.gates)
        yield table_section("Gates", ("gate", "probability of passing"), gates)
        yield from _figures(found.forecast.figures)
        yield Section("Guarantee", _guarantee(found))
        yield ANNEX
        yield Section(pictures=found.forecast.pictures, further=True)
        yield from _singling_out(found)
        yield from _analyses(found)
        yield from _forecast(found)
        yield from map(_target, self.answers)
        if self.beside is not None:
            yield _comparison(self.beside)


def _computing(cost: "ComputingCost") -> Section:
    """Return the estimated cost of computing the release, with its bottleneck."""
    from crowdgate.forecast.computing_cost import lines
    from crowdgate.kind.unit_costs import MEASURED

    told = f"{cost.rows:,} rows, {cost.workers} workers with a core each. Unit costs were measured on {MEASURED}."
    unknown = " The time of a step is unknown." if cost.seconds is None else ""
    points = [f"{label}: {text}" for label, text in lines(cost)]
    return Section("Time and memory", [f"{told} The bottleneck is: {cost.bottleneck.name}.{unknown}"], points)


def _guarantee(found: Outlook) -> list[str]:
    name = found.plan.bundle.budget.metadata.name
    return [
        f"The whole lifetime budget {name}, before any release, pays for {found.releases} such releases.",
        *guarantee_sentences(found.plan, found.standing.left),
        *found.plan.protection.kind.notes(found.plan.protection.mechanism),
        *found.rests_on(),
        *found.charges,
        *informed_text(found.informed),
    ]


def _figures(figures: Sequence[Figure]) -> Iterator[Section]:
    """Yield sections with the expected figures of the release; short names of their bases are explained below the
    table."""
    title = "What is expected of the release"
    rows = ((each.label, each.value_text, each.range_text, each.basis.label) for each in figures)
    yield table_section(title, ("figure", "value", "range", "rests on"), rows)
    bases = dict.fromkeys(each.basis for each in figures if each.basis is not Basis.EXACT)
    if bases:
        yield Section("", points=[f"{each.label}: {each}." for each in bases])


def _analyses(found: Outlook) -> Iterator[Section]:
    """Yield the expected error of each table that the contract's analyses need."""
    needs = needs_of(found.plan.bundle.contract, found.forecast.compared or {})
    if not needs.listed:
        return
    rows = []
    for table in needs.tables:
        error = need_error(found.forecast.errors, table, found.figures.prior)
        named = ", ".join(f"{name} ({level.name})" for name, level in table.items())
        rows.append((named, *((None,) * 3 if error is None else (error.value, error.low, error.high))))
    columns = ("table", ("error", ".2g", "unknown"), ("from", ".2g", "unknown"), ("to", ".2g", "unknown"))
    note = "root mean square of a cell, as a share of all people; of rows by their weights, if any"
    yield Section(listings=[text_listing("Expected errors of the contract's analyses", columns, rows, note)])


def _singling_out(found: Outlook) -> Iterator[Section]:
    harm = (
        f"People times delta is {decimal(found.people_times_delta, 4)}: where it is near 1, the bound on singling out"
    )
    says = f"{harm} says nothing, whatever epsilon is."
    titles = ("after so many such releases, and no others", "d"), *((name, BOUND) for name in WEIGHTS)
    rows = ((count, *(each.bound for each in at)) for count, at in enumerate(found.pso_bounds, start=found.first_count))
    bounds = text_listing("Predicate singling out succeeds with probability at most", titles, rows)
    yield Section("Singling out", [says], pictures=lambda: [found.singling_out], listings=[bounds])
    yield Section("", [BY_WEIGHT], further=True)
    yield Section(listings=[found.pso_curve])


def _forecast(found: Outlook) -> Iterator[Section]:
    chart = found.forecast.chart
    for listing in (found.prediction, *found.forecast.listings):
        if chart is not None and chart.listing == listing.name:
            yield Section(listings=[_grid(listing, chart)])
        shown = replace(listing, further=listing.further or (chart is not None and chart.listing == listing.name))
        title = f"{listing.title[0].upper()}{listing.title[1:]}"
        yield Section(listings=[shown]) if listing.rows else Section(title, [TOO_LITTLE], further=True)


def _grid(listing: Listing, chart: Chart) -> Listing:
    """Return the numbers of a chart as a listing with a row for each line of the chart and a column for each place on
    its axis. Numbers of further lines are in brackets."""
    cells = {(json_value(row[chart.by]), json_value(row[chart.x])): row for row in listing.rows}
    across, down = (sorted({at[side] for at in cells}) for side in (1, 0))
    rows = [[format_value(at), *(_grid_cell(cells[at, place], chart) for place in across)] for at in down]
    titles = (f"{chart.by} \\ {chart.x}", *map(format_value, across))
    return text_listing(listing.title, titles, rows, f"{listing.note}; in brackets" if listing.note else "")


def _grid_cell(row: Any, chart: Chart) -> str:
    first, *further = (format_value(row[name], "d") for name in chart.lines)
    return first + (f" ({', '.join(further)})" if further else "")


def _target(answer: TargetAnswer) -> Section:
    """Return the section on a target: the target, advice, and the nearest proposals."""
    said = [f"Target: {answer.wish}.", f"Advice: {answer.advice}."]
    return Section("Target", said, list(map(_proposal, answer.proposals)))


def _proposal(found: MechanismProposal) -> str:
    reached = "unknown" if found.reached is None else format_value(found.reached)
    met = "meets it" if found.met else "does not meet it"
    return f"{met} ({reached}): mechanism: {json.dumps(found.mechanism)}"


def _comparison(found: KindComparison) -> Section:
    """Return the section that compares the policy with other kinds of release at the same epsilon and delta."""
    said = [
        f"Compared with {rival.kind} at the same epsilon and delta{_figures_text(rival.forecast.figures)}."
        for rival in found.rivals
    ]
    every = (found.own, *found.rivals)
    lost = [(f"{rival.kind}: suppressed rows", SHARE) for rival in every]
    columns: list[Column] = ["table", ("cells", "d"), *(rival.kind for rival in every), *lost]
    title = f"Error of a cell, median / greatest: {found.assumed}"
    sentences = [*said, "Which to use (errors are root mean squares over all cells):"]
    return Section(
        "Other kinds of release", sentences, found.which, listings=[text_listing(title, columns, _compared(found))]
    )


def _figures_text(figures: Sequence[Figure]) -> str:
    told = ", ".join(f"{figure.name} {format_value(figure.value, figure.format)}" for figure in figures)
    return f" ({told})" if told else ""


def _compared(found: KindComparison) -> Iterator[list[Value]]:
    every = (found.own, *found.rivals)
    for at, levels in enumerate(found.tables):
        names = ", ".join(f"{name} ({level.name})" for name, level in levels.items())
        errors = [rival.errors[at] for rival in every]
        lost = [None if each is None else each.lost for each in errors]
        yield [names, len(found.counts[at]), *map(_middle_and_most, errors), *lost]


def _middle_and_most(errors: CellErrors | None) -> str:
    if errors is None:
        return "unknown"
    return f"{format_value(median(errors.error.tolist()))} / {format_value(max(errors.error.tolist()))}"
