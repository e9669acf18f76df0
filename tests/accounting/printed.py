"""All numbers that commands and releases report, by place: for the bundled policies and a small clinic's table.

The clinic's working copies are those of other tests: they report what the bundled policies do not (a public table, a
register, recorded audits, synthetic rows, entries of a KL repository).
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from crowdgate.audit.common.stored_records import now
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.releases.working_copy import init
from crowdgate.signing import keys
from tests.anonymity.test_measure import PUBLIC, REGISTER
from tests.audit.test_audited_questions import make as audited_clinic
from tests.audit.workshop import five_blocks, only_few_controls
from tests.conformance.lives import say
from tests.kinds.synthetic import RICH, synthetic_workshop
from tests.workshop import Workshop, good_rows, make_workshop

Field = tuple[str, ...]
"""The keys down to a number; a list adds none."""
Fields = Mapping[str, set[Field]]
"""The fields of each document."""

SLOT = "2020-01-01"
BUNDLED = ("census_income", "census_income_tables", "census_income_synthetic")
MORE = dict(zip(BUNDLED, (["--compare"], [], ["--within", "0.5", "--rows", "sex,income"]), strict=True))
NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?(/\d+)?|nan|[-+]?inf(inity)?", re.IGNORECASE)
SINGLED_OUT = "    units: 300\n    trials: 60\n    weight: 1e-3\n    limit: 0.3\n"
EXCESS = "    - {measure: pso_excess, at_most: 0.3, with: {max_age: 30}}\n"
ROC = "fpr,tpr\n0,0.002\n0.001,0.01\n0.01,0.08\n0.1,0.4\n0.5,0.9\n"


def leaves(said: Any, above: Field = ()) -> Iterator[Field]:
    """Yield the places of numbers, including numbers as text."""
    if isinstance(said, dict):
        for name, inside in said.items():
            yield from leaves(inside, (*above, name))
    elif isinstance(said, list):
        for inside in said:
            yield from leaves(inside, above)
    elif is_number(said):
        yield above


def is_number(said: Any) -> bool:
    """Return whether a value is a number, or a text that is only a number."""
    if isinstance(said, str):
        return NUMBER.fullmatch(said) is not None
    return isinstance(said, int | float) and not isinstance(said, bool)


def printed_fields(root: Path) -> Fields:
    """Return the fields of all output of the commands, in working copies below a folder."""
    found: dict[str, set[Field]] = defaultdict(set)
    with pytest.MonkeyPatch.context() as patch:
        for name, tell in COPIES.items():
            (root / name).mkdir()
            patch.chdir(root / name)
            for document, said in tell(root / name):
                found[document] |= set(leaves(said))
    return found


Told = Iterator[tuple[str, Any]]
"""Documents and their content."""


def told(*arguments: object, code: int = 0) -> Any:
    """Return the output of a command."""
    said = say(*arguments, "--json")
    assert said.code == code, said.out + said.err
    return said.json()


def of_release(workshop: Workshop, slot: str = SLOT) -> Told:
    """Return the files of a release other than its data."""
    told("release", workshop.policy, "--as-of", slot)
    return of_folder(workshop.release_dir(slot))


def of_folder(folder: Path) -> Told:
    """Yield the manifest, and the records of audits."""
    for path in folder.glob("*.json"):
        yield path.name, json.loads(path.read_text(encoding="utf-8"))


def bundled(root: Path) -> Told:
    copy = init(root / "copy", "traced")
    for name in BUNDLED:
        policy = copy / "policies" / f"{name}.yaml"
        yield "check", told("check", policy)["policies"][0]
        yield "plan", told("plan", policy, *MORE[name])
    for name in BUNDLED[:2]:
        told("release", copy / "policies" / f"{name}.yaml", "--as-of", SLOT)
        yield from of_folder(copy / "releases" / name.replace("_", "-") / "2" / SLOT)
    contract = copy / "data_contracts" / "census_income.yaml"
    yield "predict", told("predict", contract, "--of", "age,sex,income", "--at-most", "0.01", "--cost", "2")
    yield "predict", told("predict", copy / "policies" / "questionnaires" / "concertgebouw.yaml")


def synthetic(root: Path) -> Told:
    return of_release(synthetic_workshop(root / "copy", RICH))


def changed(root: Path) -> Told:
    """Yield the comparison of a policy with a released one that has other numbers."""
    workshop = make_workshop(root / "copy")
    told("release", workshop.policy, "--as-of", SLOT)
    old = root / "copy" / "policies" / "old.yaml"
    old.write_text(workshop.policy.read_text(encoding="utf-8"), encoding="utf-8")
    workshop.edit(workshop.policy, "epsilon: 2", "epsilon: 3")
    yield "diff", told("diff", old, workshop.policy, code=3)
    yield "replay", told("replay", workshop.policy)


def public(root: Path) -> Told:
    """Yield reports on a table that the clinic declares public: its anonymity sets, a register, and KL entries."""
    workshop = make_workshop(root / "copy")
    workshop.edit(workshop.contract, PUBLIC, f"{PUBLIC}\n      - {{property: public, value: true}}")
    workshop.edit(workshop.budget, "people: 1000", "people: 5000")
    (workshop.root / "data_contracts" / "town.yaml").write_text(REGISTER)
    (workshop.root / "data_contracts" / "town.csv").write_text("ward\nnorth\n" + "south\n" * 4)
    workshop.write(good_rows(2400))
    return chain(of_release(workshop), of_public(workshop), of_entries(workshop))


def of_public(workshop: Workshop) -> Told:
    yield "plan", told("plan", workshop.policy, "--from", workshop.data, "--compare")
    yield "anonymity", told("anonymity", workshop.contract, "--up-to", 2, "--by", "ward", "--sample", "0.1")
    register = (
        "--register",
        workshop.root / "data_contracts" / "town.yaml",
        "--wrong",
        "ward=0.1",
        "--coverage",
        "0.5",
    )
    yield "anonymity", told("anonymity", workshop.contract, "--release", workshop.release_dir(SLOT), *register)


def of_entries(workshop: Workshop) -> Told:
    keys.create(workshop.root / "holder.key")
    settings = workshop.root / "crowdgate.toml"
    settings.write_text(f'{settings.read_text(encoding="utf-8")}signing_key = "holder.key"\n', encoding="utf-8")
    ledger_at(workshop.root, None).sign()
    named = ("--words", "Patients", "--coverage", "0.9", "--error", "0.01", "--to", "kl", "--of", "age=10 years,ward")
    for basis in (("--public",), ("--epsilon", "0.5", "--curve")):
        told("kl", "publish", workshop.contract, *named, "--as-of", SLOT, *basis)
    key = workshop.root / "holder.key.pub"
    for entry in told("kl", "list", "--from", workshop.root / "kl", "--key", key)["entries"]:
        yield "kl entry", entry


def audited(root: Path) -> Told:
    """Yield three recorded audits, and a release whose gates read them: it contains their printed `record`."""
    with only_few_controls(), five_blocks():
        town = audited_clinic(root / "copy")
        town.edit(town.policy, "    population: towns\n", f"    population: towns\n{SINGLED_OUT}")
        town.edit(town.policy, "  gates:\n", f"  gates:\n{EXCESS}")
        records = []
        for question in ("singling-out", "inference", "membership"):
            said = told("audit", town.policy, "--of", question, "--jobs", 1)
            records.append(said.pop("record"))
            yield f"audit --of {question}", said
        released = list(of_release(town, now().isoformat()))
        assert all(record in [each for _, each in released] for record in records)
        yield from released


def attack(root: Path) -> Told:
    """Yield the report on a published attack."""
    path = root / "roc.csv"
    path.write_text(ROC, encoding="utf-8")
    yield "membership", told("membership", "--roc", path, "--members", 1000, "--non-members", 5000)


COPIES: Mapping[str, Callable[[Path], Told]] = {
    "bundled": bundled,
    "synthetic": synthetic,
    "changed": changed,
    "public": public,
    "audited": audited,
    "attack": attack,
}
