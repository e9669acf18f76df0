"""Croissant metadata, version 1.0 (https://docs.mlcommons.org/croissant): files, and the fields of released rows."""

from typing import Any

from crowdgate.publish.descriptions.release_description import DescribedFile, ReleaseDescription, json_bytes

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "column": "cr:column",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "recordSet": "cr:recordSet",
    "source": "cr:source",
}


def write(release: ReleaseDescription) -> bytes:
    """Return croissant.json."""
    return json_bytes({
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": release.title,
        "identifier": release.id,
        "description": f"{release.text} {release.guarantee}".strip(),
        "version": release.version,
        "datePublished": release.day,
        "creator": {"@type": "sc:Organization", "name": release.owner},
        "distribution": [_file(file) for file in release.files],
        "recordSet": [_rows(file, release) for file in release.rows],
    })  # fmt: skip


def _file(file: DescribedFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": file.name,
        "contentUrl": file.name,
        "contentSize": f"{file.bytes} B",
        "encodingFormat": file.media_type,
        "sha256": file.sha256,
    }


def _rows(file: DescribedFile, release: ReleaseDescription) -> dict[str, Any]:
    name = f"rows-{file.suffix}"
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{name}/{column.name}",
            "name": column.name,
            "description": column.description,
            "dataType": "sc:Text",
            "source": {"fileObject": {"@id": file.name}, "extract": {"column": column.name}},
        }
        for column in release.columns
    ]
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields}
