"""What an audit found, as one JSON object: everything that repeats it, and everything that gates and pages read."""

import re
from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, model_validator

from crowdgate.accounting.numbers import exact_text
from crowdgate.audit.common.predicates import GRID

_WRITTEN = re.compile(r"\d{1,40}(/\d{1,40}|(\.\d{1,40})?(e-\d{1,3})?)")


def _fraction(value: Any) -> Fraction:
    if isinstance(value, Fraction):
        return value
    if not _WRITTEN.fullmatch(str(value)):
        raise ValueError("a number, written in full")
    return Fraction(str(value))


Exact = Annotated[Fraction, BeforeValidator(_fraction), PlainSerializer(exact_text)]


Count = Annotated[int, Field(ge=0)]
Must = Literal["judged", "be caught", "hold"]


class RecordModel(BaseModel):
    """Base: unknown fields are refused, nothing changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class AttackerCounts(RecordModel):
    """One attacker against one mechanism: isolations at each weight, whatever the weight, and trials in which nothing
    was told that it reads; the first two also of every tenth trial, from the first on, as `tenth_light` and
    `tenth_any`."""

    attacker: str
    light: tuple[Count, ...]
    any: tuple[Count, ...]
    idle: Count
    tenth_light: tuple[Count, ...]
    tenth_any: tuple[Count, ...]

    @model_validator(mode="after")
    def _nested(self) -> "AttackerCounts":
        """Who isolates within the weight isolates; a tenth is a part."""
        pairs = ((self.light, self.any), (self.tenth_light, self.light), (self.tenth_any, self.any))
        if any(part > whole for parts, wholes in pairs for part, whole in zip(parts, wholes, strict=True)):
            raise ValueError("counts that can't be")
        return self


class SinglingOutResults(RecordModel):
    """All attackers against one mechanism: `must` says what an audit that works finds of it ("judged": the policy's own
    mechanism, of which it finds what it finds). `n` units a table, `trials` tables. `note` says what is published,
    `rate` the success that is claimed of the best attacker on one that must be caught."""

    mechanism: str
    must: Must
    note: str
    rate: float | None
    n: int
    trials: int
    weights: tuple[Exact, ...]
    attacked: tuple[AttackerCounts, ...]
    kept: Count = 0
    """Rows released in all trials, of mechanisms that release rows."""

    @model_validator(mode="after")
    def _within(self) -> "SinglingOutResults":
        """No more than there were trials."""
        for each in self.attacked:
            if len(each.any) != len(self.weights) or max((*each.any, *each.tenth_any, each.idle)) > self.trials:
                raise ValueError("more isolations than trials")
            if max((*each.tenth_light, *each.tenth_any), default=0) > self.tenth:
                raise ValueError("more isolations than trials")
        return self

    @property
    def tenth(self) -> int:
        """How many trials every tenth one is."""
        return -(-self.trials // 10)


class AuditSetting(RecordModel):
    """What the settings of all questions say: of which policy, on which population, by which code. Tables have `n`
    units; `epsilon` and `delta` are the guarantee of one release, `limit` is the greatest figure that passes. The
    population of a `confidential` one is the policy's own table."""

    policy: str
    version: str
    policy_digest: str
    mechanism: str
    epsilon: Exact
    delta: Exact
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


class SinglingOutSetting(AuditSetting):
    """What was played: together with the code it decides everything but the noise of OpenDP's samplers, which can't be
    seeded. `limit` is the greatest excess over the baseline that passes, `beta` the rate of the sample whose rows are
    released (None: no rows are).
    `not_played` are controls that nothing could be seen of on this population, `unread` is what is released and read by
    no attacker."""

    beta: Exact | None
    replacement: bool
    weight: Exact
    weights: tuple[Exact, ...]
    trials: int
    attackers: tuple[str, ...]
    not_played: tuple[str, ...]
    unread: tuple[str, ...]


class RecordedAudit(RecordModel):
    """A finished audit. `digest` is that of its setting; `seed` draws tables, coins and what attackers draw; `attempt`
    counts the audits of this policy's digest, and of this question, that were begun before it, with it."""

    format: Literal[1] = 1
    setting: Any
    digest: str
    seed: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
    made: date
    attempt: Annotated[int, Field(ge=1, le=1000)]
    played: Any

    @property
    def policy_results(self) -> Any:
        """What was found of the policy's mechanism."""
        return next(each for each in self.played if each.must == "judged")


class SinglingOutRecord(RecordedAudit):
    """An audit of predicate singling out."""

    setting: SinglingOutSetting
    played: tuple[SinglingOutResults, ...]

    @model_validator(mode="after")
    def _as_set(self) -> "SinglingOutRecord":
        """What was played is what was set: one mechanism that is judged, by all attackers, and the controls."""
        own = [each for each in self.played if each.must == "judged"]
        setting = self.setting
        said = (setting.n, setting.trials, setting.weights, setting.attackers, setting.controls)
        if len(set(setting.controls) | set(setting.not_played)) != len(setting.controls) + len(setting.not_played):
            raise ValueError("a control is played once, or not")
        if len(own) != 1 or setting.weights[:1] != (setting.weight,):
            raise ValueError("one mechanism is judged, at the weight of the setting")
        names = tuple(each.attacker for each in own[0].attacked)
        if (own[0].n, own[0].trials, own[0].weights, names, tuple(each.mechanism for each in self.controls)) != said:
            raise ValueError("what was played is what was set")
        return self

    @property
    def policy_results(self) -> SinglingOutResults:
        """What was found of the policy's mechanism."""
        return next(each for each in self.played if each.must == "judged")

    @property
    def controls(self) -> Sequence[SinglingOutResults]:
        """What was found of the mechanisms of which it is known what must be found."""
        return [each for each in self.played if each.must != "judged"]


def weights_of(most: Fraction, n: int) -> tuple[Fraction, ...]:
    """At which greatest weights attackers are asked: the one whose upper ends are judged, and others, up to 1/n, at
    which nothing beyond the limit may be proven."""
    others = {most / 25, most / 5, Fraction(1, 25 * n), Fraction(1, 5 * n), Fraction(1, n)}
    return (most, *sorted(each for each in others - {most} if each * GRID >= 1))
