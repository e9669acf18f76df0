"""Attackers without access to the release."""

from collections.abc import Sequence
from fractions import Fraction

from crowdgate.audit.common.observation import PublicKnowledge
from crowdgate.audit.common.predicates import Predicate, greatest_share
from crowdgate.audit.singling_out_attackers.base import Answers, Attacker, SinglingOutAttackerView


class TrivialHash(Attacker):
    """Attacker without access to the release: answers with only a hash of the record, at the greatest realisable weight
    up to 1/n. Its success is the baseline."""

    name = "trivial hash"
    source = "Cohen, Nissim (arXiv) Claim 3.1"
    blind = True

    def answer(self, sight: SinglingOutAttackerView) -> Answers | None:
        """Return predicates that do not depend on what was published."""
        return [Predicate(share=share) for share in self.shares(sight.known, sight.weights)]

    def shares(self, known: PublicKnowledge, weights: Sequence[Fraction]) -> Sequence[Fraction]:
        best = Fraction(1, known.n)
        return [greatest_share(Fraction(1), min(weight, best)) for weight in weights]
