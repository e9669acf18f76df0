"""Margins of the full table beside released rows: their tables, levels and noise.

They are drawn on the full table, after cleaning and the bound on rows per person and before sampling, with independent
noise. So both parts compose: epsilons and deltas add up, whatever the margins reveal of people whose rows are
suppressed. Post-processing of margins and released rows together costs nothing more. Margins of a policy that states
shares have the greatest budget whose law keeps their own epsilon and delta, instead of its conversion from rho.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

from crowdgate.arrays import Integers
from crowdgate.errors import Finding, expected_names, nearest
from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram, View, split
from crowdgate.mechanisms.tables.dp_tables import DpTables, plan_dp_tables
from crowdgate.mechanisms.tables.joint_cost import with_raised_spend
from crowdgate.mechanisms.tables.workload import ContingencyTable

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract
    from crowdgate.guarantee import Part
    from crowdgate.mechanisms.rows.spec import Candidates, MarginLine, MarginsSpec, SafeKAnonymity
    from crowdgate.noise import NoiseSource

Levels = Mapping[str, Level]


@dataclass(frozen=True, eq=False)
class PlannedMargins:
    """The planned noisy margins: the tables of `spec` for `part` of the guarantee, once the released levels are
    known."""

    spec: MarginsSpec
    contract: Contract
    part: Part
    _made: dict[tuple[tuple[str, str], ...], DpTables] = field(default_factory=dict, init=False, repr=False)

    def tables(self, released: Levels) -> DpTables:
        """Return the mechanism that draws the margins at these released levels. Raises ValueError if `margin_findings`
        has findings."""
        at = tuple((name, level.name) for name, level in released.items())
        if at not in self._made:
            planned, findings = self._planned(released)
            if planned is None:
                raise ValueError(f"margins can't be drawn: {findings[0][1]}")
            self._made[at] = planned
        return self._made[at]

    def draw(self, full: Histogram, released: Levels, source: NoiseSource) -> DrawnMargins:
        """Return the margins of the full table with noise; `full` counts the table at the released levels."""
        mechanism = self.tables(released)
        counted = split(full, View(released), mechanism.views)
        return DrawnMargins(mechanism, mechanism.protect(counted, None, source))

    def _planned(self, released: Levels) -> tuple[DpTables | None, list[Finding]]:
        names = {name: level.name for name, level in self._levels(released).items()}
        tables = [
            ContingencyTable({name: names[name] for name in chosen})
            for chosen in _tables(self.spec.tables, list(names))
        ]
        planned, findings = plan_dp_tables(tables, self.contract, self.part, noise=self.spec.noise)
        if planned is None or self.spec.share is None or not self.part.delta:
            return planned, findings
        try:
            return with_raised_spend(planned, self.part), findings
        except ValueError:  # the law of noise so small is not known: it stays planned by its sum
            return planned, findings

    def _levels(self, released: Levels) -> dict[str, Level]:
        """Return the level of each attribute in the margins: the released one, or the coarser one of the policy.
        Attributes that have one value there are left out."""
        found: dict[str, Level] = {}
        for name, level in released.items():
            own = self.contract.by_name[name].hierarchy
            stated = self.spec.levels.get(name)
            at = level if own is None or stated is None else own.level(stated)
            if len(at) > 1:
                found[name] = at
        return found


@dataclass(frozen=True, eq=False)
class DrawnMargins:
    """Noisy margins as drawn, one array of counts for each table, with the mechanism that drew them."""

    mechanism: DpTables
    noisy: tuple[Integers, ...]


def _tables(lines: Sequence[MarginLine], names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the attributes of each margin, each margin once: the total, the tables of one attribute, then those of the
    lines. Attributes that are not in `names` are omitted from all of them."""
    wanted: list[tuple[str, ...]] = [(), *((name,) for name in names)]
    for line in lines:
        if line.all is not None:
            wanted += combinations(names, min(line.all, len(names)))
        else:
            wanted.append(tuple(name for name in names if name in (line.attributes or ())))
    return list(dict.fromkeys(wanted))


def plan_margins(spec: SafeKAnonymity, contract: Contract, part: Part | None) -> PlannedMargins | None:
    """Return the planned margins of a policy without problems; None if it has no margins or no `part` of the guarantee
    for them."""
    return None if spec.margins is None or part is None else PlannedMargins(spec.margins, contract, part)


def margin_findings(spec: SafeKAnonymity, contract: Contract, part: Part | None, finest: Levels) -> Iterator[Finding]:
    """Yield the findings against the policy's margins; `finest` are the released levels, or their finest candidates."""
    if spec.margins is None or part is None:
        return
    if contract.sample is not None or spec.sampling.inherited is not None:
        found = "margins would read the inherited sample a second time"
        yield ("margins",), found, "no margins: one sample serves one release and nothing else", None
        return
    faults = [*_name_findings(spec, spec.margins), *_level_findings(spec, spec.margins, contract)]
    yield from faults
    if not faults:
        _, found_ones = PlannedMargins(spec.margins, contract, part)._planned(finest)
        for _, what, expected, instead in found_ones:
            yield ("margins",), what, expected, instead


def _name_findings(spec: SafeKAnonymity, margins: MarginsSpec) -> Iterator[Finding]:
    released = list(spec.attributes)
    expected = "a released attribute: the rows are weighted to their margins"
    for name in margins.levels:
        if name not in released:
            yield ("margins", "levels", name), f"{name!r} is not released", expected, nearest(name, released)
    for at, line in enumerate(margins.tables):
        own = line.attributes or []
        for i, name in enumerate(own):
            if name not in released or name in own[:i]:
                what = "twice" if name in released else "is not released"
                instead = None if name in released else nearest(name, released)
                yield ("margins", "tables", at, "attributes", i), f"{name!r} {what}", expected, instead
        if line.all is not None and line.all > len(released):
            found = f"{line.all} of the {len(released)} attributes that are released"
            yield ("margins", "tables", at, "all"), found, "at most as many as there are", None


def _level_findings(spec: SafeKAnonymity, margins: MarginsSpec, contract: Contract) -> Iterator[Finding]:
    for name, stated in margins.levels.items():
        attribute = contract.by_name.get(name)
        if name not in spec.attributes or attribute is None or attribute.hierarchy is None:
            continue
        known, place = attribute.hierarchy.names, ("margins", "levels", name)
        if stated not in known:
            yield (
                place,
                f"unknown level {stated!r}",
                expected_names(known, stated, "a level", f"contract {contract.id}"),
                nearest(stated, known),
            )
            continue
        coarsest = _coarsest(spec.attributes[name], known)
        if coarsest is not None and known.index(stated) < known.index(coarsest):
            expected = f"{coarsest} or a coarser level: the rows are weighted to the margins, and know nothing finer"
            yield place, f"{stated!r} is finer than the rows can be", expected, coarsest


def _coarsest(stated: str | Candidates, known: Sequence[str]) -> str | None:
    """Return the coarsest of the level or candidate levels that a policy states for an attribute, or None if no stated
    name is in `known` (another finding reports it)."""
    listed: list[Any] = [stated] if isinstance(stated, str) else list(stated.choose)
    right = [level for level in listed if level in known]
    return max(right, key=known.index, default=None)
