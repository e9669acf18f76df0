"""The environment of a child process that reads tables: without secrets that only the run needs."""

import os

_SECRETS = ("KEY", "PASSPHRASE", "PASSWORD", "SECRET", "TOKEN", "CREDENTIAL", "LEDGER", "WEBHOOK", "PGPASS")
"""Parts of names of variables that hold a secret, or the place of one."""


def without_secrets() -> dict[str, str]:
    """Return the variables of this process whose names tell of no secret."""
    return {name: value for name, value in os.environ.items() if not any(each in name.upper() for each in _SECRETS)}
