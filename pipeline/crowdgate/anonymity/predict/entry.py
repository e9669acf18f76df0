"""The prediction from an entry of a KL repository: from its bins, KL and collision quantity with their intervals,
without other figures of the population.

An expansion around the uniform distribution is used where `risk.approximations` allows it, up to the upper end of the
entry's interval; otherwise the reason is given instead. The expected number of unique people has bounds over all tables
that fit the entry (`anonymity.kl.unique_share`), also where no expansion is allowed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from math import floor, sqrt
from pathlib import Path

from crowdgate.anonymity.kl.entry import FigureInterval, KlEntry, digest_of, read_entry
from crowdgate.anonymity.kl.unique_share import unique_share_range
from crowdgate.anonymity.predict.figures import Row
from crowdgate.anonymity.predict.group import BIAS, drawn_sizes, levels_phrase, people_phrase, unique_people_picture
from crowdgate.anonymity.predict.subject import groups_of, option_problem
from crowdgate.errors import ConfigurationError, FileFault, VerificationFailed
from crowdgate.kind.listing import Listing, ListingColumn
from crowdgate.kind.picture import Picture
from crowdgate.limits import LARGEST_ENTRY, MOST_PEOPLE
from crowdgate.number_text import BOUND, LEAST, PEOPLE, PROBABILITY, SHARE, format_value, rounded, whole
from crowdgate.report.report import Report, short_report
from crowdgate.risk import approximations
from crowdgate.risk.approximations.validity import GROUP_SHARE_ERROR as TOGETHER_OFF
from crowdgate.risk.approximations.validity import LOGARITHM_ERROR, VARIANCE_ERROR
from crowdgate.risk.approximations.validity import SINGLETON_ERROR as ALONE_OFF
from crowdgate.risk.bins import Bins
from crowdgate.risk.groups import share_in_groups_of
from crowdgate.risk.prediction import ABOVE_ZERO, BELOW_ONE, predict_singletons
from crowdgate.signing.keys import public_keys
from crowdgate.system.regular_files import plain_file, read_bounded

KL, COLLISION, EXACT = "KL", "collision quantity", "exactly"
SMALL_GROUP_SIZES = (2, 3)
"""Set sizes that second-order expansions predict, in addition to 1; larger ones are outside their validity."""
FORMULAS = (
    "Unique people: (5.4) of Koot 2012. Their standard deviation: section 5.3.2. Shares in groups: (5.6). The"
    " probability that all are unique: exp(-(1/2 + kappa) k^2/N) with the uniform law's factor exact; kappa is once"
    " KL and once the collision quantity, which agree to the second order. From and to: the least and greatest expected"
    " number of unique people over all tables that fit the entry's KL, collision quantity, rows and, where it has one,"
    " its curve. An expansion outside of them is replaced by the nearer one."
)
EXPANSION_ERRORS = (
    "Errors of the approximation: the share of unique people is off by at most"
    f" {ALONE_OFF.kl} by KL, if no bins are far more probable than others. By the collision quantity, it is off by at"
    f" most {ALONE_OFF.collisions}. Each share in groups of {SMALL_GROUP_SIZES[0]} and {SMALL_GROUP_SIZES[-1]} is off"
    f" by at most {TOGETHER_OFF}. The square of the standard deviation is off by {VARIANCE_ERROR} for each person."
    f" The logarithm of the probability that all are unique is off by {LOGARITHM_ERROR}. Relative errors of small"
    " shares can be large."
)
ALIKE = "The figures are exact: all bins are alike, or there is one person, who is unique in any."
INSTEAD = (
    "Unknown figures are outside the range of the approximation. A contract's margins have no such range (predict"
    " CONTRACT), nor has a published release of tables (predict CONTRACT --from RELEASE)."
)
OUTLIERS_POSSIBLE = (
    "Two distances do not rule out that some bins are far more probable than others, which makes approximations"
    " inaccurate (Koot 2012, section 7.5)."
)
OUTLIERS = (
    "KL and the collision quantity differ by more than a quarter: some bins are far more or far less probable than"
    " others, and approximations are inaccurate there (Koot 2012, section 7.5)."
)
CHANCE = (
    "The entry has few people. About {chance} of KL and of the collision quantity is chance, (N - 1) / (2n), because"
    " {rows} rows fall unevenly into {bins} bins even if all are alike. Among other people more are unique than"
    " stated, while there are fewer than two for each bin."
)
ATTACKER_KNOWLEDGE = (
    "The figures are for an attacker who knows that the person is among these people (Koot 2012, sections 4.5 and 5.1)."
)
UNKNOWN = "unknown"
UNIQUENESS_UNKNOWN = "it is unknown how many are unique by their answers"
SINGLETON_COLUMNS = (
    ListingColumn("people", "people", PEOPLE),
    ListingColumn("by", "by"),
    ListingColumn("singletons", "unique", PEOPLE, UNKNOWN),
    ListingColumn("low", "from", LEAST, UNKNOWN),
    ListingColumn("high", "to", BOUND, UNKNOWN),
    ListingColumn("spread", "standard deviation", PEOPLE, UNKNOWN),
    ListingColumn("all_alone", "all are", PROBABILITY, UNKNOWN),
    ListingColumn("share_alone", "share unique", SHARE, UNKNOWN),
    *(ListingColumn(f"of_{size}", f"in groups of {size}", SHARE, UNKNOWN) for size in SMALL_GROUP_SIZES),
)
REFUSED = (
    ListingColumn("people", "people", PEOPLE),
    ListingColumn("by", "by"),
    ListingColumn("figure", "figure"),
    ListingColumn("why", "why"),
)
NAMES = {
    "singletons": "alone",
    "spread": "standard deviation",
    "all_alone": "all are",
    **{f"of_{size}": f"in groups of {size}" for size in SMALL_GROUP_SIZES},
}
NOTABLE_SHARE = 0.1
"""Share of an entry's KL from which on sampling variation is reported."""
LEAST_BINS = 20
"""Least number of bins for a limit theorem for many bins."""

Formula = Callable[[float], float]
FigureOrReason = float | str
"""A figure, or the reason why it is unknown."""


@dataclass(frozen=True)
class TrustedKeys:
    """Files of public keys that may have signed an entry, and the day on which it is read."""

    keys: Sequence[Path]
    today: date


def predict_entry(path: Path, trust: TrustedKeys, people: str | None) -> Report:
    """Return the prediction from the entry in a file, for groups of these sizes (by default all its people).

    Raises ConfigurationError without a key and for a wrong size, VerificationFailed for an entry that no key signed,
    that is dated in the future, or that is impossible, FileFault where it can't be read.
    """
    digest, entry = _read_entry(path, trust)
    sizes = groups_of(people, _population_size(entry))
    found = [each for size in sizes for each in _bounded_rows(entry, size)]
    rows, refused = [row for row, _ in found], [why for _, whys in found for why in whys]
    levels = {each.name: each.level for each in entry.vocabulary.attributes}
    own = [row for row in rows if row["people"] == sizes[0]]
    about = {"contract": entry.vocabulary.contract, "population": entry.population.id, "levels": levels}
    return short_report(
        f"Prediction of an entry on {entry.vocabulary.contract}",
        lambda: (_sentence(own, levels_phrase(levels)), *_notes(entry, rows, bool(refused))),
        tuple(_listings(rows, refused)),
        {"entry": digest, **about, "bins": entry.bins},
        lambda: [_picture(entry, sizes)],
    )


def _read_entry(path: Path, trust: TrustedKeys) -> tuple[str, KlEntry]:
    if not trust.keys:
        expected = "the file of the public keys that are trusted, such as --key holder.key.pub"
        raise ConfigurationError(option_problem("--key", "an entry of a KL repository without a key", expected))
    keys = [each for file in trust.keys for each in public_keys(file)]
    try:
        with plain_file(path) as file:
            envelope = read_bounded(file, LARGEST_ENTRY)
        return digest_of(envelope), read_entry(envelope, keys, trust.today)[0]
    except OSError as error:
        raise FileFault(f"{path}: {error.strerror or 'unreadable'}; expected an entry of a KL repository") from None
    except VerificationFailed as error:
        raise VerificationFailed(f"{path}: {error}") from None


def _population_size(entry: KlEntry) -> int:
    """Return the number of people of the population, at most MOST_PEOPLE: the entry's rows divided by the share of the
    population that its data cover."""
    people, covered = entry.people.rows, entry.source.coverage
    return min(MOST_PEOPLE, floor(people / covered)) if covered > 0 else MOST_PEOPLE


def _distance_rows(entry: KlEntry, people: int) -> Iterator[tuple[Row, list[Row]]]:
    """Yield, for each distance from uniform (KL, collision quantity), the row of its predicted figures and a row for
    each figure that is unknown."""
    if entry.bins == 1 or people == 1 or entry.kl.high == entry.collision.high == 0:
        yield _figure_row(EXACT, people, _uniform_figures(entry.bins, people))
        return
    for by, ends in ((KL, entry.kl), (COLLISION, entry.collision)):
        yield _figure_row(
            by, people, {name: _figure_or_reason(each, ends) for name, each in _formulas(entry.bins, people).items()}
        )


def _bounded_rows(entry: KlEntry, people: int) -> Iterator[tuple[Row, list[Row]]]:
    """Yield the rows of `_distance_rows` with the bounds on unique people over all tables that fit the entry. An
    expansion outside of these bounds is replaced by the nearer one."""
    found = list(_distance_rows(entry, people))
    if found[0][0]["by"] == EXACT:
        yield from found
        return
    share = unique_share_range(entry, people)
    for row, refused in found:
        if isinstance(share, str):
            yield row, [*refused, {"people": people, "by": row["by"], "figure": "from, to", "why": share}]
        else:
            yield _within(row, people * share.low, people * share.high), refused


def _within(row: Row, low: float, high: float) -> Row:
    value = row["singletons"]
    if not isinstance(value, float):
        return {**row, "low": low, "high": high}
    value = min(max(value, low), high)
    return {**row, "singletons": value, "share_alone": value / float(str(row["people"])), "low": low, "high": high}


def _uniform_figures(bins: int, people: int) -> Mapping[str, float]:
    """Return each predicted figure, by name, for `people` people in `bins` equally probable bins."""
    alike = Bins.uniform(bins)
    found = predict_singletons(alike, people)
    shares = {f"of_{size}": share_in_groups_of(alike, people, size) for size in SMALL_GROUP_SIZES}
    return {"singletons": found.singletons, "spread": found.spread, "all_alone": found.all_singletons, **shares}


def _formulas(bins: int, people: int) -> Mapping[str, Formula]:
    """Return, by name, the function that predicts each figure from a distance from uniform. Every function takes either
    distance, KL or collision quantity, and raises ValueError where its approximation does not hold."""

    def limit(formula: Callable[..., float], kappa: float, **more: int) -> float:
        if bins < LEAST_BINS:
            raise ValueError(f"{formula.__name__} does not hold here: N must be at least {LEAST_BINS}, not {bins}")
        return max(0.0, approximations.checked(formula, k=people, N=bins, kappa=kappa, **more))

    def together(size: int, kappa: float) -> float:
        return min(1.0, limit(approximations.phi_j_kl, kappa, j=size)) if size <= people else 0.0

    def all_alone(kappa: float) -> float:
        if people > bins:
            return 0.0
        found = approximations.checked(approximations.uniqueness_kl_corrected, k=people, N=bins, kappa=kappa)
        return min(max(found, ABOVE_ZERO), BELOW_ONE)

    return {
        "singletons": lambda kappa: min(float(people), limit(approximations.ES_kl, kappa)),
        "spread": lambda kappa: sqrt(limit(approximations.VarS_kl_corrected, kappa)),
        "all_alone": all_alone,
        **{f"of_{size}": partial(together, size) for size in SMALL_GROUP_SIZES},
    }


def _figure_or_reason(formula: Formula, ends: FigureInterval) -> FigureOrReason:
    """Return a figure for the entry's distance, or the reason why it is unknown. The upper end is tried first, since
    approximations are valid for small distances."""
    try:
        formula(ends.high)
        return formula(ends.value)
    except ValueError as error:
        return str(error).partition(": ")[2]


def _figure_row(by: str, people: int, said: Mapping[str, FigureOrReason]) -> tuple[Row, list[Row]]:
    known = {name: each for name, each in said.items() if not isinstance(each, str)}
    value = known.get("singletons")
    exact = value if by == EXACT else None
    share = None if value is None else value / people
    row: Row = {
        "people": people, "by": by, **{name: known.get(name) for name in said},
        "low": exact, "high": exact, "share_alone": share,
    }  # fmt: skip
    whys = ((NAMES[name], why) for name, why in said.items() if isinstance(why, str))
    return row, [{"people": people, "by": by, "figure": figure, "why": why} for figure, why in whys]


def _listings(rows: Sequence[Row], refused: Sequence[Row]) -> Iterator[Listing]:
    yield Listing("alone", "expected unique people", SINGLETON_COLUMNS, tuple(rows))
    if refused:
        yield Listing("refused", "unknown figures, and why", REFUSED, tuple(refused))


def _sentence(rows: Sequence[Row], asked: str) -> str:
    few = [_value_text(row) for row in rows if row["singletons"] is not None]
    few = [*few[:-1], f"{few[-1]}{_range_text(rows[0])}"] if few else [_range_text(rows[0]).strip(" ()")]
    said = f"{' or '.join(few)} are expected to be unique by their answers" if any(few) else UNIQUENESS_UNKNOWN
    return f"Of {people_phrase(rows[0]['people'])} asked for {asked}, {said}."


def _range_text(row: Row) -> str:
    if row["low"] in (None, row["high"]):
        return ""
    low, high = (format_value(row[key], style) for key, style in (("low", LEAST), ("high", BOUND)))
    return f" ({low} to {high} over all tables that fit)"


def _value_text(row: Row) -> str:
    value = format_value(row["singletons"], PEOPLE)
    return value if row["by"] == EXACT else f"{value} by {row['by']}"


def _notes(entry: KlEntry, rows: Sequence[Row], refused: bool) -> Iterator[str]:
    said = entry.source
    only = "".join(f", {each.name} {each.value}" for each in entry.population.restrictions)
    yield (
        f"The entry is of {entry.population.words}{only}, of {entry.date}: {whole(entry.people.rows)} rows"
        f" ({entry.people.known}) and {whole(entry.bins)} bins; its holder says that the data cover"
        f" {rounded(said.coverage)}"
        f" of the people, and that {rounded(said.error)} of the cells are wrong."
    )
    yield from [ALIKE] if all(row["by"] == EXACT for row in rows) else _expansion_notes(entry, refused)
    yield ATTACKER_KNOWLEDGE
    yield BIAS


def _expansion_notes(entry: KlEntry, refused: bool) -> Iterator[str]:
    """Yield notes on the second-order expansions from which the figures follow, and on their errors."""
    yield FORMULAS
    yield EXPANSION_ERRORS
    if refused:
        yield INSTEAD
    apart = abs(entry.kl.value - entry.collision.value)
    yield OUTLIERS if apart > entry.collision.value / 4 else OUTLIERS_POSSIBLE
    chance = (entry.bins - 1) / (2 * entry.people.rows)
    if chance > NOTABLE_SHARE * entry.kl.value:
        yield CHANCE.format(chance=rounded(chance, 3), rows=whole(entry.people.rows), bins=whole(entry.bins))


def _picture(entry: KlEntry, sizes: Sequence[int]) -> Picture:
    """Return a picture of the share of unique people in groups of every size for which it is known."""
    points: dict[str, list[tuple[int, float]]] = {}
    for people in sorted({*sizes, *drawn_sizes(_population_size(entry))}):
        for row, _ in _distance_rows(entry, people):
            if isinstance(row["share_alone"], float):
                points.setdefault(str(row["by"]), []).append((people, row["share_alone"]))
    return unique_people_picture(points)
