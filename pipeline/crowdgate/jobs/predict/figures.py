"""The figures of a prediction as rows of listings."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import exp

from crowdgate.jobs.predict.laws import INDEPENDENT, JOINT
from crowdgate.kind.forecast import PEOPLE, Column, Listing, Value
from crowdgate.kind.prior import Range
from crowdgate.risk.bins import Bins
from crowdgate.risk.prediction import SIZES, Prediction, predicted

Row = Mapping[str, Value]
_NUMBERS = ("singletons", "share_alone", *(f"up_to_{size}" for size in SIZES))

ALONE = (
    Column("people", "people", "d"),
    Column("by", "by"),
    Column("singletons", "alone", PEOPLE),
    Column("low", "from", PEOPLE),
    Column("high", "to", PEOPLE),
    Column("spread", "standard deviation", ".3g"),
    Column("share_alone", "share alone", ".2%"),
    Column("at_least_one", "somebody is", ".6g"),
    Column("all_alone", "all are"),
)
GROUPS = (
    Column("people", "people", "d"),
    Column("by", "by"),
    *(Column(f"up_to_{size}", f"at most {size}", ".2%") for size in SIZES),
)
DIFFERENCE = f"{JOINT} less {INDEPENDENT}"


def rows_of(bins: Mapping[str, Bins], range_of: Callable[[int], Range | None], sizes: Sequence[int]) -> Iterator[Row]:
    """For every size of a group the prediction by each basis, and the difference of two. `range_of` is that of joint
    figures."""
    for people in sizes:
        found = {name: _row(name, predicted(each, people)) for name, each in bins.items()}
        spread = range_of(people)
        if spread is not None:
            found[JOINT] = {**found[JOINT], "low": spread.low, "high": spread.high}
        yield from found.values()
        if JOINT in found:
            yield _difference(people, found[JOINT], found[INDEPENDENT])


def listings(rows: Sequence[Row]) -> tuple[Listing, Listing]:
    """Who is alone, and who is in a small group."""
    note = "by joint figures with the range that they allow" if any(row["low"] is not None for row in rows) else ""
    title = "expected people who are alone with what is asked"
    return (
        Listing("alone", title, told(ALONE, rows), tuple(rows), note),
        Listing("groups", "expected share of people in groups of", told(GROUPS, rows), tuple(rows)),
    )


def told(columns: tuple[Column, ...], rows: Sequence[Row]) -> tuple[Column, ...]:
    """The columns that say something: not ends of a range where there are none, nor one basis for all rows."""
    one = len({str(row["by"]) for row in rows}) == 1
    nothing = {each.key for each in columns if all(row[each.key] is None for row in rows)}
    return tuple(each for each in columns if each.key not in nothing and not (one and each.key == "by"))


def _row(by: str, found: Prediction) -> dict[str, Value]:
    return {
        "people": found.people, "by": by, "singletons": found.singletons, "spread": found.spread,
        "low": None, "high": None, "share_alone": found.singletons / found.people,
        "at_least_one": found.at_least_one, "all_alone": exp(found.all_unique.value),
        "log_all_alone": found.all_unique.value, "log_none_alone": found.none.value,
        **{f"up_to_{size}": found.shares[size] for size in SIZES},
    }  # fmt: skip


def _difference(people: int, first: Row, second: Row) -> Row:
    apart = {key: number(first[key]) - number(second[key]) for key in _NUMBERS}
    return {**dict.fromkeys(first), "people": people, "by": DIFFERENCE, **apart}


def number(value: Value) -> float:
    """A figure of a row."""
    assert isinstance(value, int | float), "a figure"
    return float(value)
