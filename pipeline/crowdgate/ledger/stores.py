"""Kinds of ledger databases by the scheme of their URLs. A new one is a file here and a line below."""

from pathlib import Path

from crowdgate.ledger import postgresql, sqlite
from crowdgate.ledger.store import StoreKind

STORES: dict[str, StoreKind] = {
    "sqlite": sqlite.KIND,
    "postgresql": postgresql.KIND,
}


def kind_of(url: str) -> StoreKind:
    """Return the kind of database that a URL names. Raises ValueError with the form of a URL."""
    found = STORES.get(url.partition(":")[0])
    if found is None:
        raise ValueError(" or ".join(kind.example for kind in STORES.values()))
    return found


def placed(url: str, folder: Path) -> str:
    """Return a ledger URL whose relative path is made absolute below `folder`. Raises ValueError with the form of a
    URL.
    """
    return kind_of(url).placed(url, folder)
