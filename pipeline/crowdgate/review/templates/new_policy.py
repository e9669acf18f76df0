"""Write a policy from a template, with a budget where its population has none, and cases. Nothing is overwritten."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations
from math import ceil, prod
from pathlib import Path
from typing import Any

from crowdgate import report
from crowdgate.accounting.joint import MOST_ROWS
from crowdgate.contracts.contract import Contract
from crowdgate.contracts.reading import read_contract
from crowdgate.documents.yaml_text import read_document
from crowdgate.errors import ConfigurationError, EnvironmentFault, Problem, nearest
from crowdgate.kind.plan import Plan
from crowdgate.kind.prior import CountsAtLevels
from crowdgate.ledger.ledger import open_ledger
from crowdgate.ledger.stores import placed
from crowdgate.manifest.values import NAME as MANIFEST
from crowdgate.measures.guarantees import DEFAULT_WEIGHT
from crowdgate.number_text import exact_text
from crowdgate.planning.bundle import KNOWN, kind_of
from crowdgate.planning.plan import plan_policy
from crowdgate.policy.files import budget_files, contract_files, policy_files
from crowdgate.policy.parsing import parse
from crowdgate.policy.policy import BudgetSpec, GateRule, PrivacyBudget
from crowdgate.public_counts.figures import PriorSubject, read_prior
from crowdgate.review.check import PolicyCheck, check
from crowdgate.review.templates.first_levels import choose_levels
from crowdgate.review.templates.templates import PILOT, TEMPLATES
from crowdgate.settings import ledger_url, trusted_keys
from crowdgate.system import permissions

FOLDER = "review/templates"
SMALL = 2
"""The largest number of columns of an analysis for which tables are recommended: the template has all such tables."""
CHARGE, MARGINS = Fraction(1, 20), Fraction(1, 5)
"""Shares of the total of a charged gate, and of margins."""
MOST_SINGLED_OUT, PROTECTING = Fraction(1, 50), Fraction(2, 5)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*( [A-Za-z0-9_-]+)*")
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}


@dataclass(frozen=True)
class NewPolicyRequest:
    """The request for a new policy.

    `people` bounds the population, if it has no budget yet; `attributes` are the columns to publish (None: a first
    guess); `pilot` is the folder of a release of tables that forecasts rest on.
    """

    template: str
    contract: str
    owner: str
    name: str
    people: int | None = None
    attributes: tuple[str, ...] | None = None
    pilot: Path | None = None


@dataclass(frozen=True)
class NewPolicy:
    """Result of writing a new policy: the paths of the written files, the policy first, and its check. `advice` says
    what forecasts lack."""

    files: tuple[Path, ...]
    checked: PolicyCheck
    advice: str | None = None


def contract_ids(root: Path) -> list[str]:
    """Return the ids of the working copy's contracts."""
    return [name for _, name in contract_files(root)]


def read_contract_by_id(root: Path, name: str) -> Contract:
    """Return the contract of that id. Raises ConfigurationError if it is missing or faulty."""
    known = {stated: path for path, stated in contract_files(root)}
    if name not in known:
        expected = f"one of {', '.join(known)}" if known else "a contract in data_contracts/"
        raise _wrong("--contract", repr(name), expected, nearest(name, list(known)))
    return read_contract(known[name], KNOWN.servers)


def budget_of(root: Path, contract: Contract) -> BudgetSpec | None:
    """Return the budget of the contract's population, None if there is none. Raises ConfigurationError for a faulty
    file.
    """
    found = [path for path, name in budget_files(root) if name == contract.population]
    return parse(PrivacyBudget, read_document(found[0])).spec if found else None


def create_policy(root: Path, wanted: NewPolicyRequest) -> NewPolicy:
    """Write the files, and check the policy. A faulty policy leaves no files.

    Raises ConfigurationError for an impossible request, EnvironmentFault for a file that exists.
    """
    contract = read_contract_by_id(root, wanted.contract)
    budget = budget_of(root, contract)
    _refuse_used(root, wanted.name)
    _refuse_sampled(wanted.template, contract)
    values = _values(root, wanted, contract, budget)
    policies, file = root / "policies", f"{wanted.name}.yaml"
    policy, cases = policies / file, policies / "cases" / file
    paid = [] if budget is not None else [policies / "budgets" / f"{_file_name(contract.population)}.yaml"]
    _refuse_existing(policy, cases, *paid)
    written = list[Path]()
    try:
        for path in paid:
            written.append(_write(path, "budget", values))
        written.append(_write(policy, wanted.template, values))
        if _wants_laplace(plan_policy(policy)):
            policy.unlink()
            _write(policy, wanted.template, values | {"noise": "laplace"})
        refused = list(_refused_values([rule for rule, _ in plan_policy(policy).gates]))
        written.append(_write(cases, "cases", values | {"file": file, "refused": refused}))
        return NewPolicy((policy, cases, *paid), check(policy, header=False), _advice(root, wanted, contract, values))
    except BaseException:
        for path in written:
            path.unlink()
        raise


def _wants_laplace(plan: Plan) -> bool:
    """Return whether Laplace noise makes the errors of a new policy clearly smaller. In Renyi divergences Gaussian
    noise pays for more releases."""
    found = kind_of(plan.bundle).smaller_errors(plan.protection.mechanism)
    return plan.bundle.budget.spec.lifetime is None and any("noise: laplace" in words for _, words in found)


def _values(root: Path, wanted: NewPolicyRequest, contract: Contract, budget: BudgetSpec | None) -> dict[str, Any]:
    template = TEMPLATES[wanted.template]
    people = wanted.people if budget is None else budget.people
    if people is None:
        raise _wrong("--people", "nothing", f"how many people {contract.population} has at most: it has no budget yet")
    if wanted.people not in (None, people):
        found = f"{wanted.people}, and the budget of {contract.population} says another bound"
        raise _wrong("--people", found, str(people), str(people))
    names, pilot = None if wanted.attributes is None else list(wanted.attributes), _pilot(root, wanted.pilot)
    tables = () if pilot is None else _tables_of_pilot(root / pilot, contract, people)
    counted = people if pilot is None else _people_of_pilot(tables, contract, people)
    columns = None if pilot is None else _columns_of(tables)
    attributes = choose_levels(contract, template.reach, counted, names, columns)
    pairs = _analysed_pairs(contract, attributes)
    small = Fraction(1, 10 ** (len(str(people * contract.unit.rows)) + 3))
    epsilon = template.epsilon_of(people) if budget is None else min(template.epsilon_of(people), budget.epsilon / 2)
    delta = small if budget is None else min(small, budget.delta / 4)
    classes = _classes(contract, attributes)
    rows = max(1, _most_rows(contract, counted) // 20)
    alone = max(classes // 4, ceil(200 * contract.unit.rows / epsilon))
    return {
        "scalar": scalar, "noise": "gaussian", "template": wanted.template, "summary": template.summary,
        "name": wanted.name, "owner": wanted.owner,
        "description": f"Of {contract.id}: {template.summary}.", "contract": contract.id, "budget": contract.population,
        "epsilon": exact_text(epsilon), "delta": exact_text(delta), "weight": exact_text(small / 10),
        "singled_out": exact_text(_most_singled_out(small / 10, _most_rows(contract, people))),
        "attributes": list(attributes.items()), "pilot": pilot,
        "uncounted": [] if columns is None else sorted({*attributes} - columns),
        "analysed": bool(contract.analyses), "pairs": pairs,
        "charge": _paid_part(contract, epsilon, CHARGE),
        "alone": alone,
        "margins": _paid_part(contract, epsilon, MARGINS) if contract.sample is None else None,
        "ways": min(2, len(attributes)),
        "paid_gate": contract.sample is None and classes > alone,
        "sample": None if contract.sample is None else contract.sample.name,
        "rows": rows, "effective": max(1, rows // 2), "absent": max(1, _most_rows(contract, counted) // 100),
        "people": people, "unit": str(contract.unit),
        "ledger": _ledger_id(root) if budget is None else None,
        "lifetime_epsilon": exact_text(4 * max(epsilon, Fraction(1))), "lifetime_delta": exact_text(10 * delta),
    }  # fmt: skip


def _pilot(root: Path, folder: Path | None) -> str | None:
    """Return the folder of a pilot release as a policy names it. Raises ConfigurationError for one elsewhere."""
    if folder is None:
        return None
    found, home = folder.resolve(), root.resolve()
    if not found.is_relative_to(home) or not found.is_dir():
        raise _wrong("--pilot", str(folder), "the folder of a published release of tables in this working copy")
    return found.relative_to(home).as_posix()


def _tables_of_pilot(folder: Path, contract: Contract, bound: int) -> Sequence[CountsAtLevels]:
    """Return the tables of a pilot release. Raises VerificationFailed for a folder that is no release,
    ConfigurationError for one without counts of the contract's columns."""
    return read_prior(PriorSubject(contract, None, bound, {}), folder).prior.tables


def _columns_of(tables: Sequence[CountsAtLevels]) -> set[str]:
    """Return the columns that some table counts at two values or more."""
    return {name for table in tables for name, level in table.axes.items() if len(level) > 1}


def _people_of_pilot(tables: Sequence[CountsAtLevels], contract: Contract, bound: int) -> int:
    """Return the number of people by the counts of a pilot release, at most their bound."""
    rows = min(tables, key=lambda table: table.counts.size).counts.sum()
    return min(bound, max(1, int(rows) // contract.unit.rows))


def _analysed_pairs(contract: Contract, attributes: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return each pair of published columns that an analysis of the contract relates."""
    found = (combinations([name for name in attributes if name in each.columns], 2) for each in contract.analyses)
    return list(dict.fromkeys(chain.from_iterable(found)))


def _advice(root: Path, wanted: NewPolicyRequest, contract: Contract, values: Mapping[str, Any]) -> str | None:
    """Return a sentence on analyses that the policy can't answer, or that tables answer better; else on forecasts that
    lack counts; None if there is nothing to say."""
    left = sorted({name for each in contract.analyses for name in each.columns} - {*dict(values["attributes"])})
    if left:
        return f"Columns of the contract's analyses that did not fit: {', '.join(left)}: release them apart."
    if values["uncounted"]:
        return (
            f"The pilot release does not count {', '.join(values['uncounted'])}: forecasts that need them are unknown."
        )
    rows = wanted.template not in ("tables", PILOT)
    if rows and contract.analyses and all(len(each.columns) <= SMALL for each in contract.analyses):
        return f"No analysis of the contract has more than {SMALL} columns: use --template tables for all."
    if wanted.template == PILOT or wanted.pilot is not None or contract.joint or contract.public:
        return None
    named = ", ".join(name for name, _ in values["attributes"])
    made = sorted(root.glob(f"releases/{PILOT}-{contract.id}/*/*/{MANIFEST}"))
    if made:
        return f"Forecasts are unknown: this policy names no pilot release. Give --pilot {made[-1].parent}"
    epsilon = exact_text(TEMPLATES[PILOT].epsilon_of(values["people"]))
    return (
        f"Forecasts are unknown: no public counts relate {named}. Make a pilot release first, for epsilon {epsilon}: "
        f"crowdgate init DIR --policy --template {PILOT}; then give --pilot FOLDER"
    )


def _paid_part(contract: Contract, epsilon: Fraction, share: Fraction) -> str:
    """Return the key that states the cost of a part: a share, or an epsilon where persons have too many rows for a
    joint cost."""
    if contract.unit.rows <= MOST_ROWS:
        return f"share: {exact_text(share)}"
    return f"epsilon: {exact_text(share * epsilon)}"


def _classes(contract: Contract, levels: Mapping[str, str]) -> int:
    """Return the number of possible combinations of values of the columns at these levels."""
    found = [(each.name, each.hierarchy.levels) for each in contract.attributes if each.hierarchy is not None]
    return prod(len(level) for name, those in found for level in those if level.name == levels.get(name))


def _most_rows(contract: Contract, people: int) -> int:
    """Return the greatest number of rows of the contract's table for `people` people."""
    most = people * contract.unit.rows
    return most if contract.rows_at_most is None else min(most, contract.rows_at_most)


def _most_singled_out(weight: Fraction, rows: int) -> Fraction:
    """Return the limit on singling out by predicates of this weight, with one digit: 2 %, or less where a table of so
    many rows has rarer usual predicates. The bound grows at most in proportion to the weight, and `check` warns of a
    limit that lets it reach one half at 1 in 1000 rows: PROTECTING is below.
    """
    usual = min(DEFAULT_WEIGHT, Fraction(1, 1000 * rows))
    most = min(MOST_SINGLED_OUT, PROTECTING * weight / usual)
    digit = Fraction(1, 10 ** (len(str(int(1 / most))) if most < 1 else 0))
    return most // digit * digit


def _ledger_id(root: Path) -> str:
    """Return the id of the ledger that the working copy's settings name. Raises ConfigurationError, LedgerRefused."""
    return open_ledger(ledger_url(root, None, placed), None, trusted=trusted_keys(root), reading=True).id


def _refused_values(rules: list[GateRule]) -> Iterator[tuple[str, str]]:
    """Yield, for each blocking gate with a limit, the name of its measure and a value that fails the gate, as text."""
    for rule in rules:
        if rule.severity == "block" and rule.at_most is not None:
            yield rule.measure, exact_text(2 * rule.at_most or Fraction(1))
        elif rule.severity == "block" and rule.at_least is not None:
            yield rule.measure, exact_text(rule.at_least / 2)


def scalar(text: str) -> str:
    """Return text in the form of a YAML scalar, quoted where YAML would read something else than this text."""
    plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    return text if plain else json.dumps(text, ensure_ascii=False)


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "-", name)[:60]


def _refuse_used(root: Path, name: str) -> None:
    """Raise ConfigurationError for a used policy name, as releases and the ledger identify policies by it."""
    used = [path.name for path, stated in policy_files(root) if stated == name]
    if used:
        raise _wrong("--name", f"{name!r}, as {used[0]} is called", "a name that no policy has")


def _refuse_sampled(template: str, contract: Contract) -> None:
    if contract.sample is not None and not TEMPLATES[template].of_samples:
        fitting = [name for name, each in TEMPLATES.items() if each.of_samples]
        found = f"{template}, of a table that is the sample {contract.sample.name!r} already"
        raise _wrong("--template", found, " or ".join(fitting))


def _refuse_existing(*paths: Path) -> None:
    there = [str(path) for path in paths if path.exists()]
    if there:
        raise EnvironmentFault(f"{', '.join(there)} exists already and is not replaced; give another --name")


def _write(path: Path, template: str, values: dict[str, Any]) -> Path:
    text = re.sub(r"\n\n+", "\n", report.render(f"{FOLDER}/{template}.yaml.j2", values))
    try:
        permissions.make_folders(path.parent, permissions.WORKING_COPY)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
        path.chmod(permissions.WORKING_COPY.file_in(path.parent))
    except OSError as error:
        raise EnvironmentFault(f"{path} can't be written: {error.strerror}") from None
    return path


def _wrong(option: str, found: str, expected: str, meant: str | None = None) -> ConfigurationError:
    return ConfigurationError(Problem("command line", None, option, found, expected, meant))
