"""Verification of a withdrawn release: it has no data, so it fails, and the failure says what its tombstone states."""

from collections.abc import Sequence
from pathlib import Path

from crowdgate.errors import VerificationFailed
from crowdgate.publish.tombstone import read_tombstone, remaining_files
from crowdgate.signing.keys import PublicKey


def withdrawn_failure(folder: Path, trusted: Sequence[PublicKey]) -> VerificationFailed:
    """Return the failure for a folder with a tombstone, which one of the `trusted` keys must have signed, if any."""
    try:
        said, more = read_tombstone(folder, trusted), remaining_files(folder)
    except (VerificationFailed, OSError) as error:
        return VerificationFailed(str(error))
    origin = "a trusted key signed the tombstone" if trusted else "nobody vouches for the tombstone without a --key"
    left = f" Still there: {more[0]!a}; the custodian must run `crowdgate withdraw` again." if more else ""
    return VerificationFailed(f"{said.release_id}: {said.plain} ({origin}.){left}", code="withdrawn")
