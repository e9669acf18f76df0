"""YAML files as text with line numbers; ambiguous documents are refused.

Scalars stay text (`1e-9`, `0.05` and `"0.05"` are numbers; `NO` is a string). Duplicate keys, anchors, aliases, tags,
several documents, and files over 1 MiB or 50,000 nodes are refused, all problems at once.
"""

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from crowdgate.documents.similar_files import similar_file
from crowdgate.documents.word_correction import CorrectableText
from crowdgate.errors import MOST_PROBLEMS, Code, ConfigurationError, Problem
from crowdgate.limits import DEEPEST_DOCUMENT, LARGEST_DOCUMENT, MOST_NODES
from crowdgate.system.regular_files import read_plain

YAML = (".yaml", ".yml")
"""The suffixes of documents."""
_LONGEST_SHOWN = 80
"""The greatest length of a key that an error shows, in characters."""
OTHER_BREAKS = re.compile("[\x85\u2028\u2029]")
"""Line breaks of YAML 1.1 that YAML 1.2 lacks (section 5.4)."""

Location = tuple[str | int, ...]


@dataclass(frozen=True)
class Document:
    """One YAML document.

    `data` has every scalar as text, `typed` YAML 1.2 core types; `lines` and `columns` are by location, from 1; `text`
    is the file's.
    """

    path: Path
    data: Any
    typed: Any
    lines: dict[Location, int]
    columns: dict[Location, int]
    text: CorrectableText

    def line(self, location: Location) -> int | None:
        """Return the line (from 1) of the item at `location`, or of the nearest item around it."""
        return self.lines.get(self._nearest(location))

    def column(self, location: Location) -> int | None:
        """Return the column (from 1) of the item at `location` (of its key, if it has one), or of the nearest item
        around it.
        """
        return self.columns.get(self._nearest(location))

    def _nearest(self, location: Location) -> Location:
        while location and location not in self.lines:
            location = location[:-1]
        return location

    def problem(
        self,
        location: Location,
        found: str,
        expected: str,
        instead: str | None = None,
        code: Code = Code.VALUE,
        *,
        where: str | None = None,
        corrected: str | None = None,
        known: Container[str] = (),
    ) -> Problem:
        """Return a problem at `location` of this file, named `where` in messages.

        `corrected` is its line without the problem; by default it is computed for words that are certainly misspelled,
        and none of the `known` ones.
        """
        if corrected is None and instead is not None and code is not Code.CONTRADICTION:  # which file errs is not known
            fixed = code in (Code.VALUE, Code.UNKNOWN_KEY)
            is_key = code is Code.UNKNOWN_KEY
            corrected = self.text.respelled_line(location, instead, key=is_key, known=known, fixed=fixed)
        where = where or _where(location) or "document"
        line, column = self.line(location), self.column(location)
        return Problem(str(self.path), line, where, found, expected, instead, code, column, corrected)


def read_document(path: Path) -> Document:
    """Return the one document in `path`. Raises ConfigurationError that lists every problem.

    The file is read each time. The same text is parsed once, as several checks of one command read the same files.
    """
    found = _parsed(path, _text(path))
    return replace(found, data=_copied(found.data), typed=_copied(found.typed))


@lru_cache(maxsize=64)
def _parsed(path: Path, text: str) -> Document:
    reading = _YamlReader(path)
    data, typed = reading.document(text)
    if reading.problems:
        raise ConfigurationError(reading.problems)
    return Document(path, data, typed, reading.lines, reading.columns, CorrectableText(text))


def _copied(value: Any) -> Any:
    """Return a copy of nested dictionaries and lists, whose changes no other reader sees."""
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in value.items()}
    return [_copied(each) for each in value] if isinstance(value, list) else value


def _text(path: Path) -> str:
    def fault(found: str, expected: str, instead: str | None = None) -> ConfigurationError:
        return ConfigurationError(Problem(str(path), None, "file", found, expected, instead, Code.UNREADABLE))

    try:
        return _unambiguous_text(path, read_plain(path, LARGEST_DOCUMENT).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise fault("the file is not UTF-8 text", "UTF-8 text") from None
    except OSError as error:
        expected = f"a readable file of at most {LARGEST_DOCUMENT >> 20} MiB"
        meant = similar_file(path) if isinstance(error, FileNotFoundError) else None
        raise fault(error.strerror or "unreadable", expected, meant) from None


def _unambiguous_text(path: Path, text: str) -> str:
    """Return the text unchanged. Raises ConfigurationError for line breaks that only some readers recognize, such as in
    a comment.
    """
    found = OTHER_BREAKS.search(text)
    if found is None:
        return text
    line, column = text.count("\n", 0, found.start()) + 1, found.start() - text.rfind("\n", 0, found.start())
    what = f"U+{ord(found.group()):04X}, a line break for some readers and part of the line for others"
    said = Problem(
        str(path),
        line,
        "document",
        what,
        "an ordinary line feed, or no such character",
        code=Code.NO_YAML,
        column=column,
    )
    raise ConfigurationError(said)


class _TooManyProblems(Exception):
    """An exception that stops reading: a bound is exceeded, or there are more problems than are shown."""


class _YamlReader:
    """Reader of a YAML document in one pass over the events of PyYAML's libyaml: its values, their lines, and
    problems.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self.lines: dict[Location, int] = {}
        self.columns: dict[Location, int] = {}
        self.nodes = 0

    def document(self, text: str) -> tuple[Any, Any]:
        """Return the document twice: with every scalar as text, and with YAML 1.2 core types (for JSON Schema)."""
        try:
            events = (event for event in yaml.parse(text, Loader=yaml.CSafeLoader) if _is_content(event))
            if next(events, None) is None:
                self.problem(None, "document", "an empty file", "one document")
                return None, None
            found = self.node(next(events), events, ())
            for second in events:
                self.refuse(second, "document", "a second YAML document begins here", "one document in each file")
                break
            return found
        except _TooManyProblems:
            pass
        except yaml.MarkedYAMLError as error:
            self.faults(text, error)
        except (yaml.YAMLError, ValueError, OverflowError):
            self.problem(None, "document", "the file holds a character that YAML does not allow", "valid YAML")
        return None, None

    def faults(self, text: str, first: yaml.MarkedYAMLError) -> None:
        """Add the faults of a text that is no YAML, each at its cause, and the first one whose cause is unknown."""
        from crowdgate.documents.yaml_faults import yaml_faults

        found, rest = yaml_faults(text)
        for fault in found:
            line = fault.mended if fault.certain else None
            self.problems.append(
                Problem(
                    str(self.path), fault.line + 1, "document", fault.found, fault.expected, code=Code.NO_YAML,
                    column=fault.column + 1, corrected=line if line is None or line.isprintable() else None,
                )
            )  # fmt: skip
        error = rest or (None if found else first)
        if error is not None:
            self.problem(error.problem_mark, "document", error.problem or "not YAML", "valid YAML")

    def node(self, event: Any, events: Iterator[Any], at: Location) -> tuple[Any, Any]:
        """Return the value of the node that starts with `event`, twice: with scalars as text, and with YAML 1.2 core
        types.
        """
        self.count(event, at)
        self.place(at, event)
        if isinstance(event, yaml.MappingStartEvent):
            return self.mapping(events, at)
        if isinstance(event, yaml.SequenceStartEvent):
            return self.sequence(events, at)
        if isinstance(event, yaml.ScalarEvent):
            return event.value, (event.value if event.style else core_type(event.value))
        return None, None  # an alias, which is a problem already

    def sequence(self, events: Iterator[Any], at: Location) -> tuple[list[Any], list[Any]]:
        """Return the items of a list up to its end, twice: with scalars as text, and with YAML 1.2 core types."""
        data: list[Any] = []
        typed: list[Any] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            text, value = self.node(event, events, (*at, len(data)))
            data.append(text)
            typed.append(value)
        return data, typed

    def mapping(self, events: Iterator[Any], at: Location) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the items of a mapping up to its end, twice: with scalars as text, and with YAML 1.2 core types."""
        data: dict[str, Any] = {}
        typed: dict[str, Any] = {}
        for key in events:
            if isinstance(key, yaml.MappingEndEvent):
                break
            name = self.key(key, events, at, data)
            self.place((*at, name), key)
            data[name], typed[name] = self.node(next(events), events, (*at, name))
        return data, typed

    def place(self, at: Location, event: Any) -> None:
        """Record the line and column of an item: those of its key, which comes first, if it has one."""
        self.lines.setdefault(at, event.start_mark.line + 1)
        self.columns.setdefault(at, event.start_mark.column + 1)

    def key(self, event: Any, events: Iterator[Any], at: Location, known: Container[str]) -> str:
        """Return the text of a mapping's key; "?" for an invalid key."""
        if isinstance(event, yaml.ScalarEvent):
            self.count(event, at)
            if event.value in known:
                self.refuse(event, _where((*at, event.value)), "the key is there twice", "each key once", Code.TWICE)
            return str(event.value)
        self.refuse(event, _where((*at, "?")), "a key that is a list, a mapping or empty", "a key that is plain text")
        self.node(event, events, (*at, "?"))
        return "?"

    def count(self, event: Any, at: Location) -> None:
        """Count a node, and refuse one beyond the bounds on number and depth, as well as anchors, aliases and tags."""
        self.nodes += 1
        depth = len(at) + isinstance(event, yaml.CollectionStartEvent)
        if depth > DEEPEST_DOCUMENT:
            self.refuse(
                event, "document", "lists and mappings are nested too deeply", f"at most {DEEPEST_DOCUMENT} levels"
            )
            raise _TooManyProblems
        if self.nodes > MOST_NODES:
            expected = f"at most {MOST_NODES:,}, with long lists in CSV files"
            self.refuse(event, "document", "too many keys and values", expected)
            raise _TooManyProblems
        if event.anchor:
            self.refuse(event, "document", "a YAML anchor or alias (& or *)", "each value written out, without & and *")
        if getattr(event, "tag", None):
            self.refuse(event, "document", f"the tag {event.tag}", "plain values without YAML tags")

    def refuse(self, event: Any, where: str, found: str, expected: str, code: Code = Code.NO_YAML) -> None:
        """Add a problem at the line and column of a YAML event."""
        self.problem(event.start_mark, where, found, expected, code)

    def problem(self, mark: Any, where: str, found: str, expected: str, code: Code = Code.NO_YAML) -> None:
        """Add a problem at a position of the text. Raises _TooManyProblems if there are more than are shown."""
        line, column = (None, None) if mark is None else (mark.line + 1, mark.column + 1)
        self.problems.append(Problem(str(self.path), line, where, found, expected, code=code, column=column))
        if len(self.problems) > MOST_PROBLEMS:
            raise _TooManyProblems


def _is_content(event: Any) -> bool:
    return isinstance(event, yaml.DocumentStartEvent | yaml.NodeEvent | yaml.CollectionEndEvent)


def _where(location: Location) -> str:
    """Return the name of a location for messages, on one line: control characters of a key are escaped, and a long key
    is cut off.
    """
    return ".".join(repr(_short(str(part)))[1:-1] for part in location)


def _short(key: str) -> str:
    return key if len(key) <= _LONGEST_SHOWN else f"{key[:_LONGEST_SHOWN]}..."


_INTEGER = re.compile(r"[-+]?[0-9]{1,300}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]{1,300}|[0-9]{1,300}(\.[0-9]{0,300})?)([eE][-+]?[0-9]{1,4})?")


def core_type(text: str) -> Any:
    """Return the value of a plain scalar in YAML 1.2 core types: null, a flag, a number or text."""
    if text in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return text.lower() == "true"
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
