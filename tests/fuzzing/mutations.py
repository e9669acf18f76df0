"""Mutations of files: random bytes, YAML structure, tables with hostile cells and unusual encodings."""

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


ACCIDENTS: tuple[Mutation, ...] = (flipped, flipped_at_an_end, cut, doubled, wedged)
MUTATIONS: dict[str, tuple[Mutation, ...]] = {
    "policy": (*ACCIDENTS, edited, edited, edited, edited, edited),
    "contract": (*ACCIDENTS, edited, edited, edited, edited, edited),
    "budget": (*ACCIDENTS, edited, edited),
    "csv": ACCIDENTS,
    "parquet": (*ACCIDENTS, flipped_at_an_end, rewritten, rewritten),
    "ledger": (*ACCIDENTS, paged),
}
"""The mutations by the part that they change."""
