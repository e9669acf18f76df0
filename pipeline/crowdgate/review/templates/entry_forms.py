"""Entries of lists and ranges without what stands around them: `Valid range 15 to 105 (years)`, `[-4] Refused`."""

import re

RANGE_WORDS = (
    r"(?:(?:valid|allowed|permitted|possible|plausible|expected|acceptable|accepted|normal|soft|hard|edit) )?"
    r"(?:range|values?|limits?|interval|check)(?: check)?|valid|allowed|permitted",
    r"(?:(?:gültige[rs]?|zulässige[rs]?|mögliche[rs]?|plausible[rs]?) )?(?:wertebereich|bereich|werte?)|gültig",
    r"zulässig|(?:érvényes )?tartomány",
    r"(?:intervalle|plage|valeurs?)(?: de valeurs)?(?: (?:valides?|admis(?:es?)?|autorisée?s?|plausibles?))?",
    r"(?:rango|intervalo|faixa|valores?|escala)(?: de valores)?(?: (?:v[aá]lid[oa]s?|permitid[oa]s?|admisibles?))?",
    r"(?:intervallo|valori|campo)(?: di valori)?(?: (?:valid[oi]|ammess[oi]))?",
    r"(?:(?:geldig|geldige|toegestaan|toegelaten) )?(?:bereik|waarden|interval)",
    r"(?:(?:gyldig[et]*|tillåtna?|tilladte?|tillatte?|giltig[at]*) )?(?:områ?de|värden|værdier|verdier|intervall?)",
    r"(?:(?:dozwolony|dopuszczalny|dopuszczalne) )?(?:zakres|wartości)(?: dozwolony)?",
    r"(?:(?:přípustný|povolený|prípustný|platný|přípustné|povolené|prípustné|platné) )?(?:rozsah|hodnoty|interval)",
    r"(?:(?:lubatud|kehtiv(?:ad)?) )?(?:vahemik|väärtused)|(?:sallittu )?(?:vaihteluväli|arvoväli)",
    r"(?:geçerli )?aralık|(?:valid[ăe]? )?interval(?:ul)?|(?:έγκυρο )?εύρος",
    r"(?:有効|値の)?範囲|(?:유효 ?)?범위|(?:有效)?范围",
)
"""The words before a range, in several languages."""
_POINT = re.compile(r"(?P<code>\d{1,3})(?:\s*[=:–-]?\s*(?P<label>[^\W\d][^=]*))?")
LEAST_BARE = 2
"""The least number of points of a scale without labels."""
_NAMED = re.compile(rf"(?:{'|'.join(RANGE_WORDS)})\s*(?:is|[:=])?\s*(?P<range>(?:[^\W\d]{{2,5}} )?-?\d.*)", re.I | re.S)
_BRACKETED = re.compile(r"(?P<start>(?:^|[;|\n])\s*)[\[(](?P<code>-?\d{1,6}|[A-Z]{1,3})[\])]\s*(?=[=:–—-]?\s*[^\W\d])")
"""A code in brackets at the start of an entry."""
TO = r"(?:to|bis|t/m|à|a|tot|til|till|do|až|al|au|hasta|até|through|thru|kuni)"
"""The words between the ends of a range, in several languages."""
_NUMBER = r"-?\d+(?:[.,]\d+)*"
_MEASURED = re.compile(
    rf"(?P<range>{_NUMBER}(?:\s*[-–]\s*|\s+{TO}\s+|\s*(?:to|bis|t/m)\s*){_NUMBER})(?P<words>(?:[^=:;|\n\d]|(?<=[^\W\d_])\d)*)"
    r"(?:[,(]?\s*(?P<decimals>[1-4]) dec\w*\)?)?(?P<rest>\s*(?:[;|\n].*)?)",
    re.DOTALL,
)
"""A range with words on its unit, and with its decimals."""
_ENDS = re.compile(r"(?:^|[;|\n])\s*\d+\s*(?:to|[-–])\s*\d")
"""A further range."""
_UNIT = re.compile(r"\s*\([^\W\d_][^()]{0,30}\),?\s*|(?:\s+[^\W\d_][\w.²³/%$€-]{0,15}){1,3},?\s*|\s*,?\s*")
_NO_UNIT = re.compile(
    r"\b(?:or|and|more|less|over|under|than|above|below|older|younger|except|scale|where|if|missing|unknown"
    r"|blank|empty|oder|und|mehr|ou|et|plus|más|o|y|mais|meer|eller|mer|lub|nebo|alebo|või)\b",
    re.IGNORECASE,
)
"""The words behind a range that are more than its unit."""


def plain_entries(text: str) -> str:
    """Return a list, or a range, without the word for a range before it, brackets around codes, and, where codes stand
    behind a range, its unit of several words. Other texts are unchanged.
    """
    text = _with_bare_points(_BRACKETED.sub(r"\g<start>\g<code> ", text.strip()))
    named = _NAMED.fullmatch(text)
    text = named["range"] if named else text
    found = _MEASURED.fullmatch(text)
    if found is None or not _UNIT.fullmatch(found["words"]) or _NO_UNIT.search(found["words"]):
        return text
    has_more = (found["rest"].strip() or found["decimals"] or named) and not _ENDS.search(found["rest"])
    return f"{_with_decimals(found['range'], found['decimals'])}{found['rest']}" if has_more else text


def _with_bare_points(text: str) -> str:
    """Return a list of points of a scale, `1 worst; 2; 3 best`, with a sign of equality before its labels, where each
    point without a label is one above the point before it; other texts unchanged.
    """
    parts = [each.strip() for each in re.split(r"[;|\n]", text) if each.strip()]
    found = [each for part in parts if (each := _POINT.fullmatch(part))]
    bare = [at for at, each in enumerate(found) if not each["label"]]
    follow = all(at and int(found[at]["code"]) == int(found[at - 1]["code"]) + 1 for at in bare)
    if len(found) < len(parts) or not LEAST_BARE <= len(bare) < len(found) or not follow:
        return text
    return "; ".join(f"{each['code']} = {each['label']}" if each["label"] else each["code"] for each in found)


def _with_decimals(ends: str, decimals: str | None) -> str:
    """Return a range of whole numbers written with so many decimals."""
    is_plain = decimals and not re.search(r"\d[.,]\d", ends)
    return re.sub(r"(\d+)", rf"\1.{'0' * int(decimals)}", ends) if is_plain and decimals else ends
