"""The environment of processes that this one starts: without passphrases, keys and tokens, which they don't need."""

import os
import re
from collections.abc import Container

_SECRET = re.compile("AUTH|CREDENTIAL|KEY|PASS|SECRET|TOKEN|WEBHOOK", re.IGNORECASE)


def without_secrets(kept: Container[str] = ()) -> dict[str, str]:
    """Return the environment without variables whose names are those of secrets, except those that are `kept`."""
    return {name: value for name, value in os.environ.items() if name in kept or not _SECRET.search(name)}
