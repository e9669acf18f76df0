"""Levels chosen from data: a private selection among all combinations of the listed levels, paid from epsilon.

On the full table, with independent randomness, the choice is epsilon-differentially private, and the mechanism then
runs at levels that do not depend on its sample: both compose (epsilons add). On the released sample they do not
compose, since the choice can follow classes with too many sampled rows. Then `same_sample_delta` bounds the delta of
both together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Literal

from crowdgate.accounting import safe_k
from crowdgate.errors import Finding, expected_names, nearest, nearest_level
from crowdgate.guarantee import Part
from crowdgate.limits import GREATEST_K, MOST_CANDIDATES
from crowdgate.mechanisms.rows.charge_names import CHOICE_PART, JOINT_PART
from crowdgate.mechanisms.rows.spec import Candidates, LevelChoice, SafeKAnonymity
from crowdgate.number_text import decimal

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract
    from crowdgate.hierarchy import Hierarchy, Level
    from crowdgate.histogram import Histogram
    from crowdgate.mechanisms.rows.lattice import SchemeLattice
    from crowdgate.noise import Selector


@dataclass(frozen=True, eq=False)
class LevelSelection:
    """A planned private choice of levels: candidate levels (`lattice`), `epsilon`, score, the table that it reads
    (`on`: the full table or the sample), weights of attributes, and the most `rows` of a privacy unit."""

    lattice: SchemeLattice
    epsilon: Fraction
    score: str
    on: Literal["full", "sample"]
    weights: Mapping[str, Fraction]
    rows: int = 1

    @property
    def chosen(self) -> list[str]:
        """Names of the attributes with more than one candidate level."""
        return [name for name, levels in self.lattice.candidates.items() if len(levels) > 1]

    def choose(self, table: Histogram, k: int, beta: Fraction, select: Selector) -> dict[str, Level]:
        """Return the level of each attribute in the scheme that `select` draws by the scores. `table` counts the full
        table or the sample at the finest candidate levels.

        A sample is not sampled again: all its rows in classes of at least k are retained, as with `beta` 1.
        """
        from crowdgate.mechanisms.rows.scores import SCORES, SENSITIVITY, retention_table

        rate = beta if self.on == "full" else Fraction(1)
        kept = retention_table(k, rate, int(table.counts.sum()))
        scores = SCORES[self.score](self.lattice, table, kept, self.weights)
        return self.lattice.scheme(select(scores, SENSITIVITY * self.rows, self.epsilon))

    def words(self) -> str:
        """Return a sentence on the choice of levels: attributes, number of combinations, score, table and epsilon."""
        lattice = self.lattice
        return choice_sentence(self.chosen, len(lattice), self.score, lattice.last, self.on, decimal(self.epsilon))


def choice_sentence(
    chosen: Sequence[str], candidates: int, score: str, target: str | None, on: str, epsilon: str
) -> str:
    """Return a sentence on a choice of levels: the `chosen` attributes, the number of combinations (`candidates`), the
    score, the table that it reads and its epsilon."""
    rows = "the full table" if on == "full" else "the released sample itself"
    paid = "of the total" if on == "full" else "in one guarantee with the mechanism"
    by = score.replace("_", " ") + (f" of {target}" if target else "")
    price = f"{epsilon} {paid}"
    among = f"{candidates} combinations by {by} on {rows}"
    return f"Levels of {', '.join(chosen)} are chosen among {among}, for epsilon {price}."


def choice_parts(spec: LevelChoice | None, left: Fraction, delta: Fraction) -> tuple[Part, ...]:
    """Return the parts of the privacy guarantee: the epsilon that gates leave (`left`) and delta, divided between
    mechanism (first) and choice; or one joint part if levels are chosen on the sample."""
    if spec is None:
        return (Part("mechanism", left, delta),)
    if spec.on == "sample":
        return (Part(JOINT_PART, left, delta),)
    return Part("mechanism", left - spec.epsilon, delta), Part(CHOICE_PART, spec.epsilon, Fraction(0))


def plan_choice(spec: SafeKAnonymity, contract: Contract) -> LevelSelection | None:
    """Return the planned choice of levels of a policy without problems; None if the policy fixes all levels."""
    if spec.choose is None:
        return None
    from crowdgate.mechanisms.rows.lattice import SchemeLattice

    candidates = {name: candidate_levels(contract, name, stated) for name, stated in spec.attributes.items()}
    lattice = SchemeLattice(candidates, spec.choose.target if spec.choose.score == "classification" else None)
    return LevelSelection(
        lattice, spec.choose.epsilon, spec.choose.score, spec.choose.on, spec.choose.weights, contract.unit.rows
    )


def candidate_levels(contract: Contract, name: str, stated: str | Candidates) -> tuple[Level, ...]:
    """Return the levels that a policy states for an attribute, its level or its candidates, finest first."""
    hierarchy = contract.by_name[name].hierarchy
    assert hierarchy is not None
    listed = [stated] if isinstance(stated, str) else stated.choose
    return tuple(level for level in hierarchy.levels if level.name in listed)


def candidate_count(spec: SafeKAnonymity) -> int:
    """Return the number of schemes, i.e. of combinations of one candidate level for each attribute."""
    return prod(len(stated.choose) for stated in spec.attributes.values() if isinstance(stated, Candidates))


def level_problems(name: str, stated: str | Candidates, hierarchy: Hierarchy) -> Iterator[Finding]:
    """Yield a finding for each level that the hierarchy does not have or that is listed twice."""
    listed = [stated] if isinstance(stated, str) else stated.choose
    for i, level in enumerate(listed):
        at = ("attributes", name) if isinstance(stated, str) else ("attributes", name, "choose", i)
        if level not in hierarchy.names:
            expected, meant = (
                expected_names(hierarchy.names, level, "a level", "the contract"),
                nearest_level(level, hierarchy.names),
            )
            yield at, f"unknown level {level!r}", expected, meant
        elif level in listed[:i]:
            yield at, f"the level {level!r} is listed twice", "each candidate once", None


def choice_problems(spec: SafeKAnonymity) -> Iterator[Finding]:
    """Yield the findings against a policy's choice of levels: missing or superfluous candidates, target or weights."""
    lists = {name: stated.choose for name, stated in spec.attributes.items() if isinstance(stated, Candidates)}
    if spec.choose is None:
        for name in lists:
            yield ("attributes", name), "several levels are listed, and the mechanism has no `choose`", _NEEDED, None
        return
    count = candidate_count(spec)
    if count == 1:
        found = (
            "a choice without candidates" if not lists else "there is nothing to choose: every attribute has one level"
        )
        yield ("choose",), found, "attributes with several levels, such as {choose: [exact, any]}", None
    if count > MOST_CANDIDATES:
        yield ("choose",), f"{count} combinations of levels", f"at most {MOST_CANDIDATES} candidates", None
    yield from _target_problems(spec, spec.choose)
    yield from _weight_problems(spec, spec.choose)


_NEEDED = "one level, or `choose: {epsilon: ...}` beside `attributes`"


def _target_problems(spec: SafeKAnonymity, choice: LevelChoice) -> Iterator[Finding]:
    named = list(spec.attributes)
    if choice.score != "classification":
        if choice.target is not None:
            yield (
                ("choose", "target"),
                f"a target with the score {choice.score}, which has none",
                "no target, or the score classification",
                None,
            )
    elif choice.target is None:
        yield ("choose",), "no target", "target: a released attribute, to be predicted from the others", None
    elif choice.target not in named:
        found = f"{choice.target!r} is not released, and a target must be"
        yield ("choose", "target"), found, "a released attribute", nearest(choice.target, named)
    elif isinstance(spec.attributes[choice.target], Candidates):
        yield ("choose", "target"), f"the level of {choice.target!r} is chosen too", "a target at one level", None


def _weight_problems(spec: SafeKAnonymity, choice: LevelChoice) -> Iterator[Finding]:
    named = list(spec.attributes)
    if choice.weights and choice.score != "expected_kept_information":
        expected = "no weights, or the score expected_kept_information"
        yield (
            ("choose", "weights"),
            f"weights with the score {choice.score}, which has none",
            expected,
            "expected_kept_information",
        )
        return
    for name in choice.weights:
        if name not in named:
            at, meant = ("choose", "weights", name), nearest(name, named)
            yield at, f"{name!r} is not released", "a released attribute", meant
    if choice.weights and not any(choice.weights.get(name, 1) for name in named):
        yield ("choose", "weights"), "all weights are 0", "a weight above 0 for at least one attribute", None


def joint_delta(k: int, beta: Fraction, epsilon: Fraction, side: Fraction, candidates: int) -> float:
    """Return the delta of safe k-anonymity and a choice among `candidates` schemes on the same sample, for their joint
    `epsilon`, of which the choice spends `side`; 1 if no bound is known."""
    try:
        return safe_k.same_sample_delta(k, beta, epsilon, side, candidates)
    except ValueError:
        return 1.0


def joint_least_k(part: Part, beta: Fraction, side: Fraction, candidates: int) -> int:
    """Return the smallest k for which safe k-anonymity and a choice of levels on its sample, with epsilon `side`,
    together keep `part` of the guarantee. Raises ValueError if no k up to 10^9 does."""

    def holds(k: int) -> bool:
        return joint_delta(k, beta, part.epsilon, side, candidates) <= part.delta

    high = 1
    while not holds(high):
        if high >= GREATEST_K or joint_delta(GREATEST_K, beta, part.epsilon, side, candidates) >= 1:
            raise ValueError(f"no k of at most {GREATEST_K} is enough")
        high = min(2 * high, GREATEST_K)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
