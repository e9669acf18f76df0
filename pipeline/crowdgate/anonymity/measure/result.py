"""All findings of `crowdgate anonymity`, and the object that `--json` prints."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np

from crowdgate.anonymity.measure.register_match import RegisterLink, RegisterMatch
from crowdgate.anonymity.measure.request import AttributeSelection, counting_text
from crowdgate.anonymity.measure.table import AnonymitySets, count_anonymity_sets
from crowdgate.histogram import Histogram
from crowdgate.limits import MOST_SUBSETS
from crowdgate.risk.anonymity_sets import SIZES, SizeSummary, correlation
from crowdgate.risk.linkage import AT_MOST
from crowdgate.risk.minimal_uniques import DIS_FRACTION, MinimalUniques, Suda, minimal_uniques, suda
from crowdgate.risk.population_uniques import PopulationUniques, population_uniques
from crowdgate.sources.source import Source

RISKIEST = 10
"""Number of records that are shown with their minimal uniques."""
BANDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
"""Lower ends of the intervals in which sdcMicro prints DIS-SUDA scores: 0, above 0 to .1, ..., above .7."""


@dataclass(frozen=True)
class MinimalUniqueRecord:
    """A record with a minimal unique (a smallest set of attributes whose values no other record has): its values, its
    SUDA and DIS-SUDA scores, and the attributes of each of its minimal uniques."""

    values: Mapping[str, str]
    score: float
    dis: float
    uniques: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class SpecialUniques:
    """Minimal uniques of all records: their numbers by size (1, 2, ... attributes), the number of records with any, the
    number of records with a DIS-SUDA score in each of the BANDS, each attribute's share of all scores, and the riskiest
    records."""

    fraction: float
    by_size: tuple[int, ...]
    records: int
    bands: tuple[int, ...]
    shares: Mapping[str, float]
    riskiest: tuple[MinimalUniqueRecord, ...]


@dataclass(frozen=True, eq=False)
class AnonymityResult:
    """Findings of `crowdgate anonymity`. `special` (minimal uniques) and `population` (population uniques) are None
    where they are not requested, or for the reason in `left_out`."""

    chosen: AttributeSelection
    measured: AnonymitySets
    special: SpecialUniques | None
    population: PopulationUniques | None
    left_out: tuple[str, ...]
    matched: RegisterMatch | None

    @property
    def words(self) -> str:
        """A sentence that says whether sets of rows or of people are counted."""
        return counting_text(self.chosen)

    def to_json(self) -> dict[str, Any]:
        """Return the findings as an object of JSON."""
        chosen, by = self.chosen, self.measured.by
        found: dict[str, Any] = {"outcome": "measured", "contract": chosen.contract.id, "counted": self.words}
        found |= {"ingested": self.measured.ingested, "people": self.measured.people, "up_to": chosen.up_to}
        found["groupings"] = [
            {"levels": dict(each.levels), **summary_json(each.summary)} for each in self.measured.groupings
        ]
        levels = {name: each.name for name, each in chosen.finest.items()}
        found["together"] = {"levels": levels, **summary_json(self.measured.together)}
        if chosen.by is not None:
            groups = [{"value": each.value, "people": each.people, **summary_json(each.summary)} for each in by]
            name, level = chosen.by
            found["by"] = {"attribute": name, "level": level.name, "of": levels, "correlation": correlation(by)}
            found["by"]["groups"] = groups
        found["minimal_uniques"] = None if self.special is None else asdict(self.special)
        found["population_uniques"] = None if self.population is None else _population_json(self.population)
        found["left_out"] = list(self.left_out)
        if self.matched is not None:
            link = self.matched.link
            found["linkage"] = {"release": link.release_id, "register_contract": link.register.id, "at_most": AT_MOST,
                                **asdict(self.matched.linkage), "register_ingested": self.matched.ingested}  # fmt: skip
        return found


def summary_json(summary: SizeSummary) -> dict[str, Any]:
    """Return a summary of anonymity sets as an object of JSON; `people_within` has the number of people in sets of at
    most each size."""
    stated = asdict(summary)
    within = dict(zip(map(str, SIZES), stated.pop("within"), strict=True))
    return {**stated, "people_within": within}


def _population_json(found: PopulationUniques) -> dict[str, Any]:
    estimates = [
        {"model": each.model, "uniques": each.uniques, "reason": each.reason, "parameters": dict(each.parameters)}
        for each in found.estimates
    ]
    interval = None if found.interval is None else {**asdict(found.interval), "known": found.interval.known}
    return {"people": found.people, "interval": interval, "estimates": estimates, "chosen": found.chosen.model}


def anonymity_result(chosen: AttributeSelection, source: Source, link: RegisterLink | None) -> AnonymityResult:
    """Read the table, and the register if there is one, and measure. Raises FileFault if one can't be read."""
    measured = count_anonymity_sets(chosen, source)
    left_out: list[str] = []
    special = population = None
    if measured.whole is None:
        left_out.append("Minimal uniques and population uniques are left out: they need one row a person.")
    else:
        special = _special_uniques(chosen, measured.whole, left_out)
        if chosen.fraction is not None:
            population = population_uniques(measured.whole.counts, chosen.fraction)
    matched = None if link is None else link.matched()
    return AnonymityResult(chosen, measured, special, population, tuple(left_out), matched)


def _special_uniques(chosen: AttributeSelection, whole: Histogram, left_out: list[str]) -> SpecialUniques | None:
    width, up_to = len(whole.names), chosen.up_to
    subsets = sum(comb(width, size) for size in range(1, up_to + 1))
    if subsets > MOST_SUBSETS:
        left_out.append(
            f"Minimal uniques are left out: {subsets} sets of attributes, and at most {MOST_SUBSETS} are looked at."
        )
        return None
    share = chosen.fraction if chosen.fraction is not None and chosen.fraction < 1 else DIS_FRACTION
    uniques = minimal_uniques(whole, up_to)
    scored = suda(uniques, float(share))
    return SpecialUniques(
        fraction=float(share),
        by_size=tuple(uniques.sizes.sum(axis=0).tolist()),
        records=int(np.count_nonzero(scored.scores)),
        bands=_records_by_band(scored, whole.rows),
        shares=dict(zip(whole.names, scored.shares.tolist(), strict=True)),
        riskiest=_riskiest_records(chosen, whole, uniques, scored),
    )


def _records_by_band(scored: Suda, people: int) -> tuple[int, ...]:
    """Return the number of records with a DIS-SUDA score in each of the BANDS; records without a minimal unique have
    score 0."""
    above = [int(np.count_nonzero(scored.dis > end)) for end in BANDS]
    ends = [people, *above, 0]
    return tuple(high - low for high, low in pairwise(ends))


def _riskiest_records(
    chosen: AttributeSelection, whole: Histogram, uniques: MinimalUniques, scored: Suda
) -> tuple[MinimalUniqueRecord, ...]:
    order = np.argsort(-scored.scores, kind="stable")[:RISKIEST]
    own = {int(at): tuple(s for s, who in uniques.found.items() if at in who) for at in order if scored.scores[at] > 0}
    return tuple(
        MinimalUniqueRecord(
            {name: chosen.finest[name].labels[int(codes[uniques.records[at]])]
             for name, codes in zip(whole.names, whole.codes, strict=True)},
            float(scored.scores[at]), float(scored.dis[at]),
            tuple(tuple(whole.names[place] for place in subset) for subset in subsets),
        )
        for at, subsets in own.items()
    )  # fmt: skip
