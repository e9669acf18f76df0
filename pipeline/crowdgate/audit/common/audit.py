"""One audit: the question that it answers about a policy, its games, its findings, and how they are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from crowdgate.audit.common.findings import Findings
from crowdgate.audit.common.record import AnyRecord, AuditSetting
from crowdgate.audit.common.record_io import parsed
from crowdgate.audit.common.record_names import record_file
from crowdgate.audit.common.setting import common_fields, model_libraries, population_problem
from crowdgate.audit.common.text import OUTCOMES, facts_listing
from crowdgate.candidate import AuditFigures, AuditQuestion, Measurement
from crowdgate.errors import VerificationFailed
from crowdgate.gate import Outcome
from crowdgate.kind.band import Band, Tone
from crowdgate.kind.section import Section
from crowdgate.measures import MEASURES
from crowdgate.report.report import Report
from crowdgate.system.notebook_page import ShownInNotebooks
from crowdgate.system.short_repr import short_repr

if TYPE_CHECKING:
    from crowdgate.audit.common.ceiling import Ceiling
    from crowdgate.audit.common.game import Game
    from crowdgate.audit.common.population import Population
    from crowdgate.audit.common.trials import ScheduledGame
    from crowdgate.kind.plan import Plan
    from crowdgate.policy.policy import AuditSpec

BANDS: Mapping[Outcome, tuple[str, Tone]] = {
    Outcome.PASS: ("PASSED", "good"),
    Outcome.FAIL: ("FAILED", "bad"),
    Outcome.INCONCLUSIVE: ("CANNOT TELL", "open"),
}
"""The words and tones of outcomes on pages."""
NEXT_STEPS: Mapping[Outcome, str] = {
    Outcome.PASS: "keep the record beside the policy.",
    Outcome.FAIL: "release nothing under this policy before the failure is explained.",
    Outcome.INCONCLUSIVE: "repeat the audit with more trials, or correct what the reasons name.",
}
R = TypeVar("R", bound=AnyRecord)
F = TypeVar("F", bound=Findings)
Options = Mapping[str, Fraction]


@dataclass(frozen=True, eq=False)
class FinishedAudit(ShownInNotebooks, Generic[R, F]):
    """A finished audit: its record, its findings, the path of the record, and whether gates read it (`own`). Gates
    ignore an audit whose settings differ from the policy's."""

    __repr__ = short_repr

    record: R
    findings: F
    path: Path
    own: bool


@dataclass(frozen=True, eq=False)
class Audit(Generic[R, F]):
    """An audit of one question: everything in which audits differ."""

    question: AuditQuestion
    name: str
    """Stem of the record's file name beside a release: `name`.json."""
    title: str
    """First words of the title of its page."""
    options: frozenset[str]
    """Settings of the policy that the command line may replace."""
    record: type[R]
    setting: type[AuditSetting]
    controls: Mapping[str, str]
    """The expected result of each control, by its name."""

    policy_fields: Callable[[Plan, AuditSpec, int], Mapping[str, Any]]
    """Return the fields of the setting that the policy decides, for a population of this many units."""
    population_fields: Callable[[Plan, AuditSpec, Population], Mapping[str, Any]]
    """Return the fields of the setting that depend on the population itself."""
    refuse: Callable[[Plan, AuditSpec, Population, Fraction], None]
    """Raise ConfigurationError for a setting in which nothing can be found at this level."""
    schedule: Callable[[Plan, AuditSpec, Population, int], list[ScheduledGame]]
    """Return the games for a seed: the policy's own mechanism, and the controls."""

    findings: Callable[[R], F]
    measurement: Callable[[R, F, str, Options], Measurement | None]
    """Return the figure of a measure, at the options of a gate."""

    verdict: Callable[[FinishedAudit[R, F]], str]
    """Return one sentence that says whether the audit passed or failed."""
    lines: Callable[[FinishedAudit[R, F]], Sequence[str]]
    """Return all that a reader must know to understand the figures, after the conclusion."""
    sections: Callable[[FinishedAudit[R, F]], Sequence[Section]]
    """Return the findings, as sections between the conclusion and the explanations."""
    json_fields: Callable[[FinishedAudit[R, F]], Mapping[str, Any]]
    unseen: str
    """Sentence about the faults that this audit can't see, whatever its figures: the second sentence of its page."""

    public_only: bool = False
    """True if it can't be played on a confidential table, as it writes the table to temporary files."""
    plays: str = "releases"
    """The policy's field with the number of trials."""
    needed: Callable[[Any, Fraction, Game[Any, Any]], int | None] | None = None
    """Return the least number of trials with which a harmless mechanism can pass with probability .9, for a setting, a
    level and the game (None: no number suffices). None: any number does."""
    ceiling: Callable[[Plan, AuditSpec, Population], Ceiling] | None = None
    """Return the most that attackers could find, without playing on the policy's mechanism. None: no limit is out of
    their reach."""
    needs_models: bool = True
    """True if attacks fit models, which needs scikit-learn."""
    other_attributes: Callable[[Plan], tuple[str, ...] | None] = lambda _: None
    """Return the attributes that are read in addition to the mechanism's (None: only the mechanism's are read). Raises
    ConfigurationError for a policy that no table could satisfy."""
    oddities: Callable[[R], Iterator[str]] = lambda _: iter(())
    """Yield statements in a record that no audit would have written."""

    @property
    def file(self) -> str:
        """File name of this audit's record beside a release."""
        return record_file(self.question)

    @property
    def for_gates(self) -> bool:
        """True if gates can read records of this audit: a measure is made of them."""
        return any(measure.asks == self.question for measure in MEASURES.values())

    def require_libraries(self) -> None:
        """Raise ConfigurationError if the attacks fit models and scikit-learn is not installed."""
        if self.needs_models:
            model_libraries()

    def planned_setting(
        self, plan: Plan, spec: AuditSpec, population: Population, confidential: bool = False
    ) -> AuditSetting:
        """Return the setting of an audit to play: all that decides the findings except the seed and the noise of
        OpenDP's samplers. Raises ConfigurationError for a population of fewer than two units."""
        if population.size < 2:
            raise population_problem(plan, spec)
        libraries = {"libraries": model_libraries()} if self.needs_models else {}
        return self.setting(
            **common_fields(plan, population, confidential) | libraries,
            **self.policy_fields(plan, spec, population.size),
            **self.population_fields(plan, spec, population),
        )

    def read(self, data: bytes) -> tuple[R, F]:
        """Return the record in the bytes `data`, with its findings computed anew. Raises VerificationFailed if the
        bytes are not a record of this audit."""
        record = parsed(data, self.record)
        try:
            return record, self.findings(record)
        except (ValueError, ArithmeticError, LookupError, AssertionError):
            raise VerificationFailed("this file is not the record of an audit") from None

    def figures(self, record: R, findings: F, slot: date) -> AuditFigures:
        """Return the recorded audit's figures for gates: its measures, and its age in days at this slot (the scheduled
        date of a release)."""
        age = max(0, (slot - record.made).days)
        return AuditFigures(lambda name, options: self.measurement(record, findings, name, options), age)

    def conclusion(self, found: FinishedAudit[R, F]) -> str:
        """Return the outcome in one sentence: passed, failed, or the reasons why the audit cannot tell."""
        if found.findings.outcome is Outcome.INCONCLUSIVE:
            return f"Cannot tell: {'; '.join(found.findings.reasons)}."
        return self.verdict(found)

    def text(self, found: FinishedAudit[R, F]) -> list[str]:
        """Return sentences: the conclusion, what the audit can't see, all that a reader must know to understand the
        figures, and a note if gates ignore this audit."""
        return [self.conclusion(found), self.unseen, *self.lines(found), *self._unread(found)]

    def _unread(self, found: FinishedAudit[R, F]) -> Iterator[str]:
        if not self.for_gates:
            yield "No gate reads this audit."
        elif not found.own:
            yield "Settings differ from the policy's, so gates ignore this audit."

    def json(self, found: FinishedAudit[R, F]) -> dict[str, Any]:
        """Return the JSON object that `--json` prints: outcome, reasons, findings and the record."""
        return {
            "outcome": str(found.findings.outcome), "conclusion": self.text(found),
            "reasons": list(found.findings.reasons), "path": str(found.path),
            "read_by_gates": self.for_gates and found.own, **self.json_fields(found),
            "record": found.record.model_dump(mode="json"),
        }  # fmt: skip

    def report(self, found: FinishedAudit[R, F]) -> Report:
        """Return the report of the audit, for people and for programs."""
        setting, outcome = found.record.setting, OUTCOMES[found.findings.outcome]
        return Report(
            f"{self.title} of {setting.policy}, version {setting.version}: {outcome}",
            lambda: list(self._sections(found)),
            lambda: self.json(found),
            opening=f"{outcome} {setting.policy}/{setting.version}, {self.question}",
            band=lambda: self._band(found),
        )

    def _band(self, found: FinishedAudit[R, F]) -> Band:
        """Return the band of the audit's page: outcome, policy, population, and what to do with the record."""
        setting, (word, tone) = found.record.setting, BANDS[found.findings.outcome]
        facts = [
            ("Policy", f"{setting.policy}, version {setting.version}"), ("Population", setting.population),
            ("Question", str(self.question)), ("Day", found.record.made.isoformat()),
            ("Read by gates", "yes" if self.for_gates and found.own else "no"),
        ]  # fmt: skip
        title = f"{self.title} of {setting.policy}, version {setting.version}"
        step = NEXT_STEPS[found.findings.outcome]
        return Band(word, title, tone, self.conclusion(found), facts, next=step)

    def _sections(self, found: FinishedAudit[R, F]) -> Iterator[Section]:
        conclusion, unseen, *further = self.text(found)
        yield Section(sentences=[conclusion, unseen])
        yield from self.sections(found)
        yield Section("What this says, and what it does not", further)
        if notes := [f"{each.mechanism}: {each.note}" for each in found.record.controls]:
            yield Section("Controls that were played", points=notes, further=True)
        yield Section("What repeats it", listings=[facts_listing(found.record)], further=True)
