"""A cross-validation of guesses of a number, and an attack on released classes, with NumPy alone.

Written from the description in policies/reference/audits.md, and not from the audit's code: no function of Crowdgate is
called. Folds, models and predictive distributions are its own, and it attacks releases of its own.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
Rng = np.random.Generator
FOLDS, FIFTHS = 10, 5
ROUNDS, RATE, DEPTH, LEAF, PENALTY = 80, 0.1, 5, 20, 1.0
NEIGHBOURS = 150
"""Number of errors of held-out people with the nearest predictions."""


@dataclass(frozen=True, eq=False)
class People:
    """Codes of the known attributes (people by attributes; `named`: those that are names), and each person's secret as
    an index of increasing numbers."""

    known: Codes
    named: Sequence[bool]
    secret: Codes
    numbers: Floats

    def __len__(self) -> int:
        return len(self.secret)

    @cached_property
    def near(self) -> Floats:
        """1 where a guess (column) is within 5 % of a true number (row)."""
        truth, guess = self.numbers[:, None], self.numbers[None, :]
        return (np.abs(guess - truth) <= 0.05 * np.abs(truth) + 1e-12 * np.abs(guess)).astype(np.float64)

    @cached_property
    def shares(self) -> Floats:
        """Share of the people with each number."""
        return np.bincount(self.secret, minlength=len(self.numbers)) / len(self)


@dataclass(frozen=True, eq=False)
class OrderedGuesses:
    """For each person, 1 if the guess is right, and the probability of it that is stated beforehand (0: no guess)."""

    right: Floats
    sure: Floats

    def taken(self, who: Codes, share: float) -> Floats:
        """Weights of some people, of greatest probability first, that add up to a share of them."""
        sure, left = self.sure[who], share * len(who)
        found = np.zeros(len(who))
        for level in np.unique(sure[sure > 0])[::-1]:
            equal = sure == level
            found[equal] = min(1.0, left / equal.sum())
            left -= found[equal].sum()
            if left <= 0:
                break
        return found

    def right_at(self, who: Codes, share: float) -> float:
        """Share of some people who are guessed right, if so many are guessed."""
        return float((self.taken(who, share) * self.right[who]).mean())


Fitted = Callable[[Codes], Floats]
Fit = Callable[[People, Codes], Fitted]
"""A regression, fitted on some people of a table: it predicts numbers from codes of known attributes."""


def linear(people: People, who: Codes) -> Fitted:
    """Fit least squares with a penalty on squares: indicators of names, and numbers in units of their spread."""
    sizes = people.known.max(axis=0) + 1
    spread = np.maximum(people.known.std(axis=0), 1e-9)

    def design(codes: Codes) -> Floats:
        columns = [
            np.eye(sizes[at])[codes[:, at]] if named else codes[:, [at]] / spread[at]
            for at, named in enumerate(people.named)
        ]
        return np.column_stack([np.ones(len(codes)), *columns])

    x, y = design(people.known[who]), people.numbers[people.secret[who]]
    slopes = np.linalg.solve(x.T @ x + np.eye(x.shape[1]), x.T @ y)
    return lambda codes: design(codes) @ slopes


@dataclass
class Node:
    """A node of a tree: its value, and where it is split an attribute, the codes that go left, and both parts."""

    value: float
    attribute: int = -1
    left_codes: npt.NDArray[np.bool_] | None = None
    parts: tuple["Node", "Node"] | None = None

    def add(self, codes: Codes, to: Floats, who: Codes) -> None:
        """Add the values of the leaves to the predictions of some people."""
        if self.parts is None or self.left_codes is None:
            to[who] += self.value
            return
        left = self.left_codes[codes[who, self.attribute]]
        self.parts[0].add(codes, to, who[left])
        self.parts[1].add(codes, to, who[~left])


def boosting(people: People, who: Codes) -> Fitted:
    """Fit boosted trees of least squares."""
    codes, y = people.known[who], people.numbers[people.secret[who]]
    sizes, start = people.known.max(axis=0) + 1, float(y.mean())
    said, every, trees = np.full(len(y), start), np.arange(len(y)), []
    for _ in range(ROUNDS):
        tree = _tree(codes, y - said, every, (sizes, people.named), DEPTH)
        tree.add(codes, said, every)
        trees.append(tree)

    def predict(wanted: Codes) -> Floats:
        found = np.full(len(wanted), start)
        for tree in trees:
            tree.add(wanted, found, np.arange(len(wanted)))
        return found

    return predict


def _tree(codes: Codes, left: Floats, who: Codes, kinds: tuple[Codes, Sequence[bool]], depth: int) -> Node:
    """Return a tree of what is left to explain, with the best split of every node."""
    node = Node(RATE * float(left[who].sum()) / (len(who) + PENALTY))
    if depth == 0 or len(who) < 2 * LEAF:
        return node
    gains = [
        _split(codes[who, at], left[who], size, named) for at, (size, named) in enumerate(zip(*kinds, strict=True))
    ]
    at = int(np.argmax([gain for gain, _ in gains]))
    if gains[at][0] <= 1e-9:
        return node
    side = gains[at][1][codes[who, at]]
    node.attribute, node.left_codes = at, gains[at][1]
    node.parts = (
        _tree(codes, left, who[side], kinds, depth - 1),
        _tree(codes, left, who[~side], kinds, depth - 1),
    )
    return node


def _split(codes: Codes, left: Floats, size: int, named: bool) -> tuple[float, npt.NDArray[np.bool_]]:
    """Return the gain of the best split by one attribute, and a mask of the codes to the left of it."""
    count, total = np.bincount(codes, minlength=size), np.bincount(codes, left, size)
    order = np.argsort(total / (count + 10.0), kind="stable") if named else np.arange(size)
    below, behind = np.cumsum(count[order]), np.cumsum(total[order])
    above, ahead = below[-1] - below, behind[-1] - behind
    gain = behind**2 / (below + PENALTY) + ahead**2 / (above + PENALTY) - behind[-1] ** 2 / (below[-1] + PENALTY)
    gain[(below < LEAF) | (above < LEAF)] = 0.0
    best, mask = int(gain.argmax()), np.zeros(size, dtype=bool)
    mask[order[: best + 1]] = True
    return float(gain[best]), mask


def regressed(fit: Fit, people: People, train: Codes, test: Codes, rng: Rng) -> tuple[Codes, Floats]:
    """Return the best guess, and its probability, from a prediction and the errors of held-out people with the nearest
    predictions."""
    half, said = rng.permutation(len(train)) < len(train) // 2, np.zeros(len(train))
    for part in (half, ~half):
        said[~part] = fit(people, train[part])(people.known[train[~part]])
    missed, order = people.numbers[people.secret[train]] - said, np.argsort(said, kind="stable")
    predicted = fit(people, train)(people.known[test])
    first = np.searchsorted(said[order], predicted) - NEIGHBOURS // 2
    count = min(NEIGHBOURS, len(train))
    nearest = np.clip(first, 0, len(train) - count)[:, None] + np.arange(count)
    outcomes = nearest_index(people.numbers, predicted[:, None] + missed[order][nearest])
    return _best_outcomes(people, outcomes)


def _best_outcomes(people: People, outcomes: Codes) -> tuple[Codes, Floats]:
    """Return, for each line of equally probable outcomes, the one that is near most of them."""
    size = len(people.numbers)
    lines = np.repeat(np.arange(len(outcomes)), outcomes.shape[1])
    counts = np.bincount(lines * size + outcomes.ravel(), minlength=len(outcomes) * size).reshape(-1, size)
    return best_of(people, counts / outcomes.shape[1])


def best_of(people: People, shares: Floats) -> tuple[Codes, Floats]:
    """Return the guess that is most probably right, and its probability; among equal ones the most probable number."""
    hits = shares @ people.near
    guess = np.where(hits >= hits.max(axis=1, keepdims=True) - 1e-12, shares, -1.0).argmax(axis=1)
    return guess.astype(np.int64), hits[np.arange(len(hits)), guess]


def nearest_index(numbers: Floats, values: Floats) -> Codes:
    """Return the index of the nearest number."""
    middle = (numbers[1:] + numbers[:-1]) / 2
    return np.searchsorted(middle, values).astype(np.int64)


def one_number(people: People, train: Codes, test: Codes) -> tuple[Codes, Floats]:
    """Guess the same number for everybody."""
    return best_of(people, np.tile(_counts(people, train) / len(train), (len(test), 1)))


def one_attribute(people: People, train: Codes, test: Codes) -> tuple[Codes, Floats]:
    """Guess by the attribute with which most of the people of the table's other part are guessed right."""
    found = []
    for column in people.known.T:
        counts = np.zeros((int(column.max()) + 1, len(people.numbers)))
        np.add.at(counts, (column[train], people.secret[train]), 1.0)
        guess, sure = best_of(people, _with_one_more(people, counts, train))
        fitted = people.near[people.secret[train], guess[column[train]]].mean()
        found.append((fitted, guess[column[test]], sure[column[test]]))
    _, guess, sure = max(found, key=lambda each: each[0])
    return guess, sure


def nearest_people(people: People, train: Codes, test: Codes) -> tuple[Codes, Floats]:
    """Guess by the people who agree in most attributes."""
    shares = np.zeros((len(test), len(people.numbers)))
    for start in range(0, len(test), 500):
        part = people.known[test[start : start + 500]]
        agree = sum((part[:, [at]] == people.known[train, at]).astype(np.int8) for at in range(part.shape[1]))
        who, other = np.nonzero(agree == np.max(agree, axis=1, keepdims=True))
        counts = np.zeros((len(part), len(people.numbers)))
        np.add.at(counts, (who, people.secret[train][other]), 1.0)
        shares[start : start + 500] = _with_one_more(people, counts, train)
    return best_of(people, shares)


def most_telling_first(people: People, train: Codes, test: Codes) -> tuple[Codes, Floats]:
    """Guess by the people who agree in the most telling attributes, as many of them as anybody agrees in."""
    key, left = np.zeros(len(people), dtype=np.int64), [*range(people.known.shape[1])]
    found = np.tile(_counts(people, train) / len(train), (len(test), 1))
    while left:
        keys = {at: _joined(key, people.known[:, at]) for at in left}
        best = max(left, key=lambda at: _right_without_oneself(people, keys[at], train))
        key = keys[best]
        left.remove(best)
        counts = np.zeros((int(key.max()) + 1, len(people.numbers)))
        np.add.at(counts, (key[train], people.secret[train]), 1.0)
        own = counts[key[test]]
        some = own.any(axis=1)
        found[some] = _with_one_more(people, own[some], train)
    return best_of(people, found)


def _right_without_oneself(people: People, key: Codes, train: Codes) -> float:
    """Number of people who have the most frequent number of the others with the same key."""
    counts = np.zeros((int(key.max()) + 1, len(people.numbers)))
    np.add.at(counts, (key[train], people.secret[train]), 1.0)
    own = counts[key[train]]
    own[np.arange(len(train)), people.secret[train]] -= 1
    some = own.any(axis=1)
    return float((own[some].argmax(axis=1) == people.secret[train][some]).sum())


def _joined(key: Codes, codes: Codes) -> Codes:
    _, found = np.unique(key * (int(codes.max()) + 1) + codes, return_inverse=True)
    return np.asarray(found, dtype=np.int64)


def _counts(people: People, who: Codes) -> Floats:
    return np.asarray(np.bincount(people.secret[who], minlength=len(people.numbers)), dtype=np.float64)


def _with_one_more(people: People, counts: Floats, train: Codes) -> Floats:
    """Shares after one more person, distributed like all of them."""
    one = _counts(people, train) / len(train)
    return np.asarray((counts + one) / (counts.sum(axis=1, keepdims=True) + 1), dtype=np.float64)


def baselines(people: People, rng: Rng) -> list[OrderedGuesses]:
    """Guesses of six models about people on whom they were not fitted."""
    fold, every = rng.permutation(np.arange(len(people)) % FOLDS), np.arange(len(people))
    models: list[Callable[[Codes, Codes], tuple[Codes, Floats]]] = [
        lambda train, test: one_number(people, train, test),
        lambda train, test: one_attribute(people, train, test),
        lambda train, test: nearest_people(people, train, test),
        lambda train, test: most_telling_first(people, train, test),
        lambda train, test: regressed(linear, people, train, test, rng),
        lambda train, test: regressed(boosting, people, train, test, rng),
    ]
    found = [OrderedGuesses(np.zeros(len(people)), np.zeros(len(people))) for _ in models]
    for at in range(FOLDS):
        train, test = every[fold != at], every[fold == at]
        for held, model in zip(found, models, strict=True):
            guess, held.sure[test] = model(train, test)
            held.right[test] = people.near[people.secret[test], guess]
    return found


@dataclass(frozen=True)
class Publication:
    """Form of a release: a sample of the people, in some of the known attributes and the secret, without classes of
    fewer than k sampled people."""

    attributes: Sequence[int]
    rate: float
    least: int


def attacks(people: People, told: Publication, rng: Rng) -> list[OrderedGuesses]:
    """Release the people once, and guess by classes alone, by classes or else the most frequent number, and by that
    number alone."""
    key = np.zeros(len(people), dtype=np.int64)
    for at in told.attributes:
        key = _joined(key, people.known[:, at])
    sampled = rng.random(len(people)) < told.rate
    counts = np.zeros((int(key.max()) + 1, len(people.numbers)))
    np.add.at(counts, (key[sampled], people.secret[sampled]), 1.0)
    counts[counts < told.least] = 0.0
    shown = counts.sum(axis=1) > 0
    guess, sure = best_of(people, (counts + people.shares) / (counts.sum(axis=1, keepdims=True) + 1))
    right, own = people.near[people.secret, guess[key]], sure[key]
    blind, blindly = best_of(people, people.shares[None, :])
    everybody = OrderedGuesses(people.near[people.secret, blind[0]], np.full(len(people), blindly[0]))
    return [OrderedGuesses(right, np.where(shown[key], own, 0.0)), OrderedGuesses(right, own), everybody]


Four = tuple[float, float, float, float]


def gains(people: People, told: Publication, coverages: Sequence[float], releases: int, seed: int) -> Iterator[float]:
    """Yield the greater of both gains at each coverage: over the baseline for the same people, and for as many of its
    own. Each fifth of the people chooses once, and figures are of the others."""
    rng = np.random.default_rng(seed)
    fifth = rng.permutation(np.arange(len(people)) % FIFTHS)
    held = baselines(people, rng)
    played = [attacks(people, told, rng) for _ in range(releases)]
    for coverage in coverages:
        found = list[Four]()
        for at in range(FIFTHS):
            who = np.flatnonzero(fifth == at), np.flatnonzero(fifth != at)
            found += _of_part(played, held, who, coverage)
        yield _gain(found)


def _of_part(
    played: Sequence[Sequence[OrderedGuesses]], held: Sequence[OrderedGuesses], who: tuple[Codes, Codes], share: float
) -> Iterator[Four]:
    """Yield the shares of some people in every release, by the attack that gains most for others in every tenth."""
    choosing, _ = who
    lines = [[_four(each, held, (choosing, choosing), share) for each in some] for some in played[::10]]
    best = max(range(len(played[0])), key=lambda at: _order([line[at] for line in lines], share))
    yield from (_four(some[best], held, who, share) for some in played)


def _four(attack: OrderedGuesses, held: Sequence[OrderedGuesses], who: tuple[Codes, Codes], coverage: float) -> Four:
    """Shares of the people guessed, right by the attack, right by the best baseline for these, and for as many."""
    choosing, others = who
    taken = attack.taken(others, coverage)
    share = float(taken.mean())
    every = max(held, key=lambda each: each.right_at(choosing, 1.0))
    enough = max(share, 20 / len(choosing))
    equal = max(held, key=lambda each: each.right_at(choosing, min(1.0, enough)))
    return (
        share, float((taken * attack.right[others]).mean()), float((taken * every.right[others]).mean()),
        equal.right_at(others, share),
    )  # fmt: skip


def _order(lines: Sequence[Four], coverage: float) -> tuple[bool, float]:
    return sum(each[0] for each in lines) >= coverage * len(lines) / 2, _gain(lines)


def _gain(lines: Sequence[Four]) -> float:
    return max(_two_gains(lines))


def _two_gains(lines: Sequence[Four]) -> Iterator[float]:
    share, attack, *both = np.sum(lines, axis=0).tolist()
    for base in both:
        yield (attack - base) / (share - base) if share > base else -np.inf
