"""The numbers of a release of synthetic rows before any data are read: its variables, its budget, its candidates.

Gaussian noise of rho-zCDP is converted to (epsilon, delta), and amplified once for all outputs that are computed from
one Bernoulli sample, as for tables. Each part of rho is an exact fraction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import pi, sqrt
from typing import TYPE_CHECKING

from crowdgate.accounting.tables_plan import tables_budget
from crowdgate.accounting.zcdp import squared_sigma
from crowdgate.histogram import Histogram, Subsampler, View, subsample
from crowdgate.limits import MOST_CANDIDATE_TABLES, MOST_SYNTHETIC_ROWS
from crowdgate.mechanisms.synthetic.certificate import pairs
from crowdgate.mechanisms.synthetic.domain import ModelDomain, Table
from crowdgate.mechanisms.synthetic.impossible import Levels, impossible_tables, named_levels
from crowdgate.mechanisms.synthetic.level_reduction import fewer_levels
from crowdgate.mechanisms.synthetic.policy_problems import policy_findings, size_findings
from crowdgate.mechanisms.synthetic.rounds import SELECTING, RoundsPlan, SynthesisResult, SyntheticBudget, synthesize

if TYPE_CHECKING:
    import numpy as np

    from crowdgate.contracts.contract import Contract
    from crowdgate.errors import Finding
    from crowdgate.guarantee import Part
    from crowdgate.hierarchy import Level
    from crowdgate.mechanisms.synthetic.spec import DpSyntheticSpec
    from crowdgate.noise import ZcdpSource

ONE_WAY_POWER = 2 / 3
"""rho of a one-way table is proportional to this power of its cells, which minimises the sum of all absolute errors."""
USELESS = 0.5
"""Expected distance of one-way tables from which a release is refused: half of all rows."""
DEVIATIONS = 8
"""Standard errors that noise in the number of rows exceeds with probability of about 1 in 10^15."""


@dataclass(frozen=True, eq=False)
class DpSynthetic:
    """The mechanism with its numbers: the rounds that are drawn from a Bernoulli sample at rate `beta`, and the charged
    part of the guarantee. `levels` are those of the domain's variables."""

    levels: Levels
    drawing: RoundsPlan
    beta: Fraction
    part: Part

    @property
    def finest(self) -> Mapping[str, Level]:
        """The released levels."""
        return {name: own[0] for name, own in self.levels.items()}

    @property
    def view(self) -> View:
        """The view of the source table to count: all attributes together, at their released levels."""
        return View(self.finest)

    def level(self, variable: int) -> Level:
        """Return the level of the variable with this number."""
        found = self.drawing.domain.variables[variable]
        return next(each for each in self.levels[found.attribute] if each.name == found.level)

    def one_way_variances(self) -> dict[str, float]:
        """Return the noise variance in each cell of the table of one attribute, by attribute."""
        rows, spends = self.drawing.rows_per_unit, self.drawing.budget.one_ways
        return {name: float(squared_sigma(rows, rho)) for name, rho in zip(self.levels, spends, strict=True)}

    def one_way_errors(self, people: float) -> dict[str, float]:
        """Return the expected half L1 distance of each attribute's one-way table from the truth, as a part of `people`
        rows."""
        found = self.one_way_variances()
        return {
            name: len(own[0]) * sqrt(2 / pi * found[name]) / 2 / max(1.0, float(self.beta) * people)
            for name, own in self.levels.items()
        }

    @property
    def total_error(self) -> float:
        """Standard error of the estimated number of rows from the tables of one attribute, whose totals are weighted by
        1/variance."""
        found = self.one_way_variances()
        return 1 / sqrt(sum(1 / (len(own[0]) * found[name]) for name, own in self.levels.items()))

    def draw(
        self, counted: Histogram, coins: Subsampler | None, noise: ZcdpSource, rng: np.random.Generator
    ) -> SynthesisResult:
        """Return the measurements, the synthetic rows and their noisy distances from the table. Raises ValueError
        unless `coins` are given exactly if the mechanism samples."""
        if (coins is None) != (self.beta == 1):
            raise ValueError("secret random bits must be given exactly if the mechanism samples")
        return synthesize(self.drawing, counted if coins is None else subsample(counted, coins), noise, rng)


def plan_synthetic(spec: DpSyntheticSpec, contract: Contract, part: Part) -> tuple[DpSynthetic | None, list[Finding]]:
    """Return the mechanism that keeps `part` of the guarantee, or None and the findings against the policy. Reads no
    data."""
    findings = policy_findings(spec, contract)
    beta = Fraction(1) if spec.sampling is None else spec.sampling.beta
    try:
        budget = tables_budget(part.epsilon, part.delta, "gaussian", beta)
    except ValueError as fault:
        place = "kind" if 0 < beta <= 1 else "sampling"
        return None, [*findings, ((place,), str(fault), "a budget that gaussian noise can keep", None)]
    if findings:
        return None, findings
    domain, levels = _domain(spec, contract)
    candidates = tuple(_candidates(domain, spec.triples))
    findings = list(size_findings(domain, candidates, spec))
    impossible, wrong = impossible_tables(spec, levels, domain)
    if findings or wrong:
        return None, [*findings, *wrong]
    split = _split(budget.spend, domain, spec)
    drawing = RoundsPlan(domain, candidates, impossible, spec.model_cells, contract.unit.rows, split)
    planned = DpSynthetic(levels, drawing, beta, part)
    findings = list(_noise_findings(planned, contract))
    return (None if findings else planned), findings


def _split(rho: Fraction, domain: ModelDomain, spec: DpSyntheticSpec) -> SyntheticBudget:
    """Return the division of the budget rho, with whole weights for the tables of one attribute, so that their parts
    are exact fractions."""
    weights = [round(1000 * domain.sizes[variable] ** ONE_WAY_POWER) for variable in domain.finest]
    own, certificate = rho * spec.one_way_share, rho * spec.certificate_share
    return SyntheticBudget(
        tuple(own * weight / sum(weights) for weight in weights), rho - own - certificate, certificate
    )


def _candidates(domain: ModelDomain, triples: Sequence[Sequence[str]]) -> Iterator[Table]:
    """Yield the tables of each pair of attributes, and of the named triples, at all combinations of their levels."""
    place = {name: at for at, name in enumerate(domain.attributes)}
    own: list[list[int]] = [[] for _ in domain.attributes]
    for variable, attribute in enumerate(domain.attribute_of):
        own[attribute].append(variable)
    named = dict.fromkeys(tuple(sorted(place[name] for name in triple if name in place)) for triple in triples)
    for attributes in (*combinations(range(len(own)), 2), *(each for each in named if len({*each}) == 3)):
        yield from product(*(own[attribute] for attribute in attributes))


def _domain(spec: DpSyntheticSpec, contract: Contract) -> tuple[ModelDomain, Levels]:
    """Return the model's variables, and for each attribute its released level and the coarser ones that are variables.
    Levels are reduced if there would be too many tables."""
    levels: dict[str, tuple[Level, ...]] = {}
    for name, level in spec.attributes.items():
        hierarchy = contract.by_name[name].hierarchy
        assert hierarchy is not None, "asked before"
        levels[name] = hierarchy.levels[hierarchy.names.index(level) :]
    told = _used(levels, ModelDomain.of(levels))
    chosen = fewer_levels(told, spec.triples, named_levels(spec, told), MOST_CANDIDATE_TABLES)
    return ModelDomain.of(chosen), chosen


def _used(levels: Levels, domain: ModelDomain) -> dict[str, tuple[Level, ...]]:
    used = {(variable.attribute, variable.level) for variable in domain.variables}
    return {name: tuple(each for each in own if (name, each.name) in used) for name, own in levels.items()}


def _noise_findings(planned: DpSynthetic, contract: Contract) -> Iterator[Finding]:
    """Yield findings if noise exceeds any possible table: by the contract's bound on its rows, or by the largest
    release."""
    of_rows = planned.total_error
    if DEVIATIONS * of_rows > MOST_SYNTHETIC_ROWS:
        found = f"the noise in the number of rows would be {of_rows:.3g}, which is too much"
        expected = f"a larger epsilon, so that this noise is at most {MOST_SYNTHETIC_ROWS // DEVIATIONS}"
        yield ("kind",), found, expected, None
    elif contract.rows_at_most is not None:
        errors = planned.one_way_errors(contract.rows_at_most)
        mean = sum(errors.values()) / len(errors)
        if mean >= USELESS:
            found = (
                f"noise would make tables of one attribute wrong by {mean:.0%} of at most {contract.rows_at_most} rows"
            )
            expected = f"fewer attributes, coarser levels or a larger epsilon, for an error below {USELESS:.0%}"
            yield ("attributes",), found, expected, None
    yield from _share_findings(planned.drawing)


def _share_findings(drawing: RoundsPlan) -> Iterator[Finding]:
    """Yield findings if noise in one number exceeds any number of rows: of a first selected table, or of a distance."""
    spends = (
        ("one_way_share", "other tables", (1 - SELECTING) * drawing.first_table_cost),
        ("certificate_share", "distances", drawing.budget.certificate / len(pairs(drawing.domain))),
    )
    for place, of, rho in spends:
        noise = sqrt(squared_sigma(drawing.rows_per_unit, rho))
        if noise > MOST_SYNTHETIC_ROWS:
            expected = f"other shares or a larger epsilon, so that this noise is at most {MOST_SYNTHETIC_ROWS}"
            yield (place,), f"the noise in each number of {of} would be {noise:.3g}, which is too much", expected, None
