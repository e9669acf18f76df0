"""Policy and budget files: found in a working copy, read strictly, with a place for every problem."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate.contracts.csv_file import MOST_BYTES
from crowdgate.contracts.reading import BrokenContract, read_contract
from crowdgate.documents.names import NAME
from crowdgate.documents.yaml_text import Document, Location, read_document
from crowdgate.errors import Code, ConfigurationError, Problem, nearest
from crowdgate.limits import LARGEST_DOCUMENT
from crowdgate.policy.corrections import corrected_document, follows
from crowdgate.policy.parsing import parse
from crowdgate.policy.policy import MechanismSpec, PrivacyBudget, ReleasePolicy, policy_model
from crowdgate.system.regular_files import read_plain

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract
    from crowdgate.contracts.server_rules import ServerRule

DECISIONS = Path("policies") / "decisions"
"""The folder of collection decisions, relative to the working copy."""
"""The form of an id."""
MOST_NAMED = 5
"""The greatest number of ids that a message lists."""
_CONTRACT_KEYS = {"apiVersion", "kind", "id", "servers", "schema"}


@dataclass(frozen=True, eq=False)
class KnownNames:
    """The names that files may use: mechanisms by their kind, release formats, servers by the name of their source."""

    mechanisms: Mapping[str, type[MechanismSpec]]
    formats: tuple[str, ...]
    servers: Mapping[str, ServerRule]

    @cached_property
    def policy(self) -> type[ReleasePolicy]:
        """The model of policy files."""
        return policy_model(self.mechanisms, self.formats)


@dataclass(frozen=True, eq=False)
class Bundle:
    """A policy with the contract and budget that it names, and `population`, the contract of the public audit table.

    `population` is the policy's own contract unless the policy names another. `register` is the contract of the public
    register that gates compare with, if any. `digest` covers every file that decides the release or the audit.
    """

    root: Path
    policy: ReleasePolicy
    contract: Contract
    population: Contract
    budget: PrivacyBudget
    document: Document
    budget_document: Document
    digest: str
    register: Contract | None = None


@dataclass(frozen=True, eq=False)
class Draft:
    """The problems of a policy's files, and a provisional bundle (None: too little is readable), only for finding
    further problems.

    `places` were replaced in policy and budget. `doubtful` are attributes whose contract may be wrong about them.
    Without a bundle, `policy` and `document` are the policy and its text, if these are readable.
    """

    problems: tuple[Problem, ...]
    bundle: Bundle | None
    places: frozenset[Location] = frozenset()
    doubtful: frozenset[str] = frozenset()
    policy: ReleasePolicy | None = None
    document: Document | None = None

    def follows(self, problem: Problem) -> bool:
        """Return whether a problem of the bundle may exist only because of problems of the files."""
        named = {name for name in self.doubtful if name in problem.where.split(".") or repr(name) in problem.found}
        unsure = problem.code in (Code.MECHANISM, Code.NOT_PUBLIC) or problem.where.startswith("spec.register")
        table = set() if self.bundle is None else self.doubtful - set(self.bundle.contract.by_name)
        if problem.where == "spec.unit" and table:
            return True
        return (bool(self.doubtful) and unsure) or bool(named) or follows(problem, self.places)


def read_draft(path: Path, known: KnownNames) -> Draft:
    """Return the policy at `path` and the files it names, valid or not.

    Raises ConfigurationError for a policy that is no YAML or is in no working copy.
    """
    document, root = read_document(path), working_copy(path)
    read = corrected_document(known.policy, document)
    reading = _PolicyReader(document, root, known, [*read.problems])
    if read.value is None:
        for key, files in (("contract", contract_files(root)), ("budget", budget_files(root))):
            reading.named_file_problems(key, files)
        return Draft(tuple(reading.problems), None)
    return reading.draft(read.value, read.places)


@dataclass(eq=False)
class _PolicyReader:
    """Reads the files that a policy names, in order, and collects all their problems."""

    document: Document
    root: Path
    known: KnownNames
    problems: list[Problem]
    doubtful: set[str] = field(default_factory=set)

    def draft(self, policy: ReleasePolicy, places: frozenset[Location]) -> Draft:
        """Return the draft of a policy in which these locations were replaced."""
        spec = policy.spec
        missing = {place[1] for place in places if place in (("spec", "contract"), ("spec", "budget"))}
        contract = None if "contract" in missing else self.contract(("spec", "contract"), spec.contract)
        population, register = contract, None
        if spec.audit is not None and spec.audit.population not in (None, spec.contract):
            population = self.contract(("spec", "audit", "population"), spec.audit.population)
        if spec.against is not None:
            register = self.contract(("spec", "register", "contract"), spec.against.contract)
        budget = None if "budget" in missing else self.budget(spec.budget)
        unread = spec.against is not None and register is None
        if contract is None or population is None or unread or budget is None:
            return Draft(tuple(self.problems), None, places, policy=policy, document=self.document)
        stated, budget_document, changed = budget
        further = () if register is None else register.files
        read = (self.document.path, budget_document.path, *contract.files, *population.files, *further)
        digest = _digest(self.root, sorted({file.resolve() for file in read}))
        bundle = Bundle(
            self.root, policy, contract, population, stated, self.document, budget_document, digest, register
        )
        return Draft(tuple(self.problems), bundle, places | changed, frozenset(self.doubtful))

    def contract(self, at: Location, name: str) -> Contract | None:
        """Return the contract with the id `name`, or the readable part of it; None if nothing is readable."""
        files = contract_files(self.root)
        file = _file_by_id(self.document, at, name, files, self.problems, provisional=True)
        if file is None:
            return None
        try:
            return read_contract(file, self.known.servers)
        except BrokenContract as error:
            self.problems.extend(error.problems)
            self.doubtful |= _doubtful_attributes(error)
            return error.rest
        except ConfigurationError as error:
            self.problems.extend(error.problems)
            return None

    def budget(self, name: str) -> tuple[PrivacyBudget, Document, frozenset[Location]] | None:
        """Return the budget called `name` with its document, and the locations that were corrected in it; None if it is
        unreadable.
        """
        files = budget_files(self.root)
        file = _file_by_id(self.document, ("spec", "budget"), name, files, self.problems, provisional=True)
        document: Document | None = _collect(self.problems, read_document, file)
        if document is None:
            return None
        read = corrected_document(PrivacyBudget, document)
        self.problems.extend(read.problems)
        return None if read.value is None else (read.value, document, read.places)

    def named_file_problems(self, key: str, files: Iterator[tuple[Path, str]]) -> None:
        """Collect the problems of the file that an unreadable policy names at `key`, among these files with
        their ids.
        """
        data = self.document.data
        spec = data.get("spec") if isinstance(data, dict) else None
        name = spec.get(key) if isinstance(spec, dict) else None
        found = [path for path, stated in files if stated == name]
        if len(found) == 1 and key == "contract":
            _collect(self.problems, lambda file: read_contract(file, self.known.servers), found[0])
        elif len(found) == 1:
            _collect(self.problems, lambda file: parse(PrivacyBudget, read_document(file)), found[0])


def _doubtful_attributes(error: BrokenContract) -> set[str]:
    """Return the attributes named by a contract's problems; all of them, if a problem names anything else."""
    named = {problem.where.split(".")[0] for problem in error.problems}
    known = set() if error.rest is None else set(error.rest.by_name)
    return named if named <= known else named | known


def contracts(root: Path, known: KnownNames, but: Path | None = None) -> Iterator[Contract]:
    """Yield the readable contracts of a working copy, without that of the file `but`."""
    for path, _ in contract_files(root):
        if but is not None and path.resolve() == but.resolve():
            continue
        found: Contract | None = _collect([], lambda file: read_contract(file, known.servers), path)
        if found is not None:
            yield found


def unreadable_contracts(root: Path, known: KnownNames, but: Path) -> Iterator[tuple[Path, Contract | None]]:
    """Yield the file of each faulty contract of a working copy except `but`, with the contract's readable part (None:
    too little is readable to know its table)."""
    for path in sorted((root / "data_contracts").glob("*.yaml")):
        if path.resolve() == but.resolve() or not _may_be_contract(path):
            continue
        try:
            read_contract(path, known.servers)
        except BrokenContract as error:
            yield path, error.rest
        except ConfigurationError:
            yield path, None


def _may_be_contract(path: Path) -> bool:
    """Return False for a file of YAML that has none of a contract's keys, and so describes no table."""
    try:
        data = read_document(path).data
    except ConfigurationError:
        return True
    return isinstance(data, dict) and bool(_CONTRACT_KEYS & {*data})


def budget_of_contract(path: Path, contract: Contract) -> tuple[PrivacyBudget, Document]:
    """Return the budget of a contract's population, from the working copy of the contract's file.

    Raises ConfigurationError, also if the budget has another privacy unit than the contract.
    """
    known = list(budget_files(working_copy(path)))
    own = [file for file, name in known if name == contract.population]
    if len(own) != 1:
        found = f"{len(own) or 'no'} budgets of the population {contract.population!r}"
        expected = "one file of policies/budgets whose metadata.name is the contract's population"
        problems = list[Problem]()
        names = _readable_ids(known, problems)
        meant = nearest(contract.population, names)
        where = read_document(path).problem(("schema", 0), found, expected, meant, Code.UNKNOWN_NAME)
        raise ConfigurationError([*problems, where])
    document = read_document(own[0])
    budget, unit = parse(PrivacyBudget, document), str(contract.unit)
    if budget.spec.unit != unit:
        found, expected = f"{budget.spec.unit!r}", f"the privacy unit {unit!r} of contract {contract.id}"
        raise ConfigurationError(document.problem(("spec", "unit"), found, expected, unit, Code.CONTRADICTION))
    return budget, document


def contract_named(document: Document, at: Location, name: str, known: KnownNames) -> tuple[Path, Contract]:
    """Return the working copy around a document, and its contract with the id stated at `at`. Raises
    ConfigurationError.
    """
    root, problems = working_copy(document.path), list[Problem]()
    file = _file_by_id(document, at, name, contract_files(root), problems)
    contract: Contract | None = _collect(problems, lambda found: read_contract(found, known.servers), file)
    if contract is None:
        raise ConfigurationError(problems)
    return root, contract


def working_copy(path: Path) -> Path:
    """Return the nearest folder around `path` that holds policies/ and data_contracts/."""
    for folder in path.resolve().parents:
        if (folder / "policies").is_dir() and (folder / "data_contracts").is_dir():
            return folder
    found, expected = "no policies/ and data_contracts/ above it", "a working copy, as `crowdgate init DIR` makes it"
    raise ConfigurationError(Problem(str(path), None, "file", found, expected, code=Code.UNREADABLE))


def _collect(problems: list[Problem], read: Any, argument: Any) -> Any:
    """Return `read(argument)`; if that raises ConfigurationError, add its problems to `problems` and return None."""
    if argument is None:
        return None
    try:
        return read(argument)
    except ConfigurationError as error:
        problems.extend(error.problems)
        return None


def contract_files(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the file of every contract of a working copy, with the contract's id."""
    return _files_by_id(root / "data_contracts", lambda data: data["id"])


def policy_files(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the file of every policy of a working copy, with the policy's name."""
    return _files_by_id(root / "policies", lambda data: data["metadata"]["name"])


def budget_files(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the file of every budget of a working copy, with the budget's name."""
    return _files_by_id(root / "policies" / "budgets", lambda data: data["metadata"]["name"])


def _files_by_id(folder: Path, name: Any) -> Iterator[tuple[Path, str]]:
    """Yield the files of a folder, each with the id that it states; an unreadable file has the id of its file name."""
    for path in sorted(folder.glob("*.yaml")):
        try:
            yield path, str(name(read_document(path).data))
        except ConfigurationError:
            yield path, path.stem
        except (KeyError, TypeError):
            continue


def _file_by_id(
    document: Document,
    at: Location,
    name: str,
    files: Iterator[tuple[Path, str]],
    problems: list[Problem],
    *,
    provisional: bool = False,
) -> Path | None:
    """Return the file with the id `name`, or None after a problem was added. If `provisional`, the file is returned
    beside the problem where it is certain which one is meant.
    """
    known = list(files)
    found = [path for path, stated in known if stated == name]
    if len(found) == 1:
        return found[0]
    names = [] if found else _readable_ids(known, problems)
    what = f"no file has the id {name!r}" if not found else f"{len(found)} files have the id {name!r}"
    meant, code = (None, Code.TWICE) if found else (nearest(name, names), Code.UNKNOWN_NAME)
    by_path = [
        stated for path, stated in known if (stated in names and name.endswith(f"/{path.name}")) or name == path.name
    ]
    meant, line = (by_path[0], document.text.replaced(at, by_path[0])) if len(by_path) == 1 else (meant, None)
    own = next((path for path, stated in known if meant is not None and stated == meant), None)
    is_budget = at == ("spec", "budget")
    if own is not None and is_budget and not re.fullmatch(NAME, meant or "") and provisional:
        return own  # the name in that budget is wrong, which is told of its file
    if not found and any(stated not in names and _states_id(path, name) for path, stated in known):
        return None  # that file can't be read, which is told of the file
    expected = "the id of exactly one file" + (f": {', '.join(names[:MOST_NAMED])}" if names and meant is None else "")
    told = document.problem(at, what, expected, meant, code, corrected=line)
    problems.append(told)
    certain = provisional and told.corrected is not None
    return next((path for path, stated in known if certain and stated == meant), None)


def _states_id(path: Path, name: str) -> bool:
    """Return whether a line of a file that is no YAML states this id."""
    try:
        text = read_plain(path, LARGEST_DOCUMENT).decode("utf-8", errors="replace")
    except OSError:
        return False
    stated = rf"^(?:id:|metadata:\s*{{\s*name:|  name:)\s*['\"]?{re.escape(name)}['\"]?\s*(?:$|[,#}}])"
    return re.search(stated, text, re.MULTILINE) is not None


def _readable_ids(files: Sequence[tuple[Path, str]], problems: list[Problem]) -> list[str]:
    """Return the ids of the readable files; adds the problems of unreadable ones, as one of these may be meant."""
    return [name for path, name in files if _collect(problems, read_document, path) is not None]


def _digest(root: Path, files: Sequence[Path]) -> str:
    """Return one SHA-256 over the names (relative to the working copy) and contents of all these files."""
    total = hashlib.sha256()
    for path in files:
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
        total.update(f"{name}\0{hashlib.sha256(read_plain(path, MOST_BYTES)).hexdigest()}\n".encode())
    return total.hexdigest()
