"""Differentially private tables: a workload of counts and sums with integer noise of a planned budget.

Laplace noise is purely epsilon-differentially private, Gaussian noise rho-zCDP and so (epsilon, delta). A privacy unit
changes at most m rows, each in one cell of each query; the budgets of all queries add up to that of the mechanism
exactly. Sampling first, if any, amplifies once for all outputs computed from the one sample.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from crowdgate.accounting.noise_sums import width
from crowdgate.accounting.tables_plan import NoiseKind, Query, Split, TablesBudget, law_of, split_budget, tables_budget
from crowdgate.arrays import Integers
from crowdgate.histogram import Histogram, Subsampler, View, joint, split, subsample
from crowdgate.limits import MOST_NUMBERS
from crowdgate.mechanisms.tables.workload import Item, LinearQuery, Quantiles, ResolvedWorkload, resolve
from crowdgate.noise import OPENDP, NoiseSource

if TYPE_CHECKING:
    from crowdgate.accounting.discrete_laws import Law
    from crowdgate.contracts.contract import Contract
    from crowdgate.errors import Finding
    from crowdgate.guarantee import Part
    from crowdgate.hierarchy import Level
    from crowdgate.mechanisms.tables.accuracy import ExpectedNoise
    from crowdgate.mechanisms.tables.residuals import ResidualNoise

JOINT = "joint"
NEARLY_UNKNOWN = 1e13
"""The variance of a number that tells next to nothing beside others, in multiples of their largest variance."""
Division = Split | Literal["least-error", "residuals", "automatic"]
"""The division of the noise budget among tables."""


@dataclass(frozen=True, eq=False)
class DpTables:
    """The mechanism with its numbers. `spends` are the parts of `budget.spend` (epsilon or rho) for the noise of each
    noisy vector, `rows` is the largest number of rows of one privacy unit, `part` the charge of the release.
    `residuals` are those of the tables if they receive the noise in place of the tables' cells."""

    workload: ResolvedWorkload
    budget: TablesBudget
    spends: tuple[Fraction, ...]
    rows: int
    part: Part
    residuals: tuple[LinearQuery, ...] = ()

    def __post_init__(self) -> None:
        if len(self.spends) != len(self.vectors) or sum(self.spends) > self.budget.spend:
            raise ValueError("every query must have its part, and the parts must not be over the budget")
        if self.budget.epsilon > self.part.epsilon or self.budget.delta > self.part.delta:
            raise ValueError("the budget's guarantee must be within the part that is charged")
        if self.budget.beta != 1 and self.rows != 1:
            raise ValueError("rows must be 1 to be sampled row by row")

    @property
    def queries(self) -> tuple[LinearQuery, ...]:
        """The linear queries of the release."""
        return self.workload.queries

    @property
    def vectors(self) -> tuple[LinearQuery, ...]:
        """The vectors that receive noise: one for each query, or the residuals of the tables."""
        return self.residuals or self.queries

    @property
    def beta(self) -> Fraction:
        """The rate of the Bernoulli sample; 1 without sampling."""
        return self.budget.beta

    @property
    def noisy_numbers(self) -> int:
        """The number of all numbers that receive noise."""
        return sum(linear.query.cells for linear in self.vectors)

    @cached_property
    def covering(self) -> dict[str, View]:
        """Few views by name, such that each query is a projection of one of them."""
        from crowdgate.mechanisms.tables.counting import cover

        return cover(self.queries)

    @cached_property
    def views(self) -> dict[str, View]:
        """The views to count in one scan. A sample is drawn from one view that determines all others."""
        return self.covering if self.beta == 1 else {JOINT: joint(self.covering.values())}

    @cached_property
    def laws(self) -> tuple[Law, ...]:
        """The noise distribution on the cells of each noisy vector."""
        pairs = zip(self.vectors, self.spends, strict=True)
        return tuple(law_of(linear.query, spend, self.rows, self.budget.noise) for linear, spend in pairs)

    @cached_property
    def width(self) -> Fraction | None:
        """Half width in standard errors that contains any weighted sum of the noise on counts with 95 % probability;
        None: no counts."""
        counts = [at for at, linear in enumerate(self.vectors) if linear.grid is None]
        cells = sum(self.vectors[at].query.cells for at in counts)
        return width([self.laws[at] for at in counts], cells) if counts else None

    @cached_property
    def residual_noise(self) -> ResidualNoise | None:
        """The noise on residuals, as variances of tables; None: the noise is on the cells of each query."""
        if not self.residuals:
            return None
        from crowdgate.mechanisms.tables.residuals import ResidualNoise

        own = [linear.levels for linear in self.queries], [linear.levels for linear in self.residuals]
        return ResidualNoise(*own, [law.variance for law in self.laws])

    def protect(
        self, counted: Mapping[str, Histogram], coins: Subsampler | None = None, source: NoiseSource = OPENDP
    ) -> tuple[Integers, ...]:
        """Return the noisy vectors, one array each: all published numbers are computed from them alone.

        `counted` are the views' histograms, in which a person has at most `rows` rows. Raises ValueError unless `coins`
        are given exactly if the mechanism samples.
        """
        if (coins is None) != (self.beta == 1):
            raise ValueError("secret random bits must be given exactly if the mechanism samples")
        if coins is not None:
            counted = {JOINT: subsample(counted[JOINT], coins)}
        draw = source.laplace if self.budget.noise == "laplace" else source.gaussian
        steps = zip(self.true_vectors(counted), self.vectors, self.spends, strict=True)
        return tuple(draw(values, linear.query.sensitivity(self.rows), spend) for values, linear, spend in steps)

    def true_vectors(self, counted: Mapping[str, Histogram]) -> tuple[Integers, ...]:
        """Return each vector without noise. Confidential."""
        if not self.residuals:
            return self.true_answers(counted)
        from crowdgate.mechanisms.tables.residuals import true_residual

        found = self._answers(self.residuals, counted)
        return tuple(true_residual(values) for values in found)

    def true_answers(self, counted: Mapping[str, Histogram]) -> tuple[Integers, ...]:
        """Return the answer of each query without noise. Confidential."""
        return self._answers(self.queries, counted)

    def _answers(self, queries: Sequence[LinearQuery], counted: Mapping[str, Histogram]) -> tuple[Integers, ...]:
        from crowdgate.mechanisms.tables.counting import answer

        if self.beta != 1:
            counted = split(counted[JOINT], self.views[JOINT], self.covering)
        return answer(queries, self.covering, counted)


def plan_dp_tables(
    items: Sequence[Item], contract: Contract, part: Part, *, noise: NoiseKind, beta: Fraction = Fraction(1),
    split: Division = "least-variance", most_cells: int = MOST_NUMBERS,
) -> tuple[DpTables | None, list[Finding]]:  # fmt: skip
    """Return the mechanism that keeps `part` of the guarantee, or None and all findings against it. Reads no data.

    Laplace noise is charged no delta.
    """
    resolved, findings = resolve(items, contract, most_cells)
    budget, fault = _budget(part, noise, beta)
    if resolved is None or budget is None:
        return None, [*findings, *fault]
    if beta != 1 and contract.unit.rows != 1:
        return None, [
            (
                ("sampling",),
                f"sampling with {contract.unit.rows} rows per person",
                "one row per person in the contract, or no sampling",
                None,
            )
        ]
    charged = part if noise == "gaussian" else replace(part, delta=Fraction(0))
    return divided(resolved, budget, contract.unit.rows, charged, split)


def divided(
    resolved: ResolvedWorkload, budget: TablesBudget, rows: int, part: Part,
    split: Division,
) -> tuple[DpTables | None, list[Finding]]:  # fmt: skip
    """Return the mechanism that divides a noise budget among the tables as `split` says, or None and the findings
    against it. "automatic" is noise on residuals, whose errors are the least of all Gaussian noise, where these tables
    can have it.
    """
    if split == "residuals" or split == "automatic":
        found, findings = _on_residuals(resolved, budget, rows, part)
        if found is not None or split == "residuals":
            return found, findings
    if split == "least-error" or split == "automatic":
        from crowdgate.mechanisms.tables.allocation import least_error_budget

        spends = _shared_by_groups(resolved, least_error_budget(_without_groups(resolved), budget.spend, budget.noise))
    else:
        spends = split_budget([linear.query for linear in resolved.queries], budget.spend, budget.noise, split)
    return DpTables(resolved, budget, spends, rows, part), []


def _without_groups(resolved: ResolvedWorkload) -> list[LinearQuery]:
    """Return the queries without those of groups of bins, each with the share of all queries that it stands for."""
    out = []
    for item, own in zip(resolved.items, resolved.answers, strict=True):
        several = len(own) > 1 and isinstance(item, Quantiles)
        found = [resolved.queries[at] for at in (own[:1] if several else own)]
        out += [replace(each, query=replace(each.query, share=item.share)) if several else each for each in found]
    return out


def _shared_by_groups(resolved: ResolvedWorkload, spends: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Return the budget of each query, given those of the queries without groups of bins: a histogram and its groups
    have equal parts."""
    out: list[Fraction] = []
    rest = iter(spends)
    for item, own in zip(resolved.items, resolved.answers, strict=True):
        if isinstance(item, Quantiles):
            out += [next(rest) / len(own)] * len(own)
        else:
            out += [next(rest) for _ in own]
    return tuple(out)


def _on_residuals(
    resolved: ResolvedWorkload, budget: TablesBudget, rows: int, part: Part
) -> tuple[DpTables | None, list[Finding]]:
    from crowdgate.mechanisms.tables.residuals import (
        residual_budget,
        residual_findings,
        residual_queries,
        stated_total,
    )

    findings = list(residual_findings(resolved, budget.noise))
    if findings:
        return None, findings
    tables = [linear.levels for linear in resolved.queries]
    spends = residual_budget(tables, budget.spend, stated_total(resolved.queries))
    return DpTables(resolved, budget, spends, rows, part, residual_queries(tables)), []


def _budget(part: Part, noise: NoiseKind, beta: Fraction) -> tuple[TablesBudget | None, list[Finding]]:
    try:
        return tables_budget(part.epsilon, part.delta, noise, beta), []
    except ValueError as fault:
        place: Literal["noise", "sampling"] = "noise" if 0 < beta <= 1 else "sampling"
        return None, [
            ((place,), str(fault), "an epsilon and delta that this noise can guarantee, or other noise", None)
        ]


def expected_noise(mechanism: DpTables) -> list[ExpectedNoise]:
    """Return the number of cells and the expected errors of each query, from the plan alone. Errors are those of the
    noise, scaled to the full table by 1/beta, without the variance of sampling."""
    if mechanism.residual_noise is not None:
        return _residual_noise(mechanism, mechanism.queries)
    from crowdgate.mechanisms.tables.consistency import variances_after

    counts = [i for i, linear in enumerate(mechanism.queries) if linear.grid is None]
    axes = [mechanism.queries[i].levels for i in counts]
    after, _ = variances_after(axes, [mechanism.laws[i].variance for i in counts]) if counts else ((), True)
    consistent = {i: float(np.sqrt(np.mean(variance))) for i, variance in zip(counts, after, strict=True)}
    pairs = enumerate(zip(mechanism.queries, mechanism.laws, strict=True))
    return [_query_noise(linear, law, mechanism.budget.beta, consistent.get(i)) for i, (linear, law) in pairs]


def total_error(mechanism: DpTables) -> float:
    """Return the expected standard error of the total of the published counts, scaled to the full table by 1/beta. It
    rests on all tables of counts, so it is smaller than that of the sum of one table's cells as drawn."""
    counts = [at for at, linear in enumerate(mechanism.queries) if linear.grid is None]
    axes: list[Mapping[str, Level]] = [*(mechanism.queries[at].levels for at in counts), {}]
    if mechanism.residual_noise is not None:
        after = replace(mechanism.residual_noise, tables=axes).after
    else:
        from crowdgate.mechanisms.tables.consistency import variances_after

        drawn = [mechanism.laws[at].variance for at in counts]
        after, _ = variances_after(axes, [*drawn, NEARLY_UNKNOWN * max(drawn)])
    return math.sqrt(after[-1].item()) / float(mechanism.beta)


def margin_noise(mechanism: DpTables) -> list[ExpectedNoise]:
    """Return the expected noise of the margin that belongs to each residual; nothing if the noise is on cells."""
    return _residual_noise(mechanism, mechanism.residuals)


def _residual_noise(mechanism: DpTables, tables: Sequence[LinearQuery]) -> list[ExpectedNoise]:
    """Return the expected noise of tables, or margins of them, whose noise is on residuals: they agree as drawn."""
    from crowdgate.mechanisms.tables.accuracy import CONFIDENCE, ExpectedNoise

    if mechanism.residual_noise is None or mechanism.width is None:
        return []
    after = replace(mechanism.residual_noise, tables=[linear.levels for linear in tables]).after
    roots, width = [float(np.sqrt(each.flat[0] / mechanism.beta**2)) for each in after], float(mechanism.width)
    return [
        ExpectedNoise(linear.query.name, linear.query.cells, root, width * root, CONFIDENCE, root)
        for linear, root in zip(tables, roots, strict=True)
    ]


def _query_noise(linear: LinearQuery, law: Law, beta: Fraction, consistent: float | None) -> ExpectedNoise:
    from crowdgate.mechanisms.tables.accuracy import CONFIDENCE, ExpectedNoise

    unit = float((Fraction(1) if linear.grid is None else linear.grid.unit) / beta)
    query: Query = linear.query
    q = law.half_width(CONFIDENCE)
    error = law.variance**0.5 * unit
    after = None if consistent is None else consistent * unit
    return ExpectedNoise(query.name, query.cells, error, q * unit, law.coverage(q), after)
