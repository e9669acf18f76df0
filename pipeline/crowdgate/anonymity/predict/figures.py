"""The figures of a prediction as rows of tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite, log2
from typing import TYPE_CHECKING

from crowdgate.anonymity.predict.independence_bounds import BOUND_NAMES, SMALL
from crowdgate.anonymity.predict.laws import INDEPENDENT, JOINT
from crowdgate.kind.listing import Listing, ListingColumn
from crowdgate.number_text import PEOPLE, PROBABILITY, SHARE, Value, format_value, whole
from crowdgate.risk import degrees
from crowdgate.risk.prediction import SIZES, Prediction, predict_singletons

if TYPE_CHECKING:
    from crowdgate.risk.bins import Bins
    from crowdgate.risk.saddle import LogProbability

Row = Mapping[str, Value]
_NUMBERS = ("singletons", "share_alone", *(f"up_to_{size}" for size in SIZES))

SINGLETON_COLUMNS = (
    ListingColumn("people", "people", PEOPLE),
    ListingColumn("by", "by"),
    ListingColumn("singletons", "unique", PEOPLE),
    ListingColumn("low", "from", PEOPLE),
    ListingColumn("high", "to", PEOPLE),
    ListingColumn("spread", "standard deviation", PEOPLE),
    ListingColumn("share_alone", "share unique", SHARE),
    ListingColumn("at_least_one", "somebody is", PROBABILITY),
    ListingColumn("all_alone", "all are", PROBABILITY),
)
GROUP_COLUMNS = (
    ListingColumn("people", "people", PEOPLE),
    ListingColumn("by", "by"),
    *(ListingColumn(f"up_to_{size}", f"at most {size}", SHARE) for size in SIZES),
    ListingColumn("small_low", f"at most {SMALL}: from", SHARE),
    ListingColumn("small_high", "to", SHARE),
)
DEGREE_COLUMNS = (
    ListingColumn("by", "by"),
    ListingColumn("classes", "classes", PEOPLE),
    ListingColumn("shannon", "Shannon", ".2f"),
    ListingColumn("degree", "of the greatest", ".3f"),
    ListingColumn("renyi_2", "Renyi, order 2", ".2f"),
    ListingColumn("min_entropy", "least", ".2f"),
    ListingColumn("bits_50", "for half of the people", ".2f"),
    ListingColumn("bits_90", "for 90 %", ".2f"),
    ListingColumn("likeliest", "the most probable answers"),
)
ALLOWED = "by joint figures from and to are the range that they allow"
POSSIBLE = "by independence from and to are the least and the most by any joint law with these margins"
DIFFERENCE = f"{JOINT} less {INDEPENDENT}"


def prediction_rows(
    bins: Mapping[str, Bins], ends: Callable[[str, int], Mapping[str, float]], sizes: Sequence[int]
) -> Iterator[Row]:
    """Yield a row for every group size (in people) and every basis (joint figures, independence): the predicted figures
    with their bounds. With two bases a row with their difference follows."""
    for people in sizes:
        found = {
            name: {**_prediction_row(name, predict_singletons(each, people)), **ends(name, people)}
            for name, each in bins.items()
        }
        yield from found.values()
        if JOINT in found:
            yield _difference_row(people, found[JOINT], found[INDEPENDENT])


def listings(rows: Sequence[Row]) -> tuple[Listing, Listing]:
    """Return two listings of these rows: of unique people, and of the share of people in sets up to each size."""
    title, note = "expected unique people", bounds_note(rows)
    return (
        Listing("alone", title, informative_columns(SINGLETON_COLUMNS, rows), tuple(rows), note),
        Listing(
            "groups",
            "expected share of people in groups of",
            informative_columns(GROUP_COLUMNS, rows),
            tuple(rows),
            note,
        ),
    )


def bounds_note(rows: Sequence[Row]) -> str:
    """Return in words the meaning of the columns `from` and `to`; empty if no row has bounds."""
    with_ends = {row["by"] for row in rows if row["low"] is not None}
    return "; ".join(words for basis, words in ((JOINT, ALLOWED), (INDEPENDENT, POSSIBLE)) if basis in with_ends)


def degrees_listing(bins: Mapping[str, Bins], population: int) -> Listing:
    """Return the bits of information about a person in the classes (Koot 2012, sections 2.1-2.2), by each basis. The
    last column is the degree of Reiter and Rubin for a person in the most probable class, after a guess at the
    answers."""
    rows: list[Row] = [
        {
            "by": by, "classes": each.cells, "shannon": degrees.shannon_entropy(each),
            "degree": degrees.degree_of_anonymity(each), "renyi_2": degrees.renyi_entropy(each, 2),
            "min_entropy": degrees.min_entropy(each), "bits_50": degrees.bits_at(each, "0.5"),
            "bits_90": degrees.bits_at(each, "0.9"),
            "likeliest": degrees.degree(each, float(each.probabilities.max())),
        }
        for by, each in bins.items()
    ]  # fmt: skip
    note = f"to name one of {whole(population)} people takes {format_value(log2(population), '.1f')} bits"
    columns = DEGREE_COLUMNS if len(rows) > 1 else DEGREE_COLUMNS[1:]
    return Listing(
        "degrees", ("bits of information in the answers of a person"), columns, tuple(rows), note, further=True
    )


def informative_columns(columns: tuple[ListingColumn, ...], rows: Sequence[Row]) -> tuple[ListingColumn, ...]:
    """Return the columns without those in which no row has a value, and without the basis if it is the same in all
    rows."""
    one = len({str(row["by"]) for row in rows}) == 1
    nothing = {each.key for each in columns if all(row[each.key] is None for row in rows)}
    return tuple(each for each in columns if each.key not in nothing and not (one and each.key == "by"))


def _prediction_row(by: str, found: Prediction) -> dict[str, Value]:
    return {
        "people": found.people, "by": by, "singletons": found.singletons, "spread": found.spread,
        **dict.fromkeys(BOUND_NAMES), "share_alone": found.singletons / found.people,
        "at_least_one": found.at_least_one, "all_alone": found.all_singletons,
        "log_all_alone": _logarithm(found.all_unique), "log_none_alone": _logarithm(found.none),
        **{f"up_to_{size}": found.shares[size] for size in SIZES},
    }  # fmt: skip


def _logarithm(found: LogProbability) -> float | None:
    """Return the logarithm of a probability; None for that of probability 0, which JSON can't hold."""
    return found.value if isfinite(found.value) else None


def _difference_row(people: int, first: Row, second: Row) -> Row:
    apart = {key: number(first[key]) - number(second[key]) for key in _NUMBERS}
    return {**dict.fromkeys(first), "people": people, "by": DIFFERENCE, **apart}


def number(value: Value) -> float:
    """Return a number in a cell of a row as a float."""
    assert isinstance(value, int | float), "a figure"
    return float(value)
