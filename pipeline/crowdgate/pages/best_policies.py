"""The answer of `plan --best` as a report: what users need, the policies that answer it best, and what gates cost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdgate.forecast.best_policies import BestPolicies, PolicyCandidate, changes
from crowdgate.forecast.outlook import Outlook
from crowdgate.kind.listing import Listing, ListingColumn
from crowdgate.kind.section import Section
from crowdgate.number_text import format_value
from crowdgate.report.report import Report

ERROR = ".2g"
COLUMNS = (
    ListingColumn("number", "policy", "d"),
    ListingColumn("kind", "kind"),
    ListingColumn("error", "error", ERROR),
    ListingColumn("low", "from", ERROR),
    ListingColumn("high", "to", ERROR),
    ListingColumn("detail", "detail", ".2f"),
    ListingColumn("unknown", "gates unknown", "d"),
    ListingColumn("changes", "changes to the policy"),
)
MEANS = (
    "error: the expected root mean square of a cell, as a share of all people, with its range. It is the mean over the"
    " needed tables, and that of rows by their weights, if any. detail: the columns that are kept, each counted as 1"
    " at its finest level"
)
RELATED = (
    "A public table or a pilot release may tell how columns are related: give --from, or run crowdgate init --policy"
    " --template pilot."
)


@dataclass(frozen=True, eq=False)
class BestPoliciesReport:
    """The answer to the search beside the outlook of the policy; `files` are the policies that were written, in the
    order of the frontier (empty: none were)."""

    found: Outlook
    best: BestPolicies
    files: Sequence[Path] = ()

    def report(self) -> Report:
        """Return the answer as a report for terminal, page and JSON."""
        title = f"Best policies for {self.found.plan.bundle.policy.metadata.name}"
        return Report(title, lambda: list(self._sections()), self._json)

    def _sections(self) -> Iterator[Section]:
        yield Section(sentences=[*self._least(), self._needs(), self._own(), *self.found.rests_on()])
        if not self.best.frontier:
            yield Section(sentences=[self._nothing()])
            return
        title = f"Policies at the same privacy cost, within the gates ({self.best.tried} were tried)"
        yield Section(listings=[Listing("policies", title, COLUMNS, tuple(map(self._row, *self._numbered())), MEANS)])
        yield Section(sentences=[*self._prices(), *self._written()])

    def _numbered(self) -> tuple[Sequence[int], Sequence[PolicyCandidate]]:
        return range(1, len(self.best.frontier) + 1), self.best.frontier

    def _least(self) -> Iterator[str]:
        if self.best.frontier:
            at = min(range(len(self.best.frontier)), key=lambda each: self.best.frontier[each].error.value)
            least = self.best.frontier[at]
            yield f"Least expected error: policy {at + 1}, {least.kind}, {format_value(least.error.value, ERROR)}."

    def _needs(self) -> str:
        tables = "; ".join(", ".join(table) for table in self.best.needs.tables)
        if self.best.needs.listed:
            return f"Users need these tables, by the contract's analyses: {tables}."
        return f"The contract lists no analysis, so all tables of one and two of the policy's columns count: {tables}."

    def _own(self) -> str:
        own = self.best.own
        if own is None:
            return f"The expected error of the present policy is unknown. {RELATED}"
        failing = f" It is expected to fail {', '.join(sorted(own.failing))}." if own.failing else ""
        return f"The present policy has the expected error {format_value(own.error.value, ERROR)}.{failing}"

    def _nothing(self) -> str:
        if self.best.tried and self.best.prices:
            return "None of the policies that were tried passes the gates."
        return f"Unknown: too little is known of these columns. {RELATED}"

    def _row(self, number: int, each: PolicyCandidate) -> dict[str, Any]:
        said = "; ".join(changes(self.found, each)) or "none"
        return {
            "number": number, "kind": each.kind, "error": each.error.value, "low": each.error.low,
            "high": each.error.high, "detail": each.detail, "unknown": each.unknown, "changes": said,
        }  # fmt: skip

    def _prices(self) -> Iterator[str]:
        for gate, kind, share in self.best.prices:
            yield f"Without the gate {gate} the least error of {kind} is {format_value(share, '.1%')} smaller."

    def _written(self) -> Iterator[str]:
        for number, path in enumerate(self.files, 1):
            yield f"Policy {number} is {path}: see crowdgate diff {self.found.plan.bundle.document.path} {path}."

    def _json(self) -> dict[str, Any]:
        rows = [self._row(*each) for each in zip(*self._numbered(), strict=True)]
        own = self.best.own
        return {
            "outcome": "searched",
            "analyses_listed": self.best.needs.listed,
            "tables": [{name: level.name for name, level in table.items()} for table in self.best.needs.tables],
            "own": None if own is None else {"error": own.error.value, "fails": sorted(own.failing)},
            "tried": self.best.tried,
            "policies": rows,
            "prices": [{"gate": gate, "kind": kind, "smaller": share} for gate, kind, share in self.best.prices],
            "files": [str(path) for path in self.files],
        }
