"""Reading a contract with thousands of mistakes stops early."""

from itertools import count, islice

import pytest
from jsonschema import Draft201909Validator

from crowdgate.contracts import standard


@pytest.mark.thorough
def test_so_many_errors_are_looked_at_and_no_more() -> None:
    asked = count()
    errors = Draft201909Validator({"items": {"type": "object"}}).iter_errors([[]] * 5000)
    found = list(standard._leaves(error for error in errors if next(asked) >= 0))
    assert len(found) == standard.MOST_ERRORS == next(asked)
    assert len(list(islice(errors, 1))) == 1
