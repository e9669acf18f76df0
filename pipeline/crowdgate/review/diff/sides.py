"""The two sides of a comparison: policy files, folders of them, or either at a git revision.

A revision is read by `git show` into a temporary folder: policies, budgets, contracts and the lists that contracts
name. Nothing is checked out, no hook runs, and no table is copied.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from crowdgate.documents.yaml_text import YAML, read_document
from crowdgate.errors import Code, ConfigurationError, Problem
from crowdgate.limits import LARGEST_LISTING
from crowdgate.planning.bundle import KNOWN
from crowdgate.policy.files import working_copy
from crowdgate.policy.parsing import parse
from crowdgate.policy.policy import ReleasePolicy

ROOMS = ("policies", "data_contracts")
PLAIN = ("100644", "100755")
"""Git modes of plain files: links and submodules are not followed."""


@dataclass(frozen=True)
class PolicyOnDisk:
    """A policy file as read, and the working copy whose settings name its ledger (None: there is none)."""

    path: Path
    policy: ReleasePolicy
    home: Path | None


@dataclass(frozen=True)
class Side:
    """One side of a comparison: its name on the command line, True if that is a folder, and its policies by name."""

    named: str
    folder: bool
    policies: Mapping[str, PolicyOnDisk]


@contextmanager
def open_side(named: str) -> Iterator[Side]:
    """Yield the policies at a path or, as `REV:path`, in git. Raises ConfigurationError that lists all problems."""
    if Path(named).exists() or ":" not in named:
        yield _side(named, Path(named), None)
        return
    revision, _, path = named.partition(":")
    with TemporaryDirectory(prefix="crowdgate-diff-") as scratch:
        folder = Path(scratch).resolve()
        try:
            exported = _GitExport(named, revision, folder)
            yield _side(named, exported.at(path), exported.home)
        except ConfigurationError as error:
            raise ConfigurationError([_in_git(each, f"{folder}/", revision) for each in error.problems]) from None


def _in_git(problem: Problem, folder: str, revision: str) -> Problem:
    """Return a problem of an exported file with the file's place in git."""
    return replace(problem, file=problem.file.replace(folder, f"{revision}:"))


def _side(named: str, path: Path, home: Path | None) -> Side:
    if not path.is_dir():
        return Side(named, False, {"": _read_policy(path, home)})
    found: dict[str, PolicyOnDisk] = {}
    for file in _policies(path):
        each = _read_policy(file, home)
        name = each.policy.metadata.name
        if name in found:
            what, expected = f"{name!r} a second time", "each name once in a folder"
            problem = Problem(str(file), None, "metadata.name", what, expected, code=Code.TWICE)
            raise ConfigurationError(problem)
        found[name] = each
    if not found:
        raise side_problem(named, "no policy (*.yaml, *.yml) in it", "a folder of policies")
    return Side(named, True, found)


def _policies(folder: Path) -> Iterator[Path]:
    """Yield all policies in a folder: YAML files directly in it, and those below that state to be policies."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in YAML and (path.parent == folder or _is_policy(path)):
            yield path


def _is_policy(path: Path) -> bool:
    data = read_document(path).data
    return isinstance(data, dict) and data.get("kind") == "ReleasePolicy"


def _read_policy(path: Path, home: Path | None) -> PolicyOnDisk:
    policy = parse(KNOWN.policy, read_document(path))
    return PolicyOnDisk(path, policy, _working_copy_around(path) if home is None else home)


def _working_copy_around(path: Path) -> Path | None:
    try:
        return working_copy(path)
    except ConfigurationError:
        return None


def side_problem(named: str, found: str, expected: str) -> ConfigurationError:
    """Return the error about one side of a comparison, under its name on the command line."""
    return ConfigurationError(Problem("command line", None, named, found, expected))


def _schema(contract: Path) -> Any:
    """Return the part `schema` of a contract's file; None for an unreadable file, which may be unrelated."""
    try:
        stated = read_document(contract).data
    except ConfigurationError:
        return None
    return stated.get("schema") if isinstance(stated, dict) else None


class _GitExport:
    """Export of files of a git revision into a folder, from the working copy around a path."""

    def __init__(self, named: str, revision: str, scratch: Path) -> None:
        self.named, self.scratch = named, scratch
        self.top = Path(self._git("rev-parse", "--show-toplevel").decode().rstrip("\n"))
        asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        self.commit = self._git(*asked).decode().strip()
        self.files = dict(self._tree_entries())
        self.home: Path | None = None

    def at(self, text: str) -> Path:
        """Export the file or folder `text` of the revision, and the working copy around it; return its path in the
        export."""
        own = self._git("rev-parse", "--show-prefix").decode().rstrip("\n") if text.startswith((".", "./")) else ""
        path = PurePosixPath(own, text)
        if ".." in path.parts or path.is_absolute():
            raise side_problem(self.named, "a path outside", "a path below the repository's top, or below ./")
        inside = [name for name in self.files if path == PurePosixPath(name) or path in PurePosixPath(name).parents]
        if not inside:
            raise side_problem(
                self.named, "no such file at that revision", "REV:path of a policy or a folder of policies"
            )
        root = next((each for each in path.parents if self._is_working_copy(each)), None)
        self._write([name for name in inside if name.endswith(YAML)])
        if root is not None:
            self.home = self.top / root
            self._write(self._related_files(root))
        return self.scratch / path

    def _is_working_copy(self, folder: PurePosixPath) -> bool:
        return all(any(folder / room in PurePosixPath(name).parents for name in self.files) for room in ROOMS)

    def _related_files(self, root: PurePosixPath) -> Iterator[str]:
        """Yield the names of policies, budgets and contracts in the revision, then of the lists that contracts name; no
        tables."""
        for room in ROOMS:
            for name in self.files:
                if root / room in PurePosixPath(name).parents and name.endswith(".yaml"):
                    yield name
                    if room == "data_contracts":
                        self._write([name])
                        yield from self._lists(PurePosixPath(name).parent, _schema(self.scratch / name))

    def _lists(self, folder: PurePosixPath, stated: Any) -> Iterator[str]:
        if isinstance(stated, str):
            name = str(folder / stated)
            if name.endswith(".csv") and name in self.files:
                yield name
        elif isinstance(stated, dict | list):
            for each in stated.values() if isinstance(stated, dict) else stated:
                yield from self._lists(folder, each)

    def _write(self, names: Iterator[str] | list[str]) -> None:
        for name in names:
            place = self.scratch / name
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(self._file_bytes(name))

    def _file_bytes(self, name: str) -> bytes:
        mode, size = self.files[name]
        if mode not in PLAIN or size > LARGEST_LISTING:
            raise side_problem(
                self.named, f"{name} is no plain file, or too large", f"a file of at most {LARGEST_LISTING} bytes"
            )
        return self._git("show", "--no-textconv", f"{self.commit}:{name}")

    def _tree_entries(self) -> Iterator[tuple[str, tuple[str, int]]]:
        listing = self._git("ls-tree", "-r", "-l", "-z", "--full-tree", self.commit)
        for line in filter(None, listing.decode(errors="surrogateescape").split("\0")):
            told, _, name = line.partition("\t")
            mode, _, _, size = told.split()
            yield name, (mode, int(size) if size.isdigit() else 0)

    def _git(self, *arguments: str) -> bytes:
        try:
            ended = subprocess.run(["git", "--no-pager", *arguments], capture_output=True, check=True)
        except FileNotFoundError:
            raise side_problem(self.named, "git is not installed", "git, to read a revision") from None
        except subprocess.CalledProcessError:
            found = "no such file, and no revision that git knows here"
            raise side_problem(
                self.named, found, "a policy file, a folder of them, or REV:path in a git repository"
            ) from None
        return ended.stdout
