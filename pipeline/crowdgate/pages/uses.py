"""Uses that the data of a release allow and do not allow, how sure its figures are, and its citation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from crowdgate.kind.section import Section, table_section
from crowdgate.kinds import KINDS
from crowdgate.measures import MEASURES, Aspect
from crowdgate.planning.titles import run_title

if TYPE_CHECKING:
    from crowdgate.history.ended_run import EndedRun
    from crowdgate.manifest import Manifest

NO_FIGURE = "no rule measured it: see README.md of the release"


def use_section(told: EndedRun, said: Manifest) -> Iterator[Section]:
    """Yield the uses of a published release as a table, with the figures of usefulness, and how to cite it."""
    yield table_section("What the data may be used for, and what not", ("question", "answer"), _rows(told, said))


def _rows(told: EndedRun, said: Manifest) -> Iterator[tuple[str, str]]:
    kind = KINDS[said.mechanism.kind]
    yield "use it for", kind.fit
    yield "do not use it for", kind.unfit
    if said.use_text:
        yield "what it represents", said.use_text
    yield "how sure", "; ".join(_figures(told)) or NO_FIGURE
    yield "cite as", citation(told, said)


def _figures(told: EndedRun) -> Iterator[str]:
    """Yield the figures of usefulness that rules measured, each with its limit."""
    for each in told.verdicts or ():
        if each.measure in MEASURES and MEASURES[each.measure].aspect is Aspect.USEFULNESS:
            yield f"{MEASURES[each.measure].label}: {each.reason}"


def citation(told: EndedRun, said: Manifest) -> str:
    """Return the reference to a release, with the ids that identify it."""
    year, title = said.release.slot[:4], run_title(told.release_id, told.facts)
    source = f"Release {told.release_id} of the ledger {said.ledger.id}."
    return f"{said.about.owner} ({year}). {title} [data set]. {source}"
