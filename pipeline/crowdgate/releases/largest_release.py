"""Upper bound on the bytes of a release, from public figures: the bounds on people and rows, labels, and the plan."""

from collections.abc import Iterable, Iterator

from crowdgate.contracts.contract import Attribute
from crowdgate.kind.plan import Plan
from crowdgate.kind.run import Run

_CELL = 12
"""Bytes of a cell beside its label: quotes, a separator, or the length that Parquet stores."""
_WEIGHT = 32
"""Bytes of the weight of a row, or of another single number."""
_NUMBERS = 400
"""Bytes of the noisy numbers of a line, their errors and limits."""
_FORMAT = 1 << 16
"""Bytes of headers and footers of one format."""
_PAGES = 1 << 18
"""Bytes of manifest, README and signature, without public counts."""


def most_bytes(run: Run) -> int:
    """Return an upper bound on the bytes of all files of a release.

    The table counts as having `rowsAtMost` rows, if the contract states it, and at most what its people may have.
    """
    plan = run.plan
    line = sum(_longest(each) + _CELL for each in _attributes(plan)) + _WEIGHT
    labelled, numeric = plan.protection.kind.most_lines(plan.protection.mechanism, _most_rows(plan))
    data = labelled * line + numeric * (line + _NUMBERS) + _FORMAT
    formats = len(plan.bundle.policy.spec.publish.formats)
    return formats * data + 3 * _listings(plan) + _attached(run) + _PAGES


def _most_rows(plan: Plan) -> int:
    contract = plan.bundle.contract
    most = plan.bundle.budget.spec.people * contract.unit.rows
    return most if contract.rows_at_most is None else min(most, contract.rows_at_most)


def _attributes(plan: Plan) -> Iterable[Attribute]:
    contract = plan.bundle.contract
    read = (each for name, each in contract.columns.items() if name in plan.columns)
    return (*read, *(each for each in contract.attributes if each.of_person is not None))


def _longest(attribute: Attribute) -> int:
    """Return the bytes of the longest label of an attribute, at any of its levels, with its quotes doubled."""
    return max((_size(label) for label in _labels(attribute)), default=0)


def _labels(attribute: Attribute) -> Iterator[str]:
    if attribute.hierarchy is not None:
        for level in attribute.hierarchy.levels:
            yield from level.labels


def _size(text: str) -> int:
    return len(text.encode()) + text.count('"')


def _listings(plan: Plan) -> int:
    """Return the bytes of a listing of all labels of all levels with their columns, and of public counts in the
    manifest.
    """
    joint = sum(len(each.counts) * (len(each.counts.names) + 1) for each in plan.bundle.contract.joint)
    return joint * _WEIGHT + sum(
        _size(label) + 2 * _size(each.description) + 2 * _size(each.name) + 4 * _WEIGHT
        for each in _attributes(plan)
        for label in _labels(each)
    )


def _attached(run: Run) -> int:
    counts = None if run.register is None else run.register.counts
    register = 0 if counts is None else len(counts) * (len(counts.names) + 1) * _WEIGHT
    return sum(map(len, run.audit_records.values())) + register
