"""Text of others appears on a page as written: none of it is markup, and nothing is lost."""

import html
import json
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crowdgate.forecast.outlook import outlook
from crowdgate.pages.plan import PlanReport
from crowdgate.report import code, line, paragraph_text, safe_cell
from crowdgate.report.blocks import PageBlock, markdown_paragraph
from crowdgate.report.html import as_html
from crowdgate.review.explain import explain_policy
from tests.examples import examples
from tests.workshop import Workshop

TEXT = st.text(st.sampled_from("ab1 _*`~<>&;|[]()!#\\$=-+.:\"'/äx"), min_size=1, max_size=14).filter(
    lambda text: text == line(text) != ""
)
ODD = [
    "<b>x</b>",
    "_a_ b",
    "a__b__",
    "&lt;b&gt;",
    "~~a~~",
    "[a](b)",
    "a|b",
    "`a",
    "a``b`",
    "\\*a*",
    "<!-- x",
    "![i](j)",
]


def shown(markdown: str, tag: str) -> list[str]:
    """Return the texts of that tag in the HTML of a page."""
    page = as_html("title", [PageBlock(markdown)])
    found = re.findall(rf"<{tag}[^>]*>(.*?)</{tag}>", page.partition("<body")[2], re.S)
    return [html.unescape(re.sub(r"</?code>", "", each)).strip() for each in found]


@settings(max_examples=examples(300), deadline=None)
@given(TEXT)
@example(ODD[0])
def test_in_a_cell_of_a_table(text: str) -> None:
    assert shown(f"| head |\n|---|\n| {safe_cell(text)} |\n", "td") == [text]


@settings(max_examples=examples(300), deadline=None)
@given(TEXT)
def test_in_a_sentence(text: str) -> None:
    assert shown(f"Said: {paragraph_text(text)} so.\n", "p")[0] == f"Said: {text} so."


@settings(max_examples=examples(300), deadline=None)
@given(TEXT | st.builds("{}{}".format, st.sampled_from(["1. ", "12) ", "- ", "+ ", "--", "==="]), TEXT))
@example("1.")
@example("-")
def test_at_the_beginning_of_a_paragraph_and_of_a_point(text: str) -> None:
    assert shown(markdown_paragraph(text), "p") == [text]
    assert shown(f"- {markdown_paragraph(text)}", "li") == [text]


@settings(max_examples=examples(300), deadline=None)
@given(TEXT)
def test_as_code(text: str) -> None:
    assert shown(f"Said: {code(text)} so.\n", "p")[0] == f"Said: {text} so."


@pytest.mark.parametrize("text", ODD)
def test_what_is_odd_stands_everywhere_as_it_is(text: str) -> None:
    test_in_a_cell_of_a_table.hypothesis.inner_test(text)  # type: ignore[attr-defined]
    test_in_a_sentence.hypothesis.inner_test(text)  # type: ignore[attr-defined]
    test_as_code.hypothesis.inner_test(text)  # type: ignore[attr-defined]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["_a_ <b>x</b>", "a `b` *c*", "&lt;i&gt; ~~y~~", "a | b"])
def test_a_column_is_called_on_every_page_what_it_is_called(name: str, workshop: Workshop) -> None:
    stated = json.dumps(name)
    workshop.edit(workshop.contract, "name: ward", f"name: {stated}")
    workshop.edit(workshop.policy, "ward: exact", f"{stated}: exact")
    workshop.edit(workshop.policy, "over: [ward]", f"over: [{stated}]")
    for page in (explain_policy(workshop.policy), PlanReport(outlook(workshop.policy)).report()):
        whole = as_html("title", [PageBlock(page.markdown())])
        text = html.unescape(re.sub(r"<[^>]*>", "", whole))
        assert name in text
        assert not re.search(r"<b>|<em>|<del>|<i>", whole)
