"""Sentences on how one value a person is made of all of the person's rows."""

from collections.abc import Sequence

from crowdgate.contracts.contract import PersonRule

_SHOWN = 12
"""The greatest number of values that a sentence lists."""


def person_value_text(name: str, rule: PersonRule, column: str, labels: Sequence[str] | None, most: int | None) -> str:
    """Return a sentence on the attribute `name` of persons, which `rule` makes of a column. `labels` are the values
    that are looked for (None: every valid value), `most` is the greatest number that a count distinguishes."""
    has = f"has a valid {column}" if labels is None else f"has {column} {_listed(labels)}"
    match rule:
        case PersonRule.ANY:
            return f"{name} is yes if at least one row of the person {has}, otherwise no."
        case PersonRule.ALL:
            return f"{name} is yes if every row of the person {has}, otherwise no."
        case PersonRule.COUNT:
            more = f"More than {most} count as {most}."
            return f"{name} is the number of the person's rows of which each {has}. {more}"
        case PersonRule.SAME:
            return f"{name} is the {column} on which all rows of the person with a valid one agree."
        case _:
            return f"{name} is the {rule} {column} of the person's rows, in the order of its domain."


def _listed(labels: Sequence[str]) -> str:
    if len(labels) > _SHOWN:
        return f"{', '.join(labels[:_SHOWN])} or one of {len(labels) - _SHOWN} other values"
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} or {labels[-1]}"
