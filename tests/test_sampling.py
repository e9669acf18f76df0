"""Bernoulli sampling: exactly beta for every rational beta, independent, secret, and drawn once."""

import copy
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives import ciphers
from cryptography.hazmat.primitives.ciphers import Cipher
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from crowdgate import sampling
from crowdgate.errors import EnvironmentFault
from crowdgate.sampling import SecretKey, _BernoulliSampler, bernoulli_subsampler, seed
from tests.examples import examples

ONE = Fraction(1)
BETAS = [Fraction(text) for text in ("1/2", "1/3", "2/3", "1/10", "1/1000", "0.0000001", "1")]
BETAS += [Fraction(1, 65536), Fraction(1, 65537), Fraction(65535, 65536), Fraction(65536, 65537), Fraction(1, 1 << 20)]
BETAS += [Fraction(1, 1 << 72), 1 - Fraction(1, 3 << 30)]
rates = st.sampled_from(BETAS) | st.fractions(0, 1, max_denominator=10**9).filter(lambda beta: beta > 0)
KEY = SecretKey(bytes(range(32)), injected=True)


class Exhausted(Exception):
    """The chosen digits did not decide the sample."""


class Chosen:
    """A keystream of chosen bytes."""

    def __init__(self, chosen: bytes) -> None:
        self.left = chosen

    def update(self, text: bytes) -> bytes:
        if len(text) > len(self.left):
            raise Exhausted
        out, self.left = self.left[: len(text)], self.left[len(text) :]
        return out


def coins(beta: Fraction, first: list[int], ties: list[int]) -> _BernoulliSampler:
    """Return a sampler whose uniform numbers have chosen digits: 16 bits each, then 64 bits each."""
    streams = {
        sampling._COINS: Chosen(np.array(first, dtype="<u2").tobytes()),
        sampling._TIES: Chosen(np.array(ties, dtype="<u8").tobytes()),
    }

    class Key:
        def stream(self, purpose: int, _: int) -> Chosen:
            return streams[purpose]

    return _BernoulliSampler(Key(), beta, 0)  # type: ignore[arg-type]


def tree(beta: Fraction, depth: int) -> tuple[Fraction, Fraction]:
    """Return the probability of 1 decided within so many digits of 64 bits, and the probability of no decision."""
    heads = int(coins(beta, list(range(1 << 16)), [0] * (1 << 16)).throw(1 << 16).sum())
    first = [digit for digit in (heads - 1, heads) if 0 <= digit < 1 << 16 and _asks(beta, digit, [])]
    coins(beta, [digit for digit in range(1 << 16) if digit not in first], []).throw((1 << 16) - len(first))
    if not first:
        return Fraction(heads, 1 << 16), Fraction(0)
    low = Fraction(first[0], 1 << 16)
    assert len(first) == 1
    width, prefix = Fraction(1, 1 << 16), list[int]()
    for _ in range(depth):
        boundary = _boundary(beta, first[0], prefix)
        width /= 1 << 64
        low += boundary * width
        if not _asks(beta, first[0], [*prefix, boundary]):
            return low, Fraction(0)
        prefix.append(boundary)
    return low, width


def _asks(beta: Fraction, first: int, ties: list[int]) -> bool:
    try:
        coins(beta, [first], ties).throw(1)
    except Exhausted:
        return True
    return False


def _boundary(beta: Fraction, first: int, prefix: list[int]) -> int:
    """Return the number of next digits that give 1: they are the smallest ones, found by bisection."""
    low, high = 0, 1 << 64
    while low < high:
        middle = (low + high) // 2
        ties = [*prefix, middle]
        if not _asks(beta, first, ties) and coins(beta, [first], ties).throw(1)[0]:
            low = middle + 1
        else:
            high = middle
    return low


@pytest.mark.parametrize("beta", BETAS, ids=str)
def test_summed_over_the_digit_tree_the_probability_of_heads_is_exactly_beta(beta: Fraction) -> None:
    decided, open_ = tree(beta, 3)
    assert decided <= beta <= decided + open_
    assert open_ == 0 if (beta.denominator & (beta.denominator - 1)) == 0 else open_ == Fraction(1, 1 << 208)


@settings(deadline=None)
@given(beta=rates, data=st.data())
def test_a_coin_is_heads_exactly_when_its_uniform_number_is_below_beta(beta: Fraction, data: st.DataObject) -> None:
    near, rest = list[int](), beta
    bases = [1 << 16, 1 << 64, 1 << 64]
    for base in bases:
        digit = min(int(rest * base), base - 1)
        near.append(
            data.draw(st.sampled_from([digit] * 4 + [max(0, digit - 1), min(base - 1, digit + 1), base - 1, 0]))
        )
        rest = rest * base - digit
    digits = [*near, data.draw(st.integers(0, (1 << 64) - 1))]
    uniform, scale = Fraction(0), ONE
    for digit, base in zip(digits, [*bases, 1 << 64], strict=True):
        scale /= base
        uniform += digit * scale
    if uniform < beta < uniform + scale:
        return
    assert coins(beta, digits[:1], digits[1:]).throw(1)[0] == (uniform < beta)


@settings(max_examples=examples(60), deadline=None)
@given(sizes=st.lists(st.integers(0, 12), max_size=12), beta=rates, chunk=st.integers(1, 9))
def test_heads_of_a_class_are_the_heads_of_its_own_coins_across_chunks(
    sizes: list[int], beta: Fraction, chunk: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampling, "_CHUNK", chunk)
        heads = bernoulli_subsampler(KEY, beta)(np.array(sizes, dtype=np.int64))
    thrown = _BernoulliSampler(KEY, beta, 0).throw(sum(sizes))
    ends = np.cumsum(sizes, dtype=np.int64).tolist()
    assert heads.tolist() == [int(thrown[end - size : end].sum()) for size, end in zip(sizes, ends, strict=True)]


def thrown(key: SecretKey, partition: int = 0, beta: Fraction = Fraction(1, 2)) -> bytes:
    return np.packbits(_BernoulliSampler(key, beta, partition).throw(4096)).tobytes()


def test_coins_are_a_function_of_key_and_partition_and_of_nothing_else() -> None:
    other = SecretKey(bytes(31) + b"\1", injected=True)
    assert thrown(KEY) == thrown(SecretKey(bytes(range(32)), injected=False))
    assert len({thrown(KEY), thrown(KEY, 1), thrown(KEY, 1 << 31), thrown(other), thrown(other, 1)}) == 5


def test_every_purpose_has_a_keystream_of_its_own() -> None:
    purposes = (sampling._COINS, sampling._TIES, sampling._PERSONS, sampling._SEEDS)
    streams = {KEY.stream(purpose, 0).update(bytes(32)) for purpose in purposes}
    assert len(streams) == 4
    assert seed(KEY) in streams - {KEY.stream(purpose, 0).update(bytes(32)) for purpose in purposes[:3]}
    assert len({seed(KEY, number) for number in range(20)}) == 20


def test_no_two_keystreams_share_a_block() -> None:
    blocks = [KEY.stream(purpose, part).update(bytes(16 * 64)) for purpose in (1, 2, 3, 4) for part in range(20)]
    assert len({block[i : i + 16] for block in blocks for i in range(0, len(block), 16)}) == 4 * 20 * 64


def test_the_same_coins_are_never_thrown_twice() -> None:
    subsampler = bernoulli_subsampler(KEY, Fraction(1, 2))
    subsampler(np.array([3], dtype=np.int64))
    with pytest.raises(RuntimeError, match="used already"):
        subsampler(np.array([3], dtype=np.int64))


def test_coins_thrown_for_an_empty_table_count_as_thrown() -> None:
    subsampler = bernoulli_subsampler(KEY, Fraction(1, 2))
    assert subsampler(np.zeros(0, dtype=np.int64)).tolist() == []
    with pytest.raises(RuntimeError, match="used already"):
        subsampler(np.zeros(0, dtype=np.int64))


@pytest.mark.parametrize("beta", [Fraction(0), Fraction(-1, 2), Fraction(3, 2)])
def test_a_beta_outside_its_range_is_refused(beta: Fraction) -> None:
    with pytest.raises(ValueError, match="beta must be in"):
        bernoulli_subsampler(KEY, beta)


def test_at_beta_one_every_row_stays() -> None:
    assert bernoulli_subsampler(KEY, ONE)(np.array([1000, 1], dtype=np.int64)).tolist() == [1000, 1]


def test_a_key_shows_nothing_of_its_secret() -> None:
    secret = b"a secret of exactly 32 bytes....".ljust(32)
    key = SecretKey(secret, injected=False)
    assert {repr(key), str(key), f"{key}", f"{[key]}"[1:-1]} == {"SecretKey(...)"}
    for store in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="not stored"):
            store(key)
    assert not hasattr(key, "__dict__")


@pytest.mark.parametrize("size", [0, 16, 31, 33])
def test_a_key_of_another_length_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        SecretKey(bytes(size), injected=True)


def test_a_key_remembers_whether_it_was_injected() -> None:
    assert [SecretKey(bytes(32), injected=mark).injected for mark in (True, False)] == [True, False]


class Broken:
    """A cipher whose keystream has one wrong bit."""

    def __init__(self, *args: Any) -> None:
        self._right = Cipher(*args).encryptor()

    def encryptor(self) -> "Broken":
        return self

    def update(self, text: bytes) -> bytes:
        out = self._right.update(text)
        return out[:-1] + bytes([out[-1] ^ 1])


def test_a_cipher_with_one_wrong_bit_makes_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    sampling._known_answer_test.cache_clear()
    monkeypatch.setattr(ciphers, "Cipher", Broken)
    for _ in range(2):
        with pytest.raises(EnvironmentFault, match="wrong answers"):
            SecretKey(bytes(32), injected=True)


MOST = 1e-6


def refuted(thrown: np.ndarray, beta: Fraction) -> bool:
    """Return whether the number of ones, or of disjoint pairs of ones, is too improbable at rate beta."""
    pairs = thrown[: len(thrown) // 2 * 2].reshape(-1, 2)
    both = int(np.count_nonzero(pairs.all(axis=1)))
    heads = binomtest(int(thrown.sum()), len(thrown), float(beta)).pvalue
    return bool(min(heads, binomtest(both, len(pairs), float(beta) ** 2).pvalue) < MOST)


def copied(thrown: np.ndarray) -> np.ndarray:
    """Return draws in which every hundredth repeats its left neighbour."""
    again = thrown.copy()
    again[99::100] = thrown[98:-1:100]
    return again


# N = 4,000,000 coins and 2,000,000 disjoint pairs, seeded. Two exact two-sided binomial tests at 1e-6 each: false-alarm
# rate at most 2e-6 a beta. Power above .999 against coins that are 20 % above their rate and coins of which every
# hundredth repeats its neighbour: their counts lie at least 12 standard deviations off.
@pytest.mark.thorough
@pytest.mark.statistical
@pytest.mark.parametrize("beta", [Fraction(1, 2), Fraction(1, 3), Fraction(1, 1000)], ids=str)
def test_coins_have_their_rate_and_neighbours_are_independent(beta: Fraction) -> None:
    thrown = _BernoulliSampler(KEY, beta, 7).throw(4_000_000)
    assert not refuted(thrown, beta)
    assert refuted(_BernoulliSampler(KEY, beta * Fraction(6, 5), 7).throw(4_000_000), beta)
    assert refuted(copied(thrown), beta)
