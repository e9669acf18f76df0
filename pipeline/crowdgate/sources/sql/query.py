"""The query for a contract's table: projection, keys and GROUP BY, from the names in the contract and nothing else.

A row gets columns of another table from that table's one row with the same key. A key that the other table has twice,
or not at all, gives no cells, so a join neither multiplies rows nor drops any.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from crowdgate.contracts.contract import DatabaseTable, JoinedTable
from crowdgate.limits import LONGEST_CELL, LONGEST_ID
from crowdgate.sources.sql.dialect import DatabaseColumn, Dialect, Relation

COUNT = "n"
"""The name of the column of counts. The other columns of the answer are `c0`, `c1` and so on."""


@dataclass(frozen=True)
class Layout:
    """The contract's table and its joins, with what the catalogue says of each table by its name."""

    table: DatabaseTable
    relations: Mapping[str, Relation]

    def column(self, name: str) -> tuple[int, DatabaseColumn] | None:
        """Return where the query has a column of the contract, or one that only states a key: the number of its table
        (0: the contract's own) and the column there. None if there is no such column."""
        for at, join in enumerate(self.table.joins, 1):
            if name in join.columns:
                found = self._found(join.name, join.columns[name])
                return None if found is None else (at, found)
        own = self._found(self.table.name, self.table.columns.get(name, name))
        return None if own is None else (0, own)

    def key(self, join: JoinedTable) -> DatabaseColumn | None:
        """Return the column that identifies the rows of a joined table."""
        return self._found(join.name, join.key)

    def _found(self, relation: str, column: str) -> DatabaseColumn | None:
        return next((each for each in self.relations[relation].columns if each.name == column), None)


def counting_query(
    dialect: Dialect, settings: Mapping[str, str], layout: Layout, columns: Sequence[str], ids: Collection[str]
) -> str:
    """Return the query for the distinct combinations of these columns and their numbers of rows. `ids` are those of
    the columns that identify persons. Every column must be in the layout."""
    cells = [f"{_cell(dialect, layout, name, is_id=name in ids)} AS c{at}" for at, name in enumerate(columns)]
    rows = ", ".join(cells) or "1 AS c0"
    inner = f"SELECT {rows} FROM {' '.join(_tables(dialect, settings, layout))}"
    names = [f"c{at}" for at in range(len(columns))]
    grouped = f" GROUP BY {', '.join(dialect.group(name) for name in names)}" if names else ""
    return f"SELECT {', '.join([*names, f'{_number_of_rows(dialect)} AS {COUNT}'])} FROM ({inner}) AS r{grouped}"


def _number_of_rows(dialect: Dialect) -> str:
    return f"{dialect.function('COUNT')}(*)"


def _cell(dialect: Dialect, layout: Layout, name: str, *, is_id: bool = False) -> str:
    found = layout.column(name)
    assert found is not None, "every column of the query was found when the table was opened"
    expression = f"t{found[0]}.{dialect.quoted(found[1].name)}"
    if is_id:
        return dialect.identifier(expression, found[1], LONGEST_ID)
    return dialect.cell(expression, found[1], LONGEST_CELL)


def _key(dialect: Dialect, layout: Layout, name: str) -> str:
    found = layout.column(name)
    assert found is not None, "every key was found when the table was opened"
    return dialect.key(f"t{found[0]}.{dialect.quoted(found[1].name)}", found[1], LONGEST_CELL)


def _tables(dialect: Dialect, settings: Mapping[str, str], layout: Layout) -> Iterator[str]:
    yield f"{dialect.relation(settings, layout.table.name)} AS t0"
    for at, join in enumerate(layout.table.joins, 1):
        yield f"LEFT JOIN ({_one_row_each(dialect, settings, layout, join)}) AS t{at}"
        yield f"ON t{at}.k = {_key(dialect, layout, join.by)} AND t{at}.copies = 1"


def _one_row_each(dialect: Dialect, settings: Mapping[str, str], layout: Layout, join: JoinedTable) -> str:
    """Return the rows of a joined table with their keys and the numbers of rows that have an equal key, by the
    engine's own `=`, as in the join."""
    key = layout.key(join)
    assert key is not None, "every key was found when the table was opened"
    cell = dialect.key(f"j.{dialect.quoted(key.name)}", key, LONGEST_CELL)
    columns = [f"j.{dialect.quoted(name)}" for name in dict.fromkeys(join.columns.values())]
    copies = f"{_number_of_rows(dialect)} OVER (PARTITION BY {cell}) AS copies"
    selected = ", ".join([*columns, f"{cell} AS k", copies])
    return f"SELECT {selected} FROM {dialect.relation(settings, join.name)} AS j"
