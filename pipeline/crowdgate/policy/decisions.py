"""CollectionDecision: a decision on collecting an attribute.

Decision files are never deleted. A later decision names the digest of the one it replaces, so the files show which one
is in force. A decision applies to every contract of the population that has an attribute of that name and no decision
of its own on it. So a copy of a contract under another id evades nothing.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from crowdgate.contracts.contract import Contract
from crowdgate.documents.yaml_text import Document, read_document
from crowdgate.errors import Code, ConfigurationError, Problem
from crowdgate.limits import LARGEST_DOCUMENT, MOST_VALUES
from crowdgate.policy.files import DECISIONS
from crowdgate.policy.parsing import parse
from crowdgate.policy.values import Day, Line, Strict, schema_of, whole_number
from crowdgate.system.regular_files import is_absent, read_plain

KIND = "CollectionDecision"


def _values(text: Any) -> int:
    number = whole_number(text)
    if not 1 <= number <= MOST_VALUES:
        raise ValueError(f"a whole number from 1 to {MOST_VALUES}")
    return number


Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class DecisionSpec(Strict):
    """A decision on an attribute of a contract: collect it, collect it more coarsely, or do not.

    Coarser means at most at `level`, which has so many `values`. `population` is that of the contract at the time of
    the decision. `rests_on` names the entry of a KL repository or the prediction that supports the decision. `replaces`
    is the SHA-256 of the file of the decision that was in force before.
    """

    contract: Line
    """The id of the contract with the attribute."""
    population: Line
    """The contract's population at the time of the decision."""
    attribute: Line
    """The attribute that the decision is about."""
    decision: Literal["collect", "coarsen", "do-not-collect"]
    """The decision: collect the attribute, collect it more coarsely, or do not collect it."""
    level: Line | None = None
    """The finest level at which the attribute may be collected, if coarsened."""
    values: Annotated[int, BeforeValidator(_values), schema_of("integer", minimum=1)] | None = None
    """The number of values of that level."""
    reason: Line
    """The reason for the decision."""
    by: Line
    """The person who made the decision and answers for it."""
    date: Day
    """The day of the decision, YYYY-MM-DD."""
    rests_on: Line
    """The entry of a KL repository, or the prediction, that supports the decision."""
    replaces: Digest | None = None
    """The SHA-256 of the file of the decision that was in force before."""

    @model_validator(mode="after")
    def _level(self) -> "DecisionSpec":
        if (self.decision == "coarsen") != (self.level is not None) or (self.level is None) != (self.values is None):
            raise ValueError("level and values with `decision: coarsen`, and with no other")
        return self


class CollectionDecision(Strict):
    """One decision file."""

    api_version: Annotated[Literal["crowdgate/v1"], Field(alias="apiVersion")]
    """The form of this file."""
    kind: Literal["CollectionDecision"]
    """The kind of this file: CollectionDecision."""
    spec: DecisionSpec
    """The decision."""


@dataclass(frozen=True, eq=False)
class Decision:
    """A decision with its document; `digest` is the SHA-256 of its file."""

    spec: DecisionSpec
    digest: str
    document: Document

    @property
    def path(self) -> Path:
        """The path of the decision's file."""
        return self.document.path

    @property
    def words(self) -> str:
        """The decision in words, with its author, date and reason."""
        spec = self.spec
        level = "" if spec.level is None else f" to level {spec.level!r} ({spec.values} values)"
        return f"{spec.decision.replace('-', ' ')}{level}, decided by {spec.by} on {spec.date}: {spec.reason}"

    def text_for(self, contract: Contract) -> str:
        """Return the decision in words, with its contract if that is another one than `contract`."""
        other = self.spec.contract != contract.id
        return f"{self.words}; on contract {self.spec.contract!r} of the same people" if other else self.words


def read_decisions(root: Path) -> list[Decision]:
    """Return all decisions of a working copy. Raises ConfigurationError that lists every unreadable file."""
    problems = list[Problem]()
    found = readable_decisions(root, problems)
    if problems:
        raise ConfigurationError(problems)
    return found


def readable_decisions(root: Path, problems: list[Problem]) -> list[Decision]:
    """Return the readable decisions of a working copy; adds the problems of every other file to `problems`."""
    found, folder = list[Decision](), root / DECISIONS
    for path in _files_of(folder, problems):
        try:
            if path.suffix != ".yaml":
                raise ConfigurationError(
                    Problem(
                        str(path),
                        None,
                        "file",
                        "this file is not a decision",
                        "*.yaml, as `crowdgate kl decide` writes",
                        code=Code.DECISION,
                    )
                )
            found.append(read_decision(path))
        except ConfigurationError as error:
            problems += error.problems
    return found


def _files_of(folder: Path, problems: list[Problem]) -> list[Path]:
    try:
        return [] if is_absent(folder) else sorted(folder.iterdir())
    except OSError as error:
        found, expected = error.strerror or "unreadable", "a folder of decisions that can be read"
        problems.append(Problem(str(folder), None, "folder", found, expected, code=Code.UNREADABLE))
        return []


def read_decision(path: Path) -> Decision:
    """Return the decision in a file. Raises ConfigurationError."""
    document = read_document(path)
    return Decision(
        parse(CollectionDecision, document).spec,
        hashlib.sha256(read_plain(path, LARGEST_DOCUMENT)).hexdigest(),
        document,
    )


def decisions_about(decisions: Sequence[Decision], contract: Contract) -> list[Decision]:
    """Return the decisions about a contract or about another contract of its population."""
    return [
        each for each in decisions if each.spec.contract == contract.id or each.spec.population == contract.population
    ]


def in_force(decisions: Sequence[Decision], contract: Contract) -> list[Decision]:
    """Return the decisions in force for a contract.

    For each attribute that is the latest decision on it. Without one, it is the latest decision of each other contract
    of the population on an attribute of that name. Raises ConfigurationError if two decisions replace the same one or a
    predecessor is missing.
    """
    found = decisions_about(decisions, contract)
    problems = list(_chain_problems(found))
    if problems:
        raise ConfigurationError(problems)
    replaced = {each.spec.replaces for each in found}
    last = [each for each in found if each.digest not in replaced]
    own = {each.spec.attribute for each in last if each.spec.contract == contract.id}
    return [each for each in last if each.spec.contract == contract.id or each.spec.attribute not in own]


def _chain_problems(found: Sequence[Decision]) -> Iterator[Problem]:
    by_digest = {each.digest: each for each in found}
    seen: dict[tuple[str, str, str | None], Decision] = {}
    for each in found:
        attribute, before = each.spec.attribute, each.spec.replaces
        other = seen.setdefault((each.spec.contract, attribute, before), each)
        if other is not each:
            what = f"a second decision on {attribute!r} beside {other.path.name}"
            yield each.document.problem(
                ("spec", "replaces"), what, "each later one replaces the one before it", None, Code.DECISION
            )
        if before is not None and (
            before not in by_digest or _decision_subject(by_digest[before]) != _decision_subject(each)
        ):
            what = f"no decision on {attribute!r} has the digest {before}"
            expected = "all earlier decisions, unchanged, in this folder"
            yield each.document.problem(("spec", "replaces"), what, expected, None, Code.DECISION)


def _decision_subject(decision: Decision) -> tuple[str, str]:
    return decision.spec.contract, decision.spec.attribute
