"""Paths on the command line."""

from collections.abc import Callable
from pathlib import Path

from crowdgate.errors import ConfigurationError, Problem
from crowdgate.files import is_url


def named(option: str) -> Callable[[str], Path]:
    """Reads an option that names a file or folder. An empty name, which would be the current folder, is refused."""

    def read(text: str) -> Path:
        if not text.strip() or "\0" in text:
            raise ConfigurationError(Problem("command line", None, option, repr(text), "the name of a file or folder"))
        if is_url(text):
            found, expected = f"the URL {text!r}", "a file or folder of this machine"
            raise ConfigurationError(Problem("command line", None, option, found, expected))
        return Path(text)

    return read
