"""Weights of a survey, by the name or the words of a column, in several languages. Weights of bodies are none."""

import re

from crowdgate.review.templates.column_words import plain_text

_NAME = re.compile(
    r"p?wgtp\d{0,3}|perwts?|hhwts?|asecwth?|wt(?:fa|sa|ia|supp|mec|int)\d?\w{0,4}|wtssall|f(?:nl|inal)_?w(?:eight|gt|t)s?"
    r"|fexp\w{0,3}|fac(?:tor)?_?(?:exp|elev)\w*|pondera\w*|hochrechnungsfaktor|gewichtungsfaktor|we(?:e|gings)factor"
    r"|(?:samp(?:le)?|pers(?:on)?|design|anal(?:ysis)?|survey|hh|household|psp|d|p)_?w(?:eight|ght|gt)s?"
)
"""The names that many surveys give to their weights."""
_KINDS = (
    r"sampl\w+|survey|persons?|household|final|design|analys[ie]s|analytic\w*|replicate|calibrat\w+|annual|base|mec|exam",
    r"population|post-?strat\w*|longitudinal|cross-?sectional|interview|non-?response|expansion|probability|jackknife|brr",
)
"""The words before `weight` that say which weight of a survey it is."""
_PHRASE = re.compile(
    "|".join(
        (
            rf"\b(?:{'|'.join(_KINDS)})\W+(?:\w+\W+){{0,2}}weight(?:s|ing)?\b",
            r"\bweights\b|\bweights?\W+(?:to|for) (?:use|all|estimat)",
            r"\bweight(?:s|ing)?\W+(?:factor|variable|coefficient|for (?:analys|estimat|population))",
            r"\b(?:expansion|inflation|raising|grossing(?:-up)?|elevation) factors?\b|\bpondera\w+|\bponderi\w+",
            r"\bfa[ck]?t\w*\W+(?:de |d )?(?:expans\w*|elevaci\w*|extrapol\w*|ponder\w*|redress\w*)",
            r"\bcoefficient\w*\W+(?:de |di |d )?(?:ponder\w*|riport\w*|redress\w*|extrapol\w*)",
            r"\bpeso (?:(?:\w+ )*com calibra|amostral|muestral|campionari|de (?:la )?(?:muestra|amostra)|final de)",
            r"\b(?:hochrechnung|gewichtung|gewichts?)s?-?faktor|\w*(?:gewichtung|hochrechnung)|\bwe(?:e|ging)s?gfactor",
            r"\bwegingsfactor|\bweegfactor|\bwag[ai]? (?:analit|prob|osob|gospod|uogoln|koncow|populac|kalibr)",
            r"\bpainokerroin",
            r"\b\w*(?:vikt|vaegt|vekt)faktor|\buppraknings|\bopregning|\boppblasing|\bvah[ay] (?:osob|domac|vyberov)",
        )
    )
)
_BODY = re.compile(
    r"\b(?:kg|kgs|kilo\w*|lbs?|pounds?|grams?|grammes?|ounces|stone|body|birth|bmi|corp\w*|korper\w*|geburts\w*|infant"
    r"|naissance|nascimento|nacer|baby|child|self-?reported|height)\b"
)


def is_survey_weight(name: str, description: str) -> bool:
    """Return whether a column holds weights by which the rows of a survey count for people: its words or its
    name say so, and no words name the weight of a body.
    """
    text, plain = plain_text(description).lower(), plain_text(name).lower()
    return not _BODY.search(text) and bool(_PHRASE.search(text) or _NAME.fullmatch(plain))
