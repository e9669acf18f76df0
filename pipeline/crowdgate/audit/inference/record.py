"""What an audit of attribute inference found, as JSON: everything that repeats it, and that gates and pages read."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from crowdgate.audit.common.record import AuditSetting, Exact, MechanismResults, RecordedAudit, RecordModel, Share
from crowdgate.limits import MOST_SECRETS

Must = Literal["judged", "be caught", "hold", "show"]
"""What is expected of a mechanism: one that must "show" is the policy's columns of every row as they are."""
MOST_LINES = 8
"""Of a secret: two groups at four coverages."""


class AttackShares(RecordModel):
    """The best attack at one coverage of one group of targets, and for every release of `shares`: for what share of the
    targets it guesses and of what share it is right, then of what share the baseline is right, among exactly these
    (`baseline_of_these` is its name) and among as many of its own surest (`baseline`: the one that is best at as many;
    where releases differ in that, the one of most).

    `targets` says how many units have such targets. `wrong` and `wrong_at` are the shares of all targets that these two
    baselines are wrong of (the largest, where releases differ in the baseline); `outside` is the
    precision of the attack on people who were not in the release (the prior framework: section 4.7)."""

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

    @model_validator(mode="after")
    def _parts(self) -> "AttackShares":
        """A part is not more than the whole."""
        for predicted, *right in self.shares:
            if predicted > self.coverage or max(right) > predicted:
                raise ValueError("shares that can't be")
        return self


class SecretResults(RecordModel):
    """One secret: what was known of targets, the precision of every attack at each coverage with the share of targets
    for whom it guessed (None: it had nothing to attack, or guessed nothing), and the best ones release by release."""

    secret: str
    level: str
    labels: int
    known: tuple[str, ...]
    precision: dict[str, tuple[tuple[float | None, float | None], ...]]
    found: tuple[AttackShares, ...]

    @model_validator(mode="after")
    def _once(self) -> "SecretResults":
        """One line for each group and coverage."""
        if len({(each.group, each.coverage) for each in self.found}) != len(self.found) or len(self.found) > MOST_LINES:
            raise ValueError("a group at a coverage is told once")
        return self


class InferenceResults(MechanismResults):
    """All attacks on one mechanism; `releases` are those that estimate."""

    must: Must
    releases: Annotated[int, Field(ge=1)]
    secrets: Annotated[tuple[SecretResults, ...], Field(max_length=MOST_SECRETS)]

    @model_validator(mode="after")
    def _every_release(self) -> "InferenceResults":
        """A line has the shares of every release, and a secret is asked once."""
        lines = [each for one in self.secrets for each in one.found]
        if any(len(each.shares) != self.releases for each in lines):
            raise ValueError("shares of other releases")
        if len({each.secret for each in self.secrets}) != len(self.secrets):
            raise ValueError("a secret is asked once")
        return self


class InferenceSetting(AuditSetting):
    """What was played: together with the code it decides everything but the noise of OpenDP's samplers.

    One table of n units of the population, of up to `rows` rows each, of which `releases` releases are made; baselines
    are fitted once without each of its `blocks` of units; `coverage` and `limit` are what
    passes. `known` is what is known of a target, `secrets` what is asked, with its level."""

    question: Literal["inference"] = "inference"
    rows: int
    releases: int
    blocks: int
    coverage: Exact
    known: tuple[str, ...]
    secrets: tuple[tuple[str, str], ...]
    attacks: tuple[str, ...]
    baselines: tuple[str, ...]


class InferenceRecord(RecordedAudit[InferenceSetting, InferenceResults]):
    """An audit of attribute inference."""

    @model_validator(mode="after")
    def _as_set(self) -> "InferenceRecord":
        """What was played is what was set."""
        if tuple((each.secret, each.level) for each in self.policy_results.secrets) != self.setting.secrets:
            raise ValueError("what was played is what was set")
        return self
