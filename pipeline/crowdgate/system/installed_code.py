"""The code that runs: a digest of the installed package, and the versions of the libraries that it computes with."""

import hashlib
import platform
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

LIBRARIES = ("cryptography", "numpy", "opendp", "pyarrow", "scipy")


@cache
def code_digest() -> str:
    """Return the SHA-256 of the installed package: its version and every Python file."""
    package = Path(__file__).parents[1]
    total = hashlib.sha256(version("crowdgate").encode())
    for path in sorted(package.rglob("*.py")):
        total.update(
            f"\n{path.relative_to(package).as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}".encode()
        )
    return total.hexdigest()


def libraries() -> dict[str, str]:
    """Return the versions of the libraries that draw and compute, by name; OpenDP's only where it is installed, as
    `check` does without it.
    """
    found = {name: version(name) for name in LIBRARIES if find_spec(name) is not None}
    return {"python": platform.python_version(), **found}
