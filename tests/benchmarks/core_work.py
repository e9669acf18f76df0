"""Core work by Crowdgate and by other libraries: copying and counting a Parquet file, and drawing noise.

Each function is a whole program: `python -m tests.benchmarks` runs it in a process of its own, so it imports what it
needs itself.
"""

from collections.abc import Sequence
from pathlib import Path

GROUPED = ("sex", "race", "education", "marital_status", "state")
"""Columns of generated people that are counted together, of 59,500 combinations."""
Counts = tuple[int, int]
"""Number of combinations that occur, and rows of the most frequent one."""


def copy_by_pyarrow(source: str | Path, target: str | Path) -> None:
    """Read and write a table with pyarrow, a row group at a time, text columns as dictionaries."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = [field.name for field in pq.read_schema(source) if pa.types.is_string(field.type)]
    file = pq.ParquetFile(source, read_dictionary=text)
    with pq.ParquetWriter(target, file.schema_arrow, compression="snappy") as out:
        for i in range(file.num_row_groups):
            out.write_table(file.read_row_group(i))


def count_by_crowdgate(policy: str | Path, grouped: Sequence[str] = GROUPED) -> Counts:
    """Clean, encode and count the table of a policy in the groups, as a release does."""
    from crowdgate.hierarchy import EXACT
    from crowdgate.histogram import View
    from crowdgate.planning.plan import bundle_of
    from crowdgate.sources import open_source
    from crowdgate.sources.counting import CountingTask, count_table, serial

    contract = bundle_of(Path(policy)).contract
    trees = {name: contract.by_name[name].hierarchy for name in grouped}
    view = View({name: tree.level(EXACT) for name, tree in trees.items() if tree is not None})
    task = CountingTask(contract, tuple(grouped), {"groups": view})
    found = count_table(open_source(contract, grouped), task, serial()).histograms["groups"]
    return len(found.counts), int(found.counts.max())


def count_by_pyarrow(data: str | Path) -> Counts:
    """Read the columns as dictionaries, the fastest way, and count the groups."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    table = pq.read_table(data, columns=[*GROUPED], read_dictionary=[*GROUPED]).unify_dictionaries()
    counts = table.group_by([*GROUPED]).aggregate([([], "count_all")])["count_all"]
    return len(counts), pc.max(counts).as_py()


def count_by_duckdb(data: str | Path) -> Counts:
    """Count the groups in SQL, with one thread."""
    import duckdb

    names = ", ".join(f'"{name}"' for name in GROUPED)
    groups = f"SELECT count(*) AS n FROM read_parquet(?) GROUP BY {names}"
    found = duckdb.connect(config={"threads": 1}).execute(f"SELECT count(*), max(n) FROM ({groups})", [str(data)])
    groups_found, most = found.fetchone() or (0, None)
    return groups_found, most


def count_by_polars(data: str | Path) -> Counts:
    """Count the groups by a lazy query."""
    import polars

    groups = polars.scan_parquet(data).group_by([*GROUPED]).len().collect()
    counts = groups["len"].to_list()
    return len(counts), max(counts)


def noise_by_crowdgate(cells: int) -> int:
    """Draw discrete Laplace noise of epsilon 1 for so many cells, and return how many were drawn."""
    from fractions import Fraction

    import numpy as np

    from crowdgate.noise import laplace_vector

    return len(laplace_vector(np.zeros(cells, dtype=np.int64), 1, Fraction(1)))


def noise_by_opendp(cells: int) -> int:
    """Draw as much noise by OpenDP alone, and print the number of draws."""
    import numpy as np
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_laplace
    from opendp.metrics import l1_distance
    from opendp.mod import enable_features
    from opendp.typing import i64

    enable_features("contrib")
    draw = make_laplace(vector_domain(atom_domain(T=i64)), l1_distance(T=i64), scale=1.0)
    return len(draw(np.zeros(cells, dtype=np.int64)))
