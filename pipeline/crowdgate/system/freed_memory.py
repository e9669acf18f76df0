"""Memory that was freed and that the C library has not yet returned to the system."""

import ctypes


def return_freed_memory() -> None:
    """Return freed memory to the system. Does nothing where the C library has no such function (glibc has one)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
