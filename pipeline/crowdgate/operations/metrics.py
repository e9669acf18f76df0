"""Metrics of a working copy for monitoring, as an OpenMetrics text, written atomically.

Sources: the ledger, the policies below policies/, and their public forecasts. Parts are rounded down to whole percents,
and times are days, so the text states no more than `ledger show` and `plan`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate.errors import CrowdgateError, EnvironmentFault
from crowdgate.forecast.outlook import outlook
from crowdgate.ledger.values import State
from crowdgate.operations.audit_age import audit_ages
from crowdgate.planning.budget_left import today
from crowdgate.planning.budgets import budgets_json, percent_left
from crowdgate.planning.open_ledger import ledger_for_reading
from crowdgate.planning.plan import bundle_of
from crowdgate.policy.files import policy_files
from crowdgate.system import permissions
from crowdgate.system.atomic_file import locked_folder, replace_file

if TYPE_CHECKING:
    from crowdgate.ledger.journal import JournalLine
    from crowdgate.ledger.ledger import Ledger
    from crowdgate.policy.files import Bundle

ENDED = (State.PUBLISHED, State.WITHHELD, State.WITHDRAWN)
"""States of charged releases that ended by the rules."""
NO_POLICY = "kl"
"""The first part of the ids of KL entries, which no policy releases."""


@dataclass(frozen=True)
class Metric:
    """A metric of the text: its name, the unit that ends its name (empty: none), and its meaning."""

    name: str
    unit: str
    help: str


BUDGET = Metric("crowdgate_budget_left_ratio", "ratio", "Part of the lifetime budget left, rounded down to percents.")
FROZEN = Metric("crowdgate_population_frozen", "", "1 if the ledger stops all runs of the population.")
AGE = Metric("crowdgate_audit_age_days", "days", "Days since the newest audit of these files of the policy.")
MOST = Metric("crowdgate_audit_max_age_days", "days", "Greatest age of an audit that the gates of the policy allow.")
FORECAST = Metric("crowdgate_publication_forecast_ratio", "ratio", "Probability that the next release is published.")
SLOT = Metric("crowdgate_last_slot_timestamp_seconds", "seconds", "Day of the latest slot that ended in this state.")
INFO = Metric("crowdgate_version", "", "Version of Crowdgate that wrote this text.")

Sample = tuple[Metric, Mapping[str, str], float]


def metrics_text(root: Path, ledger: str | None = None) -> str:
    """Return the metrics of a working copy, as OpenMetrics. Raises a CrowdgateError if its ledger can't be read."""
    opened = ledger_for_reading(root, ledger)
    samples = [
        *_budgets(opened),
        *_slots(opened),
        *_policies(root, opened),
        (INFO, {"version": version("crowdgate")}, 1),
    ]
    metrics = (BUDGET, FROZEN, AGE, MOST, FORECAST, SLOT, INFO)
    return "".join(_family(each, samples) for each in metrics) + "# EOF\n"


def write_metrics(root: Path, ledger: str | None, file: Path) -> None:
    """Write the metrics of a working copy to a file in a folder that exists, atomically.

    Raises EnvironmentFault, and as `metrics_text` does.
    """
    text = metrics_text(root, ledger)
    try:
        with locked_folder(file.parent):
            replace_file(file, f".{file.name}.part", text.encode(), permissions.METRICS)
    except OSError as error:
        raise EnvironmentFault(f"{file}: metrics can't be written: {error.strerror}") from None


def _budgets(ledger: Ledger) -> Iterator[Sample]:
    for entry in budgets_json(ledger):
        named = {"population": entry["population"]}
        yield BUDGET, named, percent_left(entry) / 100
        yield FROZEN, named, float(ledger.frozen(entry["population"]))


def _slots(ledger: Ledger) -> Iterator[Sample]:
    latest: dict[tuple[str, str], str] = {}
    for entry in ledger.entries():
        policy, _, slot = entry.release_id.split("/")
        if entry.state in ENDED and policy != NO_POLICY:
            latest[policy, entry.state] = max(slot[:10], latest.get((policy, entry.state), ""))
    for (policy, state), day in sorted(latest.items()):
        seconds = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
        yield SLOT, {"policy": policy, "state": state}, seconds


def _policies(root: Path, ledger: Ledger) -> Iterator[Sample]:
    """Yield the samples of each policy that can be read; `doctor` names the others."""
    journal = ledger.journal()
    for path, _ in policy_files(root):
        with suppress(CrowdgateError):
            bundle = bundle_of(path)
            yield from _audits(bundle, journal)
            yield from _forecast(path, bundle)


def _audits(bundle: Bundle, journal: Sequence[JournalLine]) -> Iterator[Sample]:
    for found in audit_ages(bundle, journal, today()):
        named = {"policy": bundle.policy.metadata.name, "question": str(found.question)}
        yield MOST, named, found.most
        if found.age is not None:
            yield AGE, named, found.age


def _forecast(path: Path, bundle: Bundle) -> Iterator[Sample]:
    chance = outlook(path).chances.all
    if chance is not None:
        yield FORECAST, {"policy": bundle.policy.metadata.name}, floor(100 * chance.value) / 100


def _family(metric: Metric, samples: Iterable[Sample]) -> str:
    """Return the lines of a metric with its samples; nothing if it has none."""
    found = [f"{metric.name}{_labels(labels)} {value:.15g}\n" for of, labels, value in samples if of is metric]
    unit = f"# UNIT {metric.name} {metric.unit}\n" if metric.unit else ""
    head = f"# TYPE {metric.name} gauge\n{unit}# HELP {metric.name} {metric.help}\n"
    return head + "".join(found) if found else ""


def _labels(labels: Mapping[str, Any]) -> str:
    return "{" + ",".join(f'{name}="{_escaped(str(value))}"' for name, value in labels.items()) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
