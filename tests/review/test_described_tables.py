"""Tables of strangers, known by a header, a codebook or another tool's contract: from `contract draft` to a contract
without a problem, with at most fifteen lines edited by hand.
"""

from pathlib import Path

import pytest

from crowdgate.contracts.reading import read_contract
from crowdgate.planning.bundle import KNOWN
from crowdgate.releases.working_copy import init
from crowdgate.review.files import lint_files
from tests.workshop import MARK, crowdgate

MOST_EDITED = 15
PEOPLE = ["privacyUnit, value: row}", "population, value: people}"]
HEADER = f"""\
\N{ZERO WIDTH NO-BREAK SPACE}Patient ID;Age (years);Sex (m/f);BMI kg/m²;ICD10 main;Admission date;PLZ;Ward;"HbA1c, %"
{MARK};74;f;23.1;I21;2024-01-01;10115;A;5.9
"""
CODEBOOK = """\
<?xml version="1.0" encoding="UTF-8"?>
<codeBook version="2.5" xmlns="ddi:codebook:2_5"><fileDscr ID="F1"><fileTxt><fileName>hl.NSDstat</fileName>
<dimensns><caseQnty>41234</caseQnty></dimensns></fileTxt></fileDscr><dataDscr>
<var ID="V1" name="HH1" dcml="0" intrvl="contin"><labl>Cluster number</labl><valrng><range min="1" max="812"/></valrng>
<sumStat type="vald">41234</sumStat><varFormat type="numeric" schema="other"/></var>
<var ID="V2" name="HL3" dcml="0" intrvl="discrete"><labl>Relation to household head</labl>
<valrng><range min="1" max="98"/></valrng><invalrng><item VALUE="99"/></invalrng>
<catgry><catValu>1</catValu><labl>Head</labl><catStat type="freq">8123</catStat></catgry>
<catgry><catValu>2</catValu><labl>Spouse / Partner</labl></catgry><catgry><catValu>98</catValu><labl>DK</labl></catgry>
<catgry><catValu>99</catValu><labl>Missing</labl></catgry>
<catgry missing="Y"><catValu>Sysmiss</catValu></catgry><varFormat type="numeric"/></var>
<var ID="V4" name="HL6" dcml="0"><labl>Age</labl><valrng><range min="0" max="97"/></valrng>
<catgry><catValu>95</catValu><labl>95+</labl></catgry><catgry><catValu>98</catValu><labl>DK</labl></catgry></var>
<var ID="V5" name="ED4" dcml="0"><labl>Ever attended school</labl><catgry><catValu>1</catValu><labl>Yes</labl></catgry>
<catgry><catValu>2</catValu><labl>No</labl></catgry><catgry><catValu>-9</catValu><labl>Refused</labl></catgry></var>
<var ID="V6" name="hhweight" dcml="6"><labl>Household sample weight</labl><varFormat type="numeric"/></var>
<var ID="V7" name="inc" dcml="2"><labl>Income of the household</labl><valrng><range min="-1" max="99999.99"/></valrng>
<varFormat type="numeric"/></var></dataDscr></codeBook>
"""
OTHER_CONTRACT = """\
apiVersion: v3.0.2
kind: DataContract
id: 53581432-6c55-4ba2-a65f-72344a91553a
name: member_snapshot
version: 1.1.0
status: active
servers: [{server: prod, type: snowflake, account: xy123, database: DWH, schema: LOYALTY}]
schema:
  - name: member
    physicalName: MEMBER_V1
    logicalType: object
    properties:
      - {name: member_id, logicalType: string, physicalType: VARCHAR(36), required: true, primaryKey: true}
      - {name: birth_year, logicalType: integer, logicalTypeOptions: {minimum: 1900, maximum: 2020}}
      - {name: gender, logicalType: string, quality: [{type: library, rule: validValues, validValues: [F, M, X]}]}
      - {name: country, logicalType: string, physicalType: CHAR(2)}
      - {name: points, logicalType: integer}
"""
SERVER = 'delimiter, value: ;}, {property: decimalMark, value: ","}, {property: dayForm, value: DD.MM.YYYY}]}]'
PENSIONS = """\
Merkmalsverzeichnis Rentenzugang 2023 (Stand 01.03.2024)
Merkmal;Bezeichnung;Datentyp;Ausprägungen;Wertebereich;Fehlende Werte;Hinweise
idnr;Systemfreie Nummer;Ganzzahl;;;;pseudonymisiert
gebdat;Geburtsdatum;Datum (TT.MM.JJJJ);;01.01.1930 - 31.12.2005;;
gs;Geschlecht;Ganzzahl (1-stellig);"1 = männlich
2 = weiblich
9 = ohne Angabe";;9;
wohnort_kz;Kreis des Wohnorts (AGS);Text (5);;;;amtlicher Gemeindeschlüssel, 5-stellig
staat;Staatsangehörigkeit;Text (3);000 = deutsch, 121 = Albanien, 163 = Türkei, 999 = sonstige;;;
famst;Familienstand;Ganzzahl;1 ledig | 2 verheiratet | 3 verwitwet | 4 geschieden;;0;
rtart;Rentenart;Ganzzahl;"41: teilweise erwerbsgemindert; 43: voll; 62: Altersrente; 65: Regelaltersrente";;;
egpt;Entgeltpunkte;Dezimal (8,4);;von 0,0000 bis 99,9999;;
zahlbetrag;Zahlbetrag der Rente;Dezimal (8,2);;von 0,00 bis 99999,99;;
au_tage;Tage der Arbeitsunfähigkeit;Ganzzahl;;0 bis 1500;-9;
diag1;1. Diagnose (ICD-10-GM);Text (3);;;;dreistellig
rbeg;Rentenbeginn;Datum;;01.01.2023 - 31.12.2023;;
"""
BOOKS = {"pensions.csv": PENSIONS}
"""The codebooks of tables of which only the header is known else."""
TABLES = {
    # the description, options of the command, and what is written in place of each line that says CHANGE
    "aufnahmen.csv": (HEADER, ["--header-line"], [
        SERVER, *PEOPLE, "domain, value: {values: [m, f], source: handbook}}",
        "domain, value: {values: [low, high], source: handbook}}",
        "domain, value: {from: 2024-01-01, to: 2024-12-31, source: handbook}}",
        'domain, value: {values: ["10115", "10117"], source: post office}}',
        "domain, value: {values: [A, B], source: handbook}}",
        "domain, value: {values: [low, high], source: handbook}}",
    ]),
    "mics.xml": (CODEBOOK, [], [
        "servers: [{server: local, type: local, path: hl.csv, format: csv}]",
        "    description: The questionnaire fixed all values", *PEOPLE,
    ]),
    "pensions.csv": (
        "idnr;gebdat;gs;wohnort_kz;staat;famst;rtart;egpt;zahlbetrag;au_tage;diag1;rbeg\n", ["--header-line"],
        ["    description: The register fixed all values", *PEOPLE,
         'domain, value: {values: ["08111", "08115"], source: statistical office}}'],
    ),
    "member.yaml": (OTHER_CONTRACT, [], [
        "servers: [{server: local, type: local, path: member.parquet, format: parquet}]",
        "    description: The form fixed all values", *PEOPLE,
        "domain, value: {values: [DE, NL], source: ISO 3166-1}}",
    ]),
}  # fmt: skip


def drafted(name: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the description of a table into a new working copy, and its draft beside it."""
    text, options, _ = TABLES[name]
    init(home, "board")
    monkeypatch.chdir(home)
    (home / "data_contracts" / name).write_text(text, encoding="utf-8")
    draft = home / "data_contracts" / "draft.yaml"
    if name in BOOKS:
        (home / "book.csv").write_text(BOOKS[name], encoding="utf-8")
        options = [*options, "--codebook", "book.csv"]
    assert crowdgate("contract", "draft", f"data_contracts/{name}", *options, "--id", "table", "--to", draft) == 0
    return draft


def decide(draft: Path, edited: list[str]) -> None:
    """Write each line that says CHANGE anew, in their order."""
    left = list(edited)
    lines = [
        line
        if '"CHANGE (' not in line
        else left.pop(0)
        if "{property: " not in line
        else f"{line[: line.index('{property: ')]}{{property: {left.pop(0)}"
        for line in draft.read_text(encoding="utf-8").splitlines()
    ]
    assert not left
    draft.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.thorough
@pytest.mark.parametrize("name", TABLES)
def test_a_strangers_table_takes_at_most_fifteen_edited_lines(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    draft = drafted(name, tmp_path / "home", monkeypatch)
    assert crowdgate("check", draft) == 2
    assert MARK not in draft.read_text(encoding="utf-8") + "".join(capsys.readouterr())
    edited = TABLES[name][2]
    assert len(edited) <= MOST_EDITED
    decide(draft, edited)
    assert not [each for each in lint_files([draft])[0].remarks if each.severity == "error"]


def test_codes_that_a_codebook_calls_missing_are_no_values_and_no_ages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """98 stands for an unknown age, and would be 90 or more; roles are guessed by the labels of the variables."""
    draft = drafted("mics.xml", tmp_path / "home", monkeypatch)
    decide(draft, TABLES["mics.xml"][2])
    columns = read_contract(draft, KNOWN.servers).by_name
    assert {name for name, column in columns.items() if column.domain} == {"HL3", "HL6", "ED4", "inc"}
    age, relation, school = (columns[name].domain for name in ("HL6", "HL3", "ED4"))
    assert age is not None
    assert [age.code(text) for text in ("89", "97", "98")] == [89, 90, -1]
    assert relation is not None
    assert (relation.labels, relation.missing) == (("Head", "Spouse / Partner", "DK"), ("99",))
    assert school is not None
    assert school.labels[school.code("-9")] == "Refused"


def test_a_codebook_of_an_office_decides_forms_types_and_missing_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A title stands above its headings; types have sizes, ranges are in words, values in three forms."""
    draft = drafted("pensions.csv", tmp_path / "home", monkeypatch)
    decide(draft, TABLES["pensions.csv"][2])
    contract = read_contract(draft, KNOWN.servers)
    domains = {name: column.domain for name, column in contract.by_name.items() if column.domain is not None}
    assert list(domains) == [name for name in contract.by_name if name != "idnr"]
    assert [domains["gs"].labels, domains["gs"].missing] == [("männlich", "weiblich"), ("9",)]
    assert domains["famst"].labels == ("ledig", "verheiratet", "verwitwet", "geschieden")
    assert domains["rtart"].written == ("41", "43", "62", "65")
    assert domains["au_tage"].missing == ("-9",)
    grids = {name: domain.grid for name, domain in domains.items() if domain.grid is not None}
    assert str(grids["egpt"].precision) == "1/1000"
    form = contract.by_name["gebdat"].form
    assert (form.decimal_mark, form.day) == (",", "DD.MM.YYYY")
