"""A stranger's program (outsider.py) accepts genuine releases and names what is wrong with forged ones."""

import base64
import hashlib
import json
import re
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from crowdgate.planning.open_ledger import ledger_at
from crowdgate.signing import keys
from tests.kinds.test_tables_release import SLOT, path_of, run, tables_workshop
from tests.verify import outsider
from tests.workshop import Workshop, make_workshop

Json = dict[str, Any]
Forgery = Callable[[Path, Json], None]

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


def signed_release(workshop: Workshop) -> Path:
    """A release, signed with k.pem of the working copy."""
    keys.create(workshop.root / "k.pem")
    with (workshop.root / "crowdgate.toml").open("a", encoding="utf-8") as settings:
        settings.write('signing_key = "k.pem"\n')
    ledger_at(workshop.root, None).sign()
    return path_of(run(workshop, SLOT))


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return signed_release(make_workshop(tmp_path_factory.mktemp("rows") / "w"))


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return signed_release(tables_workshop(tmp_path_factory.mktemp("tables") / "w"))


@pytest.fixture(params=["rows", "tables"])
def genuine(request: pytest.FixtureRequest) -> Path:
    """A release of each kind."""
    path = request.getfixturevalue(request.param)
    assert isinstance(path, Path)
    return path


def key_of(release: Path) -> Path:
    """Return the public key of the working copy that contains a release."""
    return release.parents[3] / "k.pem.pub"


def copied(release: Path, root: Path) -> Path:
    """A copy of a release, to be forged."""
    return Path(shutil.copytree(release, root / "forged"))


def reseal(folder: Path, forgery: Forgery) -> list[str]:
    """Return the problems found after a forgery whose manifest fits the changed files, without a signature."""
    manifest = json.loads((folder / "manifest.json").read_bytes())
    forgery(folder, manifest)
    for name in manifest["files"]:
        content = (folder / name).read_bytes()
        manifest["files"][name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    text = json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    (folder / "release.dsse.json").unlink()
    return outsider.examine(folder).problems


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def double_row_in_csv(folder: Path, _: Json) -> None:
    lines = (folder / "data.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "data.csv").write_text("".join([*lines, lines[-1]]), encoding="utf-8")


def double_row(folder: Path, manifest: Json) -> None:
    """The last row once more, in both files."""
    double_row_in_csv(folder, manifest)
    frame = pd.read_parquet(folder / "data.parquet")
    pd.concat([frame, frame.tail(1)]).to_parquet(folder / "data.parquet", index=False)


def double_row_and_say_so(folder: Path, manifest: Json) -> None:
    """A doubled row that the manifest counts."""
    double_row(folder, manifest)
    manifest["data"]["rows"] += 1
    (gate,) = (gate for gate in manifest["verdicts"] if gate["measure"] == "released_rows")
    gate.update(dict.fromkeys(("value", "low", "high"), str(manifest["data"]["rows"])))


def change_count(folder: Path, _: Json) -> None:
    edit(folder / "counts.csv", "age,50+,", "age,50+,1")


def raise_k(folder: Path, manifest: Json) -> None:
    """The smallest class is one row short of k."""
    manifest["mechanism"]["k"] = int(pd.read_csv(folder / "data.csv").value_counts().min()) + 1


def halve_delta(_: Path, manifest: Json) -> None:
    assert manifest["guarantee"]["delta"] == "0.01"
    manifest["guarantee"]["delta"] = manifest["guarantee"]["parts"][0]["delta"] = "0.005"


def drop_part(_: Path, manifest: Json) -> None:
    manifest["guarantee"]["parts"].pop()


def break_limit(_: Path, manifest: Json) -> None:
    manifest["verdicts"][0]["at_most"] = "0.5"


def unlist_value(folder: Path, manifest: Json) -> None:
    edit(folder / "dictionary.csv", ",north,", ",nowhere,")
    assert manifest


def drop_cell(folder: Path, _: Json) -> None:
    """A line of a table less, in both files."""
    stem = folder / "3-count-by-ward-exact"
    lines = stem.with_suffix(".csv").read_text(encoding="utf-8").splitlines(keepends=True)
    stem.with_suffix(".csv").write_text("".join(lines[:-1]), encoding="utf-8")
    pd.read_parquet(stem.with_suffix(".parquet")).iloc[:-1].to_parquet(stem.with_suffix(".parquet"), index=False)


def change_cell_of_csv(folder: Path, _: Json) -> None:
    edit(folder / "3-count-by-ward-exact-raw.csv", '"east",', '"east",1')


def change_noise_error(folder: Path, _: Json) -> None:
    edit(folder / "tables.csv", "count,count,,,1,", "count,count,,,1,1")


def lower_spend(_: Path, manifest: Json) -> None:
    manifest["mechanism"]["queries"][1]["rho"] = "0.001"


def spend_all_twice(_: Path, manifest: Json) -> None:
    """Spends that add up, but whose noise is not that of tables.csv."""
    for each in (manifest["mechanism"], *manifest["mechanism"]["queries"]):
        above, _, below = each["rho"].partition("/")
        each["rho"] = f"{2 * int(above)}/{below}"


ROWS: list[tuple[Forgery, str]] = [
    (double_row, "data: .* rows, not"),
    (double_row_and_say_so, "counts.csv: does not follow"),
    (double_row_in_csv, "the formats hold different rows"),
    (change_count, "counts.csv: does not follow"),
    (raise_k, "have fewer than"),
    (halve_delta, "delta is at least 0.0078125"),
    (drop_part, "do not add up to its epsilon"),
    (break_limit, "does not keep its limit"),
    (unlist_value, "dictionary.csv does not list"),
]
TABLES: list[tuple[Forgery, str]] = [
    (drop_cell, "does not hold every cell once"),
    (change_cell_of_csv, "hold different tables"),
    (change_noise_error, "noise_error of count is"),
    (lower_spend, "do not add up to its rho"),
    (spend_all_twice, "noise_error of count is"),
]


@pytest.mark.thorough
@needs_openssl
def test_a_genuine_release_holds_with_its_key(genuine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert outsider.main([str(genuine), str(key_of(genuine))]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "holds"


@pytest.mark.thorough
def test_a_genuine_release_holds_without_a_key(genuine: Path) -> None:
    found = outsider.examine(genuine)
    assert not found.problems
    assert any("no key is given" in note for note in found.notes)


@pytest.mark.parametrize(("forgery", "problem"), ROWS, ids=lambda each: getattr(each, "__name__", ""))
def test_a_forged_release_of_rows_does_not_hold(rows: Path, tmp_path: Path, forgery: Forgery, problem: str) -> None:
    found = reseal(copied(rows, tmp_path), forgery)
    assert any(re.search(problem, each) for each in found), found


@pytest.mark.thorough
@pytest.mark.parametrize(("forgery", "problem"), TABLES, ids=lambda each: getattr(each, "__name__", ""))
def test_a_forged_release_of_tables_does_not_hold(tables: Path, tmp_path: Path, forgery: Forgery, problem: str) -> None:
    found = reseal(copied(tables, tmp_path), forgery)
    assert any(re.search(problem, each) for each in found), found


def test_a_release_that_is_only_sealed_again_holds(genuine: Path, tmp_path: Path) -> None:
    assert reseal(copied(genuine, tmp_path), lambda *_: None) == []


def problems_of_a_changed_byte(path: Path, key: Path | None = None) -> list[str]:
    """Return the problems found while the middle byte of a file is changed."""
    content = path.read_bytes()
    half = len(content) // 2
    path.write_bytes(content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :])
    found = outsider.examine(path.parent, key).problems
    path.write_bytes(content)
    return found


@pytest.mark.thorough
def test_a_changed_byte_of_any_file_is_found(genuine: Path, tmp_path: Path) -> None:
    """The digests of manifest and envelope detect it, so no key is needed."""
    folder = copied(genuine, tmp_path)
    for path in sorted(set(folder.iterdir()) - {folder / "release.dsse.json"}):
        assert problems_of_a_changed_byte(path), path.name
    assert not outsider.examine(folder).problems


@needs_openssl
def test_a_changed_byte_of_the_envelope_is_found(genuine: Path, tmp_path: Path) -> None:
    """The byte may be a blank of the statement, so that only the signature detects it."""
    envelope = copied(genuine, tmp_path) / "release.dsse.json"
    assert problems_of_a_changed_byte(envelope, key_of(genuine))
    assert not outsider.examine(envelope.parent, key_of(genuine)).problems


def test_a_smuggled_file_is_found(genuine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = copied(genuine, tmp_path)
    (folder / ".hidden").write_text("smuggled", encoding="utf-8")
    assert outsider.main([str(folder)]) == 1
    assert "files: .hidden is not named by the manifest" in capsys.readouterr().out.splitlines()


def test_a_link_is_no_file(rows: Path, tmp_path: Path) -> None:
    folder = copied(rows, tmp_path)
    (folder / "data.csv").unlink()
    (folder / "data.csv").symlink_to(rows / "data.csv")
    assert outsider.examine(folder).problems == ["folder: data.csv is not a plain file"]


def test_a_missing_signature_is_found_where_a_key_is_given(genuine: Path, tmp_path: Path) -> None:
    folder = copied(genuine, tmp_path)
    (folder / "release.dsse.json").unlink()
    assert outsider.examine(folder, key_of(genuine)).problems == [
        "signature: a key is given, but there is no release.dsse.json"
    ]
    assert not outsider.examine(folder).problems


@needs_openssl
def test_another_key_is_found(rows: Path, tables: Path) -> None:
    assert outsider.examine(rows, key_of(tables)).problems == ["signature: made by none of the given keys"]


@needs_openssl
def test_one_of_several_keys_is_enough(rows: Path, tables: Path, tmp_path: Path) -> None:
    both = tmp_path / "both.pem"
    both.write_bytes(key_of(tables).read_bytes() + key_of(rows).read_bytes())
    assert not outsider.examine(rows, both).problems


@needs_openssl
def test_a_changed_signature_is_found(rows: Path, tmp_path: Path) -> None:
    folder = copied(rows, tmp_path)
    envelope = json.loads((folder / "release.dsse.json").read_bytes())
    signature = bytearray(base64.b64decode(envelope["signatures"][0]["sig"]))
    signature[0] ^= 1
    envelope["signatures"][0]["sig"] = base64.b64encode(signature).decode()
    (folder / "release.dsse.json").write_text(json.dumps(envelope), encoding="utf-8")
    assert outsider.examine(folder, key_of(rows)).problems == ["signature: made by none of the given keys"]


def test_the_worst_number_of_rows_is_found() -> None:
    """No n up to 60 gives a greater sum than those that the program tries."""
    for rate, k, loss in (("1/2", 7, "1.5"), ("1/2", 5, "0.1"), ("1/4", 3, "0.2"), ("0.9", 6, "2"), ("1/3", 2, "0")):
        beta, grow = Fraction(rate), outsider.exponential(Fraction(loss))
        for more in (True, False):
            taken = outsider.worst_sizes(beta, k, grow, more)
            most = max((outsider.least_delta(n, beta, k, grow, more) for n in taken), default=Fraction(0))
            assert most == max(outsider.least_delta(n, beta, k, grow, more) for n in range(k, 61))
