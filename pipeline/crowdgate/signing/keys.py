"""Ed25519 keys as PEM: the private one signs releases, the public one verifies them.

No message and no repr holds anything of a private key or a passphrase, not even of a file that turned out to be no key.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from crowdgate.errors import Code, ConfigurationError, EnvironmentFault, Problem
from crowdgate.limits import LARGEST_KEY_FILE
from crowdgate.system import lazy_libraries, permissions
from crowdgate.system.regular_files import plain_file, read_bounded

PUBLIC_SUFFIX = ".pub"
ENCRYPTED = "ENCRYPTED PRIVATE KEY"
NO_PEM = "the text is not only keys in PEM form"
_BLOCK = re.compile(rb"-----BEGIN ([A-Z0-9 ]{1,40})-----\s[A-Za-z0-9+/=\s]*-----END \1-----\s*")


@dataclass(frozen=True)
class PublicKey:
    """A key that verifies signatures. `id` is the SHA-256 of its DER SubjectPublicKeyInfo, in hexadecimal."""

    id: str
    _key: lazy_libraries.ed25519.Ed25519PublicKey = field(repr=False, compare=False)

    def verify(self, signature: bytes, data: bytes) -> bool:
        """Return whether the holder of the private key signed exactly these data."""
        try:
            self._key.verify(signature, data)
        except lazy_libraries.exceptions.InvalidSignature:
            return False
        return True

    def pem(self) -> bytes:
        """Return the key as PEM, which may be published."""
        form = lazy_libraries.serialization
        return self._key.public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)


class Signs(Protocol):
    """A holder of a private key."""

    def sign(self, data: bytes) -> bytes:
        """Return the signature of these data."""


Passphrase = Callable[[], bytes]
"""A function that returns the passphrase of an encrypted key. Raises ConfigurationError if there is none."""


@dataclass(frozen=True, eq=False)
class SigningKey:
    """A private key, or a signer that holds one. Its holder can sign releases."""

    public: PublicKey
    _key: Signs = field(repr=False)

    def sign(self, data: bytes) -> bytes:
        """Return the signature of these data, 64 bytes, deterministically."""
        return self._key.sign(data)

    def public_pem(self) -> bytes:
        """Return the public key as PEM."""
        return self.public.pem()


def create(path: Path, passphrase: bytes | None = None) -> PublicKey:
    """Create a key: the private one at `path`, for its owner only, and the public one next to it, with `.pub`. With a
    passphrase the private one is encrypted.

    Raises EnvironmentFault if either exists or can't be written; then neither is left behind.
    """
    own = lazy_libraries.ed25519.Ed25519PrivateKey.generate()
    public = _public(own.public_key())
    pem = lazy_libraries.serialization
    hidden = pem.NoEncryption() if passphrase is None else pem.BestAvailableEncryption(passphrase)
    form = pem.Encoding.PEM, pem.PrivateFormat.PKCS8, hidden
    _write_new(path, own.private_bytes(*form), permissions.SIGNING_KEY)
    try:
        _write_new(path.with_name(path.name + PUBLIC_SUFFIX), public.pem(), permissions.PUBLIC_KEY)
    except BaseException:
        path.unlink()
        raise
    return public


def signing_key(pem: bytes, place: str, passphrase: Passphrase | None = None) -> SigningKey:
    """Return the private key in the PEM bytes. The passphrase is asked only for an encrypted key. Raises
    ConfigurationError that calls their origin `place`.
    """
    blocks = _blocks(pem)
    if blocks == [ENCRYPTED] and passphrase is not None:
        return _private_key(pem, place, passphrase())
    if blocks != ["PRIVATE KEY"]:
        found = " and ".join(map(_block_text, blocks[:3])) or NO_PEM
        raise _wrong(place, found, "one private key as PEM, as `crowdgate keys create` writes it")
    return _private_key(pem, place, None)


def _private_key(pem: bytes, place: str, passphrase: bytes | None) -> SigningKey:
    try:
        secret = lazy_libraries.serialization.load_pem_private_key(pem, passphrase)
    except (ValueError, TypeError, lazy_libraries.exceptions.UnsupportedAlgorithm):
        found = "a private key that is damaged"
        if passphrase is not None:
            found = "an encrypted key that this passphrase does not open"
        raise _wrong(place, found, "an ed25519 private key") from None
    if not isinstance(secret, lazy_libraries.ed25519.Ed25519PrivateKey):
        raise _wrong(place, "a private key of another type", "an ed25519 private key")
    return SigningKey(_public(secret.public_key()), secret)


def public_keys(path: Path) -> tuple[PublicKey, ...]:
    """Return the public keys in a PEM file, at least one. Raises ConfigurationError for any other content."""
    try:
        with plain_file(path) as file:
            pem = read_bounded(file, LARGEST_KEY_FILE)
    except OSError as error:
        raise _wrong(str(path), error.strerror or "unreadable", "a file of public keys") from None
    return public_keys_of(pem, str(path), f"{path.name}{PUBLIC_SUFFIX}")


def public_keys_of(pem: bytes, place: str, instead: str | None = None) -> tuple[PublicKey, ...]:
    """Return the public keys in PEM bytes, at least one. Raises ConfigurationError that calls their origin `place` and
    suggests the name `instead` for a file with private keys.
    """
    blocks = _blocks(pem)
    if not blocks:
        raise _wrong(place, NO_PEM, "one or more public keys as PEM")
    for name in blocks:
        if name != "PUBLIC KEY":
            raise _wrong(place, _block_text(name), "public keys only", instead)
    found = (_loaded(match[0], place) for match in _BLOCK.finditer(pem))
    return tuple({key.id: key for key in found}.values())


def _loaded(pem: bytes, place: str) -> PublicKey:
    try:
        key = lazy_libraries.serialization.load_pem_public_key(pem)
    except (ValueError, lazy_libraries.exceptions.UnsupportedAlgorithm):
        raise _wrong(place, "a public key that is damaged", "ed25519 public keys") from None
    if not isinstance(key, lazy_libraries.ed25519.Ed25519PublicKey):
        raise _wrong(place, "a public key of another type", "ed25519 public keys")
    return _public(key)


def _public(key: lazy_libraries.ed25519.Ed25519PublicKey) -> PublicKey:
    form = lazy_libraries.serialization
    der = key.public_bytes(form.Encoding.DER, form.PublicFormat.SubjectPublicKeyInfo)
    return PublicKey(hashlib.sha256(der).hexdigest(), key)


def _blocks(pem: bytes) -> list[str]:
    """Return the label of each PEM block; an empty list if there is other text between or around blocks."""
    text = pem.lstrip()
    names: list[str] = []
    while text and (match := _BLOCK.match(text)):
        names.append(match[1].decode())
        text = text[match.end() :]
    return [] if text else names


def _block_text(name: str) -> str:
    return f"a private key ({name})" if name.endswith("PRIVATE KEY") else f"a block called {name}"


def _wrong(place: str, found: str, expected: str, instead: str | None = None) -> ConfigurationError:
    return ConfigurationError(Problem(place, None, "key", found, expected, instead, Code.SETTING))


def _write_new(path: Path, data: bytes, access: permissions.Access) -> None:
    """Write a new file to disk; none is left after a failure. Never replaces a file."""
    try:
        handle = permissions.open_file(path, os.O_WRONLY | os.O_EXCL, access)
    except OSError as error:
        raise EnvironmentFault(f"{path}: the key can't be written there: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
    except BaseException as error:
        path.unlink()
        if isinstance(error, OSError):
            raise EnvironmentFault(f"{path}: the key can't be written there: {error.strerror}") from None
        raise
