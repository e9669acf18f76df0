"""The statements of a manifest as places and values, whatever their names."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crowdgate import manifest
from crowdgate.measures import MEASURES, MeasureClass

Claims = dict[str, Any]
Place = tuple[str | int, ...]
EXACT = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?(/\d+)?")
"""An exact number of a manifest, as text."""


def claims_of(folder: Path) -> Claims:
    """Return the manifest as JSON."""
    found: Claims = json.loads((folder / manifest.NAME).read_bytes())
    return found


def say(folder: Path, claims: Claims) -> None:
    """Write the manifest as canonical JSON."""
    (folder / manifest.NAME).write_bytes(manifest.canonical(claims))


def walk(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield every value with its place, the whole first."""
    yield place, value
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield from walk(each, (*place, key))


def shown(claims: Claims, place: Place) -> str:
    """Return a place as text; a verdict on a charged measure is marked as such."""
    words, value = [""], claims
    for key in place:
        value = value[key]  # type: ignore[index]
        measure = MEASURES.get(str(value.get("measure"))) if isinstance(value, dict) else None
        charged = measure is not None and measure.reads is MeasureClass.CHARGED
        words.append(f"{key} charged" if charged else str(key))
    return "/".join(words) or "/"


def leaves(claims: Claims) -> dict[str, Any]:
    """Return every value without children, by its place as text; including empty lists and objects."""
    return {
        shown(claims, place): value for place, value in walk(claims) if not (value and isinstance(value, dict | list))
    }


def put(claims: Claims, place: Place, new: Any) -> Any:
    """Return the manifest with another value at a place."""
    if not place:
        return new
    holder: Any = claims
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = new
    return claims
