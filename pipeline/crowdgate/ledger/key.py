"""Keys from the operating system."""

import os

from crowdgate.sampling import KEY_BYTES, SecretKey


def draw_key() -> SecretKey:
    """Return a fresh secret key for one release, from the operating system. Call it in the process that uses the key,
    after any fork.
    """
    return SecretKey(os.urandom(KEY_BYTES), injected=False)
