"""Manual forgeries, by a careful forger without ledger and key: each is refused, in the named step.

The release is signed, and the forger removes the signature: verification without keys does not miss it. There is no CSV
bomb: CSV is read as stored, and its bytes are those that the manifest states.
"""

import os
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdgate import manifest
from crowdgate.errors import VerificationFailed
from crowdgate.formats import FORMATS
from crowdgate.kind.run import Request
from crowdgate.kinds import KINDS
from crowdgate.ledger.key import draw_key
from crowdgate.manifest import NAME, FileFields, json_fields
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.publish.file_names import SIGNED
from crowdgate.publish.publisher import file_fields
from crowdgate.releases import release as job
from crowdgate.signing import keys
from crowdgate.verification.release import verify
from tests.forgery.bombs import BLOCK, GIGA, ZSTD, parquet, zstd_zeros
from tests.forging import (
    PAGE,
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
from tests.kinds.test_tables_release import tables_workshop
from tests.workshop import Workshop, make_workshop

Forge = Callable[[Path], object]
SECRET = "Alice,HIV"
DATA = ("data.csv", "data.parquet")
FILLED, EMPTY = b"\x15\x0c\x25\x00\x18", b"\x15\x0c\x25\x02\x18"
"""The first bytes in a footer of a required text column, and of an optional one."""
UNREAD = FileFields(sha256="0" * 64, bytes=0)
"""The fields of a file that sealing does not read."""


@dataclass(frozen=True)
class Published:
    """A signed release, with the ledger and the public key that distinguish it from forgeries."""

    folder: Path
    ledger: str
    key: Path


def _published(workshop: Workshop) -> Published:
    keys.create(workshop.root / "key")
    workshop.edit(workshop.root / "crowdgate.toml", "ledger =", 'signing_key = "key"\nledger =')
    ledger_at(workshop.root, None).sign()
    folder = job.release(Request(workshop.policy, "2030-01-01"), draw_key).path
    assert folder is not None
    return Published(folder, workshop.ledger, workshop.root / "key.pub")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Published:
    return _published(make_workshop(tmp_path_factory.mktemp("hand") / "rows"))


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Published:
    return _published(tables_workshop(tmp_path_factory.mktemp("hand") / "tables"))


def _copied(release: Published, place: Path) -> Path:
    copy = Path(shutil.copytree(release.folder, place / "copy"))
    (copy / SIGNED).unlink()
    return copy


@pytest.fixture
def copy(rows: Published, tmp_path: Path) -> Path:
    return _copied(rows, tmp_path)


# what a forger does


def then(*steps: Forge) -> Forge:
    """Return a forgery of these steps in order."""

    def all_of_them(folder: Path) -> None:
        for step in steps:
            step(folder)

    return all_of_them


def says(change: Change) -> Forge:
    """Return a forgery of the manifest only."""
    return lambda folder: reseal(folder, change)


def says_with_page(change: Change) -> Forge:
    """Return a forgery of the manifest with the README that the maker would write for it."""
    return lambda folder: reseal_with_page(folder, change)


def claims_bytes(old: bytes, new: bytes) -> Forge:
    """Return a forgery that replaces bytes of the manifest once."""

    def change(folder: Path) -> None:
        sealed = (folder / NAME).read_bytes()
        assert old in sealed
        (folder / NAME).write_bytes(sealed.replace(old, new, 1))

    return change


def listed(name: str, *gone: str) -> Change:
    """Return a change that lists another file in the manifest, and drops others."""

    def change(claims: Claims) -> None:
        claims["files"] = {known: file for known, file in claims["files"].items() if known not in gone}
        claims["files"][name] = json_fields(UNREAD)

    return change


def smuggled(name: str, *gone: str, stays: bool = True) -> Forge:
    """Return a forgery with a secret file in place of others, listed in the manifest."""

    def change(folder: Path) -> None:
        for other in gone:
            (folder / other).unlink()
        (folder / name).write_text(f"{SECRET}\n", encoding="utf-8")
        if stays:
            _seal(folder, listed(name, *gone))

    return change


def _seal(folder: Path, change: Change) -> None:
    claims = stated(folder)
    change(claims)
    claims["files"] = {name: json_fields(file_fields(folder / name)) for name in claims["files"]}
    (folder / NAME).write_bytes(manifest.canonical(claims))


def _gate(claims: Claims, measure: str) -> dict[str, Any]:
    (found,) = (gate for gate in claims["verdicts"] if gate["measure"] == measure)
    return dict(found)


def gate(measure: str, **new: str) -> Change:
    """Return a change of a gate's fields."""

    def change(claims: Claims) -> None:
        changed = {**_gate(claims, measure), **new}
        claims["verdicts"] = [changed if old["measure"] == measure else old for old in claims["verdicts"]]

    return change


def without_gate(measure: str) -> Change:
    """Return a change that drops a gate."""

    def change(claims: Claims) -> None:
        claims["verdicts"] = [old for old in claims["verdicts"] if old["measure"] != measure]

    return change


def exactly(measure: str, number: int) -> Change:
    """Return a change of a gate's measured number."""
    return gate(measure, value=str(number), low=str(number), high=str(number))


def guarantee(words: bool, **new: str) -> Change:
    """Return a change of the mechanism's guarantee, with fitting totals, and optionally the words."""

    def change(claims: Claims) -> None:
        said = claims["guarantee"]
        said["parts"][0].update(new)
        for loss in ("epsilon", "delta"):
            said[loss] = str(float(sum(Fraction(part[loss]) for part in said["parts"])))
            said[loss] = said[loss].removesuffix(".0")
        if words:
            reword(claims, Fraction(claims["mechanism"]["beta"]) if "k" in claims["mechanism"] else None)

    return change


def mechanism(**new: object) -> Change:
    """Return a change of the mechanism's parameters."""
    return lambda claims: claims["mechanism"].update(new)


def rate(beta: str) -> Change:
    """Return a change of the sampling rate, so that each row seems to represent fewer or more persons."""

    def change(claims: Claims) -> None:
        claims["mechanism"]["beta"] = beta
        reword(claims, Fraction(beta))

    return change


def doubled(lines: Lines) -> Lines:
    """Return every row twice."""
    return [line for line in lines for _ in range(2)]


def without_first(lines: Lines) -> Lines:
    """Return the lines without the first class."""
    return [line for line in lines if line != lines[0]]


def data(change: Callable[[Lines], Lines]) -> Forge:
    """Return a change of the rows in all formats."""
    return lambda folder: rewrite_rows(folder, change)


def counted(folder: Path) -> None:
    """Set the manifest's numbers of rows and classes to the current ones."""
    lines = (folder / "data.csv").read_text(encoding="utf-8").splitlines()[1:]
    reseal(folder, lambda claims: claims["data"].update(rows=len(lines), classes=len({*lines})))


def judged(folder: Path) -> None:
    """Measure the gates on the data again."""
    lines = (folder / "data.csv").read_text(encoding="utf-8").splitlines()[1:]
    for change in (
        exactly("released_rows", len(lines)),
        exactly("smallest_class", min(map(lines.count, {*lines}))),
    ):
        reseal(folder, change)


def rewritten(folder: Path) -> None:
    """Write all files of the kind again, as the maker would for these rows."""
    sealed = (folder / NAME).read_bytes()
    kind = KINDS[manifest.kind_in(sealed)]
    said = manifest.parsed(kind.manifest_class(), sealed)
    formats = {name: FORMATS[name] for name in said.formats}
    for name, write in kind.files(said, kind.read(folder, said, formats), formats).items():
        with (folder / name).open("wb") as file:
            write(file)
    reseal(folder)


PAGED: Forge = reseal_with_page


def hidden(name: str, *, value: bool = False, schema: bool = False) -> Forge:
    """Return a forgery with a secret in a Parquet file that reads as the same table.

    The secret is an unused value of its first dictionary, in its Arrow schema, or a key of its own.
    """

    def apply(folder: Path) -> None:
        path = folder / name
        table = pq.read_table(path, read_dictionary=pq.read_schema(path).names)
        changed = _value_more(table) if value else table.replace_schema_metadata({"note": SECRET} if schema else None)
        with pq.ParquetWriter(path, changed.schema, compression="none", store_schema=schema) as out:
            out.write_table(changed)
            if not value and not schema:
                out.add_key_value_metadata({"note": SECRET})
        assert SECRET.encode() in path.read_bytes()
        assert pq.read_table(path).to_pylist() == table.to_pylist()
        reseal(folder)

    return apply


def _value_more(table: pa.Table) -> pa.Table:
    (held,) = table.column(0).chunks
    more = pa.concat_arrays([held.dictionary, pa.array([SECRET])])
    return table.set_column(0, table.schema.field(0), pa.DictionaryArray.from_arrays(held.indices, more))


def behind(name: str) -> Forge:
    """Return a forgery with a secret after the end of a file."""

    def apply(folder: Path) -> None:
        with (folder / name).open("ab") as file:
            file.write(SECRET.encode())
        reseal(folder)

    return apply


def in_front_of_footer(folder: Path) -> None:
    """Insert bytes before the footer, where no reader looks: the footer is found from the end of the file."""
    whole = (folder / "data.parquet").read_bytes()
    footer = int.from_bytes(whole[-8:-4], "little") + 8
    (folder / "data.parquet").write_bytes(whole[:-footer] + SECRET.encode() + whole[-footer:])
    reseal(folder)


def _of_so_many(claims: dict[str, Any], rows: int) -> None:
    claims["data"].update(rows=rows)
    claims["facts"].update(people=rows)
    replain(claims)


def bomb(folder: Path) -> None:
    """Write a file of some 130 kB that expands to 4 GB: two columns of 2 GiB each, the most that a page can state.

    The columns are optional, as those of a release: only the compression distinguishes them.
    """
    size = 2 * GIGA - BLOCK
    whole = parquet(["age", "ward"], zstd_zeros(size), size, ZSTD)
    assert whole.count(FILLED) == 2
    assert len(whole) < 363_000
    (folder / "data.parquet").write_bytes(whole.replace(FILLED, EMPTY))
    reseal(folder)


def alone(folder: Path) -> None:
    """Leave only Parquet, so that nothing smaller is read in its place."""
    (folder / "data.csv").unlink()
    claims = stated(folder)
    del claims["files"]["data.csv"]
    claims["formats"] = ["parquet"]
    (folder / NAME).write_bytes(manifest.canonical(claims))


def counts(at: int, cell: str) -> Forge:
    """Return a change of a cell in the first line of counts.csv."""

    def apply(folder: Path) -> None:
        rewrite_lines(folder / "counts.csv", lambda lines: [lines[0], _put(lines[1], at, cell), *lines[2:]])
        reseal(folder)

    return apply


def _put(line: list[str], at: int, cell: str) -> list[str]:
    return [*line[:at], cell, *line[at + 1 :]]


def page(folder: Path) -> None:
    """Write another README."""
    (folder / PAGE).write_text("# clinic\n\nAnonymous. Nothing to fear.\n", encoding="utf-8")
    reseal(folder)


def instead(name: str, make: Callable[[Path], object]) -> Forge:
    """Replace a file with something that is no file."""

    def apply(folder: Path) -> None:
        (folder / name).unlink()
        make(folder / name)

    return apply


def linked(folder: Path) -> None:
    """Replace a file by a link to the same bytes."""
    away = folder.parent / "away.csv"
    shutil.move(folder / "data.csv", away)
    (folder / "data.csv").symlink_to(away)


def zeros(path: Path) -> None:
    """Put the device of endless zeros in place of a file."""
    try:
        os.mknod(path, 0o644 | stat.S_IFCHR, os.makedev(1, 5))
    except OSError:
        pytest.skip("only a superuser makes devices")


def whole_manifest(sealed: bytes) -> Forge:
    """Return a forgery with another whole manifest."""
    return lambda folder: (folder / NAME).write_bytes(sealed)


# what is refused of a release of rows

LONG = "1" + "0" * (4 << 20)
WRITTEN = "its bytes differ from those that Crowdgate would write for this release"
SHOWN = "the value in the manifest differs from the value measured again on the release"
FORGED: dict[str, tuple[Forge, str]] = {
    # files
    "data.txt for data, listed": (smuggled("data.txt", *DATA), "step 6, contents: "),
    "data.txt for data, its format too": (
        then(smuggled("data.txt", *DATA), says(lambda claims: claims.update(formats=["txt"]))),
        "step 2, manifest: the manifest's formats are unknown or repeated",
    ),
    "data.txt for one of two formats": (
        smuggled("data.txt", "data.parquet"), "step 6, contents: ",
    ),
    "data.txt beside CSV alone": (
        then(smuggled("data.txt", "data.parquet"), says(lambda claims: claims.update(formats=["csv"]))),
        "step 6, contents: data.txt: a release of this kind has no such file",
    ),
    "raw.csv, not listed": (smuggled("raw.csv", stays=False), "step 3, files: 'raw.csv': the manifest does not "
        "list this file"),
    "raw.csv, listed": (smuggled("raw.csv"), "step 6, contents: raw.csv: a release of this kind has no such file"),
    "a file in the name of the signature": (smuggled(SIGNED, stays=False), "step 4, signature: the file is not "
        "a signed envelope"),
    "another README": (page, "step 8, pages: README.md: this page differs from what the manifest and the files say"),
    "another README, not sealed": (
        lambda folder: (folder / PAGE).write_text("Nothing to fear.\n"), "step 3, files: README.md: the file "
            "was changed: its size or digest",
    ),
    # gates
    "a gate dropped, the README left": (says(without_gate("smallest_class")), "step 8, pages: README.md: "),
    "a gate made advice, every number left": (
        says(lambda claims: [old.update(severity="advise") for old in claims["verdicts"]]),
        "step 7, gates: the release has no blocking gate without a waiver",
    ),
    "all gates dropped": (
        says_with_page(lambda claims: claims.update(verdicts=[])),
        "step 5, guarantee: the parts of the privacy guarantee are not those of the mechanism and the charged gates",
    ),
    "expected singletons fewer": (
        says_with_page(gate("expected_singletons", value="0", low="0")), f"step 7, gates: expected_singletons: {SHOWN}",
    ),
    "a limit on expected singletons that it breaks": (
        says_with_page(gate("expected_singletons", at_most="0")),
        "step 7, gates: expected_singletons: the manifest's outcome of this gate does not follow from its value "
            "and limit",
    ),
    "a smaller pso bound": (
        says_with_page(gate("pso_bound", value="0.1", low="0.1", high="0.1")), f"step 7, gates: pso_bound: {SHOWN}",
    ),
    "a limit on the pso bound that it breaks": (
        says_with_page(gate("pso_bound", at_most="0.1")),
        "step 7, gates: pso_bound: the manifest's outcome of this gate does not follow from its value and limit",
    ),
    # guarantee
    "epsilon, the total": (
        says(lambda claims: claims["guarantee"].update(epsilon="1")), "step 5, guarantee: the parts of the "
            "privacy guarantee do not add up",
    ),
    "epsilon, a part": (
        says(lambda claims: claims["guarantee"]["parts"][0].update(epsilon="1")),
        "step 5, guarantee: the parts of the privacy guarantee do not add up",
    ),
    "epsilon, total and part": (
        says_with_page(guarantee(False, epsilon="0.5")), "step 5, guarantee: the manifest's sentences on the "
            "guarantee differ from its",
    ),
    "epsilon, total, part and words": (
        says_with_page(guarantee(True, epsilon="0.5")), "step 5, guarantee: k 7 is too small for the stated "
            "epsilon and delta",
    ),
    "epsilon, larger than what was spent": (
        says_with_page(guarantee(True, epsilon="5")), "step 2, manifest: the manifest's total spent by the "
            "population is less",
    ),
    "delta, total, part and words": (
        says_with_page(guarantee(True, delta="0.0001")), "step 5, guarantee: k 7 is too small for the stated "
            "epsilon and delta",
    ),
    "beta raised, with its words": (
        says_with_page(rate("0.9")),
        "step 5, guarantee: k 7 is too small for the stated epsilon and delta",
    ),
    "k lowered": (says_with_page(mechanism(k=3)), "step 5, guarantee: k 3 is too small for the stated epsilon "
        "and delta"),
    "k raised above the smallest class": (
        says(mechanism(k=100)), r"step 6, contents: data.parquet: a combination of values has fewer than k = 100 rows",
    ),
    "k raised, the README left": (says(mechanism(k=8)), "step 8, pages: README.md: "),
    # data
    "rows doubled in the data": (
        then(data(doubled), reseal), "step 6, contents: data.parquet: the file has more rows than the manifest states",
    ),
    "rows doubled, counts left": (
        then(data(doubled), counted), f"step 6, contents: counts.csv: {WRITTEN}",
    ),
    "rows doubled with counts, gates left": (
        then(data(doubled), counted, rewritten), f"step 7, gates: released_rows: {SHOWN}",
    ),
    "rows doubled with counts and gates, README left": (
        then(data(doubled), counted, rewritten, judged), "step 8, pages: README.md: ",
    ),
    "a class removed": (then(data(without_first), reseal), "step 6, contents: .*number of rows or classes "
        "differs from"),
    "a class removed, counts left": (
        then(data(without_first), counted), f"step 6, contents: counts.csv: {WRITTEN}",
    ),
    "a count": (counts(2, "9999"), f"step 6, contents: counts.csv: {WRITTEN}"),
    # Parquet
    "a value in a Parquet dictionary": (
        hidden("data.parquet", value=True), "step 6, contents: data.parquet: column 'age' holds a value that "
            "dictionary.csv",
    ),
    "a value in Parquet's key-value metadata": (
        hidden("data.parquet"), "step 6, contents: data.parquet: .*or the file carries metadata",
    ),
    "a value in the Arrow schema": (
        hidden("data.parquet", schema=True), "step 6, contents: data.parquet: .*or the file carries metadata",
    ),
    "bytes behind the Parquet footer": (behind("data.parquet"), "step 6, contents: data.parquet: unreadable"),
    "bytes in front of the Parquet footer": (in_front_of_footer, f"step 6, contents: data.parquet: {WRITTEN}"),
    "bytes behind the CSV": (behind("data.csv"), f"step 6, contents: data.csv: {WRITTEN}"),
    "a bomb beside CSV": (bomb, f"step 6, contents: data.parquet: {WRITTEN}"),
    "a bomb alone": (
        then(alone, bomb, says(lambda claims: _of_so_many(claims, GIGA // 2))),
        "step 6, contents: data.parquet: the file is compressed, and Crowdgate writes releases without compression",
    ),
    # what is no file
    "a link": (linked, "step 1, folder: 'data.csv': a folder or link"),
    "a folder": (instead("data.csv", Path.mkdir), "step 1, folder: 'data.csv': a folder or link"),
    "a folder more": (lambda folder: (folder / "more").mkdir(), "step 1, folder: 'more': a folder or link"),
    "a pipe": (instead("data.csv", os.mkfifo), "step 1, folder: 'data.csv': a folder or link"),
    "a pipe as the manifest": (instead(NAME, os.mkfifo), "step 1, folder: 'manifest.json': a folder or link"),
    "a device": (instead("data.csv", zeros), "step 1, folder: 'data.csv': a folder or link"),
    "no manifest": (lambda folder: (folder / NAME).unlink(), "step 1, folder: manifest.json: the file is missing"),
    # numbers and JSON
    "1e9999999": (
        says(lambda claims: claims["guarantee"].update(epsilon="1e9999999")),
        "step 2, manifest: .*guarantee.epsilon.*an exact number as text",
    ),
    "1e-999999": (says(mechanism(beta="1e-999999")), "step 2, manifest: .*mechanism.beta.*an exact number as text"),
    "4 MB of digits as text": (
        says(lambda claims: claims["guarantee"].update(delta=LONG)),
        "step 2, manifest: .*guarantee.delta.*an exact number",
    ),
    "4 MB of digits as a figure": (
        says(gate("released_rows", value=LONG)), "step 2, manifest: .*verdicts.3.value.*at most 700",
    ),
    "4 MB of digits as a number": (
        claims_bytes(b'"people": 1000', b'"people": ' + LONG.encode()), "step 2, manifest: manifest.json: ",
    ),
    "1e9999999 as a number": (
        claims_bytes(b'"people": 1000', b'"people": 1e9999999'), "step 2, manifest: manifest.json: ",
    ),
    "deep JSON": (whole_manifest(b"[" * 10**6),
        "step 2, manifest: manifest.json: this file is not the manifest of a release"),
    "deep JSON in a field": (
        claims_bytes(b'"people": 1000', b'"people": ' + b"[" * 10**5 + b"]" * 10**5), "step 2, manifest: ",
    ),
    "deep JSON in a field more": (
        claims_bytes(b'"people": 1000', b'"more": ' + b'{"a":' * 10**5 + b"1" + b"}" * 10**5), "step 2, manifest: ",
    ),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("name", FORGED)
def test_a_forgery_by_hand_is_refused_in_its_step(copy: Path, name: str) -> None:
    forge, step = FORGED[name]
    forge(copy)
    with pytest.raises(VerificationFailed, match=f"^{step}"):
        verify(copy)


# what only a signature or the ledger can tell

FITTING: dict[str, Forge] = {
    "a gate dropped": says_with_page(without_gate("smallest_class")),
    "a gate made advice": says_with_page(gate("smallest_class", severity="advise")),
    "a looser limit": says_with_page(gate("expected_singletons", at_most="1000")),
    "k raised to the smallest class": says_with_page(mechanism(k=8)),
    "rows doubled throughout": then(data(doubled), counted, rewritten, judged, PAGED),
    "a class removed throughout": then(data(without_first), counted, rewritten, judged, PAGED),
    "beta lowered throughout": says_with_page(rate("0.25")),
    "another owner": says_with_page(lambda claims: claims["about"].update(owner="the ministry")),
}
"""Another release that verifies, in place of the original."""


@pytest.mark.thorough
@pytest.mark.parametrize("name", FITTING)
def test_a_forgery_that_fits_is_told_by_the_key_and_by_the_ledger(rows: Published, copy: Path, name: str) -> None:
    FITTING[name](copy)
    assert "nobody vouches for its origin: it is not signed" in verify(copy).origin
    with pytest.raises(
        VerificationFailed, match=rf"^step 4, signature: {SIGNED}: the release is not signed, and you gave trusted keys"
    ):
        verify(copy, keys=[rows.key])
    with pytest.raises(VerificationFailed, match=r"^step 9, ledger: manifest.json: its digest differs from the one"):
        verify(copy, rows.ledger)


@pytest.mark.parametrize("name", FITTING)
def test_a_forgery_that_fits_is_told_by_the_signature_that_it_keeps(rows: Published, copy: Path, name: str) -> None:
    """Without any key, verification shows that the signature is of another release."""
    FITTING[name](copy)
    shutil.copy(rows.folder / SIGNED, copy)
    for trusted in ([], [rows.key]):
        with pytest.raises(
            VerificationFailed, match=f"^step 4, signature: {SIGNED}: this signature belongs to another"
        ):
            verify(copy, keys=trusted)


def test_the_release_itself_is_vouched_for(rows: Published, tables: Published) -> None:
    for release in (rows, tables):
        assert "a trusted key signed it, and the ledger" in verify(release.folder, release.ledger, [release.key]).origin


def test_without_its_signature_the_release_is_known_to_the_ledger_alone(rows: Published, copy: Path) -> None:
    assert verify(copy, rows.ledger)
    with pytest.raises(VerificationFailed, match=r"^step 4, signature: "):
        verify(copy, rows.ledger, [rows.key])


# the same of tables

WARDS = "3-count-by-ward-exact"


def less_noise(claims: Claims) -> None:
    """Return a change to a smaller epsilon, with its words, for the same noise."""
    guarantee(True, epsilon="1")(claims)


TABLES: dict[str, tuple[Forge, str]] = {
    "data.txt for a table": (
        smuggled("data.txt", f"{WARDS}.csv", f"{WARDS}.parquet"), f"step 6, contents: {WARDS}.parquet: unreadable",
    ),
    "raw.csv, not listed": (smuggled("raw.csv", stays=False), "step 3, files: 'raw.csv': the manifest does not "
        "list this file"),
    "raw.csv, listed": (smuggled("raw.csv"), "step 6, contents: raw.csv: a release of this kind has no such file"),
    "another README": (page, "step 8, pages: README.md: "),
    "a gate dropped, the README left": (says(without_gate("trusted_share")), "step 8, pages: README.md: "),
    "epsilon, total, part and words": (
        says_with_page(less_noise), "step 5, guarantee: the noise is too small for the stated epsilon and",
    ),
    "delta, total, part and words": (
        says_with_page(guarantee(True, delta="0.0001")),
        "step 5, guarantee: the noise is too small for the stated",
    ),
    "a share of cells that can be trusted": (
        says_with_page(gate("trusted_share", value="1", low="1", high="1")), f"step 7, gates: trusted_share: {SHOWN}",
    ),
    "a value in Parquet's key-value metadata": (
        hidden(f"{WARDS}.parquet"), f"step 6, contents: {WARDS}.parquet: .*or the file carries metadata",
    ),
    "a value in the Arrow schema of raw numbers": (
        hidden(f"{WARDS}-raw.parquet", schema=True), f"step 6, contents: {WARDS}-raw.parquet: .*or the file "
            "carries metadata",
    ),
    "bytes behind the Parquet footer": (
        behind(f"{WARDS}.parquet"), f"step 6, contents: {WARDS}.parquet: unreadable",
    ),
    "bytes behind the CSV": (behind(f"{WARDS}.csv"), f"step 6, contents: {WARDS}.csv: {WRITTEN}"),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("name", TABLES)
def test_a_forgery_of_tables_by_hand_is_refused_in_its_step(tables: Published, tmp_path: Path, name: str) -> None:
    copy = _copied(tables, tmp_path)
    forge, step = TABLES[name]
    forge(copy)
    with pytest.raises(VerificationFailed, match=f"^{step}"):
        verify(copy)


@pytest.mark.thorough
@pytest.mark.parametrize("change", [without_gate("trusted_share"), gate("trusted_share", severity="advise")])
def test_a_gate_on_tables_that_is_not_there_is_told_by_key_and_ledger(
    tables: Published, tmp_path: Path, change: Change
) -> None:
    copy = _copied(tables, tmp_path)
    reseal_with_page(copy, change)
    assert verify(copy)
    with pytest.raises(VerificationFailed, match=r"^step 4, signature: "):
        verify(copy, keys=[tables.key])
    with pytest.raises(VerificationFailed, match=r"^step 9, ledger: "):
        verify(copy, tables.ledger)
