"""BankChurners as a table of codes, its people as members and non-members, and what the audit's models guess of them.

10,127 customers of a bank in 20 attributes: six are names, 14 numbers, five are called public by the paper (Figure 3).
Models, guesses and what counts as right are those of `crowdgate.audit.inference`. Beside them stands what the paper's
code does, which its text does not say: a number is right within 5 % of the *range* of the targets' values, not "of the
true value"; lasso's own number is judged, whether or not anybody has it; and of numbers too the commonest value is
taken where that is right more often.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from crowdgate.arrays import Floats, Integers
from crowdgate.audit.common.tuples import DistinctTuples, distinct_tuples
from crowdgate.audit.inference import models
from crowdgate.audit.inference.models import FitTask, KnownAttributes, Model, SecretLabels, features
from crowdgate.audit.inference.secret import ERROR, Guesses, Secret, best_guesses
from crowdgate.audit.inference.secret_case import CoverageCurve, coverage_curve
from crowdgate.hierarchy import EXACT, Level

FILE = "bankchurners_clean.csv.gz"
NAMES = ("Attrition_Flag", "Card_Category", "Education_Level", "Gender", "Income_Category", "Marital_Status")
PUBLIC = ("Customer_Age", "Dependent_count", "Education_Level", "Gender", "Marital_Status")
ID = "CLIENTNUM"
NON_MEMBERS = 3039
Random = np.random.Generator
Right = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Table:
    """Codes of every attribute, and the numbers of the codes (None: names)."""

    codes: Mapping[str, Integers]
    numbers: Mapping[str, Floats | None]

    @property
    def size(self) -> int:
        return len(next(iter(self.codes.values())))

    def secret(self, name: str) -> Secret:
        size = int(self.codes[name].max()) + 1
        level = Level(EXACT, tuple(map(str, range(size))), np.arange(size, dtype=np.int32))
        return Secret(name, level, self.numbers[name])

    def known(self, name: str, known: Sequence[str]) -> tuple[DistinctTuples, KnownAttributes]:
        """The distinct tuples of what is known of people whose secret this is."""
        names = [each for each in known if each != name]
        tuples = distinct_tuples([self.codes[each] for each in names], self.size, {})
        return tuples, KnownAttributes(tuples.codes, tuple(self.numbers[each] for each in names))


def read(folder: Path) -> Table:
    """The file of a folder."""
    return table(pd.read_csv(folder / FILE).drop(columns=ID))


def table(frame: pd.DataFrame) -> Table:
    codes: dict[str, Integers] = {}
    numbers: dict[str, Floats | None] = {}
    for name in frame.columns:
        values, own = np.unique(frame[name].to_numpy(), return_inverse=True)
        codes[name] = own.astype(np.int64)
        numbers[name] = None if name in NAMES else values.astype(np.float64)
    return Table(codes, numbers)


@dataclass(frozen=True, eq=False)
class Draw:
    """For every row how often models are fitted to it, and how often it is a target."""

    fitted: Integers
    asked: Integers

    @property
    def targets(self) -> Integers:
        """The row of every target."""
        return np.repeat(np.arange(len(self.asked)), self.asked)

    @property
    def copied(self) -> float:
        """The share of the targets of which a copy is among the members."""
        return float(self.asked[self.fitted > 0].sum() / self.asked.sum())


def split(rows: int, non_members: int, rng: Random) -> Draw:
    """Members and non-members, at random."""
    asked = np.zeros(rows, dtype=np.int64)
    asked[rng.permutation(rows)[:non_members]] = 1
    return Draw(1 - asked, asked)


def with_copies(draw: Draw, share: float, rng: Random) -> Draw:
    """Copies of a share of the targets are among the members; nothing else changes."""
    targets = rng.permutation(np.flatnonzero(draw.asked))
    extra = np.zeros_like(draw.fitted)
    extra[targets[: round(share * len(targets))]] = 1
    return Draw(draw.fitted + extra, draw.asked)


def replicated(draw: Draw, share: float, rng: Random) -> Draw:
    """As the paper's code does: a share of the members is replicated, and as many targets as before are taken out of
    the members and their copies; the non-members are not used."""
    members = np.flatnonzero(draw.fitted)
    rows = np.concatenate([members, rng.permutation(members)[: int(share * len(members))]])
    taken = rng.permutation(rows)
    many = int(draw.asked.sum())
    asked, fitted = (np.bincount(each, minlength=len(draw.asked)) for each in (taken[:many], taken[many:]))
    return Draw(fitted, asked)


@dataclass(frozen=True, eq=False)
class Guessed:
    """Guesses of the targets (a row may be a target twice), beside the truth."""

    secret: Secret
    guesses: Guesses
    truth: Integers

    @cached_property
    def right(self) -> Right:
        """The truth; of numbers within 5 % of it."""
        return self.secret.right(self.guesses.label, self.truth)

    @property
    def precision(self) -> float:
        return float(self.right.mean())

    @property
    def curve(self) -> CoverageCurve:
        """By thresholds on how sure the guess is."""
        return coverage_curve(self.guesses.confidence, np.ones(len(self.truth)), self.right.astype(np.float64))

    @property
    def perfect(self) -> int:
        """Return the number of most certain targets up to which every guess is right."""
        many, right = (np.rint(each * len(self.truth)) for each in (self.curve.targets, self.curve.right))
        return int(many[many == right].max())

    def some(self, which: npt.NDArray[np.bool_]) -> "Guessed":
        """Result for some of the targets."""
        guesses = Guesses(self.guesses.label[which], self.guesses.confidence[which])
        return Guessed(self.secret, guesses, self.truth[which])


def guessed(people: Table, name: str, known: Sequence[str], draw: Draw, model: Model, rng: Random) -> Guessed:
    """Return the secrets of the targets as guessed by a model that is fitted to the members."""
    secret, codes = people.secret(name), people.codes[name]
    tuples, as_known = people.known(name, known)
    weights = tuples.by_label(codes, len(secret), draw.fitted)
    wanted, place = np.unique(tuples.of_cell[draw.targets], return_inverse=True)
    found = best_guesses(
        secret, model(FitTask(as_known, weights, wanted, SecretLabels(len(secret), secret.numbers), rng))
    )
    return Guessed(secret, Guesses(found.label[place], found.confidence[place]), codes[draw.targets])


@dataclass(frozen=True)
class ByCode:
    """Precision as the paper's code reckons it; of numbers with the tolerance, and the precision of the values nearest
    to lasso's."""

    precision: float
    nearest: float = 0.0
    tolerance: float = 0.0


def constant(people: Table, name: str, draw: Draw) -> float:
    """Precision of the members' commonest value for everybody."""
    codes = people.codes[name]
    return float((codes[draw.targets] == np.bincount(codes, draw.fitted).argmax()).mean())


def by_code(people: Table, name: str, known: Sequence[str], draw: Draw) -> ByCode:
    """Guess of a number: lasso, or the most common value."""
    numbers, codes = people.secret(name).numbers, people.codes[name]
    assert numbers is not None, "numbers are regressed"
    tuples, as_known = people.known(name, known)
    members, x = np.repeat(np.arange(people.size), draw.fitted), features(as_known)
    with models.without_convergence_warnings():
        lasso = models.library("linear_model").Lasso(alpha=0.1, max_iter=2000)
        lasso.fit(x[tuples.of_cell[members]], numbers[codes[members]])
        values = np.asarray(lasso.predict(x[tuples.of_cell[draw.targets]]), dtype=np.float64)
    truth, near = numbers[codes[draw.targets]], numbers[models.nearest_index(numbers, values)]
    own, occurring = (max(constant(people, name, draw), within_range(each, truth)) for each in (values, near))
    return ByCode(own, occurring, tolerance(truth))


def tolerance(truth: Floats) -> float:
    """5 % of the range."""
    return float(ERROR) * float(np.ptp(truth))


def within_range(values: Floats, truth: Floats) -> float:
    """The share of values that are as near to the truth as that."""
    return float((np.abs(values - truth) <= tolerance(truth)).mean())
