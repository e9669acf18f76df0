"""The table of a contract in a database: its name, its columns, and the tables whose columns its rows get by a key.

Crowdgate writes the query. A contract states names only, as a condition, a limit or a free join would change what the
rows of one person can do.
"""

from collections.abc import Collection, Sequence

from crowdgate.contracts.contract import DatabaseTable, JoinedTable, PrivacyUnit
from crowdgate.contracts.models import JoinModel, Place, quoted_value
from crowdgate.errors import Code, nearest

_TYPES = ("table", "view")


def read_database_table(
    table: Place,
    joins: Place | None,
    models: Sequence[JoinModel],
    attributes: Collection[str],
    unit: PrivacyUnit | None,
) -> DatabaseTable:
    """Return where a database has the columns of a contract. Faults are added to the problems of `table`."""
    stated, kind = table.text("physicalName") or table.text("name") or "", table.text("physicalType")
    if kind not in (None, *_TYPES):
        (table / "physicalType").refuse(quoted_value(kind), "table or view", nearest(kind or "", _TYPES), Code.VALUE)
    others = {name for model in models for name in model.columns}
    physical = {place.text("name"): place.text("physicalName") for place in (table / "properties").items()}
    own = {name: physical.get(name) or name for name in attributes if name not in others}
    found: list[JoinedTable] = []
    for at, model in enumerate(models):
        assert joins is not None, "the joins that were read have a place"
        _refuse_table_of_persons(joins / at, model, stated, found)
        _refuse_key_from_behind(joins / at, model, models[at:])
        found.append(_joined(joins / at, model, found, unit))
    return DatabaseTable(stated, kind == "view", own, tuple(found))


def refuse_database_facts(table: Place, joins: Place | None) -> None:
    """Refuse what only a table in a database has: other names of columns than the contract's, and joins."""
    for place in (table / "properties").items():
        if place.text("physicalName") not in (None, place.text("name")):
            (place / "physicalName").called(place.text("name") or "", "physicalName").refuse(
                "physicalName differs from name",
                "the name of the column in the file for both, or no physicalName",
                place.text("name"),
            )
    if joins is not None:
        joins.refuse("joins of a table in files", "a server that is a database, or one file with all columns")


def _refuse_table_of_persons(at: Place, model: JoinModel, own: str, before: Sequence[JoinedTable]) -> None:
    """Refuse the contract's own table as a joined one, and one table as that of the unit and of groups: one person's
    rows would then decide cells of others."""
    if model.table.casefold() == own.casefold():
        (at / "table").refuse("the contract's own table", "another table of the database")
    kinds = {each.is_of_unit for each in before if each.name.casefold() == model.table.casefold()}
    if kinds - {model.of == "unit"}:
        (at / "of").refuse("a table of the unit and of groups", "the same in all joins of this table")


def _refuse_key_from_behind(at: Place, model: JoinModel, onwards: Sequence[JoinModel]) -> None:
    """Refuse a `by` that this join or a later one brings: a row would join with every row that has such cells, so it
    would multiply."""
    if any(model.by in each.columns for each in onwards):
        (at / "by").refuse(
            f"{quoted_value(model.by)} is a column that this join or a later one brings",
            "a column of the contract's own table, or of an earlier join",
        )


def _joined(at: Place, model: JoinModel, before: Sequence[JoinedTable], unit: PrivacyUnit | None) -> JoinedTable:
    taken = {name for each in before for name in each.columns}
    for name in model.columns:
        if name in taken:
            (at / "columns").refuse(f"{quoted_value(name)} is a column of an earlier join", "each column once")
    person = None if unit is None else unit.person
    if person in model.columns:
        (at / "columns").refuse("the person column from a joined table", "a person column of the contract's own table")
    if model.of == "unit" and (person is None or model.by != person):
        expected = "the person column as `by`; a table whose rows several persons share is `of: groups`"
        (at / "by").refuse(f"a table of the unit joined by {quoted_value(model.by)}", expected)
    return JoinedTable(
        name=model.table,
        is_view=model.type == "view",
        key=model.key,
        by=model.by,
        columns=dict(model.columns),
        is_of_unit=model.of == "unit",
    )
