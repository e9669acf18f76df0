"""The record of an audit of the stated distributions, as JSON."""

from typing import Annotated, Literal

from pydantic import Field

from crowdgate.audit.common.record import (
    AuditSetting,
    Count,
    Exact,
    MechanismResults,
    RecordedAudit,
    RecordModel,
)
from crowdgate.audit.law.sums import NonNegative, ScoreSums

MOST_FAMILIES = 40
"""Greatest number of families of numbers, and of contradictions, in a record."""


class RareClasses(RecordModel):
    """Classes that are hardly ever released: the expected number of their releases by the stated distributions, and the
    number that was released."""

    expected: NonNegative = 0.0
    released: Count = 0


class LawResults(MechanismResults):
    """Fresh releases of the policy's mechanism: sums of the scores of all drawn numbers by family, the releases of rare
    classes, and sentences about contradictions, which no randomness can explain."""

    must: Literal["judged"]
    releases: Annotated[int, Field(ge=1)]
    sums: Annotated[tuple[ScoreSums, ...], Field(max_length=MOST_FAMILIES)]
    rare: RareClasses
    contradictions: Annotated[tuple[str, ...], Field(max_length=MOST_FAMILIES)]


class LawSetting(AuditSetting):
    """Setting of the audit: `releases` fresh releases of the whole population's table. `error` is the false-alarm rate
    of a first attempt, of all tests together. Noise that is too small by the share `limit` must have been visible."""

    question: Literal["law"] = "law"
    releases: Annotated[int, Field(ge=1)]
    error: Exact


class LawRecord(RecordedAudit[LawSetting, LawResults]):
    """Record of an audit of the stated distributions."""

    played: Annotated[tuple[LawResults, ...], Field(max_length=1)]
