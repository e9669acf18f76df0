"""ReleasePolicy and PrivacyBudget: strict values of the policy files."""

from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, PlainValidator, Tag, model_validator

from pipeline.policy_tables import DpTablesSpec
from pipeline.policy_values import (
    NUMBER,
    Epsilon,
    Exact,
    Probability,
    Rate,
    Strict,
    Weight,
    schema_of,
    whole_number,
)

API_VERSION = "crowdgate/v1"
GREATEST_K = 10**9
MOST_PEOPLE = 10**12
MOST_CANDIDATES = 100_000


def _class_size(text: Any) -> int | Literal["least"]:
    try:
        number = 1 if text == "least" else whole_number(text)
    except ValueError:
        number = 0
    if not 1 <= number <= GREATEST_K:
        raise ValueError(f"`least` or a whole number from 1 to {GREATEST_K}")
    return "least" if text == "least" else number


ClassSize = Annotated[
    int | Literal["least"], PlainValidator(_class_size), schema_of("integer", minimum=1, maximum=GREATEST_K)
]


def _people(text: Any) -> int:
    number = whole_number(text)
    if not 1 <= number <= MOST_PEOPLE:
        raise ValueError(f"a whole number from 1 to {MOST_PEOPLE}")
    return number


People = Annotated[int, BeforeValidator(_people), schema_of("integer", minimum=1, maximum=MOST_PEOPLE)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
"""Becomes a folder of the release, so: lower-case letters, digits and hyphens."""


class Metadata(Strict):
    """Who answers for the file, and its name and version."""

    name: Name
    version: Annotated[str, Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z.-]{0,30}$"), NUMBER] = "1"
    owner: str
    description: str = ""


class Privacy(Strict):
    """The total of one release: mechanism, choices and charged gates together."""

    epsilon: Epsilon
    delta: Probability


class SampleSource(Strict):
    """Bernoulli sampling: every row stays with probability beta, decided by secret coins.

    Or `inherited`: the table is a sample already, and the contract attests how it was drawn.
    """

    beta: Rate | None = None
    inherited: str | None = None

    @model_validator(mode="after")
    def _one_mode(self) -> "SampleSource":
        if (self.beta is None) == (self.inherited is None):
            raise ValueError("either a beta above 0 and at most 1, or the name of an inherited sample")
        return self


def _only(word: str, reason: str) -> BeforeValidator:
    def check(value: Any) -> Any:
        if value != word:
            raise ValueError(f"{word}: {reason}")
        return value

    return BeforeValidator(check)


_CELLS = "leaving out single cells depends on the sample, and then no delta is known; list the attribute at `any`"
_LOCAL = "levels that differ from class to class depend on the sample; let `choose` choose them privately"


class Candidates(Strict):
    """Levels of one attribute among which the release chooses."""

    choose: Annotated[list[str], Field(min_length=1)]


def _level(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("the name of a level, or {choose: [...]} with the names of several")
    return value


LevelOrCandidates = Annotated[
    Annotated[str, BeforeValidator(_level), Tag("level")] | Annotated[Candidates, Tag("candidates")],
    Discriminator(lambda value: "candidates" if isinstance(value, dict | Candidates) else "level"),
]


class LevelChoice(Strict):
    """How levels are chosen: a private selection of the scheme with a high score, at the price of epsilon.

    On the full table the choice and the release compose. On the very sample that is released they do not, and the delta
    of both together holds for all candidates at once, which asks for a larger k.
    """

    epsilon: Epsilon
    score: Literal["expected_kept_rows", "expected_kept_information", "classification"] = "expected_kept_rows"
    on: Literal["full", "sample"] = "full"
    target: str | None = None
    weights: dict[str, Weight] = Field(default_factory=dict)


class SafeKAnonymity(Strict):
    """Sampling and k-anonymity at fixed or privately chosen levels. `attributes` is all that is published."""

    kind: Literal["safe_k_anonymity"]
    sampling: SampleSource
    k: ClassSize = "least"
    attributes: Annotated[dict[str, LevelOrCandidates], Field(min_length=1)]
    choose: LevelChoice | None = None
    suppression: Annotated[Literal["class"], _only("class", _CELLS)] = "class"
    recoding: Annotated[Literal["global"], _only("global", _LOCAL)] = "global"


class Charge(Strict):
    """What a charged gate costs; part of the policy's total."""

    epsilon: Epsilon


class GateRule(Strict):
    """One line of `gates`: a measure and the limit it must keep."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["at_most"]}, {"required": ["at_least"]}]})

    measure: str
    at_most: Exact | None = None
    at_least: Exact | None = None
    over: Annotated[list[str], Field(min_length=1)] | None = None
    of: str | None = None
    options: Annotated[dict[str, Exact], Field(alias="with", default_factory=dict)]
    charge: Charge | None = None
    severity: Literal["block", "advise"] = "block"

    @model_validator(mode="after")
    def _one_limit(self) -> "GateRule":
        if (self.at_most is None) == (self.at_least is None):
            raise ValueError("exactly one limit, at_most or at_least")
        return self


class Publish(Strict):
    """Where the release goes, relative to the working copy, and in which formats."""

    to: str
    formats: Annotated[list[Literal["parquet", "csv"]], Field(min_length=1, default_factory=lambda: ["parquet"])]


class ReleaseSpec(Strict):
    """What is released, how it is protected, what it costs and what must hold."""

    enforcement: Literal["enforce"] = "enforce"
    contract: str
    budget: str
    privacy: Privacy
    mechanism: Annotated[SafeKAnonymity | DpTablesSpec, Field(discriminator="kind")]
    gates: Annotated[list[GateRule], Field(min_length=1)]
    publish: Publish


class ReleasePolicy(Strict):
    """One policy file."""

    api_version: Annotated[Literal["crowdgate/v1"], Field(alias="apiVersion")]
    kind: Literal["ReleasePolicy"]
    metadata: Metadata
    spec: ReleaseSpec


class BudgetSpec(Strict):
    """The lifetime budget of a population. `people` bounds all who ever are in its inputs; it is public."""

    ledger: Annotated[str, Field(pattern=r"^[a-z0-9-]{1,40}-[0-9a-f]{8}$")]
    epsilon: Epsilon
    delta: Probability
    people: People
    unit: str = "row"
    relation: Literal["add-remove"] = "add-remove"


class BudgetMetadata(Strict):
    """The population that the budget belongs to, and who answers for it."""

    name: Name
    owner: str
    description: str = ""


class PrivacyBudget(Strict):
    """One budget file."""

    api_version: Annotated[Literal["crowdgate/v1"], Field(alias="apiVersion")]
    kind: Literal["PrivacyBudget"]
    metadata: BudgetMetadata
    spec: BudgetSpec


def parse_slot(text: str) -> str:
    """A release slot, `YYYY-MM-DD` or `YYYY-MM-DDTHHMMZ`. Raises ValueError for anything else."""
    try:
        if len(text) == 10:
            return date.fromisoformat(text).isoformat()
        return datetime.strptime(text, "%Y-%m-%dT%H%MZ").replace(tzinfo=UTC).strftime("%Y-%m-%dT%H%MZ")
    except ValueError:
        raise ValueError("the slot must be YYYY-MM-DD or YYYY-MM-DDTHHMMZ (UTC)") from None


def release_id(policy: ReleasePolicy, slot: str) -> str:
    """Name, version and slot: the same id never draws or publishes twice."""
    return f"{policy.metadata.name}/{policy.metadata.version}/{slot}"
