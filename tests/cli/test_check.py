"""Output of `check` for people at a terminal, for programs and for build servers."""

import io
import json
import re
import sys
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.cli.terminal import AS_IT_IS, wrap_line
from tests.workshop import Workshop, crowdgate

COLOUR = "\x1b["
FIELDS = ["path", "line", "column", "code", "severity", "message", "expected", "instead", "corrected"]


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def at_terminal(*arguments: object, colour: bool = True) -> tuple[int, str]:
    """Return the exit code and the output of a terminal of 80 columns: standard output and standard error."""
    screen = Screen()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("stdout", "stderr"):
            patch.setattr(sys, name, screen)
        for name in ("NO_COLOR", "FORCE_COLOR"):
            patch.delenv(name, raising=False)
        for name, value in (("TERM", "xterm"), ("COLUMNS", "80"), *(() if colour else [("NO_COLOR", "1")])):
            patch.setenv(name, value)
        return crowdgate(*arguments), screen.getvalue()


def plain(said: str) -> list[str]:
    return re.sub(r"\x1b\[[0-9;]*m", "", said).splitlines()


def test_at_a_terminal_lines_are_wrapped_at_words_and_coloured(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workshop.root)
    code, said = at_terminal("check", "policies/clinic.yaml")
    assert code == 0
    assert COLOUR in said
    lines = plain(said)
    assert max(map(len, lines)) <= 80
    assert lines[0] == "policies/clinic.yaml: allowed, 8 warnings"


def test_who_wants_no_colour_gets_none(workshop: Workshop) -> None:
    _, coloured = at_terminal("check", workshop.policy)
    code, said = at_terminal("check", workshop.policy, colour=False)
    assert code == 0
    assert COLOUR not in said
    assert said.splitlines() == plain(coloured)


def test_a_corrected_line_is_not_wrapped(workshop: Workshop) -> None:
    workshop.edit(workshop.contract, "top: true, source: clinic handbook", f"tpo: true, source: {'long ' * 20}")
    code, said = at_terminal("check", workshop.policy)
    assert code == 2
    (told,) = [line for line in plain(said) if line.startswith(AS_IT_IS)]
    assert len(told) > 120
    assert told.endswith("}}")


def test_a_missing_key_is_shown_as_it_could_be(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    text = workshop.policy.read_text(encoding="utf-8")
    workshop.policy.write_text(text[: text.index("  publish:")], encoding="utf-8")
    assert crowdgate("check", workshop.policy) == 2
    said = "expected a value for publish, such as publish: {to: releases, formats: [parquet, csv]} [CG102]"
    assert said in capsys.readouterr().err


def test_in_a_pipe_nothing_is_wrapped_or_coloured_and_rich_stays_where_it_is(
    workshop: Workshop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.setenv("COLUMNS", "20")
    workshop.edit(workshop.policy, "owner: board", "onwer: board")
    assert crowdgate("check", workshop.policy) == 2
    missing, unknown, corrected = capsys.readouterr().err.splitlines()
    assert missing == (
        f"crowdgate: {workshop.policy}:3:1: metadata.owner: the key is missing; expected a value for owner [CG102]"
    )
    assert unknown.startswith(f"{workshop.policy}:3:38: metadata.onwer: unknown key; expected one of name, ")
    stated = "metadata: {name: clinic, version: 1, owner: board, description: Patients by age and ward.}"
    assert corrected == f"  write instead: {stated}"


@given(st.lists(st.text(st.characters(categories=("L", "N", "P")), min_size=1, max_size=30)), st.integers(10, 100))
def test_wrapping_keeps_all_words_and_the_width(words: list[str], width: int) -> None:
    line = "    " + " ".join(words)
    found = wrap_line(line, width).splitlines()
    assert " ".join(found).split() == line.split()
    assert all(len(each) <= width or len(each.split()) == 1 for each in found)


def test_json_holds_problems_and_warnings_with_all_their_fields(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate("check", workshop.policy, "--format", "json") == 0
    remarks = json.loads(capsys.readouterr().out)["remarks"]
    assert {each["severity"] for each in remarks} == {"warning"}
    assert all(each["code"].startswith("CG2") for each in remarks)
    workshop.edit(workshop.policy, "severity: advise", "severity: advice")
    assert crowdgate("check", workshop.policy, "--format", "json") == 2
    (told,) = json.loads(capsys.readouterr().out)["remarks"]
    assert [*told] == FIELDS
    corrected = "    - {measure: suppressed_share, at_most: 0.5, severity: advise}"
    assert [*told.values()] == [
        str(workshop.policy), 18, 49, "CG103", "error", "spec.gates.5.severity: 'advice'", "'block' or 'advise'",
        "advise", corrected,
    ]  # fmt: skip


def suites(said: str) -> tuple[ElementTree.Element, list[ElementTree.Element]]:
    suite = ElementTree.fromstring(said)
    return suite, suite.findall("testcase")


def test_junit_has_a_case_for_each_file_and_warnings_fail_only_where_that_is_asked_for(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate("check", workshop.root, "--format", "junit") == 0
    suite, cases = suites(capsys.readouterr().out)
    assert (suite.get("tests"), suite.get("failures")) == ("3", "0")
    assert [case.get("classname") for case in cases] == ["PrivacyBudget", "ReleasePolicy", "DataContract"]
    assert cases[1].findtext("system-out", "").startswith("warning CG2")
    assert crowdgate("check", workshop.root, "--format", "junit", "--strict") == 3
    suite, cases = suites(capsys.readouterr().out)
    assert suite.get("failures") == "1"
    workshop.edit(workshop.budget, "unit: row", "unit: rows")
    assert crowdgate("check", workshop.root, "--format", "junit") == 2
    _, cases = suites(capsys.readouterr().out)
    (failure,) = cases[1].findall("failure")
    assert failure.get("message") == "spec.unit: 'rows'"
    assert (failure.text or "").startswith(f"error CG108 {workshop.budget}:4:")


def test_what_is_no_policy_is_told_to_be_right(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("check", workshop.budget, workshop.root / "data_contracts" / "ward.csv") == 0
    ends = [line.partition(": ")[2] for line in capsys.readouterr().out.splitlines()]
    assert ends == ["right (PrivacyBudget)", "right (levels)"]
