"""From the lines of a policy to a workload: their items, and findings at the place of the line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from crowdgate.errors import Finding, nearest
from crowdgate.mechanisms.tables.dp_tables import DpTables, plan_dp_tables
from crowdgate.mechanisms.tables.spec import (
    AllTables,
    DpTablesSpec,
    MeanTable,
    OneTable,
    QuantilesTable,
    SumTable,
    TableItem,
    TotalTable,
)
from crowdgate.mechanisms.tables.workload import (
    ContingencyTable,
    Item,
    Mean,
    Quantiles,
    RowsAtBound,
    Sum,
    all_ways,
    resolve,
)

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract
    from crowdgate.guarantee import Part

ENDS: tuple[Literal["low", "high"], ...] = ("low", "high")
COLUMN = {"by": "by", "level": "level", "probabilities": "at", "low": "low", "share": "share"}


@dataclass(frozen=True)
class WorkloadLine:
    """An item of the workload, with the policy's line that it comes from (`stated`) and the place of that line
    (`at`)."""

    item: Item
    at: int
    stated: TableItem


def plan_tables(spec: DpTablesSpec, contract: Contract, part: Part) -> tuple[DpTables | None, list[Finding]]:
    """Return the mechanism that keeps `part` of the guarantee, or None and the findings against the policy. Reads no
    data."""
    lines, findings = _lines(spec, contract)
    findings += list(_level_findings(spec, contract))
    if contract.sample is not None:
        taken = f"tables of the inherited sample {contract.sample.name!r}"
        findings.append((("kind",), taken, "safe_k_anonymity, the one release that a sample serves", None))
    if spec.raw and spec.split == "residuals":
        drawn = "tables as drawn, where residuals are drawn in place of tables"
        findings.append((("raw",), drawn, "raw: false, or another split", None))
    beta = Fraction(1) if spec.sampling is None else spec.sampling.beta
    items = [line.item for line in lines]
    if not items:
        return None, findings
    split = "least-error" if spec.raw and spec.split == "automatic" else spec.split
    mechanism, found = plan_dp_tables(items, contract, part, noise=spec.noise, beta=beta, split=split)
    findings += [_policy_finding(lines, finding) for finding in found]
    findings = list(dict.fromkeys(findings))
    return (None if findings else mechanism), findings


def _lines(spec: DpTablesSpec, contract: Contract) -> tuple[list[WorkloadLine], list[Finding]]:
    lines: list[WorkloadLine] = []
    findings: list[Finding] = []
    seen: dict[object, int] = {}
    for at, stated in enumerate(spec.tables):
        try:
            found = [WorkloadLine(item, at, stated) for item in _items(spec, stated)]
        except _UnknownAttributes as wrong:
            findings += list(wrong.findings(at, contract))
            continue
        for line in found:
            first = seen.setdefault(_item_key(line.item), at)
            if first != at or line is not next(
                other for other in found if _item_key(other.item) == _item_key(line.item)
            ):
                name = line.item.name
                findings.append(
                    (("tables", at), f"{name!r} repeats entry {first + 1} of `tables`", "each table once", None)
                )
            else:
                lines.append(line)
    return lines, findings


def _item_key(item: Item) -> object:
    """Return a key that is equal for items with equal numbers, whatever the order of their attributes."""
    if isinstance(item, ContingencyTable):
        return "count", frozenset(item.levels.items())
    kind = type(item).__name__
    if isinstance(item, Quantiles):
        return kind, item.column, item.level, frozenset(item.by.items())
    end = item.end if isinstance(item, RowsAtBound) else None
    return kind, item.column, end, frozenset(item.by.items())


class _UnknownAttributes(Exception):
    """Attributes of a list that `levels` does not hold."""

    def __init__(self, key: str, wrong: Sequence[tuple[int, str]], known: Sequence[str]) -> None:
        self.key, self.wrong, self.known = key, wrong, known

    def findings(self, at: int, contract: Contract) -> Iterator[Finding]:
        expected = "an attribute of `levels`, or attributes with levels, such as {age: 10 years}"
        for i, name in self.wrong:
            meant = nearest(name, self.known)
            if meant is None or meant in contract.by_name:  # else the mistake is in `levels`, and reported there
                yield ("tables", at, self.key, i), f"{name!r} has no level", expected, meant


def _items(spec: DpTablesSpec, stated: TableItem) -> Sequence[Item]:
    if isinstance(stated, TotalTable):
        return (ContingencyTable({}, stated.share),)
    if isinstance(stated, OneTable):
        return (ContingencyTable(_named_levels(spec, "attributes", stated.attributes), stated.share),)
    if isinstance(stated, AllTables):
        try:
            tables = all_ways(stated.all, spec.levels)
        except ValueError:
            return ()
        each = None if stated.share is None else stated.share / len(tables)
        return tuple(ContingencyTable(table.levels, each) for table in tables)
    if isinstance(stated, SumTable | MeanTable):
        return _numeric(spec, stated)
    assert isinstance(stated, QuantilesTable)
    by = _named_levels(spec, "by", stated.by)
    return (
        Quantiles(
            stated.quantiles, stated.level, tuple(stated.at), by, stated.share, stated.histogram == "hierarchical"
        ),
    )


def _numeric(spec: DpTablesSpec, stated: SumTable | MeanTable) -> Sequence[Item]:
    """Return the items of a sum's or mean's line: the sum or mean and, with `clamps`, the numbers of rows at both
    bounds. A sum needs one query, a mean two, each number one: the line's share is divided equally between the
    queries."""
    by, bounds = _named_levels(spec, "by", stated.by), (stated.low, stated.high)
    own = 1 if isinstance(stated, SumTable) else 2
    each = None if stated.share is None else stated.share / (own + 2 if stated.clamps else own)
    share = None if each is None else own * each
    first = (
        Sum(stated.sum, by, *bounds, share) if isinstance(stated, SumTable) else Mean(stated.mean, by, *bounds, share)
    )
    ends = [RowsAtBound(first.column, end, by, *bounds, each) for end in ENDS] if stated.clamps else []
    return (first, *ends)


def _named_levels(spec: DpTablesSpec, key: str, names: tuple[str, ...] | dict[str, str]) -> dict[str, str]:
    if isinstance(names, dict):
        return names
    wrong = [(i, name) for i, name in enumerate(names) if name not in spec.levels]
    if wrong:
        raise _UnknownAttributes(key, wrong, list(spec.levels))
    return {name: spec.levels[name] for name in names}


def _level_findings(spec: DpTablesSpec, contract: Contract) -> Iterator[Finding]:
    """Yield the findings against `levels`, used or not, and against lines that need more attributes than `levels`
    has."""
    _, found = resolve([ContingencyTable(spec.levels)], contract, most_cells=1 << 62) if spec.levels else (None, [])
    for place, what, expected, instead in found:
        yield ("levels", *place[2:]), what, expected, instead
    for at, stated in enumerate(spec.tables):
        if isinstance(stated, AllTables) and stated.all > len(spec.levels):
            found_text = f"tables of {stated.all} attributes, and `levels` has {len(spec.levels)}"
            yield ("tables", at, "all"), found_text, "at most the number of attributes in `levels`", None


def _policy_finding(lines: Sequence[WorkloadLine], finding: Finding) -> Finding:
    """Return a finding of the workload, at its place in the policy."""
    where, found, expected, instead = finding
    if not where or not isinstance(where[0], int):
        return (where or ("tables",)), found, expected, instead
    line = lines[where[0]]
    stated, key = line.stated, where[1] if len(where) > 1 else None
    base: tuple[str | int, ...] = ("tables", line.at)
    if key in ("attributes", "by"):
        own = getattr(stated, str(key), None)
        name = str(where[-1])
        if isinstance(own, dict) and len(where) > 2:
            base = (*base, str(key), name)
        elif len(where) > 2:
            base = ("levels", name)
        else:
            base = (*base, str(key))
    elif key == "column":
        base = (*base, stated.key)
    elif key is not None:
        known = COLUMN.get(str(key), str(key))
        base = (*base, known) if getattr(stated, known, None) is not None else base
    return base, found, expected, instead
