"""The three criteria of anonymity in Opinion 05/2014 of the Article 29 Working Party (WP216), applied to a release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crowdgate.gate import Verdict
from crowdgate.kind.section import Section
from crowdgate.measures import MEASURES, Aspect

NOBODY = "No rule of the policy checks it on this release."


NOTHING_CERTIFIES = (
    "By which the Article 29 Working Party (WP216) asks whether data are anonymous. Nothing here certifies that they"
    " are."
)


def criteria_sections(verdicts: Sequence[Verdict]) -> Iterator[Section]:
    """Yield for each criterion its question, what the guarantee states about it, the verdicts on it in a run, and what
    no gate checked."""
    yield Section("The three criteria of Opinion 05/2014", [NOTHING_CERTIFIES])
    for aspect, asks, promised, unchecked in _CRITERIA:
        checked = [f"{each.gate}: {each.ended} ({each.reason})" for each in _of(aspect, verdicts)]
        yield Section(aspect.capitalize(), [asks, promised, "Checked:"], checked or ["nothing"], level=3)
        yield Section("", ["Not checked:"], [*([] if checked else [NOBODY]), *unchecked])


def _of(name: Aspect, verdicts: Sequence[Verdict]) -> list[Verdict]:
    return [each for each in verdicts if each.measure in MEASURES and MEASURES[each.measure].aspect is name]


_CRITERIA = (
    (
        Aspect.SINGLING_OUT,
        "Can somebody be described, with the help of what was released, so that exactly one person fits?",
        "Epsilon, delta and the number of people bound how likely that is, for descriptions that fit few at random. The"
        " bound holds for all releases of these people that their ledger knows, together.",
        (
            "A low figure is necessary, not sufficient: it makes no release anonymous (Cohen and Nissim 2020).",
            "The bound holds if people are independent of each other; families and other groups are not.",
        ),
    ),
    (
        Aspect.LINKABILITY,
        "Can two records about one person, or about a group, be linked, here or with other data?",
        "Epsilon and delta limit how much of what is published can depend on one person's record, and so how much"
        " can be linked. Releases of these people add up in their ledger.",
        (
            "Data about the same people that others publish are not in the ledger.",
            "Whether a published line is similar to somebody's known line: harm needs no link.",
        ),
    ),
    (
        Aspect.INFERENCE,
        "Can an attribute of a person be deduced with significant probability?",
        "Epsilon and delta limit how much inference about a person depends on whether that person's record is in the"
        " table.",
        (
            "Facts about groups: what holds of most people of a kind can be deduced of each of them, in the table or"
            " not.",
            "Attributes that no rule and no audit names.",
        ),
    ),
)
