"""A simulated run in place of a release, for policies with `enforcement: dry-run`: it reads no table of people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crowdgate.planning.plan import bundle_of
from crowdgate.releases.enforcement import WORDS, is_dry_run

if TYPE_CHECKING:
    from crowdgate.kind.run import Request
    from crowdgate.releases.rehearsal.rehearse import RehearsalResult


@dataclass(frozen=True)
class DryRun:
    """The result of a simulated run in place of a release."""

    rehearsed: RehearsalResult

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints: its outcome is never that of a release."""
        return {**self.rehearsed.to_json(), "outcome": f"dry-run: {self.rehearsed.outcome}", "plain": WORDS}


def dry_run(request: Request) -> DryRun | None:
    """Run a simulation in place of a requested release, if its policy states dry-run; otherwise return None.

    The table, destination and ledger are not touched, not even those in the request. Raises as `rehearse` does.
    """
    if not is_dry_run(bundle_of(request.policy)):
        return None
    from crowdgate.releases.rehearsal.rehearse import RehearsalRequest, rehearse

    return DryRun(rehearse(RehearsalRequest(request.policy)))
