"""Field-by-field comparison of two policies, by the declared order of each field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from pydantic import BaseModel

from crowdgate.gate import gate_text, waiver_text
from crowdgate.measures.options import effective_options
from crowdgate.number_text import exact_text, stated_number
from crowdgate.policy.field_order import (
    UNKNOWN,
    Direction,
    FieldOrder,
    KeyField,
    LevelsField,
    ListField,
    NameField,
    NestedField,
    ValueField,
    declared_order,
    more_is_looser,
)
from crowdgate.policy.policy import GateRule
from crowdgate.review.diff.level_order import Coarser, level_order

NOTHING = "nothing"
ADVICE = "the gate only advises: it withholds nothing, before and after"
DERIVED = ValueField("it follows privacy.epsilon: its share is as before", more_is_looser)
OTHER_NUMBER = "the limit alone, though it limits another number than before"
WAIVED = "a failure of the gate is waived: it withholds nothing while the waiver holds"


@dataclass(frozen=True)
class FieldChange:
    """A changed field of a policy: its place, the direction (tighter, looser, ...), the old and the new value as text,
    and the meaning of the change in words."""

    place: str
    direction: Direction
    old: str
    new: str
    means: str

    def to_json(self) -> dict[str, str]:
        """Return the change as an object of JSON."""
        return {
            "field": self.place, "direction": str(self.direction), "old": self.old, "new": self.new, "means": self.means
        }  # fmt: skip


def changes(old: BaseModel, new: BaseModel, coarser: Coarser, place: str = "") -> Iterator[FieldChange]:
    """Yield a change for every field that differs between two models. Models of different classes are not compared
    field by field: the whole has another meaning."""
    if _kind(old) != _kind(new):
        kind = f"{place}.kind" if place else "kind"
        yield FieldChange(kind, Direction.CHANGED_MEANING, _kind(old), _kind(new), "what protects is another mechanism")
        return
    for name, info in type(old).model_fields.items():
        was, now = getattr(old, name), getattr(new, name)
        if was != now:
            at = ".".join(filter(None, (place, info.alias or name)))
            order = DERIVED if name == "epsilon" and _same_share(old, new) else field_order(old, name)
            yield from _field_changes(order, at, was, now, coarser)


def _same_share(old: BaseModel, new: BaseModel) -> bool:
    """Return True if both models state the same share of the policy's total, from which their epsilon follows."""
    share = getattr(old, "share", None)
    return share is not None and share == getattr(new, "share", None)


def field_order(model: BaseModel, name: str) -> FieldOrder:
    """Return the order that a model declares for a field (which values are tighter); without one, any change is one of
    meaning."""
    return declared_order(type(model), name) or UNKNOWN


def _kind(model: BaseModel) -> str:
    """Return a model's `kind`, or without one the name of its class, as text."""
    return str(getattr(model, "kind", type(model).__name__))


def _field_changes(field: FieldOrder, at: str, was: Any, now: Any, coarser: Coarser) -> Iterator[FieldChange]:
    if isinstance(field, NestedField):
        yield from _nested_changes(field, at, was, now, coarser)
    elif isinstance(field, ListField):
        yield from _list_changes(field, at, was, now, coarser)
    elif isinstance(field, LevelsField):
        yield from _level_changes(field, at, was, now, coarser)
    elif isinstance(field, ValueField):
        yield _change(at, field.order(was, now), was, now, field)


def _nested_changes(field: NestedField, at: str, was: Any, now: Any, coarser: Coarser) -> Iterator[FieldChange]:
    was, now = (field.missing if each is None else each for each in (was, now))
    if was is not None and now is not None:
        yield from changes(was, now, coarser, at)
    else:
        direction = field.added if was is None else field.added.opposite
        yield FieldChange(
            at, direction, text(was), text(now), f"{field.means}: {'added' if was is None else 'removed'}"
        )


def _level_changes(
    field: LevelsField, at: str, was: Mapping[str, Any], now: Mapping[str, Any], coarser: Coarser
) -> Iterator[FieldChange]:
    for name in dict.fromkeys([*was, *now]):
        one, other = was.get(name), now.get(name)
        place = f"{at}.{name}"
        if one is None:
            yield FieldChange(place, Direction.LOOSER, NOTHING, text(other), f"{field.means}: {name} as well")
        elif other is None:
            yield FieldChange(place, Direction.TIGHTER, text(one), NOTHING, f"{field.means}: {name} no more")
        elif one != other:
            direction = level_order(coarser, name)(one, other)
            yield FieldChange(place, direction, text(one), text(other), f"{field.means}: {_FINE[direction]}")


_FINE = {
    Direction.LOOSER: "at finer levels",
    Direction.TIGHTER: "at coarser levels",
    Direction.NOT_COMPARABLE: "at levels of which neither is surely finer",
    Direction.CHANGED_MEANING: "at other levels",
}


def _key(item: BaseModel) -> Hashable:
    """Return the key by which a list item is found on the other side: its class, its key fields, and the side of its
    limit."""
    own = (name for name in type(item).model_fields if isinstance(field_order(item, name), KeyField))
    side = getattr(item, "at_most", item) is None
    return (type(item).__name__, side, *(_frozen(getattr(item, name)) for name in own))


def _frozen(value: Any) -> Hashable:
    if isinstance(value, dict):
        return tuple(sorted(effective_options(value).items()))
    return frozenset(value) if isinstance(value, list) else value


def _list_changes(
    field: ListField, at: str, was: Sequence[Any], now: Sequence[Any], coarser: Coarser
) -> Iterator[FieldChange]:
    was, now = ([each for each in items if each != field.there] for items in (was, now))
    olds, news = {_key(each): each for each in was}, {_key(each): each for each in now}
    if len(olds) < len(was) or len(news) < len(now):  # ambiguous: several items have one key
        if Counter(map(repr, was)) != Counter(map(repr, now)):
            yield FieldChange(at, Direction.CHANGED_MEANING, text(was), text(now), field.means)
        return
    for which, each in news.items():
        if which in olds and olds[which] != each:
            found = changes(olds[which], each, coarser, f"{at}[{subject(each)}]")
            idle = _idle(each) if _idle(olds[which]) == _idle(each) else None
            yield from (replace(one, means=idle) if idle and _is_limit(one) else one for one in found)
    gone = [each for which, each in olds.items() if which not in news]
    come = [each for which, each in news.items() if which not in olds]
    yield from _item_changes(field, at, gone, come, coarser)


def _item_changes(
    field: ListField, at: str, gone: list[Any], come: list[Any], coarser: Coarser
) -> Iterator[FieldChange]:
    """Yield a change for each item that only one side has. An old and a new item are one changed item if they have the
    same subject and no other item has it."""
    olds, news = Counter(map(subject, gone)), Counter(map(subject, come))
    for name in dict.fromkeys([*olds, *news]):
        those, these = ([each for each in items if subject(each) == name] for items in (gone, come))
        place = f"{at}[{name}]"
        if len(those) == len(these) == 1:
            means = f"{field.means}: {name} has another definition"
            yield FieldChange(place, Direction.CHANGED_MEANING, text(those[0]), text(these[0]), means)
            yield from _limit_changes(place, those[0], these[0], coarser)
            continue
        for each in those:
            yield _item(field, place, field.added.opposite, each, text(each), NOTHING)
        for each in these:
            yield _item(field, place, field.added, each, NOTHING, text(each))


def _limit_changes(place: str, old: Any, new: Any, coarser: Coarser) -> Iterator[FieldChange]:
    """Yield the change of the limit of a gate that has another meaning as well, if the limit is tighter or looser."""
    if isinstance(old, GateRule) and isinstance(new, GateRule):
        for each in changes(old, new, coarser, place):
            if _is_limit(each) and each.direction in (Direction.LOOSER, Direction.TIGHTER):
                yield replace(each, means=_idle(new) or OTHER_NUMBER)


def _item(field: ListField, at: str, direction: Direction, item: Any, old: str, new: str) -> FieldChange:
    said = field.looser if direction is Direction.LOOSER else field.tighter
    return FieldChange(at, direction, old, new, _idle(item) or said)


def _is_limit(change: FieldChange) -> bool:
    return change.place.endswith((".at_most", ".at_least"))


def _idle(item: Any) -> str | None:
    """Return in words why a gate withholds nothing (it advises, or is waived); None for a gate that withholds, and for
    other items."""
    if not isinstance(item, GateRule):
        return None
    return ADVICE if item.severity == "advise" else None if item.waiver is None else WAIVED


def subject(item: Any) -> str:
    """Return what a list item is about, in a word or two: a gate's measure and column, or the item's key."""
    if isinstance(item, GateRule):
        return item.measure if item.of is None else f"{item.measure} of {item.of}"
    named = getattr(item, "key", None)
    if named is None:
        return text(item)
    value = getattr(item, named)
    return str(named) if value is True else f"{named} {text(value)}"


def _change(at: str, direction: Direction, was: Any, now: Any, field: ValueField) -> FieldChange:
    said = {Direction.LOOSER: field.looser, Direction.TIGHTER: field.tighter}.get(direction) or field.means
    before, after = (_with_unit(each, field) for each in (was, now))
    return FieldChange(at, direction, before, after, said)


def _with_unit(value: Any, field: FieldOrder) -> str:
    """Return a value as text, with the unit that its field declares."""
    unit = getattr(field, "unit", "")
    return f"{text(value)} {unit}" if unit and value is not None else text(value)


def text(value: Any) -> str:
    """Return a value of a policy's field as text, as a policy would state it."""
    made = next((write for kind, write in _WRITTEN if isinstance(value, kind)), str)
    return made(value)


def _of_model(value: BaseModel) -> str:
    """Return the fields that a policy states, and no defaults."""
    stated = [name for name in type(value).model_fields if name in value.model_fields_set]
    return "{" + ", ".join(_stated_field(value, name) for name in stated) + "}"


def _stated_field(value: BaseModel, name: str) -> str:
    key = type(value).model_fields[name].alias or name
    return f"{key}: {_with_unit(getattr(value, name), field_order(value, name))}"


def _of_gate(rule: GateRule) -> str:
    cost = "" if rule.charge is None else f", charge {stated_number(rule.charge.epsilon)}"
    waiver = "" if rule.waiver is None else f", {waiver_text(rule.waiver)}"
    return f"{gate_text(rule)}{cost}{'' if rule.severity == 'block' else ', advises'}{waiver}"


_WRITTEN: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    (type(None), lambda _: NOTHING),
    (bool, lambda value: str(value).lower()),
    (Fraction, exact_text),
    (GateRule, _of_gate),
    (BaseModel, _of_model),
    (dict, lambda value: "{" + ", ".join(f"{name}: {text(each)}" for name, each in sorted(value.items())) + "}"),
    (list | tuple, lambda value: f"[{', '.join(map(text, value))}]"),
)


def name_changes(old: BaseModel, new: BaseModel) -> Iterator[str]:
    """Yield, in words, each differing field of two models that has no effect."""
    for name in type(old).model_fields:
        was, now, field = getattr(old, name), getattr(new, name), field_order(old, name)
        if isinstance(field, NestedField) and isinstance(was, BaseModel) and type(was) is type(now):
            yield from name_changes(was, now)
        elif isinstance(field, NameField) and was != now:
            yield f"{field.means}: {text(was)} is now {text(now)}"
