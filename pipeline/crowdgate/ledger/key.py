"""Keys from the operating system."""

import os

from crowdgate.sampling import KEY_BYTES, SecretKey


def draw_key() -> SecretKey:
    """A fresh key for one release. Drawn in the process that uses it, after any fork."""
    return SecretKey(os.urandom(KEY_BYTES), injected=False)
