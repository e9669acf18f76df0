"""Who holds, and who asks, which attributes of whom (Koot 2012, 7.3.1): contracts and questionnaires of a working copy,
matched to entries of a repository."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdgate.contracts.contract import Contract, Role
from crowdgate.documents import Document, read_document
from crowdgate.errors import ConfigurationError, Problem, nearest
from crowdgate.hierarchy import EXACT
from crowdgate.jobs.plan import KNOWN
from crowdgate.policy.decisions import in_force, read_decisions
from crowdgate.policy.files import contracts
from crowdgate.repository.matching import Found, Question, answers
from crowdgate.repository.reading import Signed

FOLDER = "questionnaires"
"""Below the working copy."""
TITLES = ("who", "of whom", "attribute", "level", "decided", "entries", "together")


@dataclass(frozen=True)
class Line:
    """An attribute that is held or asked, at which level, in how many values (None: no public domain), what was decided
    about it (None: nothing), and the digests of the entries that speak of it."""

    attribute: str
    level: str
    values: int | None
    decided: str | None
    entries: tuple[str, ...]


@dataclass(frozen=True)
class Holder:
    """A contract or a questionnaire, its attributes, and what answers for its quasi-identifiers together."""

    kind: str
    name: str
    contract: str
    population: str
    lines: tuple[Line, ...]
    together: Found | None

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        said = {"kind": self.kind, "name": self.name, "contract": self.contract, "population": self.population}
        lines = [{**vars(line), "entries": list(line.entries)} for line in self.lines]
        return {**said, "attributes": lines, "together": None if self.together is None else _found_json(self.together)}

    def rows(self) -> Iterator[list[str]]:
        """Lines of a table under TITLES."""
        for at, line in enumerate(self.lines):
            head = [f"{self.kind} {self.name}", self.population] if at == 0 else ["", ""]
            entries = ", ".join(digest[:12] for digest in line.entries) or "none"
            together = "" if at or self.together is None else self.together.outcome
            yield [*head, line.attribute, line.level, line.decided or "", entries, together]


def _found_json(found: Found) -> dict[str, Any]:
    held = {"exact": found.exact, "more_specific": found.more, "less_specific": found.less}
    return {"outcome": found.outcome, **{name: [each.digest for each in own] for name, own in held.items()}}


def inventory(home: Path, entries: Sequence[Signed]) -> list[Holder]:
    """The contracts of a working copy with all their attributes, and its questionnaires with what they ask of one.

    Raises ConfigurationError for a questionnaire or a decision that can't be read, and for a question on an attribute
    or a level that its contract does not have.
    """
    known = {contract.id: contract for contract in contracts(home, KNOWN)}
    if not known:
        found, expected = "no contract that can be read", "a working copy, as `crowdgate init DIR` makes it"
        raise ConfigurationError(Problem(str(home / "data_contracts"), None, "folder", found, expected))
    held = [_of_contract(home, contract, entries) for contract in known.values()]
    documents = [read_document(path) for path in sorted((home / FOLDER).glob("*.yaml"))]
    forms = [each for each in documents if _at(each.data, "kind") == "Questionnaire"]
    return [*held, *(_of_form(home, form, known, entries) for form in forms)]


def _of_contract(home: Path, contract: Contract, entries: Sequence[Signed]) -> Holder:
    levels = {each.name: EXACT for each in contract.attributes}
    key = [each.name for each in contract.attributes if each.role is Role.QUASI_IDENTIFIER and each.releasable]
    lines = _lines(home, contract, levels, entries)
    return Holder(
        "contract", contract.id, contract.id, contract.population, lines, _together(contract, levels, key, entries)
    )


def _of_form(home: Path, form: Document, known: Mapping[str, Contract], entries: Sequence[Signed]) -> Holder:
    """What a form asks: attributes of its contract. Other questions no entry can speak of."""
    name, who = (
        str(_at(form.data, *at) or form.path.stem) for at in (("metadata", "name"), ("spec", "population", "who"))
    )
    stated = _at(form.data, "spec", "contract")
    if stated is None:
        return Holder("form", name, "", who, (), None)
    contract = known.get(str(stated))
    if contract is None:
        found = f"no contract has the id {stated!r}"
        raise ConfigurationError(
            form.problem(("spec", "contract"), found, f"one of {', '.join(known)}", nearest(str(stated), list(known)))
        )
    levels = _asked(form, contract)
    lines = _lines(home, contract, levels, entries)
    return Holder("form", name, contract.id, who, lines, _together(contract, levels, list(levels), entries))


def _asked(form: Document, contract: Contract) -> dict[str, str]:
    """The attributes that are asked, at their levels."""
    questions, levels, problems = _at(form.data, "spec", "questions"), dict[str, str](), list[Problem]()
    for at, each in enumerate(questions if isinstance(questions, list) else []):
        name = _at(each, "attribute")
        if name is None:
            continue
        level = str(_at(each, "level") or EXACT)
        attribute = contract.by_name.get(str(name))
        names = [] if attribute is None or attribute.hierarchy is None else list(attribute.hierarchy.names)
        levels[str(name)] = level
        if level not in names:
            where, word, right = ("level", level, names) if names else ("attribute", str(name), list(contract.by_name))
            found, expected = f"{word!r} is no {where} of {contract.id}", f"one of {', '.join(right)}"
            problems.append(form.problem(("spec", "questions", at, where), found, expected, nearest(word, right)))
    if problems:
        raise ConfigurationError(problems)
    return levels


def _at(data: Any, *keys: str) -> Any:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _lines(home: Path, contract: Contract, levels: Mapping[str, str], entries: Sequence[Signed]) -> tuple[Line, ...]:
    decided = in_force(read_decisions(home), contract.id)
    return tuple(
        Line(
            name,
            level,
            _size(contract, name, level),
            decided[name].words if name in decided else None,
            tuple(entry.digest for entry in entries if _speaks(entry, contract.id, name)),
        )
        for name, level in levels.items()
    )


def _together(
    contract: Contract, levels: Mapping[str, str], key: Sequence[str], entries: Sequence[Signed]
) -> Found | None:
    """What answers for these attributes of the contract's population together; None where there are none."""
    sizes = {name: size for name in key if (size := _size(contract, name, levels[name])) is not None}
    return answers(Question(contract.id, sizes, contract.population, {}), entries) if sizes else None


def _size(contract: Contract, attribute: str, level: str) -> int | None:
    found = contract.by_name[attribute].hierarchy
    return None if found is None else len(found.level(level))


def _speaks(entry: Signed, contract: str, attribute: str) -> bool:
    vocabulary = entry.entry.vocabulary
    return vocabulary.contract == contract and attribute in {each.name for each in vocabulary.attributes}
