"""Settings: the ledger is named by an option, then CROWDGATE_LEDGER, then crowdgate.toml of the working copy.

The signing key is named by CROWDGATE_SIGNING_KEY, then a credential of systemd, then crowdgate.toml, which may name a
signer instead. The passphrase of an encrypted key comes from a variable, a credential or the terminal. This file names
other trusted keys, revoked keys, the folders of heads, the style of pages, the retention of private records, and the
places of events and metrics. No message quotes the value of a setting for a private key, a passphrase, or a URL.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from getpass import getpass
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
WEBHOOK_VARIABLE = "CROWDGATE_EVENT_WEBHOOK"
CREDENTIALS_VARIABLE = "CREDENTIALS_DIRECTORY"
"""The variable in which systemd names the folder of a service's credentials."""
KEY_CREDENTIAL = "crowdgate-signing-key"
SIGNER_VARIABLE = "CROWDGATE_SIGNER"
PASSPHRASE_VARIABLE = "CROWDGATE_SIGNING_PASSPHRASE"
PASSPHRASE_CREDENTIAL = "crowdgate-signing-passphrase"
WEBHOOK_CREDENTIAL = "crowdgate-event-webhook"
STANDARD_ERROR = "-"
"""The place of `event_log` that stands for standard error."""
LONGEST_NAME = 20
MOST_DAYS = 36_500
"""The longest retention of private records, in days: a hundred years."""
NAMES = (
    "ledger", "signing_key", "signer", "trusted_keys", "revoked_keys", "heads", "lang", "decimal_mark",
    "private_record_days", "event_log", "event_webhook", "event_openlineage", "metrics_file",
)  # fmt: skip
_WEB = re.compile(r"https?://[^\s/]+(/\S*)?", re.ASCII)
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", re.ASCII)
Placed = Callable[[str, Path], str]
"""Function of (URL of a ledger as a setting states it, folder of that setting) that returns the completed URL; raises
ValueError that describes a valid URL."""


def ledger_url(root: Path, option: str | None, placed: Placed) -> str:
    """Return the URL of the ledger: that of the option, of CROWDGATE_LEDGER, or of crowdgate.toml, where a relative
    path is relative to this file.

    Raises ConfigurationError if no ledger is named, or the file is invalid.
    """
    named = option or os.environ.get(LEDGER_VARIABLE)
    if named:
        return _absolute_url("--ledger or CROWDGATE_LEDGER", named, Path.cwd(), placed)
    path = root / FILE
    url = _settings(path).get("ledger")
    if not isinstance(url, str) or not url:
        expected = 'ledger = "sqlite:///FILE", the option --ledger or CROWDGATE_LEDGER'
        raise ConfigurationError(
            Problem(
                str(path),
                None,
                "ledger",
                "no ledger is named",
                expected,
                code=Code.SETTING,
            )
        )
    return _absolute_url(str(path), url, root, placed)


def signing_key(root: Path) -> SigningKey | None:
    """Return the key that signs releases, or None if none is named; a path is relative to crowdgate.toml.

    CROWDGATE_SIGNING_KEY holds the key itself, as PEM; next comes the credential crowdgate-signing-key of a systemd
    service. A named key that can't be used is never ignored: raises ConfigurationError, also for an empty variable and
    for a file that others may read.
    """
    pem = os.environ.get(KEY_VARIABLE)
    if pem is not None:
        return keys.signing_key(pem.encode(errors="replace"), KEY_VARIABLE, passphrase)
    credential = _credential(KEY_CREDENTIAL)
    if credential is not None:
        return keys.signing_key(credential, f"the credential {KEY_CREDENTIAL}", passphrase)
    path = root / FILE
    named, signer = _settings(path).get("signing_key"), _text(root, "signer")
    if signer is not None:
        return _external_key(path, signer, alone=named is None)
    if named is None:
        return None
    place = f"{path}: signing_key"
    if not isinstance(named, str) or not named or "\0" in named:
        raise _unusable(place, "no name of a file")
    if is_url(named):
        raise _unusable(place, "a URL")
    return keys.signing_key(_secret(root / named, place), place, passphrase)


def _external_key(path: Path, named: str, *, alone: bool) -> SigningKey:
    """Return the key of the signer that crowdgate.toml names. Raises ConfigurationError."""
    if not alone:
        found, expected = "signing_key as well", "either signing_key or signer"
        raise ConfigurationError(Problem(str(path), None, "signer", found, expected, code=Code.SETTING))
    if os.environ.get(SIGNER_VARIABLE) != named:  # it is code, and crowdgate.toml may be somebody else's
        expected = f"{SIGNER_VARIABLE}={named} in the environment, once you trust this code"
        raise ConfigurationError(Problem(str(path), None, "signer", "code to run", expected, code=Code.SETTING))
    from crowdgate.signing.signer import external_key

    return external_key(named, f"{path}: signer")


def passphrase() -> bytes:
    """Return the passphrase of the encrypted key: that of CROWDGATE_SIGNING_PASSPHRASE, of the credential
    crowdgate-signing-passphrase, or what a person types at the terminal, once in a process. Raises ConfigurationError.
    """
    stated = os.environ.get(PASSPHRASE_VARIABLE)
    if stated:
        return stated.encode(errors="surrogateescape")
    credential = _credential(PASSPHRASE_CREDENTIAL)
    found = _typed_passphrase() if credential is None else credential.rstrip(b"\r\n")
    if found:
        return found
    expected = f"{PASSPHRASE_VARIABLE}, the credential {PASSPHRASE_CREDENTIAL}, or a terminal"
    raise ConfigurationError(Problem("the signing key", None, "passphrase", "none", expected, code=Code.SETTING))


@cache
def _typed_passphrase() -> bytes:
    """Return what a person types at the terminal; nothing where there is no terminal."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        return b""
    return getpass("Passphrase of the signing key: ", sys.stderr).encode(errors="surrogateescape")


def signing_key_file(root: Path) -> Path | None:
    """Return the file that crowdgate.toml names as the key, whether or not it can be used; None if it names none."""
    path = root / FILE
    named = _settings(path).get("signing_key")
    return root / named if isinstance(named, str) and named and "\0" not in named else None


def configured_key(root: Path) -> SigningKey:
    """Return the key that signs here, for commands that need one. Raises ConfigurationError if none is configured."""
    key = signing_key(root)
    if key is None:
        expected = f'signing_key = "FILE", or {KEY_VARIABLE} with the key itself'
        raise ConfigurationError(
            Problem(str(root / FILE), None, "signing_key", "no key is named", expected, code=Code.SETTING)
        )
    return key


def trusted_keys(root: Path) -> tuple[PublicKey, ...]:
    """Return the trusted keys: the key that signs here, and those that `trusted_keys` in crowdgate.toml lists as files
    of public keys, relative to it. Empty if no key is configured. Raises ConfigurationError."""
    own, named = signing_key(root), _paths(root, "trusted_keys", "FILE.pub", "files of public keys of this machine")
    listed = [key for path in named for key in keys.public_keys(path)]
    return tuple({key.id: key for key in [*([own.public] if own else []), *listed]}.values())


def revoked_keys(root: Path) -> tuple[PublicKey, ...]:
    """Return the keys whose approvals no longer count: those that `revoked_keys` in crowdgate.toml lists as files of
    public keys, relative to it. Raises ConfigurationError."""
    named = _paths(root, "revoked_keys", "FILE.pub", "files of public keys of this machine")
    return tuple(key for path in named for key in keys.public_keys(path))


def key_of_file(path: Path) -> SigningKey:
    """Return the private key in a file that only its owner may read. Raises ConfigurationError."""
    return keys.signing_key(_secret(path, "--key"), "--key", passphrase)


def head_folders(root: Path) -> tuple[Path, ...]:
    """Return the folders that `heads` in crowdgate.toml lists, relative to it, in which the ledger's heads are kept.
    Empty if none is listed. Raises ConfigurationError."""
    return _paths(root, "heads", "FOLDER", "folders of this machine, such as one on another disk")


def _paths(root: Path, setting: str, example: str, kind: str) -> tuple[Path, ...]:
    """Return the paths that a setting of crowdgate.toml lists. Raises ConfigurationError for anything else."""
    path = root / FILE
    named = _settings(path).get(setting, [])
    if not isinstance(named, list) or not all(isinstance(name, str) and name and "\0" not in name for name in named):
        expected = f'{setting} = ["{example}", ...]'
        raise ConfigurationError(Problem(str(path), None, setting, "no list of paths", expected, code=Code.SETTING))
    if any(is_url(name) for name in named):
        raise ConfigurationError(Problem(str(path), None, setting, "a URL", kind, code=Code.SETTING))
    return tuple(root / name for name in named)


@dataclass(frozen=True)
class PageStyle:
    """The style of pages for people: the language that they declare, and the decimal mark of their numbers."""

    lang: str = "en"
    decimal_mark: str = "."


def page_style(root: Path) -> PageStyle:
    """Return the style that crowdgate.toml states. Raises ConfigurationError for an invalid language tag or decimal
    mark."""
    path, default = root / FILE, PageStyle()
    settings = _settings(path)
    lang, mark = settings.get("lang", default.lang), settings.get("decimal_mark", default.decimal_mark)
    if not isinstance(lang, str) or not LANGUAGE.fullmatch(lang):
        expected = "a tag of a language such as de or en-GB"
        raise ConfigurationError(Problem(str(path), None, "lang", "no language", expected, code=Code.SETTING))
    if mark not in (".", ","):
        raise ConfigurationError(Problem(str(path), None, "decimal_mark", "no mark", '"." or ","', code=Code.SETTING))
    return PageStyle(lang, str(mark))


def private_record_days(root: Path) -> int | None:
    """Return the number of days after which private records should be deleted, or None if crowdgate.toml states none.

    Raises ConfigurationError.
    """
    path = root / FILE
    days = _settings(path).get("private_record_days")
    if days is None or (type(days) is int and 1 <= days <= MOST_DAYS):
        return days
    expected = f"a whole number of days from 1 to {MOST_DAYS:,}, such as 365"
    raise ConfigurationError(
        Problem(str(path), None, "private_record_days", "no number of days", expected, code=Code.SETTING)
    )


@dataclass(frozen=True)
class EventChannels:
    """The places that events and metrics are written to; None where no setting names one.

    `log` is a file or STANDARD_ERROR, `webhook` a URL, `openlineage` a file or a URL, `metrics` a file.
    """

    log: str | None = None
    webhook: str | None = field(default=None, repr=False)
    openlineage: str | None = field(default=None, repr=False)
    metrics: str | None = None


def event_channels(root: Path) -> EventChannels:
    """Return the places of events and metrics that crowdgate.toml names; files are relative to it.
    CROWDGATE_EVENT_WEBHOOK, then the credential crowdgate-event-webhook, override `event_webhook`. Raises
    ConfigurationError."""
    log, metrics = _text(root, "event_log"), _text(root, "metrics_file")
    secret = _credential(WEBHOOK_CREDENTIAL)
    credential = None if secret is None else secret.decode(errors="replace").strip()
    webhook = os.environ.get(WEBHOOK_VARIABLE) or credential or _text(root, "event_webhook")
    lineage = _text(root, "event_openlineage")
    for setting, named in (("event_log", log), ("metrics_file", metrics)):
        if named is not None and is_url(named):
            raise _wrong_place(root, setting, "a URL", "a file of this machine")
    for setting, named in (("event_webhook", webhook), ("event_openlineage", lineage)):
        web = named is not None and _WEB.fullmatch(named) is not None
        if named is not None and not web and (setting == "event_webhook" or is_url(named)):
            raise _wrong_place(root, setting, "no URL of the web", "http:// or https:// with a host")
    home = root.absolute()
    return EventChannels(
        log if log in (None, STANDARD_ERROR) else str(home / str(log)),
        webhook,
        lineage if lineage is None or is_url(lineage) else str(home / lineage),
        None if metrics is None else str(home / metrics),
    )


def _text(root: Path, setting: str) -> str | None:
    named = _settings(root / FILE).get(setting)
    if named is not None and (not isinstance(named, str) or not named or not named.isprintable()):
        raise _wrong_place(root, setting, "no text", "a file or a URL")
    return named


def _wrong_place(root: Path, setting: str, found: str, expected: str) -> ConfigurationError:
    return ConfigurationError(Problem(str(root / FILE), None, setting, found, expected, code=Code.SETTING))


def _credential(name: str) -> bytes | None:
    """Return the bytes of a credential that systemd hands to this service; None if there is none of this name.

    The bits of its group are those of the list by which systemd lets the service's user read it. Raises
    ConfigurationError for a credential that can't be read, or that everybody can use.
    """
    folder = os.environ.get(CREDENTIALS_VARIABLE)
    path = Path(folder or "") / name
    if not folder or not os.path.lexists(path):
        return None
    return _secret(path, f"the credential {name}", stat.S_IRWXO)


def _secret(path: Path, place: str, refused: int = stat.S_IRWXG | stat.S_IRWXO) -> bytes:
    """Return the bytes of a file that only its owner can read: a file with a bit of `refused` is an error. Its message
    never quotes the file's name, as a key may be written in its place."""
    try:
        with plain_file(path) as file:
            if os.fstat(file.fileno()).st_mode & refused:
                raise _unusable(place, "a file that others than its owner may use; chmod 600 it")
            return read_bounded(file, LARGEST_KEY_FILE)
    except OSError as error:
        raise _unusable(place, f"the file that it names: {error.strerror or 'unreadable'}") from None


def _unusable(place: str, found: str) -> ConfigurationError:
    expected = 'signing_key = "FILE", a private key that only its owner may read'
    return ConfigurationError(Problem(place, None, "key", found, expected, code=Code.SETTING))


def _absolute_url(place: str, url: str, folder: Path, placed: Placed) -> str:
    """Return the completed URL of a ledger. The message of an error never quotes it, as it may hold a password."""
    try:
        return placed(url, folder)
    except ValueError as error:
        raise ConfigurationError(
            Problem(place, None, "ledger", "not the URL of a ledger", str(error), code=Code.SETTING)
        ) from None


def _settings(path: Path) -> dict[str, object]:
    """Return the settings in crowdgate.toml by name; none if there is no such file. Raises ConfigurationError for an
    invalid file."""
    if not os.path.lexists(path):
        return {}
    try:
        settings = tomllib.loads(read_plain(path, LARGEST_DOCUMENT).decode())
    except (OSError, ValueError, RecursionError) as error:
        found = "nested too deeply" if isinstance(error, RecursionError) else getattr(error, "strerror", None)
        raise ConfigurationError(
            Problem(str(path), None, "file", found or str(error), "valid TOML", code=Code.SETTING)
        ) from None
    unknown = [name for name in settings if name not in NAMES]
    if unknown:
        hint = nearest(unknown[0], NAMES)
        # the name may be a key that was written in the wrong place
        shown = unknown[0] if hint or len(unknown[0]) <= LONGEST_NAME else "a name"
        raise ConfigurationError(
            Problem(str(path), None, shown, "unknown setting", " or ".join(NAMES), hint, Code.SETTING)
        )
    return settings
