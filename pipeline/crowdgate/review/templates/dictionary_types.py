"""The type of a variable as data dictionaries write it: `Decimal (8,2)`, `Datum (TT.MM.JJJJ)`, `Integer, 3 digits`."""

import re
from dataclasses import dataclass

from crowdgate.contracts.cell_form import DAYS, ISO
from crowdgate.sources.table_header import CellType

_TYPES = {
    "integer": CellType.WHOLE, "int": CellType.WHOLE, "whole number": CellType.WHOLE, "ganzzahl": CellType.WHOLE,
    "entier": CellType.WHOLE, "entero": CellType.WHOLE, "intero": CellType.WHOLE, "heltal": CellType.WHOLE,
    "heltall": CellType.WHOLE, "smallint": CellType.WHOLE, "bigint": CellType.WHOLE, "tinyint": CellType.WHOLE,
    "slider": CellType.WHOLE, "inteiro": CellType.WHOLE, "geheel getal": CellType.WHOLE, "number": CellType.NUMBER,
    "numeric": CellType.NUMBER, "decimal": CellType.NUMBER, "float": CellType.NUMBER, "double": CellType.NUMBER,
    "n": CellType.NUMBER, "num": CellType.NUMBER, "continuous": CellType.NUMBER, "dezimalzahl": CellType.NUMBER,
    "kommazahl": CellType.NUMBER, "numerisch": CellType.NUMBER, "calc": CellType.NUMBER, "décimal": CellType.NUMBER,
    "numérique": CellType.NUMBER, "numeriek": CellType.NUMBER, "numérico": CellType.NUMBER, "decimaal": CellType.NUMBER,
    "desimal": CellType.NUMBER, "decimaltal": CellType.NUMBER, "desimaltall": CellType.NUMBER, "real": CellType.NUMBER,
    "dezimal": CellType.NUMBER, "zahl": CellType.NUMBER, "réel": CellType.NUMBER, "numerico": CellType.NUMBER,
    "date": CellType.DAY, "datum": CellType.DAY, "fecha": CellType.DAY, "dato": CellType.DAY,
    "zeitpunkt": CellType.MOMENT, "datetime": CellType.MOMENT, "timestamp": CellType.MOMENT, "time": CellType.TIME,
}  # fmt: skip
_SIZED = re.compile(
    r"(?P<word>[^\W\d]+(?: [^\W\d]+)?)\s*"
    r"(?:[(\[]?\s*(?P<digits>\d+)\s*(?:[,.;]\s*(?P<decimals>\d)\s*)?(?:[)\]].*)?|[(\[,;:/-].*)?"
)
"""A type with its size or form behind it."""
_FORM = re.compile(r"\b[^\W\d_]{2,4}([-./]?)[^\W\d_]{2,4}\1[^\W\d_]{2,4}\b")


@dataclass(frozen=True)
class StatedType:
    """The type of cells, with the number of decimals and the form of days if it states them."""

    type: CellType = CellType.UNKNOWN
    decimals: int | None = None
    day_form: str = ""


def stated_type(text: str) -> StatedType:
    """Return what a dictionary says of the type of a variable; an unknown type for words that are not known."""
    text = " ".join(text.lower().split())
    sized = _SIZED.fullmatch(text)
    words = [text, text.partition("_")[0], sized["word"] if sized else "", *re.findall(r"^[^\W\d]{3,}", text)]
    found = next((_TYPES[each] for each in words if each in _TYPES), CellType.UNKNOWN)
    if found is CellType.NUMBER and sized and sized["digits"]:
        decimals = int(sized["decimals"] or 0)
        return StatedType(CellType.NUMBER if decimals else CellType.WHOLE, decimals or None)
    return StatedType(found, day_form=day_form(text) if found in (CellType.DAY, CellType.MOMENT) else "")


def day_form(text: str) -> str:
    """Return the form of days in a text, in any case; empty if there is none that contracts have. In any language four
    letters stand for the year and MM for the month, so that the other two letters stand for the day.
    """
    for found in _FORM.finditer(text.lower()):
        parts = [whole for whole, _ in re.findall(r"(([^\W\d_])\2+)", found[0])]
        named = ["YYYY" if len(each) == 4 else "MM" if each == "mm" else "DD" for each in parts]
        if (form := found[1].join(named)) in (ISO, *DAYS):
            return form
    return ""
