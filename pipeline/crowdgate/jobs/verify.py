"""Verify a published release from its files alone."""

from pathlib import Path
from typing import Any

from crowdgate.kinds import KINDS
from crowdgate.ledger.stores import placed
from crowdgate.settings import ledger_url
from crowdgate.verify import verify as engine


def verify(folder: Path, ledger: str | None = None) -> dict[str, Any]:
    """The manifest of a release that holds all it claims.

    Raises VerificationFailed that lists what does not hold, ConfigurationError for a ledger's URL that is none.
    """
    url = None if ledger is None else ledger_url(Path.cwd(), ledger, placed)
    return engine.verify(folder, KINDS, url)
