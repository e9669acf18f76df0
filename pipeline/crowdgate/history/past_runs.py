"""Records of the gates and settings of past runs of a policy, also under other names.

The record of a published release is the manifest that the ledger committed to. That of a withheld one (which is
charged, too) is the public verdicts of its private record. Crashed runs have none. Confidential verdicts are left out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate.candidate import OutputType
from crowdgate.errors import CrowdgateError, VerificationFailed
from crowdgate.ledger.values import State
from crowdgate.limits import LARGEST_MANIFEST
from crowdgate.planning.open_ledger import OpenedLedger
from crowdgate.system.regular_files import plain_file, read_bounded

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan
    from crowdgate.ledger.ledger import Entry, Ledger
    from crowdgate.manifest import GateFields
    from crowdgate.measures import Measure

MOST_RUNS = 100
"""The greatest number of runs that are read, so that `check` stays quick: the last ones."""
NEARLY = 2
"""Populations whose bounds are within this factor are compared."""
OF_THE_TABLE = (OutputType.TABLE, OutputType.INPUT)
"""Output types measured on the table itself: they depend on the mechanism only through its attributes."""


@dataclass(frozen=True)
class PastRun:
    """A past run that read data.

    `verdicts` are its public verdicts on the measures asked for (none if it crashed, or is unreadable), `settings` its
    public settings (None: unknown). `same_files` is True if all files of the policy were the current ones, `own` if the
    run is one of the policy's name.
    """

    release_id: str
    crashed: bool
    same_files: bool
    verdicts: tuple[GateFields, ...] = ()
    settings: Mapping[str, Any] | None = None
    own: bool = True

    def is_comparable(self, plan: Plan, measure: Measure) -> bool:
        """Return whether the number that a gate measured in this past run is comparable with that of a run of
        `plan`.
        """
        if self.same_files:
            return True
        now, then = settings(plan), self.settings
        if then is None or measure.register or any(then[name] != now[name] for name in ("contract", "version")):
            return False
        here, there = now["mechanism"], then["mechanism"]
        table = measure.shape in OF_THE_TABLE and "attributes" in here
        fields = ("kind", "attributes") if table else tuple(here)
        near = now["people"] <= NEARLY * then["people"] and then["people"] <= NEARLY * now["people"]
        return near and all(there.get(name) == here[name] for name in fields)


def settings(plan: Plan) -> dict[str, Any]:
    """Return the public settings on which a run's measured numbers depend: contract and its version, people,
    mechanism.
    """
    contract = plan.bundle.contract
    return {
        "contract": contract.id,
        "version": contract.version,
        "people": plan.bundle.budget.spec.people,
        "mechanism": json.loads(json.dumps(plan.protection.kind.parameters(plan.protection.mechanism))),
    }


def past_runs(plan: Plan, opened: OpenedLedger, measures: Container[str]) -> tuple[PastRun, ...] | None:
    """Return the last runs that read data, oldest first, with their verdicts on these measures: runs of the policy's
    name, and those of other names with the same contract, as a renamed policy is no other one. None if its ledger is
    unreadable here.
    """
    try:
        ledger = opened.ledger()
        runs = [(each.number, _past_run(plan, ledger, each, measures)) for each in _own_runs(plan, ledger)]
        others = ((each.number, _same_table(plan, ledger, each, measures)) for each in _other_runs(plan, ledger))
        runs += [(number, run) for number, run in others if run is not None]
        return tuple(run for _, run in sorted(runs, key=lambda each: each[0])[-MOST_RUNS:])
    except CrowdgateError:
        return None


def _own_runs(plan: Plan, ledger: Ledger) -> list[Entry]:
    return ledger.last_entries(plan.bundle.policy.metadata.name, MOST_RUNS, has_read)


def _other_runs(plan: Plan, ledger: Ledger) -> list[Entry]:
    """Return the last ended runs of other policies on this population."""
    own, population = plan.bundle.policy.metadata.name, plan.bundle.contract.population

    def other(each: Entry) -> bool:
        ended = each.state is not State.RESERVED and has_read(each)
        return ended and each.release_id.partition("/")[0] != own

    return ledger.last_entries(None, MOST_RUNS, other, population)


def has_read(entry: Entry) -> bool:
    """Return whether a run has read data, as its charge tells."""
    return entry.state is not State.VOID and not entry.lease


def _same_table(plan: Plan, ledger: Ledger, entry: Entry, measures: Container[str]) -> PastRun | None:
    """Return the run of another policy, if its contract is the one of this policy."""
    run = _past_run(plan, ledger, entry, measures)
    same = run.settings is not None and run.settings["contract"] == plan.bundle.contract.id
    return replace(run, own=False) if same else None


def _past_run(plan: Plan, ledger: Ledger, entry: Entry, measures: Container[str]) -> PastRun:
    same = entry.policy_digest == plan.bundle.digest
    if entry.state is State.RESERVED:
        return PastRun(entry.release_id, crashed=True, same_files=same)
    from crowdgate.history.recorded_verdicts import parse_verdicts

    try:
        recorded = public_record(plan.bundle.root, ledger, entry)
        verdicts = parse_verdicts(each for each in recorded["verdicts"] if each.get("measure") in measures)
        return PastRun(entry.release_id, False, same, verdicts, recorded["settings"])
    except VerificationFailed:
        return PastRun(entry.release_id, False, same)


def public_record(root: Path, ledger: Ledger, entry: Entry) -> dict[str, Any]:
    """Return the public `verdicts` and `settings` that a run of a working copy recorded when it ended.

    For a withheld run they are in its private record, for a published one in its manifest, both as the ledger committed
    to them. Raises VerificationFailed.
    """
    from crowdgate.history.recorded_verdicts import public_part_of_record

    return public_part_of_record(ledger, entry) if entry.state is State.WITHHELD else _of_manifest(root, entry)


def _of_manifest(root: Path, entry: Entry) -> dict[str, Any]:
    from pydantic_core import from_json

    from crowdgate.history.recorded_verdicts import public_verdicts
    from crowdgate.manifest.values import NAME

    try:
        with plain_file(root / (entry.destination or "") / NAME) as file:
            sealed = read_bounded(file, LARGEST_MANIFEST)
        if hashlib.sha256(sealed).hexdigest() != entry.manifest_digest:
            raise VerificationFailed("the manifest of the release differs from the one that the ledger recorded")
        said = from_json(sealed)  # half the time of `json`: `check` reads up to MOST_RUNS manifests
        contract = said["contract"]
        by = {"contract": contract["id"], "version": contract["version"], "people": said["facts"]["people"]}
        return {"verdicts": public_verdicts(said), "settings": {**by, "mechanism": said["mechanism"]}}
    except (OSError, ValueError, KeyError):
        raise VerificationFailed("the manifest of the release can't be read") from None
