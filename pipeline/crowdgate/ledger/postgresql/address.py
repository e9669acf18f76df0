"""URLs of ledgers in PostgreSQL: `postgresql://USER@HOST/DATABASE`, which may end with `#FOLDER`, without a password.

The folder is on this machine, by default `ledger` in the working copy. It holds what a ledger's file has next to it:
private records, stored figures and the attested position.
"""

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

PREFIX = "postgresql://"
EXAMPLE = f"{PREFIX}USER@HOST/DATABASE"
FOLDER = "ledger"
FILE = "postgresql"
"""The name in the folder that stands for the ledger: no such file is made."""
LONGEST_URL = 4095
_OPTIONS = (
    "host", "port", "user", "passfile", "connect_timeout", "sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl",
    "channel_binding", "target_session_attrs", "service", "gssencmode", "krbsrvname",
)  # fmt: skip
"""Options that a URL may have after `?`: those of libpq that choose and secure a connection, none for the session and
none that lets a server learn the password."""


@dataclass(frozen=True)
class Address:
    """A database, the text that messages name it by, and the folder on this machine."""

    connection: str = field(repr=False)
    name: str
    folder: Path


def parse_address(url: str, home: Path) -> Address:
    """Return the address in a URL; a relative folder is one of `home`. Raises ValueError with the form of a URL."""
    try:
        parts = urlsplit(url)
        port, secret, options = (
            parts.port,
            parts.password,
            parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)),
        )
    except ValueError:
        raise ValueError(_expected()) from None
    database = unquote(parts.path[1:])
    known = secret is None and all(name in _OPTIONS and not _names_code(name, value) for name, value in options)
    plain = len(url) <= LONGEST_URL and url.isprintable() and database.isprintable() and "/" not in database
    if not url.startswith(PREFIX) or not database or not known or not plain:
        raise ValueError(_expected())
    host = parts.hostname or dict(options).get("host") or "this machine"
    name = f"the database {database} on {host}" + (f":{port}" if port else "")
    return Address(url.partition("#")[0], name, (home / (parts.fragment or FOLDER)).resolve())


def absolute_url(url: str, home: Path) -> str:
    """Return the URL with its folder, which is made absolute below `home`. Raises ValueError with the form of a URL."""
    address = parse_address(url, home)
    return f"{address.connection}#{address.folder}"


def _names_code(name: str, value: str) -> bool:
    """Return whether a key is that of an engine of OpenSSL, ENGINE:KEY, which libpq would load: a library as ENGINE
    runs, and the URL may be somebody else's.
    """
    return name == "sslkey" and ":" in value


def _expected() -> str:
    more = "options such as ?sslmode=verify-full, and #FOLDER for private records"
    return f"{EXAMPLE}, perhaps with {more}; the password stands in PGPASSFILE or PGPASSWORD"
