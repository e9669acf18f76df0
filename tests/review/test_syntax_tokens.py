"""Tokens of programs: texts, comments and continued lines, as their languages define them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.review.syntax.facts import Subject
from crowdgate.review.syntax.sas import sas_facts
from crowdgate.review.syntax.spss import spss_facts
from crowdgate.review.syntax.sql import sql_script
from crowdgate.review.syntax.stata import stata_facts
from crowdgate.review.syntax.tokens import UnclosedText

WORDS = st.text("ab1 ;.*/-'\"`#()=", min_size=1, max_size=12).map(str.strip).filter(bool)
"""Labels with the signs that end statements, open comments and quote texts."""
NOISE = st.sampled_from(["", "don't", "label variable x", "1 = 'a'", 'say "so', "value labels x 1"])


def _labels(text: str, reader: object) -> list[str]:
    assert callable(reader)
    return [each.text for each in reader(text) if each.subject is Subject.LABEL]


@given(WORDS, NOISE, st.booleans())
@settings(max_examples=60, deadline=None)
def test_stata_reads_a_label_between_any_comments(label: str, noise: str, in_semicolons: bool) -> None:
    """A compound quotation holds any signs that are in pairs; a comment, nested or continued, holds none."""
    label = label.replace("`", "").replace("'", "").replace('"', "").strip() or "x"
    end, switch = (";", "#delimit ;\n") if in_semicolons else ("", "")
    text = (
        f"* {noise.replace(';', '')} {end}\n{switch}/* {noise.replace('*', '')} /* inner */ {end} */\n"
        f'label variable income /// {noise}\n   `"{label}"\' // {noise}\n{end}\nlabel var age "Age"{end}\n'
    )
    assert _labels(text, stata_facts) == [label, "Age"]


@given(WORDS, NOISE)
@settings(max_examples=60, deadline=None)
def test_spss_reads_a_label_with_doubled_quotation_marks(label: str, noise: str) -> None:
    """A comment ends with a point at the end of a line, or a blank line."""
    quoted = label.replace("'", "''")
    text = (
        f"* {noise}\n  and more.\nCOMMENT {noise}.\nVARIABLE LABELS income '{quoted}' /* {noise}\n / age 'A' + 'ge'.\n"
    )
    assert _labels(text, spss_facts) == [label, "Age"]


@given(WORDS, NOISE)
@settings(max_examples=60, deadline=None)
def test_sas_reads_a_label_over_lines(label: str, noise: str) -> None:
    quoted = label.replace("'", "''")
    text = f"* {noise};\n/* {noise} ; */ DATA x; LABEL income = '{quoted}'\n /* {noise} */ age=\"Age\";\nRUN;\n"
    assert _labels(text, sas_facts) == [label, "Age"]


@given(WORDS, NOISE)
@settings(max_examples=60, deadline=None)
def test_sql_reads_a_comment_with_doubled_quotation_marks(label: str, noise: str) -> None:
    quoted = label.replace("'", "''")
    text = (
        f"-- {noise}\nCREATE TABLE s.t (a int, /* {noise} ; */ \"b c\" text DEFAULT 'x;,)' -- {noise}\n);\n"
        f"COMMENT ON COLUMN s.t.\"b c\" IS '{quoted}';"
    )
    table = sql_script(text).tables["t"]
    assert [*table.columns] == ["a", "b c"]
    assert table.columns["b c"].comment == label


def test_texts_of_mysql_have_escaped_quotation_marks() -> None:
    text = "CREATE TABLE `t` (`a` enum('x\\'s','y') COMMENT 'it\\'s; a', KEY `k` (`a`)) ENGINE=InnoDB;"
    column = sql_script(text).tables["t"].columns["a"]
    assert column.comment == "it\\'s; a"
    assert len(column.values) == 2


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (stata_facts, 'label variable a "A"\nlabel variable b "open\n'),
        (stata_facts, 'label variable a "A"\n/* open\n'),
        (spss_facts, "VARIABLE LABELS a 'A'.\nVARIABLE LABELS b 'open\n."),
        (sas_facts, "LABEL a='A';\nLABEL b='open;\n"),
        (sql_script, "CREATE TABLE t (a int);\nCOMMENT ON COLUMN t.a IS 'open;\n"),
    ],
)
def test_an_open_quotation_is_an_error_with_its_line(reader: object, text: str) -> None:
    """Else the statements behind it would be taken for a text, and nothing would say so."""
    assert callable(reader)
    with pytest.raises(UnclosedText, match="line 2"):
        list(getattr(reader(text), "tables", reader(text)))


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (spss_facts, "BEGIN DATA\n1 'x\nVALUE LABELS a 1 'x'.\nEND DATA.\nVARIABLE LABELS b 'B'.\n"),
        (sas_facts, "DATA t; INPUT a; DATALINES;\n1 'x\nlabel a='x'\n;\nRUN; LABEL b='B';"),
        (stata_facts, 'input a b\n1 "x\nlabel variable a\nend\nlabel variable b "B"\n'),
    ],
)
def test_lines_of_cells_are_not_read(reader: object, text: str) -> None:
    assert callable(reader)
    assert [(each.names, each.text) for each in reader(text) if each.text] == [(("b",), "B")]
