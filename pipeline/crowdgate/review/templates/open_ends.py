"""Labels of the open end of a range, in several languages: `90 = 90 years and older`, `4 = fyra eller fler`."""

import re

LEAST_DIGITS = 2
"""The least number of digits of an end of a range by which a note is one on it."""
LONGEST_UNMARKED = 3
"""The most digits of a number without marks between its thousands."""

_OR = (
    r"(?:or|and|oder|und|ou|et|o|y|e|of|en|eller|och|og|lub|i|nebo|alebo|a|ja|või|és|sau(?: mai)?|vagy"
    r"|ali|ili|и|или|або|та)"
)
_MORE = (
    r"(?:more|older|over|above|higher|greater|longer|up(?:wards)?|mehr|alter|älter|aelter|darüber|darueber|höher|hoeher|länger|laenger|plus|davantage"
    r"|más|mayor(?:es)?|mais|maiores|acima|più|oltre|superiore|meer|ouder|hoger|langer|mer|fler|flera|flere|äldre|eldre|ældre|over|över|"
    r"derover|däröver|więcej|starsi|starszy|powyżej|více|starší|vyšší|viac|rohkem|enam|vanem|több|idősebb|mult"
    r"|več|starejš\w+|višj\w+|više|starij\w+|повече|по-възрастн\w+|по-голям\w+|больше|более|старше|више|більше)"
)
MORE_WORDS = rf"\b{_OR}\s+{_MORE}\b"
"""The words behind a number that stands for all greater ones: `or more`."""
_AT_LEAST = (
    r"(?:at least|mindestens|minstens|au moins|al menos|pelo menos|almeno|minst|mindst|co najmniej|alespoň|vähintään)"
)
_OPEN = re.compile(
    rf"{MORE_WORDS}|\d\s*\+|(?:>=|≥)\s*\d|\b{_AT_LEAST}\s|\btop-?coded\b|\btai (?:enemmän|vanhempi|yli)\b|\d\D?以上"
    r"|\b(?:greater|more|higher|larger) than or equal to\b",
    re.IGNORECASE,
)
_LESS = re.compile(
    rf"\b{_OR}\s+(?:less|earlier|before|younger|lower|below|under|fewer|smaller|früher|frueher|weniger|jünger|juenger|davor|avant"
    r"|darunter|moins|plus tôt|antes|menos|anterior|prima|meno|precedente|eerder|minder|jonger|tidigare|tidligere|før"
    r"|færre|färre|yngre|mindre|wcześniej|mniej|młodsi|dříve|méně|mladší"
    r"|prej|manj|mlajš\w+|manje|ranije|mlađ\w+|по-малко|по-рано|по-млад\w+|меньше|менее|ранее|младше|менше|раніше)\b|(?:<=|≤)\s*\d|\bbottom-?coded\b",
    re.IGNORECASE,
)

_ABOVE = "".join(
    (
        r"above|over|beyond|exceed\w*|(?:greater|more|higher|older|larger) than|über|ueber|darüber|darueber|oberhalb",
        r"|au-dessus|dépass\w*|plus de|supérieur\w*|por encima|superior\w*|más de|mayor\w* (?:que|de)|acima",
        r"|mais de|oltre",
        r"|superior[ei]|boven|meer dan|hoger dan|över|mer än|over|mere end|mer enn|powyżej|nad|yli",
    )
)
_SET = "".join(
    (
        r"set (?:to|at)|coded (?:as|to|at)|replaced (?:by|with)|(?:shown|given) as|(?:cut|capped) (?:to|at)|auf|durch",
        r"|ramenées? à|fixées? à|remplacées? par|fijad\w+ (?:en|a)|fixad\w+ em|impostat\w+ a|op|till?|på|na",
    )
)


def is_cut_note(end: str, note: str) -> bool:
    """Return whether a note on the greatest number of a range, which names no other number, says that greater ones are
    set to it, or belong to it: `Ages above 105 set to 105`, `90 years and over`.
    """
    parts = re.split(r"[;()\n]\s*|[.,]\s+", re.sub(r"(?<=\d)[ ,.'\u00a0](?=\d{3}(?!\d))", "", note))
    own = [each for each in parts if len(end) >= LEAST_DIGITS and {*re.findall(r"\d+", each)} == {end}]
    over = re.compile(rf"(?:\w+\s+)?{re.escape(end)}(?:\s+[^\W\d]+)?\s+{MORE_WORDS[2:]}", re.IGNORECASE)
    cut = re.compile(
        rf"(?:\b(?:{_ABOVE})\b.*\b(?:re)?(?:{_SET})|\btop-?coded (?:at|to)|\bcapped at)\s+\W?{re.escape(end)}\b",
        re.IGNORECASE,
    )
    return any(cut.search(each) or over.fullmatch(each.strip(" .")) for each in own)


def noted_end(bounds: tuple[str, str] | None, notes: str) -> str:
    """Return the part of notes that names one end of a range, and no other number; empty without such a part."""
    for part in re.split(r"[;\n]\s*|\.\s+", notes) if bounds else ():
        plain = re.sub(r"(?<=\d)[ ,.'\u00a0](?=\d{3}(?!\d))", "", part)
        named = {*re.findall(r"\d+", plain)}
        ends = {each.lstrip("-") for each in bounds or () if len(each.lstrip("-")) >= LEAST_DIGITS}
        if len(named) == 1 and named <= ends:
            return part.strip(" .")
    return ""


def is_open_start(code: str, label: str) -> bool:
    """Return whether the label of a whole number says that it stands for all smaller ones, too, and nothing else."""
    named = set(re.findall(r"\d+", label))
    return code.isdigit() and named <= {code} and not set(",;") & set(label) and bool(_LESS.search(label))


def is_open_end(code: str, label: str) -> bool:
    """Return whether the label of a whole number says that it stands for all greater ones, too, and nothing else."""
    label = re.sub(r"(?<=\d)\.0+(?!\d)", "", label)
    plain = re.sub(r"(?<=\d)[ ,.](?=\d{3}(?!\d))", "", label) if len(code) > LONGEST_UNMARKED else label
    named = set(re.findall(r"\d+", plain))
    return code.isdigit() and named <= {code} and not set(",;") & set(plain) and bool(_OPEN.search(plain))
