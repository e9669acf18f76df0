"""Compare two policies, or two folders of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from crowdgate.jobs.diff.compare import NOTHING, Change, changes, name_changes
from crowdgate.jobs.diff.effects import Comes, comes_to, contract_changes, level_codes, planned
from crowdgate.jobs.diff.order import Direction, known_levels
from crowdgate.jobs.diff.sides import Side, Stated, opened, wrong
from crowdgate.policy.policy import version_of

OUTSIDE = "Contract and budget were not compared, and nothing is worked out: no working copy around {}."

UNREAD = "the ledger can't be read here, or refuses"


@dataclass(frozen=True)
class Compared:
    """Two policies of one name. `notes` are what differs and rules nothing, and what was not compared; `before` and
    `after` what they come to (None: not known)."""

    name: str
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()
    before: Comes | None = None
    after: Comes | None = None

    @property
    def stricter(self) -> bool:
        """Whether nothing changed, or only towards tighter."""
        return all(each.direction is Direction.TIGHTER for each in self.changes)

    @property
    def effects(self) -> list[tuple[str, str, str]]:
        """What they come to, line by line: its name, before and after."""
        was, now = ({} if each is None else each.lines for each in (self.before, self.after))
        lines = ((name, was.get(name, NOTHING), now.get(name, NOTHING)) for name in dict.fromkeys([*was, *now]))
        return [*(line for line in lines if line[1:] != (NOTHING, NOTHING)), *self._chances()]

    def _chances(self) -> Iterator[tuple[str, str, str]]:
        """The chances that differ, of what both sides can tell."""
        was, now = ({} if each is None else each.chances for each in (self.before, self.after))
        yield from ((name, was[name], now[name]) for name in was if was[name] != now.get(name, was[name]))

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        return {
            "policy": self.name,
            "direction": str(overall(self.changes)),
            "changes": [each.to_json() for each in self.changes],
            "effects": [{"of": of, "before": was, "after": now} for of, was, now in self.effects],
            "ledger_read": all(each is None or each.known for each in (self.before, self.after)),
            "plain": [None if each is None else each.plain for each in (self.before, self.after)],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Difference:
    """All that differs between two sides."""

    old: str
    new: str
    policies: tuple[Compared, ...] = field(default=())

    @property
    def stricter(self) -> bool:
        """Whether nothing changed, or only towards tighter."""
        return all(each.stricter for each in self.policies)

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        found = [change for each in self.policies for change in each.changes]
        stated = {"outcome": "compared", "old": self.old, "new": self.new, "direction": str(overall(found))}
        return {**stated, "policies": [each.to_json() for each in self.policies]}


EQUAL = "equal"


def overall(found: tuple[Change, ...] | list[Change]) -> str:
    """What changes come to together: equal, of one direction, or not comparable."""
    directions = {each.direction for each in found}
    if not directions:
        return EQUAL
    for worst in (Direction.CHANGED_MEANING, Direction.NOT_COMPARABLE):
        if worst in directions:
            return worst
    return directions.pop() if len(directions) == 1 else Direction.NOT_COMPARABLE


def diff(old: str, new: str) -> Difference:
    """Compare policy files, folders of policies, or either in git as `REV:path`. Raises ConfigurationError."""
    with opened(old) as was, opened(new) as now:
        if was.folder != now.folder:
            raise wrong(new, "a folder beside a file", "two files or two folders")
        return Difference(old, new, tuple(_pairs(was, now)))


def _pairs(was: Side, now: Side) -> Iterator[Compared]:
    for name in dict.fromkeys([*was.policies, *now.policies]):
        old, new = was.policies.get(name), now.policies.get(name)
        if old is not None and new is not None:
            yield compared(old, new)
        elif new is not None:
            yield _alone(name, new, Direction.LOOSER, "one more policy may release data about these people")
        elif old is not None:
            yield _alone(name, old, Direction.TIGHTER, "nothing is released by this policy any more")


def _alone(name: str, stated: Stated, direction: Direction, means: str) -> Compared:
    plan = planned(stated)
    comes = None if plan is None or stated.home is None else comes_to(plan, stated.home)
    version = f"version {stated.policy.metadata.version}"
    come = direction is Direction.LOOSER
    change = Change("policy", direction, *((NOTHING, version) if come else (version, NOTHING)), means)
    return Compared(name, (change,), (), *((None, comes) if come else (comes, None)))


def compared(old: Stated, new: Stated) -> Compared:
    """Two policies, with what they come to. Raises ConfigurationError for one that is wrong in its working copy."""
    before, after = planned(old), planned(new)
    name, notes = new.policy.metadata.name, list(name_changes(old.policy, new.policy))
    if before is None or after is None or old.home is None or new.home is None:
        outside = old.path if before is None else new.path
        return Compared(
            name, tuple(changes(old.policy, new.policy, known_levels({}))), (*notes, OUTSIDE.format(outside))
        )
    found = [
        *changes(old.policy, new.policy, known_levels(level_codes(before, after))),
        *contract_changes(before, after),
        *changes(before.bundle.budget, after.bundle.budget, known_levels({}), "budget"),
    ]
    home = new.home
    was, now = comes_to(before, home), comes_to(after, home)
    if found:
        left = "now, by the ledger" if was.known and now.known else f"of a whole budget: {UNREAD}"
        notes.append(f"Releases left are counted {left}.")
    if found and version_of(old.policy) == version_of(new.policy):
        notes.append("The version is the same: the ledger refuses a policy that was used and changed; raise it.")
    return Compared(name, tuple(found), tuple(notes), was, now)
