"""A release signed when it is made, or afterwards: a reader who trusts the key needs nothing else."""

import hashlib
import shutil
from pathlib import Path

import pytest

from crowdgate.errors import ConfigurationError, VerificationFailed
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.planning.catalogue import verify_catalogue
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.publish.file_names import SIGNED
from crowdgate.releases import release as job
from crowdgate.signing import keys
from crowdgate.signing.statement import ReleaseStatement, verify_statement
from crowdgate.verification.release import verify
from crowdgate.verification.sign import sign
from tests.forging import reseal_with_page
from tests.workshop import Workshop, crowdgate

SLOT = "2030-01-01"


def signs_with(workshop: Workshop, name: str) -> Path:
    """Make a key, configure it in the working copy, and return the public one."""
    if not (workshop.root / name).exists():
        keys.create(workshop.root / name)
    url = 'ledger = "sqlite:///ledger/ledger.db"\n'
    (workshop.root / "crowdgate.toml").write_text(f'{url}signing_key = "{name}"\n', encoding="utf-8")
    ledger_at(workshop.root, None).sign()
    return workshop.root / f"{name}.pub"


def released(workshop: Workshop) -> Path:
    found = job.release(Request(workshop.policy, SLOT), draw_key).path
    assert found is not None
    return found


def signed_anew(workshop: Workshop, folder: Path, *keep: Path) -> None:
    sign(folder, workshop.root, workshop.ledger, keep)


def test_a_release_is_signed_over_every_file_with_its_place_in_the_ledger(workshop: Workshop) -> None:
    public = signs_with(workshop, "one.pem")
    path = released(workshop)
    stated, (signer,) = verify_statement((path / SIGNED).read_bytes(), keys.public_keys(public), ReleaseStatement)
    files = {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in path.iterdir() if each.name != SIGNED}
    assert stated.files() == files
    assert signer == keys.public_keys(public)[0].id
    found = verify(path, workshop.ledger, [public])
    assert stated.predicate.ledger.digest == found.manifest.ledger.digest
    assert found.keys
    assert verify_catalogue(workshop.root / "releases", keys.public_keys(public)).releases() == {
        "clinic/1/2030-01-01": files["manifest.json"]
    }


def test_without_a_key_nothing_is_signed_and_verify_says_so(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    path = released(workshop)
    assert not (path / SIGNED).exists()
    assert crowdgate("verify", path) == 0
    assert "nobody vouches for its origin: it is not signed" in capsys.readouterr().out
    with pytest.raises(VerificationFailed, match=r"step 4, signature: .*is not signed"):
        verify(path, keys=[signs_with(workshop, "one.pem")])


def test_a_signature_that_nobody_checked_is_told(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    signs_with(workshop, "one.pem")
    assert crowdgate("verify", released(workshop)) == 0
    assert "its signature was not checked, since no --key was given" in capsys.readouterr().out


def test_an_old_release_is_signed_where_the_ledger_vouches_for_it(workshop: Workshop) -> None:
    path = released(workshop)
    with pytest.raises(ConfigurationError, match="no key is named"):
        signed_anew(workshop, path)
    public = signs_with(workshop, "one.pem")
    signed_anew(workshop, path)
    assert verify(path, workshop.ledger, [public]).keys


def test_what_the_ledger_does_not_vouch_for_is_not_signed(workshop: Workshop, tmp_path: Path) -> None:
    path = Path(shutil.copytree(released(workshop), tmp_path / "copy"))
    reseal_with_page(path, lambda claims: claims["about"].update(owner="somebody else"))
    assert verify(path)
    signs_with(workshop, "one.pem")
    with pytest.raises(VerificationFailed, match="step 9, ledger"):
        signed_anew(workshop, path)
    assert not (path / SIGNED).exists()


def test_keys_rotate_and_a_key_that_is_no_longer_trusted_proves_nothing(workshop: Workshop) -> None:
    old = signs_with(workshop, "old.pem")
    path = released(workshop)
    new = signs_with(workshop, "new.pem")
    with pytest.raises(VerificationFailed, match="none of these keys is among the 1 trusted keys"):
        verify(path, keys=[new])
    signed_anew(workshop, path, old)  # both for as long as readers change over
    assert all(verify(path, keys=trusted).keys for trusted in ([old], [new], [old, new]))
    signed_anew(workshop, path)  # the new one alone
    assert verify(path, keys=[new]).keys
    with pytest.raises(VerificationFailed, match="none of these keys is among the 1 trusted keys"):
        verify(path, keys=[old])


def test_a_signature_of_another_release_is_refused_even_unchecked(workshop: Workshop) -> None:
    public = signs_with(workshop, "one.pem")
    path = released(workshop)
    other = job.release(Request(workshop.policy, "2030-01-02"), draw_key).path
    assert other is not None
    shutil.copy(other / SIGNED, path / SIGNED)
    for trusted in ([], [public]):
        with pytest.raises(VerificationFailed, match=r"step 4, signature: .*belongs to another release"):
            verify(path, keys=trusted)


def test_a_wrong_key_stops_a_run_before_anything_is_charged(workshop: Workshop) -> None:
    (workshop.root / "crowdgate.toml").write_text(
        'ledger = "sqlite:///ledger/ledger.db"\nsigning_key = "missing.pem"\n', encoding="utf-8"
    )
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 2
    (workshop.root / "crowdgate.toml").write_text('ledger = "sqlite:///ledger/ledger.db"\n', encoding="utf-8")
    assert released(workshop)
