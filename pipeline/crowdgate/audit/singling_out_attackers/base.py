"""What an attacker is."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.population import Population
from crowdgate.audit.common.predicates import Predicate, PredicatePerUnit
from crowdgate.kind.mechanism_output import MechanismOutput

Answers = Sequence[Predicate | PredicatePerUnit | None]
"""One for each weight that was asked for; None where the attacker abstains, which counts as a failure."""


@dataclass(frozen=True, eq=False)
class SinglingOutAttackerView:
    """What an attacker sees: all that is published of one table, what is public anyway, and the greatest weights that
    its predicates may have."""

    told: Observation
    known: PublicKnowledge
    weights: Sequence[Fraction]

    @property
    def seen(self) -> MechanismOutput | None:
        """Output of a policy's mechanism."""
        return self.told.seen

    @property
    def population(self) -> Population:
        """The public population."""
        return self.known.population

    @property
    def n(self) -> int:
        """Units of the table."""
        return self.known.n

    @property
    def abstain(self) -> Answers:
        """No predicate at any weight."""
        return [None] * len(self.weights)


class Attacker(ABC):
    """Whoever is shown what is published and answers with a predicate of at most the weight that is asked for.

    `source` cites paper and theorem (numbers differ between PNAS and arXiv). One that reads a part of an observation
    that a mechanism does not tell returns None: the audit then says that it had nothing to attack.

    One that is told the others aims at the unit that it is not told (`aside`): without a release it succeeds with
    probability w, other attackers with B(n, w). One that is `blind` learns nothing from what is published.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    aside: ClassVar[bool] = False
    blind: ClassVar[bool] = False

    def shares(self, known: PublicKnowledge, weights: Sequence[Fraction]) -> Sequence[Fraction] | None:
        """Of one that always answers with a hash of the record alone: its share for each weight. The number of units
        that match is Binomial(n, share), whatever the table and whatever is published, so that no table is drawn."""
        return None

    @abstractmethod
    def answer(self, sight: SinglingOutAttackerView) -> Answers | None:
        """A predicate for each of the greatest weights; None where nothing is told that it reads."""
