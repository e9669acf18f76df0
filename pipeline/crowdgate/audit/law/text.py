"""Findings of an audit of the stated distributions, in words and tables for people, and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crowdgate.audit.common.audit import FinishedAudit
from crowdgate.audit.common.planted_faults import unseen_faults
from crowdgate.audit.common.text import ENDS, measurement_cells, measurement_json
from crowdgate.audit.law.findings import ALL_NOISE, CLASSES, LawEstimate, LawFindings, error_of
from crowdgate.audit.law.record import LawRecord
from crowdgate.audit.law.score_tests import LawTest
from crowdgate.audit.law.scores import NOISE
from crowdgate.candidate import AuditQuestion, Measurement
from crowdgate.gate import Outcome
from crowdgate.kind.listing import Listing, text_listing
from crowdgate.number_text import Rounding, decimal, whole

Compared = FinishedAudit[LawRecord, LawFindings]
ESTIMATES = ("numbers", "how many", "spread", *ENDS, ("seen if smaller by", ".3g", "never"))
RATES = ("numbers", "sampling rate", *ENDS)
TESTS = ("numbers", "test", ("p-value", ".2g"), "refuted")
UNSEEN = unseen_faults(AuditQuestion.LAW) + (
    " It can't see a guarantee that is planned wrongly, or the truth that an attacker learns from honest numbers. Nor"
    " does it see a wrong sensitivity that a charged gate states, or how"
    " synthetic rows are made of measured tables."
)
MULTIPLES = (
    "Spread and sampling rate are multiples of the stated ones, with one-sided confidence limits of 95 %: the spread"
    " of wide Gaussian noise, the rate in classes that are never suppressed. Seen if smaller by: the least shortfall of"
    " the spread that this audit sees with probability .9. Other noise is tested, without saying how much is seen."
)


def verdict(found: Compared) -> str:
    """Return one sentence that says whether anything contradicts the stated distributions."""
    said = found.findings
    if said.outcome is Outcome.PASS:
        return f"Nothing contradicts what is stated: {_shown(said)}."
    if said.contradictions:
        return f"The release contradicts its statement: {said.contradictions[0]}"
    worst = min(said.refuting, key=lambda each: each.p)
    return f"Drawn numbers contradict their stated distribution: {worst.family}, {worst.test} (p {worst.p:.2g})."


def _shown(said: LawFindings) -> str:
    shown = []
    if said.shortfall is not None:
        least = decimal(100 * (1 - float(said.shortfall.upper)), 3, Rounding.DOWN)
        shown.append(f"noise is at least {least} % of the stated")
    rates = [each.rate for each in said.estimates if each.rate is not None]
    if rates:
        apart = max(abs(float(limit) - 1) for each in rates for limit in (each.lower, each.upper))
        shown.append(f"the sampling rate is within {decimal(100 * apart, 2)} % of the stated")
    return " and ".join(shown) or "all drawn numbers fit"


def lines(found: Compared) -> list[str]:
    """Return sentences with all that a reader must know to understand the figures."""
    record = found.record
    return [
        MULTIPLES,
        f"{whole(record.setting.releases)} fresh releases of the whole table of {record.setting.population}, each with"
        " a key of its own, by the functions of a release. No published release is read.",
        "P-values are exact, but those of rare classes are bounds, and those of synthetic rows, whose tables depend on"
        f" earlier noise, approximate. Together they raise a false alarm with probability at most"
        f" {decimal(error_of(record.setting.error, record.attempt))} (attempt {record.attempt} at these policy files).",
        *_power(found.findings),
        *_without_rate(found.findings),
    ]


def _power(said: LawFindings) -> Iterator[str]:
    for each in said.estimates:
        if not each.family.startswith(NOISE) and each.family != ALL_NOISE:
            continue
        if each.seen is None:
            yield f"It is not known how much too small {each.family} this audit would have seen."
        else:
            short = decimal(100 * each.seen, 2)
            yield f"This audit would have seen {each.family} that is {short} % too small with probability .9."


def _without_rate(said: LawFindings) -> Iterator[str]:
    if any(each.family == CLASSES and each.rate is None for each in said.estimates):
        yield "The sampling rate is not measured: each class may be suppressed."


def estimate_listing(found: Compared) -> Listing:
    """Return a table of the spread of every family of wide Gaussian noise."""
    rows = (
        [each.family, each.numbers, *measurement_cells(each.spread), each.seen]
        for each in found.findings.estimates
        if each.spread is not None
    )
    return text_listing("Spread of noise, as a multiple of the stated one", ESTIMATES, rows)


def rate_listing(found: Compared) -> Listing:
    """Return a table of the sampling rates."""
    rated = [(each.family, each.rate) for each in found.findings.estimates if each.rate is not None]
    rows = ([family, *measurement_cells(rate)] for family, rate in rated)
    return text_listing("Sampling rate, as a multiple of the stated one", RATES, rows)


def test_listing(found: Compared) -> Listing:
    """Return a table of all tests with their p-values."""
    refuted = {*found.findings.refuting}
    rows = (
        [each.family, each.test, each.p, "refuted" if each in refuted else ""] for each in all_tests(found.findings)
    )
    return text_listing("Tests of the stated distributions", TESTS, rows)


def all_tests(said: LawFindings) -> list[LawTest]:
    """Return all tests of an audit."""
    rare = [] if said.rare is None else [said.rare]
    return [*(each for own in said.estimates for each in own.tests), *rare]


def json_fields(found: Compared) -> dict[str, Any]:
    """Return the fields that `--json` prints, by name."""
    said = found.findings
    return {
        "contradictions": list(said.contradictions),
        "level_of_each_test": said.level,
        "estimates": [_estimate(each) for each in said.estimates],
        "tests": [{"numbers": each.family, "test": each.test, "p": each.p} for each in all_tests(said)],
        "noise_shortfall": _measured(said.shortfall),
    }


def _estimate(each: LawEstimate) -> dict[str, Any]:
    return {
        "numbers": each.family, "how_many": each.numbers, "spread": _measured(each.spread),
        "rate": _measured(each.rate), "seen_if_smaller_by": each.seen,
    }  # fmt: skip


def _measured(each: Measurement | None) -> dict[str, float | None] | None:
    return None if each is None else measurement_json(each)
