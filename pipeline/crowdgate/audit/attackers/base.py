"""What an attacker is."""

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, Protocol

from crowdgate.audit.observation import Known, Observation
from crowdgate.audit.population import Rng
from crowdgate.audit.predicates import Predicate

Answers = Sequence[Predicate | None]
"""One for each weight that was asked for; None where the attacker abstains, which counts as a failure."""


class Attacker(Protocol):
    """Whoever is shown what is published and answers with a predicate of at most the weight that is asked for.

    `source` cites paper and theorem (numbers differ between PNAS and arXiv). One that reads a part of an observation
    that a mechanism does not tell returns None: the audit then says that it had nothing to attack.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    source: ClassVar[str]

    def answer(self, told: Observation, known: Known, weights: Sequence[Fraction], rng: Rng) -> Answers | None:
        """A predicate for each of the greatest weights."""
