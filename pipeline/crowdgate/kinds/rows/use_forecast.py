"""Forecast of what recipients could use weighted rows for, by simulated releases from counts that relate all columns.

Tables are drawn around the expected counts, or around counts with the noise of their source added once more. They are
sampled, suppressed, counted with noise and weighted as a release is. The draws are public and always the same. Where no
counts relate the columns, nothing is forecast: columns taken as independent say nothing about rare combinations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.candidate import Candidate, OutputType, Static
from crowdgate.gate import Outcome, judge, measure_text
from crowdgate.guarantee import Guarantee
from crowdgate.histogram import Histogram, at_least, subsample
from crowdgate.kind.drawing import Draws, public_draws, vector_noise
from crowdgate.kind.forecast import Basis
from crowdgate.kind.listing import Listing, ListingColumn
from crowdgate.kinds.rows.simulated_tables import drawn_tables
from crowdgate.measures import MEASURES
from crowdgate.number_text import Value
from crowdgate.policy.policy import GateRule

if TYPE_CHECKING:
    from crowdgate.kind.prior import ExpectedCounts
    from crowdgate.measures import Measure
    from crowdgate.mechanisms.rows.safe_k import SafeK

DRAWS = 20
"""The number of simulated releases: the next one is between the least and the greatest of 20 with probability 19 / 21,
if it has the same distribution."""
ROOM = 0.25
"""Share of the range of simulated values that is added to either side, for what noise in the counts changes."""
LEAST_REPRESENTED, MOST_ERROR = 0.7, 0.05
"""The limits of the templates, beyond which other releases are recommended."""
SIMULATED = (OutputType.ROWS, OutputType.MARGINS)
"""The parts of a simulated release that gates can be judged on."""
COLUMNS = (
    ListingColumn("measure", "measure"),
    ListingColumn("value", "median", ".6g", "unknown"),
    ListingColumn("low", "at least", ".6g", "unknown"),
    ListingColumn("high", "at most", ".6g", "unknown"),
)
UNKNOWN = "no counts relate these columns. Give `plan --from` a release with tables of two columns"
GOOD = f"by {DRAWS} simulated releases"
BAD = (
    f"{GOOD}. Rows would mislead: publish fewer columns or coarser levels (see the recommended ones), tables"
    " (dp_tables) or synthetic rows (dp_synthetic)"
)


@dataclass(frozen=True, eq=False)
class SimulatedReleases:
    """Simulated releases of a planned mechanism from expected counts of all its columns."""

    safe: SafeK
    joint: ExpectedCounts

    def __iter__(self) -> Iterator[Candidate]:
        draws = public_draws()
        for table in drawn_tables(self.joint, DRAWS, draws):
            yield self.release(table, draws)

    def release(self, table: Histogram, draws: Draws) -> Candidate:
        """Return a simulated release of a table, as measures read it."""
        safe = self.safe
        assert safe.margins is not None, "only weighted rows are simulated"
        from crowdgate.kinds.rows.calibrated_margins import calibrated_margins
        from crowdgate.kinds.rows.margins import weighted_rows

        beta = float(safe.beta)
        rows = at_least(subsample(table, lambda counts: draws.binomial(counts, beta)), safe.k)
        drawn = safe.margins.draw(table, safe.levels, vector_noise(draws))
        weighting = calibrated_margins(safe.beta, rows, safe.levels, drawn, safe.margins.contract)
        return Candidate(static=self._static, rows=rows, weighted=weighted_rows(rows, weighting))

    @property
    def _static(self) -> Static:
        """The public facts that the measures read: class size, levels and sampling rate."""
        part, people = self.safe.part, int(self.joint.people.sum())
        cost = part.epsilon, part.delta
        return Static(
            guarantee=Guarantee.of((part,)), spent=cost, budget=cost, people=people, least_class=self.safe.k,
            levels=self.safe.levels, facts={}, beta=self.safe.beta,
        )  # fmt: skip


def simulated_releases(safe: SafeK, joint: ExpectedCounts | None) -> tuple[Candidate, ...]:
    """Return simulated releases of weighted rows; none for a policy without margins, or if no counts relate its
    columns."""
    if safe.margins is None or joint is None or joint.basis in (Basis.MARGINS, Basis.PARTLY):
        return ()
    return tuple(SimulatedReleases(safe, joint))


def simulated_passes(releases: Sequence[Candidate], rule: GateRule, measure: Measure) -> tuple[int, int] | None:
    """Return the number of these releases that pass a gate on released rows or their weights, and of all; None for
    other gates, and without releases."""
    if not releases or measure.of_candidate is None or measure.register or measure.shape not in SIMULATED:
        return None
    outcomes = [judge(rule, measure.of_candidate(each, rule)) for each in releases]
    return outcomes.count(Outcome.PASS), len(outcomes)


def use_listing(safe: SafeK, releases: Sequence[Candidate], gates: Sequence[GateRule] = ()) -> Iterator[Listing]:
    """Yield the forecast of each measure of weighted rows by simulated releases, with what to do if they would mislead;
    nothing for a policy without margins. A measure has the options of the gates on it."""
    if safe.margins is None:
        return
    title = "What recipients could use the weighted rows for"
    if not releases:
        yield Listing("use", title, COLUMNS, ({"measure": "all", "value": None, "low": None, "high": None},), UNKNOWN)
        return
    found = measured_rows(releases, gates)
    rows: tuple[Mapping[str, Value], ...] = tuple(
        {"measure": name, "value": float(np.median(values)), **prediction_limits(measure, values)}
        for name, (measure, values) in found.items()
    )
    yield Listing("use", title, COLUMNS, rows, BAD if _misleads(found) else GOOD)


def prediction_limits(measure: Measure, values: Sequence[float]) -> Mapping[str, Value]:
    """Return the prediction limits of a measure by its values in the simulated releases: within the measure's range,
    and whole if its values are."""
    least, most = measure.range
    room = ROOM * (max(values) - min(values))
    low, high = max(float(least), min(values) - room), min(float(most), max(values) + room)
    return {"low": float(ceil(low)), "high": float(floor(high))} if measure.whole else {"low": low, "high": high}


Values = tuple["Measure", list[float]]


def measured_rows(releases: Sequence[Candidate], gates: Sequence[GateRule]) -> Mapping[str, Values]:
    """Return each measure with its values in the simulated releases, by its name and options in words; a measure
    without a value in any is left out."""
    found: dict[str, Values] = {}
    for measure, rule in _read_rules(gates):
        assert measure.of_candidate is not None, "it reads a candidate"
        read = (measure.of_candidate(each, rule) for each in releases)
        values = [float(each.value) for each in read if each is not None]
        if values:
            found[measure_text(rule)] = measure, values
    return found


def _read_rules(gates: Sequence[GateRule]) -> Iterator[tuple[Measure, GateRule]]:
    """Yield each measure of weighted rows with the gates on it, or else with its default options."""
    for name, measure in MEASURES.items():
        if measure.shape is OutputType.MARGINS:
            own = [rule for rule in gates if rule.measure == name]
            plain = GateRule.model_construct(measure=name, options={}, over=None, of=None)
            yield from ((measure, rule) for rule in own or [plain])


def _misleads(found: Mapping[str, Values]) -> bool:
    """Return True unless the median release keeps the limits of the templates."""
    medians = {measure.name: float(np.median(values)) for measure, values in found.values()}
    share, error = medians.get("represented_share", 0.0), medians.get("worst_share_error", 1.0)
    return not (share >= LEAST_REPRESENTED and error <= MOST_ERROR)
