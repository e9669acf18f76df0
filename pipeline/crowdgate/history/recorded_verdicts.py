"""Recorded verdicts, and the search for one on the number that a current gate measures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from crowdgate.errors import VerificationFailed
from crowdgate.ledger.private import has_private_record, private_file, read_private
from crowdgate.manifest import GateFields
from crowdgate.measures import MeasureClass
from crowdgate.measures.options import effective_options

if TYPE_CHECKING:
    from crowdgate.ledger.ledger import Entry, Ledger
    from crowdgate.measures import Measure
    from crowdgate.policy.policy import GateRule

PUBLIC = frozenset(str(each) for each in MeasureClass if each is not MeasureClass.CONFIDENTIAL)
"""The classes of public verdicts."""


def public_part_of_record(ledger: Ledger, entry: Entry) -> dict[str, Any]:
    """Return the public verdicts in the private record of a run, and its public `settings` and
    `about`, the policy owner's description (None in older records).

    Nothing else of the record is returned, so this is no access to it. Raises VerificationFailed for a record that is
    missing, unreadable, or not the one that the ledger committed to.
    """
    path = private_file(ledger.path, ledger.id, entry.release_id)
    if entry.private_commitment is None or not has_private_record(ledger.path, ledger.id, entry.release_id):
        raise VerificationFailed("its gates are only in its private record, which is not at hand")
    sections, _ = read_private(path, [entry.private_commitment])
    return {
        "verdicts": public_verdicts(sections),
        "settings": sections.get("settings"),
        "about": sections.get("about"),
    }


def public_verdicts(said: Mapping[str, Any]) -> list[Any]:
    """Return the public verdicts among those of a private record; confidential ones are left out."""
    return [each for each in said.get("verdicts", ()) if each.get("class") in PUBLIC]


def parse_verdicts(stated: Iterable[Any]) -> tuple[GateFields, ...]:
    """Return the gate verdicts that a private record states as JSON. Raises VerificationFailed for an invalid one."""
    try:
        return tuple(GateFields.model_validate_json(json.dumps(each)) for each in stated)
    except (ValidationError, TypeError):
        raise VerificationFailed("its private record holds a verdict of another form") from None


def recorded_verdict(rule: GateRule, verdicts: Sequence[GateFields]) -> GateFields | None:
    """Return the recorded verdict on the number that this gate measures, preferably with the gate's limit; None if
    there is none.
    """
    number, likely = _number(rule), (each for each in verdicts if each.measure == rule.measure)
    same = [each for each in likely if _number(each.rule) == number]
    limit = (rule.at_most, rule.at_least)
    return next((each for each in same if (each.at_most, each.at_least) == limit), next(iter(same), None))


def _number(rule: GateRule) -> object:
    return rule.measure, rule.of, None if rule.over is None else frozenset(rule.over), effective_options(rule.options)


def serves_limit(rule: GateRule, measure: Measure, own: GateFields) -> bool:
    """Return whether a recorded measurement can be judged by the limit of `rule`; a measured excess only if both limits
    are equal, as it is measured beyond its own.
    """
    return own.reads == measure.reads and (not measure.excess or rule.at_most == own.at_most)
