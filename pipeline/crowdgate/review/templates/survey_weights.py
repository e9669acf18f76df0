"""Weights of a survey, by the name or the words of a column, in several languages. Weights of bodies are none."""

import re

from crowdgate.review.templates.column_words import plain_text

_NAME = re.compile(
    r"p?wgtp\d{0,3}|perwts?|hhwts?|asecwth?|wt(?:fa|sa|ia|supp|mec|int)\d?\w{0,4}|wtssall|f(?:nl|inal)_?w(?:eight|gt|t)s?"
    r"|fexp\w{0,3}|fac(?:tor)?_?(?:exp|elev)\w*|pondera\w*|hochrechnungsfaktor|gewichtungsfaktor|we(?:e|gings)factor"
    r"|(?:samp(?:le)?|pers(?:on)?|design|anal(?:ysis)?|survey|hh|household|psp|d|p)_?w(?:eight|ght|gt)s?"
)
"""The names that many surveys give to their weights."""
_PHRASE = re.compile(
    r"\b(?:sampl\w+|survey|person|persons|household|final|design|analys[ie]s|analytic\w*|replicate|calibrat\w+|annual|base"
    r"|population|post-?strat\w*|longitudinal|cross-?sectional|interview|mec|exam|non-?response|expansion|probability"
    r"|jackknife|bootstrap|brr)\W+(?:\w+\W+){0,2}weight(?:s|ing)?\b"
    r"|\bweight(?:s|ing)?\W+(?:factor|variable|coefficient|for (?:analys|estimat|population))"
    r"|\b(?:expansion|inflation|raising|grossing(?:-up)?|elevation) factors?\b|\bpondera\w+|\bponderi\w+"
    r"|\bfa[ck]?t\w*\W+(?:de |d )?(?:expans\w*|elevaci\w*|extrapol\w*|ponder\w*|redress\w*)"
    r"|\bcoefficient\w*\W+(?:de |di |d )?(?:ponder\w*|riport\w*|redress\w*|extrapol\w*)"
    r"|\bpeso (?:\w+ )*com calibra|\bpeso (?:amostral|muestral|campionari\w*|de (?:la )?(?:muestra|amostra)|final de)"
    r"|\b(?:hochrechnung|gewichtung|gewichts?)s?-?faktor\w*|\b\w*(?:gewichtung|hochrechnung)\w*"
    r"|\bwe(?:e|gings)?gfactor\w*|\bwegingsfactor\w*|\bwagi? (?:analit|prob|osob|gospod)\w*|\bpainokerroin\w*"
    r"|\b(?:skattnings?|urvals?|kalibrerings?|uppraknings?|opregnings?|oppblasings?)?-?(?:vikt|vaegt|vekt)(?:faktor)\w*"
    r"|\buppraknings\w+|\bopregning\w+|\boppblasing\w+|\bvah[ay] (?:osob|domac|vyberov)\w*"
)
_BODY = re.compile(
    r"\b(?:kg|kgs|kilo\w*|lbs?|pounds?|grams?|gram|grammes?|ounces|stone|body|birth|bmi|corp\w*|korper\w*|geburts\w*"
    r"|naissance|nascimento|nacer|baby|self-?reported|height|measured|current|without clothes)\b"
)


def is_survey_weight(name: str, description: str) -> bool:
    """Return whether a column holds weights by which the rows of a survey count for people: its words or its
    name say so, and no words name the weight of a body.
    """
    text, plain = plain_text(description).lower(), plain_text(name).lower()
    return not _BODY.search(text) and bool(_PHRASE.search(text) or _NAME.fullmatch(plain))
