"""Names of the objects of a release, and the part of its manifest that they follow from."""

import hashlib
from typing import Annotated

from pydantic import ConfigDict, Field

from crowdgate.limits import MOST_FILES
from crowdgate.manifest import FileFields
from crowdgate.manifest.values import FileName, ManifestFields


class SealedFiles(ManifestFields):
    """The part of a manifest that names its files."""

    model_config = ConfigDict(extra="ignore")
    files: Annotated[dict[FileName, FileFields], Field(max_length=MOST_FILES)]


def file_name(release_id: str, name: str, stated: FileFields) -> str:
    """Return the name of the object of a file that the manifest states."""
    return f"{release_id}/files/{stated.sha256}/{name}"


def signature_name(release_id: str, sealed: bytes) -> str:
    """Return the name of the object of the signature of a manifest with these bytes."""
    return f"{release_id}/signatures/{hashlib.sha256(sealed).hexdigest()}"
