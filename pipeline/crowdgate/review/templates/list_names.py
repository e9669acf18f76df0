"""The names of lists of codes, as rows of variables and titles of lists write them: `číselník KRAJ`, `CL.SEX`."""

import re
from collections.abc import Iterable, Mapping, Sequence

_LIST = "|".join(
    (
        r"code ?-?lists?|code ?sets?|value ?sets?|lists?|look-?ups?|tables?|see|cl|codes?|coding|format|domain",
        r"kodeverk|kodeliste?r?|kodlist[ae]?|kodtabell|schlüssel(?:verzeichnis|liste|tabelle)?|tabell?en?|siehe|liste",
        r"katalog|voir|nomenclatures?",
        r"cat[áa]log[oe]|tablas?|lista(?: de c[óo]digos)?|ver|codelijst|codetabel|lijst|zie|tabel",
        r"se|číselník\w*|viz|pozri|słownik|koodisto|luokitus|(?:koodi)?loend|klassifikaator|vt|tabela|kódlista|kódszótár",
        r"コード表|コードリスト|コード|코드표|码表|代码表",
        r"for|of|für|de|von|zu|variable|book|tbl|labels?|values?|valores|waarden|modalit\w+|c[oó]digos?",
    )
)
"""The words for a list of codes, and those that refer to one, in several languages."""
_WORDS = re.compile(rf"(?<![^\W_])(?:{_LIST})(?![^\W_])", re.IGNORECASE)
_HEADING = re.compile(
    "|".join(
        (
            r"code ?-?(?:lists?|sets?|table)|value ?-?sets?|look-?up\w*|kodeverk|kodeliste?|kodlist[ae]?",
            r"codelijst|codetabel|schlüsselverzeichnis|číselník\w*|kodtabell|klassifikaator|koodiloend|koodisto|kódlista|słownik|catálogo",
            r"コード表|コードリスト|코드표|码表|代码表|list(?:e|a)?(?: name)?|nomenclature|diccionario",
            r"šifrant\w*|šifrarnik|kodni popis|номенклатур\w*|класификатор\w*|классификатор\w*|справочник\w*",
        )
    ),
    re.IGNORECASE,
)
LEAST_WORD = 2
"""The least length of a name that is found among other words."""


def is_list_heading(heading: str) -> bool:
    """Return whether the names of lists stand below a heading."""
    return bool(_HEADING.search(heading.replace("_", " ")))


def list_name(text: str) -> str:
    """Return the name of a list without words for one, and without what stands in brackets behind it, in lower case."""
    bare = re.sub(r"\s*[(\[][^()\[\]]*[)\]]\s*$", "", text.strip()) or text
    words = re.sub(r"^[\W_]+|[\W_]+$", "", " ".join(_WORDS.sub(" ", bare).split()))
    return (words or text.strip()).casefold()


def _title_names(title: str) -> set[str]:
    """Return the names that a title can give to a list: all of it, its start before a mark, and what is in brackets."""
    start = re.match(r"(\S{2,})\s*[:–—(]", title) or re.match(r"(\S{2,})\s+-\s", title)
    behind = re.search(r"\(([^()\s]+)\)$", title.strip())
    found = [title, *([start[1]] if start else []), *([behind[1]] if behind else [])]
    return {list_name(each) for each in found}


def titles_by_name(titles: Iterable[str]) -> dict[str, str]:
    """Return the title of each list by each of its names; the first of several lists with one name."""
    return {name: title for title in reversed([*titles]) for name in _title_names(title)}


def named_title(name: str, texts: Sequence[str], titles: Mapping[str, str]) -> str | None:
    """Return the title of the list that the row of a variable names: by a text that is its name, or has it beside a
    word for lists, or else by the name of the variable.
    """
    exact = [titles[found] for text in texts if (found := list_name(text)) in titles and text != name.casefold()]
    worded = (text for text in texts if _WORDS.search(text))
    inside = [titles[each] for text in worded for each in sorted(titles, key=len, reverse=True) if _has(text, each)]
    own = titles.get(name.casefold())
    return next(iter([*exact, *inside, *([own] if own else [])]), None)


def _has(text: str, name: str) -> bool:
    """Return whether a text has a name as a word of its own."""
    return len(name) >= LEAST_WORD and bool(re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", text.casefold()))
