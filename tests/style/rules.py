"""The rules of plain English that a program can check: forbidden words by scope, and the length of sentences."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Scope(StrEnum):
    """The place of a text."""

    DOCSTRING = "docstring"
    MESSAGE = "message"
    PROSE = "prose"
    IDENTIFIER = "identifier"


WORDS = frozenset({Scope.MESSAGE, Scope.PROSE, Scope.DOCSTRING})
PEOPLE_READ = frozenset({Scope.MESSAGE, Scope.PROSE})
LONGEST_SENTENCE = 35
"""The greatest number of words in a sentence."""


@dataclass(frozen=True)
class ForbiddenPattern:
    """A regular expression, where it is forbidden, and what to write."""

    pattern: str
    scopes: frozenset[Scope]
    instead: str


FORBIDDEN = (
    ForbiddenPattern(
        r"\A(?:Of|Whether|What|The same|That|By how much|Where)\b",
        frozenset({Scope.DOCSTRING}),
        "a noun phrase or an imperative",
    ),
    ForbiddenPattern(r"\b(?:upper|lower|unfavourable|high|low) ends?\b", PEOPLE_READ, "confidence limit, or bound"),
    ForbiddenPattern(r"\b(?:not|is|are|was|were|be) told\b", PEOPLE_READ, "reported, known or unknown"),
    ForbiddenPattern(r"\bchance to pass\b", PEOPLE_READ, "probability of passing"),
    ForbiddenPattern(r"\b1 chance in\b", WORDS, "probability at most 1/n"),
    ForbiddenPattern(r"\bpointed at\b", WORDS, "described so that exactly one person fits"),
    ForbiddenPattern(r"\bnobody's\b", PEOPLE_READ, "synthetic rows, simulated rows"),
    ForbiddenPattern(r"\brows (?:of|that) nobody\b", PEOPLE_READ, "simulated rows"),
    ForbiddenPattern(r"\b[Cc]oins?\b", PEOPLE_READ, "Bernoulli sampling, secret random bits"),
    ForbiddenPattern(r"\b(?:people|persons|who|person|somebody) (?:is|are|would be) alone\b", PEOPLE_READ, "unique"),
    ForbiddenPattern(r"\bforetold\b", WORDS, "forecast, estimate or guess"),
    ForbiddenPattern(r"\bput up with\b", WORDS, "waived"),
    ForbiddenPattern(r"\bfor life\b", PEOPLE_READ, "lifetime budget"),
    ForbiddenPattern(r"\b[Ww]hoever\b", PEOPLE_READ, "the attacker, the recipient, the custodian"),
    ForbiddenPattern(r"\b(?:[Aa]|every|each) looks?\b", PEOPLE_READ, "access"),
    ForbiddenPattern(r"\bloneliest\b", WORDS, "rarest"),
    ForbiddenPattern(r"\blikeliest\b", WORDS, "most probable"),
    ForbiddenPattern(r"\bbeliefs?\b", WORDS, "posterior distribution"),
    ForbiddenPattern(r"\bpoison\w*\b", WORDS, "the name of the figure that is wrong"),
    ForbiddenPattern(r"\bwish(?:es)?\b", frozenset({Scope.MESSAGE, Scope.PROSE}), "target"),
    ForbiddenPattern(r"(?:\A|_)(?:foretold|wish|looks|lean|whose)(?:_|\Z)", frozenset({Scope.IDENTIFIER}), "a noun"),
)


def faults(text: str, scope: Scope) -> Iterator[str]:
    """Yield the faults of a text: forbidden words with their replacement, and sentences that are too long."""
    for each in FORBIDDEN:
        if scope in each.scopes and (found := re.search(each.pattern, text)):
            yield f"{found[0]!r}: write {each.instead}"
    if scope in PEOPLE_READ:
        yield from (f"{count} words: {one[:60]}..." for one, count in lengths(text) if count > LONGEST_SENTENCE)


def lengths(text: str) -> Iterator[tuple[str, int]]:
    """Yield every sentence with its number of words. A line of a list or of a table begins a sentence."""
    for paragraph in re.split(r"\n\s*\n|\n\s*(?=[-*|]|\d+\. )", text):
        plain = " ".join(re.sub(r"`[^`]*`", "CODE", paragraph).split())
        for sentence in re.split(r"(?<=[.!?:;])\s+(?=[A-Z(`*\"])|\s\|\s", plain):
            words = re.findall(r"[\w'’/.,%-]*\w", sentence)
            if words:
                yield sentence, len(words)
