"""Deployments of earlier versions in a file of schedules, brought to the form that `crowdgate init` writes.

Earlier forms named the flow `flows.release.release`, whose paths were relative to the folder of the worker, and let
Prefect send statistics. They were bound to no files of a policy. Only such places of the text change: comments,
schedules and other deployments stay.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from crowdgate.documents.yaml_text import Document, Location, read_document
from crowdgate.errors import ConfigurationError
from crowdgate.releases.schedule import AUDIT_FLOW

RENAMED = {"flows.release.release": "crowdgate_flows.release.release"}
"""Entry points of earlier versions, with those of the same flows now."""
FLOWS = (*RENAMED, *RENAMED.values(), AUDIT_FLOW)
_WORKING_COPY = 'working_copy: ".."'
_LINE_END = re.compile(r"(?<=\n)|(?<=\r)(?!\n)")
_SILENT = 'DO_NOT_TRACK: "1"'


class TextChange(NamedTuple):
    """A change of a text: at a line and column (from 1) `old` is replaced by `new`."""

    line: int
    column: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.old} becomes {self.new}" if self.old else f"line {self.line}: adds {self.new}"


Bind = Callable[[str], str | None]
"""A function that returns the digest of the files of a policy, by its path; None if they can't be read."""


def schedule_changes(path: Path, bind: Bind = lambda _: None) -> list[TextChange]:
    """Return the changes that the deployments of a file need.

    Raises ConfigurationError for a file that can't be read, or whose form leaves no place for a change.
    """
    return list(_changes(read_document(path), bind))


def changed_text(text: str, changes: Sequence[TextChange]) -> str:
    """Return a text with changes of it."""
    lines = _LINE_END.split(text)
    for each in sorted(changes, reverse=True):
        line = lines[each.line - 1]
        before, after = line[: each.column - 1], line[each.column - 1 + len(each.old) :]
        alone = "\n" + " " * len(before)  # in block style a key has its own line
        between = "" if each.old else (alone if not before.strip() else ", ")
        lines[each.line - 1] = f"{before}{each.new}{between}{after}"
    return "".join(lines)


def _changes(document: Document, bind: Bind) -> Iterator[TextChange]:
    stated = document.data.get("deployments") if isinstance(document.data, dict) else None
    for number, each in enumerate(stated if isinstance(stated, list) else ()):
        if isinstance(each, dict) and each.get("entrypoint") in FLOWS:
            yield from _of_deployment(document, ("deployments", number), each)
            yield from _binding(document, ("deployments", number), each, bind)


def _of_deployment(document: Document, at: Location, deployment: Mapping[str, Any]) -> Iterator[TextChange]:
    named = deployment["entrypoint"]
    if named in RENAMED:
        yield _renamed(document, (*at, "entrypoint"), named)
        if "working_copy" not in _mapping(deployment.get("parameters")):
            yield _added(document, deployment, at, ("parameters",), _WORKING_COPY)
    pool = _mapping(deployment.get("work_pool"))
    variables = _mapping(pool.get("job_variables"))
    if "job_variables" not in pool:
        yield _added(document, deployment, at, ("work_pool",), f"job_variables: {{env: {{{_SILENT}}}}}")
    elif "env" not in variables:
        yield _added(document, deployment, at, ("work_pool", "job_variables"), f"env: {{{_SILENT}}}")
    elif "DO_NOT_TRACK" not in _mapping(variables["env"]):
        yield _added(document, deployment, at, ("work_pool", "job_variables", "env"), _SILENT)


def _binding(document: Document, at: Location, deployment: Mapping[str, Any], bind: Bind) -> Iterator[TextChange]:
    """Yield the change that binds a deployment which makes releases to its policy's files as they are now."""
    stated = _mapping(deployment.get("parameters"))
    if deployment["entrypoint"] == AUDIT_FLOW or "policy_digest" in stated:
        return
    digest = bind(str(stated.get("policy")))
    if digest is not None:
        yield _added(document, deployment, at, ("parameters",), f'policy_digest: "{digest}"')


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _renamed(document: Document, at: Location, old: str) -> TextChange:
    """Return the change of a value that stands after its key, `entrypoint`, and a colon."""
    line, column = document.lines[at], document.columns[at]
    text = _LINE_END.split(document.path.read_text(encoding="utf-8-sig"))[line - 1]
    found = text.find(old, column) + 1
    if not found:
        raise ConfigurationError(document.problem(at, "a name on another line", f"the name on this line: {old}"))
    return TextChange(line, found, old, RENAMED[old])


def _added(
    document: Document, deployment: Mapping[str, Any], at: Location, below: tuple[str, ...], new: str
) -> TextChange:
    """Return the change that adds `new` as the first key of a mapping of a deployment."""
    found: Any = deployment
    for key in below:
        found = _mapping(found).get(key)
    if not _mapping(found):
        expected = f"a mapping with at least one key, or {new} in it, written by hand"
        raise ConfigurationError(document.problem((*at, *below), "no mapping with a key", expected))
    first = (*at, *below, next(iter(found)))
    return TextChange(document.lines[first], document.columns[first], "", new)
