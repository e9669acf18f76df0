"""The record of an audit of attribute inference, as JSON: all that is needed to repeat the audit, and all that gates
and pages read."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from crowdgate.accounting.bets import EVEN
from crowdgate.audit.common.record import AuditSetting, Exact, MechanismResults, RecordedAudit, RecordModel, Share
from crowdgate.limits import MOST_SECRETS

Must = Literal["judged", "be caught", "hold", "show"]
"""Expected result of a mechanism; "show" marks the control that publishes the policy's columns of every row
unchanged."""
MOST_LINES = 8
"""Greatest number of lines of a secret: two groups at four coverages."""


class AttackShares(RecordModel):
    """The best attack at one coverage on one group of targets.

    `shares` are, for every release, shares of the targets: for whom the attack guesses, for whom it is right, and twice
    for whom a baseline is right. The first baseline guesses for exactly these targets (`baseline_of_these` is its
    name). The second guesses for as many targets, those of its own greatest confidence (`baseline`: the best one at
    that number; where releases differ in it, the most frequent one).

    `targets` is the number of units with such targets. `wrong` and `wrong_at` are the shares of all targets for whom
    these two baselines are wrong (the largest, where releases differ in the baseline). `outside` is the precision of
    the attack on people who were not in the release (the prior framework: section 4.7). `both` is the mean share of
    targets for whom the attack and the first baseline are right (None in earlier records).
    """

    group: str
    coverage: Share
    attack: str
    baseline: str
    baseline_of_these: str
    targets: int
    wrong: Share
    wrong_at: Share
    outside: Share | None
    shares: tuple[tuple[Share, Share, Share, Share], ...]
    both: Annotated[Share | None, Field(exclude_if=lambda share: share is None)] = None

    @model_validator(mode="after")
    def _parts(self) -> "AttackShares":
        """Check that the parts are at most as large as the whole."""
        for predicted, *right in self.shares:
            if predicted > self.coverage or max(right) > predicted:
                raise ValueError("shares that can't be")
        return self


class SecretResults(RecordModel):
    """Results for one secret: the known attributes, the precision of every attack at each coverage with the share of
    targets for whom it guessed (None: it had nothing to attack, or guessed nothing), and the best attacks release by
    release."""

    secret: str
    level: str
    labels: int
    known: tuple[str, ...]
    precision: dict[str, tuple[tuple[float | None, float | None], ...]]
    found: tuple[AttackShares, ...]

    @model_validator(mode="after")
    def _once(self) -> "SecretResults":
        """Check that there is at most one line for each group and coverage."""
        if len({(each.group, each.coverage) for each in self.found}) != len(self.found) or len(self.found) > MOST_LINES:
            raise ValueError("a group at a coverage is stated once")
        return self


class InferenceResults(MechanismResults):
    """Results of all attacks on one mechanism; `releases` is the number of estimating releases."""

    must: Must
    releases: Annotated[int, Field(ge=1)]
    secrets: Annotated[tuple[SecretResults, ...], Field(max_length=MOST_SECRETS)]

    @model_validator(mode="after")
    def _every_release(self) -> "InferenceResults":
        """Check that each line has the shares of every release, and that each secret occurs once."""
        lines = [each for one in self.secrets for each in one.found]
        if any(len(each.shares) != self.releases for each in lines):
            raise ValueError("shares of other releases")
        if len({each.secret for each in self.secrets}) != len(self.secrets):
            raise ValueError("a secret is asked once")
        return self


class InferenceSetting(AuditSetting):
    """Setting of the audit: with the code it decides everything except the noise of OpenDP's samplers.

    One table has n units of the population, of up to `rows` rows each, and is released `releases` times; baselines are
    fitted once without each of its `blocks` of units; `coverage` and `limit` are the condition for passing. `known` are
    the known attributes of a target, `secrets` the secret ones with their levels. With `ceiling` an audit that could
    not have failed can't tell; earlier ones pass. `on_largest_bet` is the share of the capital on the largest bet, in
    limits of gains; even in earlier audits.
    """

    question: Literal["inference"] = "inference"
    rows: int
    releases: int
    blocks: int
    coverage: Exact
    known: tuple[str, ...]
    secrets: tuple[tuple[str, str], ...]
    attacks: tuple[str, ...]
    baselines: tuple[str, ...]
    ceiling: Annotated[bool, Field(exclude_if=lambda judged: not judged)] = False
    on_largest_bet: Annotated[Exact, Field(gt=0, lt=1, exclude_if=lambda share: share == EVEN)] = EVEN


class InferenceRecord(RecordedAudit[InferenceSetting, InferenceResults]):
    """Record of an audit of attribute inference."""

    @model_validator(mode="after")
    def _as_set(self) -> "InferenceRecord":
        """Check that the secrets played are those of the setting."""
        if tuple((each.secret, each.level) for each in self.policy_results.secrets) != self.setting.secrets:
            raise ValueError("what was played is what was set")
        return self
