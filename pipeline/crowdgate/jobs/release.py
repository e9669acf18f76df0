"""One release: prepare, reserve, read, protect, judge, then stage and publish, or withhold.

Nothing is charged before the destination is tried out and claimed, and nothing is read before the ledger has reserved
the whole cost. From the first read on, a run is charged whatever its
end, and any stop shows one public word; the reason goes to the private record. Nothing is published before the ledger
has committed to its digest, so the same id never draws or publishes twice.
"""

import secrets
from collections.abc import Callable
from dataclasses import replace

from crowdgate.errors import ConfigurationError, Problem
from crowdgate.extras import EXPECTATIONS, RELEASE, need
from crowdgate.files import is_url
from crowdgate.gate import blocked, verdict
from crowdgate.jobs import staging
from crowdgate.jobs.anchors import destinations_of, refuse_unanchored
from crowdgate.jobs.audited import evidence
from crowdgate.jobs.catalogue import catalogue_signed
from crowdgate.jobs.claimed import claim, claim_given_back, settled
from crowdgate.jobs.days import judged_on
from crowdgate.jobs.destinations import refuse_taken
from crowdgate.jobs.dry_run import refuse_dry_run
from crowdgate.jobs.guard import after_reading
from crowdgate.jobs.kl.held import held_here, hold_decisions
from crowdgate.jobs.ledgers import ledger_at
from crowdgate.jobs.plan import budget_of, bundle_of, failed, judge_static, plan_release
from crowdgate.jobs.recorded import committed_folders, recorded
from crowdgate.jobs.register_counted import counted_register
from crowdgate.kind.kind import Protected
from crowdgate.kind.randomness import KeyedRandomness, Randomness
from crowdgate.kind.run import Counted, Judged, Ready, Request, Reserved, Result, Run
from crowdgate.lean import arrow_alone
from crowdgate.ledger.ledger import Asked, Spend, State
from crowdgate.ledger.private import write_private
from crowdgate.policy.policy import parse_slot, release_id, version_of
from crowdgate.publish import publisher
from crowdgate.publish.probe import probe
from crowdgate.sampling import SecretKey
from crowdgate.sources import open_source
from crowdgate.sources.counting import Executor, Task, counted, histograms, serial
from crowdgate.sources.engine import engine
from crowdgate.sources.ingested import described, units
from crowdgate.sources.rules import Ask, row_rules_hold, run_rules

Progress = Callable[[int, int], None]
"""(bytes read, bytes in all)."""
Announce = Callable[[str], None]
"""Told the id of a release that is about to read data."""
_WITHHELD = "Nothing was published: a rule that must hold does not."
_UNSPENT = "Nothing was read, and nothing is spent."
_SPENT = "The table was read, so what the release costs stays spent."


def release(
    request: Request,
    draw_key: Callable[[], SecretKey],
    progress: Progress | None = None,
    announce: Announce | None = None,
) -> Result:
    """Run one release from its policy file to its end. Raises a CrowdgateError when it can't end in a verdict."""
    run = prepare(request)
    if isinstance(run, Result):
        return run
    reserved = reserve(run)
    if isinstance(reserved, Result):
        return reserved
    ready = conclude(reserved, draw_key(), progress, announce)
    return ready if isinstance(ready, Result) else publish(reserved, ready)


def conclude(
    reserved: Reserved, key: SecretKey, progress: Progress | None = None, announce: Announce | None = None
) -> Ready | Result:
    """Everything between reading and the ledger's commitment: a staged release, or a withheld one."""
    if announce is not None:
        announce(reserved.run.id)
    randomness = KeyedRandomness(key)
    found = read(reserved, key, _executor(reserved.run, progress))
    judged = judge(reserved, found, protect(reserved, found, randomness), randomness)
    end = withhold if blocked(judged.verdicts) else stage
    return end(reserved, found, judged)


def prepare(request: Request) -> Run | Result:
    """Check policy, ledger, destination and the input's form; report the recorded end of a release that ran before."""
    need(RELEASE, "release")
    bundle = bundle_of(request.policy)
    refuse_dry_run(bundle)
    _refuse_urls(request)
    others = held_here(bundle.root, bundle.contract, bundle.budget, request.ledger).problems
    plan = plan_release(bundle, others)
    for rule in bundle.contract.engine_rules:
        need(EXPECTATIONS, rule.name, str(bundle.contract.files[0]))
    slot = parse_slot(request.slot)
    name = release_id(bundle.policy, slot)
    root = (request.to or bundle.root / bundle.policy.spec.publish.to).resolve()
    ledger = ledger_at(bundle.root, request.ledger, bundle.budget.spec.ledger)
    refuse_taken(bundle, request.to, ledger.path)
    ledger.check(bundle.contract.id, budget_of(bundle), version_of(bundle.policy), bundle.digest)
    refuse_unanchored(ledger, [root, *destinations_of(ledger, [bundle.root])], request.anchors)
    hold_decisions(bundle.root, bundle.contract, ledger)
    entry = ledger.entry(name)
    if entry is not None and not entry.lease:
        return recorded(plan, ledger, entry, root)
    publisher.check_free(root / name)
    probe(root, root / name)
    publisher.sweep(root, ledger.id, lambda: committed_folders(ledger, root))
    staging.foretell(plan, name, slot)
    arrow_alone()
    source = open_source(bundle.contract, plan.columns, request.input)
    register, known = counted_register(plan), evidence(plan, ledger, slot)
    run = (plan, slot, name, ledger, source, root, root / name, request.holder or secrets.token_hex(8))
    return claim(Run(*run, known.audits, known.records, register))


def _refuse_urls(request: Request) -> None:
    for option, path in (("--input", request.input), ("--to", request.to)):
        if path is not None and is_url(str(path)):
            expected = "a file or folder of this machine"
            raise ConfigurationError(Problem("command line", None, option, f"the URL {str(path)!r}", expected))


@claim_given_back
def reserve(run: Run) -> Reserved | Result:
    """Charge the whole release to its population, and judge the gates that read no data."""
    bundle, guarantee = run.plan.bundle, run.plan.guarantee
    stated = budget_of(bundle)
    spend = Spend(guarantee.epsilon, guarantee.delta)
    sample = None if bundle.contract.sample is None else bundle.contract.sample.name
    asked = Asked(
        run.id, bundle.digest, bundle.contract.id, stated, spend, sample, version_of(bundle.policy), run.holder
    )
    charge = run.ledger.reserve(asked)
    try:
        claim(run)  # another run of this ledger may have given it back until it saw the charge
        budget = run.ledger.check(bundle.contract.id, stated)
        facts = run.plan.static(
            budget.people, (budget.cap.epsilon, budget.cap.delta), (charge.spent.epsilon, charge.spent.delta)
        )
        static = replace(facts, audits=run.audits)
        verdicts = judge_static(run.plan, static, judged_on(run.slot, charge.line))
        informed = run.ledger.informed(bundle.contract.population, bundle.digest, charge.line.number)
    except BaseException:
        run.ledger.void(run.id, charge.number)  # nothing was read
        raise
    if failed(verdicts):
        run.ledger.void(run.id, charge.number)
        return Result("withheld", run.id, None, guarantee, tuple(verdicts), f"{_WITHHELD} {_UNSPENT}")
    return Reserved(run, charge, static, tuple(verdicts), informed)


def _executor(run: Run, progress: Progress | None) -> Executor:
    total = sum(part.size for part in run.source.parts)
    return serial(None if progress is None else lambda done: progress(done, total))


def read(reserved: Reserved, key: SecretKey, executor: Executor) -> Counted:
    """Begin to read, which the ledger refuses to a run whose lease was given back, and count the table."""
    with engine(reserved.run.plan.bundle.contract.engine_rules) as ask:
        reserved.run.ledger.begin_reading(reserved.run.id, reserved.charge.number)
        return count(reserved, key, executor, ask)


@after_reading
def count(reserved: Reserved, key: SecretKey, executor: Executor, ask: Ask) -> Counted:
    """Count the table once in the views of its kind; bad rows are invalid or dropped, never a refusal."""
    run, contract = reserved.run, reserved.run.plan.bundle.contract
    task = Task(contract, run.plan.columns, run.plan.protection.views(), run.plan.watched)
    total = counted(run.source, task, executor)
    values = total.facts.values(contract)
    rules = run_rules(contract, total.facts.distinct(contract, task.columns), values, ask)
    if task.columns and not row_rules_hold(rules):
        raise AssertionError("a row rule of the contract does not hold after cleaning")
    ingested = staging.guarded(lambda: described(total, task))
    return Counted(histograms(total, task, key), units(total, task), ingested, dict(values), rules)


@after_reading
def protect(reserved: Reserved, found: Counted, randomness: Randomness) -> Protected:
    """Apply the mechanism with fresh coins and noise, and choose the levels where the policy leaves them open."""
    return reserved.run.plan.protection.protect(reserved.static, found.views, randomness)


@after_reading
def judge(reserved: Reserved, found: Counted, protected: Protected, randomness: KeyedRandomness) -> Judged:
    """Measure what the remaining gates ask for, and judge it."""
    made, of = protected.candidate, reserved.run.register
    register = None if of is None else of.at(made.static.levels)
    day = judged_on(reserved.run.slot, reserved.charge.line)
    candidate = replace(made, input=found.input, noise=randomness.noise, register=register)
    verdicts = [
        verdict(rule, measure, measure.of_candidate(candidate, rule), candidate.static, day)
        for rule, measure in reserved.run.plan.gates
        if measure.of_candidate is not None
    ]
    return Judged(protected, (*reserved.verdicts, *verdicts), randomness.key.injected)


@after_reading
def withhold(reserved: Reserved, found: Counted, judged: Judged) -> Result:
    """Record that nothing is published."""
    run = reserved.run
    record = staging.private("withheld", run.plan, found, judged)
    commitment = write_private(run.ledger.path, run.ledger.id, run.id, record)
    run.ledger.commit(run.id, State.WITHHELD, None, None, commitment, reserved.charge.number)
    settled(run)
    return Result(
        "withheld", run.id, None, run.plan.guarantee, judged.verdicts, f"{_WITHHELD} {_SPENT}{_register_words(run)}"
    )


def _register_words(run: Run) -> str:
    return "" if run.register is None else f" {run.register.words}"


@after_reading
def stage(reserved: Reserved, found: Counted, judged: Judged) -> Ready:
    """Write the release where only its owner sees it, and commit the ledger to its digest."""
    run, written = reserved.run, staging.Statement(reserved, judged, reserved.run.ledger.signer)
    staged = publisher.stage(run.staged, run.slot, written.writers(), written.seal)
    record = staging.private("published", run.plan, found, judged)
    commitment = write_private(run.ledger.path, run.ledger.id, run.id, record)
    digest, number = staged.manifest_digest, reserved.charge.number
    run.ledger.commit(run.id, State.COMMITTED, digest, run.place, commitment, number)
    return Ready(staged, judged.verdicts)


def publish(reserved: Reserved, ready: Ready) -> Result:
    """Move the committed release to its destination."""
    run = reserved.run
    publisher.publish(ready.staged, run.destination)
    run.ledger.published(run.id, reserved.charge.number)
    settled(run)
    catalogue_signed(run.root, run.plan.bundle.root, run.ledger)
    plain = f"{run.plan.plain(reserved.static)[0]}{_register_words(run)}"
    return Result("published", run.id, run.destination, run.plan.guarantee, ready.verdicts, plain)
