"""Record a decision to collect an attribute, to collect it at a coarser level, or not to collect it: a file and a line
of the ledger."""

import hashlib
import os
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from crowdgate.contracts.contract import Contract
from crowdgate.contracts.reading import read_contract
from crowdgate.errors import ConfigurationError, EnvironmentFault, Problem, expected_names, nearest
from crowdgate.hierarchy import INVALID_LABEL, Hierarchy
from crowdgate.ledger.ledger import Ledger
from crowdgate.planning.bundle import KNOWN
from crowdgate.planning.decisions import DECIDED, contract_problems, require_known_decisions
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.policy.decisions import KIND, Decision, in_force, read_decision, read_decisions
from crowdgate.policy.files import DECISIONS, budget_of_contract, working_copy
from crowdgate.policy.policy import API_VERSION
from crowdgate.system import permissions
from crowdgate.system.fsync import fsync_path

CHOICES = ("collect", "coarsen", "do-not-collect")
_HEAD = "# yaml-language-server: $schema=../schema/collection-decision.json\n"


@dataclass(frozen=True)
class CollectionChoice:
    """A decision on an attribute of the contract in a file: the choice, its author, its reason and its evidence."""

    contract: Path
    attribute: str
    decision: str
    level: str | None
    reason: str
    by: str
    rests_on: str
    ledger: str | None = None


@dataclass(frozen=True)
class RecordedDecision:
    """The recorded decision, and the attributes that the contract still collects contrary to it."""

    decision: Decision
    against: tuple[Problem, ...]


def decide(choice: CollectionChoice, today: date) -> RecordedDecision:
    """Record a decision, which replaces the one in force. The same decision again on the same day changes nothing.

    The line of the ledger comes first: if the run stops before the file is written, the same call writes it. Raises
    ConfigurationError for an unknown attribute or level and for edited decisions, EnvironmentFault where it can't be
    written.
    """
    contract = read_contract(choice.contract, KNOWN.servers)
    said = _decision_fields(choice, contract, today)
    root = working_copy(choice.contract)
    budget = budget_of_contract(choice.contract, contract)[0]
    ledger = ledger_at(root, choice.ledger, budget.spec.ledger)
    last = _decision_in_force(root, contract, choice.attribute)
    if last is not None and _is_same_decision(last, said):
        require_known_decisions(root, contract, ledger)
        return RecordedDecision(last, tuple(contract_problems(contract, [last])))
    text = _decision_yaml({**said, **({} if last is None else {"replaces": last.digest})})
    made = _record_decision(root, contract, ledger, text, today)
    return RecordedDecision(made, tuple(contract_problems(contract, [made])))


def _decision_fields(choice: CollectionChoice, contract: Contract, today: date) -> dict[str, str | int]:
    names = list(contract.by_name)
    if choice.attribute not in names:
        found, expected = (
            f"{choice.attribute!r} is not an attribute of {contract.id}",
            expected_names(names, choice.attribute, "an attribute", f"contract {contract.id}"),
        )
        raise _option_error("--of", found, expected, nearest(choice.attribute, names))
    if choice.decision not in CHOICES:
        raise _option_error(
            "--decision", f"{choice.decision!r}", f"one of {', '.join(CHOICES)}", nearest(choice.decision, CHOICES)
        )
    if (choice.decision == "coarsen") != (choice.level is not None):
        raise _option_error(
            "--to-level",
            "missing" if choice.level is None else "given",
            "with --decision coarsen, and only there",
            None,
        )
    said: dict[str, str | int] = {"contract": contract.id, "population": contract.population}
    said |= {"attribute": choice.attribute, "decision": choice.decision}
    if choice.level is not None:
        said |= {"level": choice.level, "values": _level_size(contract.by_name[choice.attribute].hierarchy, choice)}
    for option, words in (("--reason", choice.reason), ("--by", choice.by), ("--rests-on", choice.rests_on)):
        if not words.strip() or not words.isprintable() or len(words) > 1000:
            raise _option_error(option, "not usable", "one line of 1 to 1000 printable characters", None)
    return {**said, "reason": choice.reason, "by": choice.by, "date": today.isoformat(), "rests_on": choice.rests_on}


def _level_size(hierarchy: Hierarchy | None, choice: CollectionChoice) -> int:
    """Return the number of values of the level, without the one for invalid cells."""
    names = () if hierarchy is None else hierarchy.names
    if hierarchy is None or choice.level not in names:
        found = f"{choice.attribute!r} has no level {choice.level!r}"
        raise _option_error(
            "--to-level", found, f"one of {', '.join(names) or 'none'}", nearest(choice.level or "", names)
        )
    level, exact = hierarchy.level(choice.level), hierarchy.levels[0]
    return len({level.of_values[at] for at, label in enumerate(exact.labels) if label != INVALID_LABEL})


def _decision_in_force(root: Path, contract: Contract, attribute: str) -> Decision | None:
    """Return the decision in force on an attribute of exactly this contract; None if there is none."""
    about = (contract.id, attribute)
    found = in_force(read_decisions(root), contract)
    return next((each for each in found if (each.spec.contract, each.spec.attribute) == about), None)


def _is_same_decision(last: Decision, said: dict[str, str | int]) -> bool:
    held = last.spec.model_dump(exclude={"replaces"}, exclude_none=True)
    return bool(held == said)


def _decision_yaml(said: dict[str, Any]) -> str:
    whole = {"apiVersion": API_VERSION, "kind": KIND, "spec": said}
    return _HEAD + yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=10_000)


def _record_decision(root: Path, contract: Contract, ledger: Ledger, text: str, today: date) -> Decision:
    data = text.encode()
    digest = hashlib.sha256(data).hexdigest()
    path = root / DECISIONS / f"{today.isoformat()}-{digest[:12]}.yaml"
    said = (DECIDED, contract.population, digest)
    begun = any((line.event, line.subject, line.commitment) == said for line in ledger.journal())
    if not begun:
        require_known_decisions(root, contract, ledger)
        ledger.record(*said)
    _write(path, data)
    require_known_decisions(root, contract, ledger)
    return read_decision(path)


def _write(path: Path, data: bytes) -> None:
    try:
        permissions.make_folders(path.parent, permissions.DECISION)
        scratch = path.parents[1] / f".{path.name}.new"  # outside the folder, which may contain only decisions
        with os.fdopen(permissions.open_file(scratch, os.O_WRONLY | os.O_TRUNC, permissions.DECISION), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, path)
        fsync_path(path.parent)
    except OSError as error:
        raise EnvironmentFault(f"{path}: cannot be written: {error.strerror}; then decide the same again") from None


def _option_error(option: str, found: str, expected: str, instead: str | None) -> ConfigurationError:
    return ConfigurationError(Problem("command line", None, option, found, expected, instead))
