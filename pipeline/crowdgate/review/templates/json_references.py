"""Fields of schemas in JSON with the parts that they refer to: `$ref`, `allOf`, and one of several beside null."""

from typing import Any

MOST_STEPS = 8
"""The greatest number of references that follow each other."""
_JOINED = ("allOf", "anyOf", "oneOf")


def whole_field(stated: dict[str, Any], root: Any, depth: int = 0) -> dict[str, Any]:
    """Return a field with the facts of its references into the document `root`; its own facts count before these."""
    if depth > MOST_STEPS:
        return stated
    parts = [_referred(stated["$ref"], root)] if isinstance(stated.get("$ref"), str) else []
    joined = {key: _parts(stated[key], all_of=key == "allOf") for key in _JOINED if isinstance(stated.get(key), list)}
    used = {key for key, each in joined.items() if each}
    merged: dict[str, Any] = {}
    for part in [*parts, *(part for each in joined.values() for part in each)]:
        merged |= whole_field(part, root, depth + 1)
    return {**merged, **{key: each for key, each in stated.items() if key not in used}}


def _parts(listed: list[Any], *, all_of: bool) -> list[dict[str, Any]]:
    """Return the parts that all hold; of alternatives only one beside null, unless it is a value of a list."""
    known = [each for each in listed if isinstance(each, dict) and each.get("type") != "null"]
    return known if all_of or (len(known) == 1 and "const" not in known[0]) else []


def _referred(reference: str, root: Any) -> dict[str, Any]:
    """Return the mapping at a place of the document; an empty one for other places."""
    found = root
    for key in reference.removeprefix("#/").split("/") if reference.startswith("#/") else ["#"]:
        found = found.get(key.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}
