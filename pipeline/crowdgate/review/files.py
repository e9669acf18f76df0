"""Lint any file of a working copy: read it as its kind, and collect all remarks about it.

FILES lists the kinds: how such a file is read, and the keys that only this kind has, which identify a file that states
no kind. No rows of tables are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from os.path import realpath
from pathlib import Path
from typing import Any

from crowdgate.contracts.reading import read_contract
from crowdgate.documents.yaml_text import YAML, Document, Location, read_document
from crowdgate.errors import Code, ConfigurationError, Problem, nearest
from crowdgate.planning.bundle import KNOWN
from crowdgate.policy.files import budget_files, contract_files, policy_files, working_copy
from crowdgate.policy.parsing import parse
from crowdgate.policy.policy import PrivacyBudget, version_of
from crowdgate.review.check import PolicyCheck, check
from crowdgate.review.corrected_lines import with_merged_corrections
from crowdgate.review.lint.warnings import PolicyWarning, absent_table_warning, coarse_step_warnings, doubt_warnings
from crowdgate.review.table_check import check_table

LEVELS = "levels"
"""Name of the kind of CSV files that contracts name: levels, margins, counts."""
ERROR, WARNING, REFUSED = "error", "warning", "withheld"
Found = tuple[PolicyCheck | None, Sequence[PolicyWarning]]
"""The check of a policy (None: another file), and the warnings about a file without problems."""
RIGHT: Found = (None, ())


@dataclass(frozen=True)
class Remark:
    """A remark about a place of a file: a problem (`error`), a warning, or why a release would be `withheld`.

    Line and column count from 1; `instead` is the nearest correct word, `corrected` the line without the problem.
    """

    path: str
    line: int | None
    column: int | None
    code: str | None
    severity: str
    message: str
    expected: str | None = None
    instead: str | None = None
    corrected: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the remark as `--format json` lists it under `remarks`."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class LintedFile:
    """One file: its kind (None: unknown), its problems, and if it has none: the check of a policy, the warnings about
    another file.
    """

    path: Path
    kind: str | None
    problems: tuple[Problem, ...] = ()
    checked: PolicyCheck | None = None
    warnings: tuple[PolicyWarning, ...] = ()

    @property
    def remarks(self) -> list[Remark]:
        """All remarks about the file: its problems, or what its check found."""
        told = [_problem_remark(problem) for problem in self.problems]
        told += [] if self.checked is None else _refusal_remarks(self.checked)
        return [*told, *map(_warning_remark, self.warnings)]


def lint_files(paths: Iterable[Path]) -> list[LintedFile]:
    """Return the lint result of every file among `paths` and in folders among them, each once."""
    return [lint(path) for path in dict.fromkeys(file for stated in paths for file in files_in(stated))]


def files_in(path: Path) -> list[Path]:
    """Return a file as a list; for a folder all YAML files below it; for a working copy those of policies and
    contracts.
    """
    if not path.is_dir():
        return [path]
    rooms = [path / "policies", path / "data_contracts"]
    folders = rooms if all(room.is_dir() for room in rooms) else [path]
    found = [file for folder in folders for file in sorted(folder.rglob("*")) if file.suffix in YAML]
    return found or [path]


def lint(path: Path) -> LintedFile:
    """Lint one file. Paths in its remarks are like `path`: relative to the current folder, or absolute."""
    kind = None
    try:
        kind = kind_of(path)
        checked, warnings = FILES[kind].read(path)
        told = tuple(replace(each, file=_relative_path(each.file, path)) for each in warnings)
        checked = None if checked is None else replace(checked, warnings=told)
        return LintedFile(path, kind, checked=checked, warnings=told)
    except ConfigurationError as error:
        problems = with_merged_corrections(error.problems)
        placed = (replace(problem, file=_relative_path(problem.file, path)) for problem in problems)
        return LintedFile(path, kind, tuple(dict.fromkeys(placed)))


def _relative_path(file: str, path: Path) -> str:
    here, full = Path.cwd(), Path(realpath(file))
    return str(full.relative_to(here)) if not path.is_absolute() and full.is_relative_to(here) else file


def kind_of(path: Path) -> str:
    """Return the kind of a file: its `kind`, the nearest one, or the one whose keys it has. Raises ConfigurationError
    for anything else.
    """
    if path.suffix == ".csv":
        return LEVELS
    document = read_document(path)
    stated = document.data.get("kind") if isinstance(document.data, dict) else None
    kinds = [name for name in FILES if name != LEVELS]
    if stated in kinds:
        return str(stated)
    marked = (name for name in kinds if any(mark in document.lines for mark in FILES[name].marks))
    found = next(marked, None) or (nearest(stated, kinds) if isinstance(stated, str) else None)
    if found is None:
        what = repr(stated) if isinstance(stated, str) and len(stated) < 80 else "no kind"
        code = Code.VALUE if stated else Code.MISSING_KEY
        raise ConfigurationError(document.problem(("kind",), what, f"one of {', '.join(kinds)}", None, code))
    return found


def _policy(path: Path) -> Found:
    """Check a policy; its name and version must be unique, as the ledger identifies releases by them."""
    found = check(path)
    document, own = read_document(path), version_of(found.plan.bundle.policy)
    others = ((other, f"{name}/{_version(other)}") for other, name in policy_files(working_copy(path)))
    _refuse_duplicate_name(document, ("metadata", "name"), own, others)
    return found, found.warnings


def _version(path: Path) -> str:
    with suppress(ConfigurationError, AttributeError, KeyError, TypeError):
        return str(read_document(path).data["metadata"].get("version", "1"))
    return ""


def _budget(path: Path) -> Found:
    document = read_document(path)
    budget = parse(PrivacyBudget, document)
    _refuse_duplicate_name(document, ("metadata", "name"), budget.metadata.name, budget_files(working_copy(path)))
    return RIGHT


def _contract(path: Path) -> Found:
    contract = read_contract(path, KNOWN.servers)
    document = read_document(path)
    _refuse_duplicate_name(document, ("id",), contract.id, contract_files(working_copy(path)))
    absent = check_table(contract).absent
    told = () if absent is None else (absent_table_warning(contract, absent),)
    return None, (*told, *coarse_step_warnings(contract, document), *doubt_warnings(contract))


def _refuse_duplicate_name(document: Document, at: Location, name: str, files: Iterable[tuple[Path, str]]) -> None:
    """Raise ConfigurationError if one of `files` (path and name), other than the document's own file, has the same
    name."""
    own = document.path.resolve()
    others = [path.name for path, stated in files if stated == name and path.resolve() != own]
    if others:
        found, expected = (
            f"{name!r} is also the name and version of {', '.join(others)}",
            "a name and version that no other file has",
        )
        raise ConfigurationError(document.problem(at, found, expected, None, Code.TWICE))


def _cases(path: Path) -> Found:
    from crowdgate.review.cases import read_cases

    read_cases(path).require_no_problems()
    return RIGHT


def _questionnaire(path: Path) -> Found:
    from crowdgate.anonymity.predict.questionnaire_file import read_questionnaire

    read_questionnaire(path, None)
    return RIGHT


def _decision(path: Path) -> Found:
    from crowdgate.policy.decisions import read_decision

    read_decision(path)
    return RIGHT


def _levels(path: Path) -> Found:
    """Check a CSV file of levels, margins or counts in the way of each contract that names it. Raises
    ConfigurationError."""
    own, named = path.resolve(), False
    for file, _ in contract_files(working_copy(path)):
        problems: Sequence[Problem] = ()
        try:
            files = read_contract(file, KNOWN.servers).files
        except ConfigurationError as error:
            problems, files = error.problems, getattr(getattr(error, "rest", None), "files", ())
        reads = own in {each.resolve() for each in (*files, *(Path(problem.file) for problem in problems))}
        if reads and problems:
            raise ConfigurationError(problems)
        named |= reads
    if not named:
        found, expected = "no contract reads it", "a file that a contract of data_contracts/ names (levels, margins)"
        raise ConfigurationError(Problem(str(path), None, "file", found, expected, code=Code.TABLE))
    return RIGHT


@dataclass(frozen=True)
class FileKind:
    """A kind of file: `read`, the function that reads such a file, raises its problems and returns the rest; `marks`,
    keys that only this kind has."""

    read: Callable[[Path], Found]
    marks: tuple[Location, ...] = ()


FILES: dict[str, FileKind] = {
    "ReleasePolicy": FileKind(_policy, (("spec", "gates"), ("spec", "mechanism"))),
    "PrivacyBudget": FileKind(_budget, (("spec", "people"), ("spec", "ledger"))),
    "DataContract": FileKind(_contract, (("schema",), ("servers",))),
    "PolicyCases": FileKind(_cases, (("spec", "cases"),)),
    "Questionnaire": FileKind(_questionnaire, (("spec", "questions"),)),
    "CollectionDecision": FileKind(_decision, (("spec", "decision"),)),
    LEVELS: FileKind(_levels),
}
"""The kinds of files that can be checked."""


def _problem_remark(problem: Problem) -> Remark:
    message = f"{problem.where}: {problem.found}"
    place = (problem.file, problem.line, problem.column)
    return Remark(*place, problem.code, ERROR, message, problem.expected, problem.instead, problem.corrected)


def _warning_remark(each: PolicyWarning) -> Remark:
    return Remark(each.file, each.line, each.column, each.code, WARNING, each.words)


def _refusal_remarks(checked: PolicyCheck) -> Iterator[Remark]:
    """Yield the reasons why a policy is not allowed as remarks of severity `withheld`, except gates that can't pass,
    which warnings cover."""
    document, rules = checked.plan.bundle.document, [rule for rule, _ in checked.plan.gates]
    withheld = [found for found in checked.verdicts if found.withholds]
    said: list[tuple[Location, str]] = [
        (("spec", "gates", rules.index(found.rule)), f"{found.gate}: {found.reason}") for found in withheld
    ]
    stops = checked.left.stops
    if checked.refused is not None and not (stops and stops.rule in [found.rule for found in withheld]):
        said.append((("spec", "budget"), f"its ledger refuses it: {checked.refused}"))
    if checked.unread_register is not None:
        said.append((("spec", "register"), f"its public register can't be read: {checked.unread_register}"))
    if not said and not checked.allowed:
        said.append((("spec", "gates"), "a gate that blocks can't pass"))
    for at, words in said:
        yield Remark(str(document.path), document.line(at), document.column(at), None, REFUSED, words)
