"""A signing key in a Secret block at a Prefect server."""

from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import SecretStr

from crowdgate import settings
from crowdgate.settings import SIGNER_VARIABLE
from crowdgate.signing import keys
from tests.flows.server import Server
from tests.signing.test_other_signers import opened, state


@pytest.mark.thorough
def test_a_block_at_a_server_is_read_and_its_key_is_not_stored_in_clear(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefect.blocks.system import Secret

    keys.create(tmp_path / "own.key")
    pem = (tmp_path / "own.key").read_text()
    state(tmp_path, 'signer = "crowdgate_flows.key_block:signer"')
    monkeypatch.setenv(SIGNER_VARIABLE, "crowdgate_flows.key_block:signer")
    cast(Any, Secret(value=SecretStr(pem))).save(settings.KEY_CREDENTIAL, _sync=True)
    assert opened(tmp_path)
    stored = b"".join(each.read_bytes() for each in server.database.parent.glob(server.database.name + "*"))
    assert settings.KEY_CREDENTIAL.encode() in stored
    assert pem.splitlines()[1].encode() not in stored
