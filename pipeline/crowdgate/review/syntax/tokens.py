"""The statements of a syntax file, as tokens: texts in quotation marks, words, numbers and other signs.

Each language is a table of patterns. Comments are left out, and so are lines of cells within a program (`CARDS`, `BEGIN
DATA`, `COPY`): they are data of people, which no draft reads.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

TEXT, WORD, NUMBER, MARK, END = "text", "word", "number", "mark", "end"
"""The kinds of tokens, which are the names of groups in the patterns."""


@dataclass(frozen=True)
class Token:
    """A token by its kind; a text is without its quotation marks, with doubled ones as one."""

    kind: str
    text: str
    start: int
    line: int

    def is_(self, *words: str) -> bool:
        """Return whether this is one of these words or signs, in any case; never a text."""
        return self.kind != TEXT and self.text.casefold() in words


@dataclass(frozen=True)
class Statement:
    """A statement: its tokens without the end, its first line, and its text on one line."""

    tokens: tuple[Token, ...]
    line: int
    text: str


@dataclass(frozen=True)
class Language:
    """The patterns of a language. `token` has a group for each kind of token; what matches none of them is skipped.
    `opening` is a comment, or lines of cells, at the start of a statement. `nested` and `compound` are pairs of signs
    of comments and of texts that can be nested.
    """

    token: re.Pattern[str]
    opening: re.Pattern[str]
    nested: tuple[str, str] = ("", "")
    compound: tuple[str, str] = ("", "")


class UnclosedText(Exception):
    """A quotation mark or a comment that is not closed, in line `line` of a file."""

    def __init__(self, line: int) -> None:
        super().__init__(f"line {line}: a quotation mark or a comment is not closed")
        self.line = line


def statements(
    text: str, language: Language, switches: Sequence[tuple[re.Pattern[str], Language]] = ()
) -> Iterator[Statement]:
    """Yield the statements of a text. At the start of a statement, each of `switches` is a directive after which the
    text is of another language. Raises UnclosedText.
    """
    starts = [each.start() for each in re.finditer("\n", text)]
    at, held = 0, list[Token]()
    while at < len(text):
        if not held and (switched := next(((f, to) for form, to in switches if (f := form.match(text, at))), None)):
            at, language = switched[0].end(), switched[1]
            continue
        if not held and (comment := language.opening.match(text, at)):
            at = comment.end()
            continue
        token, end = _next_token(text, at, language, starts)
        at = end
        if token is not None and token.kind != END:
            held.append(token)
        if held and ((token is not None and token.kind == END) or at >= len(text)):
            yield _statement(text, held, at)
            held = []


def _statement(text: str, tokens: Sequence[Token], end: int) -> Statement:
    words = " ".join(text[tokens[0].start : end].split())
    return Statement(tuple(tokens), tokens[0].line, words.rstrip(" ;."))


def _next_token(text: str, at: int, language: Language, starts: Sequence[int]) -> tuple[Token | None, int]:
    """Return the token at a place, None for blanks and comments, and the place behind it."""
    line = bisect_right(starts, at - 1) + 1
    for pair in filter(all, (language.nested, language.compound)):
        if text.startswith(pair[0], at):
            end = _closed(text, at, pair, line)
            inner = text[at + len(pair[0]) : end - len(pair[1])]
            return (Token(TEXT, inner, at, line) if pair == language.compound else None), end
    found = language.token.match(text, at)
    if found is None:
        if text[at] in "'\"`":
            raise UnclosedText(line)
        return None, at + 1
    kind = found.lastgroup or ""
    if kind not in (TEXT, WORD, NUMBER, MARK, END):
        return None, found.end()
    shown = _unquoted(found[0]) if kind == TEXT else found[0]
    return Token(kind, shown, at, line), found.end()


def _closed(text: str, at: int, pair: tuple[str, str], line: int) -> int:
    """Return the place behind the sign that closes the one at a place, with nested pairs between them."""
    depth, signs = 0, re.compile("|".join(map(re.escape, pair)))
    for found in signs.finditer(text, at):
        depth += 1 if found[0] == pair[0] else -1
        if depth == 0:
            return found.end()
    raise UnclosedText(line)


def _unquoted(text: str) -> str:
    """Return a text without its quotation marks, and with doubled ones inside as one."""
    mark = text[-1]
    return text[text.index(mark) + 1 : -1].replace(mark * 2, mark)
