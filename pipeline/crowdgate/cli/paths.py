"""Paths on the command line."""

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate.errors import ConfigurationError, Problem
from crowdgate.system.regular_files import is_url

if TYPE_CHECKING:
    from typer import _click


def path_option(option: str) -> Callable[[str], Path]:
    """Return the parser of an option that names a file or folder. An empty name, which would be the current folder, is
    refused.
    """

    def read(text: str) -> Path:
        if not text.strip() or "\0" in text:
            raise ConfigurationError(Problem("command line", None, option, repr(text), "the name of a file or folder"))
        return Path(text)

    return read


def without_urls(command: "_click.Command") -> "_click.Command":
    """Make a command, or each command of a group, refuse a URL in place of a file or folder before it does anything."""
    for each in getattr(command, "commands", {}).values():
        without_urls(each)
    run = command.callback
    if run is not None:
        options = {str(param.name): param.opts[0] for param in command.params}

        @wraps(run)
        def checked(**values: Any) -> Any:
            _refuse_urls(options, values)
            return run(**values)

        command.callback = checked
    return command


def _refuse_urls(options: Mapping[str, str], values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        for path in value if isinstance(value, list) else [value]:
            if isinstance(path, Path) and is_url(str(path)):
                found, expected = f"the URL {str(path)!r}", "a file or folder of this machine"
                raise ConfigurationError(Problem("command line", None, options.get(name, name), found, expected))
