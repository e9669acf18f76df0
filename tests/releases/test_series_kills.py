"""Releases of a series that are killed at each step: a slot that was read counts, and the series is charged once."""

import pytest

from crowdgate.ledger import reservations
from crowdgate.ledger.ledger import open_ledger
from crowdgate.ledger.values import ZERO, Spend
from crowdgate.planning.plan import plan_policy
from crowdgate.policy.policy import version_of
from tests.releases.killing import run_and_kill
from tests.workshop import Workshop, crowdgate

STEPS = {
    ("reserve", "before"): (0, 0),
    ("reserve", "after"): (1, 0),
    ("begin_reading", "after"): (1, 5),
    ("commit", "after"): (1, 0),
}
"""Steps of the ledger at which a run is killed: the slots that it has taken then, and the exit code of its next run."""
SPENT = 5


def standing(workshop: Workshop) -> tuple[Spend, int]:
    """Return what is spent, and the number of slots taken of the series, of a ledger that agrees with its journal."""
    ledger, bundle = open_ledger(workshop.ledger, None), plan_policy(workshop.policy).bundle
    ledger.verify()
    payer = ledger.series_payer(version_of(bundle.policy), bundle.digest)
    return ledger.spent("clinic-patients"), 0 if payer is None else payer[1]


def release(workshop: Workshop, day: int) -> int:
    return crowdgate("release", workshop.policy, "--as-of", f"2030-01-0{day}")


@pytest.mark.thorough
@pytest.mark.parametrize(("step", "ended"), STEPS.items())
def test_a_killed_slot_counts_once_it_was_read_and_the_series_is_charged_once(
    step: tuple[str, str], ended: tuple[int, int], workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first slot is killed, and a later one. Leases count as expired at the next run."""
    monkeypatch.chdir(workshop.root)
    workshop.edit(workshop.policy, "  publish:", "  series: {releases: 3}\n  publish:")
    series = plan_policy(workshop.policy).series
    assert series is not None
    due, (taken, code) = Spend(series.epsilon, series.delta), ended
    for day in (1, 2):
        run_and_kill(workshop.policy, "ledger", *step, slot=f"2030-01-0{day}")
        assert standing(workshop) == (due if taken or day > 1 else ZERO, day - 1 + taken)
        with monkeypatch.context() as patch:
            patch.setattr(reservations, "LEASE_SECONDS", -1)
            assert release(workshop, day) == code
        assert standing(workshop) == (due, day)
    if code == SPENT:
        assert release(workshop, 3) == 0
        assert release(workshop, 4) == SPENT
        assert standing(workshop) == (due, 3)
