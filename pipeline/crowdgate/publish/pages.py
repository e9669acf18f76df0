"""Pages for people, written beside what is there and never over it."""

from pathlib import Path

from crowdgate.errors import EnvironmentFault


def write_page(path: Path, text: str) -> None:
    """Write a new file. Raises EnvironmentFault when it exists or can't be written."""
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise EnvironmentFault(f"{path}: the page cannot be written: {error.strerror}") from None
