"""Signers of others, such as a hardware security module or a key service, in place of a private key.

`signer` in crowdgate.toml names one: by the import path of a function without parameters, `package.module:function`, or
by the name of an entry point of the group `crowdgate.signers`. The function returns a `Signer`. The private key stays
where it is: Crowdgate gets signatures, and verifies each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Protocol

from crowdgate.errors import Code, ConfigurationError, CrowdgateError, EnvironmentFault, Problem
from crowdgate.signing.keys import PublicKey, SigningKey, public_keys_of

GROUP = "crowdgate.signers"
"""The group of entry points that name signers."""
PATH = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", re.ASCII)
_EXPECTED = "package.module:function or the name of an installed signer, which returns sign and public_pem"


class Signer(Protocol):
    """A holder of an ed25519 key. Its methods may raise anything: no message of theirs is shown."""

    def public_pem(self) -> bytes:
        """Return the public key as PEM (SubjectPublicKeyInfo)."""

    def sign(self, data: bytes) -> bytes:
        """Return the ed25519 signature of these data, 64 bytes."""


@dataclass(frozen=True, eq=False)
class VerifiedSigner:
    """A signer whose signatures are verified before they are used."""

    signer: Signer
    public: PublicKey

    def sign(self, data: bytes) -> bytes:
        """Return a signature of these data. Raises EnvironmentFault if the signer fails, or signs with another key."""
        try:
            signature = self.signer.sign(data)
        except Exception as error:
            raise EnvironmentFault(f"the signer did not sign: {type(error).__name__}") from None
        if not isinstance(signature, bytes) or not self.public.verify(signature, data):
            raise EnvironmentFault("the signer's signature is not that of its public key")
        return signature


def external_key(name: str, place: str) -> SigningKey:
    """Return the key of the signer that a setting names. Raises ConfigurationError that calls the setting `place`."""
    try:
        signer = _factory(name, place)()
        pem = signer.public_pem()
    except CrowdgateError:
        raise
    except Exception as error:
        raise _wrong(place, f"a signer that can't be used: {type(error).__name__}") from None
    keys = public_keys_of(pem, place) if isinstance(pem, bytes) else ()
    if len(keys) != 1 or not callable(getattr(signer, "sign", None)):
        raise _wrong(place, "no signer with exactly one public key")
    return SigningKey(keys[0], VerifiedSigner(signer, keys[0]))


def _factory(name: str, place: str) -> Any:
    """Return the function that a name stands for. Raises ConfigurationError, or whatever the import raises."""
    if PATH.fullmatch(name):
        module, _, function = name.partition(":")
        return getattr(import_module(module), function)
    found = [*entry_points(group=GROUP, name=name)]
    if len(found) != 1:
        raise _wrong(place, "two signers of this name" if found else "no signer of this name")
    return found[0].load()


def _wrong(place: str, found: str) -> ConfigurationError:
    return ConfigurationError(Problem(place, None, "signer", found, _EXPECTED, code=Code.SETTING))
