"""Verification finds any change of a published release."""

import csv
import json
import os
import shutil
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdgate import manifest
from crowdgate.errors import VerificationFailed
from crowdgate.jobs import release as job
from crowdgate.jobs.verify import verify
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.publish.publisher import file_digest
from tests.workshop import Workshop, crowdgate, make_workshop

FILES = ("data.parquet", "data.csv", "dictionary.csv", "estimates.csv", "README.md")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workshop, Path]:
    workshop = make_workshop(tmp_path_factory.mktemp("verify") / "w")
    result = job.release(Request(workshop.policy, "2030-01-01"), draw_key)
    assert result.path is not None
    return workshop, result.path


@pytest.fixture
def copy(published: tuple[Workshop, Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(published[1], tmp_path / "copy"))


def test_an_untouched_release_verifies(published: tuple[Workshop, Path]) -> None:
    workshop, path = published
    assert crowdgate("verify", path) == 0
    assert crowdgate("verify", path, "--ledger", workshop.ledger) == 0


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("at", [0, 0.5, 1])
def test_one_changed_byte_in_any_file_is_found(copy: Path, name: str, at: float) -> None:
    data = bytearray((copy / name).read_bytes())
    data[int(at * (len(data) - 1))] ^= 1
    (copy / name).write_bytes(data)
    assert crowdgate("verify", copy) == 6


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".csv")])
def test_a_quote_anywhere_in_a_listing_is_refused_and_told_by_its_digest(copy: Path, name: str) -> None:
    whole = (copy / name).read_bytes()
    for at in range(0, len(whole), max(1, len(whole) // 25)):
        (copy / name).write_bytes(whole[:at] + b'"' + whole[at + 1 :])
        if whole[at : at + 1] != b'"':
            with pytest.raises(VerificationFailed, match=f"{name}: its digest is not the manifest's"):
                verify(copy)


@pytest.mark.parametrize("name", [*FILES, "manifest.json"])
def test_what_is_no_plain_file_is_refused_and_not_waited_for(copy: Path, name: str) -> None:
    (copy / name).unlink()
    os.mkfifo(copy / name)
    assert crowdgate("verify", copy) == 6


@pytest.mark.parametrize("url", ["ledger", "sqlite://x", "postgres://a/b"])
def test_a_wrong_ledger_url_is_no_fault_of_the_release(copy: Path, url: str) -> None:
    assert crowdgate("verify", copy, "--ledger", url) == 2


def test_any_changed_byte_of_the_manifest_is_found_with_the_ledger(
    published: tuple[Workshop, Path], copy: Path
) -> None:
    sealed = (copy / "manifest.json").read_bytes()
    for at in range(0, len(sealed), 97):
        (copy / "manifest.json").write_bytes(sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :])
        assert crowdgate("verify", copy, "--ledger", published[0].ledger) == 6


def test_a_release_that_the_ledger_does_not_know_fails(copy: Path, tmp_path: Path) -> None:
    other = make_workshop(tmp_path / "other")
    with pytest.raises(VerificationFailed, match="knows no published release"):
        verify(copy, other.ledger)


def test_missing_and_additional_files_are_found(copy: Path) -> None:
    (copy / "data.csv").unlink()
    (copy / "extra.txt").write_text("x")
    with pytest.raises(VerificationFailed) as failed:
        verify(copy)
    assert "data.csv: missing" in str(failed.value)
    assert "extra.txt: not in the manifest" in str(failed.value)


def reseal(copy: Path, change: Callable[[dict[str, Any]], None] = lambda _: None) -> None:
    """Give the manifest the digests of the files as they are now: a careful forger without the ledger."""
    claims = json.loads((copy / "manifest.json").read_text())
    claims["files"] = {name: file_digest(copy / name) for name in claims["files"]}
    change(claims)
    (copy / "manifest.json").write_bytes(manifest.canonical(claims))


def rewrite(copy: Path, change: Callable[[list[list[str]]], list[list[str]]]) -> None:
    """Change the rows of both data files."""
    with (copy / "data.csv").open(newline="") as file:
        header, *rows = list(csv.reader(file))
    rows = change(rows)
    with (copy / "data.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    columns = [pa.array([row[i] for row in rows], pa.string()) for i in range(len(header))]
    pq.write_table(pa.table(columns, names=header), copy / "data.parquet", store_schema=False)


def test_a_resealed_copy_without_changes_verifies(copy: Path) -> None:
    reseal(copy)
    assert verify(copy)


def _small_class(rows: list[list[str]]) -> list[list[str]]:
    first = [row for row in rows if row == rows[0]]
    return first[:2] + rows[len(first) :]


def _recount(claims: dict[str, Any], rows: int, classes: int) -> None:
    claims["data"].update(rows=rows, classes=classes)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (_small_class, "fewer than"),
        (lambda rows: [["17", rows[0][1]], *rows[1:]], "does not list"),
        (lambda rows: rows[::-1], "canonical order"),
        (lambda rows: rows[1:], "not as many"),
    ],
    ids=["small class", "foreign value", "order", "row missing"],
)
def test_a_forged_table_is_found_even_when_the_manifest_is_resealed(
    copy: Path, change: Callable[[list[list[str]]], list[list[str]]], found: str
) -> None:
    rewrite(copy, change)
    reseal(copy)
    with pytest.raises(VerificationFailed, match=found):
        verify(copy)


def test_data_files_that_differ_are_found(copy: Path) -> None:
    table = pq.read_table(copy / "data.parquet")
    rewrite(copy, lambda rows: rows[1:])
    pq.write_table(table, copy / "data.parquet", store_schema=False)
    reseal(copy, lambda claims: _recount(claims, claims["data"]["rows"] - 1, claims["data"]["classes"]))
    with pytest.raises(VerificationFailed, match="same rows"):
        verify(copy)


Lines = list[list[str]]
ESTIMATES: dict[str, tuple[Callable[[Lines], Lines], str]] = {
    "an estimate": (lambda lines: _with(lines, 3, "0.01"), "does not follow"),
    "a smaller estimate": (lambda lines: _with(lines, 3, "-0.01"), "does not follow"),
    "an error": (lambda lines: _with(lines, 4, "0.01"), "does not follow"),
    "a count": (lambda lines: _with(lines, 2, "1"), "not those of the data"),
    "a label": (lambda lines: [lines[0], [lines[1][0], "x", *lines[1][2:]], *lines[2:]], "not those of the data"),
    "a line missing": (lambda lines: lines[:-1], "not those of the data"),
    "a line more": (lambda lines: [*lines, lines[-1]], "not those of the data"),
    "order": (lambda lines: [lines[0], *lines[:0:-1]], "not those of the data"),
    "a cell missing": (lambda lines: [line[:4] for line in lines], "its columns"),
    "another form": (lambda lines: [lines[0], [*lines[1][:3], f"+{lines[1][3]}", lines[1][4]], *lines[2:]], "does not"),
    "no lines": (lambda _: [], "its columns"),
}


def _with(lines: Lines, at: int, more: str) -> Lines:
    """One figure of the first cell a little larger."""
    changed = Decimal(lines[1][at]) + Decimal(more)
    return [lines[0], [*lines[1][:at], str(changed), *lines[1][at + 1 :]], *lines[2:]]


@pytest.mark.parametrize("name", ESTIMATES)
def test_forged_estimates_are_found_even_when_the_manifest_is_resealed(copy: Path, name: str) -> None:
    change, found = ESTIMATES[name]
    with (copy / "estimates.csv").open(newline="") as file:
        lines = list(csv.reader(file))
    with (copy / "estimates.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(change(lines))
    reseal(copy)
    with pytest.raises(VerificationFailed, match=found):
        verify(copy)


def test_a_release_without_estimates_is_found(copy: Path) -> None:
    (copy / "estimates.csv").unlink()
    claims = json.loads((copy / "manifest.json").read_text())
    del claims["files"]["estimates.csv"]
    (copy / "manifest.json").write_bytes(manifest.canonical(claims))
    with pytest.raises(VerificationFailed, match="its files are not those of a release of rows"):
        verify(copy)


def _verdict(claims: dict[str, Any], measure: str) -> dict[str, str]:
    verdicts: list[dict[str, str]] = claims["verdicts"]
    (found,) = (verdict for verdict in verdicts if verdict["measure"] == measure)
    return found


def _without_charge(claims: dict[str, Any]) -> None:
    """The charged gate's part left out of the guarantee, everything else made to fit."""
    stated = claims["guarantee"]
    stated["parts"] = [part for part in stated["parts"] if part["name"] == "mechanism"]
    stated["epsilon"] = stated["parts"][0]["epsilon"]
    words = manifest.guarantee_words(manifest.guarantee_of(stated), Fraction(claims["mechanism"]["beta"]))
    stated["words"] = " ".join(words)


CLAIMS: dict[str, Callable[[dict[str, Any]], None]] = {
    "k": lambda claims: claims["mechanism"].update(k=3),
    "beta": lambda claims: claims["mechanism"].update(beta="9/10"),
    "epsilon": lambda claims: claims["guarantee"].update(epsilon="1"),
    "parts": lambda claims: claims["guarantee"]["parts"][0].update(epsilon="0.5"),
    "key": lambda claims: claims.update(key="injected"),
    "columns": lambda claims: claims["data"]["columns"].pop(),
    "level": lambda claims: claims["mechanism"]["attributes"].update(age="exact"),
    "no parts": lambda claims: claims["guarantee"].pop("parts"),
    "charge removed": lambda claims: _without_charge(claims),
    "failed gate": lambda claims: claims["verdicts"][0].update(outcome="fail"),
    "no gates": lambda claims: claims.update(verdicts=[]),
    "rows in a verdict": lambda claims: _verdict(claims, "released_rows").update(value="999999"),
    "another id": lambda claims: claims["release"].update(id="other/9/2030-01-01"),
    "a further section": lambda claims: claims.update(note="hello"),
    "a further number": lambda claims: claims["data"].update(sample_rows=300),
    "rows of a row": lambda claims: claims["mechanism"].update(rows=2),
    "words": lambda claims: claims["guarantee"].update(words="nothing can be learnt"),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_claims_that_do_not_fit_together_are_found(copy: Path, name: str) -> None:
    reseal(copy, CLAIMS[name])
    with pytest.raises(VerificationFailed):
        verify(copy)


def test_what_is_no_release_fails_with_exit_6(tmp_path: Path) -> None:
    assert crowdgate("verify", tmp_path) == 6
    (tmp_path / "manifest.json").write_text("[" * 100_000)
    assert crowdgate("verify", tmp_path) == 6
    (tmp_path / "manifest.json").write_bytes(b"\xff\xfe")
    assert crowdgate("verify", tmp_path) == 6


def test_an_edited_ledger_vouches_for_nothing(published: tuple[Workshop, Path], copy: Path, tmp_path: Path) -> None:
    import hashlib
    import sqlite3

    edited = tmp_path / "edited.db"
    shutil.copy(published[0].root / "ledger" / "ledger.db", edited)
    reseal(copy, _without_charge)
    digest = hashlib.sha256((copy / "manifest.json").read_bytes()).hexdigest()
    connection = sqlite3.connect(edited)
    connection.execute("UPDATE entries SET manifest_digest = ?", (digest,))
    connection.commit()
    connection.close()
    with pytest.raises(VerificationFailed, match="differ from its journal"):
        verify(copy, f"sqlite:///{edited}")
