"""An attacker on two mechanisms, each of which is secure individually."""

from crowdgate.audit.common.predicates import TagBits
from crowdgate.audit.singling_out_attackers.base import Answers, Attacker, SinglingOutAttackerView
from crowdgate.audit.singling_out_attackers.one_member import one_member_predicate


class ExtractorAndPadAttacker(Attacker):
    """Attacker that decrypts a published message (bits of the last row's tag) with the published key. If only one of
    the two is published, takes that for the message."""

    name = "extractor and pad"
    source = "PNAS Theorem 5.4 (arXiv: Theorem 4.9)"

    def answer(self, sight: SinglingOutAttackerView) -> Answers | None:
        pad = sight.told.pad
        if pad is None:
            return None
        if pad.key is None and pad.cipher is None:
            return sight.abstain
        first, message = 64 - pad.bits, (pad.key or 0) ^ (pad.cipher or 0)
        tags = TagBits(((1 << pad.bits) - 1) << first, message << first)
        return [one_member_predicate(sight.population, 1, most, tags=tags) for most in sight.weights]
