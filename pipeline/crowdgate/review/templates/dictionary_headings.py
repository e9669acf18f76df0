"""The headings of data dictionaries, in several languages, and the places of their columns."""

import re
from collections.abc import Sequence
from itertools import pairwise

from crowdgate.domain import parse_number
from crowdgate.review.templates.codebook_values import ANSWERS, listed_values
from crowdgate.review.templates.dictionary_types import stated_type
from crowdgate.review.templates.figure_columns import FIGURE
from crowdgate.review.templates.stated_decimals import are_decimals
from crowdgate.review.templates.stated_ranges import range_ends
from crowdgate.review.templates.stated_roles import stated_role
from crowdgate.sources.table_header import CellType

EARLIEST_YEAR, LATEST_YEAR = 1900, 2100
MOST_ROWS = 1000
"""The number of rows below the headings from which the columns are recognized."""
HEADINGS = {
    "name": (
        "variable / field name", "variable name", "field name", "column name", "variable", "varname", "field",
        "column", "element name", "data element", "attribute", "spalte", "variablenname", "feldname", "name", "id",
        "column heading", "heading", "item", "merkmal", "merkmalsname", "nom de la variable", "nom", "nombre", "nome",
        "campo", "naam", "variabel", "variabelnavn", "variabelnamn", "nazwa", "zmienna", "cod var",
        "nazwa pola", "nazwa kolumny", "nazwa zmiennej", "proměnná", "název proměnné", "kolom", "kolomnaam",
        "veldnaam",
        "nome campo", "nome da variável", "variável", "nombre de la variable", "nom du champ", "champ", "kolumn",
        "muuttuja", "muuttujan nimi", "tunnus", "tunnuse nimi", "premenná", "変数名", "変数",
        "değişken", "değişken adı", "alan adı", "μεταβλητή", "όνομα μεταβλητής", "változó", "változónév",
        "változó neve", "variabilă", "nume variabilă", "变量", "变量名", "变量名称", "字段名", "字段",
        "变数名", "變數", "變數名稱", "欄位名稱",
        "ime spremenljivke", "spremenljivka", "ime polja", "polje", "ime varijable", "naziv varijable", "varijabla",
        "име на променлива", "променлива", "поле", "име", "имя переменной", "переменная", "назва змінної", "змінна",
        "변수명", "변수", "항목명", "컬럼명",
    ),
    "label": (
        "label", "short", "short description",
        "variable label", "field label", "question", "title", "caption", "bezeichnung", "libellé",
        "etiqueta",
        "rótulo", "etichetta", "omschrijving", "etykieta", "etikett", "lib var", "selite", "項目名",
        "項目", "ラベル", "変数ラベル",
        "etiket", "değişken etiketi", "ετικέτα", "megnevezés", "címke", "változó címke", "denumire", "etichetă",
        "变量标签", "变量名称说明", "中文名称", "标签", "變數標籤", "中文名稱", "변수설명", "변수 설명",
        "라벨", "변수라벨", "한글명", "항목설명",
    ),
    "description": (
        "description", "definition", "variable description", "beschreibung", "descripción", "descrição",
        "descrizione",
        "beskrivelse", "beskrivning", "opis",
        "açıklama", "tanım", "περιγραφή", "leírás", "descriere", "变量说明", "字段说明", "说明", "含义",
        "描述", "變數說明", "說明",
        "설명", "内容説明", "vsebina", "sadržaj", "описание", "наименование", "опис", "найменування",
    ),
    "notes": (
        "notes", "remarks", "comment", "comments", "note", "bemerkung", "bemerkungen", "anmerkung", "observaciones",
        "observações", "remarques", "observations", "opmerkingen", "merknad", "anmärkning", "uwagi",
        "not", "notlar", "παρατηρήσεις", "σημειώσεις", "megjegyzés", "observații", "备注", "備註", "注释",
        "비고", "備考", "opombe", "opomba", "napomena", "napomene", "забележка", "забележки", "бележки", "примечание",
        "примечания", "примітка", "примітки",
    ),
    "type": (
        "data type", "datatype", "field type", "type", "datentyp", "typ", "format", "data format", "variable type",
        "type of variable",
        "type of data", "storage type",
        "tipo", "tipo de dato", "tipo de dado", "datatyp", "datatype", "type de données",
        "tip podatka", "tip podatkov", "tip varijable", "vrsta podatka", "тип", "вид", "тип данни", "тип данных",
        "tür", "tip", "veri tipi", "veri türü", "τύπος", "típus", "tip de date", "类型", "数据类型",
        "变量类型", "字段类型",
        "資料型態", "類型", "자료형", "자료유형", "데이터 타입", "타입", "データ型", "型",
    ),
    "check": ("text validation type or show slider number", "text validation type", "validation"),
    "values": (
        "values", "value labels", "choices calculations or slider labels", "select choices or calculations",
        "choices",
        "codes", "code set", "code list", "codelist", "allowed values", "permissible values", "valid values",
        "possible values", "enumeration", "categories", "coding", "response options", "value", "code",
        "code or value",
        "value or code", "codes or values", "values or codes", "code/value", "value/code", "code / value",
        "value / code", "code value", "coded value",
        "submission value", "term", "werte", "ausprägungen", "auspraegungen", "auspragungen", "wertelabels",
        "valid codes", "ausprägung", "schlüssel",
        "modalités", "valeurs", "valores", "categorías", "categorias", "códigos", "domínio", "valori", "modalità",
        "waarden", "codering", "verdier", "värden", "værdier", "koder", "wartości", "kod", "kode", "cod mod",
        "kodlar", "değerler", "kod listesi", "τιμές", "κωδικοί", "értékek", "kódok", "értékkészlet", "valori",
        "coduri", "取值", "取值范围", "值域", "编码", "代码", "代码值", "选项", "值", "取值說明", "代碼",
        "選項", "值域範圍", "코드값", "코드", "값",
        "zaloga vrednosti", "vrednosti", "vrijednosti", "šifra", "šifre", "kodovi", "стойности", "стойност", "код",
        "кодове", "значения", "коды", "значення", "коди",
        "범위", "보기", "コード値", "値",
    ),
    "value label": (
        "decoded value", "decode", "display", "display name", "preferred term",
        "value label", "code label", "category label", "level label", "value description", "code description",
        "label of value", "category", "code meaning", "value meaning", "lib mod",
        "değer etiketi", "kod açıklaması", "ετικέτα τιμής", "érték címke", "kód jelentése", "值标签", "值说明",
        "代码名称",
        "代码说明", "名称", "代碼說明", "代碼名稱", "코드명", "코드설명", "코드 설명", "값 설명", "명칭",
        "値ラベル", "コード名", "naziv", "naziv šifre", "opis šifre", "значение на кода", "расшифровка",
    ),
    "range": ("range", "valid range", "value range", "wertebereich", "bereich", "plage", "rango", "bereik", "razpon",
              "raspon", "обхват", "диапазон", "діапазон", "有効範囲",
        "範囲", "値の範囲", "入力範囲", "범위값", "有效范围", "値域"),
    "least": ("text validation min", "minimum", "min", "lower bound", "min value", "from", "von", "low", "low value",
              "lowest", "lower", "lower limit", "value from", "from value", "start value", "od", "van",
              "desde", "fra"),
    "greatest": ("text validation max", "maximum", "max", "upper bound", "max value", "to", "bis", "high",
                 "high value", "highest", "upper", "upper limit", "value to", "to value", "end value", "do", "tot",
                 "hasta", "til"),
    "missing": (
        "missing", "missing values", "missing codes", "missingvaluecodes", "missing value codes",
        "missing code", "missing value", "na", "na values", "na codes", "fehlend", "fehlende werte", "fehlwerte",
        "null / unknown value", "null value", "null values", "unknown value", "missing value s", "valeurs manquantes",
        "valores perdidos", "valores ausentes", "ontbrekend", "manglende", "saknas", "braki",
        "kayıp değer", "kayıp değerler", "kayıp", "ελλείπουσες τιμές", "ελλείπουσες", "hiányzó érték",
        "hiányzó értékek", "valori lipsă", "缺失值", "缺失", "缺失代码", "遺漏值", "缺漏值", "결측값",
        "결측치", "결측", "欠損値", "欠測値", "manjkajoče vrednosti", "manjkajoče", "nedostajuće vrijednosti",
        "nedostajuće vrednosti", "липсващи стойности", "пропущенные значения", "пропуски",
    ),
    "identifier": ("identifier", "is identifier", "pii"),
    "role": ("sensitivity", "confidentiality", "privacy role", "identifiability", "disclosure risk", "disclosure",
        "hassasiyet", "gizlilik", "ευαισθησία", "érzékenység", "敏感性", "敏感级别", "隐私级别", "機密性",
        "민감도", "민감정보", "機微性",
    ),
    "length": ("len", "length", "width", "länge", "längd", "lengde", "længde", "longueur", "longitud", "lunghezza",
               "lung", "lengte", "tamanho", "largura", "długość", "délka", "field length", "feldlänge",
        "dolžina", "duljina", "dužina", "дължина", "длина", "довжина",
        "uzunluk", "μήκος", "hossz", "lungime", "长度", "字段长度", "長度", "길이", "자릿수", "桁数", "バイト数",
    ),
    "decimals": (
        "significant digits", "decimals", "decimal places", "decimal", "dec", "number of decimals", "decimal digits",
        "nachkommastellen", "dezimalstellen", "décimales", "decimales", "casas decimais", "decimali", "decimalen",
        "decimaler", "desimaler", "miejsca po przecinku", "desetinná místa", "desatinné miesta",
        "počet desetinných míst",
        "komakohad", "desimaalit", "小数桁数", "小数点以下桁数", "小数位数", "소수점",
    ),
}  # fmt: skip
"""The headings of data dictionaries, each in order of preference, without marks and in lower case."""

_WORDS = {
    "role": "|".join(
        (
            r"sensi[tb]\w*|confiden\w*|sigilo|känslig\w*|gevoelig\w*|vertraulich\w*|vertrouwelijk\w*|schutz\w*"
            r"|følsomhe\w*|fortrolig\w*|wrażliw\w*|poufno\w*|citlivos\w*|důvěrn\w*|riservatezza|privacy",
            r"identifiab\w*|disclosure|personopp?lysning\w*|personuppgift\w*|personenbezug|personenbezogen\w*|gdpr|dsgvo"
            r"|personal data|dat[io] personal[ei]s?|données personnelles|persoonsgegevens|dane osobowe|osobní údaj\w*",
        )
    ),
    "missing": "|".join(
        (
            r"missing|fehl\w*|manquant\w*|perdid\w*|ausent\w*|mancant\w*|ontbrek\w*|mangl\w*|sakna[st]|brak\w*|chyb\w*",
            r"null (?:/ )?(?:or )?(?:unknown )?(?:values?|codes?)|unknown (?:values?|codes?)|uoplyst|ukendt|uoppgitt",
            r"(?:não|sem) resposta|no respuesta|non[- ]?réponse|non risposta|non[- ]?response|nonrespons|antwortausfall"
            r"|special (?:values?|codes?)|sentinel|sonderwerte?|sondercodes?",
            r"puuttu\w+|puuduv\w*|chýbaj\w+|欠損値?|欠測値?",
        )
    ),
    "value label": r"klarte(?:x|ks)t|meaning|bedeutung|significad\w+|signification|betekenis|betydning|betydelse"
    r"|znaczenie|význam|nimetus|názov|significato|nimike|selitys",
    "values": r"values?|codes?|verdier?|værdier?|värden?|koder|valor(?:es|[ei])?|valeurs?|waarden?|werte?|ausprägung\w*"
    r"|[ck]ategor\w+|modalit\w+|choices|options|wartości|códigos?|codici|dom[ií]nio|udfaldsrum|hodnot[ya]|číselník|kodeliste?|codifica\w*|codering|[kc]odierung|kodning|coding|codage"
    r"|väärtus\w*|kood|koodid|värdemängd|antwoord\w*|kody|luokitus|luokat|koodi|koodit|koodisto|arvot"
    r"|選択肢|コード|符号",
    "range": r"ranges?|vahemik|範囲|有効範囲|zakres\w*|rozsah|wertebereich|plage|rango|interval\w*|bereik",
    "label": r"labels?|libell\w+|etiquet\w+|etichet\w+|etykiet\w+|rótulo|title|question|bezeichnung|název|benämning"
    r"|benævnelse|intitulé",
    "description": r"descri\w+|\w*beskriv\w+|\w*beschreib\w+|\w*omschrijv\w+"
    r"|\w*kirjeldus|kuvaus|説明|内容|definition|definición|opis|popis|inhoud|inhalt",
    "type": r"\w*tüüp|\w*typ(?:e[sn]?|o|u)?|tipo|datatyp\w*|form(?:at|ato|aat|át)|soort|druh|tyyppi"
    r"|型|データ型",
    "notes": r"notes?|remarks?|comments?|commentaires?|remarques?|observa\w+|bemerk\w+|anmerk\w+|bijzonderhe\w+"
    r"|opmerking\w*|uwagi|poznámk\w*|bemærkning\w*|merknad\w*|anmärkning\w*|hinweise?|komment\w+|märkus\w*|huomautu\w+|lisätie\w+",
}
"""The words in other headings, in order of precedence."""
_OTHERS = re.compile(
    r"\b(examples?|samples?|defaults?|number|count|n|beispiele?|anzahl|ejemplos?|exemp[lo]es?|exemplos?|voorbeeld\w*|referen\w*|normal\w*|norme?)\b"
)
"""The words in headings of examples, defaults and counts, which say nothing of what a column can hold."""

_FOREIGN = re.compile(
    r"\b(?:nci|umls|snomed|sct|loinc|cui|mesh|omop|concepts?|ontology|external|mapped|mapping|uri|oid|legacy)\b"
)
"""The words in headings of codes that stand for the same in classifications of others."""
_FLAG = re.compile(rf"[ynjosx✓]|allowed|nullable|not null|{ANSWERS.pattern}", re.IGNORECASE)
"""The cells below a heading such as `Null values allowed`, which are no codes."""


_COUNTS = re.compile(
    r"(?:un)?weighted.*|(?:cum\w*\W*)?(?:rel\w*\W*)?(?:freq\w*|perc\w*|pct|%|share).*|n|obs\w*|counts?|cases?|number.*"
    r"|anzahl|h(?:ä|ae)ufigkeit\w*|gewichtet\w*|prozent|effectifs?|pond(?:é|e)r\w*|frecuencia\w*|casos|fr[eé]q\w*"
    r"|freq(?:u|ü)(?:ê|e)nc\w*|aantal\w*|antal\w*|procent\w*|prosent\w*|porcent\w*|pourcent\w*|percentu\w*|liczba|liczebność|počet",
    re.IGNORECASE,
)
"""The headings of counts and shares."""


def is_count_heading(heading: str) -> bool:
    """Return whether counts or shares stand below a heading."""
    return bool(_COUNTS.fullmatch(heading.strip()))


def heading_key(heading: str) -> str:
    """Return what a heading says that stands below it, other than names; empty if it, without what stands in
    brackets, is not known.
    """
    head = _folded([re.sub(r"\([^()]*\)", "", heading)])[0]
    known = (key for key, each in HEADINGS.items() if key != "name" and head in each)
    return next(known, "") or next((key for key, words in _WORDS.items() if re.fullmatch(words, head)), "")


def heading_key_by_word(heading: str) -> str:
    """Return what a heading with a known word says that stands below it; empty if it has none."""
    return next(iter(_by_heading(_folded([heading]))), "")


def known_headings(row: Sequence[str]) -> int:
    """Return how many of the cells of a row are known headings."""
    return len({each for known in HEADINGS.values() for each in known} & {*_folded(row)})


def _folded(row: Sequence[str]) -> list[str]:
    """Return the cells of a row without marks and in lower case."""
    return [" ".join(re.sub(r"[^\w/ ]", " ", each.lower().replace("_", " ")).split()) for each in row]


def _cells(rows: Sequence[Sequence[str]], at: int) -> list[str]:
    """Return the cells of a column that are not empty."""
    return [each[at].strip() for each in rows if at < len(each) and each[at].strip()]


def _are_lists(cells: Sequence[str]) -> bool:
    """Return whether most cells list values or state a range, and one has labels: else ranges may be those of years in
    which a variable was asked, or of positions in a line.
    """
    found = [listed_values(each) for each in cells]
    has_labels = any(label for each in found for _, label in each.values)
    return has_labels and 2 * sum(bool(each.values or each.bounds) for each in found) > len(cells)


def _are_ranges(cells: Sequence[str]) -> bool:
    """Return whether most cells are ranges of numbers or days, which overlap, as positions in a line do not; and not
    all of years, as of those in which variables were asked.
    """
    ends = [found for each in cells if (found := range_ends(each))]
    numbers = [(parse_number(low), parse_number(high)) for low, high in ends]
    plain = [(low, high) for low, high in numbers if low is not None and high is not None]
    are_years = all(low >= EARLIEST_YEAR and high <= LATEST_YEAR for low, high in plain)
    are_positions = all(low > end for (_, end), (low, _) in pairwise(plain))
    return 2 * len(ends) > len(cells) > 1 and len(plain) > 1 and not are_years and not are_positions


def _are_types(cells: Sequence[str]) -> bool:
    """Return whether most cells state a type."""
    return 2 * sum(stated_type(each).type is not CellType.UNKNOWN for each in cells) > len(cells)


def _are_roles(cells: Sequence[str]) -> bool:
    """Return whether most of several cells state a role."""
    return 2 * sum(stated_role(each) is not None for each in cells) > len(cells) > 1


def lost_facts(heading: str, cells: Sequence[str]) -> str:
    """Return what is lost with a heading that is not used: missing codes or roles; empty if it seems to be neither."""
    said = {"missing": "missing codes", "role": "roles"}
    key = heading_key_by_word(heading)
    stated = [each for each in map(listed_values, filter(None, cells)) if each.values or each.bounds or each.missing]
    if key in ("values", "range") and stated:
        return "values"
    return said.get(key, "") or ("roles" if _are_roles([each.strip() for each in cells if each.strip()]) else "")


def _are_labels(cells: Sequence[str]) -> bool:
    """Return whether most cells are words, and hardly one recurs: else they may be types, sources or groups."""
    words = [each for each in cells if len(re.findall(r"[^\W\d_]{2,}", each)) > 1]
    return 2 * len(words) > len(cells) > 1 and 10 * len(set(cells)) >= 9 * len(cells)


def places(row: Sequence[str], below: Sequence[Sequence[str]], table: frozenset[str]) -> dict[str, int]:
    """Return the place of each known heading in a row; none if the row has no headings of a data dictionary. Columns
    most of whose cells are lists of values, types or words of their own need no known heading. `table`
    has names in lower case.
    """
    heads, rows = _folded(row), below[:MOST_ROWS]
    name = _place_of_names(heads, rows, table)
    if name is None:
        return {}
    if heads[name] in table and heads[name] not in HEADINGS["name"]:
        return {}  # a row about a variable
    if any(parse_number(each) is not None for each in row):
        return {}  # a row about a value
    others = ["" if at == name else each for at, each in enumerate(heads)]
    found = {"name": name} | _by_heading(others)
    if (
        "missing" in found
        and re.search(r"\bnull|allow", heads[found["missing"]])
        and all(map(_FLAG.fullmatch, _cells(rows, found["missing"])))
    ):
        del found["missing"]
    names = _cells(rows, name)
    are_unique = len(set(names)) == len(names)
    has_row_each = (are_unique and len(names) == len(rows)) or (
        "values" not in found and (are_unique or not found.keys() & {"least", "greatest"})
    )
    if "value label" in found and has_row_each and not found.keys() & {"label", "description"}:
        found["label"] = found.pop("value label")
    if "values" in found and "value label" not in found and not (are_unique and len(names) == len(rows)):
        found |= _labels_of_values(heads, rows, found)
    inferred = (
        ("values", _are_lists),
        ("range", _are_ranges),
        ("type", _are_types),
        ("role", _are_roles),
        ("label", _are_labels),
        ("decimals", are_decimals),
    )
    for key, are_those in inferred:
        free = [at for at, each in enumerate(heads) if each and not _OTHERS.search(each) and at not in found.values()]
        is_known = (
            key in found
            or (key == "range" and "least" in found)
            or (key == "label" and found.keys() & {"label", "description"})
        )
        fit = [at for at in free if not is_known and are_those(_cells(rows, at))]
        found |= dict(zip([key], fit, strict=False))
    return found if found.keys() & {"label", "description", "notes", "values", "type"} else {}


def _labels_of_values(heads: Sequence[str], rows: Sequence[Sequence[str]], found: dict[str, int]) -> dict[str, int]:
    """Return the place of the labels of values beside the codes of a row for each value: the first one under a heading
    of labels whose cells differ where the name does not, if the known labels are those of variables.
    """
    known = [at for key in ("label", "description") if (at := found.get(key)) is not None]
    if any(_differ_within(rows, found, at) for at in known):
        return {}
    free = [at for at, each in enumerate(heads) if each and at not in found.values()]
    keys = ("label", "description", "value label", "values")
    fit = [
        at for at in free if heading_key_by_word(heads[at]) in keys and not any(map(FIGURE.fullmatch, _cells(rows, at)))
    ]
    first = next((at for at in fit if _differ_within(rows, found, at)), None)
    return {} if first is None else {"value label": first}


def _differ_within(rows: Sequence[Sequence[str]], found: dict[str, int], at: int) -> bool:
    """Return whether the cells of a column differ between most rows of values that follow each other for one name."""
    name, last = "", ""
    same, other = 0, 0
    for row in rows:
        own, cell = (row[each].strip() if each < len(row) else "" for each in (found["name"], at))
        if cell and last and own in ("", name):
            same, other = same + (cell == last), other + (cell != last)
        name, last = own or name, cell if own in ("", name) or own else ""
    return other > same


def places_of_codes(row: Sequence[str]) -> tuple[int, int] | None:
    """Return the places of codes and of their labels in a row of headings, which stand beside them if they have no
    known heading; None if no cell is a heading of codes.
    """
    heads = _folded(row)
    found = _by_heading(heads)
    if "values" not in found:
        return None
    at = found["values"]
    label = next((found[key] for key in ("value label", "label", "description") if key in found), at + 1)
    is_heading = re.fullmatch(_WORDS["values"], heads[at]) or heads[at] in HEADINGS["values"]
    return (at, label) if is_heading and label < len(heads) else None


def _by_heading(heads: Sequence[str]) -> dict[str, int]:
    """Return the place of each heading that is known, or has a known word, except that of names."""
    found = {
        key: heads.index(next(each for each in known if each in heads))
        for key, known in HEADINGS.items()
        if key != "name" and any(each in heads for each in known)
    }
    for at, each in sorted(enumerate(heads), key=lambda pair: bool(_FOREIGN.search(pair[1]))):
        said = [key for key, words in _WORDS.items() if re.search(rf"\b(?:{words})\b", each)]
        key = said[0] if said else None
        if key == "values" in found and {"label", "description"} & {*said}:
            key = "value label"  # beside a heading of codes: `Libellé de la modalité`
        if key is not None and not _OTHERS.search(each) and key not in found and at not in found.values():
            found[key] = at
    return found


def _place_of_names(heads: Sequence[str], rows: Sequence[Sequence[str]], table: frozenset[str]) -> int | None:
    """Return the place of the names of variables: where most cells are names of the table, or else by a known heading;
    None if there is neither.
    """
    hits = [sum(each.casefold() in table for each in _cells(rows, at)) for at in range(len(heads))]
    known = [heads.index(each) for each in HEADINGS["name"] if each in heads]
    others = [at for at, each in enumerate(heads) if each]
    best = max([*known, *others], key=lambda at: hits[at], default=None)  # of equal ones the first, a known one
    return best if best is not None and (hits[best] or known) else None
