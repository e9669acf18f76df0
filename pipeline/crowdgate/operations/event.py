"""An event: one fact about a run or a ledger that an operator can act on, in a versioned form.

It holds names, words of fixed lists and numbers that the manifest or `ledger show` states as well. It holds no text
that anybody wrote, no measurement, no path and no time of the day, so the duration of a run does not show in it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from importlib.metadata import version
from typing import Annotated, Any, Literal
from uuid import uuid4

from pydantic import ConfigDict, Field

from crowdgate.candidate import AuditQuestion
from crowdgate.gate import Outcome
from crowdgate.manifest.values import Exact, ManifestFields, Name
from crowdgate.operations.next_steps import NEXT_STEPS

FORM: Literal["urn:crowdgate:event:v1"] = "urn:crowdgate:event:v1"
SLOT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{4}Z)?$"


class EventKind(StrEnum):
    """The fact that an event states: how a run ended, or a state of the budget, of an audit or of the ledger."""

    PUBLISHED = "published"
    WITHHELD = "withheld"
    HELD = "held"
    WAITING = "waiting"
    DRY_RUN = "dry-run"
    REFUSED = "refused"
    CRASHED = "crashed"
    LOW_BUDGET = "low-budget"
    AUDIT_STALE = "audit-stale"
    LEDGER_REFUSED = "ledger-refused"
    RESTORED = "restored"


class EventLevel(StrEnum):
    """The urgency of an event: `error` asks somebody to act before the next run, `warning` before long."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


LEVELS = {
    EventKind.REFUSED: EventLevel.ERROR,
    EventKind.CRASHED: EventLevel.ERROR,
    EventKind.LEDGER_REFUSED: EventLevel.ERROR,
    EventKind.WAITING: EventLevel.WARNING,
    EventKind.LOW_BUDGET: EventLevel.WARNING,
    EventKind.AUDIT_STALE: EventLevel.WARNING,
    EventKind.RESTORED: EventLevel.WARNING,
}
"""The level of each kind of event that is no mere information."""


class EventGate(ManifestFields):
    """A gate and its public verdict, without what was measured."""

    measure: Name
    """The name of the measure."""
    outcome: Outcome
    """The verdict."""
    withholds: bool
    """True if this gate withholds the release."""


class EventCost(ManifestFields):
    """The privacy cost that the run was charged."""

    epsilon: Exact
    """Epsilon, exactly."""
    delta: Exact
    """Delta, exactly."""


class EventAudit(ManifestFields):
    """A recorded audit that a gate reads."""

    question: AuditQuestion
    """The question of the audit."""
    age_days: Annotated[int, Field(ge=0)] | None = None
    """The age of the newest record in days; absent if there is none for these files of the policy."""
    max_age_days: Annotated[int, Field(ge=0)]
    """The greatest age that the gate allows, in days."""


class Event(ManifestFields):
    """One event. Fields that do not apply are absent."""

    model_config = ConfigDict(
        defer_build=True, strict=True, extra="forbid", frozen=True, hide_input_in_errors=True, populate_by_name=True
    )

    form: Annotated[Literal["urn:crowdgate:event:v1"], Field(alias="schema")] = FORM
    """The version of this form. A field keeps its name and meaning; new fields may be added."""
    id: Annotated[str, Field(pattern=r"^[0-9a-f-]{36}$")]
    """The id of the event (UUID), the same in every channel."""
    kind: EventKind
    """The fact that the event states."""
    level: EventLevel
    """The urgency of the event."""
    day: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    """The day (UTC) of the event."""
    program: Annotated[str, Field(max_length=100)]
    """The version of Crowdgate."""
    run: Annotated[str, Field(pattern=r"^[0-9a-f-]{36}$")] | None = None
    """The id of the run (UUID): that of the flow run under Prefect. All events of a run have it."""
    policy: Name | None = None
    """The policy's name."""
    policy_digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    """The digest of the policy's files."""
    contract: Name | None = None
    """The id of the contract of the table."""
    population: Name | None = None
    """The population whose budget pays."""
    ledger: Annotated[str, Field(pattern=r"^[a-z0-9-]{1,40}-[0-9a-f]{8}$")] | None = None
    """The ledger's id."""
    release: Annotated[str, Field(max_length=120)] | None = None
    """The id of the release: policy, version and slot."""
    slot: Annotated[str, Field(pattern=SLOT)] | None = None
    """The slot of the release."""
    repeated: bool = False
    """True if an earlier run ended so, and this one only reports it."""
    code: Annotated[str, Field(pattern=r"^[a-z-]{1,40}$")] | None = None
    """The code of the error that ended the run."""
    exit_code: Annotated[int, Field(ge=0, le=6)] | None = None
    """The exit code of the run."""
    gates: tuple[EventGate, ...] = ()
    """The gates with their public verdicts."""
    cost: EventCost | None = None
    """The privacy cost that this run was charged."""
    budget_left_percent: Annotated[int, Field(ge=0, le=100)] | None = None
    """The part of the population's lifetime budget that is left, in percent, rounded down."""
    audit: EventAudit | None = None
    """The audit that is missing or too old."""
    todo: Annotated[str, Field(max_length=300)] = ""
    """The next step, in a sentence; empty if there is none."""

    def to_json(self) -> dict[str, Any]:
        """Return the event as an object of JSON, without the fields that do not apply."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


def new_event(kind: EventKind, **fields: Any) -> Event:
    """Return an event of today with an id of its own."""
    level = LEVELS.get(kind, EventLevel.INFO)
    day = datetime.now(UTC).date().isoformat()
    stated = {"todo": NEXT_STEPS.get(kind, "")} | fields
    return Event(id=str(uuid4()), kind=kind, level=level, day=day, program=version("crowdgate"), **stated)
