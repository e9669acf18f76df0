"""The words by which codebooks say that a code stands for no value, or that a cell is empty, in several languages."""

import re
from collections.abc import Sequence

_NOTED = (
    r"not (?:stated|known|reported|recorded|documented|collected|determined|established"
    r"|obtained|provided|mentioned|classifiable|identified)",
    r"nicht (?:registriert|dokumentiert|gemeldet|ermittelt|beantwortet|gefragt|verfügbar|vorhanden"
    r"|bestimmbar|mitgeteilt|feststellbar|genannt|übermittelt|ermittelbar)",
    r"niet (?:gekend|geregistreerd|gemeld|gerapporteerd|gevraagd|beantwoord|vermeld|beschikbaar"
    r"|bepaald|meegedeeld|genoteerd|gedocumenteerd|te bepalen|geweten)",
    r"non (?:enregistr|document|rapport|mentionn|détermin|répond|recueill|spécifi|disponibl|sais)\w+",
    r"n(?:o|ão) (?:registrad|reportad|documentad|informad|preguntad|perguntad|recogid|recolhid"
    r"|determinad|precisad|disponi\w|disponív\w|conocid|indicad|constat|coletad)\w*",
    r"non (?:registrat|riportat|documentat|pervenut|fornit|determinat|comunicat|conosciut)\w+",
    r"(?:ej|inte|ikke|icke) (?:registrer|rapporter|känd?t|kjent|kendt|dokumenter|tilgjengelig"
    r"|tilgængelig|tillgänglig|besvar|uppgiven|opgivet|oppgjeven)\w*",
    r"nie (?:zarejestrowano|odnotowano|określono|ustalono|zgłoszono|pytano|udzielono odpowiedzi|wiadomo|zebrano)",
    r"nezaznamen\w+|nehlášen\w+|nezodpoved\w+|nezodpověz\w+|nezadán\w+|nevyplněn\w+|nevyplnen\w+|neevidov\w+",
    r"ni (?:odgovora|podatka|podatkov|znano|navedeno|primerno|na voljo|želel\w* odgovoriti)|ne (?:ve|vem)"
    r"|ne želi\w* odgovoriti|neznano|brez (?:odgovora|podatka)|zavrn\w+|manjka\w*",
    r"ne (?:zna|znam|zeli odgovoriti|želi odgovoriti)|nepoznat\w*|bez (?:odgovora|podatka)|nema (?:odgovora|podat\w+)"
    r"|nije (?:poznato|navedeno|odgovori\w+|primjenjivo|primenljivo)|odbi\w+(?: odgovor\w*)?|nedostaj\w+",
    r"неизвестн\w+|не (?:знам|знае|знаю|знает|отговаря|отговорил|ответил\w*|указано|указан)|няма (?:данни|отговор)",
    r"без (?:отговор|ответа)|нет (?:данных|ответа)|отказ\w*(?: от ответа)?|затрудн\w+(?: ответить)?|липсва\w*|пропуск"
    r"|невідомо|немає даних|не знаю|важко сказати|відмова",
)
"""The words that something is not known, or not noted."""
_UNKNOWN = (
    *_NOTED,
    r"(i )?(do ?n[o'’]?t|dont) know( ?/? ?not sure)?|not sure|(i )?prefer not to (answer|say)",
    r"refus(ed?|als?)( to answer)?",
    r"(not |un)answered|no reply",
    r"not (stated|known|specified|ascertained|reported|recorded|rated|assessed|tested|measured|available|given"
    r"|disclosed)|undisclosed",
    r"no (answer|response|data)|unspecified|unrecorded|missing( data)?|unknown|blank|dk|missing/unknown",
    r"n\.?\s?[ia]\.?( ?u\.?)?|system missing|sys(tem)?miss?",
    r"(ohne|keine) (angaben?|antwort)|(angabe )?(unbekannt|verweigert)|wei(ß|ss) (ich )?nicht|fehl(end|t)|k\.? ?a\.?",
    r"nicht (bekannt|angegeben|erhoben|erfasst)|(ne sa(it|is) pas|nsp|sans réponse|inconnue?s?)|indétermin[ée]e?",
    r"non[ -](réponse|(déclaré|renseigné|précisé|connu|communiqué)e?s?)|refus[ée]?|manquante?",
    r"n(o|ão) (sabe|contesta|respondeu?|informad[oa]|declarad[oa]|especificad[oa]|responde|conhecid[oa])",
    r"ns|nc|nr|ns/nc|ns/nr|ignorad[oa]|no consta|se ignora|ignorat[oa]|sconosciut[oa]",
    r"(sin|sem) (informaci[oó]n|informa[cç][aã]o|dat[oa]s?|resp[uo]\w+)|desco(noc|nhec)id[oa]",
    r"non (sa|risponde|indicat[oa]|not[oa]|dichiarat[oa]|specificat[oa]|disponibile|rilevat[oa]|rispost[oa])",
    r"weet (ik )?niet|onbekend|geweigerd|geen (antwoord|opgave)|wil niet zeggen|niet (bekend|ingevuld|opgegeven)",
    r"(vet|ved) (ikke|ej|inte)|(uppgift|svar) saknas|uoppgitt|uoplyst|ukendt|ukjent|okän[dt]?|ikke (be)?svare?t",
    r"vil ikke svare|ej (svar|angivet|oplyst)|mangler|manglende",
    r"nie wiem|trudno powiedzieć|brak (danych|odpowiedzi|informacji)|odmowa( odpowiedzi)?|nieznan[yaei]|nie podano",
    r"ei (tietoa|vastausta|ilmoitettu|osaa sanoa|halua vastata)|en osaa sanoa|tuntematon|puuttu(u|va)( tieto)?",
    r"n/a|不明|無回答|未回答|わからない|欠損値?|不詳",
    r"ref|rf|neznám[éýáo]|neuvedeno|nezjištěn[oéýa]|neví|bez odpovědi|chybí|neurčen[oáéý]|nespecifikováno",
    r"no info(rmation)?|declined( to answer)?|rather not say|missing (value|code)",
    r"(donnée|valeur) manquante|pas de réponse",
    r"(ne )?répond pas|refus de répondre|se desconoce|dato (faltante|mancante)|não preenchid[oa]|sem declaração",
    r"ignot[oa]|mancant[ei]|rifiut[ao]|weigert|ontbre(ekt|kend)|geen gegevens|(inget|intet) svar|saknas|ej uppgift",
    r"(vill ej|vill inte|ønsker ikke å|ønsker ikke at) svar[ae]|ikke (oppgitt|oplyst)|ubesvar(t|et)|odmítla? odpovědět",
    r"verweigerung|antwort verweigert|negativa|odmítnutí|odmowy|vägran|nekt|weigering|rifiutato|kieltäyty\w+",
    r"(ikke|inte|ej|icke) (oppgitt|oplyst|uppgett|angivet)|(ne )?veut pas répondre|no (quiere )?responder?",
    r"bilmiyor(?:um)?|cevap yok|cevapsız|bilinmeyen|bilinmiyor|reddetti",
    r"cevap vermek istemiyor|kayıp(?: değer)?|belirtilmemiş",
    r"δεν γνωρίζ(?:ω|ει)|δεν ξέρ(?:ω|ει)|δεν απαντ(?:ώ|ά|άει)|δ[γξ]/?δα|άρνηση|άγνωστ[οηα]|ελλείπ(?:ει|ουσα)(?: τιμή)?",
    r"nem (?:tudja|tudom|válaszol(?:t)?|ismert)|nt/?nv|ismeretlen|nincs (?:adat|válasz)|hiányzó|megtagad(?:ta|ás)",
    r"nu (?:știe|știu|răspunde)|nș/?nr|refuz(?:ă)?|necunoscut|lipsă|nedeclarat",
    r"모름|무응답|모르겠음|응답거절|거절|미상|결측|잘 모르겠음",
    r"不知道|不清楚|拒[绝絕]回答|拒答|未知|缺失|不明|不詳|未回答|无回答|無回答|遺漏",
    r"答えたくない|回答拒否|無記入",
    r"nezisten[éýáo]|nevie(?:m)?|neuveden[éýáo]|neznám[yae]|bez odpovede|odmiet(?:ol|la)(?: odpovedať)?|netýka sa",
    r"ei (?:tea|vasta|oska öelda|kohaldu|mõõdetud)|teadmata|vastamata|keeldu\w*|puuduv(?:ad)?|määramata|puudub",
    r"odmítla?|non-?respon\w+(?: person)?",
    r"chybějící|neudáno|ne souhaite pas répondre|no desea contestar|prefere não responder|preferisce non rispondere",
)
_NOT_APPLICABLE = (
    r"not (applicable|asked|in universe)|niu|n\.?\s?[u]\.?|(appropriate |valid )?skip(ped)?|trifft nicht zu|entfällt",
    r"(?:it )?(?:does|do)(?: not|n[o'’]t) apply|inconsistent",
    r"sans objet|non[ -]concernée?|niet van toepassing|nie dotyczy|no procede|não se aplica|no aplica|non applicabile",
    r"not (done|performed|carried out|collected|taken|measured)|nicht (durchgeführt|gemessen|gemacht)|n/a",
    r"non (fait|effectuée?|réalisée?|mesurée?|eseguit[oa]|effettuat[oa])|n(o|ão) (realizad[oa]|efetuad[oa]|hech[oa])",
    r"niet (gedaan|uitgevoerd|gemeten|afgenomen)|(ej|inte) (utför[dt]|gjor[dt]|mätt?)|nie (wykonano|badano)",
    r"ei koske|非該当|uygulanamaz|uygun değil|δεν εφαρμόζεται|nem alkalmazható|nu se aplică",
    r"해당 ?없음|비해당|不适用|不適用",
    r"ikke (utført|udført|målt)|neprovedeno",
    r"ni (?:relevantno|ustrezno)|nije (?:primjenjivo|primenljivo)|неприложимо|не (?:применимо|се отнася|относится)",
    r"not asked or missing|ej aktuell[t]?|ikke relevant|inte aktuellt|netýká se|nicht zutreffend|n\.?\s?v\.?\s?t\.?",
)
_EMPTY = (
    r"blancs?|(is |left |if )*(blank|empty)|leer|vide|(é |em |en |in )*(branco|blanco|bianco)",
    r"vac[ií][oa]|vazi[oa]|vuot[oa]",
    r"(empty|blanke?|leere?s?|lege|tomt?|pusta|prázdn[áé]) (cell|field|value|zelle|feld|cel|veld|celle|felt|fält"
    r"|komórka|buňka|pole)",
    r"(case|champ|célula|celda|cella|campo) (vide|vac[ií][oa]|vazi[oa]|vuot[oa])|leeg veld|nan",
    r"tyhjä(?: (?:solu|kenttä|arvo))?",
    r"leeg|pust[aey]|tomt?|prázdn[éáý]|null|\(blank\)|\(empty\)|<blank>|<empty>|cellule vide|puste pole|leeres feld|\.",
)
LONGEST_ABBREVIATION = 3
"""The most letters of an abbreviation."""
_COLOURS = {"blanc", "blancs", "blanco", "branco", "bianco"}
"""The words for an empty cell that also name a colour."""
_ENTRY = re.compile(r"(?P<word>[^\s=:]+)\s*(?P<mark>[=:]?)\s*(?P<rest>.*)", re.DOTALL)
_IF = re.compile(r"(?:if|when|si|se|wenn|falls|als|indien|om|hvis|jeśli|gdy|pokud)\b", re.IGNORECASE)
_NO_CODE = re.compile(
    r"[-–—/]|none|no|brak|keine?|nein|aucune?|nessun[oa]?|ingen|geen|ningun[oa]|nenhum|žádné"
    r"|ei (?:ole|puut\w+)",
    re.IGNORECASE,
)
"""The words of a codebook that a column has no missing code."""
_SPECIAL, _UNANSWERED, _NONE = (
    re.compile("|".join(each), re.IGNORECASE) for each in ((*_UNKNOWN, *_NOT_APPLICABLE), _UNKNOWN, _EMPTY)
)
_MARKED = re.compile(
    r"[\[(](?:user[- ]?|system[- ]?)?(?:missing|fehlend|manquante?|ontbrekend|manglende|saknas|ausente|perdido"
    r"|mancante|brak|chybí)(?: values?| code)?[\])]?$",
    re.IGNORECASE,
)
"""The mark behind a label that its code is a missing one."""
_DENIED = re.compile(r"\b(?:not|nicht|niet|non|no|não|inte|ej|ikke|nie|ne|ni|nije|не)\b", re.IGNORECASE)
"""The words that deny something."""
_OR = re.compile(r"\s+(?:or|oder|ou|o|of|lub|eller|nebo|e|und|and|et|y|i|en|och|og)\s+", re.IGNORECASE)


def _wordings(label: str) -> list[str]:
    """Return the wordings of a label: itself, and those between its strokes or commas, without endings in brackets."""
    label = re.sub(r"(?<=[^\W\d])\([^\W\d]{1,2}\)", "", label)
    parts = re.split("[/,]", label)
    return [label, *(parts if len(parts) > 1 else [])]


def _says(label: str, form: re.Pattern[str]) -> bool:
    """Return whether a label has a form, or its first part has it and the others have it or deny something:
    `unknown / county not reported`.
    """
    whole, *parts = (each.strip(" .()") for each in _wordings(label.replace(" (", " / ")))
    if form.fullmatch(label.strip(" .")) or form.fullmatch(whole):
        return True
    fit = [bool(form.fullmatch(each)) for each in parts]
    denied = [bool(_DENIED.search(each)) for each in parts]
    return fit[:1] == [True] and all(map(bool.__or__, fit, denied))


def is_special(label: str) -> bool:
    """Return whether a label says that there is no value, in one wording or in several: `don't know/no answer`; or has
    a mark behind it: `refused to say [missing]`.
    """
    return bool(_MARKED.search(label)) or _says(label, _SPECIAL)


def is_abbreviation(label: str) -> bool:
    """Return whether a label is, or joins, abbreviations: `DK`, `n.a.`, `NS/NC`. Places have such labels, too."""
    return all(len(re.sub(r"[\W_]", "", each)) <= LONGEST_ABBREVIATION for each in label.split("/"))


def is_unknown(label: str) -> bool:
    """Return whether a label says that a value is unknown; not that there can be none, as `not applicable` does."""
    return bool(_MARKED.search(label)) or _says(label, _UNANSWERED)


def is_empty(code: str) -> bool:
    """Return whether a codebook writes this in the place of a code for an empty cell: `blank`, `leer`."""
    return bool(_NONE.fullmatch(code.strip()))


def is_empty_entry(entry: str, entries: Sequence[str]) -> bool:
    """Return whether an entry of a list is for an empty cell: `leer`, `blank Not asked`, `vide = sans objet`; but not
    `leer stehend`, nor a town or a colour among other words.
    """
    head = re.split(r"\s*[=:]", entry.strip(), maxsplit=1)[0]
    if " " in head and is_empty(head):
        return True
    found = _ENTRY.fullmatch(entry.strip())
    if found is None or not is_empty(found["word"]):
        return False
    is_colour, rest = found["word"].casefold() in _COLOURS, found["rest"]
    if rest and (is_colour or not found["mark"]):
        return is_special(rest) or bool(_IF.match(rest))
    others = [re.split(r"[\s=:]", each.strip(), maxsplit=1)[0] for each in entries if each.strip() and each != entry]
    are_codes = all(len(each) <= 3 for each in others)
    return bool(rest) or are_codes or not (found["word"].istitle() or is_colour)


def without_empty(code: str) -> str:
    """Return a code without the words that an empty cell means the same: `0` of `0 or blank`."""
    parts = _OR.split(code.strip())
    filled = [each for each in parts if not is_empty(each)]
    return filled[0] if len(parts) > 1 and len(filled) == 1 else code


def alternatives(text: str) -> list[str]:
    """Return each of several codes without labels that words join: 98 and 99 of `98 or 99`; or else the text alone."""
    parts = _OR.split(text)
    return parts if all(re.fullmatch(r"-?[\d.,]+", each) for each in parts) else [text]


def names_no_code(text: str) -> bool:
    """Return whether words say that there is no missing code."""
    return bool(_NO_CODE.fullmatch(text.strip()))
