"""One release: prepare, reserve, read, protect, judge, then stage and publish, or withhold.

Nothing is read before the ledger has reserved the whole cost. From the first read on, a run is charged whatever its
end, and any stop shows one public word; the reason goes to the private record. Nothing is published before the ledger
has committed to its digest, so the same id never draws or publishes twice.
"""

from collections.abc import Callable

from pipeline.candidate import AnyCandidate
from pipeline.gate import blocked
from pipeline.io import publisher
from pipeline.io.expectations import row_rules_hold, run_rules
from pipeline.io.ledger import Spend, State, open_ledger
from pipeline.io.policies import read_bundle
from pipeline.io.private_record import write_private
from pipeline.io.settings import ledger_url
from pipeline.io.tables import Facts, choose_rows, open_table, read_records
from pipeline.jobs import staging
from pipeline.jobs.guard import after_reading
from pipeline.jobs.kinds import kind_of
from pipeline.jobs.plan import Plan, budget_of, failed, judge_static, plan_release, verdict
from pipeline.jobs.recorded import committed_folders, recorded
from pipeline.jobs.run import Coins, Counted, Judged, Ready, Request, Reserved, Result, Run, Sources
from pipeline.noise import OPENDP, Noise, NoiseSource, Selector, discrete_laplace, noisy_max
from pipeline.policy import parse_slot, release_id
from pipeline.sampling import SecretKey, bernoulli_thinning, person_words

Progress = Callable[[int, int], None]
"""(bytes read, bytes in all)."""


def release(request: Request, draw_key: Callable[[], SecretKey], progress: Progress | None = None) -> Result:
    """Run one release from its policy file to its end. Raises a CrowdgateError when it can't end in a verdict."""
    run = prepare(request)
    if isinstance(run, Result):
        return run
    reserved = reserve(run)
    if isinstance(reserved, Result):
        return reserved
    ready = conclude(reserved, draw_key(), progress)
    return ready if isinstance(ready, Result) else publish(reserved, ready)


def conclude(reserved: Reserved, key: SecretKey, progress: Progress | None = None) -> Ready | Result:
    """Everything between reading and the ledger's commitment: a staged release, or a withheld one."""
    counted = read(reserved, key, progress)
    judged = judge(reserved, protect(reserved, counted, key), key)
    end = withhold if blocked(judged.verdicts) else stage
    return end(reserved, counted, judged)


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
        return recorded(plan, ledger, entry)
    publisher.check_destination(root, root / name)
    publisher.sweep(root, ledger.id, lambda: committed_folders(ledger, root))
    table = open_table(bundle.contract, columns_read(plan), request.input)
    return Run(plan, slot, name, ledger, table, root, root / name)


def reserve(run: Run) -> Reserved | Result:
    """Charge the whole release to its population, and judge the gates that read no data."""
    bundle, guarantee = run.plan.bundle, run.plan.guarantee
    stated = budget_of(bundle)
    spend = Spend(guarantee.epsilon, guarantee.delta)
    sample = None if bundle.contract.sample is None else bundle.contract.sample.name
    spent = run.ledger.reserve(run.id, bundle.digest, bundle.contract.id, stated, spend, sample)
    try:
        budget = run.ledger.check(bundle.contract.id, stated)
        static = run.plan.static(budget.people, (budget.cap.epsilon, budget.cap.delta), (spent.epsilon, spent.delta))
        verdicts = judge_static(run.plan, static)
    except BaseException:
        run.ledger.void(run.id)  # nothing was read
        raise
    if failed(verdicts):
        run.ledger.void(run.id)
        return Result("withheld", run.id, None, guarantee, tuple(verdicts))
    return Reserved(run, static, tuple(verdicts))


@after_reading
def read(reserved: Reserved, key: SecretKey, progress: Progress | None = None) -> Counted:
    """Read the table once into a histogram at the released levels; bad rows are invalid or dropped, never a refusal."""
    run, contract = reserved.run, reserved.run.plan.bundle.contract
    run.ledger.begin_reading(run.id)
    facts = Facts()
    chosen = choose_rows(run.table, contract, person_words(key), facts) if contract.unit.person else None
    shown = None if progress is None else (lambda done: progress(done, run.table.bytes_total))
    batches = read_records(run.table, contract, facts, chosen, shown)
    views = kind_of(run.plan).count(run.plan.mechanism, batches, _coins(reserved, key))
    values = facts.values(contract)
    rules = run_rules(contract, facts.distinct(contract, run.table.columns), values)
    if not row_rules_hold(rules):
        raise AssertionError("a row rule of the contract does not hold after cleaning")
    return Counted(views, dict(values), rules)


@after_reading
def protect(
    reserved: Reserved,
    counted: Counted,
    key: SecretKey,
    noise: Noise = discrete_laplace,
    select: Selector = noisy_max,
    tables: NoiseSource = OPENDP,
) -> AnyCandidate:
    """Apply the mechanism with fresh coins and noise, and choose the levels where the policy leaves them open."""
    sources = Sources(noise, select, tables)
    return kind_of(reserved.run.plan).protect(reserved, counted.views, _coins(reserved, key), sources)


def _coins(reserved: Reserved, key: SecretKey) -> Coins:
    beta = reserved.run.plan.mechanism.beta
    return lambda number: bernoulli_thinning(key, beta, number)


@after_reading
def judge(reserved: Reserved, candidate: AnyCandidate, key: SecretKey) -> Judged:
    """Measure what the remaining gates ask for, and judge it."""
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
    record = staging.private("withheld", run.plan, counted, judged)
    commitment = write_private(run.ledger.path, run.ledger.id, run.id, record)
    run.ledger.commit(run.id, State.WITHHELD, None, None, commitment)
    return Result("withheld", run.id, None, run.plan.guarantee, judged.verdicts)


@after_reading
def stage(reserved: Reserved, counted: Counted, judged: Judged) -> Ready:
    """Write the release where only its owner sees it, and commit the ledger to its digest."""
    run = reserved.run
    staged = publisher.stage(
        run.staged, run.slot, kind_of(run.plan).writers(run, judged), lambda files: staging.seal(run, judged, files)
    )
    record = staging.private("published", run.plan, counted, judged)
    commitment = write_private(run.ledger.path, run.ledger.id, run.id, record)
    run.ledger.commit(run.id, State.COMMITTED, staged.manifest_digest, run.place, commitment)
    return Ready(staged, judged.verdicts)


def publish(reserved: Reserved, ready: Ready) -> Result:
    """Move the committed release to its destination."""
    run = reserved.run
    publisher.publish(ready.staged, run.destination)
    run.ledger.published(run.id)
    return Result("published", run.id, run.destination, run.plan.guarantee, ready.verdicts)


def columns_read(plan: Plan) -> list[str]:
    """The columns that a release reads: what it publishes, and what the contract's rules speak of."""
    contract = plan.bundle.contract
    ruled = {rule.attribute for rule in contract.table_rules if rule.attribute} - {contract.unit.person}
    counted = set(kind_of(plan).columns(plan.mechanism))
    return [name for name in contract.by_name if name in counted or name in ruled]
