"""One release: prepare, reserve, read, protect, judge, then stage and publish, or withhold.

Nothing is read before the ledger has reserved the whole cost. From the first read on, a run is charged whatever its
end, and any stop shows one public word; the reason goes to the private record. Nothing is published before the ledger
has committed to its digest, so the same id never draws or publishes twice.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

from pipeline import manifest
from pipeline.candidate import Candidate, Confidential, Static
from pipeline.contract import Contract
from pipeline.errors import Crashed, FileFault, LedgerRefused
from pipeline.gate import Verdict, blocked
from pipeline.guarantee import Guarantee
from pipeline.histogram import Histogram, scan
from pipeline.io import publisher
from pipeline.io.expectations import RuleOutcome, row_rules_hold, run_rules
from pipeline.io.ledger import Budget, Entry, Ledger, Spend, State, open_ledger
from pipeline.io.policies import Bundle, read_bundle
from pipeline.io.private_record import write_private
from pipeline.io.release_files import WRITERS, write_dictionary
from pipeline.io.settings import ledger_url
from pipeline.io.tables import Facts, Table, choose_rows, open_table, read_records
from pipeline.jobs.plan import Plan, failed, judge_static, plan_release, verdict
from pipeline.noise import Noise, discrete_laplace
from pipeline.policy import parse_slot, release_id
from pipeline.report.release_page import release_page
from pipeline.sampling import SecretKey, bernoulli_thinning, person_words

Progress = Callable[[int, int], None]
"""(bytes read, bytes in all)."""


@dataclass(frozen=True)
class Request:
    """What a person or a schedule asks for. Names and paths only."""

    policy: Path
    slot: str
    input: Path | None = None
    to: Path | None = None
    ledger: str | None = None


@dataclass(frozen=True)
class Result:
    """How a release ended, as anybody may see it."""

    outcome: Literal["published", "withheld"]
    release_id: str
    path: Path | None
    guarantee: Guarantee
    verdicts: tuple[Verdict, ...]

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        return {
            "outcome": self.outcome,
            "release_id": self.release_id,
            "path": None if self.path is None else str(self.path),
            "guarantee": manifest.guarantee_json(self.guarantee),
            "verdicts": [manifest.verdict_json(found) for found in self.verdicts if found.public],
        }


@dataclass(frozen=True, eq=False)
class Run:
    """A release that may start: everything about it that is public."""

    plan: Plan
    slot: str
    id: str
    ledger: Ledger
    table: Table
    root: Path
    destination: Path


@dataclass(frozen=True, eq=False)
class Reserved:
    """A run that the ledger has charged."""

    run: Run
    static: Static
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, eq=False)
class Counted:
    """The table at the released levels, and what the contract's rules said of it. Confidential."""

    full: Histogram
    facts: dict[str, float]
    rules: tuple[RuleOutcome, ...]


@dataclass(frozen=True, eq=False)
class Judged:
    """A candidate with the verdicts of all gates."""

    candidate: Candidate
    verdicts: tuple[Verdict, ...]
    injected: bool


def release(request: Request, draw_key: Callable[[], SecretKey], progress: Progress | None = None) -> Result:
    """Run one release from its policy file to its end. Raises a CrowdgateError when it can't end in a verdict."""
    run = prepare(request)
    if isinstance(run, Result):
        return run
    reserved = reserve(run)
    if isinstance(reserved, Result):
        return reserved
    key = draw_key()
    counted = read(reserved, key, progress)
    judged = judge(reserved, counted, protect(reserved, counted, key), key)
    if blocked(judged.verdicts):
        return withhold(reserved, counted, judged)
    return publish(reserved, stage(reserved, counted, judged))


def prepare(request: Request) -> Run | Result:
    """Check policy, ledger, destination and the input's form; report the recorded end of a release that ran before."""
    bundle = read_bundle(request.policy)
    plan = plan_release(bundle)
    slot = parse_slot(request.slot)
    name = release_id(bundle.policy, slot)
    root = (request.to or bundle.root / bundle.policy.spec.publish.to).resolve()
    ledger = open_ledger(ledger_url(bundle.root, request.ledger), bundle.budget.spec.ledger)
    ledger.check(bundle.contract.id, budget_of(bundle))
    entry = ledger.entry(name)
    if entry is not None:
        return _recorded(plan, ledger, entry, root)
    publisher.check_destination(root, root / name)
    table = open_table(bundle.contract, columns_read(plan), request.input)
    return Run(plan, slot, name, ledger, table, root, root / name)


def reserve(run: Run) -> Reserved | Result:
    """Charge the whole release to its population, and judge the gates that read no data."""
    bundle, guarantee = run.plan.bundle, run.plan.guarantee
    stated = budget_of(bundle)
    spend = Spend(guarantee.epsilon, guarantee.delta)
    spent = run.ledger.reserve(run.id, bundle.digest, bundle.contract.id, stated, spend)
    budget = run.ledger.check(bundle.contract.id, stated)
    static = run.plan.static(budget.people, (budget.cap.epsilon, budget.cap.delta), (spent.epsilon, spent.delta))
    verdicts = judge_static(run.plan, static)
    if failed(verdicts):
        run.ledger.void(run.id)
        return Result("withheld", run.id, None, guarantee, tuple(verdicts))
    return Reserved(run, static, tuple(verdicts))


P = ParamSpec("P")
T = TypeVar("T")
Step = Callable[Concatenate[Reserved, P], T]


def after_reading(step: Step[P, T]) -> Step[P, T]:
    """Any stop of this step is a crash: the public sees one word, the curator the reason."""

    def guarded(reserved: Reserved, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return step(reserved, *args, **kwargs)
        except BaseException as error:
            fault, reason = isinstance(error, FileFault), f"{type(error).__name__}: {error}"
        # raised outside the except block: a chained exception would carry the confidential reason along
        _note_crash(reserved.run, step.__name__, reason)
        raise FileFault("the input changed while it was read") if fault else Crashed()

    guarded.__name__, guarded.__doc__ = step.__name__, step.__doc__
    return guarded


@after_reading
def read(reserved: Reserved, key: SecretKey, progress: Progress | None = None) -> Counted:
    """Read the table once into a histogram at the released levels; bad rows are invalid or dropped, never a refusal."""
    run, contract = reserved.run, reserved.run.plan.bundle.contract
    run.ledger.begin_reading(run.id)
    chosen = choose_rows(run.table, contract, person_words(key)) if contract.unit.person else None
    facts = Facts()
    shown = None if progress is None else (lambda done: progress(done, run.table.bytes_total))
    batches = read_records(run.table, contract, facts, chosen, shown)
    full = scan(batches, {"release": run.plan.mechanism.view})["release"]
    values = facts.values(contract)
    rules = run_rules(contract, facts.distinct(contract), values)
    if not row_rules_hold(rules):
        raise AssertionError("a row rule of the contract does not hold after cleaning")
    return Counted(full, dict(values), rules)


@after_reading
def protect(reserved: Reserved, counted: Counted, key: SecretKey, noise: Noise = discrete_laplace) -> Candidate:
    """Apply the mechanism with fresh coins."""
    mechanism = reserved.run.plan.mechanism
    protected = mechanism.protect(counted.full, bernoulli_thinning(key, mechanism.beta))
    confidential = Confidential(counted.full, protected.sample)
    return Candidate(reserved.static, protected.output, confidential, noise)


@after_reading
def judge(reserved: Reserved, counted: Counted, candidate: Candidate, key: SecretKey) -> Judged:
    """Measure what the remaining gates ask for, and judge it."""
    del counted
    verdicts = [
        verdict(rule, measure, measure.of_candidate(candidate, rule))
        for rule, measure in reserved.run.plan.gates
        if measure.of_candidate is not None
    ]
    return Judged(candidate, (*reserved.verdicts, *verdicts), key.injected)


@after_reading
def withhold(reserved: Reserved, counted: Counted, judged: Judged) -> Result:
    """Record that nothing is published."""
    run = reserved.run
    commitment = write_private(run.ledger.path, run.id, _private("withheld", counted, judged))
    run.ledger.commit(run.id, State.WITHHELD, None, None, commitment)
    return Result("withheld", run.id, None, run.plan.guarantee, judged.verdicts)


@dataclass(frozen=True)
class Ready:
    """A staged release that the ledger has committed to."""

    staged: publisher.Staged
    verdicts: tuple[Verdict, ...]


@after_reading
def stage(reserved: Reserved, counted: Counted, judged: Judged) -> Ready:
    """Write the release where only its owner sees it, and commit the ledger to its digest."""
    run = reserved.run
    staged = publisher.stage(run.root, run.id, run.slot, _writers(run, judged), lambda files: _seal(run, judged, files))
    commitment = write_private(run.ledger.path, run.id, _private("published", counted, judged))
    run.ledger.commit(run.id, State.COMMITTED, staged.manifest_digest, str(run.destination), commitment)
    return Ready(staged, judged.verdicts)


def publish(reserved: Reserved, ready: Ready) -> Result:
    """Move the committed release to its destination."""
    run = reserved.run
    publisher.publish(ready.staged, run.destination)
    run.ledger.published(run.id)
    return Result("published", run.id, run.destination, run.plan.guarantee, ready.verdicts)


def budget_of(bundle: Bundle) -> Budget:
    """The budget as its file states it."""
    stated = bundle.budget.spec
    cap = Spend(stated.epsilon, stated.delta)
    return Budget(bundle.budget.metadata.name, cap, stated.people, stated.unit, stated.relation)


def columns_read(plan: Plan) -> list[str]:
    """The columns that a release reads: what it publishes, and what the contract's rules speak of."""
    contract = plan.bundle.contract
    ruled = {rule.attribute for rule in contract.table_rules if rule.attribute} - {contract.unit.person}
    return [name for name in contract.by_name if name in plan.mechanism.levels or name in ruled]


def _recorded(plan: Plan, ledger: Ledger, entry: Entry, root: Path) -> Result:
    """The end of a release that ran before; publishes what was committed and not yet moved."""
    if entry.policy_digest != plan.bundle.digest:
        raise LedgerRefused(f"{entry.release_id} was used with other policy files; use a new version or slot")
    if entry.state is State.WITHHELD:
        return Result("withheld", entry.release_id, None, plan.guarantee, ())
    if entry.state is State.RESERVED or entry.manifest_digest is None or entry.destination is None:
        message = f"{entry.release_id} has started and not ended: it crashed or still runs; use a new slot"
        raise LedgerRefused(message, "spent")
    destination = Path(entry.destination)
    if not publisher.complete(destination, entry.manifest_digest):
        if entry.state is State.PUBLISHED:
            raise LedgerRefused(f"{entry.release_id} was published and its files are lost or changed", "lost")
        publisher.publish(publisher.recover(root, entry.release_id, entry.manifest_digest), destination)
    if entry.state is State.COMMITTED:
        ledger.published(entry.release_id)
    return Result("published", entry.release_id, destination, plan.guarantee, ())


def _writers(run: Run, judged: Judged) -> dict[str, Callable[[Path], None]]:
    levels, output = run.plan.mechanism.levels, judged.candidate.output
    spec, contract = run.plan.bundle.policy.spec, run.plan.bundle.contract
    attributes = [(contract.by_name[name], level) for name, level in levels.items()]
    page = _page(run, judged)
    data = {f"data.{name}": _writer(WRITERS[name], output, levels) for name in spec.publish.formats}
    return {
        **data,
        "dictionary.csv": lambda path: write_dictionary(attributes, path),
        "README.md": lambda path: _write_text(path, page),
    }


def _writer(write: Any, output: Histogram, levels: Any) -> Callable[[Path], None]:
    return lambda path: write(output, levels, path)


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _page(run: Run, judged: Judged) -> str:
    plan, policy = run.plan, run.plan.bundle.policy
    return release_page(
        title=policy.metadata.name,
        description=policy.metadata.description,
        owner=policy.metadata.owner,
        release_id=run.id,
        attribution="",
        levels=plan.mechanism.levels,
        beta=plan.mechanism.beta,
        k=plan.mechanism.k,
        guarantee=guarantee_lines(plan),
        verdicts=judged.verdicts,
        formats=policy.spec.publish.formats,
    )


def guarantee_lines(plan: Plan) -> list[str]:
    """The guarantee in words: total, parts, and the form for users who take the number of people as known."""
    return [plan.guarantee.words(), plan.guarantee.replace_one_form(plan.mechanism.beta).words()]


def _seal(run: Run, judged: Judged, files: Any) -> bytes:
    plan, policy, output = run.plan, run.plan.bundle.policy, judged.candidate.output
    contract: Contract = plan.bundle.contract
    metadata = policy.metadata
    return manifest.canonical(
        manifest.statement(
            release={"id": run.id, "policy": metadata.name, "version": metadata.version, "slot": run.slot},
            policy_digest=plan.bundle.digest,
            contract={"id": contract.id, "version": contract.version, "population": contract.population},
            mechanism=plan.mechanism.parameters(),
            guarantee=plan.guarantee,
            guarantee_words=" ".join(guarantee_lines(plan)),
            verdicts=judged.verdicts,
            columns=[
                {"name": name, "level": level.name, "values": len(level)}
                for name, level in plan.mechanism.levels.items()
            ],
            rows=output.rows,
            classes=len(output),
            files=files,
            key="injected" if judged.injected else "operating system",
            software={"crowdgate": version("crowdgate")},
        )
    )


def _private(outcome: str, counted: Counted, judged: Judged) -> dict[str, Any]:
    confidential = judged.candidate.confidential
    return {
        "outcome": outcome,
        "verdicts": [manifest.verdict_json(found) for found in judged.verdicts],
        "rules": [{"rule": rule.name, "kind": rule.kind, "passed": rule.passed} for rule in counted.rules],
        "facts": counted.facts,
        "rows": {"table": confidential.full.rows, "sample": confidential.sample.rows},
    }


def _note_crash(run: Run, step: str, reason: str) -> None:
    try:
        commitment = write_private(run.ledger.path, run.id, {"outcome": "crashed", "step": step, "reason": reason})
        run.ledger.note_private(run.id, commitment)
    except Exception:  # the disk may be full: the reservation stays charged all the same
        return
