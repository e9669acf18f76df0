"""Sampling and safe k-anonymity: Bernoulli sample, generalisation, suppression of classes below k.

The output is (epsilon, delta)-differentially private for adding or removing one row (Li, Qardaji, Su 2012, Theorem 5;
here with the exact delta), because each released column is in the class key, the levels do not depend on the sample,
and neither the sample's size nor the number of suppressed rows is published. Levels are fixed, or chosen as in
`choice.py`; if they are chosen on the sample itself, the delta is that of both together. Noisy margins of the full
table may be drawn beside the rows, as in `margins.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.accounting import safe_k
from crowdgate.accounting.numbers import down
from crowdgate.accounting.person import per_row
from crowdgate.arrays import Integers
from crowdgate.contracts.contract import Attribute, Contract, Role
from crowdgate.errors import Finding, nearest
from crowdgate.guarantee import Part, group
from crowdgate.histogram import Histogram, Subsampler, View, at_least, subsample
from crowdgate.limits import GREATEST_K
from crowdgate.mechanisms.rows.choice import (
    LevelSelection,
    candidate_count,
    candidate_levels,
    choice_problems,
    joint_delta,
    joint_least_k,
    level_problems,
    plan_choice,
)
from crowdgate.mechanisms.rows.margins import DrawnMargins, PlannedMargins, margin_findings, plan_margins
from crowdgate.noise import OPENDP, NoiseSource, Selector, noisy_max
from crowdgate.number_text import Rounding, decimal

if TYPE_CHECKING:
    from crowdgate.hierarchy import Level
    from crowdgate.mechanisms.rows.joint_cost import RowsLaw
    from crowdgate.mechanisms.rows.spec import SafeKAnonymity


@dataclass(frozen=True)
class AnonymisedRows:
    """The mechanism's output: the release, its levels and its noisy margins; the sample and the table at these levels
    (confidential)."""

    output: Histogram
    sample: Histogram
    full: Histogram
    levels: Mapping[str, Level]
    margins: DrawnMargins | None = None


@dataclass(frozen=True, eq=False)
class JointTotal:
    """The total that all parts of a release meet together: their law, epsilon, and the least class size that does."""

    law: RowsLaw
    epsilon: Fraction
    least_k: int

    def delta(self, k: int) -> float:
        """Return the joint delta of the release at class size k."""
        return self.law.law(k).delta(down(self.epsilon))


@dataclass(frozen=True, eq=False)
class SafeK:
    """The mechanism with its numbers: sample with probability beta, publish classes of at least k.

    `levels` are those of the counted table: the released ones, or the finest candidates of a choice. A unit has at most
    `rows` rows, each sampled independently. An `inherited` sample is not sampled again.
    """

    beta: Fraction
    k: int
    levels: Mapping[str, Level]
    part: Part
    choice: LevelSelection | None = None
    rows: int = 1
    inherited: str | None = None
    margins: PlannedMargins | None = None
    joint: JointTotal | None = None

    @property
    def view(self) -> View:
        """The columns of the class key: each released attribute at its level."""
        return View(self.levels)

    @property
    def delta(self) -> float:
        """Delta of the mechanism, with any choice of levels on its sample, at the epsilon of `part`, for one privacy
        unit; or that of the whole release at its epsilon, if all parts are planned together."""
        if self.joint is not None:
            return self.joint.delta(self.k)
        if self.choice is not None and self.choice.on == "sample":
            return joint_delta(self.k, self.beta, self.part.epsilon, self.choice.epsilon, len(self.choice.lattice))
        row = safe_k.exact_delta(self.k, self.beta, self.row_part.epsilon)
        return group(self.row_part.epsilon, row, self.rows)[1]

    @property
    def least_k(self) -> int:
        """The smallest class size k at which the mechanism keeps the epsilon and delta of `part`, or the whole release
        its total."""
        if self.joint is not None:
            return self.joint.least_k
        if self.choice is not None and self.choice.on == "sample":
            return joint_least_k(self.part, self.beta, self.choice.epsilon, len(self.choice.lattice))
        return safe_k.least_k(self.row_part.epsilon, self.row_part.delta, self.beta)

    @property
    def row_part(self) -> Part:
        """Epsilon and delta for one row, such that all rows of a privacy unit together keep `part` of the guarantee."""
        return row_part(self.part, self.rows)

    def protect(
        self, full: Histogram, coins: Subsampler, select: Selector = noisy_max, vectors: NoiseSource = OPENDP
    ) -> AnonymisedRows:
        """Choose the levels if they are open, sample the rows that `full` counts, suppress classes below k, and draw
        margins of the full table.

        A table that is already a sample is not sampled again.
        """
        made = self._anonymise(full, coins if self.inherited is None else _all_rows, select)
        drawn = None if self.margins is None else self.margins.draw(made.full, made.levels, vectors)
        return replace(made, margins=drawn)

    def _anonymise(self, full: Histogram, coins: Subsampler, select: Selector) -> AnonymisedRows:
        if self.choice is None:
            return self._at(self.levels, full, subsample(full, coins))
        from crowdgate.mechanisms.rows.lattice import roll_up

        if self.choice.on == "sample":
            sample = subsample(full, coins)
            levels = self.choice.choose(sample, self.k, self.beta, select)
            return self._at(levels, roll_up(full, self.levels, levels), roll_up(sample, self.levels, levels))
        levels = self.choice.choose(full, self.k, self.beta, select)
        full = roll_up(full, self.levels, levels)
        return self._at(levels, full, subsample(full, coins))

    def _at(self, levels: Mapping[str, Level], full: Histogram, sample: Histogram) -> AnonymisedRows:
        return AnonymisedRows(at_least(sample, self.k), sample, full, levels)


def _all_rows(sizes: Integers) -> Integers:
    return sizes


def plan_safe_k(
    spec: SafeKAnonymity, contract: Contract, part: Part, margins: Part | None = None
) -> tuple[SafeK | None, list[Finding]]:
    """Return the mechanism that keeps `part` of the guarantee, with its margins; or None and the findings against the
    policy."""
    wrong = list(_attribute_findings(spec, contract))
    findings = [*wrong, *choice_problems(spec), *_sampling_findings(spec, contract)]
    beta = _beta(spec, contract)
    k, finding = (None, None) if beta is None else _class_size(spec, beta, contract.unit.rows, part)
    findings += [finding] if finding else []
    levels = {} if wrong else _finest(spec, contract)
    findings += [] if wrong else margin_findings(spec, contract, margins, levels)
    if findings or k is None or beta is None:
        return None, findings
    choice, bought = plan_choice(spec, contract), plan_margins(spec, contract, margins)
    return SafeK(beta, k, levels, part, choice, contract.unit.rows, spec.sampling.inherited, bought), []


def _finest(spec: SafeKAnonymity, contract: Contract) -> dict[str, Level]:
    return {name: candidate_levels(contract, name, stated)[0] for name, stated in spec.attributes.items()}


def row_part(part: Part, rows: int) -> Part:
    """Return the epsilon and delta for one row, such that `rows` rows of one privacy unit together keep `part`."""
    return Part(part.name, *per_row(part.epsilon, part.delta, rows))


def _beta(spec: SafeKAnonymity, contract: Contract) -> Fraction | None:
    attested = None if contract.sample is None else contract.sample.beta
    return attested if spec.sampling.inherited is not None else spec.sampling.beta


def _sampling_findings(spec: SafeKAnonymity, contract: Contract) -> Iterator[Finding]:
    """Yield findings unless a table is sampled exactly once, here or before, and an inherited sample has fixed
    levels."""
    named, sample = spec.sampling.inherited, contract.sample
    if named is None and sample is not None:
        found = f"beta, but the table is the sample {sample.name!r} already"
        yield ("sampling",), found, f"inherited: {sample.name}", f"inherited: {sample.name}"
    if named is not None and (sample is None or named != sample.name):
        expected = "beta: the contract attests no sample" if sample is None else "the sample that the contract attests"
        yield ("sampling", "inherited"), f"{named!r}", expected, None if sample is None else sample.name
    if named is not None and spec.choose is not None:
        found = "levels chosen where the sample is inherited: there is no full table to choose on"
        yield ("choose",), found, "fixed levels", None
    if named is not None and contract.unit.person is not None:
        found = "an inherited sample of a table with a person column: a person with several rows was likelier drawn"
        yield (
            ("sampling", "inherited"),
            found,
            "a sample of a table of one row each (privacyUnit: row), or a new sample",
            None,
        )
    if contract.unit.rows > 1 and spec.choose is not None and spec.choose.on == "sample":
        found = f"{contract.unit.rows} rows of a person with a choice on the sample"
        yield ("choose", "on"), found, "one row a person, or a choice on the full table", "full"


def _least_k(spec: SafeKAnonymity, beta: Fraction, part: Part) -> int:
    if spec.choose is None or spec.choose.on == "full":
        return safe_k.least_k(part.epsilon, part.delta, beta)
    return joint_least_k(part, beta, spec.choose.epsilon, candidate_count(spec))


def _class_size(spec: SafeKAnonymity, beta: Fraction, rows: int, whole: Part) -> tuple[int | None, Finding | None]:
    part = row_part(whole, rows)
    delta = part.delta
    joint = spec.choose is not None and spec.choose.on == "sample"
    needed = {name: decimal(getattr(part, name), rounding=Rounding.DOWN) for name in ("epsilon", "delta")}
    target = f"(epsilon {needed['epsilon']}, delta {needed['delta']}) at beta {float(beta):g}"
    target += f" for each of {rows} rows of a person" if rows > 1 else ""
    target += " with the choice of levels on the same sample" if joint else ""
    if delta == 0 or beta == 1:
        expected = "a delta above 0 and a beta below 1: without them no k reaches a guarantee"
        return None, (("sampling", "beta"), f"no k reaches {target}", expected, None)
    try:
        least = _least_k(spec, beta, part)
    except ValueError:
        if joint:
            expected = "a smaller beta, a smaller epsilon of the choice, or `on: full`"
            return None, (("choose", "on"), f"no k reaches {target}", expected, "full")
        expected = f"a smaller beta, or a larger epsilon or delta: k is at most {GREATEST_K}"
        return None, (("sampling", "beta"), f"no k reaches {target}", expected, None)
    if spec.k == "least":
        return least, None
    if spec.k < least:
        return None, (("k",), f"k {spec.k} does not reach {target}", f"at least {least}, or `least`", str(least))
    return spec.k, None


def _attribute_findings(spec: SafeKAnonymity, contract: Contract) -> Iterator[Finding]:
    releasable = [attribute.name for attribute in contract.attributes if attribute.releasable]
    for name, stated in spec.attributes.items():
        attribute = contract.by_name.get(name)
        found = _unreleasable(attribute)
        if attribute is None or attribute.hierarchy is None or found:
            yield ("attributes", name), found, f"an attribute of contract {contract.id}", nearest(name, releasable)
        else:
            yield from level_problems(name, stated, attribute.hierarchy)


def _unreleasable(attribute: Attribute | None) -> str:
    if attribute is None:
        return "unknown attribute"
    if attribute.role is Role.DIRECT_IDENTIFIER:
        return "a direct identifier, which is never published"
    return "" if attribute.releasable else "this attribute has no public domain"
