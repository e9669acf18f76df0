"""Shadow releases: the attacker draws tables from the population, releases them, and fits a model that recognises
members (R. Shokri et al. 2017)."""

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.audit.common.game import release_of
from crowdgate.audit.common.observation import Mechanism
from crowdgate.audit.common.population import Rng
from crowdgate.audit.inference.models import library, without_convergence_warnings
from crowdgate.audit.membership.attacker_view import MembershipAttackerView, ShadowModel
from crowdgate.audit.membership.target_population import TargetPopulation

RELEASES, LEAST_RELEASES = 20, 5
"""Greatest and least number of releases that a model is fitted on."""
MOST_ROWS = 400_000
"""Greatest number of lines that a model is fitted on: of more a random sample is taken."""


def releases_of(crowd: TargetPopulation) -> int:
    """Return the number of releases that a model is fitted on: as many as fill MOST_ROWS lines, two for each distinct
    unit, within the limits above."""
    return min(RELEASES, max(LEAST_RELEASES, MOST_ROWS // (2 * len(crowd.population.cells))))


def features(sight: MembershipAttackerView) -> Floats | None:
    """Return the features of each distinct unit in a release (units by features): both log likelihood ratios; of its
    class, whether it is released, its rows and their expectation, and the nearness; and the greatest and least residual
    over tables. None if attacks read nothing of the release."""
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
    """Fit a model that recognises members, on releases of tables that the attacker draws from the population
    `crowd`. None if attacks read nothing of a release."""
    lines, members, others = list[Floats](), list[Integers](), list[Integers]()
    population = crowd.population
    for _ in range(releases_of(crowd)):
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
    """Return the coefficients of a logistic regression (L2 penalty) of membership on the features `x`, in which each
    line counts as so many members and so many non-members."""
    at, weights = np.tile(np.arange(len(x)), 2), np.concatenate([members, others]).astype(np.float64)
    label = np.repeat([1, 0], len(x))
    if len(at) > MOST_ROWS:
        weights = rng.multinomial(MOST_ROWS, weights / weights.sum()).astype(np.float64)
    has = weights > 0
    with without_convergence_warnings():
        model = library("linear_model").LogisticRegression(C=1.0, max_iter=200)
        model.fit(x[at[has]], label[has], sample_weight=weights[has])
    return np.asarray(model.coef_[0], dtype=np.float64)
