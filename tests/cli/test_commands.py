"""The table of commands repeats their help texts, so that listing imports none of them; and shared options."""

import inspect
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from crowdgate.cli import check as command
from crowdgate.cli.app import COMMANDS, app, load_command
from tests.workshop import Workshop, crowdgate


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_of_a_command_is_its_own_first_paragraph(name: str) -> None:
    command = load_command(name)
    first = inspect.cleandoc(command.help).split("\n\n")[0]
    assert COMMANDS[name].help == " ".join(first.split())
    assert command.name == name


@pytest.mark.parametrize(("options", "told"), [((), True), (("-q",), False), (("--quiet",), False)])
def test_a_quiet_release_says_nothing_on_standard_error(
    workshop: Workshop, options: tuple[str, ...], told: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate(*options, "release", workshop.policy, "--as-of", "2030-01-01") == 0
    said = capfd.readouterr()
    assert ("record show" in said.err) == told
    assert said.out.splitlines()[-1] == str(workshop.release_dir("2030-01-01"))
    assert crowdgate("-q", "check", workshop.root / "missing.yaml") == 2
    assert "missing.yaml" in capfd.readouterr().err


@pytest.mark.parametrize(("options", "told"), [((), False), (("-v",), True)])
def test_a_verbose_fault_says_where_it_passed_and_never_what_it_held(
    options: tuple[str, ...], told: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def failing(_: object) -> None:
        raise ZeroDivisionError("a value")

    monkeypatch.setattr(command, "lint_files", failing)
    assert crowdgate(*options, "check", "policy.yaml") == 1
    said = capfd.readouterr().err
    assert "ZeroDivisionError at " in said
    assert "test_commands.py failing:" in said
    assert "a value" not in said
    assert ("check:" in said) == told == ("--verbose" not in said)


def test_shells_complete_the_commands_and_the_options_of_one() -> None:
    ask = {"_CROWDGATE_COMPLETE": "complete_bash", "COMP_WORDS": "crowdgate ", "COMP_CWORD": "1"}
    assert {*CliRunner().invoke(app, prog_name="crowdgate", env=ask).output.split()} >= {*COMMANDS}
    ask |= {"COMP_WORDS": "crowdgate plan --", "COMP_CWORD": "2"}
    assert "--compare" in CliRunner().invoke(app, prog_name="crowdgate", env=ask).output


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "expected"),
    [("le", {"ledger"}), ("ledger fr", {"free", "freeze"}), ("release --an", {"--anchor", "--anyway"})],
)
def test_a_shell_completes_commands_and_options(words: str, expected: set[str]) -> None:
    code = "from crowdgate_flows.command import main; main()"
    asked = {"COMP_WORDS": f"crowdgate {words}", "COMP_CWORD": str(len(words.split()))}
    environment = {**os.environ, **asked, "_CROWDGATE_COMPLETE": "complete_bash"}
    ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert {*ended.stdout.split()} == expected
