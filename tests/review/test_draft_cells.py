"""Drafts of single cells and tables of codebooks: ranges with remarks, codes behind labels, weights, two languages."""

from pathlib import Path
from typing import Any

import pytest

from crowdgate.review.templates.contract_draft import draft_contract
from crowdgate.review.templates.draft_sources import read_draft_source
from tests.review.drafted_items import drafted_items
from tests.sources.table_files import write_workbook

SEXES = {"values": ["1", "2"], "labels": {"1": "Male", "2": "Female"}}


@pytest.mark.parametrize(
    ("values", "domain"),
    [
        ("12-19, or 20", "says: 12-19 or 20"),
        ("12-19, 20 if more", "says: 12-19"),
        ("1..9; first stage unit; generated", {"from": "1", "to": "9"}),
        ("0-90; top coded at 90; generated", "says: 0-90; top coded"),
        ("up to 168", {"from": "0", "to": "168"}),
        ("max. 168 hours, 999 = unknown", {"from": "0", "to": "168", "missing": ["999"]}),
        ("≤ 168", {"from": "0", "to": "168"}),
        ("≥ 0", "says: ≥ 0"),
        ("up to 5; 6-10; 11+", "says: up to 5; 6-10; 11+"),
        ("0-24, refused -1, don't know -2", {"from": "0", "to": "24", "missing": ["-1", "-2"]}),
        ("1 Male, 2 Female, refused -1", SEXES | {"missing": ["-1"]}),
        ("Male 1, Female 2, refused -1", SEXES | {"missing": ["-1"]}),
        ("Male 1, Female 0", {"values": ["1", "0"], "labels": {"1": "Male", "0": "Female"}}),
        ("1 Male, 2 Female, refused 9", SEXES | {"missing": ["9"]}),
        ("1=Male, 2=Female, missing 12", "says: 1=Male, 2=Female, missing 12"),
        ("1 Yes, 2 No, missing 12", "says: 1 Yes, 2 No, missing 12"),
        ("1=Male n=500; 2=Female n=300", SEXES),
        ("1=Male n=500; 1=Female n=300", "says: 1=Male; 1=Female"),
    ],
)
def test_cells_of_values_are_read_or_left_to_decide(tmp_path: Path, values: str, domain: Any) -> None:
    text = f'variable,label,type,values\na,Visits,integer,"{values}"\nb,Sex,,1=a; 2=b\n'
    found = drafted_items(tmp_path, "a,b", text)["a"]["domain"]
    assert (domain in found) if isinstance(domain, str) else found == domain
    assert "500" not in str(found)


@pytest.mark.parametrize(
    ("missing", "codes"),
    [
        ("refused -1, don't know -2", ["-1", "-2"]),
        ("refused = -1; not asked = -2", ["-1", "-2"]),
        ("-1 = refused", ["-1"]),
    ],
)
def test_missing_codes_stand_behind_their_labels_or_before_them(tmp_path: Path, missing: str, codes: list[str]) -> None:
    text = f'variable,label,type,values,missing\na,Visits,integer,0-24,"{missing}"\n'
    assert drafted_items(tmp_path, "a,x", text)["a"]["domain"]["missing"] == codes


@pytest.mark.parametrize(
    ("name", "label", "role"),
    [
        ("paino", "Painokerroin", "other"),
        ("paino", "Paino kg", "quasi-identifier"),
        ("mult", "Multiplier", "other"),
        ("wtrip", "Trip weight", "other"),
        ("gewicht", "Personengewicht", "other"),
        ("gewicht", "Geburtsgewicht", "quasi-identifier"),
        ("peso", "Peso campionario", "other"),
        ("peso", "Peso", "quasi-identifier"),
        ("waga", "Waga do obliczeń", "other"),
        ("w", "표본가중치", "other"),
        ("health", "Gesundheit (besonders schützenswert)", "sensitive"),
        ("health", "Hälsa (särskilt känslig)", "sensitive"),
    ],
)
def test_weights_and_sensitive_columns_are_known_in_many_languages(
    tmp_path: Path, name: str, label: str, role: str
) -> None:
    text = f"variable,label,type,values\n{name},{label},numeric,0-100\n"
    assert drafted_items(tmp_path, f"{name},x", text)[name]["privacyRole"] == role


def test_the_size_of_a_text_is_no_range(tmp_path: Path) -> None:
    text = "variable,label,type,values\na,Place,,max. 50 characters\nb,Place,text,up to 40\nc,Place,string,at most 9\n"
    assert not any("domain" in each for each in drafted_items(tmp_path, "a,b,c", text).values())


def test_a_precision_is_asked_for_only_where_the_range_has_room_for_it(tmp_path: Path) -> None:
    text = "variable,label,type,values\na,Rent,decimal,0-1000000\nb,Rent,decimal,0-50000\nc,Rent,decimal,0-500\n"
    found = {name: each["domain"]["precision"] for name, each in drafted_items(tmp_path, "a,b,c", text).items()}
    assert found["a"] == "10"
    assert "such as 0.1;" in found["b"]
    assert "such as 0.01;" in found["c"]


@pytest.mark.parametrize(
    "rows",
    [
        "variable,label,code,bezeichnung,label en\n,,,,\nsex,Sex,1,Mann,Man\nsex,Sex,2,Frau,Woman\nw,Work,1,Ja,Yes\n",
        "variable,label,code,value (German),value (English)\nsex,Sex,1,Mann,Man\n,,2,Frau,Woman\nw,Work,1,Ja,Yes\n",
        "variable,label,values\nsex,Geschlecht / Sex,1=Mann / Man; 2=Frau / Woman\nw,Arbeit / Work,\nx,Ort / Place,\n",
    ],
)
def test_labels_of_values_are_those_of_one_language(tmp_path: Path, rows: str) -> None:
    labels = {"1": "Mann", "2": "Frau"}
    assert drafted_items(tmp_path, "sex,w,x", rows)["sex"]["domain"] == {"values": ["1", "2"], "labels": labels}


def test_a_codebook_is_found_among_sheets_with_titles(tmp_path: Path) -> None:
    book = tmp_path / "b.xlsx"
    titles = [["Survey of households"], *([f"line {at}"] for at in range(12))]
    rows = [["Variable", "Label", "Values"], ["sex", "Sex", "1=Male; 2=Female"]]
    write_workbook(book, {"Metadata": [["About"], ["see the next sheet"]], "Tab 2": [*titles, *rows]})
    assert drafted_items(tmp_path, "sex,x", book)["sex"]["domain"] == SEXES


@pytest.mark.parametrize(
    "text",
    [
        "SEX      Position: 1   Width: 1  Format: F1.0\n  Sex of the person\n  1  Male\n  2  Female\n",
        "SEX\n  Sex of the person\n  Position: 1-1\n  Column: 1\n  Width: 1\n  1 = Male\n  2 = Female\n",
    ],
)
def test_places_in_a_line_are_no_labels(tmp_path: Path, text: str) -> None:
    more = text.replace("SEX", "MATE").replace("Sex", "Mate")
    assert drafted_items(tmp_path, "SEX,MATE", text + more, ".txt")["SEX"]["domain"] == SEXES


RULES = """
models:
  - name: t
    columns:
      - name: sex
        description: "Sex (1 = Male, 2 = Female)"
        tests: [accepted_values: {values: [1, 2]}]
      - name: hours
        data_type: integer
        tests: [dbt_utils.accepted_range: {min_value: 0, max_value: 168}]
      - name: size
        data_type: integer
        data_tests: [dbt_expectations.expect_column_values_to_be_between: {arguments: {min_value: 1, max_value: 9}}]
      - name: kind
        tests: [dbt_expectations.expect_column_values_to_be_in_set: {value_set: [A, B]}]
      - name: half
        tests: [dbt_utils.accepted_range: {min_value: 0, max_value: 9, inclusive: false}]
      - name: part
        tests: [accepted_values: {values: [1, 2], config: {where: "year > 2000"}}]
"""


def test_the_tests_of_a_dbt_model_state_values_and_ranges(tmp_path: Path) -> None:
    found = {n: f["domain"] for n, f in drafted_items(tmp_path, "sex,hours,size,kind,half,part", RULES, ".yml").items()}
    assert found["sex"] == SEXES
    assert (found["hours"], found["size"]) == ({"from": "0", "to": "168"}, {"from": "1", "to": "9"})
    assert found["kind"] == {"values": ["A", "B"]}
    assert "says: min_value: 0, max_value: 9, inclusive: false" in found["half"]
    assert "says: 1, 2" in found["part"]


RULED = {
    "rst": "====  =====  ================\nName  Label  Values\n====  =====  ================\n"
    "sex   Sex    1=Male,\n             2=Female\n====  =====  ================\n",
    "grid": "+------+-------+----------+\n| Name | Label | Values   |\n+======+=======+==========+\n"
    "| sex  | Sex   | 1=Male,  |\n|      |       | 2=Female |\n+------+-------+----------+\n",
    "adoc": "|===\n| Name | Label | Values\n\n| sex\n| Sex\n| 1=Male, 2=Female\n|===\n",
    "tex": "\\begin{tabular}{lll}\n\\toprule\nName & Label & Values \\\\\n\\midrule\n"
    "\\texttt{sex} & Sex & 1=Male, 2=Female \\\\\n\\bottomrule\n\\end{tabular}\n",
}


@pytest.mark.parametrize("text", RULED.values(), ids=RULED)
def test_tables_of_marked_up_texts_are_read(tmp_path: Path, text: str) -> None:
    assert drafted_items(tmp_path, "sex,x", text, ".txt")["sex"]["domain"] == SEXES


ABROAD = {
    "zh": "字段名,字段说明,数据类型,取值范围,缺失值,备注\n"
    "sex,性别,数值型,１＝男；２＝女；９＝拒绝回答,,\n"
    "age,周岁年龄,整数型,0～110,999,\n"
    "ill,疾病,,①有 ②无,,\n",
    "ko": "변수명,변수설명,자료형,코드값,결측값\n"
    "sex,성별,숫자,1.남자 2.여자,9\n"
    "age,만 나이,정수,０~１１０,999\nill,질병,숫자,1:예 / 2:아니오,\n",
    "tr": "Değişken;Açıklama;Tür;Kodlar;Kayıp değer\nsex;Cinsiyet;Sayısal;1-Erkek, 2-Kadın;9\n"
    "age;Bitirilen yaş;Tam sayı;0-110;999\nill;Hastalık (hassas veri);;1=Var, 2=Yok;\n",
    "el": "Μεταβλητή;Περιγραφή;Τύπος;Τιμές;Ελλείπουσες τιμές\nsex;Φύλο;Αριθμητική;1=Άνδρας, 2=Γυναίκα, 9=Δεν απαντώ;\n"
    "age;Ηλικία;Ακέραιος;0-110;999\nill;Ασθένεια;;1=Ναι, 2=Όχι;\n",
    "hu": "Változó;Megnevezés;Típus;Értékek;Hiányzó érték\nsex;Nem;Szám;1 - férfi, 2 - nő, 9 - nem tudja;\n"
    "age;Életkor;Egész szám;0-110;999\nill;Betegség;;1=igen, 2=nem;\n",
}


@pytest.mark.parametrize("text", ABROAD.values(), ids=ABROAD)
def test_codebooks_of_further_countries_are_read(tmp_path: Path, text: str) -> None:
    found = drafted_items(tmp_path, "sex,age,ill", text)
    assert (found["sex"]["domain"]["values"], found["sex"]["domain"]["missing"]) == (["1", "2"], ["9"])
    assert found["age"]["domain"] == {"from": "0", "to": "110", "missing": ["999"]}
    assert [each["privacyRole"] for each in found.values()] == ["quasi-identifier", "quasi-identifier", "sensitive"]
    assert found["ill"]["domain"]["values"] == ["1", "2"]


def test_a_form_of_questions_and_choices_is_read(tmp_path: Path) -> None:
    survey: list[list[str | None]] = [
        ["type", "name", "label::English (en)", "constraint"],
        ["begin_group", "demo", "Persons", None],
        ["select_one sexes", "sex", "Sex", None],
        ["integer", "age", "Age", ". >= 0 and . <= 110"],
        ["integer", "hours", "Hours", ". >= 0 and . <= 90 or . = 99"],
        ["select_multiple goods", "owns", "What is owned?", None],
        ["text", "village", "Name of the place", None],
        ["geopoint", "spot", "Where is it?", None],
        ["end_group", None, None, None],
    ]
    choices = [["list_name", "name", "label::English (en)"], ["sexes", "1", "Male"], ["sexes", "2", "Female"]]
    choices += [["sexes", "9", "Refused"], ["goods", "car", "Car"], ["goods", "tv", "Television"]]
    book = tmp_path / "b.xlsx"
    write_workbook(book, {"survey": survey, "choices": choices})
    found = drafted_items(tmp_path, "demo/sex,age,hours,owns/car,owns/tv,village,spot", book)
    assert found["demo/sex"]["domain"] == SEXES | {"missing": ["9"]}
    assert found["age"]["domain"] == {"from": "0", "to": "110"}
    assert ". <= 90 or . = 99" in found["hours"]["domain"]
    assert {found[name]["like"] for name in ("owns/car", "owns/tv")} == {"shared"}
    assert [found[name]["privacyRole"] for name in ("village", "spot")] == ["direct-identifier"] * 2


ARCHIVE = """  Pos. = 1\tVariable = sex\tVariable label = Sex
  This variable is  numeric, the SPSS measurement level is NOMINAL
\tValue label information for sex
\tValue = 1.0\tLabel = Male
\tValue = 2.0\tLabel = Female
\tValue = -9.0\tLabel = Does not apply
  Pos. = 2\tVariable = age\tVariable label = Age last birthday
\tValue = 95.0\tLabel = 95 or over
"""
RECODE = """Item        Item label                Starting  Len  Type  Occ  Dec
age         Respondent's current age        24    2    N    1    0
              0:95

sex         Sex of the person               26    1    N    1    0
                1  Male
                2  Female
            (m) -9 Missing or does/did not answer
           (na)    Not applicable
"""


@pytest.mark.parametrize("text", [ARCHIVE, RECODE], ids=["archive", "recode"])
def test_dictionaries_of_archives_are_read(tmp_path: Path, text: str) -> None:
    found = drafted_items(tmp_path, "sex,age", text, ".txt")
    assert found["sex"]["domain"] == SEXES | {"missing": ["-9"]}
    assert (found["age"]["domain"]["from"], found["age"]["domain"]["to"]) == ("0", "95")


PRINTS = {
    "info": "<class 'pandas.core.frame.DataFrame'>\nRangeIndex: 184 entries\nData columns (total 2 columns):\n"
    " #   Column  Non-Null Count  Dtype  \n---  ------  --------------  -----  \n 0   sex     184 non-null    int64  \n"
    " 1   date    180 non-null    datetime64[ns]\ndtypes: datetime64[ns](1), int64(1)\nmemory usage: 9 KB\n",
    "dtypes": "sex             int64\ndate   datetime64[ns]\ndtype: object\n",
    "arrow": "sex: int8 not null\ndate: date32[day]\n",
    "spark": "root\n |-- sex: integer (nullable = true)\n |-- date: date (nullable = true)\n",
}


@pytest.mark.parametrize("text", PRINTS.values(), ids=PRINTS)
def test_printed_types_are_no_labels(tmp_path: Path, text: str) -> None:
    found = drafted_items(tmp_path, "sex,date", text, ".txt")
    assert "the least and the greatest number" in found["sex"]["domain"]
    assert "the least and the greatest day" in found["date"]["domain"]


def test_types_above_lists_hide_no_codes(tmp_path: Path) -> None:
    text = "sex: integer\n  1 = Male\n  2 = Female\nage: integer\n  0-95\n"
    assert drafted_items(tmp_path, "sex,age", text, ".txt")["sex"]["domain"] == SEXES


SCHEMA = """{"components": {"schemas": {
"Sex": {"type": "integer", "enum": [1, 2, 9],
"description": "Sex:\\n * `1` - Male\\n * `2` - Female\\n * `9` - Not stated"},
"Loop": {"$ref": "#/components/schemas/Loop"},
"Person": {"type": "object", "properties": {
"sex": {"$ref": "#/components/schemas/Sex"}, "score": {"type": "integer", "minimum": 0, "exclusiveMaximum": 11},
"size": {"allOf": [{"type": "integer", "minimum": 1}], "maximum": 9, "nullable": true},
"kind": {"enum": ["a", "b"], "x-enum-descriptions": ["Man", "Woman"]},
"loop": {"$ref": "#/components/schemas/Loop"}}}}}}"""
AVRO = """{"type": "record", "name": "p", "fields": [
{"name": "sex", "type": {"type": "enum", "name": "s", "symbols": ["1", "2", "9"]},
"doc": "Sex: 1 = Male, 2 = Female, 9 = Not stated"},
{"name": "score", "type": ["null", "int"], "doc": "Score (0-10)"}, {"name": "size", "type": "int", "doc": "Size (1-9)"},
{"name": "kind", "type": ["null", {"type": "enum", "name": "k", "symbols": ["a", "b"]}], "doc": "a: Man, b: Woman"}]}"""


@pytest.mark.parametrize("text", [SCHEMA, AVRO], ids=["openapi", "avro"])
def test_schemas_with_references_and_unions_are_read(tmp_path: Path, text: str) -> None:
    found = drafted_items(tmp_path, "sex,score,size,kind,loop", text, ".json")
    assert found["sex"]["domain"] == SEXES | {"missing": ["9"]}
    assert (found["score"]["domain"], found["size"]["domain"]) == ({"from": "0", "to": "10"}, {"from": "1", "to": "9"})
    assert found["kind"]["domain"] == {"values": ["a", "b"], "labels": {"a": "Man", "b": "Woman"}}


def test_lists_below_a_bare_heading_end_at_the_flags(tmp_path: Path) -> None:
    text = (
        "sex: SEX\nMode of collection: register\nValues\n1    Male\n2    Female\nFlags\n1    filled\n-1   missing\n\n"
    )
    text += "hours: HOURS WORKED PER WEEK\nValues\n1 - 99   Number of hours\nFlags\n1    filled\n"
    found = drafted_items(tmp_path, "sex,hours", text, ".txt")
    assert found["sex"]["domain"] == SEXES
    assert found["hours"]["domain"] == {"from": "1", "to": "99"}


def test_counts_beside_a_range_make_it_one_of_the_cells_and_are_not_quoted(tmp_path: Path) -> None:
    text = "sex : Sex\n\n Value  Label    Cases\n 1      Male     13046\n 2      Female   13511\n\n"
    text += "size : Members\n\n   Type: Discrete\n   Range: 1-14\n   Valid cases: 26540\n   Invalid: 17\n"
    (tmp_path / "t.csv").write_text("sex,size\n")
    (tmp_path / "b.txt").write_text(text)
    source = read_draft_source(tmp_path / "t.csv", tmp_path, header_line=True, codebook=tmp_path / "b.txt")
    drafted = draft_contract(source, "t")
    assert "extremes?" in drafted
    assert "26540" not in drafted


def test_a_row_that_fell_apart_at_the_delimiter_is_left_to_decide(tmp_path: Path) -> None:
    text = "Variable;Label;Codes;Missing;Sensitivity\na;Level;1 = low; 2 = high; 3 = top\n"
    text += "b;Level;1 = low; 2 = high; 3 = top;9;sensitive\nsex;Sex;1=Male, 2=Female;;nepřímý identifikátor\n"
    found = drafted_items(tmp_path, "a,b,sex", text)
    assert "too many cells: 1 = low; 2 = high; 3 = top; 9; sensitive" in found["b"]["domain"]
    assert "too many cells: 1 = low; 2 = high; 3 = top" in found["a"]["domain"]
    assert (found["sex"]["domain"], found["sex"]["privacyRole"]) == (SEXES, "quasi-identifier")


def test_codes_for_no_answer_have_their_heading(tmp_path: Path) -> None:
    text = "Variável|Designação|Domínio de valores|Código de não resposta\na|Idade|0 a 120|-1\n"
    text += "b|Região|11 - Norte 16 - Centro 15 - Algarve 20 - Açores|99 - Ns/Nr\n"
    found = drafted_items(tmp_path, "a,b", text, ".txt")
    assert (found["a"]["domain"]["missing"], found["b"]["domain"]["missing"]) == (["-1"], ["99"])
    assert found["b"]["domain"]["values"] == ["11", "16", "15", "20"]


def test_a_csv_on_the_web_states_labels_and_the_form_of_days(tmp_path: Path) -> None:
    text = """{"tableSchema": {"columns": [{"name": "sex", "datatype": "string",
    "dc:description": "1 = Male, 2 = Female"},
    {"name": "date", "datatype": {"base": "date", "format": "dd.MM.yyyy"}}]}}"""
    (tmp_path / "t.csv").write_text("sex,date\n")
    (tmp_path / "b.json").write_text(text)
    source = read_draft_source(tmp_path / "t.csv", tmp_path, header_line=True, codebook=tmp_path / "b.json")
    assert source.settings["dayForm"] == "DD.MM.YYYY"
    assert drafted_items(tmp_path, "sex,date", text, ".json")["sex"]["domain"] == SEXES


@pytest.mark.parametrize("title", ["sex", "Codes SEX", "tbl_sex", "Code list: sex"])
def test_a_sheet_of_codes_has_the_name_of_its_variable_in_its_title(tmp_path: Path, title: str) -> None:
    book = tmp_path / "b.xlsx"
    variables = [["Variable", "Label", "Codes"], ["sex", "Sex", "see codes"], ["age", "Age", "0-99"]]
    write_workbook(book, {"Variables": variables, title: [["Code", "Meaning"], [1, "Male"], [2, "Female"]]})
    assert drafted_items(tmp_path, "sex,age", book)["sex"]["domain"] == SEXES
