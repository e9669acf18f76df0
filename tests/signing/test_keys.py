"""Keys: files that only their owner can read, reproducible ids, and refusal of anything else."""

import hashlib
import os
import stat
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed448
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.errors import ConfigurationError, CrowdgateError, EnvironmentFault
from crowdgate.limits import LARGEST_KEY_FILE
from crowdgate.settings import event_channels
from crowdgate.settings import signing_key as setting
from crowdgate.signing import keys
from tests.signing.desk import new_key, private_pem
from tests.workshop import crowdgate


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    keys.create(tmp_path / "key")
    return tmp_path / "key"


def body(pem: bytes) -> str:
    """Return the part of PEM that must never be shown."""
    return pem.decode().splitlines()[1]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# Files


def test_a_created_key_signs_what_its_public_file_verifies(tmp_path: Path) -> None:
    made = keys.create(tmp_path / "key")
    key = keys.signing_key((tmp_path / "key").read_bytes(), "key")
    (public,) = keys.public_keys(tmp_path / "key.pub")
    assert made == public == key.public
    assert public.verify(key.sign(b"data"), b"data")
    assert not public.verify(key.sign(b"data"), b"Data")


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077, 0o277])
def test_a_private_key_is_for_its_owner_whatever_the_mask(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        keys.create(tmp_path / "key")
    finally:
        os.umask(before)
    assert (mode(tmp_path / "key"), mode(tmp_path / "key.pub")) == (0o600, 0o644)


def test_a_private_key_is_for_its_owner_from_its_first_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    opened = os.open

    def spy(path: Path, flags: int, mode: int) -> int:
        handle = opened(path, flags, mode)
        seen.append(stat.S_IMODE(os.fstat(handle).st_mode))
        return handle

    monkeypatch.setattr(os, "open", spy)
    before = os.umask(0)
    try:
        keys.create(tmp_path / "key")
    finally:
        os.umask(before)
    assert seen == [0o600, 0o644]


@pytest.mark.parametrize("taken", ["key", "key.pub"])
def test_nothing_there_is_replaced_and_nothing_is_left(tmp_path: Path, taken: str) -> None:
    (tmp_path / taken).write_text("mine")
    with pytest.raises(EnvironmentFault, match=f"{taken}: .* File exists"):
        keys.create(tmp_path / "key")
    assert [path.name for path in tmp_path.iterdir()] == [taken]
    assert (tmp_path / taken).read_text() == "mine"


def test_a_link_that_leads_nowhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "key").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EnvironmentFault):
        keys.create(tmp_path / "key")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("which", [1, 2])
@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_key_that_was_not_written_whole_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: int, fault: BaseException
) -> None:
    synced: list[int] = []

    def fail(handle: int) -> None:
        synced.append(handle)
        if len(synced) == which:
            raise fault

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises((EnvironmentFault, KeyboardInterrupt)):
        keys.create(tmp_path / "key")
    assert list(tmp_path.iterdir()) == []


def test_a_file_may_hold_several_public_keys(tmp_path: Path) -> None:
    some = [new_key().public for _ in range(3)]
    (tmp_path / "trusted").write_bytes(b"\n".join(key.pem() for key in [*some, some[0]]))
    assert keys.public_keys(tmp_path / "trusted") == tuple(some)


def test_an_id_is_the_digest_that_openssl_gives(key_file: Path) -> None:
    made = ["openssl", "pkey", "-pubin", "-in", f"{key_file}.pub", "-outform", "DER"]
    try:
        der = subprocess.run(made, capture_output=True, check=True).stdout
    except FileNotFoundError:
        pytest.skip("this machine has no openssl command")
    assert keys.public_keys(Path(f"{key_file}.pub"))[0].id == hashlib.sha256(der).hexdigest()


# What is no key


def other_public() -> bytes:
    return (
        ec.generate_private_key(ec.SECP256R1())
        .public_key()
        .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )


def other_private() -> bytes:
    return ed448.Ed448PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def locked_private() -> bytes:
    secret = BestAvailableEncryption(b"open")
    return Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, secret)


PUBLIC = new_key().public.pem()
NO_PUBLIC_KEYS = {
    "empty": (b"", "the text is not only keys in PEM form"),
    "text": (b"hello", "the text is not only keys in PEM form"),
    "cut": (PUBLIC[:-10], "the text is not only keys in PEM form"),
    "text beside": (b"# the board's\n" + PUBLIC, "the text is not only keys in PEM form"),
    "text between": (PUBLIC + b"-----BEGIN PUBLIC KEY----\n" + PUBLIC, "the text is not only keys in PEM form"),
    "damaged": (PUBLIC.replace(b"MCow", b"MCov"), "damaged"),
    "empty block": (b"-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n", "damaged"),
    "other type": (PUBLIC + other_public(), "of another type"),
    "private": (private_pem(), r"a private key \(PRIVATE KEY\); expected public keys only; write 'file.pub'"),
    "private too": (PUBLIC + private_pem(), r"a private key \(PRIVATE KEY\)"),
    "certificate": (PUBLIC.replace(b"PUBLIC KEY", b"CERTIFICATE"), "a block called CERTIFICATE"),
    "large": (b" " * LARGEST_KEY_FILE + PUBLIC, "larger than 64 KiB"),
}


@pytest.mark.parametrize("case", NO_PUBLIC_KEYS)
def test_a_file_of_anything_else_holds_no_public_keys(tmp_path: Path, case: str) -> None:
    data, said = NO_PUBLIC_KEYS[case]
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(ConfigurationError, match=said):
        keys.public_keys(tmp_path / "file")


NO_PRIVATE_KEYS = {
    "empty": (b"", "the text is not only keys in PEM form"),
    "cut": (private_pem()[:-10], "the text is not only keys in PEM form"),
    "two": (private_pem() * 2, "PRIVATE KEY.* and .*PRIVATE KEY"),
    "public": (PUBLIC, "a block called PUBLIC KEY"),
    "damaged": (private_pem().replace(b"MC4C", b"MC4D"), "damaged"),
    "other type": (other_private(), "of another type"),
    "with a passphrase": (locked_private(), "ENCRYPTED PRIVATE KEY"),
}


@pytest.mark.parametrize("case", NO_PRIVATE_KEYS)
def test_anything_else_is_no_private_key(case: str) -> None:
    data, said = NO_PRIVATE_KEYS[case]
    with pytest.raises(ConfigurationError, match=said) as refused:
        keys.signing_key(data, "PLACE")
    assert str(refused.value).startswith("PLACE: key: ")


@given(st.binary(max_size=300) | st.binary(max_size=60).map(lambda some: PUBLIC[:50] + some + PUBLIC[50:]))
def test_whatever_a_key_holds_is_refused_in_words(data: bytes) -> None:
    if data != PUBLIC:
        with pytest.raises(ConfigurationError):
            keys.signing_key(data, "PLACE")


def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigurationError, match="a named pipe, not a regular file"):
        keys.public_keys(tmp_path / "pipe")


def test_a_file_that_never_ends_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(1 << 40)
    for path in (tmp_path / "huge", Path("/dev/zero"), tmp_path, tmp_path / "missing"):
        with pytest.raises(ConfigurationError):
            keys.public_keys(path)


# The setting


def test_without_a_setting_there_is_no_key(tmp_path: Path) -> None:
    assert setting(tmp_path) is None
    (tmp_path / "crowdgate.toml").write_text('ledger = "sqlite:///l.db"\n')
    assert setting(tmp_path) is None


def test_a_file_of_the_working_copy_names_the_key(key_file: Path) -> None:
    (key_file.parent / "crowdgate.toml").write_text('signing_key = "key"\n')
    found = setting(key_file.parent)
    assert found is not None
    assert found.public == keys.public_keys(Path(f"{key_file}.pub"))[0]


def test_the_variable_comes_first(key_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (key_file.parent / "crowdgate.toml").write_text('signing_key = "key"\n')
    pem = private_pem()
    monkeypatch.setenv("CROWDGATE_SIGNING_KEY", pem.decode())
    found = setting(key_file.parent)
    assert found is not None
    assert found.public == keys.signing_key(pem, "test").public


@pytest.mark.parametrize("text", ["", " ", "key", "FILE"])
def test_a_variable_without_a_key_is_never_passed_over(
    key_file: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    (key_file.parent / "crowdgate.toml").write_text('signing_key = "key"\n')
    monkeypatch.setenv("CROWDGATE_SIGNING_KEY", text)
    with pytest.raises(ConfigurationError, match="CROWDGATE_SIGNING_KEY: key: the text is not only keys in PEM form"):
        setting(key_file.parent)


@pytest.fixture
def credential(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of credentials with a key, as systemd makes it, beside settings that name another key."""
    folder = tmp_path / "credentials"
    folder.mkdir()
    (folder / "crowdgate-signing-key").write_bytes(private_pem())
    (folder / "crowdgate-signing-key").chmod(0o440)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(folder))
    return folder / "crowdgate-signing-key"


def test_a_credential_of_systemd_comes_between_the_variable_and_the_settings(
    key_file: Path, credential: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (key_file.parent / "crowdgate.toml").write_text('signing_key = "key"\n')
    assert setting(key_file.parent).public == keys.signing_key(credential.read_bytes(), "test").public  # type: ignore[union-attr]
    pem = private_pem()
    monkeypatch.setenv("CROWDGATE_SIGNING_KEY", pem.decode())
    assert setting(key_file.parent).public == keys.signing_key(pem, "test").public  # type: ignore[union-attr]
    monkeypatch.delenv("CROWDGATE_SIGNING_KEY")
    credential.unlink()
    found = setting(key_file.parent)
    assert found is not None
    assert found.public == keys.public_keys(Path(f"{key_file}.pub"))[0]


@pytest.mark.parametrize(("content", "mode"), [(b"", 0o400), (b"no key", 0o400), (None, 0o444)])
def test_a_credential_that_can_t_be_used_is_never_passed_over(
    key_file: Path, credential: Path, content: bytes | None, mode: int
) -> None:
    (key_file.parent / "crowdgate.toml").write_text('signing_key = "key"\n')
    credential.chmod(0o600)
    credential.write_bytes(credential.read_bytes() if content is None else content)
    credential.chmod(mode)
    with pytest.raises(ConfigurationError, match="the credential crowdgate-signing-key"):
        setting(key_file.parent)


def test_a_webhook_may_be_a_credential(credential: Path, tmp_path: Path) -> None:
    hook = credential.with_name("crowdgate-event-webhook")
    hook.write_text("https://alarms.example/token\n")
    hook.chmod(0o400)
    assert event_channels(tmp_path).webhook == "https://alarms.example/token"
    hook.chmod(0o600)
    hook.write_text("token")
    with pytest.raises(ConfigurationError, match="event_webhook") as refused:
        event_channels(tmp_path)
    assert "token" not in str(refused.value)


@pytest.mark.parametrize("others", [0o640, 0o604, 0o620, 0o601])
def test_a_key_that_others_may_use_is_refused(key_file: Path, others: int) -> None:
    (key_file.parent / "crowdgate.toml").write_text('signing_key = "key"\n')
    key_file.chmod(others)
    with pytest.raises(ConfigurationError, match="others than its owner may use; chmod 600 it"):
        setting(key_file.parent)
    key_file.chmod(0o400)
    assert setting(key_file.parent) is not None


@pytest.mark.parametrize("value", ['"missing"', '"."', '""', "7", '["key"]', '"pipe"', '"\\u0000"'])
def test_a_setting_that_names_no_key_is_refused(key_file: Path, value: str) -> None:
    os.mkfifo(key_file.parent / "pipe", 0o600)
    (key_file.parent / "crowdgate.toml").write_text(f"signing_key = {value}\n")
    with pytest.raises(ConfigurationError, match=r"crowdgate\.toml: signing_key: key: "):
        setting(key_file.parent)


def test_a_setting_that_there_is_not_is_refused_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "crowdgate.toml").write_text('signingkey = "key"\n')
    with pytest.raises(ConfigurationError, match=r"expected ledger or signing_key or .*; write 'signing_key'"):
        setting(tmp_path)


def test_a_key_that_stands_in_place_of_a_setting_is_not_shown(tmp_path: Path) -> None:
    secret = "MC4CAQAwBQYDK2VwBCIEIA" + "x" * 40
    (tmp_path / "crowdgate.toml").write_text(f"{secret} = 1\n")
    with pytest.raises(ConfigurationError, match="a name: unknown setting") as failed:
        setting(tmp_path)
    assert secret[:10] not in str(failed.value)


# Commands, and what they show


def test_a_key_is_created_once_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert crowdgate("keys", "create", "key") == 0
    made = capsys.readouterr().out.strip()
    assert crowdgate("keys", "show", "key.pub") == 0
    assert capsys.readouterr().out == f"{made} key.pub\n"
    assert crowdgate("keys", "create", "key") == 1
    assert crowdgate("keys", "show", "key") == 2


def test_nothing_of_a_private_key_is_ever_shown(
    key_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pem = key_file.read_bytes()
    folder, toml = key_file.parent, key_file.parent / "crowdgate.toml"
    monkeypatch.chdir(folder)
    cut = pem.decode().replace("MC4C", "MC4D")
    (folder / "cut").write_text(cut)
    (folder / "cut").chmod(0o600)
    said = []
    for text in (pem.decode() + "x", cut, body(pem), pem.decode()[10:]):
        monkeypatch.setenv("CROWDGATE_SIGNING_KEY", text)
        said.append(failure(folder))
    monkeypatch.delenv("CROWDGATE_SIGNING_KEY")
    for text in ("'''" + pem.decode() + "'''", f"'{body(pem)}'", "'cut'"):
        toml.write_text(f"signing_key = {text}\n")
        said.append(failure(folder))
    for words in (["create", "key"], ["show", "key"], ["show", "cut"], ["show", "key.pub", "--json"]):
        crowdgate("keys", *words)
    said += [*capsys.readouterr(), repr(keys.signing_key(pem, "key"))]
    for secret in (body(pem), body(pem)[:40], body(pem)[24:], cut.splitlines()[1]):
        assert all(secret not in text for text in said)


def failure(folder: Path) -> str:
    with pytest.raises(CrowdgateError) as refused:
        setting(folder)
    return f"{refused.value} {refused.value.problems!r}" if isinstance(refused.value, ConfigurationError) else ""
