"""Expectations of Great Expectations in a contract: those that are functions of the counts of a column's values, or of
two columns' pairs of values.

FORMS lists them with the arguments that each takes. An expectation that needs the rows themselves, such as their order,
is refused: a release keeps counts only. Great Expectations is not imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crowdgate.contracts.contract import Expectation
from crowdgate.contracts.models import NUMBER, Place, parse, quoted_value
from crowdgate.domain import cell_value
from crowdgate.errors import Code, nearest

if TYPE_CHECKING:
    from crowdgate.domain import Domain

Domains = Mapping[str, "Domain | None"]
"""The domain of each column that an expectation can name."""
LIMITS = ("min_value", "max_value", "strict_min", "strict_max")
SET, PAIRS = "value_set", "value_pairs_set"
NEITHER = ("both_values_are_missing", "either_value_is_missing", "neither")


@dataclass(frozen=True)
class Form:
    """The arguments of an expectation beside its columns, of which `required` must be there; its columns' domains are
    `numeric`.
    """

    keys: tuple[str, ...]
    required: tuple[str, ...] = ()
    numeric: bool = False


_NUMBERS = Form(LIMITS, numeric=True)
_VALUES = Form((SET,), (SET,))
COLUMN_FORMS = {
    "expect_column_values_to_be_in_set": Form((SET, "mostly"), (SET,)),
    "expect_column_values_to_not_be_in_set": Form((SET, "mostly"), (SET,)),
    "expect_column_values_to_be_between": Form((*LIMITS, "mostly"), numeric=True),
    "expect_column_values_to_not_be_null": Form(("mostly",)),
    "expect_column_values_to_be_unique": Form(("mostly",)),
    "expect_column_distinct_values_to_be_in_set": _VALUES,
    "expect_column_distinct_values_to_contain_set": _VALUES,
    "expect_column_distinct_values_to_equal_set": _VALUES,
    "expect_column_most_common_value_to_be_in_set": Form((SET, "ties_okay"), (SET,)),
    "expect_column_unique_value_count_to_be_between": Form(LIMITS),
    "expect_column_proportion_of_unique_values_to_be_between": Form(LIMITS),
    "expect_column_proportion_of_non_null_values_to_be_between": Form(LIMITS),
    "expect_column_mean_to_be_between": _NUMBERS,
    "expect_column_median_to_be_between": _NUMBERS,
    "expect_column_min_to_be_between": _NUMBERS,
    "expect_column_max_to_be_between": _NUMBERS,
    "expect_column_sum_to_be_between": _NUMBERS,
    "expect_column_stdev_to_be_between": _NUMBERS,
    "expect_column_quantile_values_to_be_between": Form(("quantile_ranges",), ("quantile_ranges",), numeric=True),
}
"""The expectations about a column, by their name in Great Expectations."""
PAIR_FORMS = {
    "expect_column_pair_values_to_be_equal": Form(("mostly", "ignore_row_if")),
    "expect_column_pair_values_a_to_be_greater_than_b": Form(("or_equal", "mostly", "ignore_row_if"), numeric=True),
    "expect_column_pair_values_to_be_in_set": Form((PAIRS, "mostly", "ignore_row_if"), (PAIRS,)),
}
"""The expectations about two columns, which a contract states for its table."""


def column_expectation(place: Place, attribute: str, domain: Domain | None) -> Expectation | None:
    """Return the expectation that a quality entry of a column states, or None after its problems were added."""
    return _expectation(place, (attribute,), {attribute: domain}, COLUMN_FORMS)


def pair_expectation(place: Place, domains: Domains) -> Expectation | None:
    """Return the expectation about two columns that a quality entry of the table states, or None after its problems
    were added.
    """
    kwargs = place / "implementation" / "kwargs"
    columns = [kwargs.text(key) or "" for key in ("column_A", "column_B")]
    unknown = [key for key, name in zip(("column_A", "column_B"), columns, strict=True) if name not in domains]
    for key in unknown:
        near = nearest(kwargs.text(key) or "", list(domains))
        (kwargs / key).refuse(quoted_value((kwargs / key).value), "the name of a column", near, Code.UNKNOWN_NAME)
    return None if unknown else _expectation(place, tuple(columns), domains, PAIR_FORMS)


def _expectation(
    place: Place, columns: tuple[str, ...], domains: Domains, forms: Mapping[str, Form]
) -> Expectation | None:
    at, before = place / "implementation", len(place.problems)
    named = at.text("type") or ""
    form = forms.get(named)
    if form is None:
        expected = "an expectation that counts of values decide: one of " + ", ".join(forms)
        (at / "type").refuse(quoted_value((at / "type").value), expected, nearest(named, list(forms)))
        return None
    own = [domain for name in columns if (domain := domains[name]) is not None]
    if len(own) < len(columns) or (form.numeric and any(domain.grid is None for domain in own)):
        kind = "a numeric domain (from, to)" if form.numeric else "the custom property `domain`"
        place.refuse(f"{named} of a column that is not {'numeric' if form.numeric else 'described'}", f"{kind} there")
        return None
    kwargs = _kwargs(at / "kwargs", columns, form, own)
    if len(place.problems) > before:
        return None
    return Expectation(place.text("name") or f"{named} of {' and '.join(columns)}", named, columns, kwargs)


def _kwargs(at: Place, columns: tuple[str, ...], form: Form, domains: Sequence[Domain]) -> dict[str, Any]:
    names = ("column",) if len(columns) == 1 else ("column_A", "column_B")
    stated = at.value if isinstance(at.value, dict) else {}
    for key in stated:
        if key not in (*names, *form.keys):
            expected = "one of " + ", ".join(form.keys)
            (at / key).refuse("an unknown key", expected, nearest(key, form.keys), Code.UNKNOWN_KEY)
    if len(names) == 1 and at.text("column") not in (None, columns[0]):
        (at / "column").refuse(quoted_value(stated["column"]), "this column", columns[0])
    for key in form.required:
        if key not in stated:
            at.refuse("nothing", f"the key {key}", None, Code.MISSING_KEY)
    found = {key: _READERS[key](at / key, domains) for key in form.keys if key in stated}
    ends = [found[key] for key in LIMITS[:2] if found.get(key) is not None]
    if form.keys[:2] == LIMITS[:2] and (not ends or ends[0] > ends[-1]):
        at.refuse("no interval", "min_value, max_value, or both with min_value at most max_value")
    return dict(zip(names, columns, strict=True)) | found


def _number(at: Place, domains: Sequence[Domain]) -> int | float | None:
    del domains
    number = parse(NUMBER, at)
    if number is None:
        return None
    return int(number) if number.denominator == 1 else float(number)


def _share(at: Place, domains: Sequence[Domain]) -> int | float | None:
    share = _number(at, domains)
    if share is not None and not 0 <= share <= 1:
        at.refuse(quoted_value(at.value), "a share from 0 to 1")
    return share


def _flag(at: Place, domains: Sequence[Domain]) -> bool:
    del domains
    if at.value not in ("true", "false"):
        at.refuse(quoted_value(at.value), "true or false", None, Code.VALUE)
    return bool(at.value == "true")


def _values(at: Place, domains: Sequence[Domain]) -> list[Any]:
    found = [_cell(item, domains[0]) for item in at.items()]
    if not found:
        at.refuse(quoted_value(at.value), "a list of at least one value", None, Code.VALUE)
    return found


def _pairs(at: Place, domains: Sequence[Domain]) -> list[list[Any]]:
    found = [[_cell(each, domain) for each, domain in zip(item.items(), domains, strict=False)] for item in at.items()]
    if not found or not all(len(item.items()) == 2 for item in at.items()):
        at.refuse("no list of pairs", "a list of pairs of values, such as [[a, b], [c, d]]", None, Code.VALUE)
    return found


def _cell(at: Place, domain: Domain) -> Any:
    code = domain.code(at.value) if isinstance(at.value, str) else -1
    if code < 0:
        near = nearest(at.value, domain.labels[:1000]) if isinstance(at.value, str) else None
        at.refuse(f"the value {quoted_value(at.value)}", "a value of the column's domain", near)
        return None
    return cell_value(domain, code)


def _ignored(at: Place, domains: Sequence[Domain]) -> str:
    del domains
    if at.value not in NEITHER:
        at.refuse(quoted_value(at.value), "one of " + ", ".join(NEITHER), nearest(str(at.value), NEITHER), Code.VALUE)
    return str(at.value)


def _quantile_ranges(at: Place, domains: Sequence[Domain]) -> dict[str, Any]:
    quantiles = [_share(item, domains) for item in (at / "quantiles").items()]
    ranges = [[_limit(end, domains) for end in item.items()] for item in (at / "value_ranges").items()]
    if not quantiles or len(ranges) != len(quantiles) or any(len(each) != 2 for each in ranges):
        at.refuse("no range for each quantile", "quantiles: [0.5] and value_ranges: [[30, 40]], of one length")
    return {"quantiles": quantiles, "value_ranges": ranges}


def _limit(at: Place, domains: Sequence[Domain]) -> int | float | None:
    return None if at.value in ("null", "", "~", None) else _number(at, domains)


_READERS: dict[str, Callable[[Place, Sequence[Domain]], Any]] = {
    "min_value": _number,
    "max_value": _number,
    "strict_min": _flag,
    "strict_max": _flag,
    "mostly": _share,
    "ties_okay": _flag,
    "or_equal": _flag,
    "ignore_row_if": _ignored,
    SET: _values,
    PAIRS: _pairs,
    "quantile_ranges": _quantile_ranges,
}
