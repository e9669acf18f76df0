"""The table of commands says what the commands say, so that listing them imports none."""

import inspect

import pytest

from crowdgate.cli.app import COMMANDS, loaded


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_of_a_command_is_its_own_first_paragraph(name: str) -> None:
    command = loaded(name)
    first = inspect.cleandoc(command.help).split("\n\n")[0]
    assert COMMANDS[name].help == " ".join(first.split())
    assert command.name == name
