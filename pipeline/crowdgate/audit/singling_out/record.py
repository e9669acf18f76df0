"""The record of an audit of singling out."""

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field, model_validator

from crowdgate.audit.common.predicates import GRID
from crowdgate.audit.common.record import (
    AuditSetting,
    Count,
    Exact,
    MechanismResults,
    RecordedAudit,
    RecordModel,
    Share,
)

Must = Literal["judged", "be caught", "hold"]


class AttackerCounts(RecordModel):
    """Counts of one attacker against one mechanism: isolations within each weight (`light`), isolations at any weight
    (`any`), and trials in which the attacker had nothing to read (`idle`). `tenth_light` and `tenth_any` count the
    first two in every tenth trial, beginning with the first."""

    attacker: str
    light: tuple[Count, ...]
    any: tuple[Count, ...]
    idle: Count
    tenth_light: tuple[Count, ...]
    tenth_any: tuple[Count, ...]

    @model_validator(mode="after")
    def _nested(self) -> "AttackerCounts":
        """Check that isolations within the weight are at most all isolations, and that a tenth is at most the whole."""
        pairs = ((self.light, self.any), (self.tenth_light, self.light), (self.tenth_any, self.any))
        if any(part > whole for parts, wholes in pairs for part, whole in zip(parts, wholes, strict=True)):
            raise ValueError("counts that can't be")
        return self


class SinglingOutResults(MechanismResults):
    """Results of all attackers against one mechanism, in `trials` tables of `n` units."""

    must: Must
    n: int
    trials: int
    weights: tuple[Exact, ...]
    attacked: tuple[AttackerCounts, ...]
    kept: Count = 0
    """Rows released in all trials, if the mechanism releases rows."""
    ceiling: Annotated[Share | None, Field(exclude_if=lambda found: found is None)] = None
    """The greatest excess of attackers who see the policy's attributes of every row (None: unknown, as of controls and
    in earlier records)."""

    @model_validator(mode="after")
    def _within(self) -> "SinglingOutResults":
        """Check that no count exceeds the number of trials."""
        for each in self.attacked:
            if len(each.any) != len(self.weights) or max((*each.any, *each.tenth_any, each.idle)) > self.trials:
                raise ValueError("more isolations than trials")
            if max((*each.tenth_light, *each.tenth_any), default=0) > self.tenth:
                raise ValueError("more isolations than trials")
        return self

    @property
    def tenth(self) -> int:
        """Number of trials that count as every tenth one, beginning with the first."""
        return -(-self.trials // 10)


class SinglingOutSetting(AuditSetting):
    """Setting of the audit: with the code it decides everything except the noise of OpenDP's samplers, which can't be
    seeded. `limit` is the greatest excess over the baseline that passes, `beta` the rate of the sample whose rows are
    released (None: no rows are released).

    `not_played` are the controls that would not be detected on this population, `unread` are the outputs that no
    attacker reads.
    """

    beta: Exact | None
    replacement: bool
    weight: Exact
    weights: tuple[Exact, ...]
    trials: int
    attackers: tuple[str, ...]
    not_played: tuple[str, ...]
    unread: tuple[str, ...]


class SinglingOutRecord(RecordedAudit[SinglingOutSetting, SinglingOutResults]):
    """Record of an audit of predicate singling out."""

    @model_validator(mode="after")
    def _as_set(self) -> "SinglingOutRecord":
        """Check that controls, weights, trials and attackers are those of the setting."""
        own, setting = self.policy_results, self.setting
        said = (setting.n, setting.trials, setting.weights, setting.attackers)
        if len(set(setting.controls) | set(setting.not_played)) != len(setting.controls) + len(setting.not_played):
            raise ValueError("a control is played once, or not")
        if setting.weights[:1] != (setting.weight,):
            raise ValueError("it is judged at the weight of the setting")
        if (own.n, own.trials, own.weights, tuple(each.attacker for each in own.attacked)) != said:
            raise ValueError("what was played is what was set")
        return self


def weights_of(most: Fraction, n: int) -> tuple[Fraction, ...]:
    """Return the greatest weights of predicates with which attackers answer, in tables of n units. The first one,
    `most`, is judged by upper limits; at the others, up to 1/n, no excess beyond the audit's limit may be proven."""
    others = {most / 25, most / 5, Fraction(1, 25 * n), Fraction(1, 5 * n), Fraction(1, n)}
    return (most, *sorted(each for each in others - {most} if each * GRID >= 1))
