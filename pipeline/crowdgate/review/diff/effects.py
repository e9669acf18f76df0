"""The effect of a policy before and after a change: its guarantee, and how many releases its budget still allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate.contracts.csv_file import MOST_BYTES
from crowdgate.documents.yaml_text import read_document
from crowdgate.errors import CrowdgateError
from crowdgate.forecast.chances.gate_chances import chances, next_release, odds_text
from crowdgate.gate import measure_text
from crowdgate.ledger.values import State
from crowdgate.number_text import decimal
from crowdgate.planning.budget_left import ledger_of, ledger_status, releases_left, today
from crowdgate.planning.budget_values import budget_of
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.planning.plan import bundle_of, plan_release
from crowdgate.policy.field_order import Direction
from crowdgate.policy.policy import version_of
from crowdgate.review.diff.fields_compared import NOTHING, FieldChange
from crowdgate.system.regular_files import read_plain

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract
    from crowdgate.kind.plan import Plan
    from crowdgate.policy.policy import GateRule
    from crowdgate.review.diff.sides import PolicyOnDisk


@dataclass(frozen=True)
class PolicyEffect:
    """The effect of a policy: named figures (`lines`), each a bound rounded to the safe side, and `plain`, the
    guarantee as a sentence.

    `known`: the ledger was read, so the budget left is the current one. `chances` are the known probabilities of
    passing, by the gate without its limit.
    """

    lines: Mapping[str, str]
    plain: str
    known: bool
    chances: Mapping[str, str]


def plan_of_side(stated: PolicyOnDisk) -> Plan | None:
    """Return the plan of a policy in its working copy; None for a file outside one. Raises ConfigurationError."""
    return None if stated.home is None else plan_release(bundle_of(stated.path))


def policy_effect(plan: Plan, home: Path) -> PolicyEffect:
    """Return the effect of a planned policy; budget and spend are those of the ledger that the working copy `home`
    names, if it is readable."""
    figures, guarantee = plan.protection.figures, plan.guarantee
    now, paid = _releases_left(plan, home), _paid_releases_left(plan, home)
    lines = {
        "epsilon of a release": decimal(guarantee.epsilon),
        "delta of a release": decimal(guarantee.delta),
        **{f"epsilon of {part.name}": decimal(part.epsilon) for part in guarantee.parts if len(guarantee.parts) > 1},
        **({} if plan.series is None else {"epsilon of the series": decimal(plan.series.epsilon)}),
        **({} if plan.series is None else {"delta of the series": decimal(plan.series.delta)}),
        **({} if paid is None else {"paid releases of the series that are left": str(paid)}),
        "k, the least class": str(figures.least_class) if figures.levels else NOTHING,
        "beta, the share of rows sampled": decimal(figures.beta),
        **_noise_lines(plan),
        "releases left": str(releases_left(plan, budget_of(plan.bundle)) if now is None else now),
    }
    return PolicyEffect(
        lines, plan.summary(plan.first_release_facts(), first=True), now is not None, _chances(plan, home)
    )


def _noise_lines(plan: Plan) -> dict[str, str]:
    """Return the budget of the noise of tables, synthetic rows or margins, if it is Gaussian."""
    stated = plan.protection.kind.parameters(plan.protection.mechanism)
    of = {"rho of the noise": stated, "rho of the noise of margins": stated.get("margins") or {}}
    return {name: decimal(Fraction(own["rho"]), 4) for name, own in of.items() if own.get("rho")}


def _chances(plan: Plan, home: Path) -> dict[str, str]:
    """Return the known probabilities, as text, that the next release passes each gate, and that it is published. They
    use the ledger of the working copy."""
    here = replace(plan, bundle=replace(plan.bundle, root=home))
    day = today()
    opened = ledger_of(here)
    stands = ledger_status(here, opened, day)
    found = chances(next_release(here, opened, stands), stands, day)
    twice = Counter(measure_text(each.rule) for each in found.gates)
    told = [(f"probability of passing {_number(each.rule, twice)}", each.odds) for each in found.gates]
    told.append(("probability of publication", found.all))
    return {name: odds_text(odds) for name, odds in told if odds is not None}


def _number(rule: GateRule, times: Mapping[str, int]) -> str:
    """Return a gate's measure as text, with the side of the gate's limit if `times` counts several gates on this
    measure."""
    found = measure_text(rule)
    side = "at least" if rule.at_most is None else "at most"
    return f"{found} ({side})" if times[found] > 1 else found


def _releases_left(plan: Plan, home: Path) -> int | None:
    """Return how many releases of a policy its budget in force still allows; None if the ledger is unreadable or does
    not know the population."""
    bundle = plan.bundle
    try:
        ledger = ledger_at(home, None, bundle.budget.spec.ledger)
        return releases_left(plan, ledger.check(bundle.contract.id, budget_of(bundle)), ledger)
    except CrowdgateError:
        return None


def _paid_releases_left(plan: Plan, home: Path) -> int | None:
    """Return how many releases are left of the series that a policy's version has paid; 0 for a version that has yet to
    pay. None without a series, or if the ledger is unreadable. The version alone counts, as OLD may be a copy.
    """
    if plan.series is None:
        return None
    try:
        ledger = ledger_at(home, None, plan.bundle.budget.spec.ledger)
        version = version_of(plan.bundle.policy)
        own = [each for each in ledger.entries() if each.release_id.rpartition("/")[0] == version]
        taken = sum(each.state is not State.VOID and ledger.slot(each) is not None for each in own)
    except CrowdgateError:
        return None
    return plan.series.releases - taken if taken else 0


def contract_changes(old: Plan, new: Plan) -> Iterator[FieldChange]:
    """Yield a change for each contract that differs between the old and the new policy's files: contracts determine the
    meaning of a policy's fields."""
    was, now = _contracts(old), _contracts(new)
    for place in dict.fromkeys([*was, *now]):
        if _read(was.get(place)) != _read(now.get(place)):
            means = "what the contract says of the table: what a level, a row or a person is may be another"
            yield FieldChange(f"{place} (its files)", Direction.CHANGED_MEANING, "as it was", "edited", means)


def _contracts(plan: Plan) -> dict[str, Contract | None]:
    """Return the contracts by their role in the policy; the population of audits only if it has its own contract."""
    bundle = plan.bundle
    found = {"contract": bundle.contract, "register": bundle.register}
    return found if bundle.population is bundle.contract else {**found, "population": bundle.population}


def _read(contract: Contract | None) -> list[tuple[str, Any]] | None:
    """Return the content of a contract's files, without comments and the order of keys."""
    if contract is None:
        return None
    folder = contract.files[0].parent
    return [
        (relpath(path, folder), read_document(path).data if path.suffix == ".yaml" else read_plain(path, MOST_BYTES))
        for path in contract.files
    ]


def level_codes(old: Plan, new: Plan) -> dict[str, dict[str, Any]]:
    """Return, by attribute and level, the code of each value of the domain; empty unless both sides have the same
    contract."""
    was, now = old.bundle.contract, new.bundle.contract
    if _read(was) != _read(now):
        return {}
    return {
        attribute.name: {level.name: level.codes for level in attribute.hierarchy.levels}
        for attribute in now.attributes
        if attribute.hierarchy is not None
    }
