"""The record of an audit of membership, as JSON: all that is needed to repeat the audit, and all that gates and pages
read."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from crowdgate.audit.common.record import (
    AuditSetting,
    Count,
    Exact,
    MechanismResults,
    Points,
    RecordedAudit,
    RecordModel,
    Share,
)
from crowdgate.candidate import Cost

Must = Literal["judged", "break epsilon", "break the cap", "hold", "show"]
"""Expected result of a mechanism: a control breaks one form of the guarantee, or neither ("hold"). What the attributes
of every row would reveal is only shown."""
MOST_CANARIES = 10**6
"""Greatest number of canaries in a record."""
MOST_CANARY_ATTACKS = 5
"""Greatest number of attacks on canaries in a record."""
MOST_CLAIMED = 20
"""Greatest number of claimed shares, and of mechanisms. Every reader of a record computes their findings anew."""


class MembershipPoint(RecordModel):
    """One claimed share of the population (`claimed`), the best attack there, and its true positive rate in every
    release: the share of the members that it claimed."""

    claimed: Annotated[float, Field(gt=0, le=1)]
    attack: str
    tpr: tuple[Share, ...]


class CanaryResults(RecordModel):
    """Guesses of one attack about canaries in `releases` releases: `canaries` in all, `guesses`, and `right` ones."""

    attack: str
    releases: Annotated[int, Field(ge=1)]
    canaries: Annotated[int, Field(ge=1, le=MOST_CANARIES)]
    guesses: Count
    right: Count

    @model_validator(mode="after")
    def _possible(self) -> "CanaryResults":
        """Check that there are not more right guesses than guesses, nor more guesses than canaries."""
        if not self.right <= self.guesses <= self.canaries:
            raise ValueError("more right guesses than canaries")
        return self


class MembershipResults(MechanismResults):
    """Results of all attacks on one mechanism, with tables of `n` units and `others` units that are not in them.
    `recall` is the mean share of members found by every attack at each claimed share (None: it had nothing to read).
    `canaries` are guesses about canaries by attack (empty: none were planted, as in earlier records)."""

    must: Must
    releases: Annotated[int, Field(ge=1)]
    n: Annotated[int, Field(ge=1)]
    others: Annotated[int, Field(ge=1)]
    points: tuple[MembershipPoint, ...]
    recall: dict[str, tuple[Share | None, ...]]
    canaries: Annotated[
        tuple[CanaryResults, ...], Field(max_length=MOST_CANARY_ATTACKS, exclude_if=lambda found: not found)
    ] = ()

    @model_validator(mode="after")
    def _possible(self) -> "MembershipResults":
        """Check that no rate is impossible: members found are at most the claimed units, and non-members claimed at
        most all of them."""
        if len({point.claimed for point in self.points}) != len(self.points) or len(self.points) > MOST_CLAIMED:
            raise ValueError("a share is claimed once")
        for point in self.points:
            least, most = self.possible_rates(point.claimed)
            if len(point.tpr) != self.releases or not all(least <= each <= most for each in point.tpr):
                raise ValueError("rates that can't be")
        return self

    def possible_rates(self, claimed: float) -> tuple[float, float]:
        """Return the least and the greatest possible true positive rate (share of the members found) of an attacker who
        claims the share `claimed` of the population."""
        units = claimed * (self.n + self.others)
        slack = 1e-12
        return max(0.0, (units - self.others) / self.n - slack), min(1.0, units / self.n + slack)

    def fpr(self, claimed: float, tpr: float) -> float:
        """Return the false positive rate (share of the non-members claimed) that follows from a true positive rate, if
        the share `claimed` of the population is claimed."""
        false = (claimed * (self.n + self.others) - tpr * self.n) / self.others
        return min(1.0, max(0.0, false))


class MembershipSetting(AuditSetting):
    """Setting of the audit: with the code it decides everything except the noise of OpenDP's samplers.

    Each of `releases` is of a fresh table of n units. `epsilon` and `delta` are those of the release, `known_epsilon`
    and `known_delta` those of the attacked outputs, for tables in which one unit is replaced (n is public);
    `known_points` are further ones that they keep, of a joint curve. `cap` is the rate of the sample, with epsilon and
    delta of the outputs not computed on it (None: no cap). Precision is judged at `skew` and at a recall of at least
    `recall`, against `limit`. `unread` are the outputs that no attack reads.
    """

    question: Literal["membership"] = "membership"
    known_epsilon: Exact
    known_delta: Exact
    known_points: Points = ()
    cap: tuple[Exact, Exact, Exact] | None
    releases: int
    claimed: Annotated[tuple[float, ...], Field(max_length=MOST_CLAIMED)]
    skew: Exact
    recall: Exact
    attacks: tuple[str, ...]
    unread: tuple[str, ...]

    @property
    def known_costs(self) -> tuple[Cost, ...]:
        """All points (epsilon, delta) that the attacked outputs keep."""
        return (self.known_epsilon, self.known_delta), *self.known_points


class MembershipRecord(RecordedAudit[MembershipSetting, MembershipResults]):
    """Record of an audit of membership."""

    played: Annotated[tuple[MembershipResults, ...], Field(max_length=MOST_CLAIMED)]

    @model_validator(mode="after")
    def _as_set(self) -> "MembershipRecord":
        """Check that the sizes and claimed shares played are those of the setting."""
        own, setting = self.policy_results, self.setting
        stated = setting.n, setting.population_size
        if (own.n, own.n + own.others) != stated or not {each.claimed for each in own.points} <= set(setting.claimed):
            raise ValueError("what was played is what was set")
        return self
