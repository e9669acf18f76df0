"""Descriptions of a release for tools that do not know Crowdgate. A new one is a file here and a line below.

They are functions of the manifest and of dictionary.csv, so `verify` makes them again, and they state no new figure.
"""

from collections.abc import Callable, Mapping

from crowdgate.manifest import Manifest
from crowdgate.publish.descriptions import croissant, dcat, ddi, frictionless
from crowdgate.publish.descriptions.release_description import ReleaseDescription, describe

DESCRIPTIONS: Mapping[str, tuple[str, Callable[[ReleaseDescription], bytes]]] = {
    "croissant": ("croissant.json", croissant.write),
    "dcat": ("dcat.jsonld", dcat.write),
    "ddi": ("ddi-codebook.xml", ddi.write),
    "frictionless": ("datapackage.json", frictionless.write),
}
"""By name in policies: the file of a description, and the function that makes it."""


def description(name: str, manifest: Manifest, dictionary: bytes) -> bytes:
    """Return the bytes of a description. `dictionary` are the bytes of dictionary.csv."""
    return DESCRIPTIONS[name][1](describe(manifest, dictionary, {file for file, _ in DESCRIPTIONS.values()}))
