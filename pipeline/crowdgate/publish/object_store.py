"""An object store with the protocol of S3, as a destination: `s3://BUCKET/PREFIX`.

An object is written whole or not at all. A new object is put on condition that none has its name, so of two writers one
succeeds; a store that ignores the condition is refused before a release is charged (`objects.claim_object`). Endpoint,
region and credentials are those of the environment variables AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID and so on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate.errors import EnvironmentFault
from crowdgate.limits import MOST_OBJECTS
from crowdgate.system.extras import S3, need

if TYPE_CHECKING:
    from obstore.store import S3Store

SCHEME = "s3://"
EXAMPLE = f"{SCHEME}BUCKET/PREFIX"
OUTBOX = "outbox"
"""The folder of a working copy that holds the custodian's own copy of what is in object stores."""
TIMEOUT = timedelta(seconds=60)
RETRIES = 3
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", re.ASCII)
_PART = re.compile(r"(?!\.\.?$)[A-Za-z0-9._=-]{1,100}", re.ASCII)


@dataclass(frozen=True)
class ObjectAddress:
    """A bucket and a prefix inside it, without slashes at its ends."""

    bucket: str
    prefix: str

    def __str__(self) -> str:
        return f"{SCHEME}{self.bucket}/{self.prefix}"


def is_object_url(text: str) -> bool:
    """Return whether a text names an object store."""
    return text.startswith(SCHEME)


def parse_object_url(url: str) -> ObjectAddress:
    """Return the address that a URL names. Raises ValueError with the form of a URL."""
    bucket, _, prefix = url.removeprefix(SCHEME).rstrip("/").partition("/")
    parts = prefix.split("/")
    if not is_object_url(url) or not _BUCKET.fullmatch(bucket) or not all(map(_PART.fullmatch, parts)):
        raise ValueError(f"{EXAMPLE}, with letters, digits and . _ = - in PREFIX")
    return ObjectAddress(bucket, prefix)


def local_folder(home: Path, to: str) -> Path:
    """Return the folder of a destination that a policy of the working copy `home` names: for an object store the
    custodian's own copy in its outbox.
    """
    if not is_object_url(to):
        return home / to
    address = parse_object_url(to)
    return home / OUTBOX / address.bucket / address.prefix


def address_of(home: Path, root: Path) -> ObjectAddress | None:
    """Return the address whose copy the folder `root` is; None for a folder outside the outbox of `home`."""
    outbox, folder = (home / OUTBOX).resolve(), root.resolve()
    if not folder.is_relative_to(outbox) or len(folder.relative_to(outbox).parts) < 2:
        return None
    bucket, *parts = folder.relative_to(outbox).parts
    return ObjectAddress(bucket, "/".join(parts))


@dataclass(frozen=True)
class StoredObject:
    """The bytes of an object, and the tag by which the store knows this version of it."""

    data: bytes
    tag: str


class TooLarge(EnvironmentFault):
    """An error: an object has more bytes than its reader accepts."""


class ObjectStore:
    """The objects below an address. Raises EnvironmentFault, without credentials, for a store that fails."""

    def __init__(self, address: ObjectAddress) -> None:
        need(S3, str(address))
        self.address, self._store = address, _client(address)

    def put_new(self, name: str, data: bytes) -> bool:
        """Put an object on condition that none has its name; return False if one has."""
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        with self._faults(name):
            try:
                self.send(name, data, "create")
            except (AlreadyExistsError, PreconditionError):
                return False
        return True

    def replace(self, name: str, data: bytes, tag: str | None) -> bool:
        """Put an object in place of its version `tag` (None: of no object); return False if another one is there."""
        from obstore.exceptions import PreconditionError

        if tag is None:
            return self.put_new(name, data)
        with self._faults(name):
            try:
                self.send(name, data, {"e_tag": tag})
            except PreconditionError:
                return False
        return True

    def read(self, name: str, most: int) -> StoredObject | None:
        """Return an object, or None if there is none. Raises TooLarge as soon as more than `most` bytes arrive."""
        with self._faults(name):
            try:
                return self.receive(name, most)
            except FileNotFoundError:
                return None

    def remove(self, name: str) -> None:
        """Remove an object; a missing one is no error."""
        with self._faults(name):
            try:
                self.delete(name)
            except FileNotFoundError:
                return

    def names(self, below: str) -> list[str]:
        """Return the names of all objects below a name, in order."""
        with self._faults(below):
            return self.list_names(below)

    def send(self, name: str, data: bytes, mode: Any) -> None:
        """Put an object under a condition, in one request."""
        import obstore

        obstore.put(self._store, name, data, mode=mode, use_multipart=False)

    def receive(self, name: str, most: int) -> StoredObject:
        """Get an object of at most `most` bytes."""
        import obstore

        found, data = obstore.get(self._store, name), bytearray()
        for chunk in found:
            data += bytes(chunk)
            if len(data) > most:
                raise TooLarge(f"{self.address}/{name}: more than {most:,} bytes")
        return StoredObject(bytes(data), str(found.meta["e_tag"]))

    def delete(self, name: str) -> None:
        """Delete an object."""
        import obstore

        obstore.delete(self._store, name)

    def list_names(self, below: str) -> list[str]:
        """List the names of the objects below a name, at most MOST_OBJECTS."""
        import obstore

        found: list[str] = []
        for batch in obstore.list(self._store, below):
            found += (str(each["path"]) for each in batch)
            if len(found) > MOST_OBJECTS:
                raise TooLarge(f"{self.address}/{below}: more than {MOST_OBJECTS:,} objects")
        return sorted(found)

    @contextmanager
    def _faults(self, name: str) -> Iterator[None]:
        from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError

        try:
            yield
        except (PermissionDeniedError, UnauthenticatedError):
            raise EnvironmentFault(f"{self.address}/{name}: the store refuses these credentials") from None
        except (BaseError, OSError):
            raise EnvironmentFault(
                f"{self.address}/{name}: the object store fails or can't be reached. Run the command again"
            ) from None


def _client(address: ObjectAddress) -> S3Store:
    from obstore.store import S3Store

    endpoint = os.environ.get("AWS_ENDPOINT_URL", os.environ.get("AWS_ENDPOINT", ""))
    return S3Store(
        address.bucket,
        prefix=address.prefix,
        client_options={"timeout": TIMEOUT, "allow_http": endpoint.startswith("http://")},
        retry_config={"max_retries": RETRIES, "retry_timeout": TIMEOUT},
    )
