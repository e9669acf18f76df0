"""Signing of an existing release: one made without a key, or one that gets a new key."""

from collections.abc import Sequence
from pathlib import Path

from crowdgate.attachments import SIGNATURE
from crowdgate.errors import EnvironmentFault
from crowdgate.kind.attachment import Context
from crowdgate.ledger.stores import placed
from crowdgate.limits import LARGEST_ENVELOPE, LARGEST_MANIFEST
from crowdgate.manifest import NAME
from crowdgate.publish.file_names import SIGNED
from crowdgate.publish.publisher import replace
from crowdgate.settings import configured_key, ledger_url
from crowdgate.signing.dsse import add_signature
from crowdgate.signing.keys import PublicKey, SigningKey, public_keys
from crowdgate.system.regular_files import read_plain
from crowdgate.verification.release import verify


def sign(folder: Path, home: Path, ledger: str | None = None, keep: Sequence[Path] = ()) -> PublicKey:
    """Sign a release with the key that is configured in `home`, and return the public key.

    The release must verify, and the ledger must have committed to it. A signature by one of the keys in `keep` stays;
    any other is replaced. Raises VerificationFailed for a release that does not verify, ConfigurationError without a
    key, EnvironmentFault if it can't be written.
    """
    key = configured_key(home)
    found = verify(folder, ledger_url(home, ledger, placed), keep)
    sealed = read_plain(folder / NAME, LARGEST_MANIFEST)
    made = SIGNATURE.make(Context(manifest=found.manifest, sealed=sealed, signer=key))
    assert made is not None, "a key makes a signature"
    try:
        dated = (folder / NAME).stat().st_mtime
        replace(folder / SIGNED, _envelope_with_signature(folder, key, keep) or made, dated, folder.parent)
    except OSError as error:
        raise EnvironmentFault(f"{folder / SIGNED}: cannot be written: {error.strerror}") from None
    return key.public


def _envelope_with_signature(folder: Path, key: SigningKey, keep: Sequence[Path]) -> bytes | None:
    """Return the release's signed envelope with a signature of `key` added; signatures by the keys in `keep` stay. None
    if `keep` is empty."""
    trusted = [each for path in keep for each in public_keys(path)]
    return add_signature(read_plain(folder / SIGNED, LARGEST_ENVELOPE), key, trusted) if trusted else None
