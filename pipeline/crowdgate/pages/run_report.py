"""The report on one run: a published release, or a withheld one. All of it is public."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from crowdgate import manifest
from crowdgate.forecast.singling_out_curve import curve_of_release
from crowdgate.kind.section import ANNEX, Lead, Section, paragraph, table_section
from crowdgate.number_text import decimal
from crowdgate.pages.criteria import criteria_sections
from crowdgate.pages.decision import decision_section
from crowdgate.pages.four_questions import four_questions
from crowdgate.pages.gates import gate_section, margins, withholding_gates
from crowdgate.pages.next_options import next_options
from crowdgate.pages.run_band import UNREAD, run_band
from crowdgate.pages.uses import use_section
from crowdgate.planning.titles import run_title
from crowdgate.report.report import Report

if TYPE_CHECKING:
    from crowdgate.history.ended_run import EndedRun
    from crowdgate.kind.picture import Picture
    from crowdgate.manifest import Manifest

MOST_NAMED = 12
"""The greatest number of files that are named; of more only the number is shown."""


def run_report(
    past: Sequence[EndedRun],
    pictures: Sequence[Picture] = (),
    audits: Sequence[str] = (),
    origin: str = "this run made it",
) -> Report:
    """Return the report on the last of the runs of a policy, with the pictures of its kind of release, and the audits
    published with it, in sentences. `origin` states who vouches for it."""
    told = past[-1]
    title = f"{run_title(told.release_id, told.facts)} ({told.release_id})"
    return Report(
        title, lambda: list(_sections(past, pictures, audits, origin)), band=lambda: run_band(told, _judged(told))
    )


def _sections(
    past: Sequence[EndedRun], pictures: Sequence[Picture], audits: Sequence[str], origin: str
) -> Iterator[Section]:
    """Yield the two first pages: outcome, rules, uses, privacy cost and decision; then the annex."""
    told, said = past[-1], past[-1].said
    yield from _outcome(told)
    yield from next_options(past)
    yield from gate_section(told)
    if said is not None:
        yield from use_section(told, said)
    yield from _privacy(told)
    yield from decision_section(told)
    if details := list(_details(past, pictures, audits, origin)):
        yield ANNEX
        yield from details


def _details(
    past: Sequence[EndedRun], pictures: Sequence[Picture], audits: Sequence[str], origin: str
) -> Iterator[Section]:
    told, said = past[-1], past[-1].said
    yield from _facts(told, origin)
    if said is not None and said.estimand is not None:
        yield Section("Whose rows", points=said.estimand.words())
    yield from _margins(past)
    if said is None:
        return
    yield from four_questions(told, said, audits, curve_of_release(said))
    yield from criteria_sections(told.verdicts or ())
    if pictures:
        yield Section("What was published", pictures=lambda: pictures)
    words = [*(said.guarantee.plain or ()), *said.guarantee.words]
    yield Section("The privacy guarantee in full", words)


def _outcome(told: EndedRun) -> Iterator[Section]:
    """Yield the rules that stood against a withheld release, or the reason why nothing was read."""
    if told.outcome in UNREAD and told.plain:
        yield Section("", [told.plain])
    if told.outcome == "waiting":
        why = "It is staged, nobody has received it, and it waits for approval."
        yield Section("", [Lead("Not published.", why if told.said is not None else told.plain)])
    stopped = list(withholding_gates(told.verdicts or ()))
    if told.outcome == "withheld" and stopped:
        rules = f"{len(stopped)} rule{'' if len(stopped) == 1 else 's'} stood against it:"
        yield Section("", [Lead("Withheld: nothing was published.", rules)], stopped)


def _privacy(told: EndedRun) -> Iterator[Section]:
    """Yield what the run states on privacy: the cost and the bound on singling out with its baseline, or the reason why
    nothing is published."""
    said = told.said
    words = [] if said is None else [
        *([manifest.INFORMED] if said.facts.informed else []),
        *([manifest.series_text(said.facts.series)] if said.facts.series is not None else []),
    ]  # fmt: skip
    shown = told.outcome in UNREAD or (told.outcome == "waiting" and said is None)
    plain = [told.plain] if told.plain and not shown else []
    if plain or words:
        yield Section("Privacy cost", [*plain, *words])


def _judged(told: EndedRun) -> str:
    verdicts = told.verdicts or ()
    if not verdicts:
        return ""
    waived = sum(each.waived for each in verdicts)
    but = f", but for {waived} that failed and {'is' if waived == 1 else 'are'} waived" if waived else ""
    advised = sum(not each.blocks and each.ended != "pass" for each in verdicts)
    stopped = len(list(withholding_gates(verdicts)))
    blocking = f"{stopped} blocking rule{'' if stopped == 1 else 's'} did not pass"
    blocking = blocking if stopped else f"All blocking rules passed{but}"
    return paragraph(
        f"{len(verdicts)} rules were judged. {blocking}.",
        f"Of the rules that only advise, {advised} did not pass." if advised else None,
    )


def _facts(told: EndedRun, origin: str) -> Iterator[Section]:
    if told.said is not None:
        yield table_section("Record", ("fact", "value"), _published_facts(told.said, origin))


def _published_facts(said: Manifest, origin: str) -> Iterator[tuple[str, str]]:
    facts, names = said.facts, sorted(said.files)
    spent, budget = facts.spent, facts.budget
    yield "release", said.release.id
    yield (
        f"all of these people's releases{' with it' if facts.lifetime is None else ', past and future'}",
        f"epsilon {decimal(spent.epsilon)} of {decimal(budget.epsilon)},"
        f" delta {decimal(spent.delta)} of {decimal(budget.delta)}",
    )
    yield "origin confirmed by", origin
    yield "place in the ledger", f"line {said.ledger.line} of {said.ledger.id}"
    many = f"{len(names)} files, which its manifest lists"
    yield "files", ", ".join(names) if len(names) <= MOST_NAMED else many


def _margins(past: Sequence[EndedRun]) -> Iterator[Section]:
    """Yield pictures of the gates' figures in all runs, and the runs whose figures are unknown."""
    pictures, before = margins(past), len(past) - 1
    if pictures:
        runs = "the run before it" if before == 1 else f"the {before} runs before it"
        said = f"Each rule's figure in this run and {runs} of the same policy, withheld ones too, beside its limit."
        yield Section("How near to the limits", [said], pictures=lambda: pictures)
    unknown = [
        f"Of {each.release_id} ({each.outcome}) no figure is known{f': {each.why}' if each.why else ''}."
        for each in past[:-1]
        if each.verdicts is None
    ]
    yield from [Section(points=unknown)] if unknown else ()
