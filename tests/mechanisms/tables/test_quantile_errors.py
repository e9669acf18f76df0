"""Stated errors of quantiles against the errors that occur: many small groups, few groups in many bins, and samples."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.guarantee import Part
from crowdgate.mechanisms.tables.answers import consistent_answers, raw_answers
from crowdgate.mechanisms.tables.bin_tree import tree_estimates
from crowdgate.mechanisms.tables.dp_tables import plan_dp_tables
from crowdgate.mechanisms.tables.quantile_errors import NoisyBins, NoisyRows, quantile_errors
from crowdgate.mechanisms.tables.quantiles import quantile_bins
from crowdgate.mechanisms.tables.workload import Quantiles
from tests.mechanisms.tables.tables import contract

SEED, NOISE = 20301104, 6.0
PROBABILITIES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
STRATA = ((0.0, 1.0), (1.0, 3.0), (3.0, 10.0))
"""Published rows of a group in standard errors of the noise on them."""
Random = np.random.Generator
Release = tuple[NoisyBins, Floats, Floats]
RATES = {"samples": 0.25}


def small_groups(random: Random) -> Release:
    """Return noisy counts of 60 groups of 1 to 200 rows of like shapes in 12 bins, published counts, and true ones."""
    shape = np.exp(-0.5 * np.square((np.arange(12) - 4) / 2.0))
    shapes = random.dirichlet(15 * shape / shape.sum() + 0.1, 60)
    rows = np.exp(random.uniform(0, np.log(200), 60)).astype(int)
    return _drawn(random, _people(random, rows, shapes), ())


def unlike_groups(random: Random) -> Release:
    """Return those of 7 groups of 30 to 15,000 rows around random middles in 100 bins, as ages by marital status."""
    return _drawn(random, _unlike(random), ())


def unlike_groups_in_tree(random: Random) -> Release:
    """Return those of groups as in `unlike_groups`, whose bins are also counted in groups of 4 and of 16."""
    return _drawn(random, _unlike(random), (4, 4))


def samples(random: Random) -> Release:
    """Return those of samples of a quarter of 20 groups of 50 to 2,000 rows in 10 bins."""
    shapes, rows = random.dirichlet(np.full(10, 1.5), 20), np.exp(random.uniform(4, 7.6, 20)).astype(int)
    return _drawn(random, _people(random, rows, shapes), (), RATES["samples"])


def _unlike(random: Random) -> Floats:
    middles, bins = random.uniform(10, 90, 7), np.arange(100)
    shapes = np.exp(-0.5 * np.square((bins - middles[:, None]) / random.uniform(4, 20, (7, 1)))) + 1e-12
    rows = np.exp(random.uniform(3.4, 9.6, 7)).astype(int)
    return _people(random, rows, shapes / shapes.sum(axis=1, keepdims=True))


def _people(random: Random, rows: Integers, shapes: Floats) -> Floats:
    found = [random.multinomial(n, own) for n, own in zip(rows, shapes, strict=True)]
    return np.array(found, dtype=np.float64)


def _drawn(random: Random, true: Floats, widths: Sequence[int], rate: float = 1.0) -> Release:
    levels, parents = [random.binomial(true.astype(np.int64), rate).astype(np.float64)], []
    for width in widths:
        parents.append(np.arange(levels[-1].shape[-1]) // width)
        starts = np.flatnonzero(np.diff(parents[-1], prepend=-1))
        levels.append(np.add.reduceat(levels[-1], starts, axis=-1))
    noise = NOISE * (3 if true.shape[-1] == 100 else 1 if rate == 1 else 0.1)
    levels = [each + np.rint(random.normal(0, noise, each.shape)) for each in levels]
    variances = [np.full(each.shape, noise**2) for each in levels]
    agreed = tree_estimates(levels, variances, parents).counts
    return NoisyBins(levels, variances, parents), np.maximum(agreed, 0), true


# Seeded; N = 25 to 60 releases of 7 to 60 groups: a ratio of root mean squares of heavy-tailed distances has a standard
# error below .05. Rule: .85 to 1.15, 3 of these around 1.0; and 99 % of errors are within 5 stated ones. Planted:
# without the widening of samples theirs are .59; with the shape of the other groups alone, closely followed, those of
# unlike groups in a tree are .73, and errors within 20.
@pytest.mark.statistical
@pytest.mark.parametrize(
    ("release", "draws"), [(small_groups, 25), (unlike_groups, 60), (unlike_groups_in_tree, 40), (samples, 25)]
)
def test_stated_errors_of_quantiles_are_those_that_occur(release: Callable[[Random], Release], draws: int) -> None:
    stated, occurring, _ = _errors(release, draws)
    ratio = np.sqrt(np.square(stated).sum() / np.square(occurring).sum())
    assert 0.85 < ratio < 1.15, ratio
    assert np.quantile(occurring / np.maximum(stated, 0.05), 0.99) < 5


# Seeded; N = 25 releases of 60 groups, at least 100 a stratum: standard errors below .06. Rule: 2.5 of these around 1.
@pytest.mark.statistical
def test_stated_errors_of_quantiles_are_those_that_occur_in_groups_of_any_published_size() -> None:
    stated, occurring, size = _errors(small_groups, 25)
    for low, high in STRATA:
        inside: Bools = (size >= low) & (size < high)
        ratio = np.sqrt(np.square(stated[inside]).sum() / np.square(occurring[inside]).sum())
        assert inside.sum() > 100
        assert 0.85 < ratio < 1.15, (low, ratio)


def _errors(release: Callable[[Random], Release], draws: int) -> tuple[Floats, Floats, Floats]:
    """Return stated and occurring errors in bins, and published rows in standard errors, of all quantiles, flat."""
    random, found = np.random.default_rng(SEED), []
    for _ in range(draws):
        noisy, published, true = release(random)
        bins, right = (np.stack([quantile_bins(a, p) for p in PROBABILITIES], -1) for a in (published, true))
        size = published.sum(axis=-1, keepdims=True) / noisy.variances[0].sum(axis=-1, keepdims=True) ** 0.5
        stated = quantile_errors(noisy, bins, PROBABILITIES, RATES.get(release.__name__, 1.0))
        parts = stated, np.abs(bins - right), np.broadcast_to(size, bins.shape)
        found.append(np.stack([each[bins >= 0] for each in parts]))
    stated, occurring, sizes = np.concatenate(found, axis=-1)
    return stated, occurring, sizes


def test_one_group_has_no_other_groups() -> None:
    counts = np.array([5.0, 20.0, 5.0])
    noisy = NoisyBins([counts], [np.full(3, 4.0)], [])
    assert 0 < quantile_errors(noisy, np.array([1]), (Fraction(1, 2),))[0] < 0.5


def test_errors_of_one_group_do_not_depend_on_the_order_of_groups_or_on_how_many_are_computed_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    noisy, published, _ = small_groups(np.random.default_rng(SEED))
    bins = np.stack([quantile_bins(published, p) for p in PROBABILITIES], axis=-1)
    once = quantile_errors(noisy, bins, PROBABILITIES)
    monkeypatch.setattr("crowdgate.mechanisms.tables.quantile_errors._CELLS_AT_ONCE", 100)
    turned = NoisyBins([np.asarray(noisy.levels[0][::-1])], noisy.variances, ())
    assert np.allclose(quantile_errors(turned, bins[::-1], PROBABILITIES)[::-1], once, rtol=1e-4)


def test_a_better_known_number_of_rows_makes_errors_smaller() -> None:
    counts = np.full((2, 20), 10.0) + np.arange(20.0)
    bins, half = np.array([[10], [12]]), (Fraction(1, 2),)
    noisy = NoisyBins([counts], [np.full(counts.shape, 400.0)], [])
    rows = NoisyRows(counts.sum(axis=-1), 25.0)
    assert (quantile_errors(noisy, bins, half, rows=rows) < quantile_errors(noisy, bins, half)).all()


@pytest.mark.parametrize("answers", [raw_answers, consistent_answers])
@pytest.mark.parametrize("by", [{}, {"sex": "exact"}])
def test_quantiles_at_a_level_of_one_value_are_that_value(answers: Any, by: dict[str, str]) -> None:
    asked = Quantiles("hours", "any", (Fraction(1, 2),), by)
    mechanism, _ = plan_dp_tables((asked,), contract(), Part("m", Fraction(1), Fraction(1, 10**6)), noise="gaussian")
    assert mechanism is not None
    noisy = [np.full(query.shape, 9) for query in mechanism.queries]
    (answer,) = answers(mechanism, noisy, Fraction(1, 2))
    assert not answer.bins.any()
    assert not answer.errors.any()
