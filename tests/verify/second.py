"""The claims of a published release, computed a second time from its manifest and files alone.

Verification takes its accounting, its measures and its writers from the maker. Nothing here does: every number follows
from the definition or theorem that its docstring cites, the slow way, in exact rationals or in binary numbers of 60
digits and more. All functions take and give Fractions; what is not rational is given in 50 digits.

`problems` names what does not hold. Not computed here: digests, pages, the dictionary, means, quantiles, consistency of
tables with each other, and measures that `unread` names.
"""

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from mpmath.ctx_mp import MPContext

Said = dict[str, Any]
Real = Any
"""A number of the context M, as mpmath has no types."""
Row = Mapping[str, Any]

M = MPContext()
M.dps = 60
DIGITS = 50
JOINT, ALONE, CHOICE = "mechanism and choice of levels on its sample", "mechanism", "choice of levels"
Z95 = Fraction("1.959963984540054")
WEIGHT = Fraction(1, 10**9)
FLOATS = Fraction(1, 10**11)
"""Relative. The maker's doubles: exp of arguments up to 800 (800 2^-53 = 9e-14), sums of up to 10^5 positive terms,
pairwise (17 2^-53), products and roots (10 2^-53): below 1e-12."""


def real(number: Fraction) -> Real:
    """Return a fraction as a number of the context."""
    return M.mpf(number.numerator) / number.denominator


def exact(number: Real) -> Fraction:
    """Return a number of the context in 50 digits."""
    return Fraction(M.nstr(number, DIGITS, min_fixed=0, max_fixed=0))


# --- rows: sampling and suppression ---


def binomial(n: int, beta: Real) -> list[Real]:
    """P(Bin(n, beta) = j) for j = 0 to n."""
    return [math.comb(n, j) * beta**j * (1 - beta) ** (n - j) for j in range(n + 1)]


def one_more(law: Sequence[Real], beta: Real) -> list[Real]:
    """Return the law of a Bernoulli sum with one more trial (Pascal's rule)."""
    return [(1 - beta) * a + beta * b for a, b in zip([*law, 0], [0, *law], strict=True)]


def hockey_stick(first: Sequence[Real], second: Sequence[Real], factor: Real) -> Real:
    """sum of max(first - factor second, 0): the least delta at which P(S) <= factor Q(S) + delta for every set S of
    outcomes (Dwork, Roth 2014, Definition 2.4, S being where the term is positive)."""
    return M.fsum(a - factor * b for a, b in zip(first, second, strict=True) if a > factor * b)


def rows_delta(k: int, beta: Fraction, epsilon: Fraction) -> Fraction:
    """The least delta at `epsilon` of Bernoulli sampling and suppression below k, add or remove one row.

    One class tells the two tables apart: Bin(n, beta) of its rows are seen against Bin(n - 1, beta), all numbers below
    k being one outcome. delta is the supremum over n of the greater of both hockey-stick divergences, H_k(n).

    The examined n suffice. Let H_0(n) be the same without suppression. Suppression is post-processing, and so
    is a further coin of the same law in both: H_k(n') <= H_0(n') <= H_0(n) for every n' >= n (Dwork, Roth 2014,
    Proposition 2.1). So the search ends at the first n at which the greatest H_k so far is at least H_0(n). Below n = k
    both tables show nothing. As H_k(k) >= beta^k, so many digits more than that has zeros leave 60 that count.
    """
    with M.workdps(60 + math.ceil(-k * math.log10(beta))):
        b, factor = real(beta), M.exp(real(epsilon))
        without, best, n = binomial(k - 1, b), M.zero, k
        while True:
            having, absent = one_more(without, b), [*without, M.zero]
            best = max(best, _both(_suppressed(having, k), _suppressed(absent, k), factor))
            if best >= _both(having, absent, factor):
                return exact(best)
            without, n = having, n + 1


def _suppressed(law: Sequence[Real], k: int) -> list[Real]:
    return [M.fsum(law[:k]), *law[k:]]


def _both(first: Sequence[Real], second: Sequence[Real], factor: Real) -> Real:
    return max(hockey_stick(first, second, factor), hockey_stick(second, first, factor))


def group_delta(epsilon: Fraction, delta: Fraction, rows: int) -> Fraction:
    """Return delta (1 + e^epsilon + ... + e^((rows - 1) epsilon)), the delta at rows epsilon.

    It is for a chain of rows tables, each a row apart from the next (Dwork, Roth 2014, Theorem 2.2; for delta by
    induction over the chain).
    """
    return exact(M.fsum(M.exp(i * real(epsilon)) for i in range(rows)) * real(delta))


def person_delta(k: int, beta: Fraction, epsilon: Fraction, rows: int) -> Fraction:
    """Return the delta at `epsilon` of a person with at most so many rows, sampled independently.

    Each row has an equal part of epsilon.
    """
    return group_delta(epsilon / rows, rows_delta(k, beta, epsilon / rows), rows)


def same_sample_delta(k: int, beta: Fraction, epsilon: Fraction, side: Fraction, schemes: int) -> Fraction:
    """The bound for levels that a `side`-private choice among `schemes` took on the very sample that is released.

    With x = (e^epsilon / (1 - beta) - 1) e^(-2 side) it is schemes sup over n of P(Bin(n, beta) >= k and > n x /
    (1 + x)), for epsilon of at least -ln(1 - beta) and ln(1 + beta (e^side - 1)); 1 where nothing is known.
    The formula replaces that of Li, Qardaji, Su (2012), whose sum of both epsilons does not hold.

    The examined n suffice: with s = x / (1 + x) > beta the probability is at most exp(-n KL(s, beta))
    (Chernoff 1952; Hoeffding 1963, Theorem 1), which falls with n. The search ends where that is below the greatest.
    """
    with M.workdps(60 + math.ceil(-k * math.log10(beta))):
        b, grow, own = real(beta), M.exp(real(epsilon)), M.exp(real(side))
        x = (grow / (1 - b) - 1) / own**2
        share = x / (1 + x)
        if grow < max(1 / (1 - b), 1 + b * (own - 1)) or share <= b:
            return Fraction(1)
        divergence = share * M.log(share / b) + (1 - share) * M.log((1 - share) / (1 - b))
        law, best, n = binomial(k, b), M.zero, k
        while best < M.exp(-n * divergence):
            best = max(best, M.fsum(law[max(k, int(M.floor(n * share)) + 1) :]))
            law, n = one_more(law, b), n + 1
        return min(Fraction(1), exact(schemes * best))


# --- tables: noise ---


def zcdp_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """The least epsilon at `delta` of rho-zCDP: the minimum over a > 1 of a rho + (ln(1 / delta) - ln(a - 1) + a ln(1 -
    1/a)) / (a - 1) (Canonne, Kamath, Steinke 2020, Proposition 12, solved for epsilon), by golden section in ln(a - 1).

    With t = a - 1 the derivative is (rho t^2 + ln(1 + t) - ln(1 / delta)) / t^2, whose sign changes once: every local
    minimum is the global one.
    """
    r, log = real(rho), -M.log(real(delta))

    def epsilon(u: Real) -> Real:
        t = M.exp(u)
        return (1 + t) * r + (log - u - (1 + t) * M.log1p(1 / t)) / t

    low, high = M.mpf(-60), M.mpf(60)
    ratio = (M.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = epsilon(left), epsilon(right)
    # 120 ratio^160 < 1e-31, and near its minimum the function errs by the square of that: 1e-60
    for _ in range(160):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = epsilon(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = epsilon(right)
    return max(Fraction(0), exact(min(at_left, at_right)))


def amplified(epsilon: Fraction, beta: Fraction) -> Fraction:
    """ln(1 + beta (e^epsilon - 1)): Bernoulli sampling before a private mechanism (Li, Qardaji, Su 2012)."""
    return epsilon if beta == 1 else exact(M.log1p(real(beta) * M.expm1(real(epsilon))))


@dataclass(frozen=True)
class Law:
    """Integer noise: its variance, and the least q with P(|noise| <= q) of at least .95."""

    variance: Real
    half_width: int


def laplace(scale: Fraction) -> Law:
    """P(x) = (1 - a) / (1 + a) a^|x|, a = e^(-1 / scale): variance 2a / (1 - a)^2, P(noise > q) = a^(q + 1) / (1 + a)
    (Ghosh, Roughgarden, Sundararajan 2012)."""
    a = M.exp(-1 / real(scale))
    return Law(2 * a / (1 - a) ** 2, laplace_quantile(scale, Fraction(1, 40)))


def laplace_quantile(scale: Fraction, alpha: Fraction) -> int:
    """The least q >= 0 with P(noise > q) <= alpha, by steps up from a q that is surely too small."""
    a = M.exp(-1 / real(scale))
    q = max(0, math.floor(-float(scale) * (math.log(alpha) + math.log(2))) - 2)
    while q and a**q / (1 + a) <= real(alpha):
        q -= 1
    while a ** (q + 1) / (1 + a) > real(alpha):
        q += 1
    return q


def gaussian(squared: Fraction) -> Law:
    """P(x) in proportion to e^(-x^2 / (2 s)): all terms summed until they vanish in 60 digits (Canonne, Kamath, Steinke
    2020, Definition 1). Above s = 9 the sums over all integers are those of the integrals, by Poisson summation up to a
    relative 8 pi^2 s e^(-2 pi^2 s) < 1e-70: variance s, and total sqrt(2 pi s)."""
    s = real(squared)
    if squared > 9:
        variance, total = s, M.sqrt(2 * M.pi * s)
    else:
        # beyond x = 20 sqrt(s) + 20 a term is below e^-200 < 1e-86, and the next ones fall faster than by a factor of 2
        masses = [M.exp(-x * x / (2 * s)) for x in range(math.ceil(20 * math.sqrt(squared)) + 20)]
        total = masses[0] + 2 * M.fsum(masses[1:])
        variance = 2 * M.fsum(x * x * mass for x, mass in enumerate(masses)) / total
    q, held = 0, M.one
    while held < M.mpf(95) / 100 * total:
        q += 1
        held += 2 * M.exp(-q * q / (2 * s))
    return Law(variance, q)


# --- a unit replaced by another ---


def replaced_rows(epsilon: Fraction, delta: Fraction, beta: Fraction, rows: int) -> tuple[Fraction, Fraction]:
    """A release of rows for replacing all rows of a unit: one row at a time, whose class loses a row while another
    gains one, independently of it. One costs (epsilon, delta), the other a factor of at most 1 / (1 - beta), without
    delta: the row stays out of the sample with probability 1 - beta (the relation is that of Cohen,
    Nissim 2020)."""
    step, share = exact(-M.log1p(-real(beta))), epsilon / rows
    # what one row is granted of delta, so that the group has delta
    own = delta / group_delta(share, Fraction(1), rows)
    return epsilon + rows * step, min(Fraction(1), group_delta(share + step, own, rows))


def twice(epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """Any mechanism for replacing a unit: a removal and an addition (Dwork, Roth 2014, Theorem 2.2)."""
    return 2 * epsilon, min(Fraction(1), group_delta(epsilon, delta, 2))


# --- gates ---


def pso_bound(rows: int, weight: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """n (e^epsilon w + delta), at most 1: success of singling out by a predicate of that weight (Cohen, Nissim 2020,
    Theorem 6.2, of which this is the union over the rows)."""
    return min(Fraction(1), exact(rows * (M.exp(real(epsilon)) * real(weight) + real(delta))))


def pso_bound_in_sample(rows: int, weight: Fraction, epsilon: Fraction, delta: Fraction, beta: Fraction) -> Fraction:
    """Return the bound for exactly one of the sampled rows.

    A row that was not sampled, with probability 1 - beta, has no part in the release.
    """
    return min(Fraction(1), exact(rows * ((M.exp(real(epsilon)) - 1 + real(beta)) * real(weight) + real(delta))))


def expected_singletons(margins: Sequence[Sequence[int]], people: int) -> Fraction:
    """The sum over the cells of the product of the margins of N p (1 - p)^(N - 1) (Koot 2012, section 5.1)."""
    cells = Counter({Fraction(1): 1})
    for counts in margins:
        shares = Counter(Fraction(each, sum(counts)) for each in counts)
        cells = independent(cells, shares)
    return exact(M.fsum(many * people * real(p) * (1 - real(p)) ** (people - 1) for p, many in cells.items()))


def most_singletons(counts: Sequence[int], most: int) -> Fraction:
    """Return the greatest expected number of unique people in a group of at most `most` people, drawn without
    replacement from these classes. Each class rises up to its own best group size and falls afterwards."""
    classes, people = [each for each in counts if each], sum(counts)
    best = [(people + 1) // each for each in classes]
    groups = range(min(min(best), most), min(max(best), most) + 1)
    return max(sum((drawn_once(each, k, people) for each in classes), Fraction(0)) for k in groups)


def drawn_once(size: int, k: int, people: int) -> Fraction:
    """Return the probability that a group of k holds exactly one of the `size` people of a class."""
    return Fraction(size * math.comb(people - size, k - 1), math.comb(people, k))


def independent(first: Counter[Fraction], second: Counter[Fraction]) -> Counter[Fraction]:
    """How often every product of two shares occurs."""
    out: Counter[Fraction] = Counter()
    for p, many in first.items():
        for q, further in second.items():
            out[p * q] += many * further
    return out


# --- printed numbers ---


def printed(text: str, number: Fraction, digits: int) -> bool:
    """Return whether `text` is the least number of so many digits not below `number`, or marginally above it."""
    # the maker's doubles are rounded up in some ten steps of at most 4e-15 each
    return Fraction(text) in {_ceiling(number * (1 + room), digits) for room in (Fraction(0), Fraction(1, 10**12))}


def same(text: str, number: Fraction) -> bool:
    """Return whether `text` is `number`."""
    return Fraction(text) == number


def nine(text: str, number: Fraction) -> bool:
    """Return whether `text` is `number` in nine digits."""
    return abs(Fraction(text) - number) <= last_place(number, 9) / 2 + FLOATS * abs(number)


def below(text: str, number: Fraction) -> bool:
    """Return whether `text` is `number` in nine digits, rounded down."""
    away, room = number - Fraction(text), FLOATS * abs(number)
    return -room <= away <= last_place(number, 9) + room


def above(text: str, number: Fraction) -> bool:
    """Return whether `text` is `number` in nine digits, rounded up."""
    away, room = Fraction(text) - number, FLOATS * abs(number)
    return -room <= away <= last_place(number, 9) + room


def last_place(number: Fraction, digits: int) -> Fraction:
    """Return one unit in the last of so many digits."""
    size = abs(number)
    if not size:
        return Fraction(0)
    power = len(str(size.numerator)) - len(str(size.denominator))
    power -= size < Fraction(10) ** power
    return Fraction(10) ** (power - digits + 1)


def _ceiling(number: Fraction, digits: int) -> Fraction:
    unit = last_place(number, digits)
    return math.ceil(number / unit) * unit if unit else number


# --- a release ---


@dataclass(frozen=True)
class Release:
    """A release's folder, and its manifest (tests may replace it)."""

    folder: Path
    said: Said

    @classmethod
    def of(cls, folder: Path) -> "Release":
        """Return the release in a folder."""
        return cls(folder, json.loads((folder / "manifest.json").read_text(encoding="utf-8")))

    @property
    def mechanism(self) -> Said:
        found: Said = self.said["mechanism"]
        return found

    @property
    def beta(self) -> Fraction:
        return Fraction(self.mechanism["beta"])

    @property
    def parts(self) -> dict[str, tuple[Fraction, Fraction]]:
        """(epsilon, delta) by part."""
        stated = self.said["guarantee"]["parts"]
        return {each["name"]: (Fraction(each["epsilon"]), Fraction(each["delta"])) for each in stated}

    @property
    def total(self) -> tuple[Fraction, Fraction]:
        """The stated (epsilon, delta)."""
        stated = self.said["guarantee"]
        return Fraction(stated["epsilon"]), Fraction(stated["delta"])

    @property
    def per_unit(self) -> int:
        """The most rows of a privacy unit."""
        return int(self.said["facts"]["rows_per_unit"])

    @property
    def rows(self) -> bool:
        """True if rows are released, False for tables."""
        return bool(self.mechanism["kind"] == "safe_k_anonymity")

    def table(self, stem: str) -> list[dict[str, Any]]:
        """The rows of a file in its first format."""
        return self.tables(stem)[0]

    def tables(self, stem: str) -> list[list[dict[str, Any]]]:
        """The rows of a file in all its formats."""
        read: dict[str, Callable[[Path], list[dict[str, Any]]]] = {"csv": _lines, "parquet": _parquet}
        return [read[end](self.folder / f"{stem}.{end}") for end in self.said["formats"]]


def _lines(path: Path) -> list[dict[str, Any]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _parquet(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return found


def problems(release: Release) -> list[str]:
    """Return the names of all checks that a release fails."""
    own = _rows if release.rows else _tables
    every = (_parts, own, _words, _plain, _verdicts)
    return [name for check in every for name, holds in check(release) if not holds]


def unread(release: Release) -> set[str]:
    """Return measures of verdicts that are not computed here."""
    return {each["measure"] for each in release.said["verdicts"]} - {*_RECOUNTED, *_ACCOUNTED, "singletons"}


Checks = Iterator[tuple[str, bool]]


def _speaking_of(gate: Mapping[str, Any]) -> str:
    return f"{gate['measure']} of {gate['of']}" if gate.get("of") else str(gate["measure"])


def _parts(release: Release) -> Checks:
    """Adaptive composition: epsilons and deltas of parts with independent randomness add up (Dwork, Roth 2014, Theorem
    B.1)."""
    parts, choice = release.parts, release.mechanism.get("choice")
    yield "parts add up", release.total == tuple(sum(each[i] for each in parts.values()) for i in (0, 1))
    charges = {f"gate {_speaking_of(each)}": Fraction(each["charge"]) for each in _charged(release)}
    for name, charge in charges.items():
        yield f"{name} is paid", parts.get(name) == (charge, Fraction(0))
    joint = choice is not None and choice["on"] == "sample"
    beside = {CHOICE} if choice is not None and not joint else set()
    yield "the parts are known", {*parts} == {JOINT if joint else ALONE, *beside, *charges}
    if choice is not None and not joint:
        yield "the choice is paid", parts.get(CHOICE) == (Fraction(choice["epsilon"]), Fraction(0))
    if choice is not None:
        # no choice that depends on the data is 0-differentially private
        yield "epsilon of the choice", Fraction(choice["epsilon"]) > 0
        # of every level that was chosen there were two at least
        yield "candidates of the choice", choice["candidates"] >= 2 ** len(choice["chosen"])
    unit, stated = release.said["guarantee"]["unit"], release.mechanism.get("rows_per_unit", 0)
    rows = release.mechanism.get("rows", 1) if release.rows else stated
    yield "rows of a unit", rows == release.per_unit and (rows == 1 or unit == "person")


def _charged(release: Release) -> list[Said]:
    return [each for each in release.said["verdicts"] if each["class"] == "charged"]


def least_delta(release: Release, k: int) -> Fraction:
    """Return the delta at which a release of rows with that k would have the epsilon of its mechanism."""
    choice, parts, beta = release.mechanism.get("choice"), release.parts, release.beta
    if choice is None or choice["on"] == "full":
        return person_delta(k, beta, parts[ALONE][0], release.per_unit)
    return same_sample_delta(k, beta, parts[JOINT][0], Fraction(choice["epsilon"]), choice["candidates"])


def k_is_least(release: Release) -> bool:
    """Return whether a k smaller by one would miss the stated delta. A policy may request a larger k: no fault."""
    k, own = release.mechanism["k"], release.parts.get(ALONE) or release.parts[JOINT]
    return k == 1 or least_delta(release, k - 1) > own[1]


def _rows(release: Release) -> Checks:
    said, beta, k = release.said["data"], release.beta, release.mechanism["k"]
    own = release.parts.get(ALONE) or release.parts.get(JOINT)
    yield "delta of k", own is not None and 0 < beta < 1 and least_delta(release, k) <= own[1]
    names = [each["name"] for each in said["columns"]]
    counted = [Counter(tuple(row[name] for name in names) for row in rows) for rows in release.tables("data")]
    classes = counted[0]
    yield "the formats hold the same", all(each == classes for each in counted)
    yield "no more columns", all({*row} == {*names} for rows in release.tables("data") for row in rows[:1])
    yield "classes of at least k", min(classes.values(), default=k) >= k
    yield "rows and classes", (said["rows"], said["classes"]) == (classes.total(), len(classes))
    listed = _lines(release.folder / "counts.csv")
    margins: Counter[tuple[str, str]] = Counter()
    for key, many in classes.items():
        margins.update(dict.fromkeys(zip(names, key, strict=True), many))
    yield "cells of the counts", Counter((each["column"], each["label"]) for each in listed) == Counter({*margins})
    for each in listed:
        yield "counts", int(each["at_least"]) == margins[each["column"], each["label"]]


# --- tables ---


def contribution(query: Said) -> int:
    """Return the greatest contribution of one row to a cell, at least 1."""
    grid = query.get("grid")
    return 1 if grid is None else max(1, abs(grid["low"]), abs(grid["high"]))


def _spent(of: Said, noise: str) -> Fraction:
    return Fraction(of["epsilon" if noise == "discrete laplace" else "rho"])


def law(release: Release, at: int) -> Law:
    """The noise of a query. All rows of a unit fall into one cell at worst, which they change by `rows` contributions:
    the change in L1 and in L2. Laplace of scale change / epsilon (Dwork, McSherry, Nissim, Smith 2006, Proposition 1),
    Gaussian of variance change^2 / (2 rho) (Canonne, Kamath, Steinke 2020, Theorem 4)."""
    query, noise = release.mechanism["queries"][at], release.mechanism["noise"]
    change, spent = release.per_unit * contribution(query), _spent(query, noise)
    return laplace(change / spent) if noise == "discrete laplace" else gaussian(change**2 / (2 * spent))


def noise_epsilon(release: Release, spend: Fraction) -> Fraction:
    """Return the epsilon, at the stated delta, of noise with this spend: converted, then amplified by the sample."""
    if release.mechanism["noise"] == "discrete laplace":
        return amplified(spend, release.beta)
    # a delta of 1 or more before sampling promises nothing, and so does one just below
    inner = min(release.parts[ALONE][1] / release.beta, 1 - Fraction(1, 10**9))
    return amplified(zcdp_epsilon(spend, inner), release.beta)


def _tables(release: Release) -> Checks:
    mechanism, queries, epsilon = release.mechanism, release.mechanism["queries"], release.parts[ALONE][0]
    noise, rows = mechanism["noise"], release.per_unit
    for query in queries:
        yield "sensitivities", query["sensitivity"] == rows * contribution(query)
    whole = _spent(mechanism, noise)
    spent = sum((_spent(query, noise) for query in queries), Fraction(0))
    yield "queries spend no more than the mechanism", 0 < spent <= whole
    known = noise_epsilon(release, spent)
    yield "epsilon of the noise", epsilon >= known
    # the maker's rho is the greatest of doubles that keeps the epsilon: both errors together are below 1e-12
    yield "epsilon is not overstated", epsilon <= noise_epsilon(release, whole) * (1 + Fraction(1, 10**6))
    laws = [law(release, at) for at in range(len(queries))]
    stated = {each["file"]: each for each in _lines(release.folder / "tables.csv")}
    yield "tables are listed", [*stated] == [each["file"] for each in release.said["data"]["tables"]]
    for each in release.said["data"]["tables"]:
        at = each["queries"][0]
        if each["kind"] != "mean":
            error = M.sqrt(laws[at].variance) * real(_scale(release, queries[at]))
            yield "errors of the noise", six(stated[each["file"]]["noise_error"], exact(error))
        for suffix in _drawn(release, each):
            for found in release.tables(each["file"] + suffix):
                yield from _drawn_cells(release, queries[at], laws[at], found, f"{each['kind']}{suffix}")


def six(text: str, number: Fraction) -> bool:
    """Return whether `text` is `number` in six digits."""
    return abs(Fraction(text) - number) <= last_place(number, 6) / 2 + FLOATS * number


def _drawn(release: Release, table: Said) -> list[str]:
    """Return the files of a table with raw noisy numbers: sums always, counts if they are raw."""
    raw = ["-raw"] if release.mechanism["raw"] else []
    return {"count": raw, "sum": ["", *raw], "clamped": ["", *raw]}.get(table["kind"], [])


def _scale(release: Release, query: Said) -> Fraction:
    """Return the effect of one step of the noise on an estimate for the whole table."""
    grid = query.get("grid")
    return (Fraction(1) if grid is None else Fraction(grid["unit"])) / release.beta


def _drawn_cells(release: Release, query: Said, noise: Law, found: Sequence[Row], name: str) -> Checks:
    """A sampled sum S of integers y of one sign, each at most g: the coins add (1 - beta) sum y^2 <= (1 - beta) g |S|
    to the variance; without a bound where y has both signs. The half h of an interval has h^2 = q^2 + z^2 (1 - beta) g
    (|S| + h), with |S| in place of |S| + h in format 1."""
    grid, scale, beta = query.get("grid"), _scale(release, query), release.beta
    relative = Fraction(release.mechanism["relative_error"])
    bounded = beta == 1 or grid is None or not grid["low"] < 0 < grid["high"]
    for row in found:
        errors = "error" if "errors" in release.mechanism else "standard_error"
        value, error, low, high = (_number(row[each]) for each in ("value", errors, "lower", "upper"))
        if value is None:
            yield f"{name}: empty cells", bool(release.mechanism["suppress"]) and error is low is high is None
            continue
        steps = value / scale
        # one double: a whole number of steps times scale, divided by it
        yield f"{name}: whole steps", abs(steps - round(steps)) <= FLOATS * max(Fraction(1), abs(steps))
        if not bounded:
            yield f"{name}: no error is known", error is low is high is None
            continue
        coins = real((1 - beta) * contribution(query)) * abs(real(steps))
        own: Fraction = exact(M.sqrt(noise.variance + coins)) * scale
        each = real(Z95) ** 2 * real((1 - beta) * contribution(query)) * (release.said["format"] > 1) / 2
        half: Fraction = exact(each + M.sqrt(each**2 + noise.half_width**2 + real(Z95) ** 2 * coins)) * scale
        if error is None or low is None or high is None:
            yield f"{name}: an error is missing", False
            continue
        yield f"{name}: standard errors", abs(error - own) <= FLOATS * own
        room = FLOATS * (abs(value) + half)
        yield f"{name}: intervals", abs(value - half - low) <= room and abs(value + half - high) <= room
        farthest = max(high - value, value - low) if "errors" in release.mechanism else error
        trusted = value != 0 and farthest <= relative * abs(value)
        # the farther limit is a difference of doubles
        close = abs(farthest - relative * abs(value)) <= room
        yield f"{name}: trustworthy", close or _flag(row) == trusted


def _number(cell: Any) -> Fraction | None:
    return None if cell is None or cell == "" else Fraction(cell)


def _flag(row: Row) -> bool:
    return row["trustworthy"] in (True, "true")


# --- words ---

NUMBER = re.compile(r"(?<![A-Za-z0-9_.])[0-9]+(?:\.[0-9]+)?(?:e[+-][0-9]+)?")
Named = Mapping[str, tuple[Fraction, Fraction]]


def replaced(release: Release) -> dict[str, tuple[Fraction, Fraction]]:
    """Return the parts for replacing a unit. Only rows whose sampling nothing else saw cost less than twice."""
    parts = {name: twice(*each) for name, each in release.parts.items()}
    if release.rows and ALONE in parts:
        parts[ALONE] = replaced_rows(*release.parts[ALONE], release.beta, release.per_unit)
    return parts


def _words(release: Release) -> Checks:
    words = release.said["guarantee"]["words"]
    yield "words: two sentences", len(words) == 2
    what = "any one row" if release.said["guarantee"]["unit"] == "row" else "all rows of any one person"
    pairs = ((f"Adding or removing {what} ", release.parts), (f"Replacing {what} by other data ", replaced(release)))
    for text, (start, parts) in zip(words, pairs, strict=False):
        yield "words: what is changed", text.startswith(start)
        found, wanted = NUMBER.findall(text), _numbers(parts)
        pairwise = zip(found, wanted, strict=False)
        yield "words: numbers", len(found) == len(wanted) and all(printed(each, *number) for each, number in pairwise)


def _plain(release: Release) -> Checks:
    """The bounds are n (e^epsilon w + delta) after all that was spent, at w = 1/(10 n), 1/(100 n) and 1/(1,000 n), and
    are said as no smaller."""
    said, facts = release.said, release.said["facts"]
    rows = facts["people"] * facts["rows_per_unit"]
    epsilon, delta = (Fraction(facts["spent"][name]) for name in ("epsilon", "delta"))
    cost, meaning, title, *bounds, basis, _ = [each.replace(",", "") for each in said["guarantee"]["plain"]]
    times = exact(M.exp(real(epsilon)))
    yield "plain: cost", _all_printed(cost, (epsilon, delta), (6, 6))
    wanted = [times, delta] if delta else [times]
    yield "plain: meaning", _all_printed(meaning, wanted, (3, 6)[: len(wanted)])
    counts = [facts["people"], *([facts["rows_per_unit"]] if facts["rows_per_unit"] > 1 else [])]
    yield "plain: people", [int(each) for each in re.findall(r"[0-9]+", title)] == counts
    yield "plain: three weights", len(bounds) == 3
    for divisor, line in zip((10, 100, 1000), bounds, strict=False):
        found = [Fraction(each) for each in NUMBER.findall(line)]
        yield "plain: fits", found[:2] == [1, divisor * rows]
        blind = exact((1 - 1 / real(Fraction(divisor * rows))) ** (rows - 1)) / divisor
        yield "plain: bound", _stated_bound(line, found[2:], rows * (times / (divisor * rows) + delta), blind)
    yield "plain: basis", _all_printed(basis.replace("(Cohen Nissim 2020)", ""), (rows, epsilon, delta), (15, 6, 6))


def _all_printed(text: str, wanted: Sequence[Fraction | int], digits: Sequence[int]) -> bool:
    """The numbers of a text are these and no others, each rounded up."""
    found = NUMBER.findall(text)
    exactly = zip(found, map(Fraction, wanted), digits, strict=True) if len(found) == len(wanted) else ()
    return len(found) == len(wanted) and all(printed(*each) for each in exactly)


def _stated_bound(line: str, found: Sequence[Fraction], bound: Fraction, blind: Fraction) -> bool:
    """A line states the bound, its factor and the success without any release (or that no bound below 1 holds, and that
    success), each rounded up to two digits."""
    if bound >= 1:
        return "no bound below 1" in line and len(found) == 1 + 1 and 0 <= found[1] - blind <= blind / 8
    stated, times, base = found if len(found) == 3 else (Fraction(0), Fraction(0), Fraction(0))
    near = 0 <= stated - bound <= bound / 8 and 0 <= base - blind <= blind / 8
    return near and bound / blind <= times * (1 + Fraction(1, 10**6)) and times <= bound / blind * Fraction(9, 8)


def _numbers(parts: Named) -> list[tuple[Fraction, int]]:
    """The numbers of a sentence in their order, each with its digits: epsilon, e^epsilon, delta; then, of several
    parts, the totals again and every part. A delta of 0 is left out but as a total."""
    epsilon, delta = (sum((each[i] for each in parts.values()), Fraction(0)) for i in (0, 1))
    out = [(epsilon, 6), (exact(M.exp(real(epsilon))), 3), *([(delta, 6)] if delta else [])]
    if len(parts) > 1:
        out += [(epsilon, 6), (delta, 6)]
        out += [(number, 6) for e, d in parts.values() for number in ((e, d) if d else (e,))]
    return out


# --- verdicts ---

Measured = tuple[Fraction, Fraction, Fraction] | None
"""Value, low and high."""


def _verdicts(release: Release) -> Checks:
    for each in release.said["verdicts"]:
        name = each["measure"]
        if name in unread(release):
            continue
        measured, stated = _measured(release, each), [each.get(end) for end in ("value", "low", "high")]
        if measured is None:
            yield f"{name}: nothing to measure", stated == [None] * 3 and each["outcome"] == "inconclusive"
            continue
        tests = (same, same, same) if name in _EXACT else (nine, below, above)
        known = None not in stated and all(
            test(str(text), number) for test, text, number in zip(tests, stated, measured, strict=True)
        )
        yield f"{name}: value", known
        most, least = (Fraction(each[limit]) if limit in each else None for limit in ("at_most", "at_least"))
        passed = (most is None or measured[2] <= most) and (least is None or measured[1] >= least)
        yield f"{name}: outcome", each["outcome"] == ("pass" if passed else "fail")


def _measured(release: Release, gate: Said) -> Measured:
    name = gate["measure"]
    if name == "singletons":
        # P(noise > q) <= .05: value - q and value + q are each an end of a one-sided 95 % interval
        margin = laplace_quantile(release.per_unit / Fraction(gate["charge"]), Fraction(1, 20))
        value = Fraction(gate["value"])
        return value, value - margin, value + margin
    if name in _RECOUNTED:
        number = _RECOUNTED[name](release)
        return None if number is None else (number, number, number)
    return _ACCOUNTED[name](release, gate)


def _pso(release: Release, gate: Said) -> Measured:
    facts = release.said["facts"]
    weight = Fraction(gate.get("with", {}).get("weight", WEIGHT))
    spent = Fraction(facts["spent"]["epsilon"]), Fraction(facts["spent"]["delta"])
    rows = facts["people"] * release.per_unit
    if gate["measure"] == "pso_bound":
        number = pso_bound(rows, weight, *spent)
    else:
        beta = Fraction(release.said["mechanism"]["beta"]) if release.per_unit == 1 else Fraction(1)
        number = pso_bound_in_sample(rows, weight, *spent, beta)
    return number, number, number


def _expected(release: Release, gate: Said) -> Measured:
    facts = release.said["facts"]
    names = gate.get("over") or [each["name"] for each in release.said["data"]["columns"]]
    if "classes" in facts:
        people = int(Fraction(gate.get("with", {}).get("people", facts["people"])))
        return (_drawn_group if release.per_unit == 1 else _most_cells)(facts, names, people)
    people = int(Fraction(gate.get("with", {}).get("people", facts["people"])))
    if not {*names} <= {*facts["margins"]}:
        return None
    number = expected_singletons([facts["margins"][name] for name in names], people)
    # the maker's ends are 1e-9 away: its doubles
    return number, number * (1 - Fraction(1, 10**9)), number * (1 + Fraction(1, 10**9))


def _drawn_group(facts: Said, names: Sequence[str], people: int) -> Measured:
    """Return the limits by the counts of one attribute: people who are not counted can be unique, one in each cell."""
    (name,) = names
    counts = facts["margins"][name]
    missing = max(0, people - sum(counts))
    drawn = most_singletons(counts, people)
    # the maker's search stops within 1e-4, and its doubles err by 1e-9
    high = min(
        Fraction(people), Fraction(len(counts)), Fraction(sum(map(bool, counts)) + missing),
        drawn * (1 + Fraction(1, 10**4) + Fraction(1, 10**9)) + missing,
    )  # fmt: skip
    return high, min(high, drawn * (1 - Fraction(1, 10**9))), high


def _most_cells(facts: Said, names: Sequence[str], people: int) -> Measured:
    """Return the limits where a person has several rows and most people are missing from the counts: at most one person
    in each combination of values, or nobody."""
    (name,) = names
    counts, rows = facts["margins"][name], facts["rows_per_unit"]
    high = Fraction(len(counts))
    known = rows * (people - -(-sum(counts) // rows))
    assert high <= known, "the people who are missing from the counts can have one row in each combination"
    return high, Fraction(0), high


def _classes(release: Release) -> Counter[tuple[str, ...]]:
    return Counter(tuple(row.values()) for row in release.table("data"))


def _smallest_class(release: Release) -> Fraction:
    """Return the least class size; k for an empty release."""
    return Fraction(min(_classes(release).values(), default=release.mechanism["k"]))


def _cells(release: Release, *kinds: str) -> list[list[dict[str, Any]]]:
    return [release.table(each["file"]) for each in release.said["data"]["tables"] if each["kind"] in kinds]


def _trusted_share(release: Release) -> Fraction | None:
    flags = [_flag(row) for cells in _cells(release, "count", "sum", "mean") for row in cells]
    return Fraction(sum(flags), len(flags)) if flags else None


def _total_error(release: Release) -> Fraction | None:
    """Return the relative standard error of the most exact total above 0."""
    tables = [each for each in release.said["data"]["tables"] if each["kind"] == "count" and not each["axes"]]
    cells = [release.table(each["file"])[0] for each in tables]
    pairs = [(_number(row["value"]), _number(row["error" if "error" in row else "standard_error"])) for row in cells]
    return min((error / value for value, error in pairs if value and error is not None and value > 0), default=None)


def _smallest_trusted(release: Release) -> Fraction | None:
    values = (_number(row["value"]) for cells in _cells(release, "count") for row in cells if _flag(row))
    return min((each for each in values if each is not None), default=None)


_RECOUNTED: dict[str, Callable[[Release], Fraction | None]] = {
    "guarantee_epsilon": lambda release: release.total[0],
    "guarantee_delta": lambda release: release.total[1],
    "released_rows": lambda release: Fraction(_classes(release).total()),
    "released_classes": lambda release: Fraction(len(_classes(release))),
    "smallest_class": _smallest_class,
    "trusted_share": _trusted_share,
    "total_relative_error": _total_error,
    "smallest_trusted_cell": _smallest_trusted,
}
_ACCOUNTED: dict[str, Callable[[Release, Said], Measured]] = {
    "pso_bound": _pso,
    "pso_bound_in_sample": _pso,
    "expected_singletons": _expected,
}
_EXACT = {"guarantee_epsilon", "guarantee_delta", "released_rows", "released_classes", "smallest_class", "singletons"}
