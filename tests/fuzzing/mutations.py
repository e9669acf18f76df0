"""Mutations of files: random bytes, structure of YAML and JSON, tables with hostile cells and unusual encodings."""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from copy import deepcopy
from io import BytesIO
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from tests.workshop import MARK

Mutation = Callable[[Random, bytes], bytes]

# fmt: off
SCALARS = (
    "", "null", "~", "-1", "0", "1e309", "1e-400", "NaN", "inf", "9" * 400, "0x10", "1/0", "true", "NO", "=1+1",
    "../../x", "/dev/null", "%s{}", "\u202eabc", "\U0001f4a5", "a" * 70_000, "north", "age", "2024-02-30",
)
JSON_SCALARS: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**63, 10**400, 1e308, -0.0, float("nan"), float("inf"), [], {}, "", "0" * 64,
    "1/0", "9/1", "2030-02-30", "../../../etc/passwd", "a\0b", "\ud800",
)
WEDGES = (
    b'"', b"'", b"\0", b"\r", b"\n", b"\xff", b"\xef\xbb\xbf", b",", b"&a ", b"*a", b"!!python/none ", b"\t", b"{",
    b"- ", b'"' * 999, b"z" * 100_000, b"\xed\xa0\x80", b"[" * 50,
)
# fmt: on


class _WrittenOut(yaml.SafeDumper):
    """A YAML writer without anchors, as files with anchors are refused for that reason."""

    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True


def flipped(random: Random, content: bytes) -> bytes:
    """Flip a few bits."""
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 8))):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def flipped_at_an_end(random: Random, content: bytes) -> bytes:
    """Flip a few bits of the first or the last bytes, where files state their type."""
    at = random.choice((0, max(0, len(content) - 2000)))
    return content[:at] + flipped(random, content[at : at + 2000]) + content[at + 2000 :]


def cut(random: Random, content: bytes) -> bytes:
    """Remove the end, or a stretch."""
    start = random.randrange(len(content))
    return content[:start] + random.choice((b"", content[random.randrange(start, len(content)) :]))


def doubled(random: Random, content: bytes) -> bytes:
    """Repeat a stretch, or put it in another's place."""
    start, size, at = random.randrange(len(content)), random.randrange(1, 5000), random.randrange(len(content))
    return content[:at] + content[start : start + size] + content[at + random.choice((0, size)) :]


def wedged(random: Random, content: bytes) -> bytes:
    """Insert bytes that have a meaning for a reader at a random place."""
    at = random.randrange(len(content))
    return content[:at] + random.choice(WEDGES) * random.choice((1, 1, 3)) + content[at:]


def edited(random: Random, content: bytes) -> bytes:
    """Change the structure of YAML: a node is missing, replaced, hostile, moved or nested."""
    data = yaml.load(content, yaml.BaseLoader)
    for _ in range(random.choice((1, 1, 1, 3))):
        places = list(_places(data))
        held, key = random.choice(places)
        _edit(random, held, key, random.choice(places))
    return yaml.dump(data, Dumper=_WrittenOut, sort_keys=False, allow_unicode=True).encode()


def json_edited(random: Random, content: bytes) -> bytes:
    """Change the structure of JSON, also below the payload of an envelope."""
    data, end = json.JSONDecoder().raw_decode(text := content.decode())
    inner = isinstance(data, dict) and "payload" in data and random.random() < 0.7
    changed = _json_changed(random, json.loads(b64decode(data["payload"])) if inner else data)
    stated = {**data, "payload": b64encode(json.dumps(changed).encode()).decode()} if inner else changed
    written = json.dumps(stated, ensure_ascii=random.random() < 0.5, sort_keys=True)
    return (written + text[end:]).encode(errors="surrogatepass")


def _json_changed(random: Random, data: Any) -> Any:
    for _ in range(random.choice((1, 1, 1, 3))):
        places = list(_places(data))
        if not places:
            break
        held, key = random.choice(places)
        if random.random() < 0.4:
            held[key] = random.choice(JSON_SCALARS)
        else:
            _edit(random, held, key, random.choice(places))
    return data


def _places(data: Any) -> Any:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield data, key
        yield from _places(value)


def _edit(random: Random, held: Any, key: Any, other: tuple[Any, Any]) -> None:
    match random.randrange(6):
        case 0:
            del held[key]
        case 1 | 2:
            held[key] = random.choice(SCALARS)
        case 3:
            held[key] = deepcopy(other[0][other[1]] if other[1] in other[0] else other[0])
        case 4:
            held[key] = [held[key]] * random.choice((0, 1, 2, 300)) if random.random() < 0.5 else {"x": held[key]}
        case _ if isinstance(held, dict):
            held[random.choice(SCALARS)] = held[key]


def rewritten(random: Random, content: bytes) -> bytes:
    """Return the table with hostile cells, of other types, written with other options."""
    table = pq.read_table(BytesIO(content), use_threads=False)
    columns = {name: _column(random, table.column(name).to_pylist()) for name in table.column_names}
    out = BytesIO()
    options = {"compression": random.choice(("none", "snappy", "gzip", "zstd", "brotli", "lz4")),
               "use_dictionary": random.random() < 0.5, "data_page_version": random.choice(("1.0", "2.0")),
               "dictionary_pagesize_limit": 1 << 28, "data_page_size": random.choice((1, 1000, 1 << 20))}  # fmt: skip
    pq.write_table(pa.table(columns), out, random.choice((1 << 20, 100, 7)), **options)
    return out.getvalue()


def _column(random: Random, cells: list[Any]) -> Any:
    if random.random() < 0.5:
        return pa.array(cells)
    at = random.randrange(len(cells))
    match random.randrange(6):
        case 0:
            return pa.array([None] * len(cells))
        case 1:
            return pa.array([[cell] for cell in cells])
        case 2:
            return pa.array([float("nan")] * len(cells))
        case 3:
            return pa.array([f"{MARK}{cell}" if place % 2 else None for place, cell in enumerate(cells)])
        case 4:
            long = MARK * random.choice((10_000, 2_000_000))
            return pa.array([long if place == at else str(cell) for place, cell in enumerate(cells)])
    return pa.array([str(cell).encode() + b"\xff" for cell in cells])


def paged(random: Random, content: bytes) -> bytes:
    """Swap pages of a database, or empty them."""
    size = 4096
    pages = [content[at : at + size] for at in range(0, len(content), size)]
    at = random.randrange(len(pages))
    pages[at] = random.choice((bytes(size), random.choice(pages)))
    return b"".join(pages)


def nested(random: Random, content: bytes) -> bytes:
    """Put an endlessly nested or a very long value in place of a scalar of JSON or TOML."""
    places = [found.span() for found in re.finditer(rb'"[^"\n]*"|\b[0-9]+\b', content)]
    start, end = random.choice(places)
    deep = random.choice((10, 1000, 100_000))
    value = random.choice(
        (b"[" * deep + b"]" * deep, b'{"a":' * deep + b"1" + b"}" * deep, b"9" * deep, b"1e999", b"-1")
    )
    return content[:start] + value + content[end:]


ACCIDENTS: tuple[Mutation, ...] = (flipped, flipped_at_an_end, cut, doubled, wedged)
YAML = (*ACCIDENTS, edited, edited, edited, edited, edited)
JSON = (*ACCIDENTS, json_edited, json_edited, json_edited, json_edited, nested)
TOML = (*ACCIDENTS, nested)
CSV = ACCIDENTS
PARQUET = (*ACCIDENTS, flipped_at_an_end, rewritten, rewritten)
PAGES = (*ACCIDENTS, paged)
