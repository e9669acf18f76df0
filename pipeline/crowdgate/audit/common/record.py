"""The record of an audit, one JSON object: all that is needed to repeat the audit, and all that gates and pages
read."""

import re
from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, model_validator

from crowdgate.number_text import exact_text

MOST_POINTS = 20
"""Greatest number of points of a joint curve. Every reader of a record computes bounds at all of them."""
_WRITTEN = re.compile(r"\d{1,40}(/\d{1,40}|(\.\d{1,40})?(e-\d{1,3})?)")


def _fraction(value: Any) -> Fraction:
    if isinstance(value, Fraction):
        return value
    if not _WRITTEN.fullmatch(str(value)):
        raise ValueError("a number, written in full")
    return Fraction(str(value))


Exact = Annotated[Fraction, BeforeValidator(_fraction), PlainSerializer(exact_text)]
Points = Annotated[tuple[tuple[Exact, Exact], ...], Field(max_length=MOST_POINTS, exclude_if=lambda points: not points)]
"""Points (epsilon, delta), of releases that state a joint cost: earlier records have none."""
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class RecordModel(BaseModel):
    """Base class of the parts of an audit's record: unknown fields are refused, and fields can't be changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class AuditSetting(RecordModel):
    """Setting of every audit: its policy, its population and its code. Tables have `n` units; `epsilon` and `delta` are
    the guarantee of one release, `points` are further ones that it keeps, of a joint curve. `limit` is the greatest
    figure that passes. The population of a `confidential` audit is the policy's own table."""

    policy: str
    version: str
    policy_digest: str
    mechanism: str
    epsilon: Exact
    delta: Exact
    points: Points = ()
    contract: str
    population: str
    population_digest: str
    population_size: int
    n: int
    limit: Exact
    controls: tuple[str, ...]
    code: str
    libraries: dict[str, str]
    confidential: bool = False


class MechanismResults(RecordModel):
    """Results of all attacks on one mechanism. `must` is the result that a working audit finds ("judged": the policy's
    own mechanism, whose result is not known beforehand). `note` says what the mechanism publishes, `rate` is what the
    best attack on a control must reach: its stated success, or in an inference audit the improvement that it must
    exceed (None: no such number)."""

    mechanism: str
    must: str
    note: str
    rate: float | None


S = TypeVar("S", bound=AuditSetting)
P = TypeVar("P", bound=MechanismResults)


class RecordedAudit(RecordModel, Generic[S, P]):
    """A finished audit. `digest` is that of its setting; `seed` determines tables, sampling randomness and the
    attackers' random choices; `attempt` is the number of audits of this policy's digest with this question, up to this
    one."""

    format: Literal[1] = 1
    setting: S
    digest: str
    seed: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
    made: date
    attempt: Annotated[int, Field(ge=1, le=1000)]
    played: tuple[P, ...]

    @model_validator(mode="after")
    def _one_is_judged(self) -> Self:
        """Check that exactly one mechanism is judged (the policy's own), and that the controls are those of the
        setting."""
        names = tuple(each.mechanism for each in self.controls)
        if len(self.played) != len(names) + 1 or names != self.setting.controls:
            raise ValueError("one mechanism is judged, beside the controls of the setting")
        return self

    @property
    def policy_results(self) -> P:
        """Results of all attacks on the policy's own mechanism."""
        return next(each for each in self.played if each.must == "judged")

    @property
    def controls(self) -> Sequence[P]:
        """Results of the controls: the mechanisms whose result is known beforehand."""
        return [each for each in self.played if each.must != "judged"]


AnyRecord = RecordedAudit[Any, Any]
