"""Ingestion summary: the rows of a table that did not count, and why, as sentences and as a table."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from crowdgate.kind.listing import Listing, text_listing
from crowdgate.number_text import COUNT, COUNTED_SHARE, format_value

OTHER_ROWS = (
    "Which rows of such a person count is the same whenever the same attributes are asked for at the same levels; for "
    "others it may be other rows."
)


def ingestion_text(ingested: Mapping[str, Any], table: str) -> str:
    """Return a text with the number of rows, and the numbers that do not count with the reasons."""
    rows = ingested["rows"]
    said = f"{table[0].upper()}{table[1:]} has {format_value(rows['in the files'], COUNT)} rows"
    lost = list(_uncounted_rows(rows))
    kept = [name for name, each in ingested["columns"].items() if each["invalid"] and "counts as" in each["then"]]
    said += f"; {', and '.join(lost)}." if lost else ", and all of them count."
    if rows["dropped"] or rows.get("that name no person"):
        said += " People who are only in such rows are in no set: all figures are of the others."
    if rows.get("truncated"):
        said += f" {OTHER_ROWS}"
    if kept:
        said += f" Cells without a value of the domain count as (invalid), a value like others, in {', '.join(kept)}."
    return said


def _uncounted_rows(rows: Mapping[str, int]) -> Iterator[str]:
    every = rows["in the files"]
    why = {
        "dropped": "are dropped, since a cell has no value of its domain or is missing",
        "that name no person": "name no person and do not count",
        "truncated": "are more than the contract lets count of a person",
    }
    for name, said in why.items():
        if many := rows.get(name):
            yield f"{format_value(many, COUNT)} of them ({format_value(many / every, COUNTED_SHARE)}) {said}"


def ingestion_table(ingested: Mapping[str, Any], table: str) -> Listing:
    """Return a listing of the columns of `table` that have invalid cells: reasons, treatment, number and share of these
    cells."""
    rows = (
        (name, _reasons(each["reasons"]), each["then"], each["invalid"], each["share"])
        for name, each in ingested["columns"].items() if each["invalid"]
    )  # fmt: skip
    columns = ("column", "reasons", "effect", ("invalid cells", COUNT), ("of all", COUNTED_SHARE))
    return text_listing(f"Cells of {table} without a value of their domain", columns, rows)


def _reasons(counted: Iterable[Mapping[str, Any]]) -> str:
    return ", ".join(f"{each['reason']} {format_value(each['cells'], COUNT)}" for each in counted)
