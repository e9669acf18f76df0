"""What an audit of membership found, as JSON: everything that repeats it, and that gates and pages read."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from crowdgate.audit.common.record import AuditSetting, Exact, MechanismResults, RecordedAudit, RecordModel, Share

Must = Literal["judged", "break epsilon", "break the cap", "hold"]
"""What is expected of a mechanism: a control breaks one form of the guarantee, or neither ("hold")."""
MOST_CLAIMED = 20
"""Shares of the population that are claimed, and mechanisms: each is judged anew by who reads a record."""


class MembershipPoint(RecordModel):
    """One share of the population that is claimed to be in the table, the attack that claims it, and for every release
    what share of the members it found."""

    claimed: Annotated[float, Field(gt=0, le=1)]
    attack: str
    tpr: tuple[Share, ...]


class MembershipResults(MechanismResults):
    """All attacks on one mechanism, of tables of `n` units beside `others` that are not in them. `recall` says what
    every attack found on average, at each share (None: it had nothing to read)."""

    must: Must
    releases: Annotated[int, Field(ge=1)]
    n: Annotated[int, Field(ge=1)]
    others: Annotated[int, Field(ge=1)]
    points: tuple[MembershipPoint, ...]
    recall: dict[str, tuple[Share | None, ...]]

    @model_validator(mode="after")
    def _possible(self) -> "MembershipResults":
        """Nobody finds more members than he claims units, nor fewer than non-members leave him."""
        if len({point.claimed for point in self.points}) != len(self.points) or len(self.points) > MOST_CLAIMED:
            raise ValueError("a share is claimed once")
        for point in self.points:
            least, most = self.possible_rates(point.claimed)
            if len(point.tpr) != self.releases or not all(least <= each <= most for each in point.tpr):
                raise ValueError("rates that can't be")
        return self

    def possible_rates(self, claimed: float) -> tuple[float, float]:
        """The least and the greatest true positive rate of who claims that share of the population."""
        units = claimed * (self.n + self.others)
        slack = 1e-12
        return max(0.0, (units - self.others) / self.n - slack), min(1.0, units / self.n + slack)

    def fpr(self, claimed: float, tpr: float) -> float:
        """The false positive rate beside a true positive rate: what is claimed, and not of a member."""
        false = (claimed * (self.n + self.others) - tpr * self.n) / self.others
        return min(1.0, max(0.0, false))


class MembershipSetting(AuditSetting):
    """What was played: together with the code it decides everything but the noise of OpenDP's samplers.

    Each of `releases` is of a fresh table of n units. `epsilon` and `delta` are those of the release, `known_epsilon`
    and `known_delta` of what is attacked, for tables in which one unit is replaced (n is public); `cap` is the rate of
    the sample, and what is told beside it (epsilon, delta; None: no cap). Precision is judged at `skew` and at a recall
    of `recall` or more, against `limit`. `unread` is what is released and read by no attack.
    """

    question: Literal["membership"] = "membership"
    known_epsilon: Exact
    known_delta: Exact
    cap: tuple[Exact, Exact, Exact] | None
    releases: int
    claimed: Annotated[tuple[float, ...], Field(max_length=MOST_CLAIMED)]
    skew: Exact
    recall: Exact
    attacks: tuple[str, ...]
    unread: tuple[str, ...]


class MembershipRecord(RecordedAudit[MembershipSetting, MembershipResults]):
    """An audit of membership."""

    played: Annotated[tuple[MembershipResults, ...], Field(max_length=MOST_CLAIMED)]

    @model_validator(mode="after")
    def _as_set(self) -> "MembershipRecord":
        """What was played is what was set."""
        own, setting = self.policy_results, self.setting
        stated = setting.n, setting.population_size
        if (own.n, own.n + own.others) != stated or not {each.claimed for each in own.points} <= set(setting.claimed):
            raise ValueError("what was played is what was set")
        return self
