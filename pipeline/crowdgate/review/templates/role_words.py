"""The parts of words, and the phrases, in names and descriptions of columns that suggest a role, in several languages.

They are matched in texts without accents and in lower case. A role that is guessed from them is marked in the draft.
"""

import re
from fractions import Fraction

from crowdgate.review.templates.column_words import plain_text

_HEALTH = (
    "dodsarsak", "incapac", "ufore", "aandoening", "abort", "affection", "arret maladie", "avort", "behinder",
    "causa da mort", "causa de mort", "causa de muerte", "causa di mort", "cause de deces", "cause of death",
    "chorob[ay]", "ciaz[ay]", "deficien", "depres", "diabet", "diagnos", "diagnoz", "disabil", "discapac",
    "doenca", "dodsarsag", "dodsorsak", "embaraz", "enceinte", "enfermedad", "erkrank", "funktionsned", "genotyp",
    "genetic", "genetisk", "gravid", "grossesse", "handicap", "invalidit", "krankenstand", "krankentag",
    "krankheit", "maladie", "malattia", "mental health", r"nemoc\b", "niepelnospr", "onemocn", "patolog",
    "pricina smrti", "pricina umrti", "przyczyna zgonu", "psic[oh]i", "psiqu", "psych", "rozpoznani", "schwanger",
    "sick days", "sick leave", "sickness absence", "sjukdagar", "sjukdom", "sjukpenning", "suicid", "suizid",
    r"(?:perceived|self-?rated|general|self-?reported) health", "health status", "state of health", "gesundheitszust",
    "etat de sante", "estado de sal?ud", "estado de saude", "stato di salute", r"\bgezondheid", "helbred", "halsotill",
    r"(?:hearing|vision|visual|ambulatory|cognitive|self-?care|walking) difficult", "health insurance", "health cover",
    r"difficult\w* (?:with |in )?(?:hearing|seeing|walking|remembering|dressing)", r"\bstanu? zdrow", "safeguarding",
    "blood pressure", "blutdruck", "blodtr[yk]", "systol", "diastol", r"krevni\w* tlak", "bloeddruk", "vererohk",
    r"zdravotn\w+ stav",
    r"zdravi\b", "cukrovk", "cukorbeteg", "terviseseisund", "blodsukker", "haigus", r"\bterve",
    "hba1c", "ha?emoglobin", "cholesterol", "glucose", "body mass", r"\bbmi\b",
    r"\bpain\b", "neuropath", "comorbid", "kidney", "retinopath",
    "infe[ck]ti", "infek[ct]", "physical health", "self-?assessed health", r"zdravst\w* stan", "zdravlj", "bolez",
    "bolest", r"\beq-?5d", r"\bsf-?(?:12|36)\b", r"\b(?:phq|ghq|gad|mmse|cesd|hads|whodas)\b", "quality of life",
    "kwaliteit van leven", "lebensqualitat", "qualite de vie", "calidad de vida", "kakovost zivljenja",
    "ovirano", "invalidnost", "здравосл", "болест", "заболява", "инвалид", "здоров", "болезн",
    "осложнен", "complication",
    "komplikation", r"\boverled", r"\bdeceased", "verstorben", "mortalit", "sterfte", "smrt", "смърт",
    r"\b(?:hlth|health)stat", r"\w*hlth\b",
    "sygdom", "sygedag", "sykdom", "sykefravaer", "todesursache", "ziekte", "zwanger", r"\bhiv",
)  # fmt: skip
"""The parts of words about health, also that of the mind, and causes of death."""
_SUBSTANCES = (
    r"\bfumo\b", r"\bfume\b", "fumez", "alcohol", "alcool", "alkohol", "cannabis", "drog(?:a", "en", r"ue)\b",
    "drinker", r"drinks? alcohol", "heavy drinking", "trinker", "buveur", r"pack[- ]?years",
    "kouren", r"kurak", "fajcen", "suitset", "tupakoi", "alkohol",
    "fumador", "fumante", "fumatore", "fumeur", "kurak", "narkot", "palacz", "palenie", "raucher", "rauchverhalten",
    r"\baudit(?:-?p?c)?\b.{0,20}(?:score|total|sum)", "пуш(?:ач|ене)", "алкохол", "алкогол", "kadil",
    "kajen", r"\bpusac",
    "rokning", "rookgedrag", "royk", "ryger", "rygning", "smok(?:er", "es", "ing)", "taba[ck]", "tobac", r"\broker",
)  # fmt: skip
"""The parts of words about alcohol, tobacco and drugs."""
_MONEY = (
    "aide sociale", "bijstand", "bruttolon", "cisty prijem", "dluh", "dochod", "earnings", "einkomm", "einkunft",
    "endett", "hruby prijem", "income", "indkomst", "ingresos", "inkomen", "inkomst", "inntekt", "kontanthj",
    r"\bprijem\b", "sissetulek",

    "lonein", "mesicni prijem", "monatsgehalt", "mzda", "nettolon", "prijem v ", "reddit[oi]", "rendimento",
    "revenu", "salair", "salar", "schulden", "social assistance", "socialbidrag", "sozialhilfe", "uitkering",
    "retencion", "retenue", r"\bpagos?\b", r"\bpagament", "income tax", "withh[eo]ld", "lohnsteuer", r"\birpf\b",
    r"\bbonus", "invoice", "factuur", "gefactureerd", "facture", r"\bfactura", "fattura", r"\bfatura",
    "rechnungsbetrag",
    "hospital bill", r"dohod(?:e?k|ak)", "prihod", r"social\w+ transf", r"socialn\w+ pomoc", r"socijaln\w+ pomoc",
    "доход", "заплата",
    r"\b(?:gross|net|basic|take-home|(?:week|hour|month)ly|annual|usual) (?:\w+ )?pay\b",
    "verschuld", "wynagrodz", "zarobk", r"\bgehalt", r"\bwages?\b",
)  # fmt: skip
"""The parts of words about what a person earns, owes or is granted."""
_CONVICTIONS = (
    "would vote", r"votes?\b", "voting", "wahlabsicht", "zweitstimme", "misdrijf", "verdacht", "intencion de voto",
    "intencao de voto", "intenzione di voto", "conviction", "condamn", "condanna", "condena", "criminal",
    r"nabozen\w*", "usuline", "uskon", "godsdienst", "geloofs", r"delit\b", "delito",
    "domfald", "eglise", "fackfor", "fagforening", "faith", "gewerkschaft", "karaln",
    "veroispoved", "vjeroispovijest", "вероизповед", "вероисповед", "религи",
    "kirche", "konfession", "kriminal", "lovovertr", "offen[cs]e", "brottslig", "parteip", "party choice",
    "party vote", "politi(?:ca", "cal", "ek", "que", "sch", "sk)", "przestep", "religi", "seksu", "sexual",
    "sexuel", "sindica", "skazan", "strafba", "strafbla", "straftat", "syndica", "trade union", "union member",
    "vakbond", "veroordeel", "verurteil", "vorstraf", "vyznani", "wyznanie", r"zwiaz\w+ zawod", r"\barrest",
    r"\breato",
)  # fmt: skip
"""The parts of words about religion, politics, unions, sex life and crime."""
_NATIONAL = (
    "historia clinica", r"medical record n\w+", "persoonsnummer", "bsn", "burgerservicenummer", "carte d identite",
    "codice fiscale", "cpf", "cpr(?:-?n(?:umme)?r)?", "fodselsnummer", r"krankenversichertenn\w+", "kvnr",
    "lobenummer", "lop ?nummer", "lopenummer", r"medicare n\w+", "nhs number", "nif", "nino", "numero (?:de",
    "del) dni", "numero de securite sociale", "passnummer", r"passport n\w+", "person(?:en)?nummer", "personnr",
    "pesel", r"rentenversicherungsn\w+", "rodne cislo", "samordningsnummer", r"social security n\w+",
    r"sozialversicherungsn\w+", "steuer-?(?:id", "nummer)",
)  # fmt: skip
"""The names of numbers that a state or an insurer gives to a person."""
_COVERED = (
    r"anonymi[sz]\w+", r"chiffr\w+", r"cifrad\w+", r"encriptad\w+", r"encrypt\w*", r"\w*krypt\w*", r"crypt\w*",
    r"gepseudon\w+", r"hash\w*", r"pseudonym\w*", r"szyfrow\w+", r"verschlussel\w+", r"versleutel\w+",
    r"zasifrovan\w+", r"zaszyfrow\w+",
)  # fmt: skip
"""The words for what stands in the place of such a number."""
_UNIQUE = (
    r"eindeutig\w*", r"fortlaufend\w*", r"jedinecn\w+", "laufende?", "lfd", "lobende", "lopande", r"sequen\w+",
    "serial", "uni(?:ca", "co", "ek", r"kt)\w*", "unikalny", "unikatowy", "unique", "univoco",
)  # fmt: skip
"""The words for what no two rows share."""
_NUMBERS = (
    "cislo", "code", "codice", "codigo", "id", r"identif\w+", r"identyfik\w+", "key", "kod", "kode", "nr", "number",
    "numer", "numero", r"\w*nummer", "schlussel", r"sifra", "broj", "stevilka",
)  # fmt: skip
"""The words for a number or a code."""
_OTHERS = (
    "arzt", "batch", "bett", "chapter", "clini", "commune", "depart", "district", "doctor", "drug", "dzielnic",
    "ecole", "escola", "etage", "floor", "gemeen", "gemeinde", "gmin", "haus", "hospital", "house", "hus",
    "kapitel", "klini", "kommun", r"kraj\b", "krankenhaus", "lekarz", "leito", "maand", "medico", r"mes\b", "mesic",
    "mies", "mois", "monat", "month", "municip", "nemocnic", "obec", "post", "product", "provider", "region",
    "room", "school", "schule", "semaine", "semana", "station", "szkol", "szpital", "tele", "valid", "gultig",
    "version", "wave", "week", "welle", "woche", "woj", "ziekenhuis", "zimmer",
)  # fmt: skip
"""The parts of words for what has a number, but is no person and no case: places, times, products."""
_FREE = re.compile(
    "|".join(
        (
            r"\bfree[- ]?(?:form )?text\b|\bverbatim\b|\bopen[- ]?(?:ended )?(?:text|answers?|responses?|question)\b",
            r"\bfree[- ]form\b|\b(?:case|interviewer'?s?|clinical|staff) (?:notes?|comments?|remarks?)\b",
            r"\bfreitext|\bfreie[rn]? text|\btexte libre|\bt?exto libre|\btexto livre|\btesto libero|\bfrite[ks]s?t",
            r"\bvrije tekst|\bopen antwoord|\btekst (?:swobodny|wolny|dowolny)|\bwolny tekst|\bpole opisowe",
            r"\buwagi ankietera|\bvolny text|\bvapaa teksti|\bbemerkungen? de[sr] (?:interview|befrag)",
            r"\bcommentaires? d(?:e l'|u )(?:enquet|agent)|\bobserva\w+ d(?:o|el) (?:entrevist|encuest)",
        )
    )
)
"""The words for texts that somebody writes as they like, which can name anybody."""
_THE = r"(?:of the|da|do|dell?|della|dello|du|de la|de l|van de|van het|der|des)"


def _any(words: tuple[str, ...]) -> str:
    return f"(?:{'|'.join(words)})"


_SENSITIVE = re.compile(_any((*_HEALTH, *_SUBSTANCES, *_MONEY, *_CONVICTIONS)))
_NUMBER, _HIDDEN, _ONLY = _any(_NUMBERS), _any(_COVERED), _any(_UNIQUE)
_IDENTIFYING = (
    re.compile(rf"\b{_any(_NATIONAL)}\b"),
    re.compile(rf"\b{_ONLY}\W+(?:\w+\W+){{0,2}}{_NUMBER}\b|^{_NUMBER}\W+{_ONLY}\b"),
    re.compile(
        r"\bidentif\w+\W+(?:number|code|nr)\b|\bidentifi[ck]ation\w*nummer\b"
        r"|\b(?:numero|codigo|codice|code)\W+(?:de|di|d)\W+identif\w+"
        r"|\bnumero\W+(?:de|di|d)\W+ord(?:en|re|em|ine)\b|\b(?:order|sequence|running|line|record) number\b"
    ),
    re.compile(rf"\b{_HIDDEN}\W+(?:\w+\W+){{0,2}}\w*{_NUMBER}\b|\b{_NUMBER}\W+(?:\w+\W+){{0,4}}\(?{_HIDDEN}\b"),
    re.compile(rf"^(?:number|nummer|numero|numer|cislo|nr)\W+{_THE}\W"),
    re.compile(r"^(?:nummer|numer|cislo)\W+(?:[a-z]+\W*){1,3}$|^\w{3,}nummer$"),
    re.compile(
        r"\bazonosito|αναγνωριστικ|κωδικος (?:νοικοκυρι|ατομ|ερωτωμ)"
        r"|(?:个人|住户|受访者|個人|世帯|調査)(?:编码|编号|番号|編號|id)|(?:标识|識別|標識|登録)(?:码|符|番号|子)"
        rf"|{plain_text('식별')}|{plain_text('일련번호')}|\b(?:hane|birey|fert)\w* (?:\w+ )?(?:no|numara)"
    ),
    re.compile(r"^(?:identyfikator|identifikator|identificat(?:or|eur|ivo)|identificador|identifiant)\b"),
    re.compile(r"\bidentifikac\w+ cislo|isikukood|pseudonuumi"),
)
"""The phrases for identifiers. A number of one thing (`numero della scheda`) names it; one of several is a count."""
OUTRIGHT = 4
"""The place of the first of those phrases that counts can have. The names of the numbers by a state are words, too."""
MOST_COUNTED = 10_000
"""The number from which the end of a range is none of a count, nor too small for the numbers that a state gives."""
_OTHER = re.compile(_any(_OTHERS))


def is_sensitive(text: str) -> bool:
    """Return whether a plain text has a part of a word about health, money, religion, sex life or crime."""
    return bool(_SENSITIVE.search(text))


def is_free_text(text: str) -> bool:
    """Return whether a plain text says that a column holds what somebody wrote or said, in free words."""
    return bool(_FREE.search(text))


def is_identifying(text: str, greatest: Fraction | None = None) -> bool:
    """Return whether a plain text has a phrase for a number or pseudonym of somebody, or of a case. A column with a
    `greatest` number that is small can be a count: it needs a phrase that says so outright.
    """
    found = [at for at, each in enumerate(_IDENTIFYING) if each.search(text)]
    if greatest is not None:
        found = [at for at in found if greatest >= MOST_COUNTED or 0 < at < OUTRIGHT]
    return found[:1] == [0] or (bool(found) and not _OTHER.search(text))
