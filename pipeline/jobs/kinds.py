"""Kinds of release: what a mechanism counts, makes, writes, and lets `verify` recount. All else is common."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.candidate import AnyCandidate
from pipeline.histogram import Histogram, Records
from pipeline.jobs import microdata, microdata_verify, tables, tables_verify
from pipeline.jobs.plan import Plan
from pipeline.jobs.run import Coins, Judged, Reserved, Run, Sources

Writer = Callable[[Path], None]


@dataclass(frozen=True)
class Kind:
    """One kind of release as functions; those of `verify` and `words` need no run.

    `columns`: what is read. `count`: the views that are counted in one scan. `protect`: the candidate. `writers`: the
    published files. `mechanism`, `data`: sections of the manifest. `private`: figures for the private record. `words`:
    the guarantee and what else a person should read of a plan. `verify`: what does not hold of a published folder.
    """

    columns: Callable[[Any], Iterable[str]]
    count: Callable[[Any, Iterable[Records], Coins], Mapping[str, Histogram]]
    protect: Callable[[Reserved, Mapping[str, Histogram], Coins, Sources], AnyCandidate]
    writers: Callable[[Run, Judged], dict[str, Writer]]
    mechanism: Callable[[Plan, Any], dict[str, Any]]
    data: Callable[[Any], dict[str, Any]]
    private: Callable[[Plan, Any, Mapping[str, Histogram]], dict[str, Any]]
    guarantee: Callable[[Plan], list[str]]
    choice: Callable[[Plan], list[str]]
    verify: Callable[[Path, dict[str, Any]], Iterator[str]]


KINDS: dict[str, Kind] = {
    "safe_k_anonymity": Kind(
        columns=microdata.columns,
        count=microdata.count,
        protect=microdata.protect,
        writers=microdata.writers,
        mechanism=microdata.mechanism,
        data=microdata.data,
        private=microdata.private,
        guarantee=microdata.guarantee_lines,
        choice=microdata.choice_lines,
        verify=microdata_verify.problems,
    ),
    "dp_tables": Kind(
        columns=tables.columns,
        count=tables.count,
        protect=tables.protect,
        writers=tables.writers,
        mechanism=tables.mechanism,
        data=tables.data,
        private=tables.private,
        guarantee=tables.guarantee_lines,
        choice=tables.workload_lines,
        verify=tables_verify.problems,
    ),
}


def kind_of(plan: Plan) -> Kind:
    """The kind of the releases that a plan makes."""
    return KINDS[plan.bundle.policy.spec.mechanism.kind]
