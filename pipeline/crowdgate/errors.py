"""Errors, one class for each reaction of a person to them.

CrowdgateError
├── ConfigurationError   the policy, contract, budget or command line is wrong: correct the file  exit 2
├── FileFault            an input file is missing, unreadable or not of the contract's shape      exit 4
├── LedgerRefused        the ledger refuses: budget spent, other id, run spent or lost            exit 5
├── VerificationFailed   a published release differs from its manifest                            exit 6
├── EnvironmentFault     disk, permissions, an existing destination, a locked ledger              exit 1
└── Crashed              a run stopped after it had read data; the reason is in the private record exit 1

A message names the column, gate, file and line, the expected text and the correction. It never holds a record's
value or an exact count of the input: messages reach logs, schedulers and people who may not see the data.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import ClassVar

MOST_PROBLEMS = 100
"""Largest number of problems in one error: more than anybody corrects at once."""
MOST_NAMES, NEAREST_NAMES = 12, 3
"""Largest number of names that a message lists, and the number of similar names that it suggests instead."""


class Code(StrEnum):
    """The kind of a problem. Codes never change their meaning; policies/CODES.md explains each."""

    ASKED = "CG100"
    """No file: an argument of the command line or of a program."""
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
    HEADER = "CG117"
    UNDECIDED = "CG118"


@dataclass(frozen=True)
class Problem:
    """One mistake in one file: its place (line and column from 1), the text found there, the expected text, the nearest
    valid word, its kind, and, if certain, the corrected line of the file."""

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
        """The place as `path:line:column`, as far as line and column are known."""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)

    def __str__(self) -> str:
        hint = "" if self.instead is None else f"; write {self.instead!r}"
        code = "" if self.code is Code.ASKED else f" [{self.code}]"
        return f"{self.place}: {self.where}: {self.found}; expected {self.expected}{hint}{code}"


_OTHER_MEANING = frozenset({"half", "semi", "bi", "non", "not", "no"})
"""Parts of a word with which it means something other than a word without them."""
Finding = tuple[tuple[str | int, ...], str, str, str | None]
"""A problem whose file is not known to its finder: (place below the checked part, text found there, expected text,
nearest valid word)."""


def nearest(word: str, words: Sequence[str]) -> str | None:
    """Return the word of `words` that was probably meant by `word`: the one with other capitals, with its letters in
    another order, or else the most similar. None if there is none: a number never means another, nor `half-year` a
    `year`."""
    if re.fullmatch(r"[-+]?[0-9.]+", word):
        return None
    folded = [known for known in words if known.casefold() == word.casefold()]
    turned = [known for known in words if len(known) > 2 and sorted(known) == sorted(word)]
    is_other = not _OTHER_MEANING.isdisjoint(re.split(r"[-_ ]", word.casefold()))
    found = folded or turned or ([] if is_other else get_close_matches(word, words, n=1, cutoff=0.6))
    return found[0] if found else None


def nearest_level(name: str, names: Sequence[str]) -> str | None:
    """Return the level that was probably meant by a name: the only one with this number (50 for `50 years`), or the
    nearest.
    """
    numbered = [each for each in names if name.isdigit() and name in re.findall("[0-9]+", each)]
    return numbered[0] if len(numbered) == 1 else nearest(name, names)


def expected_names(words: Sequence[str], word: str, what: str, where: str) -> str:
    """Return "one of" the words; if they are more than MOST_NAMES, up to NEAREST_NAMES that are similar to `word`, and
    `where` all words are found.

    `what` names a word of this sort, with its article.
    """
    if len(words) <= MOST_NAMES:
        return f"one of {', '.join(words)}"
    similar = get_close_matches(word, words, n=NEAREST_NAMES, cutoff=0.4)
    return f"{what} such as {', '.join(similar)} (all: {where})" if similar else f"{what} (all: {where})"


def expected_words(expected: str) -> list[str]:
    """Return the words in an expectation such as "one of a, b", "'a' or 'b'", or "true or false"."""
    if not expected.startswith(("one of ", "'", "`")) and expected not in ("true or false", "true"):
        return []
    parts = expected.removeprefix("one of ").replace(" or ", ",").split(",")
    return [word for part in parts if (word := part.strip("' `"))]


class CrowdgateError(Exception):
    """Base of all errors that Crowdgate raises on purpose."""

    exit_code: ClassVar[int] = 1
    code: str = "fault"


class ConfigurationError(CrowdgateError):
    """The policy, contract, budget or command line is wrong. Lists all problems found, up to MOST_PROBLEMS."""

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
    """An input file can't serve as the contract's table, whatever its rows hold: missing, unreadable or of another
    shape."""

    exit_code = 4
    code = "file-fault"


class LedgerRefused(CrowdgateError):
    """The ledger refuses. `code` is refused, spent (an earlier run crashed), lost (its staged bytes are gone) or
    withdrawn, among others."""

    exit_code = 5
    code = "refused"

    def __init__(self, message: str, code: str = "refused") -> None:
        super().__init__(message)
        self.code = code


class VerificationFailed(CrowdgateError):
    """A published release differs from what its manifest states. `code` is verification-failed, or withdrawn for a
    release of which only a tombstone is left. A terminal shows `advice` below the message."""

    exit_code = 6
    code = "verification-failed"

    def __init__(self, message: str, advice: str | None = None, *, code: str = "verification-failed") -> None:
        super().__init__(message)
        self.advice, self.code = advice, code


class EnvironmentFault(CrowdgateError):
    """A fault of the machine, not of the files a user writes: disk, permissions, an existing destination, a locked
    ledger."""

    code = "environment"


class Crashed(CrowdgateError):
    """A run stopped after it had read data. One public word only: the stage and the reason could reveal a row."""

    code = "crashed"

    def __init__(
        self,
        word: str = "crashed; the budget stays charged; the reason is in the private record, if it could be written",
    ) -> None:
        super().__init__(word)
