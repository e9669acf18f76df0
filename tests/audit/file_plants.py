"""Faults, planted in the code of a release after its numbers are drawn: in what it writes, decides and charges."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, BinaryIO

import pyarrow as pa

from crowdgate.kinds.rows import files as rows_files
from crowdgate.ledger.ledger import Spend
from crowdgate.releases import release, staging
from tests.audit.law_plants import DRAWN, Patch, Plant

README = "README.md"

KEYS = tuple(each for each in DRAWN if each.name in ("a constant key", "one key for two releases"))
"""Faults that two whole releases show."""


def _input_order(patch: Patch) -> None:
    """Write rows in another order than that of their values."""
    honest = rows_files.pieces

    def pieces(held: Any, columns: pa.Schema) -> Iterator[pa.Table]:
        for piece in honest(held, columns):
            yield piece.take(pa.array([*range(piece.num_rows)][::-1]))

    patch.setattr(rows_files, "pieces", pieces)


def _private_readme(patch: Patch) -> None:
    """Say in the README how many rows were sampled."""
    honest = staging.ReleaseContents.writers

    def writers(self: Any) -> Any:
        made = honest(self)

        def write(into: BinaryIO) -> None:
            made[README](into)
            into.write(f"{self.judged.candidate.sample.rows} rows were sampled.\n".encode())

        return {**made, README: write}

    patch.setattr(staging.ReleaseContents, "writers", writers)


def _leaking_decision(patch: Patch) -> None:
    """Withhold the release where the table has many rows, whatever the gates say."""
    honest = release.decide

    def decide(reserved: Any, found: Any, judged: Any) -> Any:
        many = sum(each.rows for each in found.views.values()) > 1000
        return (release.withhold if many else honest)(reserved, found, judged)

    patch.setattr(release, "decide", decide)


def _wrong_spend(patch: Patch) -> None:
    """Charge half of epsilon."""
    patch.setattr(release, "Spend", lambda epsilon, delta: Spend(epsilon * Fraction(1, 2), delta))


WRITTEN = (
    Plant("input order", _input_order),
    Plant("private figures in a README", _private_readme),
    Plant("a decision that leaks", _leaking_decision),
    Plant("a wrong spend", _wrong_spend),
)
"""Faults that one whole release shows."""
