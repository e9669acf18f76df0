"""DCAT-AP 3 in JSON-LD (https://semiceu.github.io/DCAT-AP): the release as a data set, its files as distributions."""

from typing import Any

from crowdgate.publish.descriptions.release_description import DescribedFile, ReleaseDescription, json_bytes

_CONTEXT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "spdx": "http://spdx.org/rdf/terms#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
_MEDIA_TYPE = "https://www.iana.org/assignments/media-types/"


def write(release: ReleaseDescription) -> bytes:
    """Return dcat.jsonld."""
    contact = None if release.contact is None else {"@type": "vcard:Kind", "vcard:fn": release.contact}
    return json_bytes({
        "@context": _CONTEXT,
        "@id": f"urn:crowdgate:{release.id}",
        "@type": "dcat:Dataset",
        "dct:identifier": release.id,
        "dct:title": release.title,
        "dct:description": release.text,
        "dct:issued": {"@type": "xsd:date", "@value": release.day},
        "dcat:version": release.version,
        "dct:publisher": {"@type": "foaf:Agent", "foaf:name": release.owner},
        "dcat:contactPoint": contact,
        "dcat:keyword": [column.name for column in release.columns],
        "dct:provenance": {"@type": "dct:ProvenanceStatement", "dct:description": release.guarantee},
        "dcat:distribution": [_distribution(file) for file in release.files],
    })  # fmt: skip


def _distribution(file: DescribedFile) -> dict[str, Any]:
    return {
        "@type": "dcat:Distribution",
        "dct:title": file.name,
        "dcat:accessURL": {"@id": file.name},
        "dcat:downloadURL": {"@id": file.name},
        "dcat:mediaType": {"@id": _MEDIA_TYPE + file.media_type},
        "dcat:byteSize": {"@type": "xsd:nonNegativeInteger", "@value": str(file.bytes)},
        "spdx:checksum": {
            "@type": "spdx:Checksum",
            "spdx:algorithm": {"@id": "spdx:checksumAlgorithm_sha256"},
            "spdx:checksumValue": {"@type": "xsd:hexBinary", "@value": file.sha256},
        },
    }
