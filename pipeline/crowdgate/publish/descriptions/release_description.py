"""The facts of a release that descriptions state."""

import csv
import io
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from crowdgate.limits import LARGEST_LISTING, MOST_DESCRIBED_VALUES
from crowdgate.manifest import Manifest

MEDIA_TYPES = {
    "parquet": "application/vnd.apache.parquet", "csv": "text/csv", "json": "application/json", "md": "text/markdown",
    "html": "text/html",
}  # fmt: skip
"""IANA media types by the suffix of a file."""


@dataclass(frozen=True)
class DescribedColumn:
    """A released column at its finest listed level. `labels` is empty for more values than descriptions list."""

    name: str
    level: str
    description: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class DescribedFile:
    """A file of a release: its size in bytes, and its SHA-256."""

    name: str
    bytes: int
    sha256: str

    @property
    def suffix(self) -> str:
        """The suffix of the name, without the dot."""
        return self.name.rpartition(".")[2]

    @property
    def media_type(self) -> str:
        """The IANA media type."""
        return MEDIA_TYPES.get(self.suffix, "application/octet-stream")


@dataclass(frozen=True)
class ReleaseDescription:
    """A release in the terms that all descriptions share. `guarantee` is its privacy guarantee in words."""

    id: str
    title: str
    version: str
    slot: str
    text: str
    owner: str
    contact: str | None
    guarantee: str
    files: tuple[DescribedFile, ...]
    columns: tuple[DescribedColumn, ...]

    @property
    def day(self) -> str:
        """The day of the slot, YYYY-MM-DD."""
        return self.slot[:10]

    @property
    def rows(self) -> tuple[DescribedFile, ...]:
        """The files of released rows."""
        return tuple(each for each in self.files if each.name.rpartition(".")[0] == "data")


def describe(manifest: Manifest, dictionary: bytes, others: Collection[str]) -> ReleaseDescription:
    """Return the facts of a release by its manifest and dictionary.csv. Of its files all but `others` are listed."""
    release, about = manifest.release, manifest.about
    files = tuple(
        DescribedFile(name, file.bytes, file.sha256)
        for name, file in sorted(manifest.files.items())
        if name not in others
    )
    return ReleaseDescription(
        release.id,
        release.policy,
        release.version,
        release.slot,
        str(about.description),
        str(about.owner),
        None if about.contact is None else str(about.contact),
        " ".join(map(str, manifest.guarantee.words)),
        files,
        _columns(dictionary),
    )


def _columns(dictionary: bytes) -> tuple[DescribedColumn, ...]:
    csv.field_size_limit(LARGEST_LISTING)
    found: dict[str, dict[str, list[str]]] = {}
    words: dict[str, str] = {}
    for line in csv.DictReader(io.StringIO(dictionary.decode(), newline="")):
        found.setdefault(line["column"], {}).setdefault(line["level"], []).append(line["label"])
        words[line["column"]] = line["description"]
    return tuple(_column(name, levels, words[name]) for name, levels in found.items())


def _column(name: str, levels: Mapping[str, list[str]], words: str) -> DescribedColumn:
    level, labels = max(levels.items(), key=lambda each: len(each[1]))
    return DescribedColumn(name, level, words, tuple(labels) if len(labels) <= MOST_DESCRIBED_VALUES else ())


def json_bytes(value: Mapping[str, Any]) -> bytes:
    """Return a JSON document in UTF-8, keys in their order, without what is None."""
    stated = {name: each for name, each in value.items() if each is not None}
    return (json.dumps(stated, ensure_ascii=False, indent=1) + "\n").encode()
