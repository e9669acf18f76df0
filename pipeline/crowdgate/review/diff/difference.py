"""Compare two policies, or two folders of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from crowdgate.policy.field_order import Direction
from crowdgate.policy.policy import version_of
from crowdgate.review.diff.effects import PolicyEffect, contract_changes, level_codes, plan_of_side, policy_effect
from crowdgate.review.diff.fields_compared import NOTHING, FieldChange, changes, name_changes
from crowdgate.review.diff.level_order import level_order_by_codes
from crowdgate.review.diff.sides import PolicyOnDisk, Side, open_side, side_problem

OUTSIDE = "Contract and budget were not compared, and nothing is worked out: no working copy around {}."

UNREAD = "the ledger can't be read here, or refuses"


@dataclass(frozen=True)
class PolicyComparison:
    """Comparison of two policies of one name.

    `notes` are differences without effect, and files that were not compared. `before` and `after` are the effects of
    the policies (None: unknown).
    """

    name: str
    changes: tuple[FieldChange, ...]
    notes: tuple[str, ...] = ()
    before: PolicyEffect | None = None
    after: PolicyEffect | None = None

    @property
    def stricter(self) -> bool:
        """True if no field changed, or each change is towards tighter."""
        return all(each.direction is Direction.TIGHTER for each in self.changes)

    @property
    def effects(self) -> list[tuple[str, str, str]]:
        """Figures of both policies' effects, each as (name, before, after)."""
        was, now = ({} if each is None else each.lines for each in (self.before, self.after))
        lines = ((name, was.get(name, NOTHING), now.get(name, NOTHING)) for name in dict.fromkeys([*was, *now]))
        return [*(line for line in lines if line[1:] != (NOTHING, NOTHING)), *self._chances()]

    def _chances(self) -> Iterator[tuple[str, str, str]]:
        """Yield (name, before, after) of each probability of passing that differs, for gates that both policies
        have."""
        was, now = ({} if each is None else each.chances for each in (self.before, self.after))
        yield from ((name, was[name], now[name]) for name in was if was[name] != now.get(name, was[name]))

    def to_json(self) -> dict[str, Any]:
        """Return the comparison of the two policies as an object of JSON."""
        return {
            "policy": self.name,
            "direction": str(overall_direction(self.changes)),
            "changes": [each.to_json() for each in self.changes],
            "effects": [{"of": of, "before": was, "after": now} for of, was, now in self.effects],
            "ledger_read": all(each is None or each.known for each in (self.before, self.after)),
            "plain": [None if each is None else each.plain for each in (self.before, self.after)],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class PolicyDifference:
    """All differences between two sides (policies, or folders of policies), policy by policy."""

    old: str
    new: str
    policies: tuple[PolicyComparison, ...] = field(default=())

    @property
    def stricter(self) -> bool:
        """True if every policy is unchanged, or changed only towards tighter."""
        return all(each.stricter for each in self.policies)

    def to_json(self) -> dict[str, Any]:
        """Return the differences of the two sides as an object of JSON."""
        found = [change for each in self.policies for change in each.changes]
        stated = {"outcome": "compared", "old": self.old, "new": self.new, "direction": str(overall_direction(found))}
        return {**stated, "policies": [each.to_json() for each in self.policies]}


EQUAL = "equal"


def overall_direction(found: tuple[FieldChange, ...] | list[FieldChange]) -> str:
    """Return the overall direction of changes: equal, a single direction, or not comparable."""
    directions = {each.direction for each in found}
    if not directions:
        return EQUAL
    for worst in (Direction.CHANGED_MEANING, Direction.NOT_COMPARABLE):
        if worst in directions:
            return worst
    return directions.pop() if len(directions) == 1 else Direction.NOT_COMPARABLE


def diff(old: str, new: str) -> PolicyDifference:
    """Compare policy files, folders of policies, or either in git as `REV:path`. Raises ConfigurationError."""
    with open_side(old) as was, open_side(new) as now:
        if was.folder != now.folder:
            raise side_problem(new, "a folder and a file", "two files or two folders")
        return PolicyDifference(old, new, tuple(_pairs(was, now)))


def _pairs(was: Side, now: Side) -> Iterator[PolicyComparison]:
    for name in dict.fromkeys([*was.policies, *now.policies]):
        old, new = was.policies.get(name), now.policies.get(name)
        if old is not None and new is not None:
            yield compare_policies(old, new)
        elif new is not None:
            yield _one_sided(name, new, Direction.LOOSER, "one more policy may release data about these people")
        elif old is not None:
            yield _one_sided(name, old, Direction.TIGHTER, "nothing is released by this policy any more")


def _one_sided(name: str, stated: PolicyOnDisk, direction: Direction, means: str) -> PolicyComparison:
    plan = plan_of_side(stated)
    comes = None if plan is None or stated.home is None else policy_effect(plan, stated.home)
    version = f"version {stated.policy.metadata.version}"
    come = direction is Direction.LOOSER
    change = FieldChange("policy", direction, *((NOTHING, version) if come else (version, NOTHING)), means)
    return PolicyComparison(name, (change,), (), *((None, comes) if come else (comes, None)))


def compare_policies(old: PolicyOnDisk, new: PolicyOnDisk) -> PolicyComparison:
    """Compare two policies and their effects. Raises ConfigurationError for a faulty policy."""
    before, after = plan_of_side(old), plan_of_side(new)
    name, notes = new.policy.metadata.name, list(name_changes(old.policy, new.policy))
    if before is None or after is None or old.home is None or new.home is None:
        outside = old.path if before is None else new.path
        return PolicyComparison(
            name, tuple(changes(old.policy, new.policy, level_order_by_codes({}))), (*notes, OUTSIDE.format(outside))
        )
    found = [
        *changes(old.policy, new.policy, level_order_by_codes(level_codes(before, after))),
        *contract_changes(before, after),
        *changes(before.bundle.budget, after.bundle.budget, level_order_by_codes({}), "budget"),
    ]
    home = new.home
    was, now = policy_effect(before, home), policy_effect(after, home)
    if found:
        left = "now, by the ledger" if was.known and now.known else f"of a whole budget: {UNREAD}"
        notes.append(f"Releases left are counted {left}.")
    if found and version_of(old.policy) == version_of(new.policy):
        notes.append("The version is the same: the ledger refuses a policy that was used and changed; raise it.")
    return PolicyComparison(name, tuple(found), tuple(notes), was, now)
