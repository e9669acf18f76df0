"""A manifest has one spelling: every other spelling of the same statement is refused."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.errors import VerificationFailed
from crowdgate.kind.run import Request
from crowdgate.kinds.rows.manifest_fields import RowsManifest
from crowdgate.ledger.key import draw_key
from crowdgate.limits import LARGEST_MANIFEST, MOST_NAMES
from crowdgate.manifest import NAME, canonical, kind_in, parsed
from crowdgate.releases import release as job
from tests.workshop import MARK, make_workshop

Claims = dict[str, Any]


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The manifest of a release of the small working copy."""
    workshop = make_workshop(tmp_path_factory.mktemp("m") / "w")
    path = job.release(Request(workshop.policy, "2030-01-01"), draw_key).path
    assert path is not None
    return (path / NAME).read_bytes()


def refused(data: bytes) -> str:
    with pytest.raises(VerificationFailed) as failed:
        parsed(RowsManifest, data)
    return str(failed.value)


def test_a_manifest_is_read_as_it_was_written(sealed: bytes) -> None:
    found = parsed(RowsManifest, sealed)
    assert found.sealed() == sealed
    assert canonical(found.to_json()) == sealed
    assert kind_in(sealed) == "safe_k_anonymity"


SPELLINGS: dict[str, tuple[str, str]] = {
    "a key twice": ('"kind": "Release",', '"kind": "Release",\n "kind": "Release",'),
    "a key twice, the first one wrong": ('"kind": "Release",', '"kind": "Other",\n "kind": "Release",'),
    "a float": ('"people": 1000', '"people": 1000.0'),
    "an exponent": ('"people": 1000', '"people": 1e3'),
    "a number as text": ('"people": 1000', '"people": "1000"'),
    "text as a number": ('"beta": "0.5"', '"beta": 0.5'),
    "a truth value": ('"rows_per_unit": 1', '"rows_per_unit": true'),
    "no number": ('"people": 1000', '"people": NaN'),
    "a negative zero": ('"delta": "0"', '"delta": "-0"'),
    "a zero too many": ('"beta": "0.5"', '"beta": "0.50"'),
    "a zero too few": ('"beta": "0.5"', '"beta": ".5"'),
    "a fraction": ('"beta": "0.5"', '"beta": "1/2"'),
    "another exponent": ('"beta": "0.5"', '"beta": "5e-01"'),
    "a sign": ('"beta": "0.5"', '"beta": "+0.5"'),
    "a digit of another alphabet": ('"beta": "0.5"', '"beta": "0.\u0665"'),
    "a space": ('"people": 1000', '"people":  1000'),
    "no space": ('"people": 1000', '"people":1000'),
    "a tab": (' "kind": "Release"', '\t"kind": "Release"'),
    "another line end": ("\n", "\r\n"),
    "a nothing": ('"kind": "safe_k_anonymity"', '"inherited": null,\n  "kind": "safe_k_anonymity"'),
    "an escape": ('"owner": "board"', '"owner": "bo\\u0061rd"'),
    "half a character": ('"owner": "board"', '"owner": "\\ud800"'),
    "an unknown field": ('"kind": "Release"', '"kind": "Release",\n "kindly": 1'),
    "a field in other letters": ('"kind": "Release"', '"Kind": "Release"'),
    "a default left out": (',\n  "rows": 1\n', "\n"),
    "a file in a folder": ('"data.csv"', '"../data.csv"'),
    "a digest in capitals": ('"policyDigest": "', '"policyDigest": "A'),
    "another form": ('"format": 3', '"format": 1'),
    "too many people": ('"people": 1000', '"people": 10000000000000'),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_another_spelling_of_the_same_statement_is_refused(sealed: bytes, name: str) -> None:
    old, new = SPELLINGS[name]
    assert old.encode() in sealed
    assert refused(sealed.replace(old.encode(), new.encode())).startswith("manifest.json: ")


WHOLE: dict[str, Callable[[bytes], bytes]] = {
    "no line end": lambda data: data[:-1],
    "two line ends": lambda data: data + b"\n",
    "something after it": lambda data: data + b"{}\n",
    "a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "another encoding": lambda data: data.decode().encode("utf-16"),
    "on one line": lambda data: json.dumps(json.loads(data), sort_keys=True).encode(),
    "in other order": lambda data: json.dumps(dict(reversed(json.loads(data).items())), indent=1).encode(),
    "nothing": lambda _: b"",
    "a list": lambda _: b"[]\n",
    "no text": lambda _: b"\xff\xfe\n",
    "deeply nested": lambda _: b"[" * 100_000,
    "deeply nested inside": lambda data: data.replace(b'"board"', b"[" * 100_000 + b"]" * 100_000),
}


@pytest.mark.parametrize("name", WHOLE)
def test_another_form_of_the_whole_is_refused(sealed: bytes, name: str) -> None:
    assert refused(WHOLE[name](sealed)).startswith("manifest.json: ")


@given(at=st.integers(min_value=0), byte=st.integers(1, 255))
def test_one_changed_byte_is_refused_or_another_statement(sealed: bytes, at: int, byte: int) -> None:
    at %= len(sealed)
    changed = sealed[:at] + bytes([sealed[at] ^ byte]) + sealed[at + 1 :]
    try:
        found = parsed(RowsManifest, changed)
    except VerificationFailed:
        return
    assert found.sealed() == changed
    assert found != parsed(RowsManifest, sealed)


def test_a_refusal_says_where_and_not_what_stands_there(sealed: bytes) -> None:
    said = refused(sealed.replace(b'"people": 1000', f'"people": "{MARK}"'.encode()))
    assert "facts.people" in said
    assert MARK not in said


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{}", b"\xff", b'{"mechanism": []}', b'{"mechanism": {"kind": 1}}', b"[" * 100_000,
     b'{"mechanism": {"kind": "' + b"x" * 101 + b'"}}'],
    ids=lambda data: repr(data[:30]),
)  # fmt: skip
def test_what_names_no_kind_is_refused(data: bytes) -> None:
    with pytest.raises(
        VerificationFailed, match=re.escape("manifest.json: this file is not the manifest of a release")
    ):
        kind_in(data)


def test_what_is_larger_than_a_manifest_is_refused_unread() -> None:
    with pytest.raises(VerificationFailed, match="larger than"):
        kind_in(b" " * (LARGEST_MANIFEST + 1))


def test_a_published_manifest_says_what_it_was_written_with(sealed: bytes) -> None:
    claims: Claims = json.loads(sealed)
    assert set(claims["software"]) == {"crowdgate", "pyarrow"}
    assert [found["measure"] for found in claims["verdicts"] if found["class"] == "confidential"] == []
    assert Path(next(iter(claims["files"]))).name in claims["files"]


def test_of_many_wrong_numbers_the_first_alone_is_looked_at(sealed: bytes) -> None:
    claims: Claims = json.loads(sealed)
    claims["facts"]["margins"]["ward"] = [-1] * 1000
    assert refused(canonical(claims)).count("\n") == 0


def test_a_manifest_of_very_many_names_is_refused_unread() -> None:
    with pytest.raises(VerificationFailed, match=f"more than {MOST_NAMES} names"):
        kind_in(b"{" + b'"a":1,' * (MOST_NAMES + 1) + b'"b":1}')
