"""YAML files as text with line numbers; anything a reader could take two ways is refused.

Scalars stay text (`1e-9`, `0.05` and `"0.05"` mean the same number; `NO` is a string). Duplicate keys, anchors,
aliases, tags, several documents, and files over 1 MiB or 50,000 nodes are refused, all problems at once.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from crowdgate.errors import MOST_PROBLEMS, ConfigurationError, Problem
from crowdgate.limits import DEEPEST_DOCUMENT, LARGEST_DOCUMENT, MOST_NODES

_LONGEST_SHOWN = 80
"""Characters of a key that an error shows."""

Location = tuple[str | int, ...]


@dataclass(frozen=True)
class Document:
    """One YAML document: `data` with every scalar as text, `typed` with YAML 1.2 core types, `lines` by location."""

    path: Path
    data: Any
    typed: Any
    lines: dict[Location, int]

    def line(self, location: Location) -> int | None:
        """Line (from 1) of the item at `location`, or of the nearest item around it."""
        while location and location not in self.lines:
            location = location[:-1]
        return self.lines.get(location)

    def problem(self, location: Location, found: str, expected: str, instead: str | None = None) -> Problem:
        """A problem at `location` of this file."""
        where = _where(location) or "document"
        return Problem(str(self.path), self.line(location), where, found, expected, instead)


def read_document(path: Path) -> Document:
    """The one document in `path`. Raises ConfigurationError that lists every problem."""
    text = _text(path)
    problems = _syntax_problems(path, text)
    if problems:
        raise ConfigurationError(problems)
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    lines: dict[Location, int] = {}
    data, typed = _convert(path, node, (), lines, problems)
    if problems:
        raise ConfigurationError(problems)
    return Document(path, data, typed, lines)


def _text(path: Path) -> str:
    def fault(found: str, expected: str) -> ConfigurationError:
        return ConfigurationError(Problem(str(path), None, "file", found, expected))

    try:
        raw = path.read_bytes()
        if len(raw) > LARGEST_DOCUMENT:
            raise fault("larger than 1 MiB", "a document of at most 1 MiB")
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise fault("bytes that are not UTF-8", "UTF-8 text") from None
    except OSError as error:
        raise fault(error.strerror or "unreadable", "a readable file") from None


def _syntax_problems(path: Path, text: str) -> list[Problem]:
    problems: list[Problem] = []

    def add(mark: Any, found: str, expected: str) -> None:
        problems.append(Problem(str(path), mark.line + 1, "document", found, expected))

    documents = depth = nodes = 0
    try:
        event: Any
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            documents += isinstance(event, yaml.DocumentStartEvent)
            nodes += isinstance(event, yaml.NodeEvent)
            if depth > DEEPEST_DOCUMENT:
                add(event.start_mark, "nested too deeply", f"at most {DEEPEST_DOCUMENT} levels")
                return problems
            if nodes > MOST_NODES:
                add(
                    event.start_mark,
                    "too many keys and values",
                    f"at most {MOST_NODES:,}; lists may be files beside it",
                )
                return problems
            if len(problems) > MOST_PROBLEMS:
                return problems
            if isinstance(event, yaml.DocumentStartEvent) and documents == 2:
                add(event.start_mark, "a second document", "one document a file")
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                add(event.start_mark, "an anchor or alias (& or *)", "every value written out")
            if getattr(event, "tag", None):
                add(event.start_mark, f"the tag {event.tag}", "plain values without tags")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = None if mark is None else mark.line + 1
        problems.append(Problem(str(path), line, "document", error.problem or "not YAML", "valid YAML"))
    except (yaml.YAMLError, ValueError, OverflowError):
        problems.append(Problem(str(path), None, "document", "a character that YAML does not allow", "valid YAML"))
    if not documents and not problems:
        problems.append(Problem(str(path), None, "document", "an empty file", "one document"))
    return problems


def _convert(
    path: Path, node: Any, at: Location, lines: dict[Location, int], problems: list[Problem]
) -> tuple[Any, Any]:
    """The node twice: with every scalar as text, and with YAML 1.2 core types (for JSON Schema)."""
    lines.setdefault(at, node.start_mark.line + 1)
    if isinstance(node, yaml.ScalarNode):
        if not _is_text(node.value):
            problems.append(Problem(str(path), lines[at], "text", "half of a surrogate pair", "valid Unicode"))
        return node.value, (node.value if node.style else _core_type(node.value))
    if isinstance(node, yaml.SequenceNode):
        items = [_convert(path, item, (*at, i), lines, problems) for i, item in enumerate(node.value)]
        return [text for text, _ in items], [typed for _, typed in items]
    data: dict[str, Any] = {}
    typed: dict[str, Any] = {}
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) and _is_text(key.value) else "?"
        where = _where((*at, name))
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode) or not _is_text(key.value):
            problems.append(Problem(str(path), line, where, "a key that is not plain text", "a plain key"))
        elif name in data:
            problems.append(Problem(str(path), line, where, "the key is there twice", "each key once"))
        lines[(*at, name)] = line
        data[name], typed[name] = _convert(path, value, (*at, name), lines, problems)
    return data, typed


def _where(location: Location) -> str:
    """A location on one line: control characters of a key are escaped, and a long key is cut off."""
    return ".".join(repr(_short(str(part)))[1:-1] for part in location)


def _short(key: str) -> str:
    return key if len(key) <= _LONGEST_SHOWN else f"{key[:_LONGEST_SHOWN]}..."


def _is_text(value: str) -> bool:
    """Whether a text can be written as UTF-8: YAML's escapes can state half of a surrogate pair, which cannot."""
    return not any("\ud800" <= character <= "\udfff" for character in value)


_INTEGER = re.compile(r"[-+]?[0-9]{1,300}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]{1,300}|[0-9]{1,300}(\.[0-9]{0,300})?)([eE][-+]?[0-9]{1,4})?")


def _core_type(text: str) -> Any:
    if text in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return text.lower() == "true"
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
