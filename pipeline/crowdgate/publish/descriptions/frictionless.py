"""Data Package of Frictionless Data, version 2 (https://datapackage.org): files, and the fields of released rows."""

from typing import Any

from crowdgate.publish.descriptions.release_description import (
    DescribedColumn,
    DescribedFile,
    ReleaseDescription,
    json_bytes,
)


def write(release: ReleaseDescription) -> bytes:
    """Return datapackage.json."""
    return json_bytes({
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": release.title,
        "id": release.id,
        "title": release.title,
        "description": release.text,
        "version": f"{release.version}/{release.slot}",
        "contributors": [{"title": release.owner, "roles": ["publisher"]}],
        "resources": [_resource(file, release) for file in release.files],
    })  # fmt: skip


def _resource(file: DescribedFile, release: ReleaseDescription) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": file.name.lower().replace(".", "-").replace(" ", "-"),
        "path": file.name,
        "format": file.suffix,
        "mediatype": file.media_type,
        "bytes": file.bytes,
        "hash": f"sha256:{file.sha256}",
    }
    if file in release.rows:
        fields = [_field(column) for column in release.columns]
        found |= {"type": "table", "schema": {"fieldsMatch": "subset", "fields": fields}}
    if file.suffix == "csv":
        found["encoding"] = "utf-8"
    return found


def _field(column: DescribedColumn) -> dict[str, Any]:
    found: dict[str, Any] = {"name": column.name, "type": "string"}
    if column.description:
        found["description"] = column.description
    if column.labels:
        found["constraints"] = {"enum": list(column.labels)}
    return found
