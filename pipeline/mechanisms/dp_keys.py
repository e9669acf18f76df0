"""Counts of keys without a public domain: noise on each key that occurs, release strictly above the threshold."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pipeline.accounting.threshold import least_threshold, threshold_delta
from pipeline.guarantee import Part
from pipeline.noise import OPENDP, NoiseSource


@dataclass(frozen=True)
class KeySelection:
    """The selection with its numbers: at most `rows` rows of a person, `part` what it is charged.

    Raises ValueError if the threshold does not keep the part's delta.
    """

    threshold: int
    rows: int
    part: Part

    def __post_init__(self) -> None:
        if Fraction(threshold_delta(self.threshold, self.part.epsilon, self.rows)) > self.part.delta:
            raise ValueError("threshold must be larger to keep this delta")

    def select(self, counts: Mapping[str, int], source: NoiseSource = OPENDP) -> dict[str, int]:
        """Keys whose noisy count is strictly above the threshold, with it; sorted, as order would tell who came first.

        `counts` holds exactly the keys that occur (positive counts).
        """
        keys = sorted(key for key, count in counts.items() if count > 0)
        noisy = source.laplace(np.array([counts[key] for key in keys], dtype=np.int64), self.rows, self.part.epsilon)
        return {key: int(value) for key, value in zip(keys, noisy.tolist(), strict=True) if value > self.threshold}


def plan_keys(part: Part, rows: int) -> KeySelection:
    """The selection of least threshold within `part`. Raises ValueError for epsilon 0 or delta 0."""
    return KeySelection(least_threshold(part.epsilon, part.delta, rows), rows, part)
