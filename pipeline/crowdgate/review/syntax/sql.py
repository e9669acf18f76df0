"""Tables in SQL: the columns, constraints and comments of `CREATE TABLE`, `ALTER TABLE`, `COMMENT ON` and their kin.

Statements are cut into tokens, and clauses are found by their words. What a CHECK says is read by DuckDB's parser.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from crowdgate.review.syntax.facts import groups, without_brackets
from crowdgate.review.syntax.line_comments import line_comments
from crowdgate.review.syntax.tokens import TEXT, WORD, Language, Statement, Token, statements

_OPENING = re.compile(
    r"\s+|\\\w[^\n]*|#[^\n]*|(?i:go)[ \t\r]*(?:\n|\Z)"
    r"|(?i:copy)\b[^;]*\b(?i:from\s+stdin)\b[^;]*;(?:(?!\n\\\.)[\s\S])*(?:\n\\\.[^\n]*|\Z)"
)
_SKIPPED = r"(?P<skip>--[^\n]*|\$(?P<tag>\w*)\$[\s\S]*?\$(?P=tag)\$)"
_NUMBER = r"(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\.\d+)"
_WORD = r"(?P<word>[^\W\d][\w$]*|\"(?:[^\"]|\"\")+\"|`[^`]+`|(?<!\w)\[[^\W\d][\w ]*\])"
_ENDS = r"(?P<end>;|\n[ \t]*(?i:go)[ \t\r]*(?=\n|\Z))"
_MARK = r"(?P<mark>::|[<>!]=|<>|[^\s'\"])"
_REST = "|".join(["", _SKIPPED, _ENDS, _NUMBER, _WORD, _MARK])
_ESCAPED, _PLAIN = r"[eE]'(?:[^'\\]|\\[\s\S]|'')*'", r"'(?:[^']|'')*'"
_STANDARD = Language(re.compile(rf"(?P<text>{_ESCAPED}|[nN]?{_PLAIN}){_REST}"), _OPENING, ("/*", "*/"))
_MYSQL = Language(re.compile(rf"(?P<text>'(?:[^'\\]|\\[\s\S]|'')*'){_REST}"), _OPENING, ("/*", "*/"))
_IS_MYSQL = re.compile(r"`\w+`|\bENGINE\s*=|\bAUTO_INCREMENT\b", re.IGNORECASE)
_CLAUSES = (
    "constraint", "not", "null", "default", "check", "primary", "unique", "references", "comment", "collate",
    "generated", "auto_increment", "identity", "on", "as", "encode", "sparse", "key", "unsigned", "zerofill",
)  # fmt: skip
"""The words that end the type of a column."""
_OF_VALUES = ("type", "check", "constraint", "modify", "change")
"""The words of an `ALTER TABLE` that can alter which values a column has."""
_OF_TABLES = ("constraint", "primary", "unique", "foreign", "check", "key", "index", "exclude", "like", "fulltext")
"""The words that begin a clause of a table that is no column."""


@dataclass(frozen=True)
class SqlType:
    """A type of SQL that a script makes: its own type, the values of an ENUM, the expressions of its checks."""

    words: str
    values: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()


@dataclass
class SqlColumn:
    """A column: its type in words, the values of an ENUM, its comment, the one behind its line, and the table that a
    foreign key names.
    """

    name: str
    type: str
    line: int
    values: tuple[str, ...] = ()
    comment: str = ""
    line_comment: str = ""
    reference: str = ""
    is_unique: bool = False


@dataclass
class SqlTable:
    """A table: its columns by name in lower case, the expressions of its checks with their lines, its primary key, and
    the clauses that are not understood.
    """

    name: str
    columns: dict[str, SqlColumn] = field(default_factory=dict)
    checks: list[tuple[int, str]] = field(default_factory=list)
    key: tuple[str, ...] = ()
    unread: list[tuple[int, str, tuple[str, ...]]] = field(default_factory=list)


@dataclass
class SqlScript:
    """The tables and types of a script by their name in lower case, without its schema; the INSERT
    statements into tables of two columns; and the names that several of its tables have.
    """

    tables: dict[str, SqlTable] = field(default_factory=dict)
    types: dict[str, SqlType] = field(default_factory=dict)
    inserts: list[Statement] = field(default_factory=list)
    repeated: set[str] = field(default_factory=set)


def sql_script(text: str) -> SqlScript:
    """Return the tables of a script. Raises UnclosedText."""
    found = SqlScript()
    for each in statements(text, _MYSQL if _IS_MYSQL.search(text) else _STANDARD):
        words = [one.text.casefold() for one in each.tokens[:4]]
        if words[0] == "create" and "table" in words:
            _create_table(found, each)
        elif words[:2] in (["create", "type"], ["create", "domain"]):
            _create_type(found, each)
        elif words[:2] == ["alter", "table"]:
            _alter_table(found, each)
        elif words[:3] == ["comment", "on", "column"]:
            _comment(found, each)
        elif words[:2] == ["insert", "into"]:
            table = found.tables.get(_qualified(each.tokens, 2)[0])
            found.inserts += [each] if table is not None and len(table.columns) == 2 else []
    lines = text.split("\n")
    for table in found.tables.values():
        comments = line_comments(lines, [each.line for each in table.columns.values()])
        for column in table.columns.values():
            column.line_comment = comments.get(column.line, "")
    return found


def lookup_rows(script: SqlScript, text: str, table: str) -> tuple[tuple[str, str], ...]:
    """Return the codes and labels that a script states for a lookup table of two columns, of which the first is its
    key; none for any other table: its rows can be those of people.
    """
    found = script.tables.get(table)
    if found is None or len(found.columns) != 2 or found.key != tuple(found.columns)[:1]:
        return ()
    rows = [row for each in script.inserts if _qualified(each.tokens, 2)[0] == table for row in _inserted(each)]
    copied = [row for row in _copied(text, table) if len(row) == 2]
    pairs = [(row[0], " ".join(row[1].split())) for row in [*rows, *copied] if len(row) == 2]
    return tuple(dict(pairs).items())


def _inserted(statement: Statement) -> Iterator[list[str]]:
    """Yield the rows of an INSERT with constants only."""
    at = next((at for at, each in enumerate(statement.tokens) if each.is_("values")), len(statement.tokens))
    for each in groups(statement.tokens[at + 1 :], ","):
        cells = [_signed(one) for one in groups(without_brackets(each), ",")]
        yield [cell for cell in cells if cell is not None]


def _signed(tokens: Sequence[Token]) -> str | None:
    """Return a constant as text."""
    if len(tokens) == 2 and tokens[0].is_("-"):
        return f"-{tokens[1].text}"
    return tokens[0].text if len(tokens) == 1 and tokens[0].kind != WORD else None


def _copied(text: str, table: str) -> Iterator[list[str]]:
    """Yield the rows of COPY into one table."""
    form = rf"(?im)^copy\s+(?:\w+\.)?\"?{re.escape(table)}\"?\s*(?:\([^)]*\))?\s+from\s+stdin[^;]*;[^\n]*\n"
    for found in re.finditer(form, text):
        rows = text[found.end() :].partition("\n\\.")[0]
        yield from (each.rstrip("\r").split("\t") for each in rows.split("\n"))


def _name(token: Token) -> str:
    """Return a name without quotation marks."""
    text = token.text
    return text[1:-1].replace('""', '"') if text[:1] in '"`[' else text


def _qualified(tokens: Sequence[Token], at: int) -> tuple[str, int]:
    """Return the last part of a name with points, in lower case, and the place behind it."""
    while at + 2 < len(tokens) and tokens[at + 1].is_("."):
        at += 2
    return (_name(tokens[at]).casefold() if at < len(tokens) else ""), at + 1


def _skipped(tokens: Sequence[Token], at: int, *words: str) -> int:
    """Return the place behind words that can stand there."""
    while at < len(tokens) and tokens[at].is_(*words):
        at += 1
    return at


def _brackets(tokens: Sequence[Token], at: int) -> tuple[list[Token], int]:
    """Return the tokens in the brackets at a place, and the place behind them; none if no bracket stands there."""
    depth = 0
    for end in range(at, len(tokens)):
        depth += tokens[end].is_("(") - tokens[end].is_(")")
        if depth == 0:
            return list(tokens[at + 1 : end]), end + 1 if tokens[at].is_("(") else at
    return [], at


def expression(tokens: Sequence[Token]) -> str:
    """Return tokens as an expression of SQL."""
    doubled = "''"
    shown = (
        f"'{each.text.replace(chr(39), doubled)}'" if each.kind == TEXT
        else f'"{_name(each)}"' if each.text[:1] in "`[" and len(each.text) > 1 else each.text
        for each in tokens
    )  # fmt: skip
    return " ".join(shown)


def _create_table(script: SqlScript, statement: Statement) -> None:
    tokens = statement.tokens
    start = next(at for at, each in enumerate(tokens) if each.is_("table"))
    name, at = _qualified(tokens, _skipped(tokens, start + 1, "if", "not", "exists"))
    if at >= len(tokens) or not tokens[at].is_("("):
        return
    table = SqlTable(name)
    script.repeated |= {name} & script.tables.keys()
    script.tables[name] = table
    for each in groups(_brackets(tokens, at)[0], ","):
        if each and each[0].is_(*_OF_TABLES):
            _clause(table, each)
        elif each:
            _column(table, each)


def _column(table: SqlTable, tokens: Sequence[Token]) -> None:
    """Add a column with its clauses to a table."""
    end = next((at for at, each in enumerate(tokens) if at > 1 and each.is_(*_CLAUSES)), len(tokens))
    kind = tokens[1:end]
    values = [each.text for each in kind if each.kind == TEXT] if kind and kind[0].is_("enum") else []
    name = _name(tokens[0])
    words = " ".join(_name(each) for each in kind)
    table.columns[name.casefold()] = SqlColumn(name, words, tokens[0].line, tuple(values))
    _clauses(table, table.columns[name.casefold()], tokens[end:])


def _clauses(table: SqlTable, column: SqlColumn, tokens: Sequence[Token]) -> None:
    at = 0
    while at < len(tokens):
        behind = tokens[at + 1] if at + 1 < len(tokens) else None
        if tokens[at].is_("check") and behind is not None and behind.is_("("):
            inside, at = _brackets(tokens, at + 1)
            table.checks.append((tokens[0].line, expression(inside)))
            continue
        if tokens[at].is_("primary"):
            table.key = (column.name.casefold(),)
        elif tokens[at].is_("unique"):
            column.is_unique = True
        elif tokens[at].is_("comment") and behind is not None and behind.kind == TEXT:
            column.comment = behind.text
        elif tokens[at].is_("references"):
            column.reference = _qualified(tokens, at + 1)[0]
        elif tokens[at].is_("default") and behind is not None and behind.is_("("):
            at = _brackets(tokens, at + 1)[1]
            continue
        at += 1


def _clause(table: SqlTable, tokens: Sequence[Token]) -> None:
    """Add a clause of a table, or of `ALTER TABLE ... ADD`."""
    rest = list(tokens[2:] if tokens[0].is_("constraint") else tokens)
    opened = next((at for at, each in enumerate(rest) if each.is_("(")), len(rest))
    inside, after = _brackets(rest, opened) if opened < len(rest) else ([], opened)
    names = tuple(_name(each).casefold() for each in inside if each.kind == WORD)
    if rest and rest[0].is_("check"):
        table.checks.append((tokens[0].line, expression(inside)))
    elif rest and rest[0].is_("primary"):
        table.key = names
    elif rest and rest[0].is_("unique") and len(names) == 1 and names[0] in table.columns:
        table.columns[names[0]].is_unique = True
    elif rest and rest[0].is_("foreign") and len(names) == 1 and names[0] in table.columns:
        table.columns[names[0]].reference = _qualified(rest, after + 1)[0]


def _create_type(script: SqlScript, statement: Statement) -> None:
    tokens = statement.tokens
    name, at = _qualified(tokens, 2)
    at = _skipped(tokens, at, "as")
    if at < len(tokens) and tokens[at].is_("enum"):
        values = tuple(each.text for each in tokens[at + 1 :] if each.kind == TEXT)
        script.types[name] = SqlType("enum", values)
        return
    end = next((i for i in range(at, len(tokens)) if tokens[i].is_(*_CLAUSES)), len(tokens))
    checks = [_brackets(tokens, i + 1)[0] for i in range(end, len(tokens) - 1) if tokens[i].is_("check")]
    script.types[name] = SqlType(expression(tokens[at:end]), checks=tuple(map(expression, checks)))


def _alter_table(script: SqlScript, statement: Statement) -> None:
    tokens = statement.tokens
    name, at = _qualified(tokens, _skipped(tokens, 2, "only", "if", "exists"))
    table = script.tables.get(name)
    if table is None:
        return
    for each in groups(tokens[at:], ","):
        start = _skipped(each, 0, "add")
        if start and each[start:] and each[start].is_(*_OF_TABLES):
            _clause(table, each[start:])
        elif any(one.is_(*_OF_VALUES) for one in each):
            names = tuple(_name(one).casefold() for one in each if one.kind == WORD)
            table.unread.append((statement.line, statement.text, names))


def _comment(script: SqlScript, statement: Statement) -> None:
    tokens = statement.tokens
    parts = [_name(each).casefold() for each in tokens[3:-2] if each.kind == WORD]
    table = script.tables.get(parts[-2]) if len(parts) > 1 else None
    if table is not None and parts[-1] in table.columns and tokens[-1].kind == TEXT and tokens[-2].is_("is"):
        table.columns[parts[-1]].comment = tokens[-1].text
