"""Policy and budget files: found in a working copy, read strictly, with a place for every problem."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from crowdgate.contracts.contract import Contract
from crowdgate.contracts.reading import read_contract
from crowdgate.contracts.servers import ServerRule
from crowdgate.documents import Document, Location, read_document
from crowdgate.errors import ConfigurationError, Problem, nearest
from crowdgate.policy.policy import MechanismSpec, PrivacyBudget, ReleasePolicy, policy_model

Model = TypeVar("Model", bound=BaseModel)


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
    policy = _parse(known.policy, document)
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
    budget = _collect(problems, lambda found: _parse(PrivacyBudget, found), budget_document)
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
    """The budget of a contract's population, in the working copy of the contract's file. Raises ConfigurationError."""
    problems: list[Problem] = []
    asker = read_document(path)
    file = _named_file(asker, ("schema", 0), contract.population, _budgets(working_copy(path)), problems)
    document = _collect(problems, read_document, file)
    budget: PrivacyBudget | None = _collect(problems, lambda found: _parse(PrivacyBudget, found), document)
    if budget is None or document is None:
        raise ConfigurationError(problems)
    return budget, document


def working_copy(path: Path) -> Path:
    """The nearest folder around `path` that holds policies/ and data_contracts/."""
    for folder in path.resolve().parents:
        if (folder / "policies").is_dir() and (folder / "data_contracts").is_dir():
            return folder
    found, expected = "no policies/ and data_contracts/ above it", "a working copy, as `crowdgate init DIR` makes it"
    raise ConfigurationError(Problem(str(path), None, "file", found, expected))


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
    problems.append(document.problem(at, what, "the id of exactly one file", None if found else nearest(name, names)))
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


def _parse(model: type[Model], document: Document) -> Model:
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False, include_context=True)
        raise ConfigurationError([_problem(model, document, detail) for detail in details]) from None


def _problem(model: type[BaseModel], document: Document, detail: Any) -> Problem:
    at = _location(document, detail["loc"])
    if detail["type"].startswith("union_tag"):
        at = (*at, "kind")
        if detail["type"] == "union_tag_not_found":
            return document.problem(at, "the key is missing", "a value for kind")
    if detail["type"] == "extra_forbidden":
        known = _keys(model, at[:-1], document.data)
        return document.problem(at, "unknown key", f"one of {', '.join(known)}", nearest(str(at[-1]), known))
    if detail["type"] == "missing":
        return document.problem(at, "the key is missing", f"a value for {at[-1]}")
    expected = detail["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    context = detail.get("ctx", {})
    tags = str(context.get("expected_tags", "")).replace(", ", " or ")
    literals = str(context.get("expected", tags)).replace(" or ", ",").split(",")
    expected = tags or expected
    options = [word for literal in literals if (word := literal.strip("' "))]
    found = _found(document, at)
    return document.problem(at, found, expected, nearest(found.strip("'"), options))


def _location(document: Document, loc: tuple[str | int, ...]) -> Location:
    """Pydantic's location without the names of union members, which are no keys of the file."""
    at: Location = ()
    for i, part in enumerate(loc):
        if (*at, part) in document.lines or i == len(loc) - 1:
            at = (*at, part)
    return at if at in document.lines or _looks_like_key(document, at) else at[:-1]


def _looks_like_key(document: Document, at: Location) -> bool:
    value: Any = document.data
    for part in at[:-1]:
        value = value[part]
    return (
        isinstance(value, dict)
        and isinstance(at[-1], str)
        and not at[-1].startswith(("literal", "constrained", "function"))
    )


def _found(document: Document, at: Location) -> str:
    value: Any = document.data
    for part in at:
        known = isinstance(value, list) or (isinstance(value, dict) and part in value)
        value = value[part] if known else None
    if isinstance(value, str):
        return repr(value) if len(value) < 80 else "a long text"
    return "a list" if isinstance(value, list) else "keys with values" if isinstance(value, dict) else "nothing"


def _keys(model: type[BaseModel], at: Location, data: Any) -> list[str]:
    """The keys that the model knows at a place of the file."""
    current: Any = model
    any_key = False
    for part in at:
        data = data[part]
        if isinstance(part, int) or any_key:
            current = _model_inside(current, data) if any_key or not _is_model(current) else current
            any_key = False
            continue
        fields = {field.alias or name: field.annotation for name, field in current.model_fields.items()}
        any_key = get_origin(fields.get(str(part))) is dict
        inside = fields.get(str(part))
        current = inside if isinstance(data, list) or any_key else _model_inside(inside, data)
        if current is None:
            return []
    return [field.alias or name for name, field in current.model_fields.items()] if _is_model(current) else []


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _model_inside(annotation: Any, data: Any) -> Any:
    """The model that a value is meant for: of several the one of its `kind`, or with most of its keys."""
    keys = set(data) if isinstance(data, dict) else set()
    kind = data.get("kind") if isinstance(data, dict) else None

    def fits(model: type[BaseModel]) -> tuple[bool, bool, int]:
        fields = model.model_fields
        named = "kind" in fields and kind in get_args(fields["kind"].annotation)
        return named, any(key in keys for key in [getattr(model, "key", None)]), len(keys & set(fields))

    return max(_models(annotation), key=fits, default=None)


def _models(annotation: Any) -> Iterator[Any]:
    if _is_model(annotation):
        yield annotation
    else:
        for argument in get_args(annotation):
            yield from _models(argument)
