"""Stores one release of every kind, and of those whose policy states shares, in the present manifest format: `python -m
tests.verify.keep`, once per format and kind.

Stored releases are never written again: releases of every published format must stay verifiable.
"""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.manifest import FORMAT
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.releases import release as job
from crowdgate.signing import keys
from tests.kinds.margins import margins_workshop
from tests.kinds.shares import rows_by_shares, tables_by_shares
from tests.kinds.synthetic import RICH, synthetic_workshop
from tests.kinds.test_tables_release import tables_workshop
from tests.workshop import Workshop

KEPT = Path(__file__).parent / "kept"
GROUPED = {"level: 10 years, at": "level: exact, histogram: hierarchical, at"}
KINDS: dict[str, Callable[[Path], Workshop]] = {
    "safe_k_anonymity": margins_workshop,
    "dp_tables": tables_workshop,
    "dp_synthetic": lambda root: synthetic_workshop(root, RICH),
    "rows_by_shares": rows_by_shares,
    "tables_by_shares": tables_by_shares,
    "tables_with_errors": tables_workshop,
    "tables_by_published_numbers": tables_workshop,
    "tables_by_groups": lambda root: tables_workshop(root, **GROUPED),
    "tables_by_other_groups": tables_workshop,
    "tables_by_some_cells": tables_workshop,
}
BY_SHARES = tuple(name for name in KINDS if name.endswith("by_shares"))


def keep(root: Path = KEPT) -> None:
    """Store releases of kinds that the present format lacks, signed; only the public half of the key is stored."""
    place = root / str(FORMAT)
    place.mkdir(parents=True, exist_ok=True)
    new = [name for name in KINDS if not (place / name).exists()]
    with tempfile.TemporaryDirectory() as scratch:
        secret = Path(scratch) / "kept.pem"
        keys.create(secret)
        for name in new:
            shutil.copy(f"{secret}.pub", place / f"{name}.pub")
            workshop = KINDS[name](Path(scratch) / name)
            with (workshop.root / "crowdgate.toml").open("a", encoding="utf-8") as settings:
                settings.write('signing_key = "../kept.pem"\n')
            ledger_at(workshop.root, None).sign()
            made = job.release(Request(workshop.policy, "2030-01-01"), draw_key).path
            assert made is not None, "the release is published"
            shutil.copytree(made, place / name)


if __name__ == "__main__":
    keep()
