"""A published curve as a file: its points, or every problem with its line and column."""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from crowdgate.contracts.csv_file import MOST_FAULTS, CsvFile, read_file
from crowdgate.contracts.models import quoted_value
from crowdgate.domain import parse_number
from crowdgate.errors import Code, ConfigurationError, Problem
from crowdgate.limits import MOST_POINTS
from crowdgate.risk.roc import RocPoint, from_balanced_accuracy, from_balanced_precision


@dataclass(frozen=True)
class RateColumns:
    """Two columns of a curve's file that determine recall and false positive rate: `point` computes both from the two
    numbers, `inside` describes the second numbers that are possible with a first one."""

    columns: tuple[str, str]
    point: Callable[[Fraction, Fraction], RocPoint]
    inside: Callable[[Fraction], str]
    note: str


def _possible_accuracies(tpr: Fraction) -> str:
    low, high = float(tpr / 2), float((1 + tpr) / 2)
    return f"an accuracy from {low:.6g} to {high:.6g}, as with a true positive rate of {float(tpr):.6g}"


FORMS = (
    RateColumns(
        ("fpr", "tpr"),
        RocPoint,
        lambda _: "rates",
        "Rates as they are in the file: they do not depend on how many targets are members.",
    ),
    RateColumns(
        ("recall", "precision"),
        from_balanced_precision,
        lambda recall: (
            f"a precision from {float(recall / (1 + recall)):.6g} to 1 and above 0, as with a recall of "
            f"{float(recall):.6g} at balance"
        ),
        "Precision was measured on as many members as non-members: the false positive rate is recall (1 - precision) / "
        "precision.",
    ),
    RateColumns(
        ("tpr", "accuracy"),
        from_balanced_accuracy,
        _possible_accuracies,
        "Accuracy was measured on as many members as non-members: the false positive rate is tpr + 1 - 2 accuracy, so "
        "it moves by two units for one in the last digit of accuracy.",
    ),
)


@dataclass(frozen=True)
class RocCurve:
    """The points of a file in order, without points with both rates 0, and the form of the file's columns."""

    points: tuple[RocPoint, ...]
    form: RateColumns
    corner: bool
    """True if a point with both rates 0 was left out: it claims nobody, and has no precision."""


def read_curve(path: Path) -> RocCurve:
    """Return the curve in a CSV file. Raises ConfigurationError that lists its problems."""
    file = _read(path)
    form = _rate_columns(file)
    problems = list(_size_problems(file))
    if problems:
        raise ConfigurationError(problems)
    told = [(line, each) for line, cells in file.rows if (each := _point(file, form, line, cells, problems))]
    if not problems:
        problems = [*_order_problems(file, form, told), *_no_claim_problems(file, told)]
    if problems:
        raise ConfigurationError(problems[:MOST_FAULTS])
    points = tuple(point for _, point in told if point.fpr or point.tpr)
    return RocCurve(points, form, len(points) < len(told))


def _read(path: Path) -> CsvFile:
    try:
        return read_file(path)
    except OSError as error:
        found, expected = error.strerror or "unreadable", "a readable CSV file"
    except UnicodeError:
        found, expected = "the file is not UTF-8 text", "a CSV file in UTF-8"
    except csv.Error as error:
        found, expected = f"the file is not valid CSV ({error})", "lines of cells with a comma between them"
    except ValueError as error:
        found, expected = "the file is not valid CSV", str(error)
    raise ConfigurationError(Problem(str(path), None, "file", found, expected, code=Code.UNREADABLE))


def _rate_columns(file: CsvFile) -> RateColumns:
    names = [name.strip() for name in file.header]
    for form in FORMS:
        if sorted(names) == sorted(form.columns):
            return form
    found = f"the columns {', '.join(quoted_value(name) for name in names[:5])}{', ...' if names[5:] else ''}"
    expected = "the columns " + ", or ".join(" and ".join(form.columns) for form in FORMS)
    raise ConfigurationError(file.problem(1, found, expected, ",".join(FORMS[0].columns), "header"))


def _point(
    file: CsvFile, form: RateColumns, line: int, cells: tuple[str, ...], problems: list[Problem]
) -> RocPoint | None:
    named = dict(zip((name.strip() for name in file.header), cells, strict=True))
    rates = {name: _rate(named[name]) for name in form.columns}
    wrong = [name for name, rate in rates.items() if rate is None]
    expected = "a number from 0 to 1"
    problems += [file.problem(line, quoted_value(named[name]), expected, column=name) for name in wrong]
    if wrong:
        return None
    first, second = (rates[name] or Fraction(0) for name in form.columns)
    try:
        return form.point(first, second)
    except ValueError:
        name = form.columns[1]
        problems.append(file.problem(line, quoted_value(named[name]), form.inside(first), column=name))
        return None


def _rate(text: str) -> Fraction | None:
    number = parse_number(text)
    return number if number is not None and 0 <= number <= 1 else None


def _order_problems(file: CsvFile, form: RateColumns, told: list[tuple[int, RocPoint]]) -> Iterator[Problem]:
    """Yield a problem for each recall or false positive rate below that of the line before: along one attack's curve no
    rate falls."""
    for (before, first), (line, second) in pairwise(told):
        for name in ("fpr", "tpr"):
            least, found = getattr(first, name), getattr(second, name)
            if found < least:
                column = name if name in form.columns else form.columns[name == "fpr"]
                words = f"the {_NAMES[name]} falls to {float(found):.6g}"
                expected = f"at least {float(least):.6g}, as on line {before}: points in order, neither rate falling"
                yield file.problem(line, words, expected, column=column)


_NAMES = {"fpr": "false positive rate", "tpr": "true positive rate"}


def _size_problems(file: CsvFile) -> Iterator[Problem]:
    if len(file.rows) > MOST_POINTS:
        yield file.problem(None, f"{len(file.rows)} points", f"at most {MOST_POINTS}: leave some out", column="rows")


def _no_claim_problems(file: CsvFile, told: list[tuple[int, RocPoint]]) -> Iterator[Problem]:
    if not any(point.fpr or point.tpr for _, point in told):
        found = "only points with both rates 0, which claim nobody" if told else "no points"
        yield file.problem(None, found, "one line at least with a rate above 0", column="rows")
