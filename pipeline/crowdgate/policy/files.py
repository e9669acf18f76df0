"""Policy and budget files: found in a working copy, read strictly, with a place for every problem."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate.contracts.reading import read_contract
from crowdgate.documents import Document, Location, read_document
from crowdgate.errors import Code, ConfigurationError, Problem, nearest
from crowdgate.policy.parsing import parse
from crowdgate.policy.policy import MechanismSpec, PrivacyBudget, ReleasePolicy, policy_model

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract
    from crowdgate.contracts.servers import ServerRule


@dataclass(frozen=True, eq=False)
class Known:
    """What files may name: mechanisms by their kind, formats of releases, servers by the name of their source."""

    mechanisms: Mapping[str, type[MechanismSpec]]
    formats: tuple[str, ...]
    servers: Mapping[str, ServerRule]

    @cached_property
    def policy(self) -> type[ReleasePolicy]:
        """The model of policy files."""
        return policy_model(self.mechanisms, self.formats)


@dataclass(frozen=True, eq=False)
class Bundle:
    """A policy with the contract and the budget it names, and the contract of the population that it is audited on,
    which is its own unless it names another. `register` is the contract of the public register that its gates read, if
    they read one. `digest` covers every file that decides the release or the audit."""

    root: Path
    policy: ReleasePolicy
    contract: Contract
    population: Contract
    budget: PrivacyBudget
    document: Document
    budget_document: Document
    digest: str
    register: Contract | None = None


def read_bundle(path: Path, known: Known) -> Bundle:
    """The policy at `path` and all it names. Raises ConfigurationError that lists every problem."""
    document = read_document(path)
    policy = parse(known.policy, document)
    root = working_copy(path)
    problems: list[Problem] = []
    contract_file = _named_file(document, ("spec", "contract"), policy.spec.contract, _contracts(root), problems)
    budget_file = _named_file(document, ("spec", "budget"), policy.spec.budget, _budgets(root), problems)
    contract = _collect(problems, lambda found: read_contract(found, known.servers), contract_file)
    population = contract
    if policy.spec.audit is not None and policy.spec.audit.population not in (None, policy.spec.contract):
        at = ("spec", "audit", "population")
        file = _named_file(document, at, policy.spec.audit.population, _contracts(root), problems)
        population = _collect(problems, lambda found: read_contract(found, known.servers), file)
    register, compares = None, policy.spec.against
    if compares is not None:
        file = _named_file(document, ("spec", "register", "contract"), compares.contract, _contracts(root), problems)
        register = _collect(problems, lambda found: read_contract(found, known.servers), file)
    budget_document = _collect(problems, read_document, budget_file)
    budget = _collect(problems, lambda found: parse(PrivacyBudget, found), budget_document)
    unread = compares is not None and register is None
    if contract is None or population is None or unread or budget is None or budget_document is None:
        raise ConfigurationError(problems)
    further = () if register is None else register.files
    read = (path, budget_document.path, *contract.files, *population.files, *further)
    files = sorted({file.resolve() for file in read})
    return Bundle(root, policy, contract, population, budget, document, budget_document, _digest(root, files), register)


def contracts(root: Path, known: Known) -> Iterator[Contract]:
    """The contracts of a working copy that can be read."""
    for path, _ in _contracts(root):
        found: Contract | None = _collect([], lambda file: read_contract(file, known.servers), path)
        if found is not None:
            yield found


def budget_of_contract(path: Path, contract: Contract) -> tuple[PrivacyBudget, Document]:
    """The budget of a contract's population, in the working copy of the contract's file. Raises ConfigurationError,
    also for one that counts other privacy units than the contract has."""
    known = list(_budgets(working_copy(path)))
    own = [file for file, name in known if name == contract.population]
    if len(own) != 1:
        found = f"{len(own) or 'no'} budgets of the population {contract.population!r}"
        expected = "one file of policies/budgets whose metadata.name is the contract's population"
        problems = list[Problem]()
        names = _readable(known, problems)
        meant = nearest(contract.population, names)
        where = read_document(path).problem(("schema", 0), found, expected, meant, Code.UNKNOWN_NAME)
        raise ConfigurationError([*problems, where])
    document = read_document(own[0])
    budget, unit = parse(PrivacyBudget, document), str(contract.unit)
    if budget.spec.unit != unit:
        found, expected = f"{budget.spec.unit!r}", f"the privacy unit {unit!r} of contract {contract.id}"
        raise ConfigurationError(document.problem(("spec", "unit"), found, expected, unit, Code.CONTRADICTION))
    return budget, document


def contract_named(document: Document, at: Location, name: str, known: Known) -> tuple[Path, Contract]:
    """The working copy around a document, and its contract of that id, which stands in the document at `at`. Raises
    ConfigurationError."""
    root, problems = working_copy(document.path), list[Problem]()
    file = _named_file(document, at, name, _contracts(root), problems)
    contract: Contract | None = _collect(problems, lambda found: read_contract(found, known.servers), file)
    if contract is None:
        raise ConfigurationError(problems)
    return root, contract


def working_copy(path: Path) -> Path:
    """The nearest folder around `path` that holds policies/ and data_contracts/."""
    for folder in path.resolve().parents:
        if (folder / "policies").is_dir() and (folder / "data_contracts").is_dir():
            return folder
    found, expected = "no policies/ and data_contracts/ above it", "a working copy, as `crowdgate init DIR` makes it"
    raise ConfigurationError(Problem(str(path), None, "file", found, expected, code=Code.UNREADABLE))


def _collect(problems: list[Problem], read: Any, argument: Any) -> Any:
    """The result of `read`, or None with its problems added."""
    if argument is None:
        return None
    try:
        return read(argument)
    except ConfigurationError as error:
        problems.extend(error.problems)
        return None


def _contracts(root: Path) -> Iterator[tuple[Path, str]]:
    return _named(root / "data_contracts", lambda data: data["id"])


def _budgets(root: Path) -> Iterator[tuple[Path, str]]:
    return _named(root / "policies" / "budgets", lambda data: data["metadata"]["name"])


def _named(folder: Path, name: Any) -> Iterator[tuple[Path, str]]:
    """Files of a folder with the id each states; a file that states none is nobody's, a broken one keeps its name."""
    for path in sorted(folder.glob("*.yaml")):
        try:
            yield path, str(name(read_document(path).data))
        except ConfigurationError:
            yield path, path.stem
        except (KeyError, TypeError):
            continue


def _named_file(
    document: Document, at: Location, name: str, files: Iterator[tuple[Path, str]], problems: list[Problem]
) -> Path | None:
    known = list(files)
    found = [path for path, stated in known if stated == name]
    if len(found) == 1:
        return found[0]
    names = [] if found else _readable(known, problems)
    what = f"no file has the id {name!r}" if not found else f"{len(found)} files have the id {name!r}"
    meant, code = (None, Code.TWICE) if found else (nearest(name, names), Code.UNKNOWN_NAME)
    problems.append(document.problem(at, what, "the id of exactly one file", meant, code))
    return None


def _readable(files: Sequence[tuple[Path, str]], problems: list[Problem]) -> list[str]:
    """The ids of the files that can be read; an unreadable one may be the one that is meant, so its problems count."""
    return [name for path, name in files if _collect(problems, read_document, path) is not None]


def _digest(root: Path, files: Sequence[Path]) -> str:
    """SHA-256 over the names (below the working copy) and contents of the files."""
    total = hashlib.sha256()
    for path in files:
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
        total.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()
