"""The values that a release passes from step to step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from crowdgate import manifest
from crowdgate.kind.run_facts import series_cost_text
from crowdgate.number_text import decimal
from crowdgate.publish.publisher import StagedRelease, staged_folder
from crowdgate.system.notebook_page import ShownInNotebooks
from crowdgate.system.short_repr import short_repr

if TYPE_CHECKING:
    from crowdgate.candidate import AuditQuestion, Audits, Candidate, Input, Static
    from crowdgate.gate import Verdict
    from crowdgate.guarantee import Guarantee
    from crowdgate.histogram import Histogram
    from crowdgate.kind.plan import Plan
    from crowdgate.kind.run_facts import RunDescription
    from crowdgate.ledger.ledger import Ledger, Reservation
    from crowdgate.manifest import SeriesFields
    from crowdgate.publish.register import Register
    from crowdgate.risk.class_sizes import ClassSizes
    from crowdgate.sources import Source
    from crowdgate.sources.arrow_stream import ArrowTable
    from crowdgate.sources.rules import RuleOutcome


@dataclass(frozen=True)
class Request:
    """The request for a release by a person or a schedule: names and paths, or in Python a table.

    `holder` names the run, so that a retried run may resume what it has reserved; None for a run that is not retried.
    `anchors` are lines of the ledger with their digests, `LINE:DIGEST`, which the ledger must hold. `anyway` is the
    reason why a release is charged that past runs would hold. `at` is the moment for which the run was scheduled, if no
    slot was asked: with a calendar its period decides the slot. `wait` is the number of minutes for which a table that
    is missing, or a fault of the machine, is tried again before the charge. `classes` are the class sizes of a public
    table, for a simulated run in a copy without this table; None where a release counts itself. `table` is an Arrow
    table in place of the contract's. `workers` is the number of processes that count the table, `cluster` the address
    of a Dask scheduler whose workers count it instead; no result depends on them.
    """

    policy: Path
    slot: str
    input: Path | None = None
    to: Path | None = None
    ledger: str | None = None
    holder: str | None = None
    anchors: tuple[str, ...] = ()
    anyway: str | None = None
    at: datetime | None = None
    wait: int = 0
    classes: Mapping[frozenset[str], ClassSizes] | None = None
    table: ArrowTable | None = field(default=None, repr=False)
    workers: int = 1
    cluster: str | None = None


@dataclass(frozen=True)
class Result(ShownInNotebooks):
    """The public outcome of a release; `plain` states it in a sentence, `use` what the data can be used for.
    `left` says what is left of the budget after a charge, `low` warns if it is little. `repeated`: an earlier run had
    this outcome. A release that was held ended before it was charged; one that waits is charged and staged, and is
    published after its approval. `facts` are what its page names first (None: its manifest states them), `series` is
    that of a release, if its policy declares one."""

    __repr__ = short_repr

    outcome: Literal["published", "withheld", "held", "waiting"]
    release_id: str
    path: Path | None
    guarantee: Guarantee
    verdicts: tuple[Verdict, ...]
    plain: str = ""
    repeated: bool = False
    use: str = ""
    left: str = ""
    low: str = ""
    facts: RunDescription | None = None
    series: SeriesFields | None = None

    @property
    def cost(self) -> str:
        """The privacy cost that was charged, in a sentence: for a series what its first release paid."""
        once = f"epsilon {decimal(self.guarantee.epsilon)}, delta {decimal(self.guarantee.delta)}"
        budget = None if self.facts is None else self.facts.budget
        if self.series is not None and self.series.paid_by != self.release_id:
            return f"Privacy cost: none further ({series_cost_text(self.series)})."
        if self.outcome == "withheld" and budget is not None and not budget.charged:
            return "Privacy cost: none, as nothing is charged."
        return f"Privacy cost: {once if self.series is None else series_cost_text(self.series)}."

    @property
    def in_paid_series(self) -> bool:
        """True if the series of this run was paid for, so that its next slot costs nothing more."""
        if self.series is None:
            return False
        budget = None if self.facts is None else self.facts.budget
        return self.series.paid_by != self.release_id or self.repeated or (budget is not None and budget.charged)

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return {
            "outcome": self.outcome,
            "release_id": self.release_id,
            "path": None if self.path is None else str(self.path),
            "plain": self.plain,
            "guarantee": manifest.guarantee_json(self.guarantee),
            "verdicts": [manifest.verdict_json(found) for found in self.verdicts if found.public],
        }


@dataclass(frozen=True)
class Approval:
    """An approval that counts: the approver's name, the id of their key, the day (UTC), and the SHA-256 of its
    file."""

    name: str
    key: str
    day: str
    digest: str


@dataclass(frozen=True, eq=False)
class Run:
    """The public parts of a release that may start. Gates read `audits`, recorded audits, and `register`, a public
    register to compare the rows with; `audit_records` are published with the release. `approvals` are those before
    the charge."""

    plan: Plan
    slot: str
    id: str
    ledger: Ledger
    source: Source
    root: Path
    destination: Path
    holder: str
    audits: Audits = field(default_factory=dict)
    audit_records: Mapping[AuditQuestion, bytes] = field(default_factory=dict)
    register: Register | None = None
    approvals: tuple[Approval, ...] = ()

    @property
    def place(self) -> str:
        """The destination as the ledger stores it: relative to the working copy if possible, as that may be moved."""
        home = self.plan.bundle.root
        inside = self.destination.is_relative_to(home)
        return self.destination.relative_to(home).as_posix() if inside else str(self.destination)

    @property
    def staged(self) -> Path:
        """The folder in which the release is staged."""
        return staged_folder(self.root, self.ledger.id, self.id)


@dataclass(frozen=True, eq=False)
class ReservedRun:
    """A run that the ledger has charged, and its charge. `informed`: its policy changed after confidential results were
    viewed."""

    run: Run
    charge: Reservation
    static: Static
    verdicts: tuple[Verdict, ...]
    informed: bool


@dataclass(frozen=True, eq=False)
class CountedTable:
    """The source table, counted in the views that its kind of release needs, with the ingestion summary and the
    outcomes of the contract's rules. Confidential. `ingested` are figures for the custodian."""

    views: Mapping[str, Histogram]
    input: Input
    ingested: dict[str, Any]
    facts: dict[str, float]
    rules: tuple[RuleOutcome, ...]


@dataclass(frozen=True, eq=False)
class JudgedCandidate:
    """A candidate with the verdicts of all gates."""

    candidate: Candidate
    verdicts: tuple[Verdict, ...]
    injected: bool


@dataclass(frozen=True)
class CommittedRelease:
    """A staged release that the ledger has committed to. `use` states what recipients can use it for."""

    staged: StagedRelease
    verdicts: tuple[Verdict, ...]
    use: str = ""
