"""What an audit of attribute inference found, as JSON: everything that repeats it, and that gates and pages read."""

from typing import Annotated

from pydantic import Field, model_validator

from crowdgate.audit.record import Must, Recorded

Share = Annotated[float, Field(ge=0, le=1)]


class Shares(Recorded):
    """The best attack at one coverage of one group of targets, and for every release of `shares`: for what share of the
    targets it guesses and of what share it is right, then of what share the baseline is right, among exactly these
    (`baseline_of_these` is its name) and among as many of its own surest (`baseline`).

    `wrong` and `wrong_at` are the shares of all targets that these two baselines are wrong of; `outside` is the
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
    def _parts(self) -> "Shares":
        """A part is not more than the whole."""
        for predicted, *right in self.shares:
            if predicted > self.coverage or max(right) > predicted:
                raise ValueError("shares that can't be")
        return self


class Attacked(Recorded):
    """One secret: what was known of targets, the precision of every attack at each coverage (None: it had nothing to
    attack, or guessed nothing), and the best ones release by release."""

    secret: str
    level: str
    labels: int
    known: tuple[str, ...]
    precision: dict[str, tuple[float | None, ...]]
    found: tuple[Shares, ...]


class Played(Recorded):
    """All attacks on one mechanism. `must` says what an audit that works finds of it."""

    mechanism: str
    must: Must
    note: str
    rate: float | None
    releases: int
    secrets: tuple[Attacked, ...]
