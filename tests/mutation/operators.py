"""Small plausible faults: each mutant of a source is the source with one of them."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

Replacement: TypeAlias = ast.expr | ast.stmt

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Pow: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
PAIRS = ["min max", "any all", "floor ceil", "up down", "raised lowered", "minimum maximum", "log log1p", "exp expm1"]
CALLED = {one: other for pair in PAIRS for one, other in (pair.split(), pair.split()[::-1])}
ROUNDED = {"up", "down", "raised", "lowered", "floor", "ceil", "round", "sorted", "abs"}
"""Calls that may be replaced by their argument."""
UNTOUCHED = {"annotation", "returns", "decorator_list", "bases", "type_params", "exc", "cause", "msg"}


@dataclass(frozen=True)
class Mutant:
    """A fault: its line, the replaced and the new text, and the source with it."""

    line: int
    words: str
    source: str


def lines(source: str) -> set[int]:
    """Return the lines that have a mutant."""
    return {place.node.lineno for place, _ in _faults(ast.parse(source))}


def at(source: str, line: int) -> list[Mutant]:
    """Return the mutants of one line."""
    faults = enumerate(_faults(ast.parse(source)))
    return [_mutant(source, number) for number, (place, _) in faults if place.node.lineno == line]


@dataclass(frozen=True)
class _Place:
    parent: ast.AST
    field: str
    index: int | None
    node: ast.expr | ast.stmt

    def put(self, new: Replacement) -> None:
        if self.index is None:
            setattr(self.parent, self.field, new)
        else:
            getattr(self.parent, self.field)[self.index] = new


def _mutant(source: str, number: int) -> Mutant:
    tree = ast.parse(source)
    place, new = list(_faults(tree))[number]
    words = f"{_short(place.node)} -> {_short(new)}"
    place.put(new)
    return Mutant(place.node.lineno, words, ast.unparse(ast.fix_missing_locations(tree)))


def _short(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:70]


def _faults(tree: ast.AST) -> Iterator[tuple[_Place, Replacement]]:
    for place in _places(tree):
        for new in _expressions(place.node) if isinstance(place.node, ast.expr) else _statements(place.node):
            yield place, new


def _places(parent: ast.AST) -> Iterator[_Place]:
    for field, value in ast.iter_fields(parent):
        if field in UNTOUCHED or isinstance(parent, ast.JoinedStr):
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(node, ast.expr | ast.stmt):
                yield _Place(parent, field, index, node)
            if isinstance(node, ast.AST):
                yield from _places(node)


def _expressions(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Compare(left, [operator], [right]) if type(operator) in SWAPPED:
            yield ast.Compare(left, [_swapped(operator)], [right])
        case ast.BinOp(left, operator, right) if type(operator) in SWAPPED:
            yield ast.BinOp(left, _swapped(operator), right)
            yield from (left, right)
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(_swapped(operator), values)
            yield from values
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield operand
        case ast.IfExp(_, body, other):
            yield from (body, other)
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Call(function, arguments, keywords):
            yield from _calls(function, arguments, keywords)


def _calls(function: ast.expr, arguments: list[ast.expr], keywords: list[ast.keyword]) -> Iterator[ast.expr]:
    name = ast.unparse(function)
    owner, _, last = name.rpartition(".")
    if last in CALLED and not owner.startswith("self"):
        other = f"{owner}.{CALLED[last]}" if owner else CALLED[last]
        yield ast.Call(ast.parse(other, mode="eval").body, arguments, keywords)
    if last in ROUNDED and len(arguments) == 1:
        yield arguments[0]


def _statements(node: ast.stmt) -> Iterator[ast.stmt]:
    match node:
        case ast.Expr(ast.Constant()):
            return
        case ast.Raise() | ast.Expr(ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Break():
            yield ast.Pass()
        case ast.Return(value) if value is not None and not _is_none(value):
            yield ast.Return(ast.Constant(None))
        case ast.If(test, body, other) | ast.While(test, body, other):
            yield type(node)(ast.UnaryOp(ast.Not(), test), body, other)


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _swapped(operator: ast.AST) -> Any:
    return SWAPPED[type(operator)]()
