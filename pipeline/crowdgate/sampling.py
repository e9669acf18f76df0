"""Exact Bernoulli sampling from a secret key (AES-256 in counter mode).

A decision with probability beta = a/b compares the base-65536 digits of a uniform number with those of beta, one digit
after another until they differ: exact for each rational beta, almost always after one digit. The key determines who was
sampled, so it is never logged, stored or used twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from crowdgate.arrays import AnyIntegers, Bools, Integers
from crowdgate.errors import EnvironmentFault
from crowdgate.system import lazy_libraries

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext

Draws = npt.NDArray[np.uint64]

KEY_BYTES = 32
_CHUNK = 1 << 18
"""The number of rows whose draws are in memory at once. They stay in cache: more of them take new pages each time."""
_BLOCK = 16
"""The bytes of a block of AES."""
_IDS = 1 << 16
"""The number of ids whose blocks are in memory at once."""
_COINS, _TIES, _PERSONS, _SEEDS = 1, 2, 3, 4


class SecretKey:
    """The secret AES-256 key of one release, from which its randomness is derived. `injected` marks a key that was not
    drawn from the operating system: for tests only."""

    __slots__ = ("_secret", "injected")

    def __init__(self, secret: bytes, *, injected: bool) -> None:
        if len(secret) != KEY_BYTES:
            raise ValueError(f"a key has {KEY_BYTES} bytes")
        _known_answer_test()
        self._secret = secret
        self.injected = injected

    def __repr__(self) -> str:
        return "SecretKey(...)"

    def __reduce__(self) -> str:
        raise TypeError("a secret key is not stored")

    def stream(self, purpose: int, number: int) -> CipherContext:
        """Return an AES keystream for this purpose and number, independent of the streams of any others."""
        nonce = purpose.to_bytes(4, "big") + number.to_bytes(4, "big") + bytes(8)
        return _counter_mode(self._secret, nonce)


def bernoulli_subsampler(key: SecretKey, beta: Fraction, number: int = 0) -> Callable[[Integers], Integers]:
    """Return a function from the number of rows of each class to the number of sampled rows of each class. Each row is
    sampled independently with probability exactly beta.

    It may be called once, as randomness is never reused. Each `number` has independent randomness. Raises ValueError
    unless 0 < beta <= 1.
    """
    if not 0 < beta <= 1:
        raise ValueError("beta must be in (0, 1]")
    coins = _BernoulliSampler(key, beta, number)

    def subsampler(counts: Integers) -> Integers:
        return coins.heads_by_class(counts)

    return subsampler


def row_draws(key: SecretKey, people: Any, of: AnyIntegers, tuples: Sequence[AnyIntegers]) -> Draws:
    """Return a secret uniform 64-bit number for each row, by which the rows of a person are chosen.

    It is a pseudorandom function of the key, the person's id and the numbers in `tuples` (the row's tuple, and its
    number among the person's equal rows), and of nothing else: neither of the order of rows nor of their partition.
    `people` are ids, an Arrow array of large binary; `of` holds the place of each row's person among them. The function
    is CBC-MAC with AES-256 of the length of the id, its bytes and the numbers. The length comes first and decides how
    many blocks follow, so no message begins another one, as CBC-MAC requires (Petrank, Rackoff 2000). Draws of
    different people must not be compared.
    """
    cipher = _block_cipher(key.stream(_PERSONS, 0).update(bytes(KEY_BYTES)))
    blocks = _chained_ids(cipher, people)[of]
    for numbers in tuples:
        blocks[:, 0] ^= numbers.astype(np.uint64)
        blocks = _encrypted(cipher, blocks)
    return blocks[:, 0]


def id_numbers(secret: bytes, people: Any, most: int) -> AnyIntegers:
    """Return a number below `most` (a power of two, at most 65,536) for each person: a pseudorandom function of the
    secret (32 bytes) and the person's id.

    `people` are ids, an Arrow array of large binary. The function is the CBC-MAC of `row_draws`, without a row.
    """
    cipher, found = _block_cipher(secret), np.empty(len(people), dtype=np.uint16)
    for at in range(0, len(people), _IDS):  # in stretches, as each id takes several blocks
        chained = _chained_ids(cipher, people.slice(at, _IDS))[:, 0]
        found[at : at + _IDS] = chained & np.uint64(most - 1)
    return found


def _chained_ids(cipher: CipherContext, people: Any) -> Draws:
    """Return the block of each person: the state of CBC-MAC after the length and the bytes of the id."""
    _, edges, text = people.buffers()
    starts = np.frombuffer(edges, dtype=np.int64)[people.offset : people.offset + len(people) + 1]
    lengths, own_text = np.diff(starts), np.frombuffer(text or b"", dtype=np.uint8)[starts[0] : starts[-1]]
    # 16 bytes from each place on: the last id may end before
    from_place = sliding_window_view(np.concatenate([own_text, np.zeros(_BLOCK, dtype=np.uint8)]), _BLOCK)
    blocks = _encrypted(cipher, np.stack([lengths, np.zeros_like(lengths)], axis=1).view(np.uint64))
    for at in range(0, int(lengths.max(initial=0)), _BLOCK):
        longer = np.flatnonzero(lengths > at)
        own = np.arange(_BLOCK) < (lengths[longer] - at)[:, np.newaxis]
        chunk = from_place[starts[longer] - starts[0] + at] * own
        blocks[longer] = _encrypted(cipher, blocks[longer] ^ chunk.view("<u8"))
    return blocks


def _encrypted(cipher: CipherContext, blocks: Draws) -> Draws:
    encrypted = np.empty((len(blocks) + 1, 2), dtype="<u8")  # one block more: the library asks for space
    cipher.update_into(blocks.view(np.uint8).data, encrypted.view(np.uint8).data)
    return encrypted[:-1]


def seed(key: SecretKey, number: int = 0) -> bytes:
    """Return 32 bytes to seed a generator with public draws: the seed may be published. It reveals nothing of the
    sampling, which uses other keystreams of the key."""
    return key.stream(_SEEDS, number).update(bytes(32))


def _counter_mode(secret: bytes, nonce: bytes) -> CipherContext:
    ciphers = lazy_libraries.ciphers
    return ciphers.Cipher(ciphers.algorithms.AES256(secret), ciphers.modes.CTR(nonce)).encryptor()


def _block_cipher(secret: bytes) -> CipherContext:
    ciphers = lazy_libraries.ciphers
    return ciphers.Cipher(ciphers.algorithms.AES256(secret), ciphers.modes.ECB()).encryptor()


class _BernoulliSampler:
    def __init__(self, key: SecretKey, beta: Fraction, number: int) -> None:
        self._digits = key.stream(_COINS, number)
        self._ties = key.stream(_TIES, number)
        scaled = beta * 65536
        self._threshold = int(scaled)
        self._remainder = scaled - self._threshold
        self._thrown = False

    def heads_by_class(self, counts: Integers) -> Integers:
        if self._thrown:
            raise RuntimeError("these secret random bits were used already")
        self._thrown = True
        heads = np.zeros(len(counts), dtype=np.int64)
        ends = np.cumsum(counts)
        rows = int(ends[-1]) if len(ends) else 0
        for start in range(0, rows, _CHUNK):
            stop = min(start + _CHUNK, rows)
            first, last = np.searchsorted(ends, [start, stop - 1], side="right")
            totals = np.cumsum(self.throw(stop - start), dtype=np.int32)  # a chunk has fewer rows
            within = np.append(totals[ends[first:last] - start - 1], totals[-1])
            heads[first : last + 1] += np.diff(within, prepend=0)
        return heads

    def throw(self, count: int) -> Bools:
        digits = np.frombuffer(self._digits.update(bytes(2 * count)), dtype="<u2")
        heads = digits < self._threshold
        if self._remainder:
            for i in np.flatnonzero(digits == self._threshold):
                heads[i] = self._refine()
        return heads

    def _refine(self) -> bool:
        """Return True if the further digits of a uniform number are below the remaining digits of beta. Called after a
        tie of the first digits."""
        remainder = self._remainder
        while remainder:
            remainder *= 1 << 64
            threshold = int(remainder)
            digit = int.from_bytes(self._ties.update(bytes(8)), "little")
            if digit != threshold:
                return digit < threshold
            remainder -= threshold
        return False


@cache
def _known_answer_test() -> None:
    """Raise EnvironmentFault unless the cipher gives the published keystream of NIST SP 800-38A, F.5.5."""
    key = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    counter = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
    text = bytes.fromhex("6bc1bee22e409f96e93d7e117393172a")
    cipher = _counter_mode(key, counter).update(text)
    if cipher != bytes.fromhex("601ec313775789a5b7a7f504bbf3d228"):
        raise EnvironmentFault("the AES-256 of this machine gives wrong answers; nothing can be sampled")
