"""The values and limits that a CHECK of SQL states, by the syntax tree that DuckDB makes of it. Nothing is executed."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crowdgate.system.extras import DUCKDB, need

_SIGNS = {
    "COMPARE_EQUAL": "=", "COMPARE_GREATERTHANOREQUALTO": ">=", "COMPARE_LESSTHANOREQUALTO": "<=",
    "COMPARE_GREATERTHAN": ">", "COMPARE_LESSTHAN": "<",
}  # fmt: skip
_CLASS = re.compile(r"\^\[((?:\w(?:-\w)?)+)\]\$")
"""A pattern of one character."""
_TURNED = {"=": "=", ">=": "<=", "<=": ">=", ">": "<", "<": ">"}
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false", "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false", "lock_configuration": "true",
}  # fmt: skip


@dataclass(frozen=True)
class Check:
    """A condition on one column: `sign` is a comparison with the one value of `values`, or `in`."""

    column: str
    sign: str
    values: tuple[str, ...]


def checks(expression: str) -> tuple[tuple[Check, ...], bool]:
    """Return the conditions that must all hold by an expression of SQL, and whether it has no others. Raises
    ConfigurationError without DuckDB.
    """
    tree = _tree(expression)
    if tree is None:
        return (), False
    found = list(_conditions(tree))
    return tuple(each for each in found if each is not None), None not in found


def _tree(expression: str) -> Mapping[str, Any] | None:
    need(DUCKDB, "a codebook in SQL")
    import duckdb

    try:
        with duckdb.connect(":memory:", config=_CONFIG) as connection:
            row = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [f"SELECT {expression}"]).fetchone()
    except duckdb.Error:
        return None
    found: Mapping[str, Any] = json.loads(row[0]) if row else {}
    nodes: list[Any] = found.get("statements", [])
    listed: list[Any] = nodes[0]["node"].get("select_list", []) if len(nodes) == 1 else []
    return listed[0] if len(listed) == 1 else None


def _conditions(tree: Mapping[str, Any]) -> Iterator[Check | None]:
    """Yield the conditions that must all hold; None for one that is of another form."""
    kind = tree.get("type")
    if kind == "CONJUNCTION_AND":
        for each in tree["children"]:
            yield from _conditions(each)
    elif kind == "COMPARE_BETWEEN":
        for sign, key in (("COMPARE_GREATERTHANOREQUALTO", "lower"), ("COMPARE_LESSTHANOREQUALTO", "upper")):
            yield _check({"class": "COMPARISON", "type": sign, "left": tree["input"], "right": tree[key]})
    elif kind == "CONJUNCTION_OR":
        yield from _either(list(_alternatives(tree)))
    elif kind != "OPERATOR_IS_NOT_NULL":
        yield _check(tree)


def _alternatives(tree: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the conditions of which one must hold."""
    for each in tree["children"]:
        yield from _alternatives(each) if each.get("type") == "CONJUNCTION_OR" else [each]


def _check(tree: Mapping[str, Any]) -> Check | None:
    """Return a condition on one column; None for one that is of another form."""
    if tree.get("type") == "COMPARE_IN":
        return _membership(tree["children"][0], tree["children"][1:])
    if tree.get("class") == "SUBQUERY":
        return _any_of(tree)
    if tree.get("function_name") == "regexp_matches":
        return _one_character([each["expression"] for each in tree["arguments"]])
    if tree.get("class") != "COMPARISON" or tree["type"] not in _SIGNS:
        return None
    sign = _SIGNS[tree["type"]]
    for column, value, way in ((tree["left"], tree["right"], sign), (tree["right"], tree["left"], _TURNED[sign])):
        name, constant = _column(column), _constant(value)
        if name is not None and constant is not None:
            return Check(name, "in" if way == "=" else way, (constant,))
    return None


def _either(trees: Sequence[Mapping[str, Any]]) -> list[Check | None]:
    """Return the values of conditions of which one must hold; or of one condition, if the others are that a cell of its
    column is empty.
    """
    empty = {_column(each["children"][0]) for each in trees if each.get("type") == "OPERATOR_IS_NULL"}
    found = [list(_conditions(each)) for each in trees if each.get("type") != "OPERATOR_IS_NULL"]
    known = [each for group in found for each in group if each is not None]
    is_one = {each.column for each in known} | empty == {known[0].column} if known else False
    if not is_one or len(known) < sum(map(len, found)):
        return [None]
    if len(found) == 1:
        return [*known]
    if any(each.sign != "in" for each in known) or len(known) > len(found):
        return [None]
    return [Check(known[0].column, "in", tuple(value for each in known for value in each.values))]


def _membership(column: Any, values: Sequence[Any]) -> Check | None:
    name, constants = _column(column), [_constant(each) for each in values]
    known = tuple(each for each in constants if each is not None)
    return Check(name, "in", known) if name is not None and known and len(known) == len(constants) else None


def _one_character(arguments: Sequence[Any]) -> Check | None:
    """Return the characters of a pattern that is one class of them: `^[A-E]$`."""
    if len(arguments) != 2:
        return None
    name, found = _column(arguments[0]), _CLASS.fullmatch(_constant(arguments[1]) or "")
    parts = re.findall(r"(\w)(?:-(\w))?", found[1]) if found else []
    listed = [chr(each) for low, high in parts for each in range(ord(low), ord(high or low) + 1)]
    is_plain = name is not None and listed and all(re.fullmatch(r"[A-Za-z0-9]", each) for each in listed)
    return Check(name, "in", tuple(dict.fromkeys(listed))) if is_plain and name is not None else None


def _any_of(tree: Mapping[str, Any]) -> Check | None:
    """Return the values of `x = ANY (ARRAY['a', 'b'])`, which DuckDB reads as a query of the array."""
    node = tree.get("subquery", {}).get("node", {})
    listed = node.get("select_list", [])
    is_unnest = len(listed) == 1 and listed[0].get("function_name") == "unnest" and len(listed[0]["arguments"]) == 1
    is_any = tree.get("subquery_type") == "ANY" and tree.get("comparison_type") == "COMPARE_EQUAL"
    array = _plain(listed[0]["arguments"][0]["expression"]) if is_unnest and is_any else {}
    is_array = array.get("type") == "ARRAY_CONSTRUCTOR" and node.get("where_clause") is None
    return _membership(tree["child"], array["children"]) if is_array else None


def _plain(tree: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an expression without casts around it."""
    while tree.get("class") == "CAST":
        tree = tree["child"]
    return tree


def _column(tree: Mapping[str, Any]) -> str | None:
    plain = _plain(tree)
    return str(plain["column_names"][-1]) if plain.get("class") == "COLUMN_REF" else None


def _constant(tree: Mapping[str, Any]) -> str | None:
    """Return a constant as text, a negated number too."""
    plain = _plain(tree)
    if plain.get("function_name") == "-" and len(plain.get("arguments", ())) == 1:
        inner = _constant(plain["arguments"][0]["expression"])
        return None if inner is None else f"-{inner}"
    literal = plain.get("literal", {})
    known = plain.get("class") == "CONSTANT" and literal.get("kind") in ("INTEGER", "NUMERIC", "STRING")
    return str(literal["text"]) if known else None
