"""The environment of processes that this one starts: without passphrases, keys and tokens, which they don't need."""

import os
import re

_SECRET = re.compile("AUTH|CREDENTIAL|KEY|LEDGER|PASS|SECRET|TOKEN|WEBHOOK", re.IGNORECASE)


def without_secrets() -> dict[str, str]:
    """Return the environment without variables whose names are those of secrets, or of the place of one."""
    return {name: value for name, value in os.environ.items() if not _SECRET.search(name)}
