"""Entries: round-trip, and refusal of changed and of impossible ones."""

import base64
import hashlib
import json
from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.anonymity.kl import entry as entries_of
from crowdgate.anonymity.kl.entry import PAYLOAD_TYPE, read_entry, signed_entry
from crowdgate.errors import VerificationFailed
from crowdgate.interval import Interval
from crowdgate.risk.bins import Bins
from crowdgate.risk.kl import collision_excess, kl_to_uniform
from crowdgate.risk.kl_sums import CellSums, SumGrid, consistent, noisy_figures, rows_interval
from crowdgate.signing.canonical import canonical
from crowdgate.signing.dsse import seal
from tests.examples import examples
from tests.kl_repository.shelves import BASES, TODAY, entries, entry, said
from tests.signing.desk import new_key

KEY, OTHER = new_key(), new_key()


def read(envelope: bytes) -> Any:
    return read_entry(envelope, [KEY.public], TODAY)


def as_signed(stated: Any) -> bytes:
    """Return any statement, canonically spelled and signed by a trusted key."""
    text = json.dumps(stated, sort_keys=True, ensure_ascii=False, indent=1) + "\n"
    return seal(PAYLOAD_TYPE, text.encode(), [KEY])


@settings(max_examples=examples(60), deadline=None)
@given(entries())
def test_an_entry_is_read_back_as_it_was_written(stated: dict[str, Any]) -> None:
    made = entry(stated)
    assert read(signed_entry(made, KEY)) == (made, (KEY.public.id,))
    assert read(as_signed(made.model_dump(mode="json", by_alias=True)))[0] == made


def leaves(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    if isinstance(value, dict | list):
        for key, inside in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inside, (*at, key))


def changed(stated: Any, at: tuple[Any, ...], new: Any) -> Any:
    if not at:
        return new
    whole = deepcopy(stated)
    place = whole
    for key in at[:-1]:
        place = place[key]
    place[at[-1]] = new
    return whole


@settings(max_examples=examples(60), deadline=None)
@given(entries(), st.data())
def test_a_change_of_any_field_after_signing_is_refused(stated: dict[str, Any], data: st.DataObject) -> None:
    at = data.draw(st.sampled_from(list(leaves(stated))))
    new: Any = data.draw(st.sampled_from([0, 1, 0.25, "x", "a" * 64, "2029-12-31", None, [], {}, True]))
    other = changed(stated, at, new)
    made = entry(stated)
    text = json.dumps(other, sort_keys=True, ensure_ascii=False, indent=1) + "\n"
    envelope = json.loads(signed_entry(made, KEY))
    payload = base64.b64encode(text.encode()).decode()
    if payload == envelope["payload"]:
        return
    envelope["payload"] = payload
    forged = (json.dumps(envelope, sort_keys=True, ensure_ascii=False, indent=1) + "\n").encode()
    with pytest.raises(VerificationFailed):
        read(forged)


@settings(max_examples=examples(80), deadline=None)
@given(st.sampled_from(sorted(BASES)), st.data())
def test_a_change_of_any_byte_is_refused(basis: str, data: st.DataObject) -> None:
    envelope = signed_entry(entry(said(basis)), KEY)
    at = data.draw(st.integers(0, len(envelope) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != envelope[at]))
    with pytest.raises(VerificationFailed):
        read(envelope[:at] + bytes([other]) + envelope[at + 1 :])


@pytest.mark.parametrize("basis", BASES)
def test_every_field_is_needed_and_no_other_is_read(basis: str) -> None:
    stated = said(basis)
    for at in leaves(stated):
        place: Any = stated
        for key in at:
            place = place[key]
        if isinstance(place, dict):
            with pytest.raises(VerificationFailed, match="extra_forbidden"):
                read(as_signed(changed(stated, at, {**place, "comment": "x"})))
            for key in place:
                less = {name: inside for name, inside in place.items() if name != key}
                with pytest.raises(VerificationFailed):
                    read(as_signed(changed(stated, at, less)))


def test_an_entry_that_nobody_trusted_signed_is_refused() -> None:
    with pytest.raises(VerificationFailed, match="none of these keys is among the 1 trusted keys"):
        read(signed_entry(entry(said()), OTHER))
    with pytest.raises(VerificationFailed, match="not a signed envelope"):
        read((json.dumps(said()) + "\n").encode())


def test_an_envelope_of_another_type_is_no_entry() -> None:
    payload = base64.b64decode(json.loads(signed_entry(entry(said()), KEY))["payload"])
    with pytest.raises(VerificationFailed, match=r"in-toto.*expected 'application/vnd.crowdgate.kl-entry"):
        read(seal("application/vnd.in-toto+json", payload, [KEY]))


POINT = dict.fromkeys(("low", "value", "high"), 0.0)
AGE = {"name": "age", "level": "x", "values": 2}
ABSURD: list[tuple[str, str, dict[str, Any]]] = [
    ("KL above ln N", "kl must be at most ln of the number of bins", {"kl": dict.fromkeys(POINT, log(40) + 1e-6)}),
    ("collisions above (N - 1)/2", "collision must be at most", {"collision": dict.fromkeys(POINT, 19.51)}),
    ("a KL above all of that collision quantity", "kl.low must be from", {"collision": dict.fromkeys(POINT, 0.3)}),
    ("a lower end that can't be", "kl.low must be from", {"collision": {"low": 0.1, "value": 0.6, "high": 0.7}}),
    ("an upper end that can't be", "kl.high must be from", {"collision": {"low": 0.59, "value": 0.6, "high": 9}}),
    ("no row", "greater_than_equal", {"people": {"rows": 0, "rowsEach": 1, "known": "charged"}}),
    ("negative", "greater_than_equal", {"kl": {"low": -0.1, "value": 0.5, "high": 0.6}}),
    ("ends out of order", "ends in order", {"kl": {"low": 0.5, "value": 0.4, "high": 0.6}}),
    ("bins of no product", "product", {"bins": 41}),
    ("an impossible coverage", "less_than_equal", {"source": {"coverage": 1.01, "error": 0.0}}),
    ("a negative error", "greater_than_equal", {"source": {"coverage": 1.0, "error": -0.01}}),
    ("no day", "YYYY-MM-DD", {"date": "2030-02-30"}),
    ("the future", "future", {"date": "2030-01-03"}),
    ("a small population", "at least 1000 people", {"people": {"rows": 999, "rowsEach": 1, "known": "charged"}}),
    ("a charge of nothing", "epsilon above 0", {"basis": {**BASES["charged"][1], "epsilon": "0"}}),
    ("no charge", "missing", {"basis": {"kind": "charged", "release": "r", "epsilon": "0.1"}}),
    ("a count that nobody paid", "are charged", {"people": {"rows": 5000, "rowsEach": 1, "known": "counted"}}),
    ("noise on a public table", "exact", {**said("public"), "kl": {"low": 0.4, "value": 0.5, "high": 0.51}}),
    ("an attribute twice", "each once", {"vocabulary": {"contract": "c", "version": "1", "attributes": [AGE, AGE]}}),
    ("asked and restricted", "at once", {
        "population": {"words": "w", "id": "p", "restrictions": [{"name": "age", "level": "x", "value": "1"}]}}),
]  # fmt: skip


@pytest.mark.parametrize(("why", "changes"), [case[1:] for case in ABSURD], ids=[case[0] for case in ABSURD])
def test_what_no_table_can_have_is_refused_whoever_signed_it(why: str, changes: dict[str, Any]) -> None:
    with pytest.raises(VerificationFailed, match=why):
        read(as_signed({**said(), **changes}))


def test_a_planted_missing_range_check_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries_of, "_exceeds", lambda *_: False)
    monkeypatch.setattr(entries_of, "most_kl", lambda *_: 9.0)
    read(as_signed({**said(), **ABSURD[0][2]}))


def test_one_bin_has_kl_0_and_nothing_else() -> None:
    one = {"vocabulary": {"contract": "c", "version": "1", "attributes": [{"name": "a", "level": "any", "values": 1}]}}
    assert read(as_signed({**said(), **one, "bins": 1, "kl": POINT, "collision": POINT}))
    with pytest.raises(VerificationFailed, match="at most ln of the number of bins, 0"):
        read(as_signed({**said(), **one, "bins": 1, "kl": dict.fromkeys(POINT, 1e-6), "collision": POINT}))


def public(bins: int, kl: float, collision: float, rows: int) -> dict[str, Any]:
    attributes = [{"name": "a", "level": "x", "values": bins}]
    return said("public") | {
        "vocabulary": {"contract": "c", "version": "1", "attributes": attributes},
        "people": {"rows": rows, "rowsEach": 1, "known": "counted"},
        "kl": dict.fromkeys(POINT, kl),
        "collision": dict.fromkeys(POINT, collision),
        "bins": bins,
    }


@pytest.mark.parametrize(
    ("figures", "why"),
    [
        ((1000, 0.0, 499.5, 10**6), "from 6.90776 to 6.90776"),
        ((2, 0.6, 0.5, 3), "from 0.693147 to 0.693147"),
        ((2, 0.4, 0.25, 100), "from 0.276652 to 0.276652"),
        ((10**6, 0.0, 0.0, 10), "kl must be at least 11.5129 with 10 rows"),
        ((1000, 5.0, 80.0, 1), "kl must be at least 6.90776 with 1 rows"),
        ((3, 0.0, 0.0, 4), "kl must be at least 0.0588"),
        ((10**6, 0.0, 0.0, 0), "greater_than_equal"),
    ],
)
def test_exact_figures_that_no_public_table_has_are_refused(figures: tuple[int, float, float, int], why: str) -> None:
    with pytest.raises(VerificationFailed, match=why):
        read(as_signed(public(*figures)))


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=30).filter(any), st.integers(0, 10**14))
def test_no_public_table_is_refused(counts: list[int], empty: int) -> None:
    held = [count for count in counts if count]
    cells = len(counts) + empty
    bins = Bins.from_counts(np.array(held, dtype=float), cells - len(held))
    exact = consistent(cells, *(Interval(x, x, x) for x in (kl_to_uniform(bins), collision_excess(bins))))
    assert entry(public(cells, exact[0].value, exact[1].value, sum(held)))


def ends(figure: Interval) -> dict[str, float]:
    return {"value": figure.value, "low": figure.low, "high": figure.high}


parts = st.tuples(*[st.floats(0, 1)] * 3).map(sorted)


@given(st.sampled_from([1, 2, 40, 10**6, 10**18]), parts, parts)
def test_a_release_of_any_range_can_be_published(bins: int, one: list[float], other: list[float]) -> None:
    """Its figures are made consistent first, as `publish` does."""
    low, value, high = (part * log(bins) for part in one)
    least, count, most = (part * (bins - 1) / 2 for part in other)
    kl, collision = consistent(bins, Interval(value, low, high), Interval(count, least, most))
    stated = public(bins, 0, 0, 5000) | {key: said("release")[key] for key in ("basis", "people")}
    assert entry(stated | {"kl": ends(kl), "collision": ends(collision)})


@given(
    st.sampled_from([1, 2, 40, 10**6, 10**18]),
    st.integers(1000, 10**6),
    st.integers(-(10**12), 10**12),
    st.integers(-(10**17), 10**17),
    st.sampled_from([Fraction(1, 10), Fraction(2)]),
)
def test_whatever_is_drawn_of_enough_people_can_be_published(
    bins: int, rows: int, logs: int, squares: int, epsilon: Fraction
) -> None:
    """So no noise makes a run crash after its charge."""
    grid, noisy = SumGrid(300_000), CellSums(rows, logs, squares)
    if rows_interval(grid, noisy, epsilon).low < 1000:
        return
    found = noisy_figures(grid, bins, noisy, epsilon)
    people = {"rows": int(found.rows.value), "rowsEach": 1, "known": "charged"}
    stated = public(bins, 0, 0, 1) | {"basis": BASES["charged"][1], "people": people}
    assert entry(stated | {"kl": ends(found.kl), "collision": ends(found.collision)})


CURVE = {
    "rows": {"low": 4900, "high": 5100},
    "points": [
        {"rate": "1", "share": {"value": 0.01, "low": 0.0, "high": 0.02}},
        {"rate": "0.1", "share": {"value": 0.1, "low": 0.09, "high": 0.11}},
    ],
}
BEFORE_CURVES = {
    "public": "8032dea669e90dfed4cd6fb95e0f88bcf8ebff7942974bb64b5a92ff6bc154fe",
    "release": "91d7d604dc473f7f5bf6aa97487ff8a23fdfd042275523f51696def288193ff6",
    "charged": "d4a81dfbf81082d26f844352143b9122d310fd792f0da98798b8603190f658f7",
}


@pytest.mark.parametrize("basis", BASES)
def test_an_entry_without_a_curve_has_the_bytes_that_it_always_had(basis: str) -> None:
    assert hashlib.sha256(canonical(entry(said(basis)))).hexdigest() == BEFORE_CURVES[basis]


def test_a_curve_is_read_back_and_an_empty_one_is_no_entry() -> None:
    with_curve = as_signed({**said(), "curve": CURVE})
    found = read(with_curve)[0]
    assert [each.rate for each in found.curve.points] == [1, Fraction(1, 10)]
    assert signed_entry(found, KEY) == with_curve
    with pytest.raises(VerificationFailed):
        read(as_signed({**said(), "curve": None}))


PUBLIC_CURVE = {
    "rows": {"low": 5000, "high": 5000},
    "points": [
        {"rate": "1", "share": dict.fromkeys(POINT, 0.02)},
        {"rate": "0.1", "share": dict.fromkeys(POINT, 0.1)},
    ],
}


@pytest.mark.parametrize(
    ("basis", "at", "new", "why"),
    [
        ("charged", ("points", 0, "rate"), "0.01", "from the largest on"),
        ("charged", ("points", 0, "rate"), "1.5", "at most 1"),
        ("charged", ("points", 0, "share", "high"), 1.01, "shares of at most 1"),
        ("charged", ("points", 0, "share", "low"), 0.5, "ends in order"),
        ("charged", ("rows", "low"), 5200, "ends in order"),
        ("charged", ("points",), [], "too_short"),
        ("release", ("rows", "low"), 4900, "no curve"),
        ("public", ("rows", "low"), 4900, "exact"),
        ("public", ("points", 0, "share"), dict.fromkeys(POINT, 0.2), "fall as the rate rises"),
        ("public", ("points", 0, "share", "low"), 0.01, "exact"),
    ],
)
def test_a_curve_that_no_table_has_is_refused(basis: str, at: tuple[Any, ...], new: Any, why: str) -> None:
    curve = PUBLIC_CURVE if basis == "public" else CURVE
    with pytest.raises(VerificationFailed, match=why):
        read(as_signed({**said(basis), "curve": changed(curve, at, new)}))


def test_the_curve_of_a_public_table_is_read() -> None:
    assert read(as_signed({**said("public"), "curve": PUBLIC_CURVE}))
