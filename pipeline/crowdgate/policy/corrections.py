"""Provisional corrections of structural mistakes, so that the rest of a document is checked in the same round.

Replacements are not suggestions: problems that may follow from them are left out (`follows`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Generic

from pydantic import ValidationError

from crowdgate.documents.yaml_text import Document, Location
from crowdgate.errors import Code, Problem, nearest
from crowdgate.policy.parsing import GATES, Model, details_of, location, problems_of

NO_GATE = {"measure": "(wrong)", "at_most": "0"}
"""The replacement of a faulty gate: its measure does not exist."""
STANDINS = ("0.5", "1")
"""Replacement values that most keys accept."""


@dataclass(frozen=True)
class CorrectedDocument(Generic[Model]):
    """The value of a corrected document (None: not correctable), its problems and the locations that were replaced."""

    value: Model | None
    problems: tuple[Problem, ...] = ()
    places: frozenset[Location] = frozenset()


def corrected_document(model: type[Model], document: Document) -> CorrectedDocument[Model]:
    """Return the document's value as `model`, after replacing only its faulty locations, with its problems and these
    locations.
    """
    try:
        return CorrectedDocument(model.model_validate(document.data))
    except ValidationError as error:
        problems = tuple(problems_of(model, document, error))
        tries = {_place(at): _replacements(document, at, detail) for at, detail in _located(document, error)}
    value = _correct(model, document, tries)
    return CorrectedDocument(value, problems, frozenset(tries))


def _located(document: Document, error: ValidationError) -> list[tuple[Location, Any]]:
    found = [(location(document, detail["loc"]), detail) for detail in details_of(error)]
    return [((*at, "kind") if detail["type"].startswith("union_tag") else at, detail) for at, detail in found]


def _place(at: Location) -> Location:
    """Return the location to replace for a fault at `at`: that of the whole gate if the fault is in a gate,
    else `at`.
    """
    return at[:3] if at[:2] == GATES else at


def _replacements(document: Document, at: Location, detail: Any) -> list[Any]:
    """Return the values to try in place of a faulty one, in order; None removes the key."""
    if at[:2] == GATES and len(at) > 2:
        return [NO_GATE]
    stated = str(detail.get("ctx", {}).get("expected_tags", detail.get("ctx", {}).get("expected", "")))
    words = [word.strip("' ") for word in stated.replace(" or ", ",").split(",") if word.strip("' ")]
    meant = nearest(str(_at(document.data, at)), words)
    return [None, *([meant] if meant else words[:1]), *STANDINS]


def _correct(model: type[Model], document: Document, tries: Mapping[Location, list[Any]]) -> Model | None:
    turn = dict.fromkeys(tries, 0)
    while all(turn[at] < len(tries[at]) for at in tries):
        data = deepcopy(document.data)
        if not all(_put(data, at, tries[at][turn[at]]) for at in sorted(tries, key=len)):
            return None
        try:
            return model.model_validate(data)
        except ValidationError as error:
            wrong = {_place(at) for at, _ in _located(document, error)}
        again = {at for at in tries if any(other[: len(at)] == at[: len(other)] for other in wrong)}
        if not again:
            return None
        turn = {at: turn[at] + (at in again) for at in turn}
    return None


def _put(data: Any, at: Location, value: Any) -> bool:
    around = _at(data, at[:-1]) if at else None
    if isinstance(around, dict):
        around.pop(at[-1], None)
        if value is not None:
            around[at[-1]] = deepcopy(value)
    elif isinstance(around, list) and isinstance(at[-1], int) and at[-1] < len(around):
        around[at[-1]] = deepcopy(value)
    else:
        return False
    return True


def _at(data: Any, at: Location) -> Any:
    for part in at:
        inside = (isinstance(data, dict) and part in data) or (isinstance(data, list) and isinstance(part, int))
        data = data[part] if inside else None
    return data


def follows(problem: Problem, places: Collection[Location]) -> bool:
    """Return whether a semantic problem may exist only because the document was corrected at these `places`."""
    if any(_under(problem.where, place) for place in places):
        return True
    around = {".".join(map(str, place[:-1])) for place in places}
    if problem.code is Code.TWICE and problem.where in around:
        return True
    if problem.where == "spec.budget" and ("metadata", "name") in places:
        return True
    sections = {place[1] for place in places if len(place) > 1 and place[0] == "spec"}
    if problem.code is Code.MECHANISM:
        return bool(sections & {"mechanism", "privacy", "gates"})
    if problem.where.startswith("spec.gates") and "mechanism" in sections:
        return problem.code is Code.GATE or (
            problem.code is Code.UNKNOWN_NAME and not problem.where.endswith(".measure")
        )
    unclear = any(len(place) < 3 and place[:1] != ("metadata",) for place in places)  # an unknown section name
    return unclear and problem.code in (Code.GATE, Code.NOT_PUBLIC)


def _under(where: str, place: Location) -> bool:
    stated = ".".join(map(str, place))
    return where == stated or where.startswith(f"{stated}.") or not stated
