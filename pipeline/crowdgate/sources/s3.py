"""Tables in an object store with the interface of S3, by `pyarrow.fs`: an object, or all objects below a prefix.

Keys come from the environment only (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION): no
profile and no service of the machine is asked. An object's state is its size, its ETag and its version, compared before
and after reading.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate.errors import EnvironmentFault, FileFault
from crowdgate.sources.files import FileFormat, FileSource, HeaderReader, header_of, open_files
from crowdgate.sources.locations import Stamp, TableFile, is_of_tools, other_folder, partition, table_files

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract
    from crowdgate.sources.table_header import TableHeader

_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_TOKEN, _REGION = "AWS_SESSION_TOKEN", "AWS_REGION"


@dataclass(frozen=True)
class ObjectFile:
    """An object of a store: its path, `BUCKET/KEY`, and the store's URL (empty: Amazon's)."""

    endpoint: str
    path: str = field(repr=False)

    @property
    def name(self) -> str:
        """The last part of the key."""
        return self.path.rstrip("/").rpartition("/")[2]

    @property
    def variables(self) -> Sequence[str]:
        """The variables that hold the keys of the store."""
        return (*_KEYS, _TOKEN, _REGION)

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """Open the object for reading at any position."""
        with store(self.endpoint).open_input_file(self.path) as file:
            yield file

    def stamp(self) -> Stamp:
        """Return the size of the object, its ETag, and its version and last change where the store states them. Raises
        FileFault without an ETag."""
        with self.opened() as file:
            stated, size = file.metadata() or {}, int(file.size())
        if not stated.get("ETag"):
            raise FileFault(f"{self.name}: the store states no ETag, so a change of the object would not be seen")
        return size, *(stated.get(name) for name in ("ETag", "VersionId", "Last-Modified"))


@lru_cache
def store(endpoint: str) -> Any:
    """Return the store at a URL (pyarrow.fs). Raises EnvironmentFault without keys in the environment."""
    from pyarrow.fs import S3FileSystem

    missing = [name for name in _KEYS if not os.environ.get(name)]
    if missing:
        raise EnvironmentFault(f"the environment has no {' and no '.join(missing)}, which reading from S3 needs")
    scheme, _, host = endpoint.rstrip("/").rpartition("://")
    return S3FileSystem(
        access_key=os.environ[_KEYS[0]],
        secret_key=os.environ[_KEYS[1]],
        session_token=os.environ.get(_TOKEN),
        region=os.environ.get(_REGION, "us-east-1"),
        endpoint_override=host or None,
        scheme=scheme or "https",
        connect_timeout=10,
        request_timeout=60,
    )


def open_objects(
    contract: Contract,
    needed: Sequence[str],
    path: Path | None,
    suffixes: tuple[str, ...],
    make: Callable[[Mapping[str, str]], FileFormat],
) -> FileSource:
    """Open the objects of one format that a contract names, or files of this machine at `path` in their place, to read
    the columns `needed`."""
    stated = contract.server.settings
    found = objects(stated, suffixes) if path is None else table_files(path, suffixes)
    return open_files(found, make(stated), needed)


def objects_header(contract: Contract, suffixes: tuple[str, ...], described: HeaderReader) -> TableHeader:
    """Return what is public of the objects that a contract names. Raises OSError if they can't be reached from here."""
    try:
        return header_of(objects(contract.server.settings, suffixes), described, contract)
    except EnvironmentFault as error:
        absent = str(error)
    raise FileNotFoundError(errno.ENOENT, absent)  # unseen from here: no fault of the contract


def objects(settings: Mapping[str, str], suffixes: tuple[str, ...]) -> list[TableFile]:
    """Return the object that a server names, or all below its prefix with one of these suffixes. Raises FileFault if
    there is none, EnvironmentFault if the store can't be reached or refuses.
    """
    trusted = os.environ.get("AWS_ENDPOINT_URL", "")
    endpoint, path = settings["endpointUrl"] or trusted, settings["location"].removeprefix("s3://")
    if endpoint.rstrip("/") != trusted.rstrip("/"):
        raise EnvironmentFault(
            f"keys of the environment are sent to no store that a contract alone names; set AWS_ENDPOINT_URL={endpoint}"
            " once you trust it"
        )
    found, why = None, ""
    try:
        found = list(_listed(endpoint, path, suffixes))
    except (OSError, ValueError) as error:  # its text may hold keys of objects, and so values
        status = re.search(r"HTTP status (\d{3})", str(error))
        why = f" (status {status[1]})" if status else ""
    if found is None:
        raise EnvironmentFault(f"the store of the table can't be read{why}")
    if not found:
        raise FileFault(f"the store has no object *{' or *'.join(suffixes)} at the location of the table")
    return found


def _listed(endpoint: str, path: str, suffixes: tuple[str, ...]) -> Iterator[TableFile]:
    from pyarrow.fs import FileSelector, FileType

    root = path.rstrip("/")
    if not path.endswith("/") and store(endpoint).get_file_info(path).type is FileType.File:
        yield TableFile(ObjectFile(endpoint, path))
        return
    below = store(endpoint).get_file_info(FileSelector(root, allow_not_found=True, recursive=True))
    for each in sorted((each for each in below if each.type is FileType.File), key=lambda each: str(each.path)):
        *folders, name = each.path.removeprefix(root + "/").split("/")
        hidden = any(part.startswith(".") for part in (*folders, name)) or any(map(is_of_tools, folders))
        if name.lower().endswith(suffixes) and not hidden:
            if not all("=" in folder for folder in folders):
                raise other_folder()
            yield TableFile(ObjectFile(endpoint, each.path), partition(folders))
