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
    r"trip|travel|dwelling|stage|statistical|normali[sz]ed|rescaled|scaled|rak(?:ed|ing)|integrated|grossing",
    r"population|post-?strat\w*|longitudinal|cross-?sectional|interview|non-?response|expansion|probability|jackknife|brr",
)
"""The words before `weight` that say which weight of a survey it is."""
_COMPOUNDS = (
    "person", "haushalt", "design", "querschnitt", "langsschnitt", "stichprobe", "anpassung", "bevolkerung", "analys",
    r"kalibr\w* ", "kalibr", "husstand", "hushall", "husholdning", "population", "urval", "utvalg", "steekproef",
    "huishoud", "eind", "weeg", "otos", "henkilo", "kotitalou", "estimointi",
)  # fmt: skip
"""The starts of compounds with `weight` in Germanic languages and in Finnish."""
_USES = (
    "fur ", "for ", "pour ", "para ", "per ", "dla ", "do ", "pro ", "voor ", "till? ", "kalibr", "calibr", "campion",
    "muestr", "amostr", "analit", "statyst", "populac", "di riporto", "final", "familiar", "do domic", "da pess",
    "del hogar", "de (?:la |l )?(?:pond|person|sond|redress|expans)",
)  # fmt: skip
"""The words behind `weight` that say what is weighted with it."""
_PHRASE = re.compile(
    "|".join(
        (
            rf"\b(?:{'|'.join(_KINDS)})\W+(?:\w+\W+){{0,2}}weight(?:s|ing)?\b",
            r"\bweights\b|\bweights?\W+(?:to|for) (?:use|all|(?:the )?estimat)",
            r"\bweight(?:s|ing)?\W+(?:factor|variable|coefficient|for (?:analys|estimat|population))",
            r"\b(?:expansion|inflation|raising|grossing(?:-up)?|elevation) factors?\b|\bpondera\w+|\bponderi\w+",
            r"\bfa[ck]?t\w*\W+(?:de |d )?(?:expans\w*|elevaci\w*|extrapol\w*|ponder\w*|redress\w*)",
            r"\bcoefficient\w*\W+(?:de |di |d )?(?:ponder\w*|riport\w*|redress\w*|extrapol\w*)",
            r"\bpeso (?:(?:\w+ )*com calibra|amostral|muestral|campionari|de (?:la )?(?:muestra|amostra)|final de)",
            r"\b(?:hochrechnung|gewichtung|gewichts?)s?-?faktor|\w*(?:gewichtung|hochrechnung)|\bwe(?:e|ging)s?gfactor",
            r"\bmultiplier\b|\bsurvey weigh|\bmultiplicador|\bhochrechn\w+|\bfa[kc]t(?:or|eur) (?:de )?(?:extrap|pond)",
            rf"\b(?:{'|'.join(_COMPOUNDS)})[a-z]{{0,6}}-?(?:gewicht|vikt|vekt|vaegt|paino)\b",
            rf"\b(?:gewicht|vikt|vekt|vaegt|paino|peso|poids|waga|vaha) (?:{'|'.join(_USES)})",
            r"\bagirlik (?:katsay|fakt|degisk)|\b\w*agirligi\b|\bsulyoz|\bsulyszam|\bmintasuly"
            r"|σταθμιση|συντελεστ\w* σταθμ|加重|权重|權數|加权|乗率|ウ[ェエ]イト|가중|\bagirlik(?:landirma)?\b",
            r"\bwegingsfactor|\bweegfactor|\bwag[ai]? (?:analit|prob|osob|gospod|uogoln|koncow|populac|kalibr)",
            r"\butez\w*\b|\bponder\w*\b|тегло на (?:респондент|лиц|домакинств|извадк)|статистическо тегло",
            r"весов\w* коэф|вес респондент",
            r"\bpainokerroin|\bprevazovac\w+|\bvah(?:ov|ic)\w* (?:koef|faktor)|\bkoef\w* vah|\bkaalu(?:koef|tegur)",
            r"\b\w*(?:vikt|vaegt|vekt)faktor|\buppraknings|\bopregning|\boppblasing|\bvah[ay] (?:osob|domac|vyberov)",
        )
    )
)
_BODY = re.compile(
    r"\b(?:kg|kgs|kilo\w*|lbs?|pounds?|grams?|grammes?|ounces|stone|body|birth|bmi|corp\w*|korper\w*|geburts\w*|infant"
    r"|vucut|dogum|naissance|nascimento|nacer|baby|child|self-?reported|height)\b"
)


def is_survey_weight(name: str, description: str) -> bool:
    """Return whether a column holds weights by which the rows of a survey count for people: its words or its
    name say so, and no words name the weight of a body.
    """
    text, plain = plain_text(description).lower(), plain_text(name).lower()
    is_named = _PHRASE.search(text) or _PHRASE.search(description.lower()) or _NAME.fullmatch(plain)
    return not _BODY.search(text) and bool(is_named)
