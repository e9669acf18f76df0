"""Artifacts of runs: Prefect's pages cut the cells of wide tables, so tables are lists there."""

from crowdgate.kind.listing import text_listing
from crowdgate.report.blocks import markdown_table
from crowdgate_flows.artifact import as_lists


def test_a_table_becomes_a_list_and_everything_else_stays() -> None:
    table = markdown_table(
        text_listing("t", ("rule", "outcome", "note"), [("a at most 1", "pass", ""), ("b|c", "fail", "x.")])
    )
    assert as_lists(f"# T\n\n- point\n\n{table}\n\nend") == (
        "# T\n\n- point\n\n- **a at most 1**: outcome: pass\n- **b\\|c**: outcome: fail; note: x\n\nend\n"
    )


def test_answers_stand_after_their_questions() -> None:
    listing = text_listing("t", ("question", "answer"), [("owner", "board"), ("contact", "")])
    assert as_lists(markdown_table(listing)) == "- **owner**: board\n- contact\n"


def test_two_tables_have_their_own_heads() -> None:
    first = markdown_table(text_listing("t", ("a", "b", "c"), [("1", "2", "3")]))
    second = markdown_table(text_listing("t", ("d", "e", "f"), [("4", "5", "6")]))
    assert as_lists(f"{first}\n\n{second}") == "- **1**: b: 2; c: 3\n\n- **4**: e: 5; f: 6\n"
