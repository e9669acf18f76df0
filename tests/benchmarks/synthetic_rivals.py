"""Tables chosen as MST and AIM choose them, with this engine's model and rows: what refitting and levels bring.

Neither pays for a certificate. The noise is OpenDP's, and guarantees are those of the policy.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import sqrt

import numpy as np

from crowdgate.accounting.zcdp import squared_sigma
from crowdgate.arrays import Codes, Integers
from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram
from crowdgate.mechanisms.synthetic import fitting, rounds
from crowdgate.mechanisms.synthetic.counting import FinestTables, count
from crowdgate.mechanisms.synthetic.domain import ModelDomain, Table
from crowdgate.mechanisms.synthetic.model import Model, TableMeasurement, fit
from crowdgate.mechanisms.synthetic.plan import DpSynthetic
from crowdgate.mechanisms.synthetic.rows import rows
from tests.mechanisms.synthetic.noise import OPENDP_ZCDP

STEPS = fitting.LAST_STEPS
RARE = 3
"""MST merges the values of an attribute whose noisy counts are below so many sigma."""
AIM_PRICES = 16
AIM_MEASURING = Fraction(9, 10)


def mst(planned: DpSynthetic, counted: Histogram, rng: np.random.Generator) -> tuple[Codes, ...]:
    """McKenna, Miklau, Sheldon 2021: a third of rho each for tables of one attribute, for choosing a spanning tree of
    pairs by how far they are from independence, and for measuring it; rare values count as one."""
    third, number = planned.drawing.budget.rho / 3, len(planned.levels)
    merged = [_Merged.of(name, own[0], counted, third / number) for name, own in planned.levels.items()]
    held = _Held(ModelDomain.of({each.name: each.levels for each in merged}), counted)
    coarsest = _last(held.domain)
    known = [
        TableMeasurement((at,), each.noisy, squared_sigma(1, third / number))
        for at, each in zip(coarsest, merged, strict=True)
    ]
    total = max(1, round(float(np.mean([each.noisy.sum() for each in merged]))))
    model = fit(held.domain, known, total, most_steps=STEPS)
    for pair in _spanning(held, model, total, coarsest, third / (number - 1)):
        noisy = OPENDP_ZCDP.gaussian(held.counts(pair), 1, third / (number - 1))
        known.append(TableMeasurement(pair, noisy, squared_sigma(1, third / (number - 1))))
    return rows(fit(held.domain, known, total, most_steps=STEPS), total, rng)


def aim(planned: DpSynthetic, counted: Histogram, rng: np.random.Generator) -> tuple[Codes, ...]:
    """McKenna, Mullins, Sheldon, Miklau 2022: one pair or single attribute a round, at the price of 1/(16 d) of rho
    until it is raised; no levels. Changes the constants of `rounds` in this process."""
    rho, number = planned.drawing.budget.rho, len(planned.levels)
    domain = ModelDomain.of({name: own[:1] for name, own in planned.levels.items()})
    one = AIM_MEASURING * rho / (AIM_PRICES * number)
    left = rho - number * one
    rounds.PICKS, rounds.AT_FIRST = 1, 1 - left / rho
    rounds.PRICES = AIM_PRICES * left / rho  # type: ignore[assignment]
    budget = rounds.SyntheticBudget((one,) * number, left, Fraction(0))
    drawing = replace(
        planned.drawing, domain=domain, candidates=tuple(combinations(domain.finest, 2)), impossible=(), budget=budget
    )
    run = rounds._Rounds(drawing, counted, OPENDP_ZCDP)
    run.play()
    return run.learned.rows(rng)


RIVALS = {"mst": mst, "aim": aim}


@dataclass(frozen=True, eq=False)
class _Merged:
    """An attribute's noisy counts, those of its rare values as one."""

    name: str
    levels: list[Level]
    noisy: Integers

    @classmethod
    def of(cls, name: str, finest: Level, counted: Histogram, rho: Fraction) -> "_Merged":
        held = _Held(ModelDomain.of({name: [finest]}), counted)
        noisy = OPENDP_ZCDP.gaussian(held.counts((0,)), 1, rho)
        rare = noisy < RARE * sqrt(float(squared_sigma(1, rho)))
        if rare.sum() < 2 or rare.all():  # one value in all is no variable
            return cls(name, [finest], noisy)
        codes = np.where(rare, (~rare).sum(), np.cumsum(~rare) - 1).astype(np.int32)
        labels = (*(label for label, each in zip(finest.labels, rare, strict=True) if not each), "rare")
        merged = Level("merged", labels, codes[finest.codes])
        return cls(name, [finest, merged], np.append(noisy[~rare], noisy[rare].sum()))


class _Held:
    """Exact counts of tables over any variables of a domain."""

    def __init__(self, domain: ModelDomain, counted: Histogram) -> None:
        self.domain, self._counted, self._finest = domain, counted, FinestTables(domain)

    def counts(self, table: Table) -> Integers:
        return self._finest.projected(count(self.domain, self._counted, self._finest.of(table)), table)


def _last(domain: ModelDomain) -> list[int]:
    """The coarsest variable of every attribute."""
    return [len(domain.attribute_of) - 1 - domain.attribute_of[::-1].index(at) for at in range(len(domain.attributes))]


def _spanning(held: _Held, model: Model, total: int, variables: Sequence[int], rho: Fraction) -> Iterator[Table]:
    """Pairs that join all attributes, each chosen privately among those that join two parts."""
    scores = {}
    for pair in combinations(variables, 2):
        expected = np.rint(total * model.marginal(pair)).astype(np.int64)
        scores[pair] = int(np.abs(held.counts(pair) - expected).sum())
    part = {variable: variable for variable in variables}
    for _ in variables[1:]:
        left = [pair for pair in scores if part[pair[0]] != part[pair[1]]]
        one, other = left[OPENDP_ZCDP.choose(np.array([scores[pair] for pair in left], dtype=np.int64), 1, rho)]
        part = {variable: part[one] if at == part[other] else at for variable, at in part.items()}
        yield one, other
