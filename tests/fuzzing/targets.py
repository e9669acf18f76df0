"""The files that a person can name, each with its mutations and with the commands that read it."""

from contextlib import chdir
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from crowdgate.ledger import ledger
from tests.fuzzing.mutations import ACCIDENTS, CSV, JSON, PAGES, PARQUET, TOML, YAML, Mutation
from tests.workshop import Workshop, crowdgate, good_rows, make_workshop, write_csv

BEFORE, SLOT = "2030-01-01", "2030-01-02"
WITHDRAWN, KEPT = "2029-12-31", "2029-12-30"
"""Slots of a withdrawn release and of another published one, in the signed working copy."""
RELEASE = f"release policies/clinic.yaml --as-of {SLOT}"
REMOVED = f"releases/clinic/1/{WITHDRAWN}"
FOLDER = f"releases/clinic/1/{KEPT}"
ENTRY = "--words Patients --coverage 1 --error 0.01 --public --as-of 2020-01-01"
KEYS = "--key own.key.pub"


CASES = """\
apiVersion: crowdgate/v1
kind: PolicyCases
metadata: {name: clinic, owner: board, description: What the policy must withhold.}
spec:
  policy: clinic.yaml
  cases:
    - {name: without-data, expect: {outcome: published}}
    - name: too-few-rows
      measured: [{gate: released_rows, value: -1}]
      expect: {outcome: withheld, gates: {released_rows: fail}}
"""
QUESTIONNAIRE = """\
apiVersion: crowdgate/v1
kind: Questionnaire
metadata: {name: visitors, title: Visitors, description: Shares of the largest answers.}
spec:
  population: {people: 16000, who: inhabitants}
  questions:
    - {name: education, ask: Your education, answers: {vocational: 0.30}, others: 6}
    - {name: background, ask: Your background, answers: {none: 0.79, some: 0.21}}
    - {name: children, ask: Your children, skip: no statistics could be linked}
"""


class Target(NamedTuple):
    """One sort of file: its path or pattern in a working copy, its mutations, and the commands that read it."""

    file: str
    mutations: tuple[Mutation, ...]
    commands: tuple[str, ...]


CHECK = "check policies/clinic.yaml"
CHECKED = (CHECK, RELEASE, RELEASE)
ON_THE_LEDGER = ("ledger verify", RELEASE, "ledger restore")
ON_HEADS = (*ON_THE_LEDGER, f"record show clinic/1/{KEPT}")
ON_CATALOGUES = ("report index pages", f"catalogue verify releases {KEYS}", "catalogue write releases")
ON_A_RELEASE = (
    f"verify {FOLDER}", f"verify {FOLDER} {KEYS}", f"report release {FOLDER}", f"keys sign {FOLDER}",
    "replay policies/clinic.yaml", *ON_CATALOGUES,
)  # fmt: skip
ON_A_TOMBSTONE = (f"verify {REMOVED}", f"verify {REMOVED} {KEYS}", *ON_HEADS)
ON_RECORDS = (
    f"record show clinic/1/{KEPT}", f"record show clinic/1/{KEPT} --page record.html", "record list",
    "replay policies/clinic.yaml --private", "ledger verify", f"record delete clinic/1/{KEPT}",
)  # fmt: skip
ON_ENTRIES = (
    f"kl list --from kl {KEYS}", f"kl query --from kl {KEYS} --contract clinic --of ward", "ledger verify",
    f"kl publish data_contracts/clinic.yaml --of ward --to kl {ENTRY}",
)  # fmt: skip
ON_KEYS = (f"verify {FOLDER} {KEYS}", "keys show own.key.pub", f"kl list --from kl {KEYS}")
SHOWN = ("ledger verify", "ledger show")
UNSIGNED = {
    "policy": Target("policies/clinic.yaml", YAML, (*CHECKED, "explain policies/clinic.yaml")),
    "contract": Target("data_contracts/clinic.yaml", YAML, (*CHECKED, "contract show data_contracts/clinic.yaml")),
    "budget": Target("policies/budgets/clinic.yaml", YAML, CHECKED),
    "csv": Target("data_contracts/patients.csv", CSV, (f"{RELEASE} --input data_contracts/patients.csv",)),
    "parquet": Target("data_contracts/patients.parquet", PARQUET, (RELEASE,)),
    "ledger": Target("ledger/ledger.db", PAGES, (RELEASE, RELEASE, *SHOWN, "ledger restore")),
    "unsigned manifest": Target(f"releases/clinic/1/{BEFORE}/manifest.json", JSON, ON_THE_LEDGER),
    "unsigned head": Target("releases/.crowdgate-staging/*.head", JSON, ON_THE_LEDGER),
    "margins": Target("data_contracts/ward.csv", CSV, CHECKED),
    "cases": Target("policies/cases/clinic.yaml", YAML, ("test policies/cases",)),
    "questionnaire": Target("questionnaire.yaml", YAML, ("predict questionnaire.yaml --people 100",)),
}
SIGNED = {
    "settings": Target("crowdgate.toml", TOML, (*CHECKED, *SHOWN, "record list", "report index pages")),
    "manifest": Target(f"{FOLDER}/manifest.json", JSON, (*ON_A_RELEASE, *ON_HEADS)),
    "released rows": Target(f"{FOLDER}/data.parquet", PARQUET, ON_A_RELEASE),
    "dictionary": Target(f"{FOLDER}/dictionary.csv", CSV, ON_A_RELEASE),
    "statement": Target(f"{FOLDER}/release.dsse.json", JSON, (*ON_A_RELEASE, *ON_HEADS)),
    "catalogue": Target("releases/catalogue.dsse.json", JSON, (*ON_CATALOGUES, *ON_HEADS)),
    "tombstone": Target(f"{REMOVED}/withdrawn.json", JSON, ON_A_TOMBSTONE),
    "withdrawal": Target(f"{REMOVED}/withdrawn.dsse.json", JSON, ON_A_TOMBSTONE),
    "head": Target("heads/*.head", JSON, ON_HEADS),
    "private record": Target(f"ledger/private/*{KEPT}.json", JSON, ON_RECORDS),
    "position": Target("ledger/private/*.position", JSON, (*CHECKED, "ledger verify")),
    "copy of the ledger": Target("copy.db", PAGES, ("ledger restore copy.db",)),
    "signed ledger": Target("ledger/ledger.db", PAGES, (RELEASE, *SHOWN, "ledger restore copy.db")),
    "KL entry": Target("kl/[0-9a-f]*.json", JSON, ON_ENTRIES),
    "KL index": Target("kl/index.dsse.json", JSON, ON_ENTRIES),
    "public key": Target("own.key.pub", ACCIDENTS, ON_KEYS),
    "private key": Target("own.key", ACCIDENTS, (CHECK, RELEASE, "ledger verify")),
}
TARGETS = UNSIGNED | SIGNED
"""The targets by name: files of the working copy without a key, and of the one with a key."""


def unsigned_copy(root: Path) -> Workshop:
    """Make a working copy with one release and a table as Parquet and CSV, without a key."""
    workshop = make_workshop(root)
    write_csv(workshop.data.with_suffix(".csv"), good_rows(600))
    (root / "policies" / "cases").mkdir()
    (root / "policies" / "cases" / "clinic.yaml").write_text(CASES)
    (root / "questionnaire.yaml").write_text(QUESTIONNAIRE)
    run(root, f"release policies/clinic.yaml --as-of {BEFORE}")
    return workshop


def signed_copy(root: Path) -> Workshop:
    """Make a working copy with a key, heads, a release, a withdrawn one, a catalogue and a KL repository."""
    workshop = make_workshop(root)
    workshop.edit(
        workshop.contract, "{property: rowsAtMost", "{property: public, value: true}\n      - {property: rowsAtMost"
    )
    (root / "heads").mkdir()
    settings = 'heads = ["heads"]\nsigning_key = "own.key"\nprivate_record_days = 30\nlang = "en"\n'
    run(root, "keys create own.key")
    with (root / "crowdgate.toml").open("a") as file:
        file.write(settings)
    run(root, "ledger sign")
    for slot in (WITHDRAWN, KEPT):
        run(root, f"release policies/clinic.yaml --as-of {slot}")
    with mock.patch.object(ledger, "POSITION_STEP", 1):  # so that a position is attested
        run(root, "check policies/clinic.yaml")
    run(root, f"withdraw clinic/1/{WITHDRAWN} --reason wrong")
    run(root, f"kl publish data_contracts/clinic.yaml --of ward --to kl {ENTRY}")
    (root / "copy.db").write_bytes((root / "ledger" / "ledger.db").read_bytes())
    return workshop


def run(root: Path, command: str) -> None:
    """Run a command that must succeed in a working copy."""
    with chdir(root):
        assert crowdgate(*command.split()) == 0, command
