"""The headings of data dictionaries, in several languages, and the places of their columns."""

import re
from collections.abc import Sequence

from crowdgate.review.templates.codebook_values import listed_values
from crowdgate.review.templates.dictionary_types import stated_type
from crowdgate.sources.table_header import CellType

MOST_ROWS = 1000
"""The number of rows below the headings from which the columns are recognized."""
HEADINGS = {
    "name": (
        "variable / field name", "variable name", "field name", "column name", "variable", "varname", "field",
        "column", "element name", "data element", "attribute", "spalte", "variablenname", "feldname", "name", "id",
        "column heading", "heading", "item", "merkmal", "merkmalsname", "nom de la variable", "nom", "nombre", "nome",
        "campo", "naam", "variabel", "variabelnavn", "variabelnamn", "nazwa", "zmienna",
    ),
    "label": (
        "label", "variable label", "field label", "question", "title", "bezeichnung", "libellé", "etiqueta", "rótulo",
        "etichetta", "omschrijving", "etykieta", "etikett",
    ),
    "description": (
        "description", "definition", "variable description", "beschreibung", "comment", "bemerkung", "descripción",
        "descrição", "descrizione", "beskrivelse", "beskrivning", "opis", "notes", "remarks",
    ),
    "type": (
        "data type", "datatype", "field type", "type", "datentyp", "typ", "format", "data format", "variable type",
        "tipo", "tipo de dato", "tipo de dado", "datatyp", "datatype", "type de données",
    ),
    "check": ("text validation type or show slider number", "text validation type", "validation"),
    "values": (
        "values", "value labels", "choices calculations or slider labels", "select choices or calculations", "choices",
        "codes", "code set", "code list", "codelist", "allowed values", "permissible values", "valid values",
        "possible values", "enumeration", "categories", "coding", "response options", "value", "code", "werte",
        "ausprägungen", "auspraegungen", "auspragungen", "wertelabels", "valid codes", "ausprägung", "schlüssel",
        "modalités", "valeurs", "valores", "categorías", "categorias", "códigos", "domínio", "valori", "modalità",
        "waarden", "codering", "verdier", "värden", "værdier", "koder", "wartości", "kod", "kode",
    ),
    "value label": (
        "value label", "code label", "category label", "level label", "value description", "code description",
        "label of value", "category", "meaning", "bedeutung", "code meaning", "value meaning", "klartext",
    ),
    "range": ("range", "valid range", "value range", "wertebereich", "bereich", "plage", "rango", "bereik"),
    "least": ("text validation min", "minimum", "min", "lower bound", "min value", "from", "von"),
    "greatest": ("text validation max", "maximum", "max", "upper bound", "max value", "to", "bis"),
    "missing": (
        "missing", "missing values", "missing codes", "missingvaluecodes", "missing value codes",
        "missing code", "missing value", "na", "na values", "na codes", "fehlend", "fehlende werte", "fehlwerte",
        "valeurs manquantes", "valores perdidos", "valores ausentes", "ontbrekend", "manglende", "saknas", "braki",
    ),
    "identifier": ("identifier", "is identifier", "pii"),
}  # fmt: skip
"""The headings of data dictionaries, each in order of preference, without marks and in lower case."""

_WORDS = {
    "missing": r"missing|fehl\w*|manquant\w*|perdid\w*|ausent\w*|ontbrek\w*|mangl\w*|sakna[st]|brak\w*",
    "value label": r"klarte(?:x|ks)t|meaning|bedeutung|significad\w+|signification|betekenis|betydning|betydelse",
    "values": r"values?|codes?|verdier|værdier|värden|koder|valores|valeurs|valori|waarden|werte|ausprägung\w*"
    r"|[ck]ategor\w+|modalit\w+|choices|options|wartości|códigos?|codici",
    "label": r"labels?|libell\w+|etiquet\w+|etichet\w+|rótulo|title|question|bezeichnung",
    "description": r"descri\w+|beskriv\w+|beschreib\w+|omschrijv\w+|definition|opis",
    "type": r"types?|tipo|datatyp\w*|formato?",
}
"""The words in other headings, in order of precedence."""


def known_headings(row: Sequence[str]) -> int:
    """Return how many of the cells of a row are known headings."""
    return len({each for known in HEADINGS.values() for each in known} & {*_folded(row)})


def _folded(row: Sequence[str]) -> list[str]:
    """Return the cells of a row without marks and in lower case."""
    return [" ".join(re.sub(r"[^\w/ ]", " ", each.lower().replace("_", " ")).split()) for each in row]


def _cells(rows: Sequence[Sequence[str]], at: int) -> list[str]:
    """Return the cells of a column that are not empty."""
    return [each[at].strip() for each in rows if at < len(each) and each[at].strip()]


def _is_list(cell: str) -> bool:
    """Return whether a cell lists values or states a range."""
    found = listed_values(cell)
    return bool(found.values or found.bounds)


def _is_type(cell: str) -> bool:
    """Return whether a cell states a type."""
    return stated_type(cell).type is not CellType.UNKNOWN


def places(row: Sequence[str], below: Sequence[Sequence[str]], table: frozenset[str]) -> dict[str, int]:
    """Return the place of each known heading in a row; none if the row has no headings of a data dictionary. Of
    several places for names, and without a known heading for them, it is the one with most names of `table` in the rows
    below; these are in lower case. Columns most of whose cells are lists of values, or types, need no known heading.
    """
    heads = _folded(row)
    found = {
        key: heads.index(next(each for each in known if each in heads))
        for key, known in HEADINGS.items()
        if any(each in heads for each in known)
    }
    for at, each in enumerate(heads):
        key = next((key for key, words in _WORDS.items() if re.search(rf"\b(?:{words})\b", each)), None)
        if key is not None and key not in found and at not in found.values():
            found[key] = at
    below = below[:MOST_ROWS]
    hits = [sum(each.casefold() in table for each in _cells(below, at)) for at in range(len(heads))]
    named = [at for at, each in enumerate(heads) if each in HEADINGS["name"]]
    taken = {at for key, at in found.items() if key != "name"}
    best = max((at for at in range(len(heads)) if heads[at] and at not in taken), key=lambda at: hits[at], default=None)
    if best is not None and hits[best] > max((hits[at] for at in named), default=0):
        found["name"] = best
    elif named:
        found["name"] = max(named, key=lambda at: (hits[at], at == found["name"]))
    for key, is_one in (("values", _is_list), ("type", _is_type)):
        unknown = [at for at, each in enumerate(heads) if each and at not in found.values()]
        fit = [at for at in unknown if 2 * sum(map(is_one, cells := _cells(below, at))) > len(cells)]
        found |= {} if key in found or not fit else {key: fit[0]}
    return found if "name" in found and len(found.keys() & {"label", "description", "values", "type"}) > 0 else {}
