"""Small Parquet files that expand to large ones, built by hand so that making them is cheap.

A page is one Zstandard or gzip frame of zeros; as text of the plain encoding four zeros are an empty cell. The footer
is written in the needed subset of Thrift's compact protocol.
"""

import zlib
from collections.abc import Callable, Sequence
from functools import partial

MEGA = 1 << 20
GIGA = 1 << 30
I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12
BYTE_ARRAY, PLAIN, RLE = 6, 0, 3
GZIP, ZSTD = 2, 6
BLOCK = 1 << 17


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def _struct(*fields: tuple[int, int, bytes]) -> bytes:
    """Fields as (number, type, content), in order."""
    out, last = b"", 0
    for number, kind, content in fields:
        out += bytes([(number - last) << 4 | kind]) + content
        last = number
    return out + b"\0"


def _int(number: int) -> bytes:
    return _varint(number << 1)


def _text(text: str) -> bytes:
    return _varint(len(text.encode())) + text.encode()


def _list(kind: int, items: Sequence[bytes]) -> bytes:
    head = bytes([len(items) << 4 | kind]) if len(items) < 15 else bytes([0xF0 | kind]) + _varint(len(items))
    return head + b"".join(items)


def zstd_zeros(size: int) -> bytes:
    """A frame of so many zeros (a multiple of 128 KiB) in blocks that repeat one byte."""
    head = b"\x28\xb5\x2f\xfd" + bytes([0x00, 0x38])  # no size, a window of 128 KiB
    block = (BLOCK << 3 | 1 << 1).to_bytes(3, "little") + b"\0"
    last = (BLOCK << 3 | 1 << 1 | 1).to_bytes(3, "little") + b"\0"
    return head + block * (size // BLOCK - 1) + last


def gzip_zeros(size: int) -> bytes:
    """A gzip member of so many zeros."""
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(bytes(MEGA)) for _ in range(size // MEGA)), packer.flush()])


def parquet(names: Sequence[str], page: bytes, size: int, codec: int, said: int | None = None) -> bytes:
    """Return a file of text columns, each one page of so many zeros; `said` replaces the stated size."""
    rows, stated = size // 4, said or size
    page_of_data = _struct((1, I32, _int(rows)), (2, I32, _int(PLAIN)), (3, I32, _int(RLE)), (4, I32, _int(RLE)))
    head = _struct((1, I32, _int(0)), (2, I32, _int(stated)), (3, I32, _int(len(page))), (5, STRUCT, page_of_data))
    chunk = head + page
    places = [4 + at * len(chunk) for at in range(len(names))]
    columns = [_column(name, place, rows, stated, len(chunk), codec) for name, place in zip(names, places, strict=True)]
    group = _struct((1, LIST, _list(STRUCT, columns)), (2, I64, _int(stated * len(names))), (3, I64, _int(rows)))
    footer = _struct(
        (1, I32, _int(2)),
        (2, LIST, _list(STRUCT, [_root(len(names)), *map(_leaf, names)])),
        (3, I64, _int(rows)),
        (4, LIST, _list(STRUCT, [group])),
    )
    return b"PAR1" + chunk * len(names) + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def _root(children: int) -> bytes:
    return _struct((4, BINARY, _text("schema")), (5, I32, _int(children)))


def _leaf(name: str) -> bytes:
    """Return the schema element of a required text column: no levels precede its cells."""
    utf8 = 0
    return _struct((1, I32, _int(BYTE_ARRAY)), (3, I32, _int(0)), (4, BINARY, _text(name)), (6, I32, _int(utf8)))


def _column(name: str, place: int, rows: int, size: int, packed: int, codec: int) -> bytes:
    described = _struct(
        (1, I32, _int(BYTE_ARRAY)),
        (2, LIST, _list(I32, [_int(PLAIN)])),
        (3, LIST, _list(BINARY, [_text(name)])),
        (4, I32, _int(codec)),
        (5, I64, _int(rows)),
        (6, I64, _int(size)),
        (7, I64, _int(packed)),
        (9, I64, _int(place)),
    )
    return _struct((2, I64, _int(place)), (3, STRUCT, described))


def _of_zstd(names: Sequence[str], size: int) -> bytes:
    return parquet(names, zstd_zeros(size), size, ZSTD)


def _of_gzip(names: Sequence[str], size: int) -> bytes:
    return parquet(names, gzip_zeros(size), size, GZIP)


def _of_lies(names: Sequence[str]) -> bytes:
    """Return a page that states a much larger size than its own."""
    return parquet(names, zstd_zeros(BLOCK), BLOCK, ZSTD, said=2 * GIGA - 1)


BOMBS: dict[str, tuple[Callable[[Sequence[str]], bytes], bool]] = {
    "zstd of 4 MiB": (partial(_of_zstd, size=4 * MEGA), False),
    "gzip of 4 MiB": (partial(_of_gzip, size=4 * MEGA), False),
    "said to be 2 GiB": (_of_lies, True),
    "zstd of 1 GiB": (partial(_of_zstd, size=GIGA), True),
    "gzip of 256 MiB": (partial(_of_gzip, size=GIGA // 4), True),
}
"""The bombs by name: the function that makes one for these columns, and whether it is slow."""
