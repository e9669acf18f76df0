"""Makes census_income.parquet and public/*.csv beside this file from the full UCI Census-Income (KDD) table.

    python make_census_income.py FULL.parquet

FULL.parquet is the table of 299,285 rows and 42 columns (train rows first, text stripped); any other file is refused.
The same bytes come out every time. The margins are counts of the bundled table, which is public: never make margins
like this from a confidential one.
"""

import hashlib
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

SHA256 = "6c6d0076fb785e6e91a8a178cb15feda9af68c60d346b831506a70b28d606b91"
COLUMNS = {
    "age": "age",
    "sex": "sex",
    "race": "race",
    "hispanic_origin": "hispanic_origin",
    "education": "education",
    "marital_status": "marital_stat",
    "citizenship": "citizenship",
    "country_of_birth": "country_of_birth_self",
    "class_of_worker": "class_of_worker",
    "industry": "major_industry_code",
    "occupation": "major_occupation_code",
    "household_role": "detailed_household_summary_in_household",
    "employment": "full_or_part_time_employment_stat",
    "weeks_worked": "weeks_worked_in_year",
    "tax_filer": "tax_filer_stat",
    "income": "income_gt_50k",
}
RECODED = {
    "country_of_birth": {"?": "Not stated"},
    "income": {"- 50000.": "50000 or less", "50000+.": "more than 50000"},
}
ROWS_PER_GROUP = 1 << 16


def main(source: Path, room: Path) -> None:
    """Writes the bundled table and its margins into `room`."""
    if hashlib.sha256(source.read_bytes()).hexdigest() != SHA256:
        sys.exit(f"{source} is not the table this script was written for (its SHA-256 differs)")
    table = bundled(pq.read_table(source))
    pq.write_table(
        table,
        room / "census_income.parquet",
        row_group_size=ROWS_PER_GROUP,
        compression="zstd",
        compression_level=19,
        write_statistics=False,
    )
    for name in table.column_names:
        lines = [f"{_cell(value)},{count}\n" for value, count in margin(table[name])]
        (room / "public" / f"{name}.csv").write_bytes("".join(["value,count\n", *lines]).encode())


def bundled(full: pa.Table) -> pa.Table:
    """The sixteen columns under plain names, rows in the order of the source."""
    columns = {name: _column(full[source], RECODED.get(name, {})) for name, source in COLUMNS.items()}
    return pa.table(columns)


def _column(column: pa.ChunkedArray, recoded: dict[str, str]) -> pa.Array:
    if not pa.types.is_dictionary(column.type):
        return pa.concat_arrays(column.chunks)
    texts = pa.array([recoded.get(text, text) for text in column.to_pylist()])
    labels = pa.array(sorted(set(texts.to_pylist())))
    return pa.DictionaryArray.from_arrays(pc.index_in(texts, labels).cast(pa.int8()), labels)


def margin(column: pa.ChunkedArray) -> list[tuple[int | str, int]]:
    """Values with their counts, in order of value."""
    return sorted((row["values"], row["counts"]) for row in column.value_counts().to_pylist())


def _cell(value: int | str) -> str:
    text = str(value)
    return f'"{text}"' if "," in text else text


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(__file__).parent)
