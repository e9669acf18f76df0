"""Paths as parameters of flows."""

from typing import Annotated

from pydantic import Field

FilePath = Annotated[str, Field(min_length=1, max_length=4096, pattern=r"\S")]
