"""Several rows of a person, inherited samples, and why the order of sampling and suppression matters."""

import math
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting.safe_k import exact_delta
from crowdgate.guarantee import group
from crowdgate.histogram import at_least, subsample
from tests.examples import examples
from tests.mechanisms.rows.test_safe_k import (
    EXACT3,
    HALF,
    Law,
    Row,
    all_coins,
    canonical,
    delta_of,
    divergence,
    given_heads,
    honest,
    law,
    mechanism,
    stated_delta,
    table,
)


def person_delta(k: int, beta: Fraction, rows: int, ratio: Fraction) -> Fraction:
    """Return the stated delta for a person with `rows` rows at epsilon = ln(ratio)."""
    epsilon = max(0.0, math.nextafter(math.log(ratio), -1))
    row = Fraction(epsilon) / rows
    return Fraction(group(row, exact_delta(k, beta, row), rows)[1])


@settings(max_examples=examples(60), deadline=None)
@given(
    own=st.lists(st.tuples(st.integers(0, 2)), min_size=1, max_size=3),
    others=st.lists(st.tuples(st.integers(0, 2)), max_size=5),
    k=st.integers(2, 4),
    beta=st.sampled_from([HALF, Fraction(1, 3), Fraction(1, 10)]),
    ratio=st.sampled_from([Fraction(2), Fraction(4), Fraction(9)]),
)
def test_all_rows_of_a_person_together_stay_within_the_stated_delta(
    own: list[Row], others: list[Row], k: int, beta: Fraction, ratio: Fraction
) -> None:
    safe = mechanism(k, beta, (EXACT3,))
    laws = law(safe, [*own, *others]), law(safe, others)
    reached = max(divergence(laws[0], laws[1], ratio), divergence(laws[1], laws[0], ratio))
    assert reached <= person_delta(k, beta, len(own), ratio)


def test_one_row_accounting_does_not_hold_for_a_person_with_three() -> None:
    safe, ratio = mechanism(3, HALF, (EXACT3,)), Fraction(2)
    laws = law(safe, [(0,)] * 5), law(safe, [(0,)] * 2)
    reached = divergence(laws[0], laws[1], ratio)
    assert stated_delta(safe, ratio) < reached <= person_delta(3, HALF, 3, ratio)


def test_an_inherited_sample_gives_the_law_of_a_fresh_one() -> None:
    fresh = mechanism(2, HALF, (EXACT3,))
    inherited = replace(fresh, inherited="spring")
    rows = [(0,), (0,), (0,), (1,), (1,)]
    out: Law = defaultdict(Fraction)
    full = table(fresh, rows)
    for heads, chance in all_coins(full, HALF):
        sample = subsample(full, given_heads(heads))  # drawn before the table reached us
        release = inherited.protect(sample, _never)
        out[canonical(release.output)] += chance
    assert out == law(fresh, rows)


def _never(_: object) -> np.ndarray:
    raise AssertionError("an inherited sample is not sampled again")


def anonymise_first(safe: object, full: object, heads: object) -> object:
    """The wrong order: suppress classes below k in the whole table, then sample the rest."""
    kept = at_least(full, safe.k)  # type: ignore[attr-defined,arg-type]
    stays = [h for h, n in zip(heads, full.counts.tolist(), strict=True) if n >= safe.k]  # type: ignore[attr-defined,call-overload]
    return canonical(subsample(kept, given_heads(stays)))


@pytest.mark.parametrize("k", [2, 5, 10])
def test_anonymising_before_sampling_has_a_delta_near_one(k: int) -> None:
    """Li, Qardaji, Su (2012), section 1: a class of k rows vanishes if one row leaves."""
    safe, ratio = mechanism(k, HALF, (EXACT3,)), Fraction(2)
    rows = [(0,)] * k
    wrong, right = delta_of(safe, rows, ratio, anonymise_first), delta_of(safe, rows, ratio, honest)
    limit = stated_delta(safe, ratio)
    assert right <= limit < wrong == 1 - HALF**k, f"delta {float(wrong):.4g} beside a limit of {float(limit):.4g}"
