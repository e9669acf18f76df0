"""Shadow releases: the attacker draws tables from the population himself, releases them, and learns what members look
like (R. Shokri et al. 2017)."""

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.audit.common.game import release_of
from crowdgate.audit.common.observation import Mechanism
from crowdgate.audit.common.population import Rng
from crowdgate.audit.inference.models import library, without_convergence_warnings
from crowdgate.audit.membership.attacker_view import MembershipAttackerView, ShadowModel
from crowdgate.audit.membership.target_population import TargetPopulation

RELEASES = 20
"""That a model is fitted on."""
MOST_ROWS = 400_000
"""Lines that a model is fitted on at most: of more some are drawn."""


def features(sight: MembershipAttackerView) -> Floats | None:
    """What a release tells of each distinct unit, a column each: whether its class is released, its rows against what
    is expected, both logarithms of likelihood ratios, the greatest and the least residual, and how near a class is."""
    if sight.nothing:
        return None
    cells = len(sight.crowd.population.cells)
    columns = [sight.log_rows, sight.log_tables]
    if sight.releases_rows:
        counts, expected = sight.counts, sight.rows_per_tuple * sight.inclusion_probability
        own = (counts > 0, np.log1p(counts) - np.log1p(expected), np.log1p(expected))
        columns += [each.astype(np.float64)[sight.tuples.of_cell] for each in own]
        near = sight.nearness
        columns.append(np.zeros(cells) if near is None else near)
    if sight.seen.tables:
        far, _ = sight.residuals
        columns += [far.max(axis=0), far.min(axis=0)]
    return np.column_stack([sight.crowd.of_units(each) for each in columns])


def fit_shadow_model(mechanism: Mechanism, crowd: TargetPopulation, rng: Rng) -> ShadowModel | None:
    """Fitted on releases of tables of the crowd's size. None where a release tells nothing that is read."""
    lines, members, others = list[Floats](), list[Integers](), list[Integers]()
    population = crowd.population
    for _ in range(RELEASES):
        drawn = population.draw(crowd.n, rng, replacement=False)
        found = features(MembershipAttackerView(release_of(mechanism, drawn, rng), crowd))
        if found is None:
            return None
        lines.append(found)
        members.append(drawn.units)
        others.append(population.members - drawn.units)
    x = np.concatenate(lines)
    spread = x.std(axis=0)
    middle, spread = x.mean(axis=0), np.where(spread > 0, spread, 1.0)
    return ShadowModel(
        middle, spread, _slopes((x - middle) / spread, np.concatenate(members), np.concatenate(others), rng)
    )


def _slopes(x: Floats, members: Integers, others: Integers, rng: Rng) -> Floats:
    """A logistic regression with an L2 penalty, weighted as many as there are."""
    at, weights = np.tile(np.arange(len(x)), 2), np.concatenate([members, others]).astype(np.float64)
    label = np.repeat([1, 0], len(x))
    if len(at) > MOST_ROWS:
        weights = rng.multinomial(MOST_ROWS, weights / weights.sum()).astype(np.float64)
    has = weights > 0
    with without_convergence_warnings():
        model = library("linear_model").LogisticRegression(C=1.0, max_iter=200)
        model.fit(x[at[has]], label[has], sample_weight=weights[has])
    return np.asarray(model.coef_[0], dtype=np.float64)
