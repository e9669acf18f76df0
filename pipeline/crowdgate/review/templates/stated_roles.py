"""The privacy role of a column as a codebook states it, under a heading such as `Sensitivity` or in brackets behind the
words on a variable, in several languages.
"""

import re

from crowdgate.contracts.contract import Role
from crowdgate.review.templates.column_words import plain_text

_NOT = re.compile(
    r"\b(?:not?|non|nao|nicht|kein\w*|geen|niet|ej|inte|ikke|ingen|nie|neni|sem|sin|sans|without|ohne|senza|pas)\b"
    r"[ -]+(?:\w+ ){0,2}\w"
    r"|\bne(?:citliv|osobn|iden)|\b(?:de|pseudo)-?(?:ident|anonym)"
)
"""The words that deny a role: `not sensitive`, `non-sensible`. They are looked for before the words of a role."""
_DENIED = r"\b(?:not|non|nao|nicht|kein\w*|niet|ej|inte|ikke|nie|ne|ni|no|never|nunca|mai)\b"
_PUBLISHED = "|".join(
    (
        r"releas|publi|pubbl|disclos|diffus|divulg|veroffentl|weitergeb|weitergegeb|vrijge|openbaar|utlamn|lamnas ut",
        r"offentlig|udstykk|udlever|utlever|ujawni|udostep|zverej|objav|javn",
    )
)
_INTERNAL = (
    r"nezverej\w*|neobjavl\w*|internal use only|nur (?:fur )?intern\w*|usage interne|uso intern\w*"
    r"|intern gebruik|withheld"
)
_RELEASE = re.compile(rf"{_DENIED}[ -]+(?:\w+ ){{0,2}}(?:{_PUBLISHED})\w*|\b(?:{_INTERNAL})\b")
"""The words that a column is not to be released, which deny no role."""
_DENIALS = r"no|non?e|nee|nein|nej|nei|nie|ne|nao|0|n"
_UNIQUE = r"\b(?:uni(?:ek|que|co|ca|k[aeo]?t?)|eindeutig|enolicn\w*|jedinecn\w*|jedinstven\w*|уникал\w*)"
_PER = r"(?:per|pro|je|for(?: each| every)?|to(?: each| a| the)?|par|por|fur jeden?|voor elke?|za|для|за)"
_PERSON = (
    r"(?:pati|pers|osob|subje[ck]t|respond|individ|osebo|bolnik|лиц|пациент|participant|deelnemer|teilnehmer|pacient)"
)
_UNIQUE_PER = re.compile(rf"{_UNIQUE}\W+{_PER}\W+{_PERSON}")
"""The words that a code is another one for each person."""
_QUASI = re.compile(
    "|".join(
        (
            r"\b(?:quasi|quase|kvasi|cuasi|kwazi|kvazi|semi)[- ]?id",
            r"\bindire[ck]t\w*(?: \w+)?[- ]id\w*|\bid\w+ indire[ck]t\w*|\bindire[ck]t\w*$",
            r"\bkey variable|\b(?:quas[ie]|kvasi|kvazi|qi)\b|\bneprim\w* id\w*|\bidentyfikator posredn\w*",
            r"\bposredn\w* id\w*|\bepasuor\w*|\bkozvetett|\bdolayli|εμμεσ\w*",
            rf"{plain_text('준식별')}\w*|準識別\w*|准标识\w*|準標識\w*",
        )
    )
)
_DIRECT = re.compile(
    "|".join(
        (
            r"(?<![\w-])identif(?:ier|iant|icador|icativo|icateur|ikator|icator|iserare|ierare|ikat|iant|ying)\w*",
            r"(?<![\w-])identificat(?:or|eur)\w*|(?<![\w-])identyfikator\w*",
            r"\bdirekt\w* id\w*|\bdirect id\w*|\bpersonal id\w*|\bpii\b",
            rf"\bazonosit\w*|αναγνωριστικ\w*|\btanimlayici|{plain_text('식별')}\w*|(?:直接)?(?:标识|識別|標識)\w*",
        )
    )
)
_SENSITIVE = re.compile(
    "|".join(
        (
            r"\bsensi[tbv]\w*|\bkanslig\w*|\bgevoelig\w*|\bfols?om\w*|\bwrazliw\w*|\bcitliv\w*"
            r"|\b[ck]onfiden[tc]\w*|\bvertrauli\w*|\bvertrouwelijk\w*|\bfortrolig\w*|\bpoufn\w*|\bduvern\w*|\briservat\w*"
            r"|\bschutzenswert\w*|\barkaluont\w*|\bhassas\b|\bozel nitelikli|\bkulonleges adat|\berzekeny\w*|ευαισθητ"
            rf"|{plain_text('민감')}\w*|敏感\w*|要配慮\w*|機微\w*|センシティブ\w*",
            r"\bspecial categor\w*|\bbesondere\w* kategor\w*|\bdat[oi] particolar\w*|\bcategori[ae] particolar\w*"
            r"|\bparticolar[ei] categori[ae]|\bsaerlig\w* kategori\w*|\bsarskild\w* kategori\w*"
            r"|\bcategories? particuliere\w*",
            r"\bcategorias? especial\w*|\bbijzonder\w* (?:categorie\w*|persoonsgegevens)"
            r"|\bart(?:\.|icle|ikel|icolo|iculo|igo)? ?9\b",
        )
    )
)
_NO_RISK = (
    r"none|no(?: risk)?|nei?n?|nej|nee|non|aucune?|keine?|geen|ingen|inga|nessun[oa]?|ningun[oa]|nenhuma?",
    r"brak|zadn[aey]|n/?a|-+|low(?: risk)?|niedrig|lav|lag|basso|bassa|gering|ordinary|normal\w*|public|almindelig"
    r"|alminnelig|vanlig|comune|ordinari[oa]|offentlig\w*|offen|oppen|open",
)
"""The words that state no role."""
_NOTHING = re.compile(rf"(?:{'|'.join(_NO_RISK)})(?!\w).*")
_KINDS = ((Role.QUASI_IDENTIFIER, _QUASI), (Role.DIRECT_IDENTIFIER, _DIRECT), (Role.SENSITIVE, _SENSITIVE))
_BRACKETS = re.compile(r"\(([^()]{2,60})\)|\[([^\[\]]{2,60})\]|\s[-–—]\s([^-–—()]{2,40})$")
"""The words in brackets, or behind a dash at the end."""
_NOUNS = re.compile(
    r"(?:data|info\w*|variable|variabel|uppgift\w*|opplysning\w*|oplysning\w*|gegevens?|dad[oa]s?|dat[oa]s?|donnees?"
    r"|besonders|sarskilt|saerligt?|serlig|szczegolnie|zvlast\w*|erityisen|muy|muito|molto|tres|streng|bijzonder"
    r"|veri|adat|δεδομεν\w*|personal|person\w*|field|campo|highly|very|direct\w*|direkt\w*|dir[ei]t[oa]|merkmal|angaben?|udaje?|dane|\W)*"
)
"""The words that can stand beside those of a role in brackets."""


def stated_role(text: str) -> Role | None:
    """Return the role that a cell about sensitivity states; None if it states none, or denies one."""
    plain = plain_text(text).lower()
    if _NOT.search(_RELEASE.sub("", plain)):
        return None
    return next((role for role, words in _KINDS if words.search(plain)), None)


def words_against_release(text: str) -> str:
    """Return the part of notes, or of a cell about sensitivity, which says that a column is not to be published."""
    parts = (each.strip(" !()[]'*_") for each in re.split(r"[.;,\n]\s*|\s[-–—]\s", text))
    return next((each for each in parts if _RELEASE.search(plain_text(each).lower())), "")


def is_no_role(text: str) -> bool:
    """Return whether a cell about sensitivity is empty, or says that a variable has no role that needs care."""
    plain = plain_text(text).lower().strip()
    if _RELEASE.search(plain):
        return False
    return not plain or bool(_NOTHING.fullmatch(plain) or _NOT.search(plain))


def role_in_brackets(text: str) -> Role | None:
    """Return the role that words in brackets state: `Ethnic group (sensitive)`. Their first part has to say nothing
    else, so that `(sensitive to light)` and `(identifier of the ward)` state none.
    """
    for found in _BRACKETS.finditer(plain_text(text).lower()):
        first = re.split(r"[,;:]|\s[-–—]\s", next(filter(None, found.groups())))[0].strip()
        if role := _role_alone(first):
            return role
    return None


def role_in_notes(text: str) -> Role | None:
    """Return the role that a whole sentence of notes states: `Sensitive.`, `unique per patient`; None for sentences
    that say more.
    """
    plain = plain_text(text).lower()
    if _UNIQUE_PER.search(plain):
        return Role.DIRECT_IDENTIFIER
    sentences = re.split(rf"[.;,\n]\s*|:(?!\s*(?:{_DENIALS})\b)\s*|\s[-–—]\s", plain)
    return next((role for each in sentences if (role := _role_alone(each.strip(" !()[]")))), None)


def _role_alone(words: str) -> Role | None:
    """Return the role that words state which say nothing else."""
    role = stated_role(words)
    return role if role and any(_NOUNS.fullmatch(known.sub("", words)) for _, known in _KINDS) else None
