"""Drafts from scripts of SQL beside a table."""

from pathlib import Path

import pytest

from crowdgate.errors import ConfigurationError
from crowdgate.review.syntax.check_constraints import Check, checks
from crowdgate.review.templates.contract_draft import draft_contract
from crowdgate.review.templates.draft_sources import read_draft_source
from crowdgate.sources.table_header import CellType
from tests.review.test_draft_syntax import drafted

COLUMNS = ["stay", "person", "came", "age", "sex", "ward", "kind", "bill", "score", "happy", "mark", "nurse", "zone"]
POSTGRES = r"""
-- Stays of a clinic; don't edit
SET search_path = c;
CREATE TYPE c.kind AS ENUM ('day case', 'overnight');
CREATE DOMAIN c.cents AS bigint CHECK (VALUE >= 0);
CREATE TABLE c.wards (code char(2) PRIMARY KEY, title text);
INSERT INTO c.wards VALUES ('A1', 'Eye; ear'), ('B2', 'Heart''s');
CREATE TABLE c.zones (id int PRIMARY KEY, title text);
COPY c.zones (id, title) FROM stdin;
1	North; 'half
2	South
\.
CREATE TABLE c.nurses (id int PRIMARY KEY, staff_name text, grade int);
INSERT INTO c.nurses VALUES (1, 'MARKED NAME', 3);
CREATE TABLE c.stays (
    stay integer NOT NULL,
    person character varying(12) NOT NULL,
    came date CHECK (came BETWEEN DATE '2020-01-01' AND DATE '2021-12-31'),
    age smallint CHECK (age >= 18 AND age < 101),
    sex char(1) DEFAULT 'x' CHECK ((sex)::text = ANY ((ARRAY['f'::character varying, 'm'::character varying])::text[])),
    ward char(2) REFERENCES c.wards,
    kind c.kind NOT NULL,
    bill c.cents,
    score numeric(4,1) CHECK (score > 0 AND score <= 100),
    happy boolean,
    mark smallint CHECK (mark IN (-1, 0, 5) OR mark IS NULL),
    nurse int REFERENCES c.nurses (id),
    zone int,
    CONSTRAINT stays_key PRIMARY KEY (stay, came)
);
ALTER TABLE ONLY c.stays ADD CONSTRAINT most CHECK (bill <= 5000) NOT VALID;
ALTER TABLE ONLY c.stays ADD CONSTRAINT zoned FOREIGN KEY (zone) REFERENCES c.zones(id);
CREATE INDEX ON c.stays (person);
COMMENT ON COLUMN c.stays.sex IS 'f = woman, m = man';
COMMENT ON COLUMN c.stays.mark IS 'Mark; -1 = not known';
"""


def test_constraints_types_and_comments_become_domains(tmp_path: Path) -> None:
    source, found = drafted(tmp_path, ".sql", POSTGRES, COLUMNS)
    assert found["came"].bounds == ("2020-01-01", "2021-12-31")
    assert found["age"].bounds == ("18", "100")
    assert found["sex"].values == (("f", "woman"), ("m", "man"))
    assert found["ward"].values == (("A1", "Eye; ear"), ("B2", "Heart's"))
    assert found["zone"].values == (("1", "North; 'half"), ("2", "South"))
    assert found["kind"].values == (("day case", ""), ("overnight", ""))
    assert found["bill"].bounds == ("0", "5000")
    assert (found["score"].bounds, found["score"].decimals) == (("0", "100"), 1)
    assert "true and false" in found["happy"].unread
    assert (found["mark"].values, found["mark"].missing) == ((("0", ""), ("5", "")), ("-1",))
    assert "the key of a row is stay with came" in source.note


def test_rows_of_other_tables_are_not_read(tmp_path: Path) -> None:
    """A table of three columns, or of persons, is no list of codes."""
    source, found = drafted(tmp_path, ".sql", POSTGRES, COLUMNS)
    assert "the codes of table nurses" in found["nurse"].unread
    assert "MARKED NAME" not in draft_contract(source, "t")
    persons = POSTGRES.replace("c.wards", "c.patients")
    _, found = drafted(tmp_path, ".sql", persons, COLUMNS)
    assert found["ward"].values == ()


def test_a_table_of_mysql_has_inline_values_and_comments(tmp_path: Path) -> None:
    text = (
        "DROP TABLE IF EXISTS `stays`;\nCREATE TABLE `stays` (\n  `stay` int(11) unsigned NOT NULL AUTO_INCREMENT,\n"
        "  `kind` enum('day','night') DEFAULT NULL COMMENT 'Kind of stay',\n  `score` decimal(5,2) DEFAULT '0.00',\n"
        "  `came` datetime,\n  PRIMARY KEY (`stay`),\n  KEY `k` (`kind`)\n) ENGINE=InnoDB COMMENT='Stays';\n"
    )
    _, found = drafted(tmp_path, ".sql", text, ["stay", "kind", "score", "came"])
    assert found["stay"].direct
    assert found["stay"].type is CellType.WHOLE
    assert (found["kind"].values, found["kind"].description) == ((("day", ""), ("night", "")), "Kind of stay")
    assert (found["score"].type, found["score"].decimals) == (CellType.NUMBER, 2)
    assert found["came"].type is CellType.MOMENT


def test_names_of_sql_server_stand_in_brackets(tmp_path: Path) -> None:
    text = "CREATE TABLE [dbo].[stays]([stay] [int] NOT NULL,\n[sex] [char](1) CHECK ([sex] IN ('f', 'm')))\nGO\n"
    _, found = drafted(tmp_path, ".sql", text, ["stay", "sex"])
    assert found["stay"].type is CellType.WHOLE
    assert found["sex"].values == (("f", ""), ("m", ""))


@pytest.mark.parametrize(
    "clause",
    ["CHECK (age >= 18)", "CHECK (age % 5 = 0)", "CHECK (age BETWEEN 1 AND 9 OR sex = 'f')", "CHECK (age > f(3))",
     "CHECK (age NOT IN (1, 2))", "CHECK (age BETWEEN 18 AND 99 OR sex IS NULL)", "CHECK (NOT age BETWEEN 18 AND 99)"],
)  # fmt: skip
def test_a_check_that_states_no_whole_domain_is_left_to_decide(tmp_path: Path, clause: str) -> None:
    text = f"CREATE TABLE t (age int {clause}, sex char(1));"
    source, found = drafted(tmp_path, ".sql", text, ["age", "sex"])
    assert (found["age"].bounds, found["age"].values) == (None, ())
    assert "age" in found["age"].unread
    assert "{from: 0, to: 90" not in draft_contract(source, "t")


def test_an_expression_is_parsed_and_never_run() -> None:
    assert checks("a ~ '^[A-C9]$' AND a IS NOT NULL") == ((Check("a", "in", ("A", "B", "C", "9")),), True)
    assert checks("a ~ '^[A-z]$'") == checks("a ~ '[A-C]'") == ((), False)
    both = (Check("a", ">=", ("1",)), Check("a", "<=", ("9",)))
    assert checks("a IS NULL OR a BETWEEN 1 AND 9") == (both, True)
    assert checks("a = 1 OR (a = 3 OR a IN (7, 8))") == ((Check("a", "in", ("1", "3", "7", "8")),), True)
    assert checks("a = 1 OR a >= 8") == checks("a = 1 OR b = 2") == checks("a = 1 OR b IS NULL") == ((), False)
    assert checks("a IN (SELECT 1)") == ((), False)
    assert checks("1) FROM read_text('/etc/hostname'") == ((), False)
    assert checks("a >= 1 AND -2.5 < a") == ((Check("a", ">=", ("1",)), Check("a", ">", ("-2.5",))), True)


def test_the_table_with_most_of_the_columns_is_used(tmp_path: Path) -> None:
    text = "CREATE TABLE a (age int CHECK (age BETWEEN 1 AND 2));\nCREATE TABLE b (age int, sex text);"
    source, found = drafted(tmp_path, ".sql", text, ["age", "sex"])
    assert found["age"].bounds is None
    assert "table b" in source.note


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT 1;", "no CREATE TABLE with a column of the table"),
        ("CREATE TABLE x.t (age int); CREATE TABLE y.t (age int);", "several tables with the name t"),
        ("CREATE TABLE t (age int CHECK (age IN ('x)));", "line 1: a quotation mark"),
    ],
)
def test_a_script_that_is_not_understood_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        drafted(tmp_path, ".sql", text, ["age"])


STAFF = """CREATE TABLE s.staff (
    emp_no CHAR(8) NOT NULL PRIMARY KEY,  -- personnel number, E + 7 digits
    -- about the person
    gender CHAR(1) CHECK (gender IN ('F','M','X')),  -- F = female, M = male, X = non-binary / not stated
    kind CHAR(1)
        CHECK (kind IN ('P','F','-')), -- P permanent, F fixed term, - it's a zero hours contract
    flag CHAR(1) CHECK (flag IN ('Y','N','--')), -- declared; -- = undeclared
    nation VARCHAR(4), -- UK, EU, NEU = non-EU Europe, ROW = rest of world
    place VARCHAR(4), -- self-declared; U = undeclared
    pay INT, grade INT, -- G1 = low, G2 = high
    score INT CHECK (score BETWEEN 0 AND 9)
);
INSERT INTO s.staff VALUES ('MARKED'); -- 1 = MARKED, 2 = MARKED
COMMENT ON COLUMN s.staff.gender IS 'Gender of the person';
"""


def test_comments_behind_columns_have_labels(tmp_path: Path) -> None:
    names = ["emp_no", "gender", "kind", "flag", "nation", "place", "pay", "grade", "score"]
    source, found = drafted(tmp_path, ".sql", STAFF, names)
    assert found["gender"].values == (("F", "female"), ("M", "male"), ("X", "non-binary / not stated"))
    assert found["gender"].description == "Gender of the person"
    assert [code for code, _ in found["kind"].values] == ["P", "F", "-"]
    assert found["nation"].values == (("UK", ""), ("EU", ""), ("NEU", "non-EU Europe"), ("ROW", "rest of world"))
    assert (found["place"].values, found["place"].unread) == ((), "self-declared; U = undeclared")
    assert [found[each].description for each in ("pay", "grade", "score")] == ["", "", ""]
    text = draft_contract(source, "t")
    assert "a direct-identifier such as emp_no" in text
    assert "MARKED" not in text


@pytest.mark.parametrize(
    ("kind", "condition", "step"),
    [
        ("NUMERIC(3,2)", "fte > 0 AND fte <= 1", "step: 0.1, precision: 0.01"),
        ("NUMERIC(4,2)", "fte BETWEEN 0 AND 4", "step: 0.1, precision: 0.01"),
        ("NUMERIC(4,2)", "fte BETWEEN 0 AND 0.05", "step: 0.01, precision: 0.01"),
        ("NUMERIC(4,1)", "fte BETWEEN 1 AND 6", "step: 1, precision: 0.1"),
    ],
)
def test_a_short_range_of_decimals_has_short_steps(tmp_path: Path, kind: str, condition: str, step: str) -> None:
    text = f"CREATE TABLE t (fte {kind} CHECK ({condition}));"
    assert step in draft_contract(drafted(tmp_path, ".sql", text, ["fte"])[0], "t")


@pytest.mark.parametrize(
    ("kind", "is_left"),
    [("DATE", True), ("INT CHECK (b BETWEEN 0 AND 9)", False), ("TEXT", True)],
)
def test_the_form_of_days_is_left_to_decide_if_a_column_can_have_days(tmp_path: Path, kind: str, is_left: bool) -> None:
    (tmp_path / "t.csv").write_text("a;b\n", encoding="utf-8")
    book = tmp_path / "b.sql"
    book.write_text(f"CREATE TABLE t (a CHAR(1) CHECK (a IN ('x', 'y')), b {kind});", encoding="utf-8")
    source = read_draft_source(tmp_path / "t.csv", tmp_path, header_line=True, codebook=book)
    assert ("dayForm" in source.settings) is is_left
    assert "decimalMark" in source.settings
