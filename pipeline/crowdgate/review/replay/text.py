"""Text of past releases, in lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from crowdgate.gate import gate_text
from crowdgate.review.replay.gate_on_recorded_verdicts import ReplayedGate
from crowdgate.review.replay.past_releases import CRASHED, PastRelease, PolicyReplay

LOOKED = (
    "Private records were opened, which the ledger holds: policies of this population that are first used from now on "
    "are marked as informed by confidential data."
)


def lines(found: PolicyReplay) -> Iterator[str]:
    """Yield the lines of a terminal on all past releases and gates."""
    yield f"{found.policy}: {len(found.past)} past releases in the ledger {found.ledger}"
    for each in found.past:
        yield from _of_release(each)
    yield from (f"  {each.words}" for each in found.tallies if found.past)
    if any(each.opened for each in found.past):
        yield f"  {LOOKED}"


def _of_release(past: PastRelease) -> Iterator[str]:
    if past.refused:
        yield f"  {past.release_id}: refused"
        yield from (f"    {problem}" for problem in past.refused)
    elif not past.gates:
        yield f"  {past.release_id}: {'crashed, or it runs still' if past.ended == CRASHED else past.ended}"
    else:
        yield f"  {past.release_id}: {past.ended}; under the policy as it stands: {past.now}"
        for each in past.gates:
            outcome = "not known" if each.verdict is None else each.verdict.ended
            yield f"    {outcome:<12} {_gate_name(each)}: {each.words}"


def _gate_name(each: ReplayedGate) -> str:
    return gate_text(each.rule) + ("" if each.rule.severity == "block" else " (advice)")
