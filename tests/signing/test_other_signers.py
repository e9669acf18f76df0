"""Encrypted keys, keys in a Prefect block, and signers of others."""

import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr

from crowdgate import settings
from crowdgate.errors import ConfigurationError, EnvironmentFault
from crowdgate.settings import PASSPHRASE_VARIABLE, SIGNER_VARIABLE, signing_key, trusted_keys
from crowdgate.signing import keys, signer
from crowdgate.signing.keys import SigningKey
from crowdgate.verification.release import verify
from tests.workshop import Workshop, crowdgate, make_workshop

SECRET = "MARKED passphrase"
SLOT = "2030-01-01"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(PASSPHRASE_VARIABLE, raising=False)
    settings._typed_passphrase.cache_clear()
    return tmp_path


def state(folder: Path, line: str) -> None:
    (folder / "crowdgate.toml").write_text(f"{line}\n")


def test_a_passphrase_comes_from_a_variable_a_credential_or_the_terminal(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    state(folder, 'signing_key = "own.key"')
    monkeypatch.setenv(PASSPHRASE_VARIABLE, SECRET)
    assert crowdgate("keys", "create", "own.key", "--encrypt") == 0
    assert b"ENCRYPTED PRIVATE KEY" in (folder / "own.key").read_bytes()
    ids = [opened(folder)]
    monkeypatch.delenv(PASSPHRASE_VARIABLE)
    (folder / settings.PASSPHRASE_CREDENTIAL).write_text(f"{SECRET}\n")
    (folder / settings.PASSPHRASE_CREDENTIAL).chmod(0o400)
    monkeypatch.setenv(settings.CREDENTIALS_VARIABLE, str(folder))
    ids.append(opened(folder))
    monkeypatch.delenv(settings.CREDENTIALS_VARIABLE)
    asked = typed_at_terminal(monkeypatch, SECRET)
    ids += [opened(folder), opened(folder)]
    assert len(set(ids)) == len(asked) == 1
    said = capsys.readouterr()
    assert SECRET not in said.out + said.err


def opened(folder: Path) -> str:
    key = signing_key(folder)
    assert key is not None
    assert key.public.verify(key.sign(b"x"), b"x")
    assert SECRET not in repr(key)
    return key.public.id


def typed_at_terminal(monkeypatch: pytest.MonkeyPatch, words: str) -> list[str]:
    """Let a person type a passphrase; return the list of questions."""
    asked: list[str] = []
    terminal = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr(settings, "sys", SimpleNamespace(stdin=terminal, stderr=terminal))

    def ask(prompt: str, _: object) -> str:
        asked.append(prompt)
        return words

    monkeypatch.setattr(settings, "getpass", ask)
    return asked


@pytest.mark.parametrize(("words", "found"), [(None, "passphrase: none"), ("other", "this passphrase does not open")])
def test_a_missing_or_wrong_passphrase_is_refused_without_quoting_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: str | None, found: str
) -> None:
    keys.create(folder / "own.key", SECRET.encode())
    state(folder, 'signing_key = "own.key"')
    if words is not None:
        monkeypatch.setenv(PASSPHRASE_VARIABLE, f"MARKED {words}")
    with pytest.raises(ConfigurationError, match=found) as error:
        signing_key(folder)
    assert "MARKED" not in str(error.value)


@dataclass
class Module:
    """A signer of others, as a hardware module: the example of pipeline/reference/signatures.md."""

    key: SigningKey
    other: SigningKey | None = None
    broken: bool = False

    def public_pem(self) -> bytes:
        return self.key.public_pem()

    def sign(self, data: bytes) -> bytes:
        if self.broken:
            raise OSError("MARKED: no session")
        return (self.other or self.key).sign(data)


@pytest.fixture
def module(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Module:
    """Install a package whose function returns the signer."""
    for name in ("a", "b"):
        keys.create(folder / name)
    made = Module(keys.signing_key((folder / "a").read_bytes(), "a"))
    package: Any = ModuleType("ministry_hsm")
    package.signer = lambda: made
    package.wrong = lambda: SimpleNamespace(public_pem=lambda: "no bytes")
    monkeypatch.setitem(sys.modules, "ministry_hsm", package)
    state(folder, 'signer = "ministry_hsm:signer"')
    monkeypatch.setenv(SIGNER_VARIABLE, "ministry_hsm:signer")
    return made


@pytest.mark.thorough
def test_a_release_is_signed_by_a_signer_of_others(
    module: Module, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop: Workshop = make_workshop(tmp_path_factory.mktemp("signed") / "copy")
    with (workshop.root / "crowdgate.toml").open("a") as file:
        file.write('signer = "ministry_hsm:signer"\n')
    monkeypatch.chdir(workshop.root)
    assert crowdgate("ledger", "sign") == 0
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 0
    (workshop.root / "hsm.pub").write_bytes(module.public_pem())
    assert verify(workshop.release_dir(SLOT), keys=[workshop.root / "hsm.pub"]).signed
    module.broken = True
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-02") == 1


def test_a_signature_of_another_key_or_none_is_never_used(module: Module, folder: Path) -> None:
    key = signing_key(folder)
    assert key is not None
    module.other = keys.signing_key((folder / "b").read_bytes(), "b")
    with pytest.raises(EnvironmentFault, match="not that of its public key"):
        key.sign(b"x")
    module.broken = True
    with pytest.raises(EnvironmentFault, match="OSError") as error:
        key.sign(b"x")
    assert "MARKED" not in str(error.value)


def test_an_entry_point_names_a_signer(module: Module, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("hsm", "ministry_hsm:signer", signer.GROUP)
    monkeypatch.setattr(
        signer, "entry_points", lambda group, name: [point] if (group, name) == (point.group, point.name) else []
    )
    state(folder, 'signer = "hsm"')
    monkeypatch.setenv(SIGNER_VARIABLE, "hsm")
    key = signing_key(folder)
    assert key is not None
    assert key.public.id == module.key.public.id


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('signer = "hsm"', "no signer of this name"),
        ('signer = "no_such_module:signer"', "ModuleNotFoundError"),
        ('signer = "ministry_hsm:other"', "AttributeError"),
        ('signer = "ministry_hsm:wrong"', "no signer with exactly one public key"),
        ("signer = 7", "no text"),
        ('signer = "ministry_hsm:signer"\nsigning_key = "a"', "signing_key as well"),
    ],
)
def test_what_is_no_signer_is_refused(
    module: Module, folder: Path, monkeypatch: pytest.MonkeyPatch, line: str, found: str
) -> None:
    state(folder, line)
    monkeypatch.setenv(SIGNER_VARIABLE, line.partition('"')[2].partition('"')[0])
    assert module.key
    with pytest.raises(ConfigurationError, match=found):
        signing_key(folder)


@pytest.mark.parametrize("stated", [None, "other:signer"])
def test_a_file_alone_names_no_code_to_run(
    module: Module, folder: Path, monkeypatch: pytest.MonkeyPatch, stated: str | None
) -> None:
    """A working copy of somebody else would run it in every command, also in those that only read."""
    monkeypatch.setitem(sys.modules, "ministry_hsm", None)
    monkeypatch.delenv(SIGNER_VARIABLE)
    if stated is not None:
        monkeypatch.setenv(SIGNER_VARIABLE, stated)
    for read in (signing_key, trusted_keys):
        with pytest.raises(ConfigurationError, match="code to run"):
            read(folder)
    assert module.key


@pytest.mark.thorough
def test_a_prefect_block_holds_the_key(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from prefect.blocks.system import Secret

    keys.create(folder / "own.key", SECRET.encode())
    blocks = {settings.KEY_CREDENTIAL: (folder / "own.key").read_text(), settings.PASSPHRASE_CREDENTIAL: SECRET}
    monkeypatch.setattr(Secret, "load", lambda name, **_: Secret(value=SecretStr(blocks[name])))
    state(folder, 'signer = "crowdgate_flows.key_block:signer"')
    monkeypatch.setenv(SIGNER_VARIABLE, "crowdgate_flows.key_block:signer")
    assert opened(folder) == keys.public_keys(folder / "own.key.pub")[0].id
    blocks.clear()
    with pytest.raises(EnvironmentFault, match="crowdgate-signing-key can't be read"):
        signing_key(folder)
