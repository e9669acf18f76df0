"""Inventory of who holds and who asks for which attributes of whom (Koot 2012, 7.3.1): contracts and questionnaires of
a working copy, matched to entries of a repository."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdgate.anonymity.kl.matching import MatchingEntries, RepositoryQuestion, match_entries
from crowdgate.anonymity.kl.reading import SignedEntry
from crowdgate.contracts.contract import Contract, Role
from crowdgate.documents.yaml_text import Document, read_document
from crowdgate.errors import Code, ConfigurationError, Problem, expected_names, nearest
from crowdgate.hierarchy import EXACT
from crowdgate.planning.bundle import KNOWN
from crowdgate.planning.decisions import DecisionCheck, check_decisions
from crowdgate.planning.open_ledger import OpenedLedger
from crowdgate.policy.decisions import in_force, read_decisions
from crowdgate.policy.files import budget_of_contract, contracts
from crowdgate.policy.parsing import parse
from crowdgate.policy.questionnaire import Questionnaire

FOLDER = "policies/questionnaires"
"""Folder of the questionnaires in a working copy."""
OWN_ANSWERS = "(answers of its own)"
"""Level of a question that is about no attribute of a contract: no entry can cover it."""
TITLES = ("who", "population", "attribute", "level", "decided", "entries", "together")


@dataclass(frozen=True)
class InventoryLine:
    """An attribute that is held or asked for, its level, its number of values (None: no public domain), the decision
    about it (None: no decision), and the digests of the entries that contain it."""

    attribute: str
    level: str
    values: int | None
    decided: str | None
    entries: tuple[str, ...]


@dataclass(frozen=True)
class InventoryItem:
    """A contract or a questionnaire, its attributes, and the entries for its quasi-identifiers together.

    `unheld` is the reason why its decisions could not be checked against the ledger (None: they were, or there is no
    contract).
    """

    kind: str
    name: str
    contract: str
    population: str
    lines: tuple[InventoryLine, ...]
    together: MatchingEntries | None
    unheld: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the item, its attributes and the matching entries as an object of JSON."""
        said = {"kind": self.kind, "name": self.name, "contract": self.contract, "population": self.population}
        lines = [{**vars(line), "entries": list(line.entries)} for line in self.lines]
        together = None if self.together is None else _entries_json(self.together)
        return {**said, "attributes": lines, "together": together, "decisions_not_held": self.unheld}

    def rows(self) -> Iterator[list[str]]:
        """Yield the item's rows of a table under TITLES, one for each attribute."""
        for at, line in enumerate(self.lines):
            head = [f"{self.kind} {self.name}", self.population] if at == 0 else ["", ""]
            entries = ", ".join(digest[:12] for digest in line.entries) or "none"
            together = "" if at or self.together is None else self.together.outcome
            yield [*head, line.attribute, line.level, line.decided or "", entries, together]


def _entries_json(found: MatchingEntries) -> dict[str, Any]:
    held = {"exact": found.exact, "more_specific": found.more, "less_specific": found.less}
    return {"outcome": found.outcome, **{name: [each.digest for each in own] for name, own in held.items()}}


def inventory(home: Path, entries: Sequence[SignedEntry]) -> list[InventoryItem]:
    """Return the contracts of a working copy with all their attributes, and its questionnaires with the attributes they
    ask for.

    Raises ConfigurationError for a questionnaire or a decision that can't be read, and for decisions that differ from
    those in the ledger. It also raises it for a question on an attribute or a level that its contract does not have.
    """
    known = {contract.id: contract for contract in contracts(home, KNOWN)}
    if not known:
        found, expected = "no contract that can be read", "a working copy, as `crowdgate init DIR` makes it"
        raise ConfigurationError(
            Problem(str(home / "data_contracts"), None, "folder", found, expected, code=Code.UNREADABLE)
        )
    unheld = _unchecked_reasons(home, list(known.values()))
    held = [_contract_item(home, contract, entries, unheld) for contract in known.values()]
    documents = [read_document(path) for path in sorted((home / FOLDER).glob("*.yaml"))]
    return [*held, *(_questionnaire_item(home, document, known, entries, unheld) for document in documents)]


def _unchecked_reasons(home: Path, known: Sequence[Contract]) -> dict[str, str | None]:
    """Return, by contract, the reason why its decisions can't be checked against the ledger (None: they were). Raises
    ConfigurationError where decisions differ."""
    held = {contract.id: _decision_check(home, contract) for contract in known}
    problems = dict.fromkeys(problem for each in held.values() for problem in each.problems)
    if problems:
        raise ConfigurationError(list(problems))
    return {name: each.why_not for name, each in held.items()}


def _decision_check(home: Path, contract: Contract) -> DecisionCheck:
    try:
        budget = budget_of_contract(contract.files[0], contract)[0]
    except ConfigurationError as error:
        return DecisionCheck((), "; ".join(map(str, error.problems)))
    return check_decisions(home, contract, OpenedLedger(home, budget.spec.ledger))


def _contract_item(
    home: Path, contract: Contract, entries: Sequence[SignedEntry], unheld: Mapping[str, str | None]
) -> InventoryItem:
    levels = {each.name: EXACT for each in contract.attributes}
    key = [each.name for each in contract.attributes if each.role is Role.QUASI_IDENTIFIER and each.releasable]
    lines = _lines(home, contract, levels, entries)
    together = _entries_for_all(contract, levels, key, entries)
    return InventoryItem(
        "contract", contract.id, contract.id, contract.population, lines, together, unheld[contract.id]
    )


def _questionnaire_item(
    home: Path,
    document: Document,
    known: Mapping[str, Contract],
    entries: Sequence[SignedEntry],
    unheld: Mapping[str, str | None],
) -> InventoryItem:
    """Return the item of a questionnaire: attributes of its contract, and questions with answers of their own."""
    form = parse(Questionnaire, document)
    name, who = form.metadata.name, form.spec.population.who
    own = tuple(
        InventoryLine(each.name, OWN_ANSWERS, None, None, ()) for each in form.spec.questions if each.attribute is None
    )
    if form.spec.contract is None:
        return InventoryItem("form", name, "", who, own, None)
    contract = known.get(form.spec.contract)
    if contract is None:
        found, at = f"no contract has the id {form.spec.contract!r}", ("spec", "contract")
        right = nearest(form.spec.contract, list(known))
        raise ConfigurationError(document.problem(at, found, f"one of {', '.join(known)}", right))
    levels = _question_levels(document, form, contract)
    lines = _lines(home, contract, levels, entries)
    together = _entries_for_all(contract, levels, list(levels), entries)
    return InventoryItem("form", name, contract.id, who, (*lines, *own), together, unheld[contract.id])


def _question_levels(document: Document, form: Questionnaire, contract: Contract) -> dict[str, str]:
    """Return the level at which a questionnaire asks for each attribute of its contract, by attribute."""
    levels, problems = dict[str, str](), list[Problem]()
    for at, each in enumerate(form.spec.questions):
        if each.attribute is None:
            continue
        attribute = contract.by_name.get(each.attribute)
        names = [] if attribute is None or attribute.hierarchy is None else list(attribute.hierarchy.names)
        levels[each.attribute] = each.level
        if each.level not in names:
            where, right = ("level", names) if names else ("attribute", list(contract.by_name))
            word = each.level if names else each.attribute
            found, expected = (
                f"{word!r} is no {where} of {contract.id}",
                expected_names(
                    right, word, f"{'an' if where == 'attribute' else 'a'} {where}", f"contract {contract.id}"
                ),
            )
            place = ("spec", "questions", at, where)
            problems.append(document.problem(place, found, expected, nearest(word, right)))
    if problems:
        raise ConfigurationError(problems)
    return levels


def _lines(
    home: Path, contract: Contract, levels: Mapping[str, str], entries: Sequence[SignedEntry]
) -> tuple[InventoryLine, ...]:
    decided = in_force(read_decisions(home), contract)
    return tuple(
        InventoryLine(
            name,
            level,
            _level_size(contract, name, level),
            "; ".join(each.text_for(contract) for each in decided if each.spec.attribute == name) or None,
            tuple(entry.digest for entry in entries if _concerns_attribute(entry, contract.id, name)),
        )
        for name, level in levels.items()
    )


def _entries_for_all(
    contract: Contract, levels: Mapping[str, str], key: Sequence[str], entries: Sequence[SignedEntry]
) -> MatchingEntries | None:
    """Return the entries that match all the attributes `key` together, at their levels, for the contract's population;
    None if none of the attributes has a public domain."""
    sizes = {name: size for name in key if (size := _level_size(contract, name, levels[name])) is not None}
    return match_entries(RepositoryQuestion(contract.id, sizes, contract.population, {}), entries) if sizes else None


def _level_size(contract: Contract, attribute: str, level: str) -> int | None:
    found = contract.by_name[attribute].hierarchy
    return None if found is None else len(found.level(level))


def _concerns_attribute(entry: SignedEntry, contract: str, attribute: str) -> bool:
    vocabulary = entry.entry.vocabulary
    return vocabulary.contract == contract and attribute in {each.name for each in vocabulary.attributes}
