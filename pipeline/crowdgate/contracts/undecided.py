"""Values of a draft that a person must decide: `CHANGE (what to write)`."""

import re
from collections.abc import Iterator
from typing import Any

from crowdgate.documents.yaml_text import Document, Location
from crowdgate.errors import Code, Problem

MARK = "CHANGE ("
_LEFT = re.compile(r"CHANGE \((.*)\)", re.DOTALL)


def change(words: str) -> str:
    """Return the text of a value that is left to decide; `words` say what to write."""
    return f"{MARK}{words})"


def undecided(document: Document) -> list[Problem]:
    """Return a problem for each value of a document that is left to decide."""
    if MARK not in document.text:
        return []
    return [
        document.problem(at, "a value that is left for you to decide", words, None, Code.UNDECIDED, where=where)
        for at, words, where in _left(document.data, (), ())
    ]


def _left(value: Any, at: Location, names: tuple[str, ...]) -> Iterator[tuple[Location, str, str]]:
    """Yield the place, the words and the name of each value that is left: a column's name, and the fact's."""
    if isinstance(value, str) and (found := _LEFT.fullmatch(value)):
        yield at, found[1], ".".join(names) or str(at[-1])
    if isinstance(value, dict):
        own = [value[key] for key in ("name", "property") if isinstance(value.get(key), str)]
        for key, inside in value.items():
            yield from _left(inside, (*at, key), (*names, *own, *([key] if not own else [])))
    for i, inside in enumerate(value if isinstance(value, list) else ()):
        yield from _left(inside, (*at, i), names[-1:] if at[-1:] in (("properties",), ("schema",)) else names)
