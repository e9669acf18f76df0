"""The answer of `plan --rows-per-person` as a report: what each bound on rows per person leaves out, and the best."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from crowdgate.forecast.row_bounds import BestBound, BoundError, BoundWithErrors, RowBounds
from crowdgate.interval import Interval
from crowdgate.kind.listing import text_listing
from crowdgate.kind.section import Section
from crowdgate.number_text import Rounding, decimal, rounded, whole
from crowdgate.planning.truncation_gate import gate_limit, recommended_gate, stated_gate
from crowdgate.public_counts.figures import other_population
from crowdgate.report.report import Report

TITLES = (("rows of a person", "d"), "people with more rows", "rows left out")
ERROR_TITLES = (
    ("noise of the total", "", "unknown"),
    ("error of the total", "", "unknown"),
    ("noise of a typical cell", "", "unknown"),
    ("error of a typical cell", "", "unknown"),
)
LEAST_DIGITS = 6
"""Digits after the point of a percentage: what is smaller is the error of a computation in floats."""
LARGE = 1000
"""Numbers from this one on are printed in full."""
_ROUNDINGS = (Rounding.NEAREST, Rounding.DOWN, Rounding.UP)


@dataclass(frozen=True, eq=False)
class RowBoundsReport:
    """The bounds on rows per person of a policy, by a published release."""

    found: RowBounds

    def report(self) -> Report:
        """Return the answer as a report for terminal, page and JSON."""
        title = f"Rows of a person for {self.found.plan.bundle.policy.metadata.name}"
        return Report(title, lambda: list(self._sections()), self._json)

    def _sections(self) -> Iterator[Section]:
        sentences = [*self._best(), *self._population(), self._uncounted(), *self._gate(), self._basis()]
        yield Section(sentences=sentences)
        titles = TITLES + ERROR_TITLES if self._has_errors else TITLES
        rows = (_row(each)[: len(titles)] for each in self.found.bounds)
        title = f"Bounds on rows of a person, by release {self.found.source.release}"
        yield Section(listings=[text_listing(title, titles, rows, self._confidence())])
        yield Section("What the numbers mean", points=[*self._estimands()])

    def _best(self) -> Iterator[str]:
        best = {"the total": self.found.best_of_total, "a typical cell": self.found.best_of_cells}
        known = [(number, each) for number, each in best.items() if each is not None]
        if not known:
            yield f"Best rows of a person: unknown ({self._unknown()})."
            return
        said = ", ".join(f"rows: {each.rows} for {number}" for number, each in known)
        yield f"Least error: {said}. The contract states rows: {self.found.plan.bundle.contract.unit.rows}."
        last = self.found.bounds[-1].truncation.rows
        possible = ", ".join(f"{_possible(each, last)} for {number}" for number, each in known)
        words = "Numbers that may have the least error, by the noise of the release and if no person has more than"
        factors = ", ".join(f"{_number(each.factor, Rounding.UP)} for {number}" for number, each in known)
        yield f"{words} {self.found.source.most} rows: {possible}."
        yield f"Upper limit of the error of the named number, as a multiple of the least error: {factors}."

    def _unknown(self) -> str:
        if not self._has_errors:
            return "the policy publishes no counts with noise"
        return "the noise of the release hides it: publish a pilot with a larger epsilon, or with another `most`"

    @property
    def _has_errors(self) -> bool:
        return self.found.bounds[0].total is not None

    def _population(self) -> Iterator[str]:
        other = other_population(self.found.source.population, self.found.plan.bundle.contract)
        if other is not None:
            yield f"Warning: these counts are {other}. The numbers hold only as far as both are alike."

    def _uncounted(self) -> str:
        """Return a sentence on the people whose further rows are unknown."""
        most, people = self.found.source.most, self.found.at_most
        if people.low == 0:
            words = f"At most {_percent(people.high, Rounding.UP)} of the people have {most} rows or more"
            words = f"{words}. Their rows beyond {most} are in no number here: if there are any, errors"
            return f"{words} are larger, and the best number can be larger."
        words = (
            f"{_shares(people)} of the people have {most} rows or more. How many more is unknown, so rows left out and"
        )
        words = f"{words} errors are lower limits, and the best number can be larger"
        return f"{words}. Publish a pilot with a larger most."

    def _gate(self) -> Iterator[str]:
        """Yield the limit of a gate for the best bound of the total."""
        best, bundle = self.found.best_of_total, self.found.plan.bundle
        if best is None:
            return
        truncated = next(each.truncation.truncated for each in self.found.bounds if each.truncation.rows == best.rows)
        stated, gate = stated_gate(bundle), recommended_gate(bundle)
        passes = "passes with probability 90 % or more while the people stay as they are"
        if stated is not None and stated.charge is not None:
            limit = gate_limit(truncated.high, stated.charge.epsilon)
            yield f"With rows: {best.rows} the policy's gate {stated.measure} {passes} if it states at_most: {limit}."
        elif gate is not None:
            limit = gate_limit(truncated.high, gate.epsilon)
            yield f"A gate for rows: {best.rows} (it {passes}): {gate.line(limit)}"

    def _basis(self) -> str:
        source = f"published numbers of release {self.found.source.release}"
        return f"Basis: {source}, verified here. No confidential data are read, and nothing is charged."

    def _confidence(self) -> str:
        limits = "all limits hold together with probability 95 %"
        return f"{limits}; those of errors if no person has more than {self.found.source.most} rows"

    def _estimands(self) -> Iterator[str]:
        source = self.found.source
        yield (
            f"people with more rows: share of all {_error_text(self.found.people)} people that the release counts. A"
            f" row counts if its {source.column} is valid"
        )
        yield f"rows left out: share of the first {source.most} rows of all people"
        if self._has_errors:
            yield "noise: the standard error of a published count by this policy, at this number of rows of a person"
            yield (
                "error of the total: root mean square of its noise and of all rows left out. Its estimate includes the"
                " noise of the release"
            )
            yield (
                "error of a typical cell: root mean square over all cells of the policy's tables of counts, if rows are"
                " spread evenly over the cells of a table. Larger cells lack more rows, up to those of the total"
            )

    def _json(self) -> dict[str, Any]:
        source, bounds = self.found.source, self.found.bounds
        best = {"total": self.found.best_of_total, "cell": self.found.best_of_cells}
        return {
            "outcome": "suggested" if any(best.values()) else "unknown",
            "release": source.release, "population": source.population, "column": source.column, "most": source.most,
            "rows": self.found.plan.bundle.contract.unit.rows, "people": asdict(self.found.people),
            "people_with_most_or_more": asdict(self.found.at_most),
            "best": {name: None if each is None else asdict(each) for name, each in best.items()},
            "bounds": [asdict(each.truncation) | {"total": _numbers(each.total), "cell": _numbers(each.cell)}
                       for each in bounds],
        }  # fmt: skip


def _numbers(found: BoundError | None) -> dict[str, Any] | None:
    return None if found is None else {"noise": found.noise, "error": asdict(found.whole)}


def _possible(best: BestBound, last: int) -> str:
    """Return the bounds that may have the least error; above the last one that is judged nothing is known."""
    return f"{best.low} to {best.high}{' or more' if best.high == last else ''}"


def _row(each: BoundWithErrors) -> list[str | int | None]:
    found = each.truncation
    return [found.rows, _shares(found.people), _shares(found.row_share), *_error(each.total), *_error(each.cell)]


def _error(found: BoundError | None) -> tuple[str | None, str | None]:
    return (None, None) if found is None else (_number(found.noise, Rounding.NEAREST), _error_text(found.whole))


def _shares(found: Interval) -> str:
    low, high = decimal(100 * found.low, 3, Rounding.DOWN), decimal(100 * found.high, 3, Rounding.UP)
    return f"{rounded(round(100 * found.value, LEAST_DIGITS), 3)} % ({low} to {high})"


def _error_text(found: Interval) -> str:
    value, low, high = (_number(*each) for each in zip(vars(found).values(), _ROUNDINGS, strict=True))
    return f"{value} ({low} to {high})"


def _number(number: float, rounding: Rounding) -> str:
    """Return a number in three digits, or in full if it has more before the point."""
    found = decimal(number, 3 if number < LARGE else len(str(int(number))), rounding)
    return whole(int(found)) if number >= LARGE else found


def _percent(share: float, rounding: Rounding) -> str:
    return f"{decimal(100 * share, 3, rounding)} %"
