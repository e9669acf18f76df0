"""A registered row joins the suite automatically, and a test names anything else that it needs."""

from collections.abc import Hashable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from crowdgate.formats import FORMATS
from crowdgate.kinds import KINDS
from crowdgate.ledger.stores import STORES
from crowdgate.planning.bundle import KNOWN
from crowdgate.sources import SOURCES
from tests.conformance.copies import SLOT, Case, axes, missing
from tests.conformance.lives import live, say
from tests.conformance.pairs import covering, pairs_of

AXES: tuple[tuple[Hashable, ...], ...] = (("a", "b", "c"), (1, 2), (True, False), tuple(range(5)))


def test_the_chosen_rows_hold_every_pair_and_are_fewer_than_the_product() -> None:
    rows, every = covering(AXES), list(product(*AXES))
    assert set().union(*map(pairs_of, rows)) == set().union(*map(pairs_of, every))
    assert len(rows) < len(every) / 2
    assert rows == covering(AXES)


def _copied(kind: Any, name: str) -> Any:
    """Return a copy of a kind of release under another name."""
    spec = type("Copied", (kind.spec,), {"__annotations__": {"kind": str}})
    return type("CopiedKind", (type(kind),), {"name": name, "spec": spec})()


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_that_is_registered_is_tested_with_everything(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "planted", _copied(KINDS[kind], "planted"))
    rows = [row for row in covering(axes()) if row[0] == "planted"]
    assert {row[1] for row in rows} == set(SOURCES)
    assert {row[2] for row in rows} == {(name,) for name in FORMATS} | {tuple(FORMATS)}
    assert {row[3] for row in rows} == set(STORES)


def test_a_format_that_is_registered_is_tested_alone_and_with_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, "planted", FORMATS["csv"])
    rows = [row for row in covering(axes()) if "planted" in row[2]]  # type: ignore[operator]
    assert {row[2] for row in rows} == {("planted",), tuple(FORMATS)}
    assert {row[0] for row in rows} == set(KINDS)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_a_format_that_is_registered_goes_through_the_suite(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FORMATS, "planted", FORMATS["csv"])
    monkeypatch.setattr("crowdgate.planning.plan.KNOWN", replace(KNOWN, formats=tuple(FORMATS)))
    life = live(Case(kind, "parquet", tuple(FORMATS), "sqlite"), tmp_path / "w")
    assert life.release.code == 0
    assert any(name.endswith(".planted") for name in life.copy.published())
    assert say("verify", life.copy.release_dir(SLOT), "--ledger", life.copy.ledger).code == 0


def test_a_source_and_a_store_without_a_writer_are_told_with_what_to_add(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SOURCES, "planted", SOURCES["csv"])
    monkeypatch.setitem(STORES, "planted", STORES["sqlite"])
    source, store = missing()
    assert "source 'planted'" in source
    assert "TABLES in tests/conformance/copies.py" in source
    assert "store 'planted'" in store
    assert "LEDGERS in tests/conformance/copies.py" in store
