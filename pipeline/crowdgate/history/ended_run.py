"""Public facts about an ended run: manifest and verdicts if published, public verdicts and privacy cost if withheld."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate import manifest
from crowdgate.errors import VerificationFailed
from crowdgate.history.ledger_facts import facts_in_ledger
from crowdgate.history.recorded_verdicts import parse_verdicts, public_part_of_record
from crowdgate.kind.facts import static_before_data
from crowdgate.kind.run_facts import RunDescription, facts_of_manifest
from crowdgate.kinds import KINDS
from crowdgate.ledger.values import State
from crowdgate.limits import LARGEST_MANIFEST
from crowdgate.measures.guarantees import kept_costs
from crowdgate.planning.published_places import released_folder, staged_or_moved_folder
from crowdgate.signing.statement import WithdrawalStatement, withdrawal_text
from crowdgate.system.regular_files import plain_file, read_bounded

if TYPE_CHECKING:
    from crowdgate.gate import Verdict
    from crowdgate.kind.run import Result
    from crowdgate.ledger.ledger import Entry, Ledger
    from crowdgate.manifest import Manifest

ENDED = {
    State.PUBLISHED: "published",
    State.COMMITTED: "committed, and not yet published",
    State.WITHHELD: "withheld",
    State.WITHDRAWN: "withdrawn",
    State.VOID: "not read",
    State.RESERVED: "not ended",
}
"""The outcome of a run, by the state of its charge."""
_NO_MANIFEST = "its manifest was removed when it was withdrawn"
PLAIN = {
    State.WITHHELD: (
        "Nothing was published. The table was read, so the privacy cost stays charged: a refusal reveals something too."
    ),
    State.VOID: "The table was not read, and nothing is charged.",
}


@dataclass(frozen=True, eq=False)
class EndedRun:
    """A run with its outcome (`plain` as a sentence) and its privacy cost, which for a run of a series is that of the
    series.

    `verdicts` are the public ones (None: unknown, for the reason `why`). `said` is the manifest of a published run.
    `facts` are what its page names first. `later_approvals` are the approvers before publication, each with the day
    (None: unknown).
    """

    release_id: str
    outcome: str
    epsilon: Fraction
    delta: Fraction
    plain: str
    verdicts: tuple[Verdict, ...] | None
    said: Manifest | None = None
    why: str | None = None
    facts: RunDescription | None = None
    later_approvals: tuple[str, ...] | None = None

    @property
    def policy(self) -> str:
        """The name of the policy that was run."""
        return self.release_id.partition("/")[0]

    @property
    def version(self) -> str:
        """The version of the policy that was run."""
        return self.release_id.split("/")[1]

    @property
    def slot(self) -> str:
        """The slot of the run, i.e. its scheduled date."""
        return self.release_id.rpartition("/")[2]


def of_manifest(said: Manifest) -> EndedRun:
    """Return the facts about the run of a published release, from its manifest."""
    verdicts = tuple(gate.verdict for gate in said.verdicts)
    plain, facts = f"{_summary(said)} {said.use_text}".rstrip(), facts_of_manifest(said)
    cost = facts.charged((said.guarantee.epsilon, said.guarantee.delta))
    return EndedRun(said.release.id, "published", *cost, plain, verdicts, said, facts=facts)


def of_staged(said: Manifest, root: Path) -> EndedRun:
    """Return the facts about a staged run, from its manifest: it waits if the policy in the working copy `root` asks
    for approval before publication, and otherwise its run was stopped before it published."""
    from crowdgate.planning.later_approvals import waits_for_approval

    outcome = "waiting" if waits_for_approval(root, said.release.id) else ENDED[State.COMMITTED]
    return replace(of_manifest(said), outcome=outcome)


def _summary(said: Manifest) -> str:
    if said.format < 3:
        return (said.guarantee.plain or said.guarantee.words)[0]
    spent = said.facts.spent.epsilon, said.facts.spent.delta
    kept = kept_costs(static_before_data(said), spent)
    lifetime = said.facts.lifetime is not None
    return manifest.guarantee_summary(said.facts.people, said.facts.rows_per_unit, spent, kept, lifetime=lifetime)


def of_result(result: Result) -> EndedRun:
    """Return the facts about a run that has just ended in this process, from its result."""
    if result.path is not None:
        return of_manifest(_read(result.path / manifest.NAME, None))
    verdicts = tuple(each for each in result.verdicts if each.public)
    cost = result.guarantee.epsilon, result.guarantee.delta
    if result.facts is not None:
        cost = result.facts.charged(cost)
    return EndedRun(result.release_id, result.outcome, *cost, result.plain, verdicts, facts=result.facts)


def of_entry(ledger: Ledger, root: Path, entry: Entry) -> EndedRun:
    """Return the facts about a run from its entry in the ledger of the working copy `root`.

    For a withheld release the public verdicts, which the run printed, are read from its private record.
    """
    stated: Mapping[str, Any] = {}
    try:
        if entry.state is State.COMMITTED and entry.destination is not None:
            folder = staged_or_moved_folder(ledger, root, entry.release_id, entry.destination)
            return of_staged(_read(folder / manifest.NAME, entry.manifest_digest), root)
        if entry.state is State.PUBLISHED and entry.destination is not None:
            folder = released_folder(ledger, root, entry.destination)
            return of_manifest(_read(folder / manifest.NAME, entry.manifest_digest))
        if entry.state is State.WITHDRAWN:
            return _withdrawn(ledger, entry)
        part = public_part_of_record(ledger, entry) if entry.state is State.WITHHELD else {}
        told, stated = part.get("verdicts"), part
        verdicts = None if told is None else tuple(gate.verdict for gate in parse_verdicts(told))
        why = None if verdicts is not None else "the run ended before its gates were judged, or did not end"
    except VerificationFailed as refused:
        verdicts, why = None, str(refused)
    outcome = ENDED[entry.state] if not (entry.state is State.RESERVED and entry.reading) else "crashed"
    plain, facts = PLAIN.get(entry.state, ""), facts_in_ledger(ledger, entry, stated)
    cost = facts.charged((entry.spend.epsilon, entry.spend.delta))
    return EndedRun(entry.release_id, outcome, *cost, plain, verdicts, why=why, facts=facts)


def of_tombstone(said: WithdrawalStatement) -> EndedRun:
    """Return the facts about the run of a withdrawn release, from its tombstone."""
    cost = Fraction(said.predicate.epsilon), Fraction(said.predicate.delta)
    return EndedRun(said.release_id, ENDED[State.WITHDRAWN], *cost, said.plain, None, why=_NO_MANIFEST)


def _withdrawn(ledger: Ledger, entry: Entry) -> EndedRun:
    line = ledger.withdrawal(entry.release_id)
    assert line is not None, "the state follows from this line"
    plain = withdrawal_text(str(line.day), line.detail_values["reason"])
    facts = facts_in_ledger(ledger, entry, {})
    cost = facts.charged((entry.spend.epsilon, entry.spend.delta))
    return EndedRun(entry.release_id, ENDED[entry.state], *cost, plain, None, why=_NO_MANIFEST, facts=facts)


def _read(path: Path, digest: str | None) -> Manifest:
    """Return the manifest in the file at `path`, which must have this SHA-256. Raises VerificationFailed."""
    try:
        with plain_file(path) as file:
            data = read_bounded(file, LARGEST_MANIFEST)
    except OSError as error:
        raise VerificationFailed(f"{manifest.NAME}: {error.strerror or 'unreadable'}") from None
    if digest is not None and hashlib.sha256(data).hexdigest() != digest:
        raise VerificationFailed(f"{manifest.NAME}: it is not the one that the ledger committed to")
    kind = KINDS.get(manifest.kind_in(data))
    if kind is None:
        raise VerificationFailed(f"{manifest.NAME}: no kind of release that is known")
    said: Manifest = manifest.parsed(kind.manifest_class(), data)
    return said
