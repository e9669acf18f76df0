"""The tutorial, the how-to pages and the internals do what they say: their blocks are run as they stand.

`sh` and `python` blocks are run in the order of the page, blocks with a title are written as files, and each line of a
`text` block stands in the output of the block before. A `console` block takes minutes or needs what is not there.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.policy.test_described import errors
from tests.policy.test_pages import whole
from tests.style.rules import Scope, faults, lengths
from tests.workshop import crowdgate

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "policies/guide/tutorial.md"
HOW_TO = sorted((ROOT / "policies/guide/how-to").glob("*.md"))
CONTRACTS = sorted((ROOT / "data_contracts/guide").glob("*.md"))
EXPLANATION = sorted((ROOT / "policies/guide/explanation").glob("*.md"))
INTERNALS = sorted((ROOT / "pipeline/internals").glob("*.md"))
PAGES = [TUTORIAL, *HOW_TO, *CONTRACTS, *EXPLANATION, *INTERNALS]
BLOCK = re.compile(r"^ *```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
PLAIN = re.compile(r"crowdgate [^|<>$`;&*]+|")
NAV = (ROOT / ".ci/docs/mkdocs.yml").read_text(encoding="utf-8") if (ROOT / ".ci/docs").exists() else ""
MOST_WORDS = {TUTORIAL: 900, **dict.fromkeys(HOW_TO, 400)}
USUAL = 25
"""Words of nine sentences in ten at most."""


def name(page: Path) -> str:
    """Return the path of a page below the root."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> Iterator[tuple[str, str, str]]:
    """Yield language, title and text of each block."""
    for language, title, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        margin = len(text) - len(text.lstrip(" "))
        yield language, title, re.sub(rf"^ {{{margin}}}", "", text, flags=re.MULTILINE)


def run_page(page: Path, folder: Path) -> int:
    """Run a page in a folder; return how many blocks ran."""
    output, count = "", 0
    for language, title, text in blocks(page):
        if title:
            (folder / title).write_text(text, encoding="utf-8")
        elif language in ("sh", "python"):
            output, count = run_block(language, text, folder), count + 1
        elif language == "text" and output:
            assert [line for line in text.splitlines() if line.strip() not in output] == []
    return count


def run_block(language: str, text: str, folder: Path) -> str:
    """Run a block; return what it printed. Lines that need no shell run in this process, as imports would take half of
    the time."""
    lines = text.replace("\\\n", " ").splitlines()
    if language == "sh" and all(PLAIN.fullmatch(line) for line in lines):
        return "".join(run_line(line, folder) for line in lines)
    command = ["sh", "-euc", text] if language == "sh" else [sys.executable, "-c", text]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "300"}
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, text + ended.stdout + ended.stderr
    return ended.stdout


def run_line(line: str, folder: Path) -> str:
    """Run a command line of Crowdgate; return what it printed."""
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.chdir(folder)
        patch.setenv("COLUMNS", "300")
        assert crowdgate(*shlex.split(line)[1:]) == 0, line + printed.getvalue()
    return printed.getvalue()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the demo's working copy, with its release of 1 January 2030."""
    folder = tmp_path_factory.mktemp("guides")
    policy = "crowdgate-demo/policies/census_income.yaml"
    run_block("sh", f"crowdgate demo\ncrowdgate release {policy} --as-of 2030-01-01", folder)
    return folder / "crowdgate-demo"


@pytest.mark.thorough
def test_the_tutorial_does_what_it_says(tmp_path: Path) -> None:
    assert run_page(TUTORIAL, tmp_path) >= 8


@pytest.mark.thorough
@pytest.mark.parametrize("page", [*HOW_TO, *CONTRACTS, *INTERNALS], ids=name)
def test_a_page_does_what_it_says(page: Path, demo: Path, tmp_path: Path) -> None:
    """Each page has a copy of the demo, so that none spends the budget of another."""
    run_page(page, shutil.copytree(demo, tmp_path / "demo"))


@pytest.mark.parametrize("page", [TUTORIAL, *HOW_TO, *EXPLANATION], ids=name)
def test_parts_of_policies_are_as_their_schema_says(page: Path) -> None:
    for text in (text for language, title, text in blocks(page) if language == "yaml" and not title):
        block = yaml.safe_load(text)
        schema, document = whole(block["spec"] if {*block} == {"spec"} else block)
        assert errors(schema, document) == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_is_short_and_plain(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"^#.*$", "", BLOCK.sub("", text), flags=re.MULTILINE))
    assert list(faults(prose, Scope.PROSE)) == []
    words = sorted(count for _, count in lengths(prose))
    assert words[int(0.9 * len(words))] <= USUAL
    assert len(text.split()) <= MOST_WORDS.get(page, 1500)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_is_on_the_site(page: Path) -> None:
    assert f": {name(page)}\n" in NAV


def test_the_site_names_pages_that_exist() -> None:
    named = re.findall(r"^ +- .+: ([\w/.-]+\.md)$", NAV, flags=re.MULTILINE)
    assert len(named) > 30
    assert [each for each in named if not (ROOT / each).is_file()] == []


def test_the_citation_names_the_licence_of_the_project() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()
    assert f'license = "{cited["license"]}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
