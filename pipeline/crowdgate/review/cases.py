"""Run the cases of a policy and compare their outcomes with the expected ones."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate.candidate import Measurement
from crowdgate.documents.yaml_text import YAML, read_document
from crowdgate.errors import Code, ConfigurationError, EnvironmentFault, Problem, nearest
from crowdgate.gate import Outcome, Verdict, gate_text, is_withheld, verdict
from crowdgate.planning.plan import plan_policy
from crowdgate.policy.cases import Case, PolicyCases
from crowdgate.policy.files import working_copy
from crowdgate.policy.parsing import parse

if TYPE_CHECKING:
    from crowdgate.candidate import Static
    from crowdgate.documents.yaml_text import Document, Location
    from crowdgate.kind.plan import Plan
    from crowdgate.measures import Measure
    from crowdgate.policy.cases import MeasuredNumber
    from crowdgate.policy.policy import GateRule


@dataclass(frozen=True)
class CaseResult:
    """The result of a case: `differences` lists in words every deviation from the expected outcome (none: the case
    holds).

    `verdicts` are those of the judged gates. `assumed` are the gates without a number in the case, which are assumed to
    pass.
    """

    file: Path
    line: int | None
    policy: str
    name: str
    outcome: str
    verdicts: tuple[Verdict, ...]
    differences: tuple[str, ...]
    assumed: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """True if nothing differs from the expected outcome."""
        return not self.differences

    def to_json(self) -> dict[str, Any]:
        """Return the result of the case as an object of JSON."""
        gates = {found.gate: str(found.outcome) for found in self.verdicts}
        return {
            "file": str(self.file),
            "line": self.line,
            "policy": self.policy,
            "case": self.name,
            "holds": self.holds,
            "outcome": self.outcome,
            "gates": gates,
            "taken_to_pass": list(self.assumed),
            "differences": list(self.differences),
        }


def files_of(paths: list[Path]) -> list[Path]:
    """Return the case files among `paths` and in folders among them. Raises EnvironmentFault if there is none."""
    found = [file for path in paths for file in (_below(path) if path.is_dir() else [path])]
    if not found:
        raise EnvironmentFault(f"no file of cases (*.yaml, *.yml) in {', '.join(map(str, paths))}")
    return found


def _below(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.suffix in YAML]


@dataclass(frozen=True, eq=False)
class CaseSuite:
    """A file of cases with its policy and plan. `names` are the gates in words, by the names that a case may use for
    them, and `problems` the mistakes of each case that has some."""

    document: Document
    file: PolicyCases
    policy: Path
    plan: Plan
    names: Mapping[str, str]
    problems: Mapping[int, Sequence[Problem]]

    def require_no_problems(self) -> None:
        """Raise ConfigurationError if a case has a mistake."""
        if self.problems:
            raise ConfigurationError([each for found in self.problems.values() for each in found])


def read_cases(file: Path) -> CaseSuite:
    """Return a file's test cases of a policy: each states the outcome to expect for given measurements or simulated
    rows. Raises ConfigurationError for a faulty policy, and for a file that is faulty as a whole."""
    document = read_document(file)
    stated = parse(PolicyCases, document)
    policy = _policy(document, stated.spec.policy)
    plan = plan_policy(policy)
    names = _names(plan)
    found = ((at, [*_case_problems(document, stated, at, names, plan)]) for at in range(len(stated.spec.cases)))
    return CaseSuite(document, stated, policy, plan, names, {at: problems for at, problems in found if problems})


def case_results(file: Path) -> Iterator[CaseResult]:
    """Yield the result of every case of a file without a mistake. Raises ConfigurationError as `read_cases` does, and
    after the last case for those with a mistake."""
    read = read_cases(file)
    for at, case in enumerate(read.file.spec.cases):
        if at in read.problems:
            continue
        outcome, verdicts, assumed = _case_outcome(read.plan, read.policy, case, read.names)
        differences = tuple(_differences(case, outcome, verdicts, read.names))
        line = read.document.lines.get(("spec", "cases", at))
        yield CaseResult(file, line, read.file.spec.policy, case.name, outcome, verdicts, differences, assumed)
    read.require_no_problems()


def _policy(document: Document, name: str) -> Path:
    """Return the path of the policy of that name. Raises ConfigurationError if there is none."""
    folder = working_copy(document.path) / "policies"
    if not (folder / name).is_file():
        known = sorted(path.name for path in folder.glob("*.yaml"))
        found, expected = f"no policy {name!r}", f"a file of policies/: {', '.join(known)}"
        at = ("spec", "policy")
        raise ConfigurationError(document.problem(at, found, expected, nearest(name, known), Code.UNKNOWN_NAME))
    return folder / name


def _names(plan: Plan) -> Mapping[str, str]:
    """Return each gate in words, by the names that a case may use for it: these words, and its measure's name if no
    other gate has this measure."""
    count = Counter(rule.measure for rule, _ in plan.gates)
    words = {gate_text(rule): gate_text(rule) for rule, _ in plan.gates}
    return words | {rule.measure: gate_text(rule) for rule, _ in plan.gates if count[rule.measure] == 1}


def _case_problems(
    document: Document, cases: PolicyCases, at: int, names: Mapping[str, str], plan: Plan
) -> Iterator[Problem]:
    """Yield the mistakes of a case."""
    case, here = cases.spec.cases[at], ("spec", "cases", at)
    yield from _unknown(document, case, here, names, plan)
    if case.name in (each.name for each in cases.spec.cases[:at]):
        found = f"a second case {case.name!r}"
        yield document.problem((*here, "name"), found, "each name once", None, Code.TWICE)
    yield from _measured_twice(document, case, here, names)
    most = plan.bundle.budget.spec.people
    if case.rows is not None and case.rows.people > most:
        expected = f"at most {most}, the people of the budget"
        yield document.problem((*here, "rows", "people"), str(case.rows.people), expected)


def _unknown(document: Document, case: Case, here: Location, names: Mapping[str, str], plan: Plan) -> Iterator[Problem]:
    """Yield a problem for each name in a case that is the name of no gate, or of several, where it stands first."""
    places: dict[str, Location] = {name: (*here, "expect", "gates", name) for name in case.expect.gates}
    places |= {each.gate: (*here, "measured", i, "gate") for i, each in [*enumerate(case.measured)][::-1]}
    for name, place in places.items():
        if name in names:
            continue
        several = [gate_text(rule) for rule, _ in plan.gates if rule.measure == name]
        found = f"is the measure of {len(several)} gates" if several else "is not a gate of the policy"
        expected = f"one of {', '.join(map(repr, several or _short_names(names)))}"
        instead = None if several else nearest(name, list(names))
        yield document.problem(place, f"{name!r} {found}", expected, instead, Code.UNKNOWN_NAME)


def _short_names(names: Mapping[str, str]) -> Sequence[str]:
    """Return the shortest name of each gate."""
    return list({gate: name for name, gate in sorted(names.items(), key=lambda pair: -len(pair[0]))}.values())


def _measured_twice(document: Document, case: Case, here: Location, names: Mapping[str, str]) -> Iterator[Problem]:
    seen: set[str] = set()
    for i, each in enumerate(case.measured):
        gate = names.get(each.gate)
        if gate is not None and gate in seen:
            place = (*here, "measured", i, "gate")
            yield document.problem(place, f"a second number for {gate}", "one number for each", None, Code.TWICE)
        seen |= set() if gate is None else {gate}


def _case_outcome(
    plan: Plan, policy: Path, case: Case, names: Mapping[str, str]
) -> tuple[str, tuple[Verdict, ...], tuple[str, ...]]:
    """Return the outcome of a case, the verdicts of its gates, and the gates without a number, which were assumed to
    pass."""
    from crowdgate.releases.rehearsal.rehearse import RehearsalRequest, rehearse

    if case.rows is None:
        verdicts = tuple(_case_verdicts(plan, case, names))
        judged = {found.gate for found in verdicts}
        rest = [Verdict(rule, of.reads, Outcome.PASS, None) for rule, of in plan.gates if gate_text(rule) not in judged]
        outcome = "withheld" if is_withheld([*verdicts, *rest]) else "published"
        return outcome, verdicts, tuple(found.gate for found in rest)
    with tempfile.TemporaryDirectory(prefix="crowdgate-case-") as scratch:
        asked = RehearsalRequest(policy, case.rows.people, None, case.rows.seed, Path(scratch) / "out")
        found = rehearse(asked)
        return found.result.outcome, found.result.verdicts, ()


def _case_verdicts(plan: Plan, case: Case, names: Mapping[str, str]) -> Iterator[Verdict]:
    given = {names[each.gate]: each for each in case.measured}
    alone = plan.first_release_facts()
    for rule, measure in plan.gates:
        stated = given.get(gate_text(rule))
        if stated is None and measure.of_static is not None:
            yield verdict(rule, measure, measure.of_static(alone, rule), alone)
        elif stated is not None:
            yield verdict(rule, measure, _number(stated, rule, measure, alone))


def _number(stated: MeasuredNumber, rule: GateRule, measure: Measure, alone: Static) -> Measurement | None:
    """Return a number that a case states as a measurement, with confidence limits: those stated, otherwise those of the
    noise for a noisy measure."""
    drawn = measure.of_noisy is not None and not measure.excess and stated.low is stated.high is None
    if drawn and measure.of_noisy is not None:
        return measure.of_noisy(alone, rule, stated.value)
    return Measurement(stated.value, *stated.interval)


def _differences(case: Case, outcome: str, verdicts: tuple[Verdict, ...], names: Mapping[str, str]) -> Iterator[str]:
    if outcome != case.expect.outcome:
        yield f"expected {case.expect.outcome}, would be {outcome}"
    said = {found.gate: found for found in verdicts}
    for name, expected in case.expect.gates.items():
        found = said.get(names[name])
        if found is None:
            yield f"{name}: expected {expected}, was not judged"
        elif str(found.outcome) != expected:
            yield f"{name}: expected {expected}, is {found.outcome}: {found.reason}"
