"""Labels of the open end of a range, in several languages: `90 = 90 years and older`, `4 = fyra eller fler`."""

import re

_OR = r"(?:or|and|oder|und|ou|et|o|y|e|of|en|eller|och|og|lub|i|nebo|a)"
_MORE = (
    r"(?:more|older|over|above|higher|greater|longer|up(?:wards)?|mehr|alter|älter|darüber|höher|länger|plus|davantage"
    r"|más|mayor(?:es)?|mais|maiores|acima|più|oltre|superiore|meer|ouder|hoger|langer|mer|fler|flera|flere|äldre|eldre|ældre|over|över|"
    r"derover|däröver|więcej|starsi|starszy|powyżej|více|starší|vyšší)"
)
_OPEN = re.compile(
    rf"\b{_OR}\s+{_MORE}\b|\d\s*\+|(?:>=|≥)\s*\d|\b(?:at least|mindestens|minstens|au moins|al menos|pelo menos|almeno"
    rf"|minst|mindst|co najmniej|alespoň)\s|\btop-?coded\b",
    re.IGNORECASE,
)
_LESS = re.compile(
    rf"\b{_OR}\s+(?:less|earlier|before|younger|lower|below|under|fewer|smaller|früher|weniger|jünger|davor|avant"
    r"|darunter|moins|plus tôt|antes|menos|anterior|prima|meno|precedente|eerder|minder|jonger|tidigare|tidligere|før"
    r"|færre|färre|yngre|mindre|wcześniej|mniej|młodsi|dříve|méně|mladší)\b|(?:<=|≤)\s*\d|\bbottom-?coded\b",
    re.IGNORECASE,
)


def is_open_start(code: str, label: str) -> bool:
    """Return whether the label of a whole number says that it stands for all smaller ones, too, and nothing else."""
    named = set(re.findall(r"\d+", label))
    return code.isdigit() and named <= {code} and not set(",;") & set(label) and bool(_LESS.search(label))


def is_open_end(code: str, label: str) -> bool:
    """Return whether the label of a whole number says that it stands for all greater ones, too, and nothing else."""
    named = set(re.findall(r"\d+", label))
    return code.isdigit() and named <= {code} and not set(",;") & set(label) and bool(_OPEN.search(label))
