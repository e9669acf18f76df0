"""Keys and published releases for tests, without a run."""

import hashlib
from fractions import Fraction
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from crowdgate.ledger.ledger import Budget, ChargeRequest, Ledger, Spend, State
from crowdgate.signing.keys import SigningKey, signing_key

BUDGET = Budget("people", Spend(Fraction(1000), Fraction(1, 10)), 1000, "row", "add-remove")


def private_pem(key: Ed25519PrivateKey | None = None) -> bytes:
    """Return a private key as PEM."""
    secret = Ed25519PrivateKey.generate() if key is None else key
    return secret.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def new_key() -> SigningKey:
    """Return a key without a file."""
    return signing_key(private_pem(), "test")


def commit(ledger: Ledger, home: Path, folder: str, release_id: str) -> str:
    """Make a release that the ledger committed to at its destination; return the digest of its manifest."""
    place = home / folder / release_id
    place.mkdir(parents=True)
    (place / "manifest.json").write_text(f"manifest of {release_id}\n", encoding="utf-8")
    (place / "data.csv").write_text("ward\nnorth\n", encoding="utf-8")
    digest = hashlib.sha256((place / "manifest.json").read_bytes()).hexdigest()
    ledger.reserve(ChargeRequest(release_id, "d", "contract", BUDGET, Spend(Fraction(1), Fraction(0))))
    ledger.begin_reading(release_id)
    ledger.commit(release_id, State.COMMITTED, digest, f"{folder}/{release_id}", None)
    return digest


def publish(ledger: Ledger, home: Path, release_id: str, folder: str = "releases") -> str:
    """Publish a release; return the digest of its manifest."""
    digest = commit(ledger, home, folder, release_id)
    ledger.published(release_id)
    return digest
