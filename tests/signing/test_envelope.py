"""Envelopes and statements: only a payload that a trusted key signed is read back."""

import base64
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from hypothesis import given, settings
from hypothesis import strategies as st
from securesystemslib.dsse import Envelope as OtherEnvelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import CryptoSigner, SSlibKey

from crowdgate.errors import EnvironmentFault, VerificationFailed
from crowdgate.limits import LARGEST_ENVELOPE, MOST_SIGNATURES, MOST_SUBJECTS
from crowdgate.signing.dsse import VerifiedPayload, add_signature, open_envelope, seal
from crowdgate.signing.keys import PublicKey, SigningKey
from crowdgate.signing.statement import (
    PAYLOAD_TYPE,
    CatalogueStatement,
    LedgerPlace,
    ReleaseStatement,
    catalogue_statement,
    release_statement,
    sign_statement,
    verify_statement,
)
from tests.examples import examples
from tests.signing.desk import new_key

OLD, NEW, STRANGER = new_key(), new_key(), new_key()
KIND = "application/x-test+json"
PLACE = LedgerPlace(id="clinic-00c0ffee", line=7, digest="a" * 64)
RELEASE = release_statement("clinic/1/2030-01-01", "b" * 64, PLACE, {"manifest.json": "c" * 64, "data.csv": "d" * 64})
CATALOGUE = catalogue_statement(PLACE, {"clinic/1/2030-01-01": "c" * 64, "clinic/1/2030-01-02": "e" * 64})
ENVELOPE = sign_statement(RELEASE, [OLD])


def changed(envelope: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """Return the envelope with another content, in canonical spelling."""
    stated = json.loads(envelope)
    change(stated)
    return spelled(stated)


def spelled(stated: object) -> bytes:
    return (json.dumps(stated, sort_keys=True, ensure_ascii=False, indent=1) + "\n").encode()


# Round trips


@given(st.binary(max_size=300), st.text("!#azAZ09/+-.", min_size=1, max_size=40), st.integers(1, 3))
def test_what_is_sealed_is_opened(payload: bytes, kind: str, count: int) -> None:
    some = [OLD, NEW, STRANGER][:count]
    envelope = seal(kind, payload, some)
    assert open_envelope(envelope, [key.public for key in some]) == VerifiedPayload(
        payload, kind, tuple(key.public.id for key in some)
    )
    assert envelope == seal(kind, payload, some)
    assert spelled(json.loads(envelope)) == envelope


names = st.text("abcXYZ.-_ é", min_size=1, max_size=20).filter(lambda name: name not in (".", ".."))
digests = st.binary(min_size=32, max_size=32).map(bytes.hex)


@given(st.dictionaries(names, digests, min_size=1, max_size=6))
def test_a_statement_is_read_back(files: dict[str, str]) -> None:
    stated = release_statement("clinic/1/2030-01-01", "b" * 64, PLACE, files)
    found, signers = verify_statement(sign_statement(stated, [OLD]), [OLD.public], ReleaseStatement)
    assert (found, signers) == (stated, (OLD.public.id,))
    assert found.files() == files


def test_statements_are_those_of_in_toto() -> None:
    payload = json.loads(open_envelope(ENVELOPE, [OLD.public]).payload)
    assert payload == {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": "data.csv", "digest": {"sha256": "d" * 64}},
            {"name": "manifest.json", "digest": {"sha256": "c" * 64}},
        ],
        "predicateType": "urn:crowdgate:release:v1",
        "predicate": {
            "release": "clinic/1/2030-01-01",
            "policyDigest": "b" * 64,
            "ledger": {"id": "clinic-00c0ffee", "line": 7, "digest": "a" * 64},
        },
    }
    assert json.loads(ENVELOPE)["payloadType"] == "application/vnd.in-toto+json"


# Every change is refused


@given(st.data())
def test_any_changed_byte_is_refused(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(ENVELOPE) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != ENVELOPE[at]))
    with pytest.raises(VerificationFailed):
        open_envelope(ENVELOPE[:at] + bytes([byte]) + ENVELOPE[at + 1 :], [OLD.public])


@pytest.mark.parametrize("flip", [0x01, 0x20])
def test_no_byte_can_be_flipped(flip: int) -> None:
    for at, byte in enumerate(ENVELOPE):
        with pytest.raises(VerificationFailed):
            open_envelope(ENVELOPE[:at] + bytes([byte ^ flip]) + ENVELOPE[at + 1 :], [OLD.public])


@given(st.integers(0, len(ENVELOPE)), st.integers(0, 20), st.binary(max_size=5))
def test_bytes_that_are_taken_out_or_put_in_are_refused(at: int, count: int, more: bytes) -> None:
    other = ENVELOPE[:at] + more + ENVELOPE[at + count :]
    if other != ENVELOPE:
        with pytest.raises(VerificationFailed):
            open_envelope(other, [OLD.public])


@given(st.data())
@settings(max_examples=examples(50))
def test_a_changed_byte_among_two_signatures_never_changes_what_is_read(data: st.DataObject) -> None:
    envelope = sign_statement(RELEASE, [OLD, NEW])
    at = data.draw(st.integers(0, len(envelope) - 1))
    byte = data.draw(st.sampled_from(b"0123456789abcdefABC \n"))
    try:
        found = open_envelope(envelope[:at] + bytes([byte]) + envelope[at + 1 :], [OLD.public, NEW.public])
    except VerificationFailed:
        return
    assert found.payload == open_envelope(ENVELOPE, [OLD.public]).payload


@settings(max_examples=examples(30))
@given(st.binary(max_size=200) | st.recursive(st.none() | st.integers() | st.text(max_size=5), st.lists).map(spelled))
def test_whatever_else_there_is_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(VerificationFailed):
        open_envelope(data, [OLD.public])


def set_sig(text: str) -> Callable[[dict[str, Any]], object]:
    return lambda stated: stated["signatures"][0].update(sig=text)


SIG = json.loads(ENVELOPE)["signatures"][0]["sig"]
MALFORMED: dict[str, Callable[[dict[str, Any]], object]] = {
    "no signature": lambda stated: stated.update(signatures=[]),
    "two of one key": lambda stated: stated["signatures"].append(stated["signatures"][0]),
    "too many": lambda stated: stated.update(signatures=stated["signatures"] * (MOST_SIGNATURES + 1)),
    "a member more": lambda stated: stated.update(more=1),
    "a member more in a signature": lambda stated: stated["signatures"][0].update(cert="x"),
    "a member less": lambda stated: stated.pop("payloadType"),
    "another type of payload": lambda stated: stated.update(payloadType="application/json"),
    "no id": lambda stated: stated["signatures"][0].pop("keyid"),
    "an id in capitals": lambda stated: stated["signatures"][0].update(keyid=OLD.public.id.upper()),
    "a number": lambda stated: stated.update(payload=7),
    "base64 without its end": lambda stated: stated.update(payload=stated["payload"].rstrip("=")[:-1]),
    "base64 with a blank": lambda stated: stated.update(payload=" " + stated["payload"]),
    "base64 for addresses": set_sig(SIG[:10] + "-_" + SIG[12:]),
    "bits to spare": set_sig(SIG[:-3] + chr(ord(SIG[-3]) + 1) + "=="),
    "a short signature": set_sig(base64.b64encode(b"short").decode()),
    "an empty signature": set_sig(""),
    "a long signature": set_sig(base64.b64encode(b"l" * 99).decode()),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_envelopes_are_refused(case: str) -> None:
    with pytest.raises(VerificationFailed):
        open_envelope(changed(ENVELOPE, MALFORMED[case]), [OLD.public])


def test_other_spellings_are_refused() -> None:
    stated = json.loads(ENVELOPE)
    for text in (json.dumps(stated), ENVELOPE.decode() + "\n", ENVELOPE.decode().replace("{", '{\n "payload": "",', 1)):
        with pytest.raises(VerificationFailed):
            open_envelope(text.encode(), [OLD.public])


def test_deep_and_large_documents_are_refused() -> None:
    deep = b'{"payload": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    for data in (deep, b"[" * 1_000_000, b" " * (LARGEST_ENVELOPE + 1), b'{"payload": ' + b"9" * 100_000 + b"}"):
        with pytest.raises(VerificationFailed):
            open_envelope(data, [OLD.public])


@pytest.mark.thorough
def test_what_could_not_be_opened_is_not_sealed() -> None:
    large = b"x" * (LARGEST_ENVELOPE // 4 * 3)
    for payload, keys in ((large, [OLD]), (large[:-200], [OLD]), (large + large, [OLD]), (b"", [])):
        with pytest.raises(EnvironmentFault, match="a signed envelope can hold only 1 to 16 signatures and 16384 KiB"):
            seal(KIND, payload, keys)


def test_a_key_signs_an_envelope_once() -> None:
    assert sign_statement(RELEASE, [OLD, OLD]) == ENVELOPE


# Keys: wrong, several, new, taken out of trust


def trusting(*keys: SigningKey) -> list[PublicKey]:
    return [key.public for key in keys]


def test_another_key_is_refused_by_name() -> None:
    with pytest.raises(VerificationFailed, match=f"signed by {OLD.public.id}; none .* among the 1 trusted"):
        open_envelope(ENVELOPE, trusting(STRANGER))


def test_nobody_is_trusted_by_default() -> None:
    with pytest.raises(VerificationFailed, match="among the 0 trusted"):
        open_envelope(ENVELOPE, [])


def test_a_name_does_not_make_a_signature() -> None:
    forged = changed(
        sign_statement(RELEASE, [STRANGER]), lambda stated: stated["signatures"][0].update(keyid=OLD.public.id)
    )
    with pytest.raises(
        VerificationFailed, match="does not fit the content of the envelope: the file was changed, or signed wrongly"
    ):
        open_envelope(forged, trusting(OLD, NEW))


def test_one_of_several_trusted_keys_is_enough() -> None:
    assert open_envelope(ENVELOPE, trusting(STRANGER, NEW, OLD)).signers == (OLD.public.id,)


def test_an_envelope_signed_by_old_and_new_serves_those_who_trust_either() -> None:
    both = add_signature(ENVELOPE, NEW, trusting(OLD))
    for trusted in ([OLD], [NEW], [OLD, NEW], [NEW, STRANGER]):
        found = open_envelope(both, trusting(*trusted))
        assert found.payload == open_envelope(ENVELOPE, trusting(OLD)).payload
        assert set(found.signers) == {key.public.id for key in trusted} & {OLD.public.id, NEW.public.id}
    assert both == sign_statement(RELEASE, [OLD, NEW])
    assert add_signature(both, NEW, trusting(OLD)) == both


def test_a_key_that_is_trusted_no_more_signs_nothing() -> None:
    assert open_envelope(ENVELOPE, trusting(OLD, NEW))
    with pytest.raises(VerificationFailed):
        open_envelope(ENVELOPE, trusting(NEW))


def test_a_wrong_signature_beside_a_good_one_is_refused() -> None:
    forged = changed(sign_statement(RELEASE, [OLD, NEW]), lambda stated: stated["signatures"][1].update(sig=SIG))
    with pytest.raises(VerificationFailed, match=NEW.public.id):
        open_envelope(forged, trusting(OLD, NEW))


def test_only_what_a_trusted_key_signed_is_signed_anew() -> None:
    with pytest.raises(VerificationFailed):
        add_signature(sign_statement(RELEASE, [STRANGER]), NEW, trusting(OLD))


def test_an_envelope_takes_so_many_signatures() -> None:
    full = ENVELOPE
    for _ in range(MOST_SIGNATURES - 1):
        full = add_signature(full, new_key(), trusting(OLD))
    assert open_envelope(full, trusting(OLD))
    with pytest.raises(EnvironmentFault, match="1 to 16 signatures"):
        add_signature(full, new_key(), trusting(OLD))


# Statements


def test_a_statement_is_not_taken_for_one_of_another_type() -> None:
    with pytest.raises(VerificationFailed, match="signed statement is not of the expected form"):
        verify_statement(ENVELOPE, trusting(OLD), CatalogueStatement)
    with pytest.raises(VerificationFailed, match="signed statement is not of the expected form"):
        verify_statement(sign_statement(CATALOGUE, [OLD]), trusting(OLD), ReleaseStatement)
    payload = open_envelope(ENVELOPE, trusting(OLD)).payload
    with pytest.raises(VerificationFailed, match="the envelope holds 'application/x-test"):
        verify_statement(seal(KIND, payload, [OLD]), trusting(OLD), ReleaseStatement)


WRONG: dict[str, Callable[[dict[str, Any]], object]] = {
    "order": lambda stated: stated["subject"].reverse(),
    "twice": lambda stated: stated["subject"].append(stated["subject"][-1]),
    "none": lambda stated: stated.update(subject=[]),
    "a path": lambda stated: stated["subject"][0].update(name="../data.csv"),
    "above": lambda stated: stated["subject"][0].update(name=".."),
    "nameless": lambda stated: stated["subject"][0].update(name=""),
    "a line": lambda stated: stated["subject"][0].update(name="a\n"),
    "another digest": lambda stated: stated["subject"][0].update(digest={"sha512": "d" * 128}),
    "a digest more": lambda stated: stated["subject"][0]["digest"].update(sha1="d" * 40),
    "capitals": lambda stated: stated["subject"][0]["digest"].update(sha256="D" * 64),
    "a fraction": lambda stated: stated["predicate"]["ledger"].update(line=7.0),
    "true": lambda stated: stated["predicate"]["ledger"].update(line=True),
    "zero": lambda stated: stated["predicate"]["ledger"].update(line=0),
    "an id above": lambda stated: stated["predicate"].update(release="../../etc"),
    "a member more": lambda stated: stated["predicate"].update(more=1),
    "an older type": lambda stated: stated.update(_type="https://in-toto.io/Statement/v0.1"),
}


@pytest.mark.parametrize("case", WRONG)
def test_signed_statements_of_another_form_are_refused(case: str) -> None:
    payload = changed(open_envelope(ENVELOPE, trusting(OLD)).payload, WRONG[case])
    with pytest.raises(VerificationFailed, match="signed statement is not of the expected form"):
        verify_statement(seal(PAYLOAD_TYPE, payload, [OLD]), trusting(OLD), ReleaseStatement)


def test_a_catalogue_names_no_folder_outside() -> None:
    for name in ("../x/y", "a/../b", "/etc/a/b", "a/b", "a/b/c/d", "a//b", "a/./b"):
        with pytest.raises(EnvironmentFault, match=r"can't be signed.*subject\.0\.name"):
            catalogue_statement(PLACE, {name: "c" * 64})


@pytest.mark.thorough
@pytest.mark.parametrize(
    "files", [{}, {"a/b": "c" * 64}, {"a": "c"}, {f"{n:06}": "c" * 64 for n in range(MOST_SUBJECTS + 1)}]
)
def test_what_could_not_be_read_is_not_signed(files: dict[str, str]) -> None:
    with pytest.raises(EnvironmentFault, match="can't be signed"):
        release_statement("clinic/1/2030-01-01", "b" * 64, PLACE, files)


@pytest.mark.thorough
def test_the_largest_catalogue_fits_into_an_envelope() -> None:
    releases = {f"{'p' * 20}/{n:05}/2030-01-01T0000Z": "c" * 64 for n in range(MOST_SUBJECTS)}
    envelope = sign_statement(catalogue_statement(PLACE, releases), [OLD])
    assert verify_statement(envelope, trusting(OLD), CatalogueStatement)[0].releases() == releases


# Other implementations


def other_key(key: SigningKey) -> SSlibKey:
    return SSlibKey.from_crypto(load_pem_public_key(key.public.pem()), keyid=key.public.id)


def test_securesystemslib_verifies_our_envelopes() -> None:
    stated = OtherEnvelope.from_dict(json.loads(sign_statement(RELEASE, [OLD, NEW])))
    assert set(stated.verify([other_key(OLD), other_key(NEW)], 2)) == {OLD.public.id, NEW.public.id}
    assert stated.payload == open_envelope(ENVELOPE, trusting(OLD)).payload
    with pytest.raises(VerificationError):
        stated.verify([other_key(STRANGER)], 1)
    stated.payload += b" "
    with pytest.raises(VerificationError):
        stated.verify([other_key(OLD)], 1)


@given(st.binary(max_size=200))
@settings(max_examples=examples(30))
def test_we_verify_envelopes_of_securesystemslib(payload: bytes) -> None:
    signer = CryptoSigner(Ed25519PrivateKey.generate())
    signer.public_key.keyid = OLD.public.id
    stranger = OtherEnvelope(payload, KIND, {})
    stranger.sign(signer)
    with pytest.raises(VerificationFailed):
        open_envelope(spelled(stranger.to_dict()), trusting(OLD))
    ours = OtherEnvelope(payload, KIND, {})
    ours.sign(CryptoSigner(cast(Ed25519PrivateKey, OLD._key), other_key(OLD)))
    assert spelled(ours.to_dict()) == seal(KIND, payload, [OLD])


def test_the_protocols_own_example_is_what_we_sign() -> None:
    envelope = json.loads(seal("http://example.com/HelloWorld", b"hello world", [OLD]))
    said = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    assert OLD.public.verify(base64.b64decode(envelope["signatures"][0]["sig"]), said)


def test_the_openssl_command_verifies_our_envelopes(tmp_path: Path) -> None:
    stated = json.loads(ENVELOPE)
    payload, kind = base64.b64decode(stated["payload"]), stated["payloadType"]
    (tmp_path / "key.pub").write_bytes(OLD.public.pem())
    (tmp_path / "sig").write_bytes(base64.b64decode(stated["signatures"][0]["sig"]))
    (tmp_path / "said").write_bytes(f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload)
    words = ["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", "key.pub"]
    words += ["-sigfile", "sig", "-in", "said"]
    try:
        good = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("this machine has no openssl command")
    assert (good.returncode, good.stdout.strip()) == (0, "Signature Verified Successfully")
    (tmp_path / "said").write_bytes((tmp_path / "said").read_bytes() + b" ")
    assert subprocess.run(words, cwd=tmp_path, capture_output=True, check=False).returncode != 0
