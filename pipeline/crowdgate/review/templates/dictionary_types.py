"""The type of a variable as data dictionaries write it: `Decimal (8,2)`, `Datum (TT.MM.JJJJ)`, `Integer, 3 digits`."""

import re
from dataclasses import dataclass

from crowdgate.contracts.cell_form import DAYS, ISO
from crowdgate.sources.table_header import CellType

_WORDS = {
    CellType.WHOLE: (
        "tamsayı", "tam sayı", "ακέραιος", "ακέραια", "egész", "egész szám", "număr întreg", "întreg", "整型",
        "整数型",
        "整數", "정수", "정수형",
        "kokonaisluku", "整数", "täisarv",
        "celo število", "celoštevilski", "celoštevilska", "cijeli broj", "ceo broj", "cjelobrojni", "цяло число",
        "целое число", "целое", "целочисленный", "ціле число", "ціле",
        "integer", "int", "whole number", "whole numbers", "whole", "smallint", "bigint", "tinyint", "slider",
        "count",
        "ganzzahl", "ganze zahl", "ganzzahlig", "entier", "nombre entier", "numérique entier", "entero",
        "número entero", "numérico entero", "intero", "numero intero", "numerico intero", "inteiro", "número inteiro",
        "numérico inteiro", "geheel getal", "geheel", "heltal", "helt tal", "heltall", "hele tall", "hele tal",
        "liczba całkowita", "całkowita", "liczba naturalna", "celé číslo", "celočíselný", "celočíselná",
    ),
    CellType.NUMBER: (
        "sayısal", "sayı", "ondalık", "ondalıklı sayı", "αριθμητική", "αριθμητικός", "αριθμητικη", "αριθμός",
        "δεκαδικός", "δεκαδική", "szám", "numerikus", "tizedes", "valós", "număr", "zecimal", "数值", "数值型",
        "数字",
        "数字型", "浮点型", "數值", "數字", "숫자", "수치", "실수", "숫자형", "실수형", "小数型", "数値型",
        "arv", "kümnendarv", "ujukomaarv", "desimaaliluku", "numeerinen", "luku", "小数", "数値",
        "numerični", "numerična", "numerično", "številski", "število", "decimalno število", "numerički", "numerička",
        "numeričko", "broj", "decimalni broj", "числов", "число", "числова", "числово", "числови", "числовой",
        "числовая", "десетично число", "десятичное число",
        "number", "numeric", "numerical", "decimal", "float", "double", "real", "n", "num", "continuous", "calc",
        "money", "currency", "amount", "dezimalzahl", "kommazahl", "numerisch", "dezimal", "zahl", "gleitkommazahl",
        "betrag", "fließkommazahl", "décimal", "numérique", "réel", "nombre", "nombre décimal", "montant", "numérico",
        "numerico", "número", "decimale", "reale", "numero", "numero decimale", "importe", "importo",
        "número decimal",
        "valor", "moeda", "real", "numeriek", "decimaal", "decimaal getal", "kommagetal", "getal", "bedrag",
        "desimal",
        "decimaltal", "desimaltall", "desimaltal", "numerisk", "tal", "tall", "belopp", "beløb", "beløp", "liczba",
        "liczba dziesiętna", "liczba rzeczywista", "liczbowy", "liczbowa", "numeryczny", "numeryczna", "dziesiętna",
        "rzeczywista", "kwota", "číslo", "desetinné číslo", "reálné číslo", "číselný", "číselná", "numerický",
        "částka",
    ),
    CellType.DAY: (
        "tarih", "ημερομηνία", "dată", "日期", "日期型", "날짜", "日付型",
        "kuupäev", "dátum", "päivämäärä", "日付",
        "дата", "date", "datum", "fecha", "dato", "data", "kalenderdatum", "dátum",
        "data kalendarzowa",
    ),
    CellType.MOMENT: (
        "zeitpunkt", "datetime", "timestamp", "date time", "date and time", "data i czas", "datum a čas",
        "datum en tijd", "datum och tid", "dato og tid", "fecha y hora", "data e hora", "data e ora", "date et heure",
        "datum und uhrzeit",
    ),
    CellType.TIME: ("time", "uhrzeit", "heure", "hora", "ora", "tijd", "tid", "klokkeslett", "klockslag", "czas"),
}  # fmt: skip
_TYPES = {word: kind for kind, words in _WORDS.items() for word in words}
"""The words for types, in several languages. Words for texts and truth values are not among them: their values are
stated, or not known.
"""
_SIZED = re.compile(
    r"(?P<word>[^\W\d]+(?: [^\W\d]+)?)\s*"
    r"(?:[(\[]?\s*(?P<digits>\d+)\s*(?:[,.;]\s*(?P<decimals>\d)\s*)?(?:[)\]].*)?|[(\[,;:/-].*)?"
)
"""A type with its size or form behind it."""
DECIMAL_PLACES = "|".join(
    (
        r"d\.?p\b|dec(?:im\w*)?\.? ?(?:place|pl\b|mest|miest|mjest|digit|cyf)|de[cz]im|décim|nachkomma|desim",
        r"desetin|desatin",
        r"miejsc\w* (?:po przecinku|dziesiętn)|ondal|tized|zecim|kümnend|komakoh|десетичн|десятичн|位小数|δεκαδικ",
    )
)
"""The words for decimal places, behind their number, in several languages."""
DECIMAL_WORD = re.compile(r"de[ckz]im|d[eé]cim|desim|komma|ondal|tized|zecim|kümnend|desetin|dziesi|δεκαδ|小数")
"""The start of a word for a number with decimals. One number behind it is that of its decimals, or of its digits."""
MOST_PLACES = 3
"""The greatest number behind such a word that is not taken for a number of digits."""
_SIZE = re.compile(rf"\(\d+[,.;]\s?(?P<decimals>[1-9])\)|\b(?P<worded>[1-9])\s*(?:{DECIMAL_PLACES})")
"""The decimals of a type that stand behind any words."""
_WHOLE = re.compile(
    r"\b(?:whole|int(?:eger)?s?|ganz\w*|enti(?:er|ère)s?|enter[oa]s?|inter[oi]|inteir[oa]s?|geheel|gehele|hel(?:tall?|a|e)"
    r"|całkowit\w*|cel(?:á|é|očís\w*))\b"
)
"""The words by which a type of numbers has no decimals: `number (whole)`."""
_FIXED = re.compile(r"number_(\d)dp(?:_comma_decimal)?")
"""The checks of REDCap for numbers with so many decimals."""
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
    if fixed := _FIXED.fullmatch(text):
        return StatedType(CellType.NUMBER, int(fixed[1]))
    sized = _SIZED.fullmatch(text)
    words = [text, text.partition("_")[0], sized["word"] if sized else "", *re.findall(r"^[^\W\d]{3,}", text)]
    found = next((_TYPES[each] for each in words if each in _TYPES), CellType.UNKNOWN)
    if found is CellType.NUMBER and _WHOLE.search(text):
        return StatedType(CellType.WHOLE)
    if found is CellType.NUMBER and sized and sized["digits"]:
        decimals = int(sized["decimals"] or 0)
        if not decimals and DECIMAL_WORD.match(text) and int(sized["digits"]) <= MOST_PLACES:
            return StatedType(found)
        return StatedType(CellType.NUMBER if decimals else CellType.WHOLE, decimals or None)
    if found is CellType.NUMBER and (behind := _SIZE.search(text)):
        return StatedType(found, int(behind["decimals"] or behind["worded"]))
    form = day_form(text) if found in (CellType.DAY, CellType.MOMENT, CellType.UNKNOWN) else ""
    return StatedType(CellType.DAY if form and found is CellType.UNKNOWN else found, day_form=form)


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
