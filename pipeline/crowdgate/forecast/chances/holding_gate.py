"""A gate that holds a release before the charge, with the reason."""

from __future__ import annotations

from typing import NamedTuple


class HoldingGate(NamedTuple):
    """A gate that holds a release; with `reason` it makes a sentence without its full stop."""

    gate: str
    reason: str

    def __str__(self) -> str:
        return f"{self.gate} {self.reason}"
