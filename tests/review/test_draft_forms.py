"""Codebooks in the forms of schemas and offices: each with the facts of its draft."""

from pathlib import Path
from typing import Any

import pytest

from crowdgate.errors import ConfigurationError
from tests.review.drafted_items import Facts, drafted_items
from tests.sources.table_files import write_workbook

QUASI, OTHER, SENSITIVE, DIRECT = "quasi-identifier", "other", "sensitive", "direct-identifier"
SEX: Facts = {"values": ["1", "2"], "labels": {"1": "Male", "2": "Female"}, "missing": ["9"]}
AGES = {"from": "0", "to": "90", "top": "true"}

TABLE_SCHEMA = """\
{"resources": [{"name": "people", "schema": {"fields": [
  {"name": "sex", "type": "integer", "title": "Sex",
   "categories": [{"value": 1, "label": "Male"}, {"value": 2, "label": "Female"}]},
  {"name": "age", "type": "integer", "description": "Age in years", "constraints": {"minimum": 0, "maximum": 110}},
  {"name": "region", "type": "string", "constraints": {"enum": ["N", "S"]}, "missingValues": ["X"]},
  {"name": "inc", "type": "number", "title": "Income", "constraints": {"minimum": 0}}],
  "missingValues": ["", "9"]}}]}
"""
JSON_SCHEMA = """\
{"type": "object", "properties": {
  "sex": {"title": "Sex", "oneOf": [{"const": 1, "title": "Male"}, {"const": 2, "title": "Female"}]},
  "age": {"type": ["integer", "null"], "minimum": 0, "maximum": 110},
  "region": {"enum": ["N", "S", null]},
  "inc": {"type": "string", "pattern": "^[0-9]+$", "title": "Income"}}}
"""
ON_THE_WEB = """\
{"@context": "http://www.w3.org/ns/csvw", "tableSchema": {"primaryKey": "sex", "columns": [
  {"name": "sex", "titles": {"en": "Sex"}, "datatype": "integer"},
  {"name": "age", "titles": "Age", "datatype": {"base": "integer", "minimum": 0, "maximum": 110}, "null": ["-9"]}]}}
"""
DBT = """\
version: 2
models:
  - name: others
    columns: [{name: id}]
  - name: people
    columns:
      - name: sex
        tests: [not_null, {accepted_values: {values: ['1', '2']}}]
      - {name: age, data_type: integer, description: Age in years, meta: {privacy: sensitive}}
      - name: region
        data_tests: [{accepted_values: {arguments: {values: [N, S]}}}, {accepted_values: {values: [W]}}]
"""
LEFT = "CHANGE (each value that can be: {values: [A, B], source: WHERE IT IS PUBLIC}, or {from: 0, to: 99, source:"
FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    # the codebook; the domain of each column, or the end of what is left to decide (None: no domain)
    ".json": (TABLE_SCHEMA, {
        "sex": SEX, "age": {"from": "0", "to": "110", "missing": ["9"]},
        "region": {"values": ["N", "S"], "missing": ["9", "X"]},
        "inc": "of money with step: 100, precision: 1; the codebook b.json says: minimum: 0)",
    }),
    "schema.json": (JSON_SCHEMA, {
        "sex": {"values": ["1", "2"], "labels": SEX["labels"]}, "age": {"from": "0", "to": "110"},
        "region": {"values": ["N", "S"]}, "inc": "says: pattern: ^[0-9]+$)",
    }),
    "csvw.json": (ON_THE_WEB, {"sex": None, "age": {"from": "0", "to": "110", "missing": ["-9"]}, "inc": None}),
    ".yml": (DBT, {"sex": {"values": ["1", "2"]}, "age": AGES, "region": "says: N, S; W)", "inc": None}),
}  # fmt: skip


def check_facts(found: dict[str, Facts], expected: dict[str, Any]) -> None:
    """Compare the domains of a draft with those that are expected: whole ones, or the end of what is left to decide."""
    for name, domain in expected.items():
        stated = found[name].get("domain")
        if isinstance(domain, str):
            assert isinstance(stated, str)
            assert stated.startswith("CHANGE (")
            assert stated.endswith(domain)
        else:
            assert stated == domain, name


@pytest.mark.parametrize("end", FORMS)
def test_fields_of_schemas_become_domains(tmp_path: Path, end: str) -> None:
    text, expected = FORMS[end]
    check_facts(drafted_items(tmp_path, "sex,age,region,inc", text, end), expected)


def test_keys_and_roles_of_schemas_are_those_of_columns(tmp_path: Path) -> None:
    assert drafted_items(tmp_path, "sex,age", ON_THE_WEB, ".json")["sex"]["privacyRole"] == DIRECT
    assert drafted_items(tmp_path, "sex,age", DBT, ".yml")["age"]["privacyRole"] == SENSITIVE


@pytest.mark.parametrize(
    ("end", "text", "expected"),
    [
        (".rtf", "{\\rtf1 sex}", "its text saved as .txt"),
        (".docx", "PK", "its text saved as .txt"),
        (".xyz", "", r"a schema \(.json"),
        (".json", "[1", "a Table Schema"),
        (".json", '{"a": {"b": 1}}', "a Table Schema"),
        (".yml", "models: []\n", "whose models have"),
    ],
)
def test_other_forms_are_refused_with_those_that_are_read(tmp_path: Path, end: str, text: str, expected: str) -> None:
    with pytest.raises(ConfigurationError, match=expected):
        drafted_items(tmp_path, "sex", text, end)


OFFICES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "REDCap": (".csv", """\
Variable / Field Name,Field Type,Field Label,"Choices, Calculations, OR Slider Labels",Text Validation Min,Max
sex,radio,Sex,"1, Male | 2, Female | 9, Prefer not to say",,
age,text,Age,,0,120
inc,dropdown,Income,"1, Less than $10,000 | 2, $10,000 - $24,999 | 3, $25,000 or more",,
""", {"sex": SEX, "age": {"from": "0", "to": "120"}, "inc": {
        "values": ["1", "2", "3"],
        "labels": {"1": "Less than $10,000", "2": "$10,000 - $24,999", "3": "$25,000 or more"}}}),
    "Polish": (".csv", """\
Nazwa zmiennej;Opis zmiennej;Typ;Kody odpowiedzi;Braki danych
sex;Płeć;numeryczna;1 - mężczyzna, 2 - kobieta;9
age;Wiek w latach;numeryczna;0-99, 99 = 99 i więcej;
region;Województwo;numeryczna;2 dolnośląskie 4 kujawsko-pomorskie;
""", {"sex": {"values": ["1", "2"], "labels": {"1": "mężczyzna", "2": "kobieta"}, "missing": ["9"]},
      "age": {"from": "0", "to": "99", "top": "true"}, "region": "row 4, says: 2 dolnośląskie 4 kujawsko-pomorskie)"}),
    "Finnish": (".csv", """\
Muuttuja;Selite;Tyyppi;Luokitus;Puuttuva tieto
sex;Sukupuoli;kokonaisluku;1 = mies, 2 = nainen, 8 = ei tietoa;9
age;Ikä vuosina;kokonaisluku;0–110;
inc;Tulot;kokonaisluku;0-99000, multiples of 1000;
""", {"sex": {"values": ["1", "2"], "labels": {"1": "mies", "2": "nainen"}, "missing": ["8", "9"]},
      "age": {"from": "0", "to": "110"}, "inc": {"from": "0", "to": "99000", "step": "1000", "precision": "1000"}}),
    "Norwegian": (".tsv", """\
Variabelnavn\tVariabelbeskrivelse\tDatatype\tKodeverdier\tManglende verdier
sex\tKjønn\theltall\t1 = Mann, 2 = Kvinne\t9 = Ukjent
inc\tInntekt\theltall\t1 = Under 100 000 kr, 2 = 100 000 - 299 999 kr, 3 = 300 000 kr og over\t9
""", {"sex": {"values": ["1", "2"], "labels": {"1": "Mann", "2": "Kvinne"}, "missing": ["9"]},
      "inc": {"values": ["1", "2", "3"], "labels": {
          "1": "Under 100 000 kr", "2": "100 000 - 299 999 kr", "3": "300 000 kr og over"}, "missing": ["9"]}}),
    "Portuguese": (".csv", """\
Variável;Descrição;Tamanho;Categorias
sex;Sexo do morador;1;1 Homem 2 Mulher 9 Ignorado
age;Idade do morador;3;0 a 130
inc;Rendimento mensal;8;Valor em reais
""", {"sex": {"values": ["1", "2"], "labels": {"1": "Homem", "2": "Mulher"}, "missing": ["9"]},
      "age": {"from": "0", "to": "130"}, "inc": "row 4, says: Valor em reais)"}),
    "Japanese": (".csv", """\
変数名,項目名,型,選択肢,欠損値
sex,性別,整数,1=男性; 2=女性,9
inc,世帯収入,整数,1=300万円未満; 2=300万円以上,99=不明
""", {"sex": {"values": ["1", "2"], "labels": {"1": "男性", "2": "女性"}, "missing": ["9"]},
      "inc": {"values": ["1", "2"], "labels": {"1": "300万円未満", "2": "300万円以上"}, "missing": ["99"]}}),
    "Canadian text": (".txt", """\
Variable Name: sex        Length: 1   Position: 7
Question Name:
Concept: Sex of respondent
Answer Categories      Code     Frequency   Weighted    %
Male                    1        71,234      1,235      49.0
Female                  2        71,300      1,301      51.0
Not stated              9             3          3       0.0

Variable Name: age        Length: 3   Position: 8
Concept: Age in years
""", {"sex": SEX, "age": AGES}),
    "IPUMS text": (".txt", """\
sex\t\tSex
1\t\tMale
2\t\tFemale
9\t\tUnknown

age\t\tAge
000\t\tLess than 1 year old
001\t\t1
100\t\t100 (100+ in 1960-1970)

inc\t\tTotal income
9999999\t\tN/A

region\t\tRegion of residence
""", {"sex": SEX, "age": {"values": ["000", "001", "100"], "labels": {
        "000": "Less than 1 year old", "001": "1", "100": "100 (100+ in 1960-1970)"}}}),
}  # fmt: skip
"""Codebooks as offices write them: the end of the file's name, its text, and the domain of each column."""


@pytest.mark.parametrize("office", OFFICES)
def test_codebooks_of_offices_become_domains(tmp_path: Path, office: str) -> None:
    end, text, expected = OFFICES[office]
    found = drafted_items(tmp_path, "sex,age,region,inc", text, end)
    check_facts(found, expected)
    assert "71" not in str(found)  # a count


def test_a_spanish_workbook_has_a_design_and_tables_of_codes(tmp_path: Path) -> None:
    book = tmp_path / "b.xlsx"
    write_workbook(book, {
        "Diseño": [
            ["Encuesta"], ["Variable", "Longitud", "Tipo", "Posición", "Diccionario de la variable", "Descripción"],
            ["sex", "1", "A", "1", "T_SEXO", "Sexo"], ["age", "3", "N", "2", "", "Edad"],
            ["factor", "9", "N", "5", "", "Factor de elevación"],
        ],
        "Tablas1": [["T_SEXO"], ["Código", "Descripción"], ["1", "Hombre"], ["6", "Mujer"]],
    })  # fmt: skip
    found = drafted_items(tmp_path, "sex,age,factor", book)
    check_facts(found, {"sex": {"values": ["1", "6"], "labels": {"1": "Hombre", "6": "Mujer"}}, "age": AGES})
    assert found["factor"] == {"privacyRole": OTHER}
