"""Words of other tools for keys and values here, and numbers written in other ways; only where the meaning is certain.

They are applied to fixed words of a file's form, never to names and values of data.
"""

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from crowdgate.domain import parse_number
from crowdgate.errors import nearest

_WORDS = {
    "at_most": "max maximum <= =< lte le upper upper_limit less_or_equal not_above most",
    "from": "min minimum begin lower lower_bound",
    "to": "max maximum upper upper_bound",
    "values": "enum enumeration allowed_values",
    "kind": "type",
    "quantiles": "percentiles",
    "at_least": "min minimum >= => gte ge lower lower_limit greater_or_equal not_below least",
    "measure": "metric",
    "epsilon": "eps ε",
    "delta": "δ",
    "advise": "warn warning advice advisory info notify",
    "block": "error fail fatal critical blocking",
    "true": "yes on y",
    "false": "no off n",
    "integer": "int bigint smallint tinyint long int32 int64 whole",
    "number": "float double decimal real float64",
    "boolean": "bool flag logical",
    "string": "str text varchar char character",
    "quasi-identifier": "qi qid quasi quasi_identifier quasiidentifier quasi-identifying",
    "direct-identifier": "identifier direct direct_identifier directidentifier direct-identifying",
    "enforce": "enforced",
    "parquet": ".parquet pq",
    "csv": ".csv",
    "excel": "xlsx xls .xlsx .xls",
    "spss": "sav .sav",
    "stata": "dta .dta",
    "sas": "sas7bdat .sas7bdat",
    "mustBeGreaterOrEqualTo": "mustbeatleast mustbegreaterthanorequal mustbegreaterthanorequalto mustbemin min minimum"
    " at_least >= mustbegreaterthanorequals",
    "mustBeLessOrEqualTo": "mustbeatmost mustbelessthanorequal mustbelessthanorequalto mustbemax max maximum at_most <="
    " mustbelessthanorequals",
    "mustBeGreaterThan": "greaterthan morethan mustbemorethan mustbeabove above",
    "mustBeLessThan": "lessthan mustbebelow below",
    "validValues": "valid_values accepted_values",
    "percent": "% pct percentage",
    "gaussian": "gauss normal",
    "laplace": "laplacian",
    "dp_tables": "tables",
    "dp_synthetic": "synthetic",
    "mean": "average avg",
    "by": "group_by groupby per",
    "people": "population persons",
    "privacyRole": "role privacy_role",
    "rowsAtMost": "row_limit max_rows maxrows rows_at_most",
    "logicalType": "type datatype data_type dtype logical_type",
    "properties": "columns fields",
    "schema": "tables",
    "date": "day datetime",
    "missing": "na na_values missing_values missingvalues null_values",
    "labels": "value_labels valuelabels",
    "top": "topcode top_code topcoded",
    "bottom": "bottomcode bottom_code bottomcoded",
    "cuts": "breaks cutpoints cut_points",
    "width": "step bin_width binwidth",
    "delimiter": "separator sep",
    "decimalMark": "decimal dec decimal_mark decimalmark",
    "path": "file",
    "local": "file",
}
_MEANT = frozenset((other, word) for word, others in _WORDS.items() for other in others.split())


def meant_word(word: str, words: Sequence[str]) -> str | None:
    """Return the word of `words` that was probably meant: a synonym's, or the nearest one; None if there is none."""
    return next((meant for meant in words if is_synonym(word, meant)), None) or nearest(word, words)


def is_synonym(word: str, meant: str) -> bool:
    """Return whether another tool's word certainly means the word `meant` where this one is possible."""
    return (word.casefold(), meant) in _MEANT


def plain_number(text: str, *, whole: bool = False) -> str | None:
    """Return the number that a text certainly means, as it is written here; None if that is not certain.

    `0,5` is 0.5, but `2,500` may be either number. With `whole` a group of three digits are thousands.
    """
    text = text.strip()
    percent = re.fullmatch(r"(.*?)\s*%", text)
    if percent:
        part = percent[1] if parse_number(percent[1]) is not None else plain_number(percent[1])
        return None if part is None or whole else f"{Decimal(part) / 100:f}"
    found = _separated(text, whole) or _power(text)
    if whole and (exact := _expanded(found or text)) is not None:
        return exact
    return (
        text.partition(".")[0] if found is None and whole and re.fullmatch(r"[1-9][0-9]{0,14}\.0{1,2}", text) else found
    )


def plain_probabilities(stated: object) -> list[str] | None:
    """Return the probabilities that a list of texts certainly means: percentages as [25, 50, 75], or decimal commas as
    [0,25, 0,5], which are four items; None for other lists. Two items such as [0, 50] may be a minimum and a median.
    """
    if not isinstance(stated, list) or not all(isinstance(each, str) for each in stated) or not stated:
        return None
    if all(re.fullmatch("[1-9][0-9]?", each) for each in stated) and any(each != "1" for each in stated):
        return [f"{Decimal(each) / 100:f}" for each in stated]
    pairs = list(zip(stated[::2], stated[1::2], strict=False))
    is_split = (
        len(pairs) > 1
        and len(stated) % 2 == 0
        and all(one == "0" and re.fullmatch("[0-9]+", other) for one, other in pairs)
    )
    return [f"0.{other}" for _, other in pairs] if is_split else None


def _separated(text: str, whole: bool) -> str | None:
    """Return a number without thousands separators and with a decimal point."""
    groups = r"[1-9][0-9]{0,2}(?:([_ \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}'])[0-9]{3})(?:\1[0-9]{3})*"
    if re.fullmatch(groups, text):
        return re.sub(r"[^0-9]", "", text)
    many = re.fullmatch(r"[1-9][0-9]{0,2}(?:([,.])[0-9]{3}){2,}(?:(?!\1)[,.]([0-9]+))?", text)
    if many:
        head, _, tail = text.rpartition("," if many[1] == "." else ".") if many[2] else (text, "", "")
        return re.sub(r"[,.]", "", head) + (f".{tail}" if tail else "")
    if re.fullmatch(r"[1-9][0-9]{0,2},[0-9]{3}", text):
        return text.replace(",", "") if whole else None
    return text.replace(",", ".") if re.fullmatch(r"[0-9]+,[0-9]+", text) and not whole else None


def _power(text: str) -> str | None:
    power = re.fullmatch(r"10\s*(?:\^|\*\*)\s*(-?[0-9]{1,2})", text)
    return None if power is None else f"1e{power[1]}"


def _expanded(text: str) -> str | None:
    """Return a whole number with an exponent, such as 5e4, as digits; None for other texts and for large numbers."""
    if not re.fullmatch(r"[1-9][0-9]*(\.[0-9]+)?[eE]\+?[0-9]{1,2}", text):
        return None
    number = Decimal(text)
    return f"{number:f}".partition(".")[0] if number < 10**15 and number == number.to_integral_value() else None


def _only_day(first: int, second: int, year: int) -> str | None:
    """Return the day of two numbers of which either may be the month, if only one order is a day; else None."""
    found = set[str]()
    for month, day in ((first, second), (second, first)):
        try:
            found.add(date(year, month, day).isoformat())
        except ValueError:
            continue
    return found.pop() if len(found) == 1 else None


def plain_day(text: str) -> str | None:
    """Return the day that 31.12.2030, 31/12/2030, 2030/12/31 or 20301231 certainly means, as YYYY-MM-DD; else None."""
    dotted = re.fullmatch(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})", text)
    if stroked := re.fullmatch(r"([0-9]{1,2})[/-]([0-9]{1,2})[/-]([0-9]{4})", text):
        return _only_day(*map(int, stroked.groups()))
    turned = re.fullmatch(r"([0-9]{4})(?:[/.-]([0-9]{1,2})[/.-]([0-9]{1,2}))", text)
    turned = turned or re.fullmatch(r"([12][0-9]{3})([0-9]{2})([0-9]{2})", text)
    parts = dotted.group(3, 2, 1) if dotted else turned.group(1, 2, 3) if turned else None
    try:
        return None if parts is None else date(*map(int, parts)).isoformat()
    except ValueError:
        return None
