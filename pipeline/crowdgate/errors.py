"""What can go wrong, one class per thing a person would do about it.

CrowdgateError
├── ConfigurationError   the policy, contract, budget or command line is wrong: mend the file     exit 2
├── FileFault            an input file is missing, unreadable or not of the contract's shape      exit 4
├── LedgerRefused        the ledger says no: budget spent, other id, run spent or lost            exit 5
├── VerificationFailed   a published release is not what its manifest says                        exit 6
├── EnvironmentFault     disk, permissions, an existing destination, a locked ledger              exit 1
└── Crashed              a run stopped after it had read data; the reason is in the private record exit 1

A message names the column, gate, file and line, what was expected and what to write instead. It never holds a record's
value or an exact count of the input: messages reach logs, schedulers and people who may not see the data.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import ClassVar

MOST_PROBLEMS = 100
"""Problems that one error lists: more than anybody mends at once."""


class Code(StrEnum):
    """What kind of mistake a problem is. Codes never change their meaning; policies/CODES.md explains each."""

    ASKED = "CG100"
    """No file: what was asked for, on the command line or by a program."""
    UNKNOWN_KEY = "CG101"
    MISSING_KEY = "CG102"
    VALUE = "CG103"
    UNKNOWN_NAME = "CG104"
    TWICE = "CG105"
    UNREADABLE = "CG106"
    NO_YAML = "CG107"
    CONTRADICTION = "CG108"
    MECHANISM = "CG109"
    GATE = "CG110"
    CONTRACT = "CG111"
    TABLE = "CG112"
    DESTINATION = "CG113"
    NOT_PUBLIC = "CG114"
    DECISION = "CG115"
    SETTING = "CG116"


@dataclass(frozen=True)
class Problem:
    """One mistake in one file: where it stands (line and column from 1), what is there, what was expected, the nearest
    right word, its kind, and, where that is sure, the line as it would stand in the file without this mistake."""

    file: str
    line: int | None
    where: str
    found: str
    expected: str
    instead: str | None = None
    code: Code = Code.ASKED
    column: int | None = None
    corrected: str | None = None

    @property
    def place(self) -> str:
        """path:line:column, as far as they are known."""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)

    def __str__(self) -> str:
        hint = "" if self.instead is None else f"; write {self.instead!r}"
        code = "" if self.code is Code.ASKED else f" [{self.code}]"
        return f"{self.place}: {self.where}: {self.found}; expected {self.expected}{hint}{code}"


Finding = tuple[tuple[str | int, ...], str, str, str | None]
"""A problem whose file is not known where it is found: (place below what was checked, what is there, what is expected,
the nearest right word)."""


def nearest(word: str, words: Sequence[str]) -> str | None:
    """The word that was probably meant, or None: the same in other capitals, with its letters in another order, or much
    alike."""
    folded = [known for known in words if known.casefold() == word.casefold()]
    turned = [known for known in words if len(known) > 2 and sorted(known) == sorted(word)]
    found = folded or turned or get_close_matches(word, words, n=1, cutoff=0.6)
    return found[0] if found else None


def expected_words(expected: str) -> list[str]:
    """The words that what is expected names: of "one of a, b", of "'a' or 'b'", or of "true or false"."""
    if not expected.startswith(("one of ", "'", "`")) and expected != "true or false":
        return []
    parts = expected.removeprefix("one of ").replace(" or ", ",").split(",")
    return [word for part in parts if (word := part.strip("' `"))]


class CrowdgateError(Exception):
    """Base of all errors that Crowdgate raises on purpose."""

    exit_code: ClassVar[int] = 1
    code: str = "fault"


class ConfigurationError(CrowdgateError):
    """The policy, contract, budget or command line is wrong. Lists every problem found, up to MOST_PROBLEMS."""

    exit_code = 2
    code = "configuration"

    def __init__(self, problems: Sequence[Problem] | Problem) -> None:
        found = (problems,) if isinstance(problems, Problem) else tuple(problems)
        self.problems = found[:MOST_PROBLEMS]
        more = [f"and more than these {MOST_PROBLEMS} problems"] if len(found) > MOST_PROBLEMS else []
        super().__init__("\n".join([*map(str, self.problems), *more]))

    def __reduce__(self) -> tuple[type, tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)


class FileFault(CrowdgateError):
    """An input file cannot serve as the contract's table, whatever its rows hold."""

    exit_code = 4
    code = "file-fault"


class LedgerRefused(CrowdgateError):
    """The ledger refuses. `code` is refused, spent (an earlier run crashed) or lost (its staged bytes are gone)."""

    exit_code = 5
    code = "refused"

    def __init__(self, message: str, code: str = "refused") -> None:
        super().__init__(message)
        self.code = code


class VerificationFailed(CrowdgateError):
    """A published release does not hold what its manifest claims."""

    exit_code = 6
    code = "verification-failed"


class EnvironmentFault(CrowdgateError):
    """The machine, not the files a user writes: disk, permissions, an existing destination, a locked ledger."""

    code = "environment"


class Crashed(CrowdgateError):
    """A run stopped after it had read data. One public word: the stage and the reason could tell about a row."""

    code = "crashed"

    def __init__(
        self,
        word: str = "crashed; the budget stays charged; the reason is in the private record, if it could be written",
    ) -> None:
        super().__init__(word)
