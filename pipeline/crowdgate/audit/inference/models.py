"""Models that predict a label from codes. They are fitted by scikit-learn, an optional library that is imported on
first use.

A model receives distinct tuples of codes and, for each, the weights of the labels that were seen with it. It returns
shares of the labels for the requested tuples, including tuples that it has not seen.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from typing import Any

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.audit.common.population import Rng
from crowdgate.system.extras import AUDIT, need

MOST_ROWS = 50_000
"""Greatest number of rows that a model is fitted on: of more a random sample is taken."""
MOST_TUPLES = 20_000
"""Greatest number of tuples on which the order of attributes is chosen."""
TREES = 80
"""Number of boosting rounds."""
FEW_NUMBERS = 30
"""Greatest number of labels of a secret of numbers that is classified: with more labels it is regressed."""
WINDOWS, ROWS, ERRORS = 200, 150, 40
"""Greatest number of windows of predictions, number of held-out rows in each, and number of errors of a window, of a
regression's predictive distribution. Windows overlap: in wide ones the surest guesses would have no order."""
MOST_BINS = 255
"""Greatest number of values of a name that trees treat as categories; of more, trees use the codes as numbers."""


@dataclass(frozen=True, eq=False)
class KnownAttributes:
    """Known attributes as tuples of codes (an array per attribute). `numbers` are, for each attribute, the values of
    its codes; None where the values are names."""

    codes: tuple[Integers, ...]
    numbers: tuple[Floats | None, ...]

    def __len__(self) -> int:
        return len(self.codes[0])


@dataclass(frozen=True, eq=False)
class SecretLabels:
    """Labels of a secret attribute: their number (`size`), and their values in increasing order (`numbers`; None if
    they are names)."""

    size: int
    numbers: Floats | None

    @property
    def regressed(self) -> bool:
        """True if labels are numbers, and too many to be classified."""
        return self.numbers is not None and self.size > FEW_NUMBERS


@dataclass(frozen=True, eq=False)
class FitTask:
    """Training data and queries of a model: tuples of known attributes; for each, the number of rows with each label of
    the secret (`weights`); and the indices of the tuples to predict (`wanted`)."""

    known: KnownAttributes
    weights: Floats
    wanted: Integers
    labels: SecretLabels
    rng: Rng

    @cached_property
    def prior(self) -> Floats:
        """Share of each label of the secret among all training rows."""
        return prior_of(self.weights)

    @property
    def seed(self) -> int:
        """New random seed for a model that uses random numbers; each access draws another one."""
        return int(self.rng.integers(1 << 31))


Model = Callable[[FitTask], Floats]
"""Function that returns shares of the labels for each requested tuple, or zeros where it knows nothing."""


def features(known: KnownAttributes) -> Any:
    """Return the known attributes as a sparse matrix of features, a line per tuple: an indicator column for each value
    of an attribute of names, a standardised column for each attribute of numbers."""
    from scipy.sparse import csr_array, hstack

    columns = []
    for codes, numbers in zip(known.codes, known.numbers, strict=True):
        if numbers is None:
            ones = np.ones(len(codes))
            columns.append(csr_array((ones, codes, np.arange(len(codes) + 1)), (len(codes), int(codes.max()) + 1)))
        else:
            values = numbers[codes]
            spread = values.std()
            columns.append(csr_array(((values - values.mean()) / (spread if spread > 0 else 1.0))[:, None]))
    found = hstack(columns, format="csr")
    found.indices, found.indptr = (
        found.indices.astype(np.int32),
        found.indptr.astype(np.int32),
    )  # scikit-learn requires 32-bit indices
    return found


def training_rows(fit: FitTask) -> tuple[Integers, Integers, Floats]:
    """Return the index of the tuple, the label of the secret and the number of rows of each training line. More than
    MOST_ROWS rows are replaced by a random sample of that many."""
    tuples, labels = np.nonzero(fit.weights)
    held = fit.weights[tuples, labels]
    if held.sum() > MOST_ROWS:
        held = fit.rng.multinomial(MOST_ROWS, held / held.sum()).astype(np.float64)
        tuples, labels, held = tuples[held > 0], labels[held > 0], held[held > 0]
    return tuples.astype(np.int64), labels.astype(np.int64), held


def logistic(fit: FitTask) -> Floats:
    """Return labels' shares for the tuples to predict, by logistic regression with an L1 penalty, as in the paper
    (section 4.4: C = .01, saga); by lasso if labels are many
    numbers."""
    if fit.labels.regressed:
        return _lasso(fit)
    made = library("linear_model").LogisticRegression(
        l1_ratio=1, C=0.01, solver="saga", max_iter=100, tol=1e-3, random_state=fit.seed
    )
    return _classifier_shares(made, features(fit.known), fit, repeated=True)


def ridge(fit: FitTask) -> Floats:
    """Return labels' shares for the tuples to predict, by logistic regression with an L2 penalty; by ridge regression
    if labels are many numbers."""
    if fit.labels.regressed:
        made = library("linear_model").Ridge(alpha=1.0, random_state=fit.seed)
        return _regression_shares(made, features(fit.known), fit)
    made = library("linear_model").LogisticRegression(C=1.0, max_iter=100, tol=1e-3)
    return _classifier_shares(made, features(fit.known), fit)


def boosted(fit: FitTask, leaf: int = 20) -> Floats:
    """Return labels' shares for the tuples to predict, by gradient boosting of trees on histograms (G. Ke et al. 2017),
    with at least `leaf` tuples in a leaf. Without a penalty the leaves of rare labels grow without bound, and boosting
    falls below the majority."""
    ensemble, of_numbers = library("ensemble"), fit.labels.regressed
    model = ensemble.HistGradientBoostingRegressor if of_numbers else ensemble.HistGradientBoostingClassifier
    lines = list(zip(fit.known.codes, fit.known.numbers, strict=True))
    names = [numbers is None and int(codes.max(initial=0)) < MOST_BINS for codes, numbers in lines]
    made = model(
        max_iter=TREES, l2_regularization=1.0, early_stopping=False, categorical_features=names, random_state=fit.seed,
        min_samples_leaf=leaf,
    )  # fmt: skip
    x = np.column_stack([codes if numbers is None else numbers[codes] for codes, numbers in lines]).astype(np.float64)
    return _regression_shares(made, x, fit) if of_numbers else _classifier_shares(made, x, fit)


def _lasso(fit: FitTask) -> Floats:
    """Return labels' shares for the tuples to predict, by linear regression with an L1 penalty, as in the paper
    (section 4.4: alpha = .1)."""
    made = library("linear_model").Lasso(alpha=0.1, max_iter=2000, random_state=fit.seed)
    return _regression_shares(made, features(fit.known), fit)


def _classifier_shares(model: Any, x: Any, fit: FitTask, *, repeated: bool = False) -> Floats:
    """Fit a classifier, and return the labels' shares for the tuples to predict (tuples by labels). With `repeated`, a
    training line of m rows is repeated m times: the steps of saga are too long where a few lines have large weights."""
    tuples, truth, held = training_rows(fit)
    if repeated:
        times = np.rint(held).astype(np.int64)
        tuples, truth, held = np.repeat(tuples, times), np.repeat(truth, times), np.ones(times.sum())
    found = np.zeros((len(fit.wanted), fit.labels.size))
    if len(np.unique(truth)) < 2:
        found[:, truth[:1]] = 1
        return found
    with without_convergence_warnings():
        model.fit(x[tuples], truth, sample_weight=held)
        found[:, model.classes_] = model.predict_proba(x[fit.wanted])
    return found


def _regression_shares(model: Any, x: Any, fit: FitTask) -> Floats:
    """Fit a regression, and return the predictive distribution over labels for the tuples to predict: the predicted
    number plus the errors that the model made on held-out training lines with similar predictions. So guesses have a
    probability of being right, and an order."""
    tuples, truth, held = training_rows(fit)
    assert fit.labels.numbers is not None, "numbers are regressed"
    values = fit.labels.numbers[truth]
    with without_convergence_warnings():
        inner, errors = _held_out_errors(model, x, (tuples, values, held), fit)
        model.fit(x[tuples], values, sample_weight=held)
        found = np.asarray(model.predict(x[fit.wanted]), dtype=np.float64)
    return _predictive_shares(found, inner, errors, fit.labels)


def _held_out_errors(model: Any, x: Any, lines: tuple[Integers, Floats, Floats], fit: FitTask) -> tuple[Floats, Floats]:
    """Return the inner limits of intervals of predictions, and for each interval ERRORS quantiles of the errors of a
    model that was fitted on the other half of the training tuples. With one tuple the error is taken as 0."""
    tuples, values, held = lines
    half = fit.rng.random(len(fit.known))[tuples] < 0.5
    if not half.any() or half.all():
        return np.zeros(0), np.zeros((1, ERRORS))
    said = np.zeros(len(values))
    for part in (half, ~half):
        model.fit(x[tuples[part]], values[part], sample_weight=held[part])
        said[~part] = model.predict(x[tuples[~part]])
    order = np.argsort(said, kind="stable")
    said, missed, weights = said[order], (values - said)[order], held[order]
    total = np.cumsum(weights)
    count = max(1, min(WINDOWS, int(total[-1] // (ROWS / 10))))
    inner, steps = _quantiles(said, weights, np.arange(1, count) / count), (np.arange(ERRORS) + 0.5) / ERRORS
    windows = [_window(total, (at + 0.5) / count * total[-1]) for at in range(count)]
    return inner, np.array([_quantiles(missed[each], weights[each], steps) for each in windows])


def _window(total: Floats, middle: float) -> slice:
    """Return the lines with the ROWS rows around a number of rows, from the cumulated rows of all lines."""
    first = min(max(0.0, middle - ROWS / 2), max(0.0, total[-1] - ROWS))
    start = int(np.searchsorted(total, first, side="right"))
    return slice(start, max(start + 1, int(np.searchsorted(total, first + ROWS, side="left")) + 1))


def _quantiles(values: Floats, weights: Floats, shares: Floats) -> Floats:
    """Return the weighted quantiles of some values."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    at = np.searchsorted(total, shares * total[-1], side="left")
    return np.asarray(values[order][np.minimum(at, len(values) - 1)], dtype=np.float64)


def _predictive_shares(found: Floats, inner: Floats, errors: Floats, labels: SecretLabels) -> Floats:
    """Return labels' shares: each predicted number with each error of its interval, at the nearest label."""
    assert labels.numbers is not None, "numbers are regressed"
    drawn = found[:, None] + errors[np.searchsorted(inner, found, side="right")]
    near = nearest_index(labels.numbers, drawn.reshape(-1))
    line = np.repeat(np.arange(len(found)), ERRORS)
    counts = np.bincount(line * labels.size + near, minlength=len(found) * labels.size)
    return np.asarray(counts.reshape(len(found), labels.size) / ERRORS, dtype=np.float64)


def nearest_index(numbers: Floats, values: Floats) -> Integers:
    """Return, for each value, the index of the nearest of some increasing numbers (the lower one if both are equally
    near)."""
    behind = np.clip(np.searchsorted(numbers, values), 1, max(1, len(numbers) - 1))
    if len(numbers) == 1:
        return np.zeros(len(values), dtype=np.int64)
    lower = values - numbers[behind - 1] <= numbers[behind] - values
    return np.where(lower, behind - 1, behind).astype(np.int64)


def majority(fit: FitTask) -> Floats:
    """Return the labels' shares among all training rows, the same for every tuple to predict."""
    return np.tile(fit.prior, (len(fit.wanted), 1))


def one_to_one(fit: FitTask) -> Floats:
    """Return, for each tuple to predict, the labels' shares among training rows with the same value of one attribute:
    the one that predicts most training rows correctly."""
    maps = [by_value(codes, fit.weights) for codes in fit.known.codes]
    best, found = max(maps, key=lambda each: _correct_rows(each, fit.weights))[fit.wanted], majority(fit)
    has = best.sum(axis=1) > 0
    found[has] = smoothed(best[has], fit.prior)
    return found


def longest_match(fit: FitTask) -> Floats:
    """Return, for each tuple to predict, the labels' shares among training rows that agree in the longest prefix of the
    attributes, the most informative first. Attributes are in the order of `greedy_order`. A tuple without such rows is
    looked up without the last attribute, and so on."""
    found, key = majority(fit), np.zeros(len(fit.known), dtype=np.int64)
    for at in greedy_order(fit):
        key = _joined(key, fit.known.codes[at])
        table = by_value(key, fit.weights)[fit.wanted]
        has = table.sum(axis=1) > 0
        found[has] = smoothed(table[has], fit.prior)
    return found


def greedy_order(fit: FitTask) -> list[int]:
    """Return the indices of the attributes in greedy order: each attribute is the one that, with those before it,
    predicts most training rows correctly."""
    some = np.sort(fit.rng.permutation(len(fit.known))[:MOST_TUPLES])
    columns, held = [codes[some] for codes in fit.known.codes], fit.weights[some]
    order, key = list[int](), np.zeros(len(some), dtype=np.int64)
    while len(order) < len(columns):
        left = [at for at in range(len(columns)) if at not in order]
        keys = {at: _joined(key, columns[at]) for at in left}
        order.append(max(left, key=lambda at: _correct_rows(by_value(keys[at], held), held)))
        key = keys[order[-1]]
    return order


def by_value(codes: Integers, weights: Floats) -> Floats:
    """Return, for each tuple, the number of rows by label over all tuples with the same code (tuples by labels)."""
    size = int(codes.max(initial=0)) + 1
    total = np.column_stack([np.bincount(codes, column, size) for column in weights.T])
    return np.asarray(total[codes], dtype=np.float64)


def prior_of(weights: Floats) -> Floats:
    """Return the share of each label among all rows, from the numbers of rows by tuples and labels."""
    found: Floats = weights.sum(axis=0) / max(1.0, weights.sum())
    return found


def smoothed(weights: Floats, prior: Floats) -> Floats:
    """Return the labels' shares in each tuple after adding one row distributed like `prior`, so that few rows give less
    certain shares; zeros for a tuple without rows."""
    total = weights.sum(axis=1, keepdims=True)
    return np.where(total > 0, (weights + prior) / (total + 1), 0.0)


def _joined(key: Integers, codes: Integers) -> Integers:
    _, found = np.unique(key * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
    return np.asarray(found, dtype=np.int64)


def _correct_rows(found: Floats, weights: Floats) -> float:
    """Return the number of training rows whose label is the most frequent one in `found` (rows by tuples and labels)
    even without the row itself. So attributes of many values have no advantage, and a unique tuple is wrong."""
    place, best = np.arange(len(found)), found.argmax(axis=1)
    others = found.copy()
    others[place, best] = -1.0
    leads = found[place, best] - 1 > others.max(axis=1, initial=0.0)
    return float(weights[place, best][leads].sum())


_EXPECTED = "The max_iter was reached|Objective did not converge|The number of unique classes is greater than 50%"
"""Warnings that are expected, also where most rows have a label of their own."""


@contextmanager
def without_convergence_warnings() -> Iterator[None]:
    """Suppress warnings that a model has not converged, since such a model is still usable, and limit libraries to one
    thread, since processes share the CPUs."""
    with warnings.catch_warnings(), _threads().limit(limits=1):
        warnings.filterwarnings("ignore", message=_EXPECTED)
        yield


@cache
def _threads() -> Any:
    """Return the controller of all libraries that start threads, which scikit-learn's linear models load. It looks for
    them once, since that takes as long as a small fit."""
    library("linear_model")
    return import_module("threadpoolctl").ThreadpoolController()


def library(name: str) -> Any:
    """Return the module `sklearn.{name}`. Raises ConfigurationError if scikit-learn is not installed."""
    need(AUDIT, "--of")
    return import_module(f"sklearn.{name}")
