"""A page at the terminal has all that the page has."""

import pytest

from crowdgate.cli.page_text import WIDTH, print_markdown


def test_a_long_word_in_a_table_is_not_cut_off(capsys: pytest.CaptureFixture[str]) -> None:
    word = "".join(f"{number:04}" for number in range(50))
    print_markdown(f"| a name | b |\n|---|---|\n| {word} | short |\n")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert word in "".join(line.replace("short", "").strip() for line in lines)
