"""Correction of a line of a YAML file in which one word is certainly a misspelling.

Corrections are copied into policies: a number is never changed into another one, nor a name into one with other digits
(`15 years` is no misspelling of `5 years`).
"""

import json
import re
from collections.abc import Container, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from itertools import takewhile
from typing import Any

import yaml

from crowdgate.documents.synonyms import is_synonym

LONGEST_LINE = 500
"""The greatest length of a line that is shown corrected, in characters."""
ALIKE = 0.8
"""The least similarity (difflib's ratio) of a misspelled word and the correct one."""
SHORTEST = 3
SLIPS = 2
"""The greatest difference of letters: a word with more is another name."""
OPPOSITE = {"at_most": "at_least", "at_least": "at_most"}
"""Words that are similar and have opposite meanings: a correction must be unambiguous."""
CLEAR = 0.07
"""The least difference in similarity between a word and its opposite."""
_BETWEEN_VALUES = ";,|"
"""The marks that stand between the values of a list in one text."""
_UNCLEAR = re.compile(r"[0-9] *(?:-|\u2013|\.\.) *[0-9]|[0-9],[0-9]|[\"\\\[\]{}]")
"""Signs that a text is no list of texts between commas: a range, a decimal comma, and what YAML reads otherwise in
brackets."""
_PLAIN = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_./-]| (?=[A-Za-z0-9_]))*")
"""Texts that need no quotes, not even in braces."""

At = Sequence[str | int]


def is_misspelling(word: str, meant: str) -> bool:
    """Return whether `word` is certainly a misspelling of the word `meant`."""
    same_digits = re.findall(r"[0-9]", word) == re.findall(r"[0-9]", meant)
    one, other = word.casefold(), meant.casefold()
    if word == meant or not same_digits or abs(len(one) - len(other)) > SLIPS:
        return False
    if one == other or len(meant) < SHORTEST:
        return one == other
    return sorted(one) == sorted(other) or _likeness(one, other) >= max(
        ALIKE, _likeness(one, OPPOSITE.get(other)) + CLEAR
    )


def meant_key(mapping: object, key: str) -> str:
    """Return `key`, or the only key of a mapping without it that certainly means it."""
    if not isinstance(mapping, dict) or key in mapping:
        return key
    others = [str(each) for each in mapping if is_synonym(str(each), key) or is_misspelling(str(each), key)]
    return others[0] if len(others) == 1 else key


def yaml_word(text: str) -> str:
    """Return a text as YAML states it anywhere: unchanged if it needs no quotes, otherwise in double quotes."""
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _likeness(one: str, other: str | None) -> float:
    return 0.0 if other is None else SequenceMatcher(None, one, other).ratio()


class CorrectableText:
    """The text of a YAML document and its parsed nodes, from which corrected lines are made."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __contains__(self, words: str) -> bool:
        return words in self._text

    def find(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """Yield the matches of a pattern, which can be in comments."""
        return pattern.finditer(self._text)

    @cached_property
    def _root(self) -> Any:
        return yaml.compose(self._text, Loader=yaml.CSafeLoader)

    @cached_property
    def _lines(self) -> list[str]:
        return re.split(r"\r\n|[\n\r\x85\u2028\u2029]", self._text)

    def respelled_line(
        self, at: At, meant: str, *, key: bool, known: Container[str] = (), fixed: bool = False
    ) -> str | None:
        """Return the line of an item with a misspelled value or key corrected; None if that is not certain.

        If both could be misspelled, `key` decides. Words that are `known` are no misspellings. With `fixed` the word is
        one of the file's form, not of data, so that words of other tools are corrected too.
        """
        around, name, value = self._item_nodes(at)
        if fixed and (node := name if key else value) is not None and is_synonym(str(node.value), meant):
            taken = {other.value for other, _ in around.value} if key else set()
            return None if meant in taken or not isinstance(node, yaml.ScalarNode) else self._put(node, meant)
        if _means(name, meant, known) and (key or not _means(value, meant, known)):
            taken = {other.value for other, _ in around.value}
            return None if meant in taken else self._with(name, meant)
        return self._with(value, meant) if _means(value, meant, known) else None

    def replaced(self, at: At, text: str) -> str | None:
        """Return the line of an item with `text` in place of its value; None if the value is not on one line."""
        return self._put(self._item_nodes(at)[2], text)

    def with_decimal_point(self, at: At, digits: str, point: str = ".") -> str | None:
        """Return the line of an item with `point` in place of the comma between its number and `digits`; None if the
        digits do not follow.
        """
        value = self._item_nodes(at)[2]
        raw = self._raw(value)
        line = self._lines[value.start_mark.line] if raw else ""
        rest = line[value.end_mark.column :] if raw else ""
        if not rest.startswith(f",{digits}"):
            return None
        return line[: value.end_mark.column] + f"{point}{digits}" + rest[len(digits) + 1 :]

    def as_decimal(self, at: At, around: Any) -> tuple[str, str | None] | None:
        """Return the number before a key of digits with a decimal point, and its line: braces hold `from: 0,5` as two
        keys. None if no number stands there, or if three digits may be thousands.
        """
        keys, digits = list(around) if isinstance(around, dict) else [], str(at[-1])
        place = keys.index(digits) if digits in keys and around[digits] == "" else 0
        number = str(around[keys[place - 1]]) if place else ""
        if not digits.isdecimal() or len(digits) == 3 or not re.fullmatch("-?[0-9]+", number):
            return None
        return f"{number}.{digits}", self.with_decimal_point((*at[:-1], keys[place - 1]), digits)

    def is_quoted(self, at: At) -> bool:
        """Return whether the value of an item is a text in quotes."""
        return bool(getattr(self._item_nodes(at)[2], "style", None))

    def as_list(self, at: At) -> str | None:
        """Return the line of an item with its word as a list, and the words after it that braces hold as keys without
        values; None if its value is no word.
        """
        around, _, value = self._item_nodes(at)
        raw = self._raw(value) if isinstance(value, yaml.ScalarNode) else ""
        if not raw or not isinstance(around, yaml.MappingNode):
            return None
        place = [node for _, node in around.value].index(value) + 1
        words = list(takewhile(_is_lone_key, around.value[place:])) if around.flow_style else []
        last = words[-1][0] if words else value
        if last.end_mark.line != value.start_mark.line:
            return None
        line = self._lines[value.start_mark.line]
        inside = line[value.start_mark.column : last.end_mark.column]
        if {"(", ")"} & {*inside}:  # round brackets in place of square ones, or a part of a value
            fits = words and inside[0] == "(" and inside[-1] == ")" and inside.count("(") == inside.count(")") == 1
            inside = inside[1:-1] if fits else ""
        if not inside:
            return None
        if not words:
            if _UNCLEAR.search(value.value) or len({*_BETWEEN_VALUES} & {*value.value}) > 1:
                return None  # which of its values are meant is not certain
            text = value.value.rstrip(f"{_BETWEEN_VALUES} ")
            items = [each.strip() for each in re.split(f"[{_BETWEEN_VALUES}]", text)]
            inside = inside if len(items) == 1 else ", ".join(f'"{each}"' if value.style else each for each in items)
        whole = f"{line[: value.start_mark.column]}[{inside}]{line[last.end_mark.column :]}"
        return whole.rstrip() if len(whole) <= LONGEST_LINE and whole.isprintable() else None

    def respelled_pair(self, at: At, keys: Sequence[str]) -> str | None:
        """Return the line of the only item of a mapping, `key: value`, as two items: `keys[0]: key, keys[1]: value`;
        with one of `keys`, and a value in braces, as `keys[0]: key` and the items of the value. None if that is not one
        line.
        """
        around, name, value = self._item_nodes(at)
        raw = self._raw(value)
        if not isinstance(around, yaml.MappingNode) or len(around.value) != 1 or not raw or not self._raw(name):
            return None
        inside = f"{keys[1]}: {raw}" if len(keys) == 2 else raw[1:-1] if raw[0] == "{" else ""
        line = self._lines[name.start_mark.line]
        if not inside or value.start_mark.line != name.start_mark.line:
            return None
        pair = f"{keys[0]}: {self._raw(name)}, {inside}"
        whole = pair if around.flow_style else f"{{{pair}}}"
        line = line[: name.start_mark.column] + whole + line[value.end_mark.column :]
        return line.rstrip() if len(line) <= LONGEST_LINE and line.isprintable() else None

    def with_items(self, at: At, items: str) -> str | None:
        """Return the line of an item with these items in place of its key and value; None unless braces hold it on one
        line.
        """
        around, name, value = self._item_nodes(at)
        if not getattr(around, "flow_style", False) or not self._raw(name) or not self._raw(value):
            return None
        line = self._lines[name.start_mark.line]
        if name.start_mark.line != value.start_mark.line:
            return None
        line = line[: name.start_mark.column] + items + line[value.end_mark.column :]
        return line.rstrip() if len(line) <= LONGEST_LINE and line.isprintable() else None

    def with_key(self, at: At, text: str) -> str | None:
        """Return the line of an item with `text` in place of its key; None if the key is not on one line."""
        return self._put(self._item_nodes(at)[1], text)

    def as_single_item(self, at: At) -> str | None:
        """Return the line of an item with its mapping in braces as a list of one; None for other values."""
        value = self._item_nodes(at)[2]
        is_mapping = isinstance(value, yaml.MappingNode) and self._raw(value).startswith("{")
        return self._put(value, f"[{self._raw(value)}]") if is_mapping else None

    def with_blank(self, at: At, key: str) -> str | None:
        """Return the line of an item whose key `key:value` lacks the blank after its colon; None if it has a value."""
        around, name, value = self._item_nodes(at)
        if not _is_lone_key((name, value)) or key in {other.value for other, _ in around.value}:
            return None
        return self._put(name, f"{key}: {name.value[len(key) + 1 :].strip()}")

    def as_single_word(self, at: At) -> str | None:
        """Return the line of an item with its one-word list as that word; None if its value is no such list."""
        value = self._item_nodes(at)[2]
        single = isinstance(value, yaml.SequenceNode) and len(value.value) == 1
        word = value.value[0] if single else None
        return self._put(value, self._raw(word)) if isinstance(word, yaml.ScalarNode) and self._raw(word) else None

    def _item_nodes(self, at: At) -> tuple[Any, Any, Any]:
        """Return three YAML nodes of an item: the one around it, its key and its value (None: it has none)."""
        around, name, value = None, None, self._root
        for part in at:
            around, name = value, None
            if isinstance(around, yaml.MappingNode):
                name, value = next(((k, v) for k, v in around.value if k.value == part), (None, None))
            elif isinstance(around, yaml.SequenceNode) and isinstance(part, int):
                value = around.value[part] if part < len(around.value) else None
            else:
                value = None
        return around, name, value

    def _with(self, node: Any, word: str) -> str | None:
        """Return the line with `word` in place of a scalar, in the same quotes; None if the word would need other
        quotes.
        """
        quote = node.style if node.style in ("'", '"') else ""
        return self._put(node, f"{quote}{word}{quote}") if _PLAIN.fullmatch(word) else None

    def _put(self, node: Any, text: str) -> str | None:
        """Return the line with `text` in place of a node; None if that is not on one line."""
        if not self._raw(node):
            return None
        line = self._lines[node.start_mark.line]
        whole = line[: node.start_mark.column] + text + line[node.end_mark.column :]
        return whole.rstrip() if len(whole) <= LONGEST_LINE and whole.isprintable() else None

    def _raw(self, node: Any) -> str:
        """Return the text of a node that is on one line; "" for other nodes."""
        if node is None or node.start_mark.line != node.end_mark.line:
            return ""
        line: str = self._lines[node.start_mark.line]
        return line[node.start_mark.column : node.end_mark.column]


def _is_lone_key(item: tuple[Any, Any]) -> bool:
    """Return whether braces hold this key without a value."""
    name, value = item
    plain = isinstance(name, yaml.ScalarNode) and not name.style and isinstance(value, yaml.ScalarNode)
    return plain and value.value == "" and not value.style


def _means(node: Any, meant: str, known: Container[str]) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.value not in known and is_misspelling(node.value, meant)
