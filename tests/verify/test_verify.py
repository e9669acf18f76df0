"""Verification finds any change of a published release."""

import csv
import os
import shutil
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from crowdgate.errors import VerificationFailed
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.manifest import NAME, canonical
from crowdgate.releases import release as job
from crowdgate.verification.release import verify
from tests.forging import (
    Change,
    Claims,
    Lines,
    replain,
    reseal,
    reseal_with_page,
    reword,
    rewrite_lines,
    rewrite_rows,
    stated,
)
from tests.workshop import Workshop, crowdgate, make_workshop

FILES = ("data.parquet", "data.csv", "dictionary.csv", "counts.csv", "README.md")


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
            with pytest.raises(
                VerificationFailed,
                match=f"step 3, files: {name}: the file was changed: its size or digest differs from the",
            ):
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
    assert str(failed.value).splitlines() == [
        "step 3, files: 'data.csv': the manifest lists this file, and it is missing",
        "step 3, files: 'extra.txt': the manifest does not list this file",
    ]


def test_a_copy_that_is_written_and_sealed_again_without_changes_verifies(copy: Path) -> None:
    before = {file.name: file.read_bytes() for file in copy.iterdir()}
    rewrite_rows(copy, lambda rows: rows)
    rewrite_lines(copy / "counts.csv", lambda lines: lines)
    reseal_with_page(copy)
    assert {file.name: file.read_bytes() for file in copy.iterdir()} == before
    assert verify(copy)


def _small_class(rows: Lines) -> Lines:
    first = [row for row in rows if row == rows[0]]
    return first[:2] + rows[len(first) :]


def _recount(claims: Claims, rows: int) -> None:
    claims["data"].update(rows=rows)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (_small_class, "has fewer than k ="),
        (lambda rows: [["17", rows[0][1]], *rows[1:]], "does not list"),
        (lambda rows: rows[::-1], "canonical order"),
        (lambda rows: rows[1:], "number of rows or classes differs"),
        (lambda rows: [rows[0], *rows], "more rows than"),
    ],
    ids=["small class", "foreign value", "order", "row missing", "row more"],
)
def test_a_forged_table_is_found_even_when_the_manifest_is_resealed(
    copy: Path, change: Callable[[Lines], Lines], found: str
) -> None:
    rewrite_rows(copy, change)
    reseal(copy)
    with pytest.raises(VerificationFailed, match=f"step 6, contents: data.parquet: .*{found}"):
        verify(copy)


@pytest.mark.parametrize(("forged", "found"), [("csv", "csv"), ("parquet", "csv")])
def test_data_files_that_differ_are_found(copy: Path, forged: str, found: str) -> None:
    """The smaller one is read, and the other one is its bytes differ from those that Crowdgate would write of it."""
    rewrite_rows(copy, lambda rows: rows[1:], forged)
    reseal(copy, lambda claims: _recount(claims, claims["data"]["rows"] - (forged == "parquet")))
    with pytest.raises(
        VerificationFailed,
        match=f"step 6, contents: data.{found}: its bytes differ from those that Crowdgate would write",
    ):
        verify(copy)


COUNTS: dict[str, Callable[[Lines], Lines]] = {
    "a count": lambda lines: _with(lines, 2, "1"),
    "a smaller count": lambda lines: _with(lines, 2, "-1"),
    "a label": lambda lines: [lines[0], [lines[1][0], "x", *lines[1][2:]], *lines[2:]],
    "a line missing": lambda lines: lines[:-1],
    "a line more": lambda lines: [*lines, lines[-1]],
    "order": lambda lines: [lines[0], *lines[:0:-1]],
    "a cell missing": lambda lines: [line[:2] for line in lines],
    "another form": lambda lines: [lines[0], [*lines[1][:2], f"+{lines[1][2]}"], *lines[2:]],
    "no lines": lambda _: [],
}


def _with(lines: Lines, at: int, more: str) -> Lines:
    """Return lines with one figure of the first cell a little larger."""
    changed = Decimal(lines[1][at]) + Decimal(more)
    return [lines[0], [*lines[1][:at], str(changed), *lines[1][at + 1 :]], *lines[2:]]


@pytest.mark.parametrize("name", COUNTS)
def test_forged_counts_are_found_even_when_the_manifest_is_resealed(copy: Path, name: str) -> None:
    rewrite_lines(copy / "counts.csv", COUNTS[name])
    reseal(copy)
    with pytest.raises(
        VerificationFailed,
        match=r"^step 6, contents: counts.csv: its bytes differ from those that Crowdgate would write[^\n]*$",
    ):
        verify(copy)


DICTIONARY: dict[str, tuple[Callable[[Lines], Lines], str]] = {
    "a value missing": (lambda lines: lines[:-1], "numbers of values differ from the manifest's"),
    "a value twice": (lambda lines: [*lines, lines[-1]], "is listed twice"),
    "other names": (lambda lines: [lines[0], *([f"{row[0]}s", *row[1:]] for row in lines[1:])], "differ from "
        "the manifest"),
    "another code": (lambda lines: [lines[0], [*lines[1][:2], "7", *lines[1][3:]], *lines[2:]], "its bytes "
        "differ from those that Crowdgate would write"),
    "a value that occurs renamed": (
        lambda lines: [[*row[:3], "x" if row[3] == "north" else row[3], row[4]] for row in lines], "does not list",
    ),
    "no header": (lambda lines: lines[1:], "its columns must be"),
    "a cell more": (lambda lines: [*lines[:-1], [*lines[-1], ""]], "another number of cells"),
}  # fmt: skip


@pytest.mark.parametrize("name", DICTIONARY)
def test_a_forged_dictionary_is_found_even_when_the_manifest_is_resealed(copy: Path, name: str) -> None:
    change, found = DICTIONARY[name]
    rewrite_lines(copy / "dictionary.csv", change)
    reseal(copy)
    with pytest.raises(VerificationFailed, match=f"step 6, contents: .*{found}"):
        verify(copy)


def test_a_changed_word_of_the_page_is_found_even_when_the_manifest_is_resealed(copy: Path) -> None:
    page = (copy / "README.md").read_text(encoding="utf-8")
    (copy / "README.md").write_text(page.replace("does not protect", "protects"), encoding="utf-8")
    reseal(copy)
    with pytest.raises(
        VerificationFailed, match=r"^step 8, pages: README.md: this page differs from what the manifest"
    ):
        verify(copy)


@pytest.mark.parametrize(
    ("name", "found"),
    [("counts.csv", "contents: counts.csv: the file is missing"), ("README.md", "pages: README.md: ")],
)
def test_a_release_without_one_of_its_files_is_found(copy: Path, name: str, found: str) -> None:
    (copy / name).unlink()
    reseal_without(copy, name)
    with pytest.raises(VerificationFailed, match=found):
        verify(copy)


def test_a_further_file_is_found_even_when_the_manifest_names_it(copy: Path) -> None:
    (copy / "more.csv").write_bytes(b"column\n")
    claims = stated(copy)
    claims["files"]["more.csv"] = {}
    (copy / NAME).write_bytes(canonical(claims))
    reseal(copy)
    with pytest.raises(
        VerificationFailed, match=r"step 6, contents: more.csv: a release of this kind has no such file"
    ):
        verify(copy)


def _cut_first_class(copy: Path, size: int) -> Path:
    """A release whose first class has so many rows, with everything else that a release says of its rows."""
    with (copy / "data.csv").open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    first = Counter(map(tuple, rows))[tuple(rows[0])]
    kept = rows[first - size :]
    rewrite_rows(copy, lambda _: kept)
    counts = {name: Counter(row[at] for row in kept) for at, name in enumerate(("age", "ward"))}
    rewrite_lines(copy / "counts.csv", lambda lines: [lines[0], *([a, b, str(counts[a][b])] for a, b, _ in lines[1:])])

    def recounted(claims: Claims) -> None:
        _recount(claims, len(kept))
        for measure, value in (("released_rows", len(kept)), ("smallest_class", size)):
            _verdict(claims, measure).update(value=str(value), low=str(value), high=str(value))

    reseal_with_page(copy, recounted)
    return copy


def test_a_class_of_k_rows_verifies_and_one_of_a_row_less_does_not(copy: Path) -> None:
    k = stated(copy)["mechanism"]["k"]
    assert verify(_cut_first_class(copy, k))
    with pytest.raises(VerificationFailed, match=f"has fewer than k = {k} rows"):
        verify(_cut_first_class(copy, k - 1))


def reseal_without(copy: Path, name: str) -> None:
    claims = stated(copy)
    del claims["files"][name]
    (copy / NAME).write_bytes(canonical(claims))


def _verdict(claims: Claims, measure: str) -> dict[str, Any]:
    verdicts: list[dict[str, Any]] = claims["verdicts"]
    (found,) = (verdict for verdict in verdicts if verdict["measure"] == measure)
    return found


def _without_charge(claims: Claims) -> None:
    """The charged gate's part left out of the guarantee, everything else made to fit."""
    stated = claims["guarantee"]
    stated["parts"] = [part for part in stated["parts"] if part["name"] == "mechanism"]
    stated["epsilon"] = stated["parts"][0]["epsilon"]
    reword(claims, Fraction(claims["mechanism"]["beta"]))


def _without_charged_gate(claims: Claims) -> None:
    """Leave out the gate as well: no file shows which gates a policy has."""
    claims["verdicts"] = [found for found in claims["verdicts"] if found["class"] != "charged"]
    _without_charge(claims)


def _confidential_gate(claims: Claims) -> None:
    further = {**_verdict(claims, "released_rows"), "measure": "suppressed_share", "class": "confidential"}
    claims["verdicts"].append(further)


def _unmeasured(verdict: dict[str, Any]) -> None:
    for name in ("value", "low", "high"):
        del verdict[name]


def fewer_people(claims: Claims) -> None:
    """State fewer people, with the plain words that follow."""
    claims["facts"].update(people=900)
    replain(claims)


CLAIMS: dict[str, tuple[Change, str]] = {
    "k": (
        lambda claims: claims["mechanism"].update(k=3),
        "step 5, guarantee: k 3 is too small for the stated epsilon and delta",
    ),
    "beta": (
        lambda claims: claims["mechanism"].update(beta="0.9"),
        "step 5, guarantee: k 7 is too small for the stated epsilon and delta",
    ),
    "epsilon": (
        lambda claims: claims["guarantee"].update(epsilon="1"),
        "step 5, guarantee: the parts of the privacy guarantee do not add up",
    ),
    "parts": (
        lambda claims: claims["guarantee"]["parts"][0].update(epsilon="0.5"),
        "step 5, guarantee: the parts of the privacy guarantee do not add up",
    ),
    "key": (
        lambda claims: claims.update(key="injected"),
        "step 2, manifest: the manifest says that the secret key was injected",
    ),
    "columns": (
        lambda claims: claims["data"]["columns"].pop(),
        "step 5, guarantee: the columns or levels of the data differ from those of the mechanism",
    ),
    "level": (
        lambda claims: claims["mechanism"]["attributes"].update(age="exact"),
        "step 5, guarantee: the columns or levels of the data differ from those of the mechanism",
    ),
    "no parts": (
        lambda claims: claims["guarantee"].pop("parts"),
        "step 2, manifest: .*guarantee.parts: Field required",
    ),
    "charge removed": (
        _without_charge,
        "step 5, guarantee: the parts of the privacy guarantee are not those of the mechanism and the charged gates",
    ),
    "failed gate": (
        lambda claims: claims["verdicts"][0].update(outcome="fail"),
        "step 7, gates: pso_bound at most 1: this blocking gate did not pass",
    ),
    "no gates": (
        lambda claims: claims.update(verdicts=[]),
        "step 5, guarantee: the parts of the privacy guarantee are not those of the mechanism and the charged gates",
    ),
    "only advice": (
        lambda claims: [found.update(severity="advise") for found in claims["verdicts"]],
        "step 7, gates: the release has no blocking gate without a waiver",
    ),
    "rows in a verdict": (
        lambda claims: _verdict(claims, "released_rows").update(value="999999"),
        "step 7, gates: released_rows: the value in the manifest differs from the value measured again on the release",
    ),
    "another id": (
        lambda claims: claims["release"].update(id="other/9/2030-01-01"),
        "step 2, manifest: the manifest's release id differs",
    ),
    "a further section": (lambda claims: claims.update(note="hello"), "step 2, manifest: .*note: Extra inputs"),
    "a further number": (
        lambda claims: claims["data"].update(sample_rows=300),
        "step 2, manifest: .*data.sample_rows: Extra inputs",
    ),
    "rows of a row": (
        lambda claims: claims["mechanism"].update(rows=2),
        "step 5, guarantee: the number of rows per privacy unit",
    ),
    "words": (
        lambda claims: claims["guarantee"].update(words=["nothing can be learnt"]),
        "step 5, guarantee: the manifest's sentences on the guarantee differ from its numbers",
    ),
    "fewer people": (
        fewer_people,
        "step 8, pages: README.md: this page differs",
    ),
    "less spent": (
        lambda claims: claims["facts"]["spent"].update(epsilon="1"),
        "step 2, manifest: the manifest's total spent by the population is less",
    ),
    "a limit": (
        lambda claims: _verdict(claims, "released_rows").update(at_least="1000"),
        "step 7, gates: released_rows: the manifest's outcome of this gate does not follow",
    ),
    "both limits": (
        lambda claims: _verdict(claims, "released_rows").update(at_most="1000"),
        "step 7, gates: released_rows: the manifest's gate on this measure has a limit, option or charge that "
        "such a gate can't have",
    ),
    "a gate of another class": (
        lambda claims: _verdict(claims, "released_rows").update({"class": "static"}),
        "step 7, gates: released_rows: there is no public measure of this name and class",
    ),
    "a confidential gate": (
        _confidential_gate,
        "step 7, gates: suppressed_share: there is no public measure of this name and class",
    ),
    "an unknown measure": (
        lambda claims: _verdict(claims, "released_rows").update(measure="magic"),
        "step 7, gates: magic: there is no public measure of this name and class",
    ),
    "a gate that was not measured": (
        lambda claims: _unmeasured(_verdict(claims, "released_rows")),
        "step 7, gates: released_rows: the value in the manifest differs from the value measured again",
    ),
    "another margin": (
        lambda claims: claims["facts"]["margins"].update(ward=[1, 1, 1, 997]),
        "step 7, gates: expected_singletons: the value in the manifest differs from the value measured again",
    ),
    "formats": (
        lambda claims: claims.update(formats=["csv"]),
        "step 6, contents: data.parquet: a release of this kind has no such file",
    ),
    "an unknown format": (
        lambda claims: claims.update(formats=["xml"]),
        "step 2, manifest: the manifest's formats are unknown or repeated",
    ),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_claims_that_do_not_fit_together_are_found(copy: Path, name: str) -> None:
    change, found = CLAIMS[name]
    reseal(copy, change)
    with pytest.raises(VerificationFailed, match=found):
        verify(copy)


def _part_for_less(claims: Claims) -> None:
    """The part of the charged gate costs less than its noise took."""
    stated = claims["guarantee"]
    (part,) = (part for part in stated["parts"] if part["name"] == "gate singletons")
    part.update(epsilon="0.01")
    stated["epsilon"] = "1.51"
    reword(claims, Fraction(claims["mechanism"]["beta"]))


def _charged_more(claims: Claims) -> None:
    """More taken by the noise than its part pays, so that the interval seems narrow."""
    found = _verdict(claims, "singletons")
    found.update(charge="100", low=found["value"], high=found["value"])


@pytest.mark.parametrize("change", [_part_for_less, _charged_more])
def test_the_part_of_a_charged_gate_is_what_its_noise_took(copy: Path, change: Change) -> None:
    reseal_with_page(copy, change)
    with pytest.raises(
        VerificationFailed,
        match="step 5, guarantee: the parts of the privacy guarantee are not those of the mechanism and the charged",
    ):
        verify(copy)


def _another_policy(claims: Claims) -> None:
    """The price that was charged, of a policy that was not."""
    claims["policyDigest"] = "0" * 64


@pytest.mark.parametrize("change", [_without_charged_gate, _another_policy], ids=["another price", "another policy"])
def test_price_and_policy_must_each_be_what_the_ledger_charged(
    published: tuple[Workshop, Path], copy: Path, change: Change
) -> None:
    reseal_with_page(copy, change)
    assert verify(copy)
    with pytest.raises(VerificationFailed, match="its guarantee or policy differs from what the ledger charged"):
        verify(copy, published[0].ledger)


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
    reseal_with_page(copy, _without_charged_gate)
    assert verify(copy)
    digest = hashlib.sha256((copy / "manifest.json").read_bytes()).hexdigest()
    connection = sqlite3.connect(edited)
    connection.execute("UPDATE entries SET manifest_digest = ?", (digest,))
    connection.commit()
    connection.close()
    with pytest.raises(VerificationFailed, match=r"step 9, ledger: manifest.json: its digest differs"):
        verify(copy, published[0].ledger)
    with pytest.raises(VerificationFailed, match=r"step 9, ledger: .*differ from its journal"):
        verify(copy, f"sqlite:///{edited}")


def test_a_gate_on_the_input_speaks_of_a_column_that_was_read(tmp_path: Path) -> None:
    workshop = make_workshop(tmp_path / "w")
    gate = "{measure: invalid_share, of: ward, at_most: 0.5, charge: {epsilon: 0.1}}"
    workshop.edit(workshop.policy, "    - {measure: released_rows", f"    - {gate}\n    - {{measure: released_rows")
    path = job.release(Request(workshop.policy, "2030-01-01"), draw_key).path
    assert path is not None
    verify(path)

    def elsewhere(claims: Claims) -> None:
        (stated,) = [gate for gate in claims["verdicts"] if gate["measure"] == "invalid_share"]
        stated["of"] = "note"
        for part in claims["guarantee"]["parts"]:
            part["name"] = part["name"].replace("of ward", "of note")
        reword(claims, Fraction(1, 2))

    reseal_with_page(path, elsewhere)
    with pytest.raises(
        VerificationFailed,
        match="invalid_share: the manifest's gate on this measure has a limit, option or charge that such a "
        "gate can't have",
    ):
        verify(path)
