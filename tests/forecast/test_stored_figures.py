"""Figures that `plan` stores: the same with them and without them, never others', and nothing but what is public."""

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.anonymity.predict import planned_release
from crowdgate.forecast import outlook, stored_figures
from crowdgate.histogram import Histogram
from crowdgate.kind.forecast import Basis, Figure
from crowdgate.kind.listing import Listing, ListingColumn
from crowdgate.kind.plan import Plan
from crowdgate.kinds import KINDS
from crowdgate.limits import LARGEST_STORED_FIGURES
from crowdgate.planning import figure_folder, public_classes
from crowdgate.planning.figure_folder import FigureFolder
from crowdgate.planning.plan import plan_policy
from crowdgate.system.installed_code import libraries
from tests.conformance.copies import Case, working_copy
from tests.conformance.lives import say
from tests.examples import examples
from tests.workshop import MARK, Workshop, crowdgate, good_rows

PARTS = 3
"""Files for each plan: figures, listings and the prediction."""
KEY, OTHER = "0" * 64, "1" * 64
SHARES = "value,count\nnorth,5\nsouth,3\neast,2\n"


def folder_of(workshop: Workshop) -> Path:
    return workshop.root / "ledger" / "figures"


def holds_classes(data: bytes) -> bool:
    """Return True if a stored file holds class sizes, a list of attributes for each gate, and not figures."""
    return isinstance(json.loads(data)["value"][0], list)


def files(workshop: Workshop) -> dict[str, bytes]:
    """Stored values by name."""
    return {path.name: path.read_bytes() for path in folder_of(workshop).glob("*")}


def planned(workshop: Workshop, *options: object) -> str:
    said = say("plan", workshop.policy, *options)
    assert said.code == 0, said.err
    return said.out


@pytest.fixture
def predictions(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for every prediction that is worked out."""
    made: list[int] = []
    real = planned_release.prediction

    def counted(*of: Any) -> Listing:
        made.append(1)
        return real(*of)

    monkeypatch.setattr(outlook, "prediction", counted)
    return made


@pytest.mark.thorough
@settings(max_examples=examples(16), deadline=None)
@given(
    kind=st.sampled_from(list(KINDS)),
    epsilon=st.sampled_from(["1", "2", "3.5"]),
    south=st.integers(1, 9),
    options=st.sampled_from([(), ("--json",), ("--compare",)]),
)
def test_a_plan_says_the_same_whether_its_figures_were_stored(
    tmp_path_factory: pytest.TempPathFactory, kind: str, epsilon: str, south: int, options: tuple[str, ...]
) -> None:
    copy = working_copy(Case(kind, "csv", ("csv",), "sqlite"), tmp_path_factory.mktemp("copy") / "w")
    levels = "          - {property: levels, value: [{name: 10 years"
    copy.edit(copy.contract, levels, f"          - {{property: margins, value: age.csv}}\n{levels}")
    ages = "".join(f"{age},{1 + age % south}\n" for age in range(100))
    (copy.root / "data_contracts" / "age.csv").write_text(f"value,count\n{ages}", encoding="utf-8")
    copy.edit(copy.policy, "epsilon: '2'", f"epsilon: '{epsilon}'")
    copy.edit(copy.policy, "at_most: '2'", "at_most: '4'")
    (copy.root / "data_contracts" / "ward.csv").write_text(SHARES.replace("3", str(south)), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(outlook, "stored_figures", lambda *_, **__: stored_figures.StoredFigures(None, ""))
        without = planned(copy, *options)
        assert not folder_of(copy).exists()
    first = planned(copy, *options)
    assert len(files(copy)) == PARTS
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(figure_folder.FigureFolder, "write", _refuses)
        again = planned(copy, *options)
    assert without == first == again


def _refuses(*_: object) -> None:
    raise AssertionError("all figures are stored")


VALUES = st.one_of(
    st.none(),
    st.text(),
    st.integers(),
    st.floats(allow_nan=False),
    st.fractions(),
    st.dictionaries(st.text(), st.text()),
)


@settings(max_examples=examples(100), deadline=None)
@given(value=VALUES, low=VALUES, basis=st.sampled_from(Basis), text=st.text(), single=st.booleans())
def test_figures_and_listings_are_read_as_they_were_written(
    value: Any, low: Any, basis: Basis, text: str, single: bool
) -> None:
    figures = (Figure(text, text, value, low, value, basis, ".3g"), Figure.exact("k", "k", low))
    columns = (ListingColumn("a", text), ListingColumn("b", "b", "d", text))
    listings = (Listing("l", text, columns, ({"a": value, "b": low}, {"a": low, "b": None}), text, single, not single),)
    written = json.loads(json.dumps([stored_figures._figures_json(figures), stored_figures._listings_json(listings)]))
    read = stored_figures._figures_of(written[0]), stored_figures._listings_of(written[1])
    assert read == (figures, listings)
    assert type(read[0][0].value) is type(value)
    assert type(read[1][0].rows[0]["a"]) is type(value)


def _policy(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    workshop.edit(workshop.policy, "beta: 0.5", "beta: 0.4")


def _contract(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    workshop.edit(workshop.contract, "[north, south, east]", "[south, north, east]")


def _budget(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    workshop.edit(workshop.budget, "people: 1000", "people: 1001")


def _public_file(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    path = workshop.root / "data_contracts" / "ward.csv"
    before = path.stat()
    workshop.edit(path, "north,5", "north,6")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _code(_: Workshop, patched: pytest.MonkeyPatch) -> None:
    patched.setattr(stored_figures, "code_state", lambda: "0" * 64)


def _library(_: Workshop, patched: pytest.MonkeyPatch) -> None:
    real = libraries()
    patched.setattr(stored_figures, "libraries", lambda: {**real, "scipy": "1.0"})


@pytest.mark.thorough
@pytest.mark.parametrize("change", [_policy, _contract, _budget, _public_file, _code, _library])
def test_what_changes_anything_that_figures_follow_from_finds_none(
    workshop: Workshop,
    change: Callable[[Workshop, pytest.MonkeyPatch], None],
    predictions: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for _ in range(2):
        planned(workshop)
    assert (len(predictions), len(files(workshop))) == (1, PARTS)
    change(workshop, monkeypatch)
    planned(workshop)
    assert (len(predictions), len(files(workshop))) == (2, 2 * PARTS)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def _other_value(path: Path) -> None:
    stored = json.loads(path.read_bytes())
    stored["value"] = [[]]
    path.write_text(json.dumps(stored), encoding="utf-8")


def _deep(path: Path) -> None:
    path.write_text("[" * 100_000, encoding="utf-8")


def _no_object(path: Path) -> None:
    path.write_text("[1]", encoding="utf-8")


def _of_others(path: Path) -> None:
    path.chmod(0o620)


def _large(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b" " * LARGEST_STORED_FIGURES)


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


FILE_FAULTS = (_cut, _other_value, _deep, _no_object, _of_others, _large, _pipe)


def _used(workshop: Workshop) -> int:
    """How many files a plan uses."""
    found, real = list[object](), FigureFolder.read

    def watched(folder: FigureFolder, key: str) -> Any:
        found.append(real(folder, key))
        return found[-1]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(FigureFolder, "read", watched)
        planned(workshop)
    assert len(found) == PARTS
    return sum(each is not None for each in found)


@pytest.mark.thorough
@pytest.mark.parametrize("fault", FILE_FAULTS)
def test_a_file_that_can_not_be_relied_on_is_not_used(workshop: Workshop, fault: Callable[[Path], None]) -> None:
    first = planned(workshop)
    assert _used(workshop) == PARTS
    for path in folder_of(workshop).iterdir():
        fault(path)
    assert planned(workshop) == first
    for path in folder_of(workshop).iterdir():
        fault(path)
    assert _used(workshop) == 0


def test_a_file_under_the_name_of_another_is_not_used(workshop: Workshop) -> None:
    first = planned(workshop)
    own, *others = folder_of(workshop).iterdir()
    for path in others:
        path.write_bytes(own.read_bytes())
    assert _used(workshop) == 1
    assert planned(workshop) == first


def test_a_folder_that_others_may_write_or_that_is_a_link_is_not_used(workshop: Workshop) -> None:
    first, folder = planned(workshop), folder_of(workshop)
    folder.chmod(0o720)
    assert _used(workshop) == 0
    folder.chmod(0o700)
    assert _used(workshop) == PARTS
    folder.rename(folder.with_name("moved")).chmod(0o700)
    folder.symlink_to("moved")
    assert _used(workshop) == 0
    assert planned(workshop) == first


def test_a_file_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = FigureFolder(tmp_path / "figures")
    folder.write(KEY, [1])
    assert folder.read(KEY) == [1]
    real = os.fstat

    def another(handle: int) -> os.stat_result:
        found = list(real(handle))
        found[stat.ST_UID] = os.geteuid() + 1
        return os.stat_result(found)

    monkeypatch.setattr(os, "fstat", another)
    assert folder.read(KEY) is None
    monkeypatch.undo()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    folder.write(OTHER, [2])
    assert folder.read(KEY) is None
    monkeypatch.undo()
    assert (folder.read(KEY), folder.read(OTHER)) == ([1], None)


def test_the_oldest_files_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure_folder, "MOST_STORED_FIGURES", 4)
    folder = FigureFolder(tmp_path / "figures")
    keys = [f"{at:064x}" for at in range(7)]
    for at, key in enumerate(keys):
        folder.write(key, at)
        os.utime(folder.path / f"{key}.json", (at, at))
    assert [folder.read(key) for key in keys] == [None, None, None, 3, 4, 5, 6]
    size = max(path.stat().st_size for path in folder.path.glob("*"))
    monkeypatch.setattr(figure_folder, "MOST_STORED_BYTES", 2 * size)
    folder.write(KEY, 0)
    assert {path.stem for path in folder.path.glob("*")} == {keys[6], KEY}
    monkeypatch.setattr(figure_folder, "LARGEST_STORED_FIGURES", size)
    folder.write(keys[5], "x" * size)
    assert {path.stem for path in folder.path.glob("*")} == {keys[6], KEY}


WRITER = """
import sys
from pathlib import Path
from crowdgate.planning.figure_folder import FigureFolder
from crowdgate.planning.plan import plan_policy
folder, own = FigureFolder(Path(sys.argv[1])), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
for at in range(20):
    folder.write(f"{own}{at:063x}", [own, at])
    folder.write("f" * 64, ["both"] * 1000)
    assert folder.read("f" * 64) == ["both"] * 1000
"""


@pytest.mark.thorough
def test_two_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    line = [sys.executable, "-c", WRITER, str(tmp_path / "figures")]
    both = [subprocess.Popen([*line, own], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for own in "ab"]
    for each in both:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    assert [each.communicate("go\n") and each.returncode for each in both] == [0, 0]
    folder = FigureFolder(tmp_path / "figures")
    assert all(folder.read(f"{own}{at:063x}") == [own, at] for own in "ab" for at in range(20))
    assert len([*folder.path.iterdir()]) == 41


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_folder_and_files_are_their_owners_alone(workshop: Workshop, umask: int) -> None:
    before = os.umask(umask)
    try:
        planned(workshop)
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(path.lstat().st_mode) for path in folder_of(workshop).iterdir()}
    assert (stat.S_IMODE(folder_of(workshop).lstat().st_mode), modes) == (0o700, {0o600})


@pytest.mark.thorough
def test_nothing_of_the_table_or_the_ledger_is_stored(workshop: Workshop, tmp_path: Path) -> None:
    """A release of a table and none, a budget that is spent: what is stored is the same to the byte."""
    fresh = Workshop(shutil.copytree(workshop.root, tmp_path / "fresh"))
    planned(fresh)
    assert len(files(fresh)) == PARTS
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 0
    workshop.write(good_rows(333))
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-02") == 0
    planned(workshop, "--json")
    assert len(files(workshop)) == PARTS
    assert files(workshop) == files(fresh)
    assert not any(MARK.encode() in data for data in files(workshop).values())
    stored = [json.dumps(json.loads(data)["value"]) for data in files(workshop).values()]  # seals are random digits
    assert not any(word in value for value in stored for word in ("333", "600", "2030-01"))


def test_what_decides_reads_and_stores_none(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FigureFolder, "read", _refuses)
    monkeypatch.setattr(FigureFolder, "write", _refuses)
    assert crowdgate("check", workshop.policy) == 0
    assert crowdgate("explain", workshop.policy) == 0
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 0
    assert crowdgate("plan", workshop.policy) == 1  # the test itself can fail


def test_counts_that_are_given_are_neither_stored_nor_looked_for(workshop: Workshop) -> None:
    bound = "      - {property: rowsAtMost"
    workshop.edit(workshop.contract, bound, f"      - {{property: public, value: true}}\n{bound}")
    planned(workshop, "--from", workshop.data)
    assert all(map(holds_classes, files(workshop).values()))


@pytest.mark.thorough
def test_check_stores_the_class_sizes_of_a_public_table_and_a_release_counts_itself(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A forged store changes what `check` says, and no verdict of a release."""
    bound, gate = "      - {property: rowsAtMost", "expected_singletons, at_most: 4"
    workshop.edit(workshop.contract, bound, f"      - {{property: public, value: true}}\n{bound}")
    workshop.edit(workshop.policy, gate, "expected_singletons, at_most: 2")
    assert crowdgate("check", workshop.policy) == 0
    (stored,) = files(workshop).values()
    assert holds_classes(stored)
    with monkeypatch.context() as patch:
        patch.setattr(FigureFolder, "read", lambda *_: [[["ward"], [[1.0], [500.0]]]])
        assert crowdgate("check", workshop.policy) == 3
        assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 0
        patch.setattr(public_classes, "_COUNTED", {})
        assert crowdgate("release", workshop.policy, "--as-of", "2030-01-02") == 0


def test_a_changed_table_is_counted_again(workshop: Workshop) -> None:
    """In two rows of one ward nobody is unique if both are asked for; in three rows of three wards all are."""
    bound, gate = "      - {property: rowsAtMost", "expected_singletons, at_most: 4"
    workshop.edit(workshop.contract, bound, f"      - {{property: public, value: true}}\n{bound}")
    workshop.edit(workshop.policy, gate, "expected_singletons, at_most: 2")
    assert crowdgate("check", workshop.policy) == 0
    workshop.write(good_rows(3))
    assert crowdgate("check", workshop.policy) == 3


def test_a_changed_file_of_a_partitioned_table_is_counted_again(workshop: Workshop) -> None:
    public_gate(workshop)
    workshop.edit(workshop.contract, "path: patients.parquet", "path: patients")
    folder = workshop.data.with_name("patients") / "year=2030" / "month=1"
    folder.mkdir(parents=True)
    workshop.data.rename(folder / "patients.parquet")
    assert crowdgate("check", workshop.policy) == 0
    workshop.write(good_rows(3))
    workshop.data.rename(folder / "patients.parquet")
    assert crowdgate("check", workshop.policy) == 3


def public_gate(workshop: Workshop) -> None:
    bound, gate = "      - {property: rowsAtMost", "expected_singletons, at_most: 4"
    workshop.edit(workshop.contract, bound, f"      - {{property: public, value: true}}\n{bound}")
    workshop.edit(workshop.policy, gate, "expected_singletons, at_most: 2")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "private"),
    [
        ("a: [unfinished", True),
        (None, True),
        ("kind: DataContract\nid: other\n", True),
        ("levels: {a: 1}\n", False),
    ],
)
def test_a_contract_that_cannot_be_read_may_call_the_table_confidential(
    workshop: Workshop, text: str | None, private: bool
) -> None:
    """None stands for a contract of the same file with a fault. A file that is no contract describes no table."""
    public_gate(workshop)
    assert crowdgate("check", workshop.policy) == 0
    faulty = workshop.contract.read_text(encoding="utf-8").replace("id: clinic\n", "id: hospital\nfault: 1\n")
    workshop.contract.with_name("hospital.yaml").write_text(text or faulty, encoding="utf-8")
    said = say("check", workshop.policy)
    assert said.code == (2 if private else 0), said.err
    assert (
        "contract file data_contracts/hospital.yaml can't be read, and may describe" in said.out + said.err
    ) == private
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == (2 if private else 0)


def test_a_faulty_contract_of_another_file_says_nothing_about_the_table(workshop: Workshop) -> None:
    public_gate(workshop)
    faulty = workshop.contract.read_text(encoding="utf-8").replace("id: clinic\n", "id: hospital\nfault: 1\n")
    other = workshop.contract.with_name("hospital.yaml")
    other.write_text(faulty.replace("patients.parquet", "others.parquet"), encoding="utf-8")
    assert crowdgate("check", workshop.policy) == 0


def test_a_table_that_changes_while_it_is_counted_has_no_classes(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    public_gate(workshop)
    counted = public_classes._counted

    def changed(plan: Plan) -> Histogram:
        found = counted(plan)
        workshop.write(good_rows(7))
        return found

    monkeypatch.setattr(public_classes, "_counted", changed)
    assert public_classes.count_classes(plan_policy(workshop.policy)) == {}
    assert crowdgate("check", workshop.policy) == 3
    assert files(workshop) == {}


def test_stored_classes_are_used_only_with_the_contracts_that_call_the_table_public(workshop: Workshop) -> None:
    """A second contract without a statement makes the table private, and one with it a table to be counted again."""
    public_gate(workshop)
    assert crowdgate("check", workshop.policy) == 0
    text = workshop.contract.read_text(encoding="utf-8").replace("id: clinic\n", "id: hospital\n")
    other = workshop.contract.with_name("hospital.yaml")
    other.write_text(text.replace("      - {property: public, value: true}\n", ""), encoding="utf-8")
    assert crowdgate("check", workshop.policy) == 3
    other.write_text(text, encoding="utf-8")
    assert len(files(workshop)) == 1
    assert crowdgate("check", workshop.policy) == 0
    assert len(files(workshop)) == 2


def _no_ledger(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    (workshop.root / "ledger" / "ledger.db").unlink()


def _ledger_of_a_team(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    (workshop.root / "ledger").chmod(0o2770)


def _something_there(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    folder_of(workshop).write_text("", encoding="utf-8")


def _full_disk(_: Workshop, patched: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    patched.setattr(figure_folder, "put_private", full)


@pytest.mark.thorough
@pytest.mark.parametrize("obstacle", [_no_ledger, _ledger_of_a_team, _something_there, _full_disk])
def test_a_plan_needs_no_place_for_its_figures(
    workshop: Workshop,
    obstacle: Callable[[Workshop, pytest.MonkeyPatch], None],
    predictions: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    obstacle(workshop, monkeypatch)
    assert planned(workshop) == planned(workshop)
    assert len(predictions) == 2
    assert files(workshop) == {}


def test_stored_figures_may_be_deleted_at_any_time(workshop: Workshop) -> None:
    first = planned(workshop)
    for path in folder_of(workshop).iterdir():
        path.unlink()
    assert planned(workshop) == first
    assert len(files(workshop)) == PARTS


def test_fractions_stay_exact() -> None:
    assert stored_figures._value_of(stored_figures._value_json(Fraction(1, 3))) == Fraction(1, 3)
