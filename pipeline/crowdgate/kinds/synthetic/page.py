"""The README of a release of synthetic rows, for their users."""

from collections.abc import Iterator

import numpy as np

from crowdgate.candidate import Measurement
from crowdgate.kind.kind import KindPage
from crowdgate.kinds.synthetic.certificate import Certificate
from crowdgate.kinds.synthetic.files import certificate_of
from crowdgate.kinds.synthetic.manifest_fields import Combination, SyntheticManifest
from crowdgate.kinds.synthetic.released_files import PublishedSynthetic
from crowdgate.number_text import Rounding, decimal, rounded

LISTED = 20
"""The largest number of pairs in the README; the certificate lists the others."""


def page(said: SyntheticManifest, held: PublishedSynthetic) -> KindPage:
    """Return the README page of a release of synthetic rows: template and values, such as how the rows were drawn, and
    which pairs of columns may be analysed together by the certificate of their errors."""
    mechanism, measured = said.mechanism, said.mechanism.measured
    certified = certificate_of(said, held)
    values: dict[str, object] = {
        "columns": [{"name": each.name, "level": each.level, "values": each.values} for each in said.data.columns],
        "rows": said.data.rows,
        "rho": decimal(mechanism.rho, 4),
        "first": sum(not each.round for each in measured),
        "later": sum(each.round > 0 for each in measured),
        "rounds": measured[-1].round,
        "cells": sum(each.cells for each in measured),
        "beta": rounded(mechanism.beta, 6),
        "sampled": mechanism.beta != 1,
        "persons": mechanism.rows_per_unit,
        "impossible": [*map(_combination_text, mechanism.impossible)],
        "triples": [", ".join(each) for each in mechanism.triples],
        "seed": mechanism.seed,
        "limit": rounded(mechanism.pair_error, 6),
        "used": "the rows",
        "certified": None if certified is None else _certificate_values(held, certified),
    }
    return KindPage(f"kinds/synthetic/release.{said.format}.md.j2", values)


def _combination_text(line: Combination) -> str:
    """Return a combination that can't occur, in words."""
    return " together with ".join(f"{name} {' or '.join(values)}" for name, values in line.items())


def _certificate_values(held: PublishedSynthetic, certified: Certificate) -> dict[str, object]:
    """Return the certificate in numbers: of all pairs together, and of the pairs that may not be used, worst first."""
    summed = certified.summed_up
    order = np.argsort(-certified.upper, kind="stable").tolist()
    wrong = [at for at in order if not certified.trustworthy[at]]
    return {
        "pairs": len(order),
        "trusted": len(order) - len(wrong),
        "greatest": _measurement_text(summed.greatest),
        "mean": _measurement_text(summed.mean),
        "wrong": [*_listed_pairs(held, certified, wrong[:LISTED])],
        "more": max(0, len(wrong) - LISTED),
        "best": [*_listed_pairs(held, certified, order[:-4:-1])],
    }


def _listed_pairs(held: PublishedSynthetic, certified: Certificate, places: list[int]) -> Iterator[dict[str, str]]:
    for at in places:
        one, other = held.pairs[at]
        interval = f"{decimal(certified.lower[at], 3, Rounding.DOWN)} to {decimal(certified.upper[at], 3)}"
        error = rounded(max(0.0, certified.errors[at]), 3)
        yield {"column": one.column, "other": other.column, "error": error, "interval": interval}


def _measurement_text(found: Measurement) -> str:
    return f"{rounded(found.value, 3)} (at most {decimal(found.upper, 3)})"
