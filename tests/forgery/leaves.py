"""Forgeries of the manifest: every leaf, list and object, whatever its name; and its bytes."""

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from crowdgate import manifest
from tests.forgery.claims import EXACT, Place, claims_of, put, say, shown, walk
from tests.forgery.forgery import Change, Forgery

HUGE = 10**30
DEAR = ("1e9999999", "1e-999999")
"""Short texts of numbers that may take seconds to compute with."""

Changed = Iterator[tuple[str, str, Any]]
"""The group, the description of the change, and the new value."""


def leaf_forgeries(folder: Path, seed: int, seal: Change) -> Iterator[Forgery]:
    """Yield changes of each value and its type, and of the shape of each list and object. Files keep their true
    digests.
    """
    claims = claims_of(folder)
    nodes = list(walk(claims))
    texts = sorted({value for _, value in nodes if isinstance(value, str)})
    for place, value in nodes:
        draw = random.Random(f"{seed} {place}")
        pointer = shown(claims, place)
        for group, what, new in changes(value, texts, draw):
            name = f"manifest {group}: {pointer}: {what}"
            yield Forgery(name, _put(place, new, seal), dear=new in DEAR)


def _put(place: Place, new: Any, seal: Change) -> Change:
    def apply(folder: Path) -> None:
        claims = claims_of(folder)
        say(folder, put(claims, place, new))
        if place and place[0] != "files" and isinstance(new, str | int):
            seal(folder)

    return apply


def changes(value: Any, texts: list[str], draw: random.Random) -> Changed:
    """Yield the possible changes of a value."""
    yield from _types(value)
    if isinstance(value, bool):
        yield "flag", "flipped", not value
    elif isinstance(value, int | float):
        yield from (("number", what, new) for what, new in _numbers(value))
    elif isinstance(value, str):
        yield from (("text", what, new) for what, new in _texts(value, texts, draw))
        if EXACT.fullmatch(value):
            yield from (("exact", what, new) for what, new in _exact(value))
            yield from (("malformed", what, new) for what, new in _malformed(value))
    elif isinstance(value, list):
        yield from (("shape", what, new) for what, new in _lists(value))
    elif isinstance(value, dict):
        yield from (("shape", what, new) for what, new in _objects(value))


def _types(value: Any) -> Changed:
    others: list[tuple[str, Any]] = [("null", None), ("a list", [value]), ("an object", {"value": value})]
    others += [("true", True), ("a number", 7), ("a text", str(value)), ("an empty list", []), ("an empty object", {})]
    if isinstance(value, int):
        others.append(("a decimal number", float(value)))
    for what, new in others:
        if type(new) is not type(value):
            yield "type", what, new


def _numbers(value: float) -> Iterator[tuple[str, float]]:
    yield from (("one more", value + 1), ("one less", value - 1), ("zero", 0), ("negative", -value))
    yield from (("huge", HUGE), ("a huge negative", -HUGE), ("a decimal", value + 0.5), ("a huge decimal", 1e308))


def _texts(value: str, texts: list[str], draw: random.Random) -> Iterator[tuple[str, str]]:
    yield from (("emptied", ""), ("longer", f"{value}x"), ("another", draw.choice(texts)), ("blank", f"{value} "))
    yield from (("a line end", f"{value}\n"), ("right to left", f"\u202e{value}"), ("very long", value + "x" * 10**5))
    if value.lower() != value or value.upper() != value:
        yield "other letters", value.swapcase()
    if re.fullmatch(r"[0-9a-f]{64}", value):
        at = draw.randrange(64)
        yield "another digit", f"{value[:at]}{(int(value[at], 16) + 1) % 16:x}{value[at + 1 :]}"


def _exact(value: str) -> Iterator[tuple[str, str]]:
    number = _number(value)
    yield from (("halved", f"{number / 2:.12g}"), ("doubled", f"{number * 2:.12g}"), ("zero", "0"))


def _malformed(value: str) -> Iterator[tuple[str, str]]:
    """Yield malformed spellings of an exact number."""
    yield from (("negative", f"-{value}"), ("no number", "nan"), ("infinite", "inf"), ("by zero", "1/0"))
    yield from (("explodes", "1e999999"), ("explodes far", "1e9999999"), ("underflows", "1e-999999"))
    if "e" not in value:
        yield "written otherwise", f"{value}0" if "." in value else f"{value}.0" if "/" not in value else f"0{value}"


def _number(value: str) -> float:
    above, _, below = value.partition("/")
    return float(above) / float(below or 1)


def _lists(value: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    yield "an item more", [*value, None]
    if value:
        yield from (("emptied", []), ("first removed", value[1:]), ("last removed", value[:-1]))
        yield from (("last doubled", [*value, value[-1]]), ("first nested", [[value[0]], *value[1:]]))
    if len(value) > 1:
        yield from (("first two swapped", [value[1], value[0], *value[2:]]), ("reversed", value[::-1]))


def _objects(value: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from (("a key more", {**value, "note": "hidden"}), ("an empty key more", {**value, "": 0}))
    for key in value:
        rest = {name: each for name, each in value.items() if name != key}
        yield f"{key} removed", rest
        yield f"{key} renamed", {**rest, f"{key}x": value[key]}


def _replaced(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data.replace(old, new, 1)


WRITTEN: dict[str, Callable[[bytes], bytes]] = {
    "no line end": lambda data: data.rstrip(b"\n"),
    "two line ends": lambda data: data + b"\n",
    "line ends of another kind": lambda data: data.replace(b"\n", b"\r\n"),
    "a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "another encoding": lambda data: data.decode().encode("utf-16"),
    "not UTF-8": _replaced(b'"', b'"\xff\xfe'),
    "a blank more": _replaced(b": ", b":  "),
    "a key twice": _replaced(b"{", b'{\n "kind": "Release",'),
    "a smuggled key twice": _replaced(b"{", b'{\n "key": "hidden",'),
    "a letter escaped": _replaced(b'"kind"', b'"\\u006bind"'),
    "a comment": _replaced(b"{", b"{ // hidden\n"),
    "not a number": lambda data: re.sub(rb": \d+", b": NaN", data, count=1),
    "infinite": lambda data: re.sub(rb": \d+", b": Infinity", data, count=1),
    "an overflowing number": lambda data: re.sub(rb": \d+", b": 1e999", data, count=1),
    "a number of many digits": lambda data: re.sub(rb": \d+", b": " + b"9" * 10_000, data, count=1),
    "half a pair": _replaced(b'": "', b'": "\\ud800'),
    "a NUL": _replaced(b'": "', b'": "\\u0000'),
    "two documents": lambda data: data + data,
    "deep lists": lambda _: b"[" * 100_000,
    "deep lists, closed": lambda _: b"[" * 100_000 + b"]" * 100_000,
    "deep objects": lambda _: b'{"kind":' * 50_000 + b"0" + b"}" * 50_000,
    "deep inside": _replaced(b"{", b'{"note": ' + b"[" * 20_000 + b"]" * 20_000 + b","),
    "a list": lambda _: b"[]\n",
    "an object": lambda _: b"{}\n",
    "nothing": lambda _: b"null\n",
    "zeros": lambda data: bytes(len(data)),
}
"""Spellings of the manifest that are not canonical."""


def written_forgeries() -> Iterator[Forgery]:
    """Yield the manifest in every noncanonical spelling."""
    for what, rewrite in WRITTEN.items():
        yield Forgery(f"manifest written: /: {what}", _rewriting(rewrite))


def _rewriting(rewrite: Callable[[bytes], bytes]) -> Change:
    def apply(folder: Path) -> None:
        path = folder / manifest.NAME
        path.write_bytes(rewrite(path.read_bytes()))

    return apply
