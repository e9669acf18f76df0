"""Reference values in tests/vectors, by function."""

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "vectors"
NEAREST = 4e-16

Entry = dict[str, Any]
"""One reference value: function, inputs, expected value and source."""


def of(function: str, file: str = "accounting.json") -> pytest.MarkDecorator:
    """Return the entries of one function as pytest parameters."""
    entries = [entry for entry in json.loads((FOLDER / file).read_text()) if entry["function"] == function]
    assert entries, function
    return pytest.mark.parametrize("entry", entries, ids=[entry["id"] for entry in entries])


def is_rounded_up(value: float, expected: float, most: float = 3e-9) -> bool:
    """Return whether value is at least expected, up to expected's own last digit, and hardly more."""
    return expected * (1 - NEAREST) <= value <= expected * (1 + most)
