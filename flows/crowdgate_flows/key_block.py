"""The signing key in a Secret block of Prefect: `signer = "crowdgate_flows.key_block:signer"` in crowdgate.toml.

The block `crowdgate-signing-key` holds the private key as PEM. If the key is encrypted, the block
`crowdgate-signing-passphrase` holds its passphrase. Prefect's server stores both encrypted.
"""

from typing import Any, cast

from prefect.blocks.system import Secret

from crowdgate.errors import EnvironmentFault
from crowdgate.settings import KEY_CREDENTIAL, PASSPHRASE_CREDENTIAL
from crowdgate.signing.keys import SigningKey, signing_key


def signer() -> SigningKey:
    """Return the key in the block. Raises EnvironmentFault if the server or the block is not there, ConfigurationError
    for a block that holds no key.
    """
    place = f"the Prefect block {KEY_CREDENTIAL}"
    return signing_key(_secret(KEY_CREDENTIAL), place, lambda: _secret(PASSPHRASE_CREDENTIAL))


def _secret(name: str) -> bytes:
    try:
        block = cast(Any, Secret).load(name, _sync=True)
        return str(block.get()).encode()
    except Exception as error:  # Prefect's own, such as a server out of reach
        trouble = type(error).__name__
    raise EnvironmentFault(f"the Prefect block {name} can't be read ({trouble}). Nothing was read of a table")
