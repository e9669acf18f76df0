"""Where the ledger is: an option, then CROWDGATE_LEDGER, then crowdgate.toml of the working copy."""

import os
import tomllib
from pathlib import Path

from crowdgate.errors import ConfigurationError, Problem

FILE = "crowdgate.toml"
PREFIX = "sqlite:///"


def ledger_url(root: Path, option: str | None) -> str:
    """The ledger's URL; a relative path in crowdgate.toml is relative to that file.

    Raises ConfigurationError when no place names a ledger, or the file is wrong.
    """
    named = option or os.environ.get("CROWDGATE_LEDGER")
    if named:
        return _checked("--ledger or CROWDGATE_LEDGER", named)
    path = root / FILE
    url = _settings(path).get("ledger") if path.is_file() else None
    if not isinstance(url, str) or not url:
        expected = 'ledger = "sqlite:///FILE", the option --ledger or CROWDGATE_LEDGER'
        raise ConfigurationError(Problem(str(path), None, "ledger", "no ledger is named", expected))
    return PREFIX + str((root / _checked(str(path), url).removeprefix(PREFIX)).resolve())


def _checked(place: str, url: str) -> str:
    """The URL if it names a file. The message never shows it: it may hold a password."""
    if not url.startswith(PREFIX) or not url.removeprefix(PREFIX):
        raise ConfigurationError(Problem(place, None, "ledger", "not the URL of a SQLite file", f"{PREFIX}FILE"))
    return url


def _settings(path: Path) -> dict[str, object]:
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(Problem(str(path), None, "file", str(error), "valid TOML")) from None
    unknown = [name for name in settings if name != "ledger"]
    if unknown:
        raise ConfigurationError(Problem(str(path), None, unknown[0], "unknown setting", "ledger", "ledger"))
    return settings
