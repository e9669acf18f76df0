"""Facts on variables that statements of a syntax file state, in the same form for all languages."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from crowdgate.review.syntax.tokens import MARK, NUMBER, TEXT, WORD, Statement, Token

OF_CONDITIONS = (
    "inlist",
    "inrange",
    "missing",
    "mi",
    "if",
    "in",
    "and",
    "or",
    "not",
    "eq",
    "ne",
    "ge",
    "le",
    "gt",
    "lt",
)
"""The words of conditions that are no variables."""
MOST_IN_RANGE = 1000
"""The most codes of a range that are listed one by one."""


class Subject(StrEnum):
    """The subject of a fact."""

    LABEL = "label"
    CODES = "codes of a list"
    USED_LIST = "list of a variable"
    MISSING = "missing codes"
    MISSING_BEYOND = "missing codes beyond a number"
    RANGE = "range"
    VALUES = "values"
    WHOLE = "whole numbers"
    NUMBER = "numbers"
    TEXT = "texts"
    DAY = "days"
    SCALE = "measured numbers"
    NOTE = "note"
    UNREAD = "statement not understood"
    UNREAD_LIST = "list not understood"
    KEY = "key"


@dataclass(frozen=True)
class SyntaxFact:
    """A fact on the variables `names` (of lists, their names). `pairs` are codes with their labels, or the limits of a
    range; `text` is a label, a note, the name of a list, a comparison, or what is not understood; `line` is the
    statement's.
    """

    subject: Subject
    names: tuple[str, ...]
    line: int
    pairs: tuple[tuple[str, str], ...] = ()
    text: str = ""


def labelled_codes(tokens: Sequence[Token]) -> tuple[tuple[str, str], ...] | None:
    """Return codes that are each followed by a label in quotation marks; None if anything else stands there."""
    if len(tokens) % 2 or not tokens:
        return None
    pairs = list(zip(tokens[::2], tokens[1::2], strict=True))
    if all(label.kind == TEXT and is_code(code) for code, label in pairs):
        return tuple((code_text(code), " ".join(label.text.split())) for code, label in pairs)
    return None


def code_text(token: Token) -> str:
    """Return a code as cells have it: a number without zeros before it."""
    return re.sub(r"^(-?)0+(?=\d)", r"\1", token.text) if token.kind == NUMBER else token.text


def is_code(token: Token) -> bool:
    """Return whether a token is a code of a list: a number, a text, or an extended missing value (`.a`)."""
    return token.kind in (NUMBER, TEXT) or bool(re.fullmatch(r"\.[A-Za-z]?", token.text))


def whole_codes(low: str, high: str) -> tuple[str, ...] | None:
    """Return the whole numbers of a range; None if it has other ends, or too many."""
    if not all(re.fullmatch(r"-?\d{1,9}", each) for each in (low, high)):
        return None
    first, last = int(low), int(high)
    return tuple(map(str, range(first, last + 1))) if 0 <= last - first < MOST_IN_RANGE else None


def unread(statement: Statement, names: Sequence[str]) -> SyntaxFact:
    """Return the fact that a statement says something of variables that is not understood."""
    return SyntaxFact(Subject.UNREAD, tuple(names), statement.line, text=f"line {statement.line}: {statement.text}")


def unread_condition(statement: Statement, names: Sequence[str], condition: Sequence[Token]) -> SyntaxFact:
    """Return the fact that a condition on variables is not understood. One on others, too, is not quoted: it can state
    the record of a person, as in `replace age = 41 if person == 1017`.
    """
    others = {each.casefold() for each in words_of(condition)} - {names[0].casefold(), *OF_CONDITIONS}
    if not any(not each.startswith(".") for each in others):
        return unread(statement, names)
    text = f"line {statement.line}: a condition on several variables"
    return SyntaxFact(Subject.UNREAD, tuple(names), statement.line, text=text)


def words_of(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the words of tokens, which can be names of variables."""
    return tuple(each.text for each in tokens if each.kind == WORD)


def groups(tokens: Sequence[Token], mark: str) -> Iterator[list[Token]]:
    """Yield the tokens between signs `mark` that stand outside of brackets."""
    held, depth = list[Token](), 0
    for each in tokens:
        depth += (each.kind == MARK) * (each.text.count("(") - each.text.count(")"))
        if depth == 0 and each.kind == MARK and each.text == mark:
            yield held
            held = []
        else:
            held.append(each)
    yield held


def without_brackets(tokens: Sequence[Token]) -> list[Token]:
    """Return tokens without brackets around all of them."""
    kept = list(tokens)
    while len(kept) > 1 and _closing(kept) == len(kept) - 1:
        kept = kept[1:-1]
    return kept


def _closing(tokens: Sequence[Token]) -> int:
    """Return the place of the bracket that closes the one at the start; 0 without one."""
    depth = 0
    for at, each in enumerate(tokens):
        depth += each.is_("(") - each.is_(")")
        if depth == 0:
            return at
    return 0
