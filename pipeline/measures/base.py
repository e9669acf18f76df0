"""What a measure is, and which data it may read."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pipeline.candidate import Measurement, Range, Static
from pipeline.policy import GateRule


class MeasureClass(StrEnum):
    """What a measure reads, and with it when its gate is decided and whether it may block."""

    STATIC = "static"
    """Policy, contract and public figures only: decided before any data is read."""
    OUTPUT = "output"
    """The released rows only: post-processing, blocks freely."""
    CHARGED = "charged"
    """The input, through noise paid from the policy's epsilon."""
    CONFIDENTIAL = "confidential"
    """The input or the sample: advises only, and stays in the private record."""


EVERY_MECHANISM = ("safe_k_anonymity", "dp_tables")


@dataclass(frozen=True)
class Measure:
    """A number that gates speak of. `reach` is the range of values it can take under the mechanism.

    `mechanisms` are the kinds that it speaks of; `of_candidate` is given a candidate of one of these.
    """

    name: str
    kind: MeasureClass
    summary: str
    reach: Callable[[Static, GateRule], Range]
    of_static: Callable[[Static, GateRule], Measurement | None] | None = None
    of_candidate: Callable[[Any, GateRule], Measurement | None] | None = None
    options: tuple[str, ...] = ()
    over: bool = False
    of: bool = False
    mechanisms: tuple[str, ...] = ("safe_k_anonymity",)
