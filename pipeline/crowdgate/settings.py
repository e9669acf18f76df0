"""Where the ledger is: an option, then CROWDGATE_LEDGER, then crowdgate.toml of the working copy."""

import os
import tomllib
from collections.abc import Callable
from pathlib import Path

from crowdgate.errors import ConfigurationError, Problem

FILE = "crowdgate.toml"
Placed = Callable[[str, Path], str]
"""Makes a ledger's URL whole that a file in a folder states; raises ValueError, which says what a URL is like."""


def ledger_url(root: Path, option: str | None, placed: Placed) -> str:
    """The ledger's URL; a relative path in crowdgate.toml is relative to that file.

    Raises ConfigurationError when no place names a ledger, or the file is wrong.
    """
    named = option or os.environ.get("CROWDGATE_LEDGER")
    if named:
        return _placed("--ledger or CROWDGATE_LEDGER", named, Path.cwd(), placed)
    path = root / FILE
    url = _settings(path).get("ledger") if path.is_file() else None
    if not isinstance(url, str) or not url:
        expected = 'ledger = "sqlite:///FILE", the option --ledger or CROWDGATE_LEDGER'
        raise ConfigurationError(Problem(str(path), None, "ledger", "no ledger is named", expected))
    return _placed(str(path), url, root, placed)


def _placed(place: str, url: str, folder: Path, placed: Placed) -> str:
    """The URL, made whole. The message never shows it: it may hold a password."""
    try:
        return placed(url, folder)
    except ValueError as error:
        raise ConfigurationError(Problem(place, None, "ledger", "not the URL of a ledger", str(error))) from None


def _settings(path: Path) -> dict[str, object]:
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(Problem(str(path), None, "file", str(error), "valid TOML")) from None
    unknown = [name for name in settings if name != "ledger"]
    if unknown:
        raise ConfigurationError(Problem(str(path), None, unknown[0], "unknown setting", "ledger", "ledger"))
    return settings
