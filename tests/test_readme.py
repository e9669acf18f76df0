"""Statements of the READMEs and guides agree with the commands."""

import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

import crowdgate
from crowdgate import manifest, report, settings
from crowdgate.cli.app import COMMANDS, load_command
from crowdgate.contracts.models import LEVEL_KINDS
from crowdgate.ledger import schema
from crowdgate.measures import MEASURES
from tests.policy.pages import PAGES
from tests.policy.test_described import EDITED, SCHEMAS, stated
from tests.workshop import crowdgate as run_command

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8") if (ROOT / "README.md").exists() else ""
BLOCKS = re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)
SET_UP, TESTS, USE = BLOCKS if len(BLOCKS) == 3 else ("", "", "")
PYTHON = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
PLACES = ("*.md", "*/README.md", "pipeline/*.md", "*/reference/*.md", "flows/guide/*.md")
GUIDES = [
    path for path in sorted({*chain.from_iterable(map(ROOT.glob, PLACES)), *PAGES}) if path.name != "CHANGELOG.md"
]
EVERY_PAGE = "".join(path.read_text(encoding="utf-8") for path in GUIDES)
COMMANDS_PAGE = (ROOT / "pipeline" / "reference" / "commands.md").read_text(encoding="utf-8")
SETTINGS = (ROOT / "pipeline" / "reference" / "settings.md").read_text(encoding="utf-8")
TOUR = COMMANDS_PAGE.partition("## A tour of the commands\n")[2].partition("```sh\n")[2].partition("```")[0]
"""Commands of the tour in the guide for operators."""
BIN = Path(sys.executable).parent


def run(line: str, folder: Path) -> str:
    words = line.split("#")[0].replace(".venv/bin/", f"{BIN}/").split()
    ended = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{line}\n{ended.stdout}{ended.stderr}"
    return ended.stdout


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("readme")
    return folder, run(SET_UP.strip().split(" && ")[-1], folder)


def test_the_two_set_up_commands_differ_only_in_their_lock_and_in_what_they_run_at_the_end() -> None:
    first, second = (block.strip().split(" && ") for block in (SET_UP, TESTS))
    assert [part.replace("requirements.lock", "requirements-dev.lock") for part in first[:-1]] == second[:-1]
    assert (first[-1], second[-1]) == (".venv/bin/crowdgate demo", ".venv/bin/pytest -n 2")


@pytest.mark.thorough
def test_the_demo_ends_with_the_path_of_a_published_release(demo: tuple[Path, str]) -> None:
    path = Path(demo[1].strip().splitlines()[-1])
    assert (path / "manifest.json").is_file()


@pytest.mark.thorough
def test_a_second_demo_reports_the_same_release(demo: tuple[Path, str]) -> None:
    folder, said = demo
    again = run(SET_UP.strip().split(" && ")[-1], folder)
    assert again.splitlines()[-1] == said.splitlines()[-1]


@pytest.mark.thorough
def test_every_command_of_the_readme_and_of_the_tour_runs(
    demo: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In this process: imports would take half of the time."""
    monkeypatch.chdir(demo[0])
    for line in (*USE.strip().splitlines(), *TOUR.strip().splitlines()):
        program, *words = line.split("#")[0].split()
        assert program == ".venv/bin/crowdgate"
        assert run_command(*words) == 0, line
        assert capfd.readouterr().out


def test_the_tour_is_there() -> None:
    assert len(USE.strip().splitlines()) >= 5
    assert len(TOUR.strip().splitlines()) >= 15


@pytest.mark.thorough
def test_the_python_of_the_readme_runs_as_it_stands_and_prints_nothing(tmp_path: Path) -> None:
    (example,) = PYTHON
    ended = subprocess.run([sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


@pytest.mark.thorough
def test_the_bundled_release_is_as_large_as_promised(demo: tuple[Path, str]) -> None:
    import json

    path = Path(demo[1].strip().splitlines()[-1])
    claims = json.loads((path / "manifest.json").read_text())
    assert len(claims["data"]["columns"]) >= 6
    assert claims["data"]["classes"] >= 200
    assert claims["data"]["rows"] >= 80_000
    assert claims["mechanism"]["k"] == 29


def test_every_command_is_named_in_a_guide() -> None:
    for command in COMMANDS:
        assert f"crowdgate {command}" in EVERY_PAGE


def test_every_command_of_a_group_is_named_in_a_guide() -> None:
    named = [f"{group} {name}" for group in COMMANDS for name in getattr(load_command(group), "commands", {})]
    assert len(named) > 20
    assert [each for each in named if f"crowdgate {each}" not in EVERY_PAGE and f"`{each}" not in EVERY_PAGE] == []


def test_every_field_of_a_file_and_every_kind_of_level_stands_in_a_guide() -> None:
    """The fields of all files that people write."""
    fields = {path.rpartition("/")[2] for name in EDITED for path, _ in stated(SCHEMAS[name])}
    assert {"k", "epsilon", "waiver", "precision"} < fields
    contracts = (ROOT / "data_contracts" / "reference" / "domains-and-levels.md").read_text(encoding="utf-8")
    assert sorted(each for each in fields if not re.search(rf"(?<![A-Za-z_]){each}(?![A-Za-z_])", EVERY_PAGE)) == []
    assert [each for each in LEVEL_KINDS if f"`{each}" not in contracts] == []


def test_every_measure_is_described_for_policy_owners() -> None:
    for name, measure in MEASURES.items():
        row = f"| `{name}` | {measure.reads} | {report.cell(measure.summary)} | "
        assert row in EVERY_PAGE, f"policies/reference/measures.md lacks {row}"
        stated = {*measure.options, *(each for each in ("of", "over") if getattr(measure, each))}
        stated |= {"charge"} if measure.of_noisy is not None else set()
        assert {*re.findall(r"`(\w+)`", EVERY_PAGE.split(row)[1].split("\n")[0])} == stated, name


def test_every_setting_stands_in_the_guide_for_operators() -> None:
    section = SETTINGS.partition("## Settings\n")[2].partition("\n## ")[0]
    files = chain(ROOT.glob("pipeline/**/*.py"), ROOT.glob("flows/**/*.py"))
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines() if "environ" in line]
    variables = [value for name, value in vars(settings).items() if name.endswith("_VARIABLE")]
    read = {*variables, *re.findall(r'"([A-Z][A-Z_]{4,})"', " ".join(lines))}
    assert {"PREFECT_API_URL", "DO_NOT_TRACK"} < read
    assert sorted(each for each in (*read, *settings.NAMES) if f"`{each}`" not in section) == []


def test_every_extra_stands_in_the_guide_for_operators() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    section = COMMANDS_PAGE.partition("## Extras\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE) == list(extras)


def test_what_is_stable_is_what_is_there() -> None:
    text = (ROOT / "pipeline" / "STABILITY.md").read_text(encoding="utf-8")
    (names,) = re.findall(r"names that `crowdgate` exports: (.*?), with", text)
    assert re.findall(r"`(\w+)`", names) == sorted(crowdgate.__all__)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] in text
    versions = [each.rpartition(" ")[2] for each in project["classifiers"] if re.search(r":: 3\.\d+$", each)]
    assert f"Python {', '.join(versions[:-1])} and {versions[-1]}." in text
    assert f"now 1, 2 and {manifest.FORMAT}." in text
    assert f"Format {schema.FORMAT} stays readable." in text


def heading_links(text: str) -> set[str]:
    """Return the anchors of a page: its headings in small letters, with hyphens for blanks."""
    return {
        re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-")
        for each in re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    }


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_between_guides_lead_somewhere(guide: Path) -> None:
    for target, _, heading in re.findall(r"\]\(([^)#]*)(#([^)]+))?\)", guide.read_text(encoding="utf-8")):
        if not target.startswith("https:"):
            page = guide.parent / target if target else guide
            assert page.exists(), target
            assert not heading or heading in heading_links(page.read_text(encoding="utf-8")), (target, heading)


def test_the_changelog_keeps_its_form() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert re.findall(r"^## (.+)$", text, flags=re.MULTILINE)[:2] == ["[Unreleased]", f"[{project['version']}]"]
    assert {*re.findall(r"^### (.+)$", text, flags=re.MULTILINE)} <= {
        "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"
    }  # fmt: skip
