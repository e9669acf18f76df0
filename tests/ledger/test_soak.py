"""A hundred thousand charges, requested by eight processes at once, by hand."""

import multiprocessing
from fractions import Fraction
from pathlib import Path

import pytest

from crowdgate.errors import LedgerRefused
from crowdgate.ledger.ledger import Budget, ChargeRequest, Spend, State, create, open_ledger

PROCESSES, EACH = 8, 12_500
CAP = 40_000
"""The budget in releases: 100,000 are attempted, a fifth of them under an id that another process requests as well."""
BUDGET = Budget("p", Spend(Fraction(CAP), Fraction(0)), 1000, "row", "add-remove")


def attempts(url: str, worker: int, results: "multiprocessing.Queue[tuple[int, int]]") -> None:
    ledger = open_ledger(url, None)
    accepted = other = 0
    for at in range(EACH):
        name = f"a/1/{at}" if at % 5 == 0 else f"a/1/{worker}-{at}"
        try:
            ledger.reserve(ChargeRequest(name, "d", "c", BUDGET, Spend(Fraction(1), Fraction(0)), version="a/1"))
            accepted += 1
        except LedgerRefused as refused:
            other += refused.code not in ("held", "refused")
    results.put((accepted, other))


@pytest.mark.soak
def test_a_hundred_thousand_charges_hit_the_cap_and_no_more(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ledger.db"
    create(url, "soak")
    results: multiprocessing.Queue[tuple[int, int]] = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=attempts, args=(url, at, results)) for at in range(PROCESSES)]
    for worker in workers:
        worker.start()
    found = [results.get() for _ in workers]
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    ledger = open_ledger(url, None)
    ledger.verify()
    entries = ledger.entries()
    assert sum(accepted for accepted, _ in found) == len(entries) == CAP
    assert sum(other for _, other in found) == 0
    assert ledger.spent("p").epsilon == CAP
    assert len({entry.release_id for entry in entries}) == CAP
    assert {entry.state for entry in entries} == {State.RESERVED}
