"""DSSE v1 envelopes (github.com/secure-systems-lab/dsse): bytes, their type, and signatures of both.

An envelope is read more strictly than the protocol requires: it is canonical JSON, its base64 is standard and has one
spelling, each signature names its key, and no signature that names a trusted key may be wrong. So every changed byte is
refused, except in signatures of untrusted keys, which are ignored.
"""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, ValidationError

from crowdgate.errors import EnvironmentFault, VerificationFailed
from crowdgate.limits import LARGEST_ENVELOPE, MOST_SIGNATURES
from crowdgate.signing.canonical import Digest, SignedModel, canonical, parse_canonical
from crowdgate.signing.keys import PublicKey, SigningKey

Base64 = Annotated[str, Field(pattern=r"^[A-Za-z0-9+/]*={0,2}$", max_length=LARGEST_ENVELOPE)]


class Signature(SignedModel):
    """One signature, and the id of the key that made it."""

    keyid: Digest
    sig: Annotated[Base64, Field(max_length=88)]


class Envelope(SignedModel):
    """A DSSE envelope as in its JSON; only its form is checked, not its signatures."""

    payload: Base64
    payload_type: Annotated[str, Field(alias="payloadType", pattern=r"^[!-~]{1,200}$")]
    signatures: Annotated[tuple[Signature, ...], Field(min_length=1, max_length=MOST_SIGNATURES, strict=False)]


@dataclass(frozen=True)
class VerifiedPayload:
    """A payload that trusted keys signed. `signers` are their ids, at least one."""

    payload: bytes
    payload_type: str
    signers: tuple[str, ...]


def seal(payload_type: str, payload: bytes, keys: Sequence[SigningKey]) -> bytes:
    """Return the envelope of a payload, signed with each of the keys: the same bytes for the same arguments.

    Raises EnvironmentFault for an envelope that could not be opened again: too large, no key or too many.
    """
    said = _pae(payload_type, payload)
    signers = {key.public.id: key for key in keys}.values()
    return _envelope_bytes(_text(payload), payload_type, [_signature(key, said) for key in signers])


def open_envelope(envelope: bytes, trusted: Sequence[PublicKey]) -> VerifiedPayload:
    """Return the payload of an envelope that at least one trusted key signed.

    Raises VerificationFailed for any other.
    """
    return _checked(_parsed(envelope), trusted)


def envelope_contents(envelope: bytes) -> tuple[str, bytes]:
    """Return the type and the payload of an envelope, without checking signatures. Raises VerificationFailed for other
    bytes.
    """
    stated = _parsed(envelope)
    for each in stated.signatures:
        _bytes(each.sig)
    return stated.payload_type, _bytes(stated.payload)


def add_signature(envelope: bytes, key: SigningKey, trusted: Sequence[PublicKey]) -> bytes:
    """Return the envelope with one more signature, for readers who trust only the new key.

    A trusted key must have signed it before: raises VerificationFailed as `open_envelope` does.
    """
    stated = _parsed(envelope)
    found = _checked(stated, trusted)
    others = [each for each in stated.signatures if each.keyid != key.public.id]
    said = _pae(found.payload_type, found.payload)
    return _envelope_bytes(stated.payload, stated.payload_type, [*others, _signature(key, said)])


def _pae(payload_type: str, payload: bytes) -> bytes:
    """Return the protocol's pre-authentication encoding: the bytes that are signed."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def _parsed(envelope: bytes) -> Envelope:
    if len(envelope) > LARGEST_ENVELOPE:
        raise VerificationFailed(f"the envelope is larger than {LARGEST_ENVELOPE >> 10} KiB")
    try:
        return parse_canonical(envelope, Envelope)
    except ValueError as error:
        raise VerificationFailed(f"the file is not a signed envelope (DSSE) as Crowdgate writes it: {error}") from None


def _checked(stated: Envelope, trusted: Sequence[PublicKey]) -> VerifiedPayload:
    payload = _bytes(stated.payload)
    said = _pae(stated.payload_type, payload)
    known = {key.id: key for key in trusted}
    named = [each.keyid for each in stated.signatures]
    if len(set(named)) != len(named):
        raise VerificationFailed("the envelope holds two signatures of one key")
    for each in stated.signatures:
        if each.keyid in known and not known[each.keyid].verify(_bytes(each.sig), said):
            raise VerificationFailed(
                f"the signature of the key {each.keyid} does not fit the content of the envelope: the file was "
                "changed, or signed wrongly"
            )
    signers = tuple(name for name in named if name in known)
    if not signers:
        raise VerificationFailed(
            f"signed by {', '.join(named)}; none of these keys is among the {len(known)} trusted keys"
        )
    return VerifiedPayload(payload, stated.payload_type, signers)


def _signature(key: SigningKey, said: bytes) -> Signature:
    return Signature(keyid=key.public.id, sig=_text(key.sign(said)))


def _envelope_bytes(payload: str, payload_type: str, signatures: Sequence[Signature]) -> bytes:
    try:
        envelope = canonical(Envelope(payload=payload, payload_type=payload_type, signatures=tuple(signatures)))
    except ValidationError:
        envelope = b""
    if not 0 < len(envelope) <= LARGEST_ENVELOPE:
        bounds = f"1 to {MOST_SIGNATURES} signatures and {LARGEST_ENVELOPE >> 10} KiB"
        raise EnvironmentFault(f"this can't be signed, because a signed envelope can hold only {bounds}")
    return envelope


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: str) -> bytes:
    """Return the bytes whose base64 is exactly `text`; decoders also accept texts with unused bits set."""
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        raise VerificationFailed("the signed envelope is damaged: it has invalid base64") from None
    if _text(data) != text:
        raise VerificationFailed("the signed envelope is damaged: its base64 is not in the standard spelling")
    return data
