"""Releases of every kind hold what a second computation, which shares no function with the maker, says that they hold.

It finds every planted fault, and agrees with the accounting for random parameters.
"""

import math
import shutil
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting import pso, safe_k
from crowdgate.accounting.amplification import amplify
from crowdgate.accounting.discrete_laws import DiscreteGaussian, DiscreteLaplace
from crowdgate.accounting.person import per_row
from crowdgate.accounting.zcdp import zcdp_epsilon
from crowdgate.errors import VerificationFailed
from crowdgate.guarantee import Guarantee, Part
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.noise import laplace_quantile
from crowdgate.number_text import Rounding, decimal, rounded_text
from crowdgate.releases import release as job
from crowdgate.risk.singletons import Bins, expected
from crowdgate.verification.release import verify
from tests.examples import examples
from tests.forging import Claims, Lines, reseal_with_page, rewrite_lines, rewrite_rows, rewrite_table
from tests.verify import second
from tests.verify.second import M, Release, problems, real
from tests.workshop import Workshop, good_rows, make_workshop

Edit = tuple[str, str, str]
Change = Callable[[Claims], object]

PRIVACY: Edit = ("policy", "privacy: {epsilon: 2, delta: 0.01}", "privacy: {epsilon: 2, delta: 0.0001}")
FEW: Edit = ("policy", "at_most: 4, over: [ward]}", "at_most: 5, over: [ward], with: {people: 12}}")
FIXED = "attributes: {age: 50 years, ward: exact}"
LISTS = "attributes: {age: {choose: [50 years, exact, 10 years]}, ward: {choose: [exact, any]}}"
CHARGED = "    - {measure: singletons, at_most: 500, charge: {epsilon: 0.5}}\n"
ATTESTED = "{name: spring, method: bernoulli, beta: 0.5, secret: true, size: unpublished}"
SAMPLE = f"      - {{property: sample, value: {ATTESTED}}}\n"
BOUND = "      - {property: rowsAtMost"
IN_SAMPLE = "    - {measure: pso_bound_in_sample, at_most: 1}\n"
PERSON: tuple[Edit, ...] = (
    ("contract", "value: row}", "value: {person: patient, rows: 2}}"),
    ("budget", "unit: row", 'unit: "person:patient"'),
)
TABLES = """\
apiVersion: crowdgate/v1
kind: ReleasePolicy
metadata: {name: clinic, version: 1, owner: board, description: Patients by age and ward.}
spec:
  contract: clinic
  budget: clinic-patients
  privacy: {epsilon: 2, delta: 0.0001}
  mechanism:
    kind: dp_tables
    noise: gaussian
    levels: {age: 50 years, ward: exact}
    tables:
      - {total: true, share: 0.1}
      - {all: 1}
      - {all: 2, share: 0.3}
      - {sum: age, by: [ward], low: 10, high: 60}
      - {mean: age, by: {ward: exact}}
      - {quantiles: age, level: 10 years, at: [0.75, 0.5], by: [ward]}
    relative_error: 0.9
    raw: true
  gates:
    - {measure: guarantee_epsilon, at_most: 2}
    - {measure: guarantee_delta, at_most: 0.0001}
    - {measure: pso_bound, at_most: 1, with: {weight: 1e-6}}
    - {measure: pso_bound_in_sample, at_most: 1, with: {weight: 1e-6}}
    - {measure: trusted_share, at_least: 0.05}
    - {measure: total_relative_error, at_most: 0.9}
    - {measure: smallest_trusted_cell, at_least: 0}
  publish: {to: releases, formats: [parquet, csv]}
"""
GAUSSIAN = "noise: gaussian"
ROWS: dict[str, tuple[Edit, ...]] = {
    "fixed": (("policy", "    - {measure: released_rows", "    - {measure: released_classes, at_least: 1}\n"
               f"{IN_SAMPLE}    - {{measure: released_rows"),),
    "empty": (("policy", FIXED, "attributes: {age: exact, ward: exact}"),),
    "choice on the full table": (("policy", FIXED, f"{LISTS}\n    choose: {{epsilon: 0.25}}"),),
    "choice on the sample": (("policy", FIXED, f"{LISTS}\n    choose: {{epsilon: 0.05, on: sample}}"),),
    "person": PERSON,
    "choice for persons": (*PERSON, ("policy", FIXED, f"{LISTS}\n    choose: {{epsilon: 0.25}}")),
    "inherited": (
        ("policy", "sampling: {beta: 0.5}", "sampling: {inherited: spring}"), ("policy", CHARGED, ""),
        ("contract", BOUND, SAMPLE + BOUND),
    ),
}  # fmt: skip
NOISY: dict[str, tuple[Edit, ...]] = {
    "gaussian": (),
    "laplace": (("policy", GAUSSIAN, "noise: laplace"),),
    "gaussian on a sample": (("policy", GAUSSIAN, f"{GAUSSIAN}\n    sampling: {{beta: 0.5}}"),),
    "laplace on a sample": (("policy", GAUSSIAN, "noise: laplace\n    sampling: {beta: 0.25}\n    suppress: true"),),
    "gaussian for persons": PERSON,
}
KINDS = {**ROWS, **NOISY}
Made = Callable[[str], Release]


def workshop(root: Path, name: str) -> Workshop:
    made = make_workshop(root)
    edits: tuple[Edit, ...] = KINDS[name]
    if name in NOISY:
        made.policy.write_text(TABLES, encoding="utf-8")
    else:
        edits = (PRIVACY, FEW, *edits)
    for at, old, new in edits:
        made.edit(getattr(made, at), old, new)
    if PERSON[0] in edits:
        made.write([{**row, "patient": f"p{i // 2}"} for i, row in enumerate(good_rows(600))])
    return made


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A release of a kind, made when it is first asked for."""

    @cache
    def one(name: str) -> Release:
        prepared = workshop(tmp_path_factory.mktemp("second") / "w", name)
        path = job.release(Request(prepared.policy, "2030-01-01"), draw_key).path
        assert path is not None
        return Release.of(path)

    return one


@pytest.mark.thorough
@pytest.mark.parametrize("name", KINDS)
def test_a_release_holds_what_is_computed_a_second_time(made: Made, name: str) -> None:
    release = made(name)
    assert problems(release) == []
    assert second.unread(release) == set()


def test_an_empty_release_is_among_them(made: Made) -> None:
    assert made("empty").said["data"]["rows"] == 0


@pytest.mark.thorough
@pytest.mark.parametrize("name", ROWS)
def test_a_smaller_k_does_not_reach_the_guarantee_where_the_policy_asks_for_the_least(made: Made, name: str) -> None:
    assert second.k_is_least(made(name))


# planted faults


def faulty(release: Release, change: Change) -> list[str]:
    """Return the problems found when the manifest is changed."""
    said = deepcopy(release.said)
    change(said)
    return problems(replace(release, said=said))


def part(claims: Claims, at: int, factor: Fraction, what: str = "epsilon") -> None:
    """A part scaled, and the total with it."""
    own = claims["guarantee"]["parts"][at]
    before = Fraction(own[what])
    own[what] = str(before * factor)
    claims["guarantee"][what] = str(Fraction(claims["guarantee"][what]) + before * (factor - 1))


def verdict(claims: Claims, measure: str) -> dict[str, Any]:
    return next(each for each in claims["verdicts"] if each["measure"] == measure)


def last_digit(claims: Claims, measure: str, what: str = "value") -> None:
    """Add one unit in the last of nine digits."""
    own = verdict(claims, measure)
    number = Fraction(own[what])
    digits = f"{float(number):.8e}".split("e")
    own[what] = f"{Fraction(digits[0]) + Fraction(1, 10**8)}"
    own[what] = str(Fraction(own[what]) * Fraction(10) ** int(digits[1]))


def spends(claims: Claims, factor: Fraction) -> None:
    """Multiply the spend of the noise beyond the stated one."""
    mechanism = claims["mechanism"]
    name = "epsilon" if mechanism["noise"] == "discrete laplace" else "rho"
    for each in (mechanism, *mechanism["queries"]):
        each[name] = str(Fraction(each[name]) * factor)


def query(claims: Claims, at: int) -> dict[str, Any]:
    found: dict[str, Any] = claims["mechanism"]["queries"][at]
    return found


def smaller_k(claims: Claims) -> None:
    claims["mechanism"]["k"] -= 1


def half_grid(claims: Claims) -> None:
    own = query(claims, 4)
    own["grid"]["high"] //= 2
    own["sensitivity"] //= 2


def as_laplace(claims: Claims) -> None:
    mechanism = claims["mechanism"]
    mechanism["noise"] = "discrete laplace"
    for each in (mechanism, *mechanism["queries"]):
        each["epsilon"] = each.pop("rho")


MORE, LESS = 1 + Fraction(1, 10**6), 1 - Fraction(1, 10**6)
CLAIMS: dict[str, tuple[str, Change, str]] = {
    "k": ("fixed", smaller_k, "delta of k"),
    "k of a choice": ("choice on the full table", smaller_k, "delta of k"),
    "k of a joint choice": ("choice on the sample", smaller_k, "delta of k"),
    "k for persons": ("person", smaller_k, "delta of k"),
    "beta": ("fixed", lambda claims: claims["mechanism"].update(beta="0.6"), "delta of k"),
    "an inherited beta": ("inherited", lambda claims: claims["mechanism"].update(beta="0.6"), "delta of k"),
    "epsilon of a part": (
        "fixed", lambda claims: claims["guarantee"]["parts"][0].update(epsilon="1.499999"), "parts add up"
    ),
    "less for a gate": ("fixed", lambda claims: part(claims, 1, Fraction(1, 5)), "gate singletons is paid"),
    "less for a choice": ("choice on the full table", lambda claims: part(claims, 1, LESS), "the choice is paid"),
    "no part for a choice": (
        "choice on the full table", lambda claims: claims["guarantee"]["parts"].pop(1), "the parts are known",
    ),
    "one candidate": (
        "choice on the sample", lambda claims: claims["mechanism"]["choice"].update(candidates=1),
        "candidates of the choice",
    ),
    "many candidates": (
        "choice on the sample", lambda claims: claims["mechanism"]["choice"].update(candidates=200), "delta of k",
    ),
    "a dearer choice": (
        "choice on the sample", lambda claims: claims["mechanism"]["choice"].update(epsilon="0.2"), "delta of k",
    ),
    "a choice for nothing": (
        "choice on the sample", lambda claims: claims["mechanism"]["choice"].update(epsilon="0"),
        "epsilon of the choice",
    ),
    "a row less": ("person", lambda claims: claims["mechanism"].update(rows=1), "rows of a unit"),
    "a row more": ("person", lambda claims: claims["facts"].update(rows_per_unit=3), "delta of k"),
    "rows of a row": ("person", lambda claims: claims["guarantee"].update(unit="row"), "rows of a unit"),
    "rows": ("fixed", lambda claims: claims["data"].update(rows=claims["data"]["rows"] - 1), "rows and classes"),
    "classes": ("fixed", lambda claims: claims["data"].update(classes=7), "rows and classes"),
    "rows of a verdict": (
        "fixed", lambda claims: verdict(claims, "released_rows").update(value="1"), "released_rows: value",
    ),
    "classes of a verdict": (
        "fixed", lambda claims: verdict(claims, "released_classes").update(low="5"), "released_classes: value",
    ),
    "the smallest class": (
        "fixed", lambda claims: verdict(claims, "smallest_class").update(high="999"), "smallest_class: value",
    ),
    "noise of a gate": (
        "fixed", lambda claims: verdict(claims, "singletons").update(high=verdict(claims, "singletons")["value"]),
        "singletons: value",
    ),
    "rows behind a gate": (
        "person", lambda claims: claims["facts"].update(rows_per_unit=1), "singletons: value",
    ),
    "singletons": ("fixed", lambda claims: last_digit(claims, "expected_singletons"), "expected_singletons: value"),
    "singletons below": (
        "fixed", lambda claims: last_digit(claims, "expected_singletons", "low"), "expected_singletons: value",
    ),
    "a margin": (
        "fixed", lambda claims: claims["facts"]["margins"].update(ward=[500000001, 300000000, 200000000, 0]),
        "expected_singletons: value",
    ),
    "singling out": ("fixed", lambda claims: last_digit(claims, "pso_bound"), "pso_bound: value"),
    "singling out of the sample": (
        "fixed", lambda claims: last_digit(claims, "pso_bound_in_sample"), "pso_bound_in_sample: value",
    ),
    "the whole for the sample": (
        "laplace on a sample", lambda claims: verdict(claims, "pso_bound_in_sample").update(
            {end: verdict(claims, "pso_bound")[end] for end in ("value", "low", "high")}
        ), "pso_bound_in_sample: value",
    ),
    "a rate for singling out": (
        "laplace on a sample", lambda claims: claims["mechanism"].update(beta="0.26"), "pso_bound_in_sample: value",
    ),
    "people": ("fixed", lambda claims: claims["facts"].update(people=999), "pso_bound: value"),
    "spending": ("fixed", lambda claims: claims["facts"]["spent"].update(delta="0.0001001"), "pso_bound: value"),
    "an outcome": ("fixed", lambda claims: verdict(claims, "pso_bound").update(outcome="fail"), "pso_bound: outcome"),
    "a limit": ("fixed", lambda claims: verdict(claims, "singletons").update(at_most="-100"), "singletons: outcome"),
    "an epsilon of a verdict": (
        "gaussian", lambda claims: verdict(claims, "guarantee_epsilon").update(value="1.9999999999999"),
        "guarantee_epsilon: value",
    ),
    "a delta of a verdict": (
        "gaussian", lambda claims: verdict(claims, "guarantee_delta").update(high="0.000100000000001"),
        "guarantee_delta: value",
    ),
    "trusted share": ("gaussian", lambda claims: last_digit(claims, "trusted_share"), "trusted_share: value"),
    "error of the total": (
        "gaussian", lambda claims: last_digit(claims, "total_relative_error"), "total_relative_error: value",
    ),
    "smallest cell": (
        "gaussian", lambda claims: last_digit(claims, "smallest_trusted_cell"), "smallest_trusted_cell: value",
    ),
    **{
        f"{name}: {what}": (name, lambda claims, factor=factor: spends(claims, factor), found)  # type: ignore[misc]
        for name in NOISY
        for what, factor, found in (
            ("more is spent", 1 + 3 * (MORE - 1), "epsilon of the noise"),
            ("less is spent", 1 - 3 * (MORE - 1), "epsilon is not overstated"),
        )
    },
    "a query spends more": (
        "gaussian", lambda claims: query(claims, 0).update(rho=str(Fraction(query(claims, 0)["rho"]) * MORE)),
        "queries spend no more than the mechanism",
    ),
    "another law": ("gaussian", as_laplace, "errors of the noise"),
    "a sensitivity": ("gaussian for persons", lambda claims: query(claims, 0).update(sensitivity=1), "sensitivities"),
    "a narrower grid": ("gaussian", half_grid, "errors of the noise"),
    "a rate": ("laplace on a sample", lambda claims: claims["mechanism"].update(beta="0.26"), "epsilon of the noise"),
    "a looser flag": ("gaussian", lambda claims: claims["mechanism"].update(relative_error="1e-09"),
                      "count-raw: trustworthy"),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_that_does_not_hold_is_found(made: Made, name: str) -> None:
    kind, change, found = CLAIMS[name]
    assert found in faulty(made(kind), change)


@pytest.mark.parametrize("name", ["one candidate", "a choice for nothing"])
def test_verification_refuses_a_choice_that_no_policy_can_ask_for(made: Made, tmp_path: Path, name: str) -> None:
    kind, change, found = CLAIMS[name]
    copy = Path(shutil.copytree(made(kind).folder, tmp_path / "copy"))
    reseal_with_page(copy, change)
    assert problems(Release.of(copy)) == [found]
    with pytest.raises(VerificationFailed, match="step 5, guarantee"):
        verify(copy)


WORDS: dict[str, tuple[str, int, str, str]] = {
    "epsilon": ("fixed", 0, "e^2 ", "e^1.99999 "),
    "its exponential": ("fixed", 0, "= 7.39,", "= 7.38,"),
    "delta": ("fixed", 0, "for 0.0001 of", "for 0.000099 of"),
    "a part": ("fixed", 0, "mechanism 1.5 and", "mechanism 1.49999 and"),
    "the number of parts": ("fixed", 0, "; gate singletons 0.5", ""),
    "replacing": ("fixed", 1, "e^3.19315 ", "e^3.19314 "),
    "another relation": ("fixed", 1, "Replacing any one row by other data", "Adding or removing any one row"),
    "replacing a person": ("person", 1, "e^3.88630 ", "e^3.88629 "),
    "rows for persons": ("person", 0, "all rows of any one person", "any one row"),
    "replacing with a joint choice": ("choice on the sample", 1, "e^4 ", "e^3.19315 "),
    "replacing with tables": ("laplace", 1, "e^4 ", "e^2 "),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", WORDS)
def test_a_word_that_does_not_hold_is_found(made: Made, name: str) -> None:
    kind, at, old, new = WORDS[name]

    def change(claims: Claims) -> None:
        words = claims["guarantee"]["words"]
        assert old in words[at].replace("e^3.8863 ", "e^3.88630 ")
        words[at] = words[at].replace("e^3.8863 ", "e^3.88630 ").replace(old, new)

    assert {each.split(":")[0] for each in faulty(made(kind), change)} == {"words"}


@pytest.mark.thorough
@pytest.mark.parametrize("name", ROWS)
def test_delta_is_told_to_a_part_in_a_million(made: Made, name: str) -> None:
    release = made(name)
    least, own = second.least_delta(release, release.mechanism["k"]), release.said["guarantee"]["parts"][0]
    for factor, found in ((MORE, False), (LESS, True)):
        scale = least * factor / Fraction(own["delta"])
        told = faulty(release, lambda claims, scale=scale: part(claims, 0, scale, "delta"))  # type: ignore[misc]
        assert ("delta of k" in told) == found


@pytest.mark.thorough
@pytest.mark.parametrize("name", NOISY)
def test_epsilon_of_tables_is_told_to_a_part_in_a_million(made: Made, name: str) -> None:
    release = made(name)
    for factor, found in ((LESS, "epsilon of the noise"), (MORE * MORE, "epsilon is not overstated")):
        told = faulty(release, lambda claims, factor=factor: part(claims, 0, factor))  # type: ignore[misc]
        assert found in told


Forge = Callable[[Path], object]


def one_class_smaller(rows: Lines) -> Lines:
    first = [row for row in rows if row == rows[0]]
    return first[:2] + rows[len(first) :]


def one_more(folder: Path) -> None:
    """The first count one larger."""
    change = lambda lines: [lines[0], [*lines[1][:2], str(int(lines[1][2]) + 1)], *lines[2:]]  # noqa: E731
    rewrite_lines(folder / "counts.csv", change)


def cells(stem: str, **moves: Callable[[Any], Any]) -> Forge:
    """The first row of a table in all formats with other cells."""

    def forge(folder: Path) -> None:
        def change(rows: list[Claims]) -> list[Claims]:
            return [{**rows[0], **{name: move(rows[0][name]) for name, move in moves.items()}}, *rows[1:]]

        rewrite_table(folder, stem, change)

    return forge


def noise_error(lines: Lines) -> Lines:
    """The last of six digits of a standard error, one more."""
    number = Fraction(lines[1][-1])
    return [lines[0], [*lines[1][:-1], f"{float(number + second.last_place(number, 6)):.6g}"], *lines[2:]]


RAW = "3-count-by-ward-exact-raw"
FILES: dict[str, tuple[str, Forge, str]] = {
    "a small class": ("fixed", lambda folder: rewrite_rows(folder, one_class_smaller), "classes of at least k"),
    "a row less": ("fixed", lambda folder: rewrite_rows(folder, lambda rows: rows[1:]), "rows and classes"),
    "a row less in one format": (
        "fixed", lambda folder: rewrite_rows(folder, lambda rows: rows[1:], "csv"), "the formats hold the same",
    ),
    "a row of another class": (
        "fixed", lambda folder: rewrite_rows(folder, lambda rows: [rows[-1], *rows[1:]]), "counts",
    ),
    "a count": ("fixed", one_more, "counts"),
    "a count less": (
        "fixed", lambda folder: rewrite_lines(folder / "counts.csv", lambda lines: lines[:-1]), "cells of the counts",
    ),
    "a value": ("gaussian", cells(RAW, value=lambda value: value + 1), "count-raw: intervals"),
    "half a step": ("gaussian", cells(RAW, value=lambda value: value + 0.5), "count-raw: whole steps"),
    "a standard error": (
        "gaussian", cells(RAW, error=lambda error: error * (1 - 1e-9)), "count-raw: standard errors",
    ),
    "a standard error on a sample": (
        "gaussian on a sample", cells(RAW, error=lambda error: error * (1 - 1e-9)),
        "count-raw: standard errors",
    ),
    "an interval": ("laplace", cells(RAW, upper=lambda upper: upper - 1e-6), "count-raw: intervals"),
    "a flag": ("laplace", cells(RAW, trustworthy=lambda flag: not flag), "count-raw: trustworthy"),
    "an error missing": (
        "laplace", cells(RAW, error=lambda _: None), "count-raw: an error is missing",
    ),
    "a sum": (
        "gaussian", cells("5-sum-of-age-by-ward-exact", error=lambda error: error * 0.99),
        "sum: standard errors",
    ),
    "an error of the noise": (
        "gaussian", lambda folder: rewrite_lines(folder / "tables.csv", noise_error), "errors of the noise",
    ),
    "a table less": (
        "gaussian", lambda folder: rewrite_lines(folder / "tables.csv", lambda lines: [lines[0], *lines[:0:-1]]),
        "tables are listed",
    ),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_does_not_hold_is_found(made: Made, tmp_path: Path, name: str) -> None:
    kind, forge, found = FILES[name]
    copy = Path(shutil.copytree(made(kind).folder, tmp_path / "copy"))
    forge(copy)
    assert found in problems(Release.of(copy))


# the same numbers as the accounting's, for random parameters

sizes = st.integers(1, 14)
rates = st.fractions(Fraction(1, 10), Fraction(24, 25), max_denominator=1000)
losses = st.one_of(st.just(Fraction(0)), st.fractions(Fraction(1, 20), 4, max_denominator=1000))
spent = st.fractions(Fraction(1, 20), 4, max_denominator=1000)
deltas = st.integers(1, 12).map(lambda digits: Fraction(1, 10**digits))
quick = settings(max_examples=examples(25), deadline=None)

# `slack`: 1e-12 + 2e-15 (14 + 33) for k up to 14 and deltas of at least .1^14; beta and epsilon to the nearest double
ROUNDED_UP = 2e-12


def rounded_up(found: float, truth: Fraction, room: float = ROUNDED_UP) -> bool:
    """Return whether a double is at least the truth, and hardly more."""
    return truth <= Fraction(found) <= truth * (1 + Fraction(room))


@quick
@given(k=sizes, beta=rates, epsilon=losses)
def test_delta_of_rows(k: int, beta: Fraction, epsilon: Fraction) -> None:
    assert rounded_up(safe_k.exact_delta(k, beta, epsilon), second.rows_delta(k, beta, epsilon))


@pytest.mark.parametrize(("k", "beta", "epsilon"), [(21, "0.95", "0.03"), (20, "0.1", "1"), (38, "0.1", "0.1")])
def test_delta_of_rows_at_the_notes_examples(k: int, beta: str, epsilon: str) -> None:
    """In the first of the examples the reverse direction is the greater."""
    found = second.rows_delta(k, Fraction(beta), Fraction(epsilon))
    # k up to 38: slack 1e-12 + 2e-15 (38 + 34)
    assert rounded_up(safe_k.exact_delta(k, beta, epsilon), found)


@quick
@given(k=sizes, beta=rates, epsilon=spent, rows=st.integers(2, 5))
def test_delta_of_a_person(k: int, beta: Fraction, epsilon: Fraction, rows: int) -> None:
    row = safe_k.exact_delta(k, beta, epsilon / rows)
    both = Fraction(row) * second.group_delta(epsilon / rows, Fraction(1), rows)
    assert rounded_up(row, second.rows_delta(k, beta, epsilon / rows))
    assert second.person_delta(k, beta, epsilon, rows) <= both
    own = per_row(epsilon, min(both, Fraction(1)), rows)[1]
    # what a row is granted is rounded down by 1e-12 and four doubles
    assert second.group_delta(epsilon / rows, own, rows) <= both
    assert second.group_delta(epsilon / rows, own, rows) >= min(both, Fraction(1)) * (1 - Fraction(1, 10**11))


@quick
@given(k=sizes, beta=rates, epsilon=spent, side=st.fractions(Fraction(1, 100), 1, max_denominator=100),
       schemes=st.integers(1, 1000))  # fmt: skip
def test_delta_of_a_choice_on_the_sample(
    k: int, beta: Fraction, epsilon: Fraction, side: Fraction, schemes: int
) -> None:
    found = second.same_sample_delta(k, beta, epsilon, side, schemes)
    try:
        stated = safe_k.same_sample_delta(k, beta, epsilon, side, schemes)
    except ValueError:
        assert found == 1
    else:
        assert min(found, Fraction(1)) <= Fraction(stated)
        assert Fraction(stated) <= found * (1 + Fraction(ROUNDED_UP))


@quick
@given(rho=st.fractions(Fraction(1, 10**4), 10, max_denominator=10**4), delta=deltas)
def test_epsilon_of_rho(rho: Fraction, delta: Fraction) -> None:
    truth, found = second.zcdp_epsilon(rho, delta), Fraction(zcdp_epsilon(rho, delta))
    # terms of at most (1 + t) rho + ln(1 / delta) / t + 2 ln(1 + t) + 2 < 80 in all, each with a slack of 1e-14
    assert truth <= found <= truth + Fraction(1, 10**12)


@pytest.mark.thorough
@quick
@given(epsilon=spent, beta=st.fractions(Fraction(1, 4), 1, max_denominator=1000))
def test_epsilon_of_a_sample(epsilon: Fraction, beta: Fraction) -> None:
    # five operations on doubles, the result at least a tenth of the largest of them
    assert rounded_up(amplify(epsilon, 0, beta)[0], second.amplified(epsilon, beta), 1e-14)


@pytest.mark.parametrize(("epsilon", "beta"), [("1.126", "0.05"), ("1.077", "0.0001"), ("30", "1e-30")])
def test_epsilon_of_a_small_sample(epsilon: str, beta: str) -> None:
    found = Fraction(amplify(epsilon, 0, beta)[0])
    assert found >= second.amplified(Fraction(epsilon), Fraction(beta))


@quick
@given(scale=st.fractions(Fraction(1, 10), 300, max_denominator=100), alpha=st.integers(1, 19))
def test_laws_of_noise(scale: Fraction, alpha: int) -> None:
    level = Fraction(2 * alpha - 1, 40)
    assert laplace_quantile(1, 1 / scale, float(level)) == second.laplace_quantile(scale, level)
    for law, found in (
        (DiscreteLaplace(scale), second.laplace(scale)),
        (DiscreteGaussian(scale), second.gaussian(scale)),
    ):
        assert law.half_width() == found.half_width
        assert abs(law.variance / float(found.variance) - 1) < second.FLOATS


@quick
@given(epsilon=spent, delta=deltas, beta=rates, rows=st.integers(1, 4), beside=spent)
def test_replacing_a_unit(epsilon: Fraction, delta: Fraction, beta: Fraction, rows: int, beside: Fraction) -> None:
    parts = (Part("mechanism", epsilon, delta), Part("other", beside, delta))
    stated = Guarantee.of(parts).replace_one_form(beta, rows=rows).parts
    wanted = second.replaced_rows(epsilon, delta, beta, rows), second.twice(beside, delta)
    for each, (one, other) in zip(stated, wanted, strict=True):
        # two doubles, rounded up; the delta of a row is rounded down by 1e-12
        assert abs(each.epsilon / one - 1) <= Fraction(1, 10**14)
        assert abs(each.delta / other - 1) <= Fraction(2, 10**12)
        assert second.printed(decimal(each.epsilon), one, 6)


@quick
@given(people=st.integers(1, 10**6), weight=deltas, epsilon=losses, delta=deltas)
def test_bound_on_singling_out(people: int, weight: Fraction, epsilon: Fraction, delta: Fraction) -> None:
    found, truth = pso.bound(people, weight, epsilon, delta), second.pso_bound(people, weight, epsilon, delta)
    # five operations on doubles
    assert truth == found == 1 or rounded_up(found, truth, 1e-14)
    assert second.nine(rounded_text(found, 9, Rounding.NEAREST), truth)


@pytest.mark.thorough
@quick
@given(people=st.integers(1, 10**6), weight=deltas, epsilon=losses, delta=deltas, beta=rates)
def test_bound_on_singling_out_of_the_sample(
    people: int, weight: Fraction, epsilon: Fraction, delta: Fraction, beta: Fraction
) -> None:
    found = pso.bound_in_sample(people, weight, epsilon, delta, beta)
    truth = second.pso_bound_in_sample(people, weight, epsilon, delta, beta)
    assert truth == found == 1 or rounded_up(found, truth, 1e-14)


@quick
@given(margins=st.lists(st.lists(st.integers(1, 50), min_size=1, max_size=4), min_size=1, max_size=3),
       people=st.integers(1, 300))  # fmt: skip
def test_expected_singletons(margins: list[list[int]], people: int) -> None:
    shares = [[Fraction(each, sum(counts)) for each in counts] for counts in margins]
    found = expected(Bins.of([Fraction(math.prod(cell)) for cell in product(*shares)]), people)
    truth = second.expected_singletons(margins, people)
    # cells of the smallest p, at most 1/2, decide: 1 - p and its logarithm err by 2^-52 each, times 300: 2e-13
    assert abs(Fraction(found) - truth) <= truth * Fraction(1, 10**12)


# what the theorems say, by enumeration


def counts(n: int, k: int, beta: Fraction) -> list[Any]:
    law = second.binomial(n, real(beta))
    return [M.fsum(law[:k]), *law[k:], *([M.zero] * (k + 8 - max(n + 1, k)))]


def together(first: list[Any], other: list[Any]) -> list[Any]:
    return [a * b for a, b in product(first, other)]


@pytest.mark.parametrize(("k", "beta", "epsilon"), [(2, "0.3", "0.5"), (3, "0.5", "0.2"), (4, "0.2", "1")])
def test_a_row_that_changes_its_class_stays_within_the_form_for_replacing(k: int, beta: str, epsilon: str) -> None:
    """Two classes of up to 6 rows, one of which loses the row that the other gains: at the first of them it is met."""
    rate, loss = Fraction(beta), Fraction(epsilon)
    delta = second.rows_delta(k, rate, loss)
    factor = M.exp(real(second.replaced_rows(loss, delta, rate, 1)[0]))
    worst = max(
        second.hockey_stick(
            together(counts(a, k, rate), counts(b - 1, k, rate)), together(counts(a - 1, k, rate), counts(b, k, rate)),
            factor,
        )
        for a, b in product(range(1, 7), repeat=2)
    )  # fmt: skip
    assert 0 < second.exact(worst) <= delta


@pytest.mark.parametrize(("k", "beta", "epsilon"), [(2, "0.3", "0.5"), (3, "0.5", "1"), (5, "0.4", "1")])
def test_two_rows_of_a_person_stay_within_group_privacy(k: int, beta: str, epsilon: str) -> None:
    """Both in one class of up to k + 3 rows, or each in one of its own; both directions."""
    rate, loss = Fraction(beta), Fraction(epsilon)
    factor, bound = M.exp(real(loss)), real(second.person_delta(k, rate, loss, 2))
    for n in range(2, k + 4):
        one = counts(n, k, rate), counts(n - 1, k, rate), counts(n - 2, k, rate)
        for first, other in ((one[0], one[2]), (together(one[0], one[0]), together(one[1], one[1]))):
            assert second.hockey_stick(first, other, factor) <= bound
            assert second.hockey_stick(other, first, factor) <= bound


def test_sums_of_products_of_margins_are_counted_together() -> None:
    cells = second.independent(Counter({Fraction(1, 2): 2}), Counter({Fraction(1, 3): 1, Fraction(2, 3): 1}))
    assert cells == {Fraction(1, 6): 2, Fraction(1, 3): 2}


@given(*2 * [st.fractions(Fraction(1, 100), 1, max_denominator=100)])
@settings(max_examples=examples(5), deadline=None)
def test_no_choice_on_the_sample_is_granted_less_than_its_epsilon(part: Fraction, side: Fraction) -> None:
    least = M.log1p(real(Fraction(1, 2)) * M.expm1(real(side)))
    epsilon = Fraction(int(real(part) * least * 10**6) - 1, 10**6)
    assert second.same_sample_delta(5, Fraction(1, 2), epsilon, side, 2) == 1
