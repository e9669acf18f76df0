"""Statements of codebooks on the missing codes of all variables: `Unless stated otherwise, -1 means no answer`."""

import re

_OF_ALL = re.compile(
    "".join(
        (
            r"\b(?:all|every|each) (?:other )?(?:columns?|variables?|fields?|items?|questions?)\b",
            r"|\b(?:unless|where|if) (?:it is )?(?:not|otherwise) (?:otherwise )?",
            r"(?:noted|stated|specified|indicated)\b",
            r"|\bunless (?:noted|stated|specified) otherwise\b",
            r"|\b(?:soweit|sofern|wenn|falls) nicht anders\b|\bin allen (?:variablen|merkmalen|spalten)\b",
            r"|\bsauf (?:indication|mention) contraire\b|\btoutes les (?:variables|colonnes)\b",
            r"|\bsalvo (?:indicación|que se|diversa|indicação)\b|\btodas las (?:variables|columnas)\b",
            r"|\btodas as variáveis\b",
            r"|\btutte le variabili\b|\btenzij anders\b|\balle variabelen\b|\bom inget annat anges\b",
            r"|\balla variabler\b",
            r"|\b(?:hvis|med mindre) (?:ikke )?andet\b|\b(?:alle|i alle) variabler\b",
        )
    ),
    re.IGNORECASE,
)
_CODE = re.compile(r"(?<![\w.,-])(?:-\d{1,4}|9{2,4}|([78])\1{1,3}|9{1,3}[78])(?![\w-]|[.,]\d)")
_CELLS = re.compile(
    r"^[ \t]*(?:cards4?|datalines4?|lines|begin data|inp(?:ut)?|insert into|copy)\b", re.IGNORECASE | re.MULTILINE
)
"""The start of cells within a program, of which nothing is ever quoted."""
_SENTENCES = re.compile(r"(?<=[.!?;])\s+|\n[ \t]*\n|\n(?=[ \t]*[*/#=_-]{3})")
LONGEST_SENTENCE = 300
"""The greatest length of a statement that is quoted."""


def general_missing(text: str) -> str:
    """Return the first sentence of a text that names missing codes of all variables; empty if there is none. Nothing
    from the first cells within a program on is read.
    """
    text = _CELLS.split(text, maxsplit=1)[0]
    plain = (" ".join(each.split()).strip(" */#-=.") for each in _SENTENCES.split(text))
    found = (each for each in plain if len(each) <= LONGEST_SENTENCE and _OF_ALL.search(each) and _CODE.search(each))
    return "".join(each for each in next(found, "") if each.isprintable())
