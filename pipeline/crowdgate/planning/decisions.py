"""Comparison of contracts with decisions on collecting their attributes, and of decisions with the ledger's journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate.documents.yaml_text import read_document
from crowdgate.errors import Code, ConfigurationError, CrowdgateError, Problem
from crowdgate.planning.open_ledger import OpenedLedger
from crowdgate.policy.files import DECISIONS, Bundle
from crowdgate.system.regular_files import is_absent

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Attribute, Contract
    from crowdgate.ledger.ledger import Ledger
    from crowdgate.policy.decisions import Decision

DECIDED = "collection-decided"
"""Event: a decision on the population, the line's subject. The commitment is the SHA-256 of the decision's file."""


def decision_problems(bundle: Bundle) -> Iterator[Problem]:
    """Yield a problem for each attribute that a policy's contract collects against a decision, and for each unreadable
    decision file.
    """
    if not _may_hold_decisions(bundle.root):
        return
    from crowdgate.policy.decisions import in_force, read_decisions

    try:
        decided = in_force(read_decisions(bundle.root), bundle.contract)
    except ConfigurationError as error:
        yield from error.problems
        return
    yield from contract_problems(bundle.contract, decided)


def _may_hold_decisions(root: Path) -> bool:
    """Return whether decisions may exist. True if the folder can't be accessed: reading it then raises the problem."""
    try:
        return not is_absent(root / DECISIONS)
    except OSError:
        return True


def contract_problems(contract: Contract, decided: Iterable[Decision]) -> Iterator[Problem]:
    """Yield a problem for each attribute that a contract collects against one of the collection decisions `decided`."""
    for decision in decided:
        attribute, spec = contract.by_name.get(decision.spec.attribute), decision.spec
        if attribute is None or spec.decision == "collect":
            continue
        if spec.decision == "do-not-collect":
            yield _problem(contract, decision, "collected", "a contract without it")
        elif _values(attribute) is None:
            yield _problem(contract, decision, "collected without a list of its values", _coarser(decision))
        elif (_values(attribute) or 0) > (spec.values or 0):
            yield _problem(contract, decision, f"collected in {_values(attribute)} values", _coarser(decision))


def _coarser(decision: Decision) -> str:
    return f"a domain of at most the {decision.spec.values} values of level {decision.spec.level!r}"


def _values(attribute: Attribute) -> int | None:
    """Return the number of values in an attribute's public domain; None without one."""
    return None if attribute.domain is None else len(attribute.domain)


def _problem(contract: Contract, decision: Decision, found: str, expected: str) -> Problem:
    document, name = read_document(contract.files[0]), decision.spec.attribute
    at = next(
        (
            location
            for location in document.lines
            if len(location) == 4 and location[2] == "properties" and _name(document.data, location) == name
        ),
        (),
    )
    why = f"{decision.path.name}: {decision.text_for(contract)}"
    said = f"{expected}, or a later decision by `crowdgate kl decide` ({why})"
    return document.problem(at, found, said, code=Code.DECISION, where=f"attribute {name!r}")


def _name(data: object, location: tuple[str | int, ...]) -> object:
    for part in location:
        data = data[part]  # type: ignore[index]
    return data.get("name") if isinstance(data, dict) else None


def require_known_decisions(root: Path, contract: Contract, ledger: Ledger) -> None:
    """Check that the decisions about a population's contracts are exactly those in the ledger.

    Raises ConfigurationError that names the files.
    """
    problems = list[Problem]()
    problems += _ledger_differences(root, contract, ledger, _readable_decisions(root, problems))
    if problems:
        raise ConfigurationError(problems)


def _readable_decisions(root: Path, problems: list[Problem]) -> list[Decision]:
    if not _may_hold_decisions(root):
        return []
    from crowdgate.policy.decisions import readable_decisions

    return readable_decisions(root, problems)


def _ledger_differences(
    root: Path, contract: Contract, ledger: Ledger, decisions: Sequence[Decision]
) -> Iterator[Problem]:
    known = {(subject, commitment or "") for subject, commitment in ledger.recorded(DECIDED)}
    there = {each.digest for each in decisions}
    missing = sorted(digest for people, digest in known if people == contract.population and digest not in there)
    if decisions:
        from crowdgate.policy.decisions import decisions_about

        yield from _unknown(decisions_about(decisions, contract), known, ledger)
    yield from _missing_decisions(root, missing, ledger)


def _unknown(found: Sequence[Decision], known: set[tuple[str, str]], ledger: Ledger) -> Iterator[Problem]:
    for each in found:
        if (each.spec.population, each.digest) not in known:
            what = (
                f"the ledger {ledger.id} does not know this decision: the file was edited, or not made by "
                "`crowdgate kl decide`"
            )
            yield Problem(str(each.path), None, "file", what, "the file as it was decided", code=Code.DECISION)


def _missing_decisions(root: Path, missing: Sequence[str], ledger: Ledger) -> Iterator[Problem]:
    for digest in missing:
        found = f"the decision {digest} is missing, which the ledger {ledger.id} knows"
        expected = "all decisions, also those that were replaced"
        yield Problem(str(root / DECISIONS), None, "folder", found, expected, code=Code.DECISION)


@dataclass(frozen=True)
class DecisionCheck:
    """The differences between readable collection decisions and the ledger, and the reason why they were not compared
    (None: they were).
    """

    problems: tuple[Problem, ...]
    why_not: str | None


def check_decisions(root: Path, contract: Contract, opened: OpenedLedger) -> DecisionCheck:
    """Compare the decisions about a contract's population with the ledger of its budget, if it can be opened."""
    try:
        found = _ledger_differences(root, contract, opened.ledger(), _readable_decisions(root, []))
        return DecisionCheck(tuple(found), None)
    except CrowdgateError as error:
        return DecisionCheck((), str(error))


def unchecked_decisions_text(why_not: str | None) -> list[str]:
    """Return the sentence about decisions that were not compared with the ledger; nothing if they were."""
    return [] if why_not is None else [f"Decisions on what is collected are not held to the ledger: {why_not}"]
