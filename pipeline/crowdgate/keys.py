"""Tuples of codes as few 64-bit words, with the order of the tuples: sparse counting sorts these words.

A word holds as many columns as fit below 2^63 in a mixed radix; most tables need one word. A tuple is exact whatever
its width: there is no hash, and so no collision.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from crowdgate.arrays import AnyIntegers, Integers

Word = AnyIntegers
Sums = npt.NDArray[Any]
"""Sums of counts, in the counts' own type of integers or a wider one."""
WORD_LIMIT = (1 << 63) - 1
_STRETCH = 1 << 18
_LENGTH_OF_RUN = 64
"""Sorted runs of at least this length, on average, are merged."""
_BITS = 62
"""The most bits of a tuple with its count in one number, so that the number after the last one exists, too."""
_LEADING_BITS = 15
"""The most bits that are sorted before the rest of a tuple, which is one number."""
_SHARING = 1 << 9
"""Leading bits are sorted apart if at least so many tuples, on average, share them."""


@dataclass(frozen=True)
class Packing:
    """The division of columns of codes into 64-bit words: `spans` holds, for each word, the sizes (numbers of codes) of
    its columns."""

    spans: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, sizes: Sequence[int]) -> "Packing":
        """Return the packing of columns of these sizes (numbers of codes), which fills one word after another; at least
        one word."""
        spans: list[list[int]] = [[]]
        for size in sizes:
            if prod(spans[-1]) * max(size, 1) > WORD_LIMIT:
                spans.append([])
            spans[-1].append(max(size, 1))
        return cls(tuple(map(tuple, spans)))

    def empty(self) -> tuple[Word, ...]:
        """Return the words of a table without rows: empty arrays."""
        return self.pack(iter([np.zeros(0, dtype=np.int64)] * sum(map(len, self.spans))), 0)

    def pack(self, columns: Iterator[AnyIntegers], rows: int) -> tuple[Word, ...]:
        """Return the words of `rows` tuples of codes, which are given column by column: one array for each word.
        Columns of size 1 are not read."""
        return tuple(self._word(span, columns, rows) for span in self.spans)

    def _word(self, span: tuple[int, ...], columns: Iterator[AnyIntegers], rows: int) -> Word:
        # mixed radix, the first column the most significant
        word = np.zeros(rows, dtype=_type_for(prod(span)))
        for size in span:
            codes = next(columns)
            if size > 1:
                word *= size
                np.add(word, codes, out=word, casting="unsafe")
        return word

    def unpack(self, words: Iterable[Word]) -> tuple[AnyIntegers, ...]:
        """Return the columns of codes that these words hold, each in the smallest type of integers for its codes."""
        return tuple(column for span, word in zip(self.spans, words, strict=True) for column in _columns(span, word))


def _type_for(size: int) -> np.dtype[Any]:
    """Return the smallest type of signed integers for the codes 0 to size - 1 and for `size` itself, by which codes are
    divided."""
    return np.min_scalar_type(-size - 1)


def _columns(span: tuple[int, ...], word: Word) -> list[AnyIntegers]:
    """Return the columns of codes that a word holds. They are computed in stretches of rows, as intermediate arrays are
    as large as their input."""
    found = [np.empty(len(word), dtype=_type_for(size)) for size in span]
    for start in range(0, len(word), _STRETCH):
        # digits from the least significant one
        rest = word[start : start + _STRETCH]
        for column, size in zip(reversed(found), reversed(span), strict=True):
            above = rest // size
            column[start : start + _STRETCH] = rest - above * size
            rest = above
    return found


def collapsed(tuples: Iterable[Word], counts: AnyIntegers) -> tuple[tuple[Word, ...], Sums]:
    """Return the distinct tuples in order, and for each the sum of its counts. Quick if a tuple and its count fit into
    one number, and if the tuples are a few sorted runs. The sums have a type of integers for the sum of all counts, and
    at least that of the counts."""
    words = list(tuples)
    if not len(counts):
        return tuple(words), counts
    widths = [int(each.max()).bit_length() for each in (*words, counts)]
    leading = max(0, sum(widths) - _BITS)
    if not leading or (leading <= min(_LEADING_BITS, widths[0]) and len(counts) >> leading >= _SHARING):
        return _collapsed_numbers(words, widths, counts, widths[0] - leading)
    order = in_order(words)
    for i in range(len(words)):
        words[i] = words[i][order]  # one after another, so that only one word exists twice at a time
    counts = counts[order].astype(_type_of_sums(counts), copy=False)
    del order
    # first tuple of each run of equal ones: some word differs from the tuple before
    new = np.ones(len(counts), dtype=np.bool_)
    new[1:] = words[0][1:] != words[0][:-1]
    for word in words[1:]:
        new[1:] |= word[1:] != word[:-1]
    if new.all():
        return tuple(words), counts
    # the counts of each run added up
    starts = np.flatnonzero(new)
    return tuple(word[starts] for word in words), np.add.reduceat(counts, starts)


def _type_of_sums(counts: AnyIntegers) -> np.dtype[Any]:
    return np.promote_types(counts.dtype, _type_for(int(counts.sum(dtype=np.int64))))


def _collapsed_numbers(
    words: list[Word], widths: Sequence[int], counts: AnyIntegers, kept: int
) -> tuple[tuple[Word, ...], Sums]:
    """Return what `collapsed` returns, by sorting numbers instead of places: the bits of a tuple's words, and last
    those of its count. `widths` are their numbers of bits; those of the first word above its last `kept` are apart. The
    list of words is empty afterwards.
    """
    types = [*(word.dtype for word in words), _type_of_sums(counts)]
    found = [np.empty(len(counts), dtype=each) for each in types]
    held = 0
    for lead, numbers in _by_lead(words, widths, counts, kept):
        for columns in _collapsed_stretches(numbers, [kept, *widths[1:]]):
            end = held + len(columns[0])
            for column, each in zip(found, columns, strict=True):
                column[held:end] = each
            found[0][held:end] |= lead << kept
            held = end
    # a view holds the memory of all: not worth it of a small part
    *distinct, sums = (column[:held] if 2 * held > len(column) else column[:held].copy() for column in found)
    return tuple(distinct), sums


def _by_lead(
    words: list[Word], widths: Sequence[int], counts: AnyIntegers, kept: int
) -> Iterator[tuple[int, Integers]]:
    """Yield what some first words have above their last `kept` bits, and the sorted numbers of their tuples."""
    numbers = words.pop(0).astype(np.int64)
    lead = (numbers >> kept).astype(np.int16) if kept < widths[0] else None
    words.append(counts)
    for width in widths[1:]:
        numbers <<= width
        numbers |= words.pop(0)
    if lead is None:
        _sort(numbers)
        yield 0, numbers
        return
    numbers &= (1 << kept + sum(widths[1:])) - 1  # the leading bits that are left over
    numbers = numbers[np.argsort(lead, kind="stable")]  # a radix sort, as these are 16 bits
    ends = np.cumsum(np.bincount(lead))
    del lead
    for value, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        _sort(numbers[start:end])
        yield value, numbers[start:end]


def _collapsed_stretches(numbers: Integers, widths: Sequence[int]) -> Iterator[list[AnyIntegers]]:
    """Yield the columns of the distinct tuples of sorted numbers, a stretch after another."""
    first = 0
    while first < len(numbers):
        last = _end_of_run(numbers, min(first + _STRETCH, len(numbers)), widths[-1])
        yield _collapsed_stretch(numbers[first:last], widths)
        first = last


def _sort(numbers: Integers) -> None:
    """Sort in place: a few sorted runs by merging them, in a fifth of the time."""
    runs = 1 + np.count_nonzero(numbers[1:] < numbers[:-1])
    numbers.sort(kind="stable" if _LENGTH_OF_RUN * runs < len(numbers) else "quicksort")


def _end_of_run(numbers: Integers, end: int, bits: int) -> int:
    """Return where the tuple before `end` has its last number, or `end` is that of all. A number's last `bits` are no
    part of its tuple."""
    if end == len(numbers):
        return end
    return int(np.searchsorted(numbers, (int(numbers[end - 1]) >> bits) + 1 << bits))


def _collapsed_stretch(numbers: Integers, widths: Sequence[int]) -> list[AnyIntegers]:
    """Return the columns of the distinct tuples of sorted numbers, and last the sums of their counts."""
    tuples = numbers >> widths[-1]
    new = np.ones(len(numbers), dtype=np.bool_)
    np.not_equal(tuples[1:], tuples[:-1], out=new[1:])
    starts = np.flatnonzero(new)
    columns: list[AnyIntegers] = [np.add.reduceat(numbers & ((1 << widths[-1]) - 1), starts)]
    rest = tuples[starts]
    for width in reversed(widths[1:-1]):
        columns.append(rest & ((1 << width) - 1))
        rest = rest >> width
    return [rest, *reversed(columns)]


def in_order(words: Sequence[Word]) -> npt.NDArray[np.intp]:
    """Return the indices that sort the tuples lexicographically by their words; equal tuples are adjacent in any order.

    Most tuples differ in their first word already: the further words order the ties only. The stable sort is a merge of
    the runs that it finds, so sorted input costs little.
    """
    order = np.argsort(words[0], kind="stable")
    if len(words) == 1:
        return order
    # tuples that share their first word with a neighbour
    first = words[0][order]
    tied = np.zeros(len(order), dtype=np.bool_)
    tied[1:] = first[1:] == first[:-1]
    tied[:-1] |= tied[1:]
    # these tuples, ordered by all words, fill the places of the ties, as runs of equal first words do not move
    places = np.flatnonzero(tied)
    among = order[places]
    order[places] = among[np.lexsort([word[among] for word in reversed(words)])]
    return order
