"""Tables of persons: attributes whose one value a person is made of all rows of that person, as a contract states."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from crowdgate.contracts.contract import NO, YES, Attribute, PersonRule, PersonValue, PrivacyUnit
from crowdgate.contracts.domains import build_hierarchy, check_labels, label_of
from crowdgate.contracts.models import PersonValueModel, Place, quoted_value
from crowdgate.contracts.person_text import person_value_text
from crowdgate.domain import Domain, categories, numbers
from crowdgate.errors import Code, nearest
from crowdgate.limits import MOST_VALUES


def person_attributes(
    at: Place, stated: Mapping[str, PersonValueModel], columns: Mapping[str, Attribute], unit: PrivacyUnit | None
) -> dict[str, Attribute]:
    """Return the attributes of persons, and the table's columns without a domain. Faults are added to the problems.

    An attribute has the privacy role of its column, and what the contract states of attackers. It has no margins: those
    of a column count rows.
    """
    if unit is not None and (unit.person is None or unit.rows != 1):
        found = "privacyUnit row" if unit.person is None else f"privacyUnit with {unit.rows} rows"
        at.refuse(found, "privacyUnit {person: COLUMN, rows: 1}: a table of persons has one row of each")
    if not stated:
        at.refuse("no attributes", "an attribute of persons, such as {ever_ill: {any: ill, values: [yes]}}")
    made = {name: _attribute(at / name, name, model, columns) for name, model in stated.items()}
    others = {name: each for name, each in columns.items() if not each.releasable and name not in stated}
    return others | {name: each for name, each in made.items() if each is not None}


def _attribute(at: Place, name: str, model: PersonValueModel, columns: Mapping[str, Attribute]) -> Attribute | None:
    column = columns.get(model.column)
    if column is None or not column.releasable or column.domain is None:
        known = [each for each, held in columns.items() if held.releasable]
        found = f"{quoted_value(model.column)} is no column with a domain"
        at.refuse(found, "a column of this contract with a domain", nearest(model.column, known), Code.UNKNOWN_NAME)
        return None
    if name in columns and name != column.name:
        at.refuse(f"{quoted_value(name)} is another column of the table", "another name, or that column's own")
    check_labels(at, [name])
    value = _value(at, model, column, column.domain)
    if value is None or value.keeps_domain:
        return None if value is None else _described(replace(column, name=name, margins=None, of_person=value))
    domain = _domain(value, column.domain)
    levels = build_hierarchy(at / "levels", model.levels or [], domain, invalid_level=False)
    made = replace(column, domain=domain, hierarchy=levels, invalid="drop", accepted=None, margins=None)
    return _described(replace(made, name=name, of_person=value))


def _described(attribute: Attribute) -> Attribute:
    """Return the attribute with a description that says first how its value is made."""
    made = attribute.of_person
    assert made is not None, "the attribute is one of persons"
    words = person_value_text(attribute.name, made.rule, made.column.name, made.labels, made.most)
    return replace(attribute, description=f"{words} {attribute.description}".strip())


def _value(at: Place, model: PersonValueModel, column: Attribute, domain: Domain) -> PersonValue | None:
    if model.most is not None and model.most >= MOST_VALUES:
        (at / "most").refuse(f"a count up to {model.most}", f"a number below {MOST_VALUES}")
        return None
    if model.values is None:
        return PersonValue(model.rule, column, None, None, model.most)
    labels = [label_of(domain, text) for text in model.values]
    for text, label in zip(model.values, labels, strict=True):
        if label is None:
            near = nearest(text, domain.labels[:1000])
            (at / "values").refuse(
                f"{quoted_value(text)} is no value of {quoted_value(column.name)}",
                "values of its domain", near, Code.UNKNOWN_NAME,
            )  # fmt: skip
    if None in labels:
        return None
    places = [domain.labels.index(label) for label in labels if label is not None]
    matches = np.isin(domain.values, places)
    return PersonValue(model.rule, column, matches, tuple(domain.labels[place] for place in sorted(places)), model.most)


def _domain(value: PersonValue, domain: Domain) -> Domain:
    if value.rule is PersonRule.COUNT:
        return numbers(Fraction(0), Fraction(value.most or 1), Fraction(1), domain.source, top=True)
    return categories([NO, YES], domain.source)
