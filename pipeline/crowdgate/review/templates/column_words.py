"""The words in names and labels of columns, in several languages, from which a draft guesses."""

import re
from unicodedata import combining, normalize

from crowdgate.contracts.contract import Role

ROLES = {
    Role.DIRECT_IDENTIFIER: (
        "id", "uuid", "guid", "ssn", "nhs", "bsn", "name", "firstname", "lastname", "surname", "forename", "email",
        "mail", "phone", "telephone", "mobile", "address", "street", "passport", "iban", "username", "login", "person",
        "patient", "respondent", "client", "member", "caseid", "pid", "idno", "patid", "patientid", "recordid", "patnr",
        "fallnr", "fallnummer", "identification", "pat", "case", "fall", "record", "nachname", "vorname",
        "aktenzeichen", "personalnummer", "staff", "hash", "nom", "prenom", "identifier", "hhid", "nino",
        "personnummer", "personnr", "fodselsnummer", "fnr", "cpr", "cpf", "pesel", "dni", "curp", "mrn", "idnr",
        "respnr", "hhnr", "lopenr", "lopnr", "lopenummer", "upn", "fiscale", "prontuario", "aadhaar", "identifiant",
        "apellido", "apellidos", "naam", "achternaam", "voornaam", "strasse", "adresse", "direccion", "telefon",
        "telefono", "svnr", "vsnr", "caseref",
    ),
    Role.SENSITIVE: (
        "income", "wage", "wages", "salary", "earnings", "debt", "loan", "credit", "gain", "loss", "diagnosis", "icd",
        "icd9", "icd10", "disease", "disorder", "illness", "hiv", "religion", "drug", "drugs", "alcohol", "smoker",
        "pregnant", "pregnancy", "disability", "disabled", "offense", "offence", "crime", "charge", "sentence", "recid",
        "recidivism", "treatment", "medication", "test", "result", "score", "grade", "cancer", "depression", "insulin",
        "smoke", "smokes", "smoking", "diabetes", "diabetic", "hypertension", "asthma", "diagnose", "krankheit",
        "raucher", "einkommen", "revenu", "ingreso", "ingresos", "renda", "reddito", "inkomen", "fumatore", "fumador",
        "inkomst", "inntekt", "diagnostico", "diagnosi", "diagnostic", "cid10", "cie10", "cim10", "lohn", "salario",
        "salaire", "tulot", "dochod", "dochody", "wynagrodzenie", "zarobki",
    ),
    Role.QUASI_IDENTIFIER: (
        "age", "sex", "gender", "birth", "born", "dob", "birthday", "year", "zip", "zipcode", "postcode", "postal",
        "plz", "puma", "region", "county", "city", "town", "municipality", "district", "state", "province", "country",
        "nationality", "citizenship", "citizen", "race", "ethnicity", "ethnic", "hispanic", "marital", "married",
        "education", "educ", "schooling", "school", "occupation", "profession", "job", "industry", "workclass",
        "employment", "household", "relationship", "children", "language", "date", "admitted", "admission", "ward",
        "isced", "isco", "nace", "geschlecht", "alter", "geburtsdatum", "aufnahmedatum", "entlassdatum", "beruf",
        "familienstand", "wohnort", "bundesland", "sexe", "sexo", "sesso", "geslacht", "kon", "kjonn", "leeftijd",
        "edad", "idade", "eta", "alder", "plec", "nascita", "nacimiento", "nascimento", "naissance", "comune",
        "municipio", "kommune", "pays", "pais", "paese", "nationalite", "nacionalidad", "nacionalidade",
        "staatsangehorigkeit", "nationalitat", "geburtsland", "herkunftsland", "geboorteland", "nationaliteit",
        "fodelseland", "medborgarskap", "statsborgerskap", "obywatelstwo", "cittadinanza", "gemeinde", "gemeente",
        "commune", "gmina", "kunta", "concelho", "freguesia", "parish", "okres", "provincia", "canton", "postleitzahl",
    ),
}  # fmt: skip
"""The words in names of columns that suggest a role, in order of precedence."""
STOCK = {
    "icd10": "icd-10", "icd": "icd-10", "icd9": "icd-9", "isced": "isced-2011", "isco": "isco-08", "nace": "nace-2",
    "cid10": "icd-10", "cie10": "icd-10", "cim10": "icd-10", "country": "iso-3166", "nationality": "iso-3166",
    "citizenship": "iso-3166", "pays": "iso-3166", "pais": "iso-3166", "paese": "iso-3166", "nationalite": "iso-3166",
    "nacionalidad": "iso-3166", "nacionalidade": "iso-3166", "staatsangehorigkeit": "iso-3166",
    "nationalitat": "iso-3166", "geburtsland": "iso-3166", "herkunftsland": "iso-3166", "geboorteland": "iso-3166",
    "nationaliteit": "iso-3166", "fodelseland": "iso-3166", "medborgarskap": "iso-3166",
    "statsborgerskap": "iso-3166", "obywatelstwo": "iso-3166", "cittadinanza": "iso-3166",
}  # fmt: skip
"""The words in names of columns that suggest a stock classification."""
PLACES = {
    "zip", "zipcode", "postcode", "postal", "postleitzahl", "plz", "municipality", "municipio", "comune", "kommune",
    "commune", "gemeinde", "gemeente", "gmina", "obec", "okres", "kunta", "concelho", "freguesia", "parish", "county",
    "district", "distrito", "provincia", "province", "canton", "wohnort", "tract", "puma",
}  # fmt: skip
"""The words for places that have too many codes for a line."""
ICD_10 = {"icd10", "cid10", "cie10", "cim10"}
"""The words for the tenth edition of the ICD, whose first three characters are a category in each country."""
PARTS_OF_CODES = {
    "letter", "chapter", "block", "lettre", "chapitre", "buchstabe", "kapitel", "letra", "capitulo", "lettera",
    "capitolo", "hoofdstuk", "kapittel", "rozdzial",
}  # fmt: skip
"""The words that say that a column holds parts of codes, or groups of them, and no whole codes."""
STOCK_CHARACTERS = {"icd-10": 3, "isco-08": 2, "nace-2": 2}
"""The length of the codes of classifications whose tables often have longer ones."""
NUMBERS = {
    "id", "uuid", "guid", "nr", "no", "number", "nummer", "identification", "identifier", "ref", "reference",
    "pseudonym", "pseudo", "identifiant", "identificador", "identificativo", "codice", "num", "identificacion",
    "identificacao", "identificazione", "identyfikator",
}  # fmt: skip
"""The words that make a name of somebody an identifier: `case number`, but not `type of case`."""
NUMBERED = {
    "household", "house", "hh", "dwelling", "family", "cluster", "serial", "interviewer", "unique", "pupil", "student",
    "employee", "taxpayer", "customer", "participant", "subject", "account", "reference", "applicant", "applicants",
    "ausweis", "ausweises", "reg", "register", "kunden", "mitglieds", "permit", "menage", "hogar", "vivienda",
    "huishoud", "hushall", "husholdning", "haushalts", "insurance", "paciente", "paziente", "individu", "persona",
    "personne",
}  # fmt: skip
"""The words for what has a number: `household number`, but not `number of household members`."""
PERSONS = {
    "person", "patient", "pat", "respondent", "client", "member", "pid", "patid", "patientid", "patnr", "staff",
    "personalnummer", "pupil", "student", "employee", "taxpayer", "customer", "participant", "subject", "applicant",
    "ssn", "nhs", "bsn", "passport", "persnr", "personid", "ausweis", "kunden", "mitglieds", "nino", "personnummer",
    "personnr", "fodselsnummer", "fnr", "cpr", "cpf", "pesel", "dni", "curp", "mrn", "idnr", "respnr", "prontuario",
    "aadhaar", "svnr", "vsnr", "fiscale", "paciente", "paziente", "personnel",
}  # fmt: skip
"""The words of identifiers that stand for one person."""
THINGS = {
    "household", "housing", "house", "hh", "hhid", "houseid", "dwelling", "family", "cluster", "case", "caseid", "fall",
    "fallnr", "fallnummer", "aktenzeichen", "record", "recordid", "interviewer", "account", "serial", "caseref",
    "menage", "hogar", "vivienda", "huishoud", "hushall", "husholdning", "haushalts", "hhnr",
}  # fmt: skip
"""The words of identifiers that stand for cases, records or several persons."""
RECORDS = {"record", "recordid"}
"""The words for records, of which each is of one participant in many studies."""
SHARED = {
    "name", "names", "firstname", "lastname", "surname", "forename", "nom", "prenom", "nachname", "vorname", "apellido",
    "apellidos", "naam", "achternaam", "voornaam", "address", "street", "strasse", "adresse", "direccion", "phone",
    "telephone", "mobile", "telefon", "telefono", "postcode", "zip", "postal", "birth", "dob", "birthdate", "email",
    "mail",
}  # fmt: skip
"""The words for what identifies a person, but that several can share: names, addresses, days of birth."""
ENDS_IN_ID = re.compile(
    r"(([^aeioulcvhrt]|[ni]t|(?<![hb])e)id|(?<!post)(?<!kommune)nummer|kennzeichen|(resp|pers|pat|fall|hh|lop|kunden|cust|emp|stud)_?(nr|no|num|ref))$"
)
"""The names that run into `id`, such as `houseid` and `subjid`, but not `paid`, `arbeid` and `covid`."""
OF_KINDS = {
    "concept",
    "type",
    "category",
    "status",
    "kind",
    "typ",
    "kategorie",
    "categorie",
    "categoria",
    "statut",
    "tipo",
}
"""The words in names of columns whose `id` is one of a kind of things: `gender_concept_id`."""
_PARTS = {"full", "first", "last", "middle", "given", "family"}
"""The words that say which name of a person a column holds."""
LONGEST_NAME = 5
"""The most words of a name, or a label, that can be that of an identifier."""
AGE = {"age", "alter", "leeftijd", "lft", "edad", "idade", "eta", "alder", "wiek", "vek", "ika", "yas", "vanus"}
"""The words for ages."""
NO_YEARS = {
    "range", "group", "groups", "grp", "band", "class", "category", "cat", "bracket", "months", "days", "weeks",
    "gruppe", "tagen", "tage", "monaten", "monate", "classe", "tranche", "grupo", "groep", "klasse", "jours", "mois",
    "meses", "dias", "maanden", "dagen", "maneder", "manader", "dager", "grupa",
}  # fmt: skip
"""The words that say that an age is not in years."""
COUNTS = {
    "number", "count", "anzahl", "nombre", "numero", "aantal", "antal", "antall", "liczba", "pocet", "quantidade",
    "cantidad", "years", "year", "jahre", "jahren", "jahr", "ans", "annees", "annee", "ano", "anos", "anni", "anno",
    "jaar", "jaren", "ar", "lat", "rok", "roky", "let", "days", "tage", "tagen", "jours", "dias", "giorni", "giornate",
    "dagen", "dagar", "dager", "dage", "dni", "dnu", "weeks", "wochen", "semaines", "semanas", "settimane", "weken",
    "veckor", "uger", "uker", "months", "monate", "monaten", "mois", "meses", "mesi", "maanden", "manader", "maneder",
    "miesiecy", "mesicu", "children", "kinder", "enfants", "hijos", "filhos", "figli", "kinderen", "barn", "dzieci",
    "deti", "persons", "personen", "personnes", "personas", "visits", "hele", "whole",
    "decile", "quintile", "quartile", "deciel", "quintiel", "kwintiel", "kwartiel", "dezil", "decil", "quintil",
    "kvintil", "kvartil", "kwintyl", "decyl",
}  # fmt: skip
"""The words by which a range without decimals is one of whole numbers."""
NO_COUNTS = {
    "average", "mean", "mittel", "mittlere", "durchschnitt", "durchschnittliche", "moyenne", "moyen", "media", "medio",
    "gemiddeld", "gemiddelde", "genomsnitt", "gennemsnit", "gjennomsnitt", "srednia", "prumer", "prumerny", "rate",
    "ratio", "per", "pro", "par", "por", "index", "share", "percent", "percentage",
}  # fmt: skip
"""The words by which a number of things, or of years, can have decimals."""
DAYS = {
    "date", "day", "dob", "birthday", "birthdate", "geburtsdatum", "aufnahmedatum", "entlassdatum", "datum", "fecha",
    "dato", "nascita", "nacimiento", "nascimento", "naissance",
}  # fmt: skip
"""The words in names of columns that suggest days."""
NO_FIRST_WORDS = {"day"}
"""The words that begin descriptions of other things: `day of the week`."""
ADMISSIONS = {"ingreso", "ingresos"}
"""The words for income that in the name of a day mean an admission."""
ATTAINED = {"highest", "completed", "attained", "finished"}
"""The words by which a grade is a year of school."""
NO_SENSITIVE = {*AGE, *DAYS, "year", "jahr", "annee", "ano", "anno", "jaar", "rok", "aar", "ar", "birth", "place"}
"""The words by which a column says when or where something was: `year of diagnosis`."""
_LETTERS = str.maketrans({"ß": "ss", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "Ae", "ł": "l", "Ł": "L", "ı": "i"})
"""The letters that have no accent to leave out."""


def plain_text(text: str) -> str:
    """Return a text without the accents of its letters."""
    return "".join(each for each in normalize("NFKD", text.translate(_LETTERS)) if not combining(each))


_TRANSLATED = {
    "age": "年龄|年齢|年齡|周岁|나이|연령|ηλικια|eletkor|varsta",
    "group": "연령대|연령층|年龄组|年齡組|年齢階級|年齢層",
    "sex": "性别|性別|성별|φυλο|cinsiyet",
    "birth": "出生|生年|출생|γεννησ|szulet",
    "region": "地区|地區|省份|都道府県|지역|시도|περιφερει",
    "education": "教育|学历|學歷|학력|εκπαιδευσ|iskolai vegzettseg|ogrenim durumu",
    "marital": "婚姻|配偶関係|혼인|οικογενειακη κατασταση|csaladi allapot|medeni durum",
    "occupation": "职业|職業|직업|επαγγελμα|foglalkozas|meslek",
    "nationality": "国籍|國籍|국적|υπηκοοτητα|allampolgar|uyruk",
    "income": "收入|所得|年収|소득|수입|임금|εισοδημα|jovedelem|gelir|venit",
    "disease": "健康|疾病|疾患|病名|诊断|診斷|診断|건강|질병|질환|진단|υγεια|ασθενει|egeszseg|betegseg|saglik|hastalik",
    "smoking": "吸烟|吸菸|喫煙|흡연|καπνισ|dohany|sigara",
    "alcohol": "饮酒|飲酒|음주|αλκοολ|alkohol|alkollu",
    "disability": "残疾|殘障|身心障礙|障害|장애|αναπηρι|fogyatek|engelli",
    "religion": "宗教|信仰|종교|θρησκ|vallas",
}
"""The parts of words in further languages, by the English word that they mean; those in Latin letters begin words."""
_FURTHER = {
    word: re.compile("|".join(rf"\b{each}" if each.isascii() else plain_text(each) for each in parts.split("|")))
    for word, parts in _TRANSLATED.items()
}


def column_words(name: str) -> set[str]:
    """Return the words of a name, without the accents of its letters."""
    plain = plain_text(name)
    words = set(re.findall(r"[a-z]+[0-9]*|[0-9]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", plain).lower()))
    return words | {word for word, parts in _FURTHER.items() if parts.search(plain.lower())}


def with_edition(text: str) -> str:
    """Return a text in which the ICD and its edition are one word."""
    return re.sub(r"(?i)\b(?:icd|cid|cie|cim|mkn)[- ]?(9|10)\b", r"icd\1", text)


def role_of(words: set[str], *, listed: bool) -> Role | None:
    """Return the role that words suggest. A column whose values are `listed` identifies nobody by itself."""
    for role, known in ROLES.items():
        if listed and role is Role.DIRECT_IDENTIFIER:
            continue
        hits = words & set(known)
        is_number = len(words) <= LONGEST_NAME and bool(NUMBERS & words) and "of" not in words
        hits |= words & NUMBERED if role is Role.DIRECT_IDENTIFIER and is_number else set()
        if role is Role.DIRECT_IDENTIFIER and not (is_number or hits == words - _PARTS):
            continue  # `name of country` names nobody
        if hits:
            return role
    return None
