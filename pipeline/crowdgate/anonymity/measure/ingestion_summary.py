"""What became of a table's rows before anything was counted, as sentences and as a table: rows that do not count are
said to be so."""

from collections.abc import Iterator, Mapping
from typing import Any

from crowdgate.anonymity.measure.text_tables import TextTable, number, percent

OTHER_ROWS = (
    "Which rows of such a person count is the same whenever the same attributes are asked for at the same levels; for "
    "others it may be other rows."
)


def ingestion_text(ingested: Mapping[str, Any], table: str) -> str:
    """How many rows there are, and how many of them do not count, and why."""
    rows = ingested["rows"]
    said = f"{table[0].upper()}{table[1:]} has {number(rows['in the files'])} rows"
    lost = list(_uncounted_rows(rows))
    kept = [name for name, each in ingested["columns"].items() if each["invalid"] and "counts as" in each["then"]]
    said += f"; {', and '.join(lost)}." if lost else ", and all of them count."
    if rows["dropped"] or rows.get("that name no person"):
        said += " Whoever is in such rows only is in no set, so all figures are of the others."
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
            yield f"{number(many)} of them ({percent(many, every)}) {said}"


def ingestion_table(ingested: Mapping[str, Any], table: str) -> TextTable:
    """The columns with invalid cells; none where there is no such."""
    rows = tuple(
        (name, ", ".join(f"{one['reason']} {number(one['cells'])}" for one in each["reasons"]), each["then"],
         number(each["invalid"]), percent(each["share"], 1))
        for name, each in ingested["columns"].items() if each["invalid"]
    )  # fmt: skip
    titles = ("column", "reasons", "then", "invalid cells", "of all")
    return TextTable(f"Cells of {table} without a value of their domain", "", titles, rows, words=3)
