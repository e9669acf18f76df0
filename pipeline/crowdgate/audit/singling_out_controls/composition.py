"""Two mechanisms that are secure individually, and together disclose a row."""

from typing import ClassVar

import numpy as np

from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.population import DrawnTable, Rng, Tags
from crowdgate.audit.common.unreleased_parts import Pad
from crowdgate.audit.singling_out_controls.base import Must, SinglingOutControl

BITS = 40
ATTACKERS = ("trivial hash", "extractor and pad")


class ExtractorAndPadControl(SinglingOutControl):
    """Control that publishes a key extracted from all rows but the last, and bits of the last row's tag encrypted with
    this key (PNAS Theorem 5.4; arXiv: Theorem 4.9)."""

    name = "extractor and one-time pad"
    must: ClassVar[Must] = "be caught"
    note = "publishes a key of 40 bits extracted from all rows but the last, and 40 bits of the last under that key"
    attackers = ATTACKERS
    n = 1000
    rate = 1 - 2.0**-10
    tells_key: ClassVar[bool] = True
    tells_cipher: ClassVar[bool] = True

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        key = extract_bits(drawn.tags[:-1], BITS)
        cipher = None if key is None else key ^ int(drawn.tags[-1] >> np.uint64(64 - BITS))
        return Observation(pad=Pad(BITS, key if self.tells_key else None, cipher if self.tells_cipher else None))


class Extractor(ExtractorAndPadControl):
    """Control that publishes only the key extracted from all rows but the last."""

    name = "extractor alone"
    must = "hold"
    note = "publishes a key of 40 bits extracted from all rows but the last"
    trials = 100
    tells_cipher = False


class OneTimePad(ExtractorAndPadControl):
    """Control that publishes only bits of the last row's tag, encrypted with a key that is not published."""

    name = "one-time pad alone"
    must = "hold"
    note = "publishes 40 bits of the last row, under a key that is extracted from all others and not published"
    trials = 100
    tells_key = False


def extract_bits(tags: Tags, bits: int) -> int | None:
    """Return a number of `bits` random bits by von Neumann's extractor: the last bit of the first tag in each pair of
    tags whose last bits differ. None if there are too few pairs."""
    last = (tags & np.uint64(1))[: len(tags) // 2 * 2].reshape(-1, 2)
    found = last[last[:, 0] != last[:, 1], 0][:bits]
    return int("".join(map(str, found)), 2) if len(found) == bits else None
