"""The report on one run: a published release, or a withheld one. All of it is public."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from crowdgate import manifest
from crowdgate.forecast.singling_out_curve import curve_of_release
from crowdgate.kind.listing import text_listing
from crowdgate.kind.section import Lead, Section, paragraph
from crowdgate.kinds import KINDS
from crowdgate.number_text import decimal, whole
from crowdgate.pages.criteria import criteria_sections
from crowdgate.pages.four_questions import four_questions
from crowdgate.pages.gates import gate_section, margins, withholding_gates
from crowdgate.policy.policy import CONTEXT
from crowdgate.report.report import Report

if TYPE_CHECKING:
    from fractions import Fraction

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
    title = f"{told.release_id}: {told.outcome}"
    return Report(title, lambda: list(_sections(past, pictures, audits, origin)))


def _sections(
    past: Sequence[EndedRun], pictures: Sequence[Picture], audits: Sequence[str], origin: str
) -> Iterator[Section]:
    told, said = past[-1], past[-1].said
    yield from _outcome(told)
    yield _facts(told, origin)
    if said is not None and said.facts.informed:
        yield Section("", [manifest.INFORMED])
    if said is not None and said.facts.approvals:
        yield Section("", [manifest.approvals_text(said.facts.approvals)])
    if said is not None and said.facts.series is not None:
        yield Section("", [manifest.series_text(said.facts.series)])
    if said is not None and said.estimand is not None:
        yield Section("Whose rows", points=said.estimand.words())
    yield from gate_section(told)
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
    verdicts = told.verdicts or ()
    described = [told.said.about.description] if told.said is not None and told.said.about.description else []
    if told.outcome == "published":
        yield Section("", [Lead("Published.", _judged(told)), told.plain, *described])
    elif told.outcome == "withheld":
        stopped = list(withholding_gates(verdicts))
        rules = f"{len(stopped)} rule{'' if len(stopped) == 1 else 's'} stood against it:" if stopped else ""
        yield Section("", [Lead("Withheld: nothing was published.", rules)], stopped)
        yield Section("", [told.plain])
    else:
        yield Section("", [Lead(f"{told.outcome.capitalize()}.", told.plain), *described])


def _judged(told: EndedRun) -> str:
    verdicts = told.verdicts or ()
    if not verdicts:
        return ""
    waived = sum(each.waived for each in verdicts)
    but = f", but for {waived} that failed and {'is' if waived == 1 else 'are'} waived" if waived else ""
    advised = sum(not each.blocks and each.ended != "pass" for each in verdicts)
    return paragraph(
        f"{len(verdicts)} rules were judged. All that block passed{but}.",
        f"Of those that only advise, {advised} did not pass." if advised else None,
    )


def _facts(told: EndedRun, origin: str) -> Section:
    rows = _published_facts(told.said, origin) if told.said else [("privacy cost", _cost(told.epsilon, told.delta))]
    return Section(listings=[text_listing("", ("release", told.release_id), rows)])


def _cost(epsilon: Fraction, delta: Fraction) -> str:
    return f"epsilon {decimal(epsilon)}, delta {decimal(delta)}"


def _published_facts(said: Manifest, origin: str) -> Iterator[tuple[str, str]]:
    facts, names = said.facts, sorted(said.files)
    spent, budget = facts.spent, facts.budget
    yield "responsible", said.about.owner
    for name in CONTEXT:
        if stated := getattr(said.about, name):
            yield name.replace("_", " "), stated
    yield "what for", KINDS[said.mechanism.kind].serves
    yield "of whom", f"{said.contract.population}, at most {whole(facts.people)} people"
    yield "this release", _cost(said.guarantee.epsilon, said.guarantee.delta)
    yield (
        f"all of these people's releases{' with it' if facts.lifetime is None else ', past and future'}",
        f"epsilon {decimal(spent.epsilon)} of {decimal(budget.epsilon)},"
        f" delta {decimal(spent.delta)} of {decimal(budget.delta)}",
    )
    yield "who vouches for it", origin
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
    yield Section(
        points=[
            f"Of {each.release_id} ({each.outcome}) no figure is known{f': {each.why}' if each.why else ''}."
            for each in past[:-1]
            if each.verdicts is None
        ]
    )
