"""Text of a comparison: lines for a terminal, and Markdown for a review comment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from crowdgate.policy.field_order import Direction
from crowdgate.report import code
from crowdgate.review.diff.difference import PolicyComparison, PolicyDifference

EQUALS = "equal: nothing that rules a release has changed"
SAID = {
    Direction.LOOSER: "looser",
    Direction.TIGHTER: "tighter",
    Direction.NOT_COMPARABLE: "not comparable",
    Direction.CHANGED_MEANING: "changed in meaning",
}


def headline(each: PolicyComparison) -> str:
    """Return one line on a policy: the number of changed fields in each direction (tighter, looser, ...)."""
    counts = Counter(change.direction for change in each.changes)
    return ", ".join(f"{counts[one]} {said}" for one, said in SAID.items() if counts[one]) or EQUALS


def lines(found: PolicyDifference) -> Iterator[str]:
    """Yield the lines of a comparison for a terminal."""
    for each in found.policies:
        yield f"{each.name}: {headline(each)}"
        for change in each.changes:
            yield f"  {change.direction:<15} {change.place}: {change.old} -> {change.new}"
            yield f"  {'':<15} {change.means}"
        effects = each.effects if each.changes else ()
        yield from (f"  {of}: {_both(was, now)}" for of, was, now in effects)
        yield from (f"  {words}" for words in effect_sentences(each))


def markdown(found: PolicyDifference) -> Iterator[str]:
    """Yield the Markdown of a comparison for a review comment."""
    yield f"## Policies: {_code(found.old)} and {_code(found.new)}"
    for each in found.policies:
        yield f"\n### {_escaped(each.name)}: {headline(each)}\n"
        if not each.changes:
            yield from map(_escaped, each.notes)
            continue
        yield "| | field | before | after | what it means |\n|---|---|---|---|---|"
        for change in each.changes:
            cells = (_code(change.place), _code(change.old), _code(change.new), _escaped(change.means))
            yield f"| **{change.direction}** | {' | '.join(cells)} |"
        if each.effects:
            yield "\n| what it comes to | before | after |\n|---|---|---|"
        for of, was, now in each.effects:
            yield f"| {_escaped(of)} | {was} | {now if was == now else f'**{now}**'} |"
        yield from (f"\n{_escaped(words)}" for words in effect_sentences(each))


def effect_sentences(each: PolicyComparison) -> tuple[str, ...]:
    """Return the guarantee before and after a change as sentences (none if no field changed), and the notes of the
    comparison."""
    return (*(_plain(each) if each.changes else ()), *each.notes)


def _both(was: str, now: str) -> str:
    return f"{now}, as before" if was == now else f"{was} -> {now}"


def _plain(each: PolicyComparison) -> Iterator[str]:
    was, now = (None if side is None else side.plain for side in (each.before, each.after))
    if was == now:
        yield from ([f"Before and after: {now}"] if now else [])
        return
    yield from ([f"Before: {was}"] if was else [])
    yield from ([f"After: {now}"] if now else [])


def _code(text: str) -> str:
    """Return text of a file as Markdown code, escaped for a cell of a table."""
    return code(text).replace("|", "\\|")


def _escaped(text: str) -> str:
    return "".join(f"\\{each}" if each in "\\`*_<>[]|#~" else each for each in text)
