"""The code that runs: a digest of the installed package, and the versions of the libraries that it computes with."""

import hashlib
import os
import platform
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

LIBRARIES = ("cryptography", "numpy", "opendp", "pyarrow", "scipy")


@cache
def code_digest() -> str:
    """Return the SHA-256 of the installed package: its version and every Python file."""
    package = str(Path(__file__).parents[1])
    total = hashlib.sha256(version("crowdgate").encode())
    for path in _python_files(package):
        with open(path, "rb", buffering=0) as file:
            own = hashlib.sha256(file.read()).hexdigest()
        place = path.removeprefix(package + os.sep).replace(os.sep, "/")
        total.update(f"\n{place} {own}".encode())
    return total.hexdigest()


@cache
def code_state() -> str:
    """Return a SHA-256 of the installed package by the name, size and time of change of each file. It changes when the
    code does, takes half the time of `code_digest`, and means nothing on another machine.
    """
    package = str(Path(__file__).parents[1])
    stats = ((path, os.stat(path)) for path in _python_files(package))
    files = [(path, found.st_size, found.st_mtime_ns) for path, found in stats]
    return hashlib.sha256(f"{version('crowdgate')} {files}".encode()).hexdigest()


def _python_files(folder: str) -> Iterator[str]:
    """Yield the paths of all Python files below a folder, in the order of their parts."""
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            yield from _python_files(entry.path)
        elif entry.name.endswith(".py"):
            yield entry.path


def libraries() -> dict[str, str]:
    """Return the versions of the libraries that draw and compute, by name; OpenDP's only where it is installed, as
    `check` does without it.
    """
    found = {name: version(name) for name in LIBRARIES if find_spec(name) is not None}
    return {"python": platform.python_version(), **found}
