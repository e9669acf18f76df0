"""Verify a published release from its files alone."""

from pathlib import Path
from typing import Any

from crowdgate.kinds import KINDS
from crowdgate.verify import verify as engine


def verify(folder: Path, ledger: str | None = None) -> dict[str, Any]:
    """The manifest of a release that holds all it claims. Raises VerificationFailed that lists what does not hold."""
    return engine.verify(folder, KINDS, ledger)
