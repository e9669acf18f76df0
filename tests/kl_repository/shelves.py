"""Entries and repositories for tests, without a run."""

import json
from datetime import date
from math import log, prod
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from crowdgate.anonymity.kl import index
from crowdgate.anonymity.kl.entry import KlEntry, digest_of, signed_entry
from crowdgate.interval import Interval
from crowdgate.risk.bins import Bins
from crowdgate.risk.kl import collision_excess, kl_to_uniform
from crowdgate.risk.kl_sums import consistent
from crowdgate.signing.keys import SigningKey

TODAY = date(2030, 1, 2)
LEDGER = {"id": "clinic-01234567", "line": 4, "digest": "a" * 64}
BASES: dict[str, tuple[str, dict[str, Any]]] = {
    "public": ("counted", {"kind": "public", "digest": "b" * 64}),
    "release": ("bound", {"kind": "release", "release": "clinic/1/2030-01-01", "manifest": "c" * 64}),
    "charged": (
        "charged",
        {"kind": "charged", "release": "kl/clinic/2030-01-01", "epsilon": "0.1", "charge": LEDGER},
    ),
}


def said(basis: str = "charged", kl: float = 0.5, collision: float = 0.6, **changes: Any) -> dict[str, Any]:
    """An entry of age (10 values) and ward (4) as JSON; `changes` replace top-level fields."""
    known, stated = BASES[basis]
    wide = 0.0 if basis == "public" else 0.01
    return {
        "type": "urn:crowdgate:kl-entry:v1",
        "vocabulary": {
            "contract": "clinic",
            "version": "1.0.0",
            "attributes": [
                {"name": "age", "level": "10 years", "values": 10},
                {"name": "ward", "level": "exact", "values": 4},
            ],
        },
        "population": {"words": "Patients of the clinic", "id": "clinic-patients", "restrictions": []},
        "people": {"rows": 5000, "rowsEach": 1, "known": known},
        "source": {"coverage": 0.9, "error": 0.01},
        "kl": {"value": kl, "low": kl - wide, "high": kl + wide},
        "collision": {"value": collision, "low": collision - wide, "high": collision + wide},
        "bins": 40,
        "date": "2030-01-01",
        "basis": stated,
        **changes,
    }


def entry(stated: dict[str, Any]) -> KlEntry:
    """Return the entry; raises ValueError if it is invalid."""
    return KlEntry.model_validate_json(json.dumps(stated))


def shelf(folder: Path, key: SigningKey, *stated: dict[str, Any]) -> list[str]:
    """Write a repository of these entries, signed with its index by one key, and return their digests."""
    folder.mkdir(parents=True, exist_ok=True)
    envelopes = [signed_entry(entry(each), key) for each in stated]
    for envelope in envelopes:
        (folder / index.file_name(digest_of(envelope))).write_bytes(envelope)
    digests = [digest_of(envelope) for envelope in envelopes]
    (folder / index.NAME).write_bytes(index.signed_index(digests, date(2030, 1, 1), key))
    return digests


words = st.text("abcÄ 7-_/", min_size=1, max_size=12).map(str.strip).filter(bool)
names = st.lists(words, min_size=1, max_size=4, unique=True).map(sorted)


@st.composite
def entries(draw: st.DrawFn) -> dict[str, Any]:
    """Draw valid entries, of all bases, including one bin and small populations."""
    basis = draw(st.sampled_from(sorted(BASES)))
    sizes = st.integers(1, 1000)
    attributes: list[dict[str, Any]] = [
        {"name": name, "level": draw(words), "values": draw(sizes)} for name in draw(names)
    ]
    used = {each["name"] for each in attributes}
    restricted = [name for name in draw(names) if name not in used]
    bins = prod(each["values"] for each in attributes)
    parts = sorted(draw(st.tuples(*[st.floats(0, 1)] * 3)))
    counted = draw(st.lists(st.integers(1, 10**6), min_size=1, max_size=min(bins, 20)))
    if basis == "public":
        table = Bins.from_counts(np.array(counted, dtype=float), bins - len(counted))
        figures = [Interval(each, each, each) for each in (kl_to_uniform(table), collision_excess(table))]
        rows = st.just(sum(counted))
    else:
        tops = (log(bins), (bins - 1) / 2)
        figures = [Interval(*(parts[at] * top for at in (1, 0, 2))) for top in tops]
        rows = st.integers(1000 if basis == "charged" else 1, 10**12)
    kl, collision = map(vars, consistent(bins, *figures))
    changes = {
        "vocabulary": {"contract": draw(words), "version": draw(words), "attributes": attributes},
        "population": {
            "words": draw(words),
            "id": draw(words),
            "restrictions": [{"name": name, "level": draw(words), "value": draw(words)} for name in restricted],
        },
        "people": {"rows": draw(rows), "rowsEach": 1, "known": BASES[basis][0]},
        "source": {"coverage": draw(st.floats(0, 1)), "error": draw(st.floats(0, 1))},
        "kl": kl,
        "collision": collision,
        "bins": bins,
        "date": draw(st.dates(date(2000, 1, 1), TODAY)).isoformat(),
    }
    return said(basis) | changes
