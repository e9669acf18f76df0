"""Verification says in its own output what it can't tell, and refuses words and numbers that no release has."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crowdgate import manifest
from crowdgate.arrays import Integers
from crowdgate.errors import VerificationFailed
from crowdgate.formats import FORMATS
from crowdgate.kinds import KINDS
from crowdgate.verification.release import verify
from tests.conformance.lives import say
from tests.forgery.careful import careful
from tests.forgery.claims import Place, claims_of, put
from tests.forgery.claims import say as state
from tests.verify.keep import KEPT
from tests.workshop import MARK, make_workshop

SLOT = "2030-01-01"
Counts = Callable[[Integers], Integers]
EDITS: dict[str, Counts] = {
    "a row removed": lambda counts: counts - np.eye(1, len(counts), dtype=np.int64)[0],
    "a tenth of the rows removed": lambda counts: counts - counts // 10,
    "a row added": lambda counts: counts + np.eye(1, len(counts), dtype=np.int64)[0],
    "every class doubled": lambda counts: 2 * counts,
    "rows moved to another class": lambda counts: counts + np.where(np.arange(len(counts)) == 0, 1, 0) * 20,
    "one class tripled": lambda counts: counts * np.where(np.arange(len(counts)) == 0, 3, 1),
}
"""Edits of the rows of each class: none falls below k."""
PROVED = "Rows may have been removed, added or replaced: without margins nothing else counts them."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a release of rows without margins and without gates that count its rows."""
    workshop = make_workshop(tmp_path_factory.mktemp("unproved") / "w")
    for gate in ("released_rows, at_least: 0", "smallest_class, at_least: 1"):
        workshop.edit(workshop.policy, f"    - {{measure: {gate}}}\n", "")
    assert say("release", workshop.policy, "--as-of", SLOT).code == 0
    return workshop.release_dir(SLOT)


def edited(folder: Path, change: Counts, to: Path) -> Path:
    """Return a copy whose classes have other numbers of rows, with all files and digests made to fit."""
    copy = Path(shutil.copytree(folder, to / "copy"))
    sealed = (copy / manifest.NAME).read_bytes()
    kind = KINDS["safe_k_anonymity"]
    said = manifest.parsed(kind.manifest_class(), sealed)
    formats = {name: FORMATS[name] for name in said.formats}
    held = kind.read(copy, said, formats)
    rows = replace(held.rows, counts=change(held.rows.counts))
    forged = replace(held, rows=rows)
    for name, write in kind.files(said, forged, formats).items():
        with (copy / name).open("wb") as file:
            write(file)
    claims = claims_of(copy)
    claims["data"]["rows"] = int(rows.counts.sum())
    state(copy, claims)
    careful(copy)
    return copy


@pytest.mark.thorough
@pytest.mark.parametrize("edit", EDITS)
def test_rows_without_margins_may_be_others_and_the_output_says_so(folder: Path, tmp_path: Path, edit: str) -> None:
    copy = edited(folder, EDITS[edit], tmp_path)
    assert (copy / "data.csv").read_bytes() != (folder / "data.csv").read_bytes()
    assert verify(copy).unproved == PROVED
    told = say("verify", copy)
    assert told.code == 0
    assert f"Not proved: {PROVED} Give --key or --ledger." in told.out
    assert say("verify", copy, "--json").json()["unproved"] == PROVED
    ledger = f"sqlite:///{folder.parents[3] / 'ledger' / 'ledger.db'}"
    assert say("verify", copy, "--ledger", ledger).code == 6
    beside = say("verify", folder, "--ledger", ledger)
    assert (beside.code, "Not proved" in beside.out) == (0, False)


@pytest.mark.thorough
@pytest.mark.parametrize("kept", sorted(KEPT.glob("*/*/manifest.json")), ids=lambda path: "-".join(path.parts[-3:-1]))
def test_every_kind_says_what_is_not_proved_unless_a_key_proves_it(kept: Path) -> None:
    found = verify(kept.parent)
    assert found.unproved == KINDS[found.manifest.mechanism.kind].unproved(found.manifest)
    assert found.unproved
    assert verify(kept.parent, keys=[*kept.parent.parent.glob("*.pub")]).unproved is None


IMPOSSIBLE: dict[str, tuple[Place, object]] = {
    "an owner of two lines": (("about", "owner"), "board\nand others"),
    "no owner": (("about", "owner"), ""),
    "an owner that no policy can hold": (("about", "owner"), "x" * 1001),
    "a description that hides text": (("about", "description"), f"Patients \u202e{MARK}"),
    "a description with a control character": (("about", "description"), "Patients\x1b[2J"),
    "a contract with a payload": (("contract", "id"), "x" * 301),
    "a version with blanks": (("contract", "version"), " 1.0.0"),
    "a population with a bell": (("contract", "population"), "clinic\x07"),
    "a ledger that no ledger is named": (("ledger", "id"), "Some text in place of an id"),
    "line 0": (("ledger", "line"), 0),
    "a program with a payload": (("software", "crowdgate"), "0.1.0 " + "x" * 1000),
    "a library with words": (("software", "pyarrow"), "the newest one"),
    "a reason that hides text": (("verdicts", 0, "stated_reason"), "enough \u202e"),
    "a reference of two lines": (("verdicts", 0, "reference"), "minutes\nof May"),
    "a waiver without a reason": (
        ("verdicts", 0, "waiver"), {"approved_by": "board", "expires": "2031-01-01", "reason": " "}
    ),
    "counts that no gate reads": (("facts", "margins", "age"), [1, 2]),
    "a field more": (("facts", "note"), "hidden"),
    "an option more": (("verdicts", 0, "with"), {"note": "1"}),
}  # fmt: skip
"""Values of a manifest that no release has, and that its files do not contradict."""


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_what_no_release_can_state_is_refused(folder: Path, tmp_path: Path, what: str) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    state(copy, put(claims_of(copy), *IMPOSSIBLE[what]))
    careful(copy)
    with pytest.raises(VerificationFailed):
        verify(copy)


def test_what_a_manifest_cant_hold_is_refused_before_the_charge(tmp_path: Path) -> None:
    workshop = make_workshop(tmp_path / "w")
    workshop.edit(workshop.policy, "Patients by age and ward.", '"Patients \\u202e by age"')
    refused = say("check", workshop.policy)
    assert (refused.code, "marks of direction" in refused.err + refused.out) == (2, True)
    assert "entry.reserved" not in json.dumps(say("ledger", "show", "--json", "--ledger", workshop.ledger).json())
