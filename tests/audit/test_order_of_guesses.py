"""Baselines of every type of secret order their guesses: the most certain ones are right more often."""

import numpy as np
import pytest

from crowdgate.arrays import Floats, Integers
from crowdgate.audit.inference import models
from crowdgate.audit.inference.baselines import BASELINES
from crowdgate.audit.inference.models import FEW_NUMBERS, FitTask, KnownAttributes, SecretLabels
from crowdgate.audit.inference.secret import Secret, best_guesses
from crowdgate.hierarchy import Level

PEOPLE = 6000
COVERAGES = (0.1, 0.01, 0.001)
NUMBERS = {"names": None, "few numbers": np.arange(1.0, 13), "many numbers": np.arange(1.0, 401)}
SIZES = {"names": 8, "few numbers": 12, "many numbers": 400}

MODELS = [
    *((kind, "ridge regression") for kind in SIZES),
    *(("many numbers", name) for name in ("logistic regression", "gradient boosting")),
    *(pytest.param(kind, "gradient boosting", marks=pytest.mark.soak) for kind in ("names", "few numbers")),
]


def signal(size: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """A known number from 0 to 39, and a secret that rises with it; the greater the number, the less noise."""
    known = rng.integers(0, 40, PEOPLE)
    noise = rng.normal(0, 0.3, PEOPLE) * (1 - known / 39) ** 2
    return known, np.clip(np.rint((known / 39 + noise) * (size - 1)), 0, size - 1).astype(np.int64)


def fit_task(kind: str, known: Integers, truth: Integers, other: Integers) -> FitTask:
    """The first half of the people trains, the second is predicted."""
    weights = np.zeros((PEOPLE, SIZES[kind]))
    weights[np.arange(PEOPLE // 2), truth[: PEOPLE // 2]] = 1
    codes = KnownAttributes((known, other), (np.arange(40.0), np.arange(10.0)))
    labels = SecretLabels(SIZES[kind], NUMBERS[kind])
    return FitTask(codes, weights, np.arange(PEOPLE // 2, PEOPLE), labels, np.random.default_rng(1))


def precisions(secret: Secret, shares: Floats, truth: Integers) -> list[float]:
    """Share of right guesses among the most certain ones, at each coverage."""
    guesses = best_guesses(secret, shares)
    order = np.argsort(-guesses.confidence, kind="stable")
    right = secret.right(guesses.label, truth)[order]
    return [float(right[: max(1, int(each * len(order)))].mean()) for each in COVERAGES]


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "name"), MODELS)
def test_a_monotone_signal_gives_a_baseline_above_the_majority(kind: str, name: str) -> None:
    """3,000 guesses: the majority is right in at most .2, the most certain guesses in .5 at least, whatever the
    coverage; a baseline without an order stays at its average."""
    rng = np.random.default_rng(3)
    known, truth = signal(SIZES[kind], rng)
    fit = fit_task(kind, known, truth, rng.integers(0, 10, PEOPLE))
    level = Level(kind, tuple(map(str, range(SIZES[kind]))), np.arange(SIZES[kind], dtype=np.int32))
    secret, tested = Secret("a", level, NUMBERS[kind]), truth[PEOPLE // 2 :]
    model = {each: made for each, _, made in BASELINES}[name]
    least, most = precisions(secret, model(fit), tested), precisions(secret, models.majority(fit), tested)
    assert all(own > blind + 0.2 for own, blind in zip(least, most, strict=True)), (least, most)


def test_many_numbers_are_regressed_and_few_are_classified() -> None:
    assert SecretLabels(FEW_NUMBERS + 1, np.arange(FEW_NUMBERS + 1.0)).regressed
    assert not SecretLabels(FEW_NUMBERS, np.arange(float(FEW_NUMBERS))).regressed
    assert not SecretLabels(FEW_NUMBERS + 1, None).regressed


def test_probabilities_of_regressed_guesses_are_about_right() -> None:
    """The mean confidence of 3,000 guesses is within .06 of the share of right ones (standard error below .01)."""
    rng = np.random.default_rng(5)
    known, truth = signal(400, rng)
    fit = fit_task("many numbers", known, truth, rng.integers(0, 10, PEOPLE))
    level = Level("exact", tuple(map(str, range(400))), np.arange(400, dtype=np.int32))
    secret = Secret("a", level, NUMBERS["many numbers"])
    guesses = best_guesses(secret, models.boosted(fit))
    right = secret.right(guesses.label, truth[PEOPLE // 2 :])
    assert guesses.confidence.mean() == pytest.approx(right.mean(), abs=0.06)


def test_an_attribute_of_many_values_is_not_more_telling_than_one_that_tells() -> None:
    """500 people, two attributes: three numbers in ten follow the first, of eight values. The second has 250 values, so
    that one of two people with the same value has the most frequent number, if nobody is left out."""
    rng = np.random.default_rng(5)
    first, second = rng.integers(0, 8, 500), rng.integers(0, 250, 500)
    truth = np.where(rng.random(500) < 0.3, first, rng.integers(0, 400, 500))
    known, labels = KnownAttributes((second, first), (None, None)), SecretLabels(400, None)
    fit = FitTask(known, np.eye(400)[truth], np.arange(500), labels, rng)
    assert models.greedy_order(fit)[0] == 1
