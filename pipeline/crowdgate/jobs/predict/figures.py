"""The figures of a prediction as rows of listings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite, log2
from typing import TYPE_CHECKING

from crowdgate.jobs.predict.ends import ENDS, SMALL
from crowdgate.jobs.predict.laws import INDEPENDENT, JOINT
from crowdgate.kind.forecast import PEOPLE, PROBABILITY, SHARE, Column, Listing, Value
from crowdgate.risk import degrees
from crowdgate.risk.prediction import SIZES, Prediction, predicted

if TYPE_CHECKING:
    from crowdgate.risk.bins import Bins
    from crowdgate.risk.saddle import LogProbability

Row = Mapping[str, Value]
_NUMBERS = ("singletons", "share_alone", *(f"up_to_{size}" for size in SIZES))

ALONE = (
    Column("people", "people", PEOPLE),
    Column("by", "by"),
    Column("singletons", "alone", PEOPLE),
    Column("low", "from", PEOPLE),
    Column("high", "to", PEOPLE),
    Column("spread", "standard deviation", PEOPLE),
    Column("share_alone", "share alone", SHARE),
    Column("at_least_one", "somebody is", PROBABILITY),
    Column("all_alone", "all are", PROBABILITY),
)
GROUPS = (
    Column("people", "people", PEOPLE),
    Column("by", "by"),
    *(Column(f"up_to_{size}", f"at most {size}", SHARE) for size in SIZES),
    Column("small_low", f"at most {SMALL}: from", SHARE),
    Column("small_high", "to", SHARE),
)
DEGREES = (
    Column("by", "by"),
    Column("classes", "classes", PEOPLE),
    Column("shannon", "Shannon", ".2f"),
    Column("degree", "of the greatest", ".3f"),
    Column("renyi_2", "Renyi, order 2", ".2f"),
    Column("min_entropy", "least", ".2f"),
    Column("bits_50", "for half of the people", ".2f"),
    Column("bits_90", "for 90 %", ".2f"),
    Column("likeliest", "the likeliest answers"),
)
ALLOWED = "by joint figures from and to are the range that they allow"
POSSIBLE = "by independence from and to are the least and the most by any joint law with these margins"
DIFFERENCE = f"{JOINT} less {INDEPENDENT}"


def rows_of(
    bins: Mapping[str, Bins], ends: Callable[[str, int], Mapping[str, float]], sizes: Sequence[int]
) -> Iterator[Row]:
    """For every size of a group the prediction by each basis, with its ends, and the difference of two."""
    for people in sizes:
        found = {name: {**_row(name, predicted(each, people)), **ends(name, people)} for name, each in bins.items()}
        yield from found.values()
        if JOINT in found:
            yield _difference(people, found[JOINT], found[INDEPENDENT])


def listings(rows: Sequence[Row]) -> tuple[Listing, Listing]:
    """Who is alone, and who is in a small group."""
    title, note = "expected people who are alone with what is asked", what_ends_are(rows)
    return (
        Listing("alone", title, told(ALONE, rows), tuple(rows), note),
        Listing("groups", "expected share of people in groups of", told(GROUPS, rows), tuple(rows), note),
    )


def what_ends_are(rows: Sequence[Row]) -> str:
    """In words, what the ends of a range rest on."""
    with_ends = {row["by"] for row in rows if row["low"] is not None}
    return "; ".join(words for basis, words in ((JOINT, ALLOWED), (INDEPENDENT, POSSIBLE)) if basis in with_ends)


def degrees_listing(bins: Mapping[str, Bins], population: int) -> Listing:
    """How many bits the classes tell of a person (Koot 2012, sections 2.1-2.2), by each basis; the last column is the
    degree of Reiter and Rubin that a guess at anybody's answers leaves whoever is in the likeliest class."""
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
    note = f"to name one of {population:,} people takes {log2(population):.1f} bits"
    columns = DEGREES if len(rows) > 1 else DEGREES[1:]
    return Listing("degrees", "bits that the answers tell of a person", columns, tuple(rows), note, further=True)


def told(columns: tuple[Column, ...], rows: Sequence[Row]) -> tuple[Column, ...]:
    """The columns that say something: not ends of a range where there are none, nor one basis for all rows."""
    one = len({str(row["by"]) for row in rows}) == 1
    nothing = {each.key for each in columns if all(row[each.key] is None for row in rows)}
    return tuple(each for each in columns if each.key not in nothing and not (one and each.key == "by"))


def _row(by: str, found: Prediction) -> dict[str, Value]:
    return {
        "people": found.people, "by": by, "singletons": found.singletons, "spread": found.spread,
        **dict.fromkeys(ENDS), "share_alone": found.singletons / found.people,
        "at_least_one": found.at_least_one, "all_alone": found.all_alone,
        "log_all_alone": _logarithm(found.all_unique), "log_none_alone": _logarithm(found.none),
        **{f"up_to_{size}": found.shares[size] for size in SIZES},
    }  # fmt: skip


def _logarithm(found: LogProbability) -> float | None:
    """None for the logarithm of 0, which JSON can't hold."""
    return found.value if isfinite(found.value) else None


def _difference(people: int, first: Row, second: Row) -> Row:
    apart = {key: number(first[key]) - number(second[key]) for key in _NUMBERS}
    return {**dict.fromkeys(first), "people": people, "by": DIFFERENCE, **apart}


def number(value: Value) -> float:
    """A figure of a row."""
    assert isinstance(value, int | float), "a figure"
    return float(value)
