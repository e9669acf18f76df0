"""One release: prepare, reserve, read, protect, judge, then stage and publish, or withhold.

Nothing is charged before the destination is tested and claimed, and nothing is read before the ledger has reserved the
whole privacy cost. From the first read on, a run is charged whatever its outcome. Any exception then shows one public
word, and the reason goes to the private record. Nothing is published before the ledger has committed to its digest, so
one id never draws or publishes twice.
"""

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from crowdgate.accounting.renyi import Divergences
from crowdgate.audit.evidence import evidence
from crowdgate.candidate import Candidate
from crowdgate.errors import ConfigurationError, CrowdgateError, Problem
from crowdgate.gate import is_withheld, verdict
from crowdgate.kind.randomness import KeyedRandomness, Randomness
from crowdgate.kind.run import CommittedRelease, CountedTable, JudgedCandidate, Request, ReservedRun, Result, Run
from crowdgate.ledger.ledger import Budget, ChargeRequest, Spend, State
from crowdgate.ledger.private import write_private
from crowdgate.planning.approvals import approvals_before, record_approvals, without_approval
from crowdgate.planning.budget_left import budget_after
from crowdgate.planning.budget_values import budget_of
from crowdgate.planning.catalogue import write_signed_catalogue
from crowdgate.planning.crash_guard import after_reading
from crowdgate.planning.decisions import check_decisions, require_known_decisions
from crowdgate.planning.destinations import refuse_taken_destination
from crowdgate.planning.gate_verdicts import any_withholds, judge_static
from crowdgate.planning.open_ledger import OpenedLedger
from crowdgate.planning.outside_state import OutsideState
from crowdgate.planning.paid_series import series_request, series_text
from crowdgate.planning.plan import bundle_of, plan_release
from crowdgate.planning.published_places import refuse_leftovers
from crowdgate.planning.register_counts import counted_register
from crowdgate.planning.spill_folder import spill_of_people, sweep_spills
from crowdgate.policy.policy import release_id, version_of
from crowdgate.publish import publisher
from crowdgate.publish.object_store import local_folder
from crowdgate.publish.reserved_space import free_space, shrinking
from crowdgate.publish.trial_publication import probe
from crowdgate.releases import staging
from crowdgate.releases.destination_lock import (
    claim_destination,
    give_back_unless_charged,
    remove_claim,
    sweep_killed_runs,
)
from crowdgate.releases.enforcement import refuse_dry_run
from crowdgate.releases.facts_of_run import facts_of_run, series_of_run
from crowdgate.releases.hold import held_release
from crowdgate.releases.late_source import when_ready
from crowdgate.releases.object_destination import publish_copy, put_catalogue_copy
from crowdgate.releases.resume import committed_folders, resume_release
from crowdgate.releases.slot_day import slot_of, waiver_day
from crowdgate.releases.waiting import waiting_release
from crowdgate.sampling import SecretKey
from crowdgate.sources import open_source
from crowdgate.sources.counting import CountingTask, Executor, ExecutorFor, count_table, histograms, serial
from crowdgate.sources.engine import Ask, engine
from crowdgate.sources.executors import check_executor, executor_for
from crowdgate.sources.ingested import ingestion_figures, units
from crowdgate.sources.rules import row_rules_hold, run_rules
from crowdgate.sources.spill import Spill
from crowdgate.system.arrow_without_pandas import use_arrow_without_pandas
from crowdgate.system.extras import EXPECTATIONS, RELEASE, need
from crowdgate.system.regular_files import holds_url

Progress = Callable[[int, int], None]
"""A callback with (bytes read, bytes in all)."""
Announce = Callable[[str], None]
"""A callback with the id of a release that is about to read data."""
_WITHHELD = "Nothing was published: a blocking gate did not pass."
_UNSPENT = "The table was not read, and nothing is charged."
_SPENT = "The table was read, so the privacy cost stays charged."


def release(
    request: Request,
    draw_key: Callable[[], SecretKey],
    progress: Progress | None = None,
    announce: Announce | None = None,
) -> Result:
    """Run one release from its policy file to its end. Raises a CrowdgateError if it can't end in a verdict."""
    with executor_for(request.workers, request.cluster) as executor:
        run = when_ready(request, prepare)
        if isinstance(run, Result):
            return run
        reserved = reserve(run)
        if isinstance(reserved, Result):
            return reserved
        ready = conclude(reserved, draw_key(), progress, announce, executor)
    return ready if isinstance(ready, Result) else publish(reserved, ready)


def conclude(
    reserved: ReservedRun,
    key: SecretKey,
    progress: Progress | None = None,
    announce: Announce | None = None,
    executor: ExecutorFor = serial,
) -> CommittedRelease | Result:
    """Run all steps from reading to the ledger's commitment. Return the staged release, or the result of a withheld
    one.
    """
    if announce is not None:
        announce(reserved.run.id)
    found = read(reserved, key, executor(_in_bytes(reserved.run, progress)))
    return decide(reserved, found, protected(reserved, found, KeyedRandomness(key)))


def protected(reserved: ReservedRun, found: CountedTable, randomness: KeyedRandomness) -> JudgedCandidate:
    """Apply the mechanism to the counted table and judge all gates, with the randomness of this release."""
    return judge(reserved, found, protect(reserved, found, randomness), randomness)


def decide(reserved: ReservedRun, found: CountedTable, judged: JudgedCandidate) -> CommittedRelease | Result:
    """Stage or withhold a judged release, as its gates decide."""
    end = withhold if is_withheld(judged.verdicts) else stage
    return end(reserved, found, judged)


def prepare(request: Request) -> Run | Result:
    """Check policy, ledger, destination and the input's form. Return the run, or the recorded result of an
    earlier run.
    """
    need(RELEASE, "release")
    bundle = bundle_of(request.policy)
    refuse_dry_run(bundle)
    _refuse_urls(request)
    opened = OpenedLedger(bundle.root, bundle.budget.spec.ledger, request.ledger)
    plan = plan_release(bundle, check_decisions(bundle.root, bundle.contract, opened).problems)
    classes = request.classes
    if classes is not None:
        plan = without_approval(replace(plan, count_classes=lambda _: classes))
    for rule in bundle.contract.expectations:
        need(EXPECTATIONS, rule.name, str(bundle.contract.files[0]))
    slot = slot_of(bundle.policy, request)
    name = release_id(bundle.policy, slot)
    root = (request.to or local_folder(bundle.root, bundle.policy.spec.publish.to)).resolve()
    ledger = opened.ledger()
    refuse_taken_destination(bundle, request.to, ledger.path)
    sweep_spills(ledger)
    ledger.admit([root], request.anchors)
    ledger.check(bundle.contract.id, budget_of(bundle), version_of(bundle.policy), bundle.digest)
    roots = [root, *OutsideState(bundle.root).destinations(ledger)]
    require_known_decisions(bundle.root, bundle.contract, ledger)
    entry = ledger.entry(name)
    if entry is not None and not entry.lease:
        return resume_release(plan, ledger, entry, root)
    held = held_release(plan, opened, request, name)
    if held is not None:
        return held
    approvals = approvals_before("charge", plan, ledger, name)
    refuse_leftovers(ledger, name, roots, released=False)
    publisher.check_free(root / name)
    probe(root, root / name)
    publisher.sweep(root, ledger.id, lambda: committed_folders(ledger, root))
    sweep_killed_runs(root, ledger)
    staging.check_manifest_fits(plan, name, slot)
    use_arrow_without_pandas()
    source = open_source(bundle.contract, plan.columns, request.input if request.table is None else request.table)
    check_executor(request.workers, request.cluster, source)
    register, known = counted_register(plan), evidence(plan, ledger, slot)
    run = (plan, slot, name, ledger, source, root, root / name, request.holder or secrets.token_hex(8))
    return claim_destination(Run(*run, known.audits, known.records, register, approvals))


def _refuse_urls(request: Request) -> None:
    for option, path in (("--input", request.input), ("--to", request.to)):
        if path is not None and holds_url(path):
            expected = "a file or folder of this machine"
            raise ConfigurationError(Problem("command line", None, option, f"the URL {str(path)!r}", expected))


@give_back_unless_charged
def reserve(run: Run) -> ReservedRun | Result:
    """Charge the privacy cost of the release to its population, and judge the gates that read no data. Return the
    reserved run, or the result of a withheld release.
    """
    bundle, guarantee = run.plan.bundle, run.plan.guarantee
    stated, divergences = _budget_and_divergences(run)
    spend = Spend(guarantee.epsilon, guarantee.delta)
    sample = None if bundle.contract.sample is None else bundle.contract.sample.name
    asked = ChargeRequest(
        run.id, bundle.digest, bundle.contract.id, stated, spend, sample, version_of(bundle.policy), run.holder,
        divergences, series_request(run.plan.series),
    )  # fmt: skip
    charge = run.ledger.reserve(asked)
    try:
        informed = run.ledger.informed(bundle.contract.population, bundle.digest, charge.line.number)
        record_approvals(run.ledger, run.id, run.approvals)
        claim_destination(run)  # another run of this ledger may have given it back until it saw the charge
        budget = run.ledger.check(bundle.contract.id, stated)
        cap, spent = ((each.epsilon, each.delta) for each in (budget.cap, charge.spent))
        facts = run.plan.static(budget.people, cap, spent, budget.lifetime)
        static = replace(facts, audits=run.audits)
        verdicts = judge_static(run.plan, static, waiver_day(run.slot, charge.line))
    except BaseException:
        run.ledger.void(run.id, charge.number)  # nothing was read
        raise
    if any_withholds(verdicts):
        run.ledger.void(run.id, charge.number)
        known = facts_of_run(run.plan, run.ledger, run.id, charged=False)
        plain, series = f"{_WITHHELD} {_UNSPENT}", known.series
        return Result("withheld", run.id, None, guarantee, tuple(verdicts), plain, facts=known, series=series)
    return ReservedRun(run, charge, static, tuple(verdicts), informed)


def _budget_and_divergences(run: Run) -> tuple[Budget, Divergences | None]:
    """Return the budget of the policy and, if it is counted in Renyi divergences, those of this release at the orders
    that the ledger has recorded, or will record with the first charge.
    """
    stated = budget_of(run.plan.bundle)
    if stated.lifetime is None:
        return stated, None
    in_force = run.ledger.check(run.plan.bundle.contract.id, stated)
    assert in_force.lifetime is not None, "the ledger refuses another accounting"
    return in_force, run.plan.divergences(in_force.lifetime.filter)


def _in_bytes(run: Run, progress: Progress | None) -> Callable[[int], None] | None:
    total = sum(part.size for part in run.source.parts)
    return None if progress is None else lambda done: progress(done, total)


def read(reserved: ReservedRun, key: SecretKey, executor: Executor) -> CountedTable:
    """Begin to read, which the ledger refuses after the lease was given back, and count the table."""
    run = reserved.run
    with engine(run.plan.bundle.contract.expectations) as ask, spill_of_people(run.ledger, run.plan) as spill:
        run.ledger.begin_reading(run.id, reserved.charge.number)
        return count(reserved, key, executor, ask, spill)


@after_reading
def count(
    reserved: ReservedRun, key: SecretKey, executor: Executor, ask: Ask, spill: Spill | None = None
) -> CountedTable:
    """Count the table once in the views of the release's kind; invalid rows are coded as invalid or dropped, and never
    stop the run.
    """
    run, contract = reserved.run, reserved.run.plan.bundle.contract
    task = CountingTask(contract, run.plan.columns, run.plan.protection.views, run.plan.watched)
    total = count_table(run.source, task, executor, spill)
    values = total.facts.values(contract)
    answers = ask(total.facts.weighted_cells(contract))
    rules = run_rules(contract, total.facts.distinct(contract, task.columns), values, answers)
    if task.columns and not row_rules_hold(rules):
        raise AssertionError("a row rule of the contract does not hold after cleaning")
    ingested = staging.guarded(lambda: ingestion_figures(total, task))
    return CountedTable(histograms(total, task, key), units(total, task), ingested, dict(values), rules)


@after_reading
def protect(reserved: ReservedRun, found: CountedTable, randomness: Randomness) -> Candidate:
    """Apply the mechanism with fresh sampling and noise, and choose levels where the policy leaves a choice."""
    protection = reserved.run.plan.protection
    made: Candidate = protection.kind.protect(protection.mechanism, reserved.static, found.views, randomness)
    return made


@after_reading
def judge(reserved: ReservedRun, found: CountedTable, made: Candidate, randomness: KeyedRandomness) -> JudgedCandidate:
    """Measure and judge the gates that remain after the release was made."""
    of = reserved.run.register
    register = None if of is None else of.at(made.static.levels)
    day = waiver_day(reserved.run.slot, reserved.charge.line)
    candidate = replace(made, input=found.input, noise=randomness.noise, register=register)
    verdicts = [
        verdict(rule, measure, measure.of_candidate(candidate, rule), candidate.static, day)
        for rule, measure in reserved.run.plan.gates
        if measure.of_candidate is not None
    ]
    return JudgedCandidate(made, (*reserved.verdicts, *verdicts), randomness.key.injected)


@after_reading
def withhold(reserved: ReservedRun, found: CountedTable, judged: JudgedCandidate) -> Result:
    """Record in the ledger that the release is withheld, and return the result."""
    run = reserved.run
    record = staging.private_record("withheld", run.plan, found, judged)
    commitment = write_private(run.ledger.path, run.ledger.id, run.id, record)
    run.ledger.commit(run.id, State.WITHHELD, None, None, commitment, reserved.charge.number)
    remove_claim(run)
    left, low = _budget_texts(run)
    plain = f"{_WITHHELD} {_SPENT}{_register_text(run)} {low}".rstrip()
    known = facts_of_run(run.plan, run.ledger, run.id, charged=True)
    return Result(
        "withheld", run.id, None, run.plan.guarantee, judged.verdicts, plain, left=left, low=low, facts=known,
        series=known.series,
    )  # fmt: skip


def _register_text(run: Run) -> str:
    return "" if run.register is None else f" {run.register.words}"


def _budget_texts(run: Run) -> tuple[str, str]:
    """Return the budget left after an ended release, and the warning that it is low; empty if it is not, or if the
    ledger can't be read just now, as that must not fail the release."""
    with suppress(CrowdgateError):
        left = budget_after(run.plan, run.ledger)
        if left is not None:
            series = series_text(run.plan, left.series)
            paid = "" if series is None else f" Series: {series}."
            return f"Budget left: {left.amounts_text()}.{paid}", left.low or ""
    return "", ""


@after_reading
def stage(reserved: ReservedRun, found: CountedTable, judged: JudgedCandidate) -> CommittedRelease:
    """Write the release to its private staging folder, and commit the ledger to its digest."""
    run, written = reserved.run, staging.ReleaseContents(reserved, judged, reserved.run.ledger.signer)
    shrink = shrinking(run.root, run.id, run.ledger.id)
    staged = publisher.stage(run.staged, run.slot, written.writers(), written.seal, shrink)
    free_space(run.root, run.id, run.ledger.id)
    record = staging.private_record("published", run.plan, found, judged)
    commitment = write_private(run.ledger.path, run.ledger.id, run.id, record)
    digest, number = staged.manifest_digest, reserved.charge.number
    run.ledger.commit(run.id, State.COMMITTED, digest, run.place, commitment, number)
    return CommittedRelease(staged, judged.verdicts, written.manifest.use_text)


def publish(reserved: ReservedRun, ready: CommittedRelease) -> Result:
    """Move the committed release to its destination, unless it waits for an approval."""
    run = reserved.run
    waiting = waiting_release(run.plan, run.ledger, run.id)
    if waiting is not None:
        return waiting
    publisher.publish(ready.staged, run.destination)
    publish_copy(run.plan.bundle.root, run.root, run.id, run.ledger.id)
    run.ledger.published(run.id, reserved.charge.number)
    remove_claim(run)
    write_signed_catalogue(run.root, run.plan.bundle.root, run.ledger)
    put_catalogue_copy(run.plan.bundle.root, run.root)
    said = f"{run.plan.summary(reserved.static)}{_register_text(run)} {ready.use}".rstrip()
    left, low = _budget_texts(run)
    plain, guarantee = f"{said} {low}".rstrip(), run.plan.guarantee
    series = series_of_run(run.plan, run.ledger, run.id)
    return Result(
        "published", run.id, run.destination, guarantee, ready.verdicts, plain, use=ready.use, left=left, low=low,
        series=series,
    )  # fmt: skip
