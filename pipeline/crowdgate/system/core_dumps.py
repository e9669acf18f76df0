"""No core dumps: the memory of a run holds confidential rows and the secret key.

A limit of zero prevents files. A system that pipes dumps to a program ignores the limit, and checks whether the process
is dumpable. That flag is reset when a program is started, so child processes must set it themselves.
"""

import ctypes
import resource
import sys

_PR_SET_DUMPABLE = 4


def disable_core_dumps() -> None:
    """Keep the memory of this process off the disk, and from other processes of its user, for its life.

    Linux supports both; other systems only the limit.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
