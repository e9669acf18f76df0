"""Paths and digests as parameters of flows."""

from typing import Annotated

from pydantic import Field

from crowdgate.errors import ConfigurationError, Problem
from crowdgate.system.regular_files import is_url

FilePath = Annotated[str, Field(min_length=1, max_length=4096, pattern=r"\S")]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def refuse_urls(**paths: str | None) -> None:
    """Refuse a URL in place of a file or folder, before paths are joined. Raises ConfigurationError that names the
    parameter.
    """
    for name, text in paths.items():
        if text is not None and is_url(text):
            expected = "a file or folder of this machine"
            raise ConfigurationError(Problem("parameters", None, name, f"the URL {text!r}", expected))
