"""No core dumps: the memory of a run holds confidential rows and the secret key.

A limit of zero stops files; a system that pipes dumps to a program of its own ignores it, and asks whether the process
may be dumped at all. That one may not is forgotten when a program is started, so children say it for themselves.
"""

import ctypes
import resource
import sys

_PR_SET_DUMPABLE = 4


def disable_core_dumps() -> None:
    """Keeps the memory of this process off the disk, and from other processes of its user, for as long as it lives.

    Linux takes both; other systems the limit alone.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
