"""Where the ledger is: an option, then CROWDGATE_LEDGER, then crowdgate.toml of the working copy.

And which key signs: CROWDGATE_SIGNING_KEY, then crowdgate.toml; which others are trusted, and how pages are written:
crowdgate.toml. No message holds what any of them says of a private key.
"""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate.errors import Code, ConfigurationError, Problem, nearest
from crowdgate.limits import LARGEST_DOCUMENT, LARGEST_KEY_FILE
from crowdgate.signing import keys
from crowdgate.system.regular_files import is_url, plain_file, read_bounded, read_plain

if TYPE_CHECKING:
    from crowdgate.signing.keys import PublicKey, SigningKey

FILE = "crowdgate.toml"
KEY_VARIABLE = "CROWDGATE_SIGNING_KEY"
LEDGER_VARIABLE = "CROWDGATE_LEDGER"
LONGEST_NAME = 20
NAMES = ("ledger", "signing_key", "trusted_keys", "lang", "decimal_mark")
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", re.ASCII)
Placed = Callable[[str, Path], str]
"""Makes a ledger's URL whole that a file in a folder states; raises ValueError, which says what a URL is like."""


def ledger_url(root: Path, option: str | None, placed: Placed) -> str:
    """The ledger's URL; a relative path in crowdgate.toml is relative to that file.

    Raises ConfigurationError when no place names a ledger, or the file is wrong.
    """
    named = option or os.environ.get(LEDGER_VARIABLE)
    if named:
        return _absolute_url("--ledger or CROWDGATE_LEDGER", named, Path.cwd(), placed)
    path = root / FILE
    url = _settings(path).get("ledger")
    if not isinstance(url, str) or not url:
        expected = 'ledger = "sqlite:///FILE", the option --ledger or CROWDGATE_LEDGER'
        raise ConfigurationError(Problem(str(path), None, "ledger", "no ledger is named", expected, code=Code.SETTING))
    return _absolute_url(str(path), url, root, placed)


def signing_key(root: Path) -> SigningKey | None:
    """The key that signs releases, or None where no place names one; a path is relative to crowdgate.toml.

    CROWDGATE_SIGNING_KEY holds the key itself, as PEM. A place that names a key which can't be used is never passed
    over: raises ConfigurationError, for an empty variable and a file that others may read too.
    """
    pem = os.environ.get(KEY_VARIABLE)
    if pem is not None:
        return keys.signing_key(pem.encode(errors="replace"), KEY_VARIABLE)
    path = root / FILE
    named = _settings(path).get("signing_key")
    if named is None:
        return None
    place = f"{path}: signing_key"
    if not isinstance(named, str) or not named or "\0" in named:
        raise _unusable(place, "no name of a file")
    if is_url(named):
        raise _unusable(place, "a URL")
    return keys.signing_key(_secret(root / named, place), place)


def signing_key_file(root: Path) -> Path | None:
    """The file that crowdgate.toml names as the key, whether or not it can be used; None where it names none."""
    path = root / FILE
    named = _settings(path).get("signing_key")
    return root / named if isinstance(named, str) and named and "\0" not in named else None


def configured_key(root: Path) -> SigningKey:
    """The key that signs, where one is needed. Raises ConfigurationError without one."""
    key = signing_key(root)
    if key is None:
        expected = f'signing_key = "FILE", or {KEY_VARIABLE} with the key itself'
        raise ConfigurationError(
            Problem(str(root / FILE), None, "signing_key", "no key is named", expected, code=Code.SETTING)
        )
    return key


def trusted_keys(root: Path) -> tuple[PublicKey, ...]:
    """Whose signatures count: the key that signs here, and those that `trusted_keys` in crowdgate.toml lists as files
    of public keys, relative to it. None where no key is configured. Raises ConfigurationError."""
    path, own = root / FILE, signing_key(root)
    named = _settings(path).get("trusted_keys", [])
    if not isinstance(named, list) or not all(isinstance(name, str) and name and "\0" not in name for name in named):
        expected = 'trusted_keys = ["FILE.pub", ...]'
        raise ConfigurationError(
            Problem(str(path), None, "trusted_keys", "no list of files", expected, code=Code.SETTING)
        )
    if any(is_url(name) for name in named):
        found, expected = "a URL", "files of public keys of this machine"
        raise ConfigurationError(Problem(str(path), None, "trusted_keys", found, expected, code=Code.SETTING))
    listed = [key for name in named for key in keys.public_keys(root / name)]
    return tuple({key.id: key for key in [*([own.public] if own else []), *listed]}.values())


@dataclass(frozen=True)
class PageStyle:
    """How pages for people are written: the language that they declare, and the decimal mark of their numbers."""

    lang: str = "en"
    decimal_mark: str = "."


def page_style(root: Path) -> PageStyle:
    """The style that crowdgate.toml states. Raises ConfigurationError for no tag of a language, or another mark."""
    path, default = root / FILE, PageStyle()
    settings = _settings(path)
    lang, mark = settings.get("lang", default.lang), settings.get("decimal_mark", default.decimal_mark)
    if not isinstance(lang, str) or not LANGUAGE.fullmatch(lang):
        expected = "a tag of a language such as de or en-GB"
        raise ConfigurationError(Problem(str(path), None, "lang", "no language", expected, code=Code.SETTING))
    if mark not in (".", ","):
        raise ConfigurationError(Problem(str(path), None, "decimal_mark", "no mark", '"." or ","', code=Code.SETTING))
    return PageStyle(lang, str(mark))


def _secret(path: Path, place: str) -> bytes:
    """What a file holds that only its owner can read. The message never shows its name: a key may stand there."""
    try:
        with plain_file(path) as file:
            if os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise _unusable(place, "a file that others than its owner may use; chmod 600 it")
            return read_bounded(file, LARGEST_KEY_FILE)
    except OSError as error:
        raise _unusable(place, f"the file that it names: {error.strerror or 'unreadable'}") from None


def _unusable(place: str, found: str) -> ConfigurationError:
    expected = 'signing_key = "FILE", a private key that only its owner may read'
    return ConfigurationError(Problem(place, None, "key", found, expected, code=Code.SETTING))


def _absolute_url(place: str, url: str, folder: Path, placed: Placed) -> str:
    """The URL, made whole. The message never shows it: it may hold a password."""
    try:
        return placed(url, folder)
    except ValueError as error:
        raise ConfigurationError(
            Problem(place, None, "ledger", "not the URL of a ledger", str(error), code=Code.SETTING)
        ) from None


def _settings(path: Path) -> dict[str, object]:
    """Return what crowdgate.toml says, and nothing where there is no such file. Raises ConfigurationError otherwise."""
    if not os.path.lexists(path):
        return {}
    try:
        settings = tomllib.loads(read_plain(path, LARGEST_DOCUMENT).decode())
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            Problem(
                str(path), None, "file", getattr(error, "strerror", None) or str(error), "valid TOML", code=Code.SETTING
            )
        ) from None
    unknown = [name for name in settings if name not in NAMES]
    if unknown:
        hint = nearest(unknown[0], NAMES)
        # a name may be a key that was put in the wrong place
        shown = unknown[0] if hint or len(unknown[0]) <= LONGEST_NAME else "a name"
        raise ConfigurationError(
            Problem(str(path), None, shown, "unknown setting", " or ".join(NAMES), hint, Code.SETTING)
        )
    return settings
