"""Base class of attackers, and their view of a release."""

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
"""An attacker's answer for each requested weight; None where the attacker abstains, which counts as a failure."""


@dataclass(frozen=True, eq=False)
class SinglingOutAttackerView:
    """View of a singling-out attacker: all that is published about one table (`told`), public knowledge (`known`), and
    the greatest weights that its predicates may have."""

    told: Observation
    known: PublicKnowledge
    weights: Sequence[Fraction]

    @property
    def seen(self) -> MechanismOutput | None:
        """Output of a policy's mechanism; None if a control publishes something else."""
        return self.told.seen

    @property
    def population(self) -> Population:
        """The public population from which the table was drawn."""
        return self.known.population

    @property
    def n(self) -> int:
        """Number of units of the attacked table (rows, or persons)."""
        return self.known.n

    @property
    def abstain(self) -> Answers:
        """Answers of an attacker that abstains at every weight."""
        return [None] * len(self.weights)


class Attacker(ABC):
    """An attacker: reads what is published, and answers with a predicate of at most the requested weight.

    `source` cites paper and theorem (numbers differ between PNAS and arXiv). An attacker returns None if it reads a
    part of an observation that the mechanism does not publish: the audit then reports that it had nothing to attack. An
    attacker that knows all other units (`aside`) targets the unknown one: without a release it succeeds with
    probability w (the weight), other attackers with B(n, w) = n w (1 - w)^(n - 1). A `blind` attacker learns nothing
    from what is published.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    aside: ClassVar[bool] = False
    blind: ClassVar[bool] = False

    def shares(self, known: PublicKnowledge, weights: Sequence[Fraction]) -> Sequence[Fraction] | None:
        """Return the selected share of records for each weight, if the attacker always answers with only a hash of the
        record; None otherwise. The number of matches among n units is then Binomial(n, share) whatever is released, so
        that no table is drawn."""
        return None

    @abstractmethod
    def answer(self, sight: SinglingOutAttackerView) -> Answers | None:
        """Return a predicate for each greatest weight in `sight.weights`; None if nothing that the attacker reads is
        published."""
