"""Every policy that `check` allows ends: published and verified, or withheld.

Tested on an empty table, on one row and on a few. Nothing crashes, so nothing is charged for a policy that can't end.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.candidate import OutputType
from crowdgate.errors import ConfigurationError
from crowdgate.kind.run import Request
from crowdgate.kinds import KINDS
from crowdgate.ledger.key import draw_key
from crowdgate.measures import MEASURES
from crowdgate.releases import release as job
from crowdgate.review.check import check
from crowdgate.verification.release import verify
from tests.examples import examples
from tests.workshop import Row, Workshop, good_rows, make_workshop

pytestmark = pytest.mark.thorough

Json = dict[str, Any]
Drawn = st.SearchStrategy[Any]
LEVELS = {"age": ["exact", "10 years", "50 years", "any"], "ward": ["exact", "side", "any"]}
SIDES = "{property: levels, value: [{name: side, tree: {side: [north, south], other: [east]}}]}"
ODD: list[Row] = [
    {"patient": "a", "age": 5, "ward": "north", "note": ""},
    {"patient": "a", "age": 5, "ward": "nowhere", "note": ""},
    {"patient": None, "age": None, "ward": "south", "note": ""},
]
TABLES: list[list[Row]] = [[], [], good_rows(1), ODD, good_rows(40)]


def constant(value: Any) -> Drawn:
    return st.just(value)


names = st.sampled_from(sorted(LEVELS))
chosen: Drawn = st.dictionaries(names, st.none(), min_size=1).flatmap(
    lambda found: st.fixed_dictionaries({name: st.sampled_from(LEVELS[name]) for name in found})
)
by: Drawn = st.one_of(st.just([]), st.just(["ward"]), st.just({"ward": "side"}))
bounds: Drawn = st.sampled_from([{}, {"low": "10", "high": "60"}, {"low": "0", "high": "1"}])
share: Drawn = st.sampled_from([{}, {}, {}, {"share": "0.1"}])
items: Drawn = st.one_of(
    st.just({"total": "true"}),
    st.integers(1, 2).map(lambda ways: {"all": str(ways)}),
    chosen.map(lambda found: {"attributes": found}),
    st.builds(lambda cells, ends: {"sum": "age", "by": cells, **ends}, by, bounds),
    st.builds(lambda cells, ends: {"mean": "age", "by": cells, **ends}, by, bounds),
    st.builds(lambda cells, level: {"quantiles": "age", "level": level, "by": cells, "at": ["0.5", "0.9"]},
              by, st.sampled_from(LEVELS["age"])),
)  # fmt: skip
tables: Drawn = st.fixed_dictionaries(
    {
        "kind": constant("dp_tables"),
        "levels": st.fixed_dictionaries({name: st.sampled_from(levels) for name, levels in LEVELS.items()}),
        "tables": st.lists(
            st.builds(lambda item, part: {**item, **part}, items, share),
            min_size=1,
            max_size=3,
            unique_by=lambda item: str(next(iter(item.items()))),
        ),
    },
    optional={
        "noise": st.sampled_from(["laplace", "gaussian"]),
        "sampling": st.just({"beta": "0.5"}),
        "split": st.just("equal"),
        "suppress": st.sampled_from(["true", "false"]),
        "raw": st.sampled_from(["true", "false"]),
    },
)
attributes: Drawn = st.one_of(
    chosen,
    st.just({"age": {"choose": ["10 years", "50 years"]}, "ward": {"choose": ["exact", "any"]}}),
)
rows: Drawn = st.fixed_dictionaries(
    {
        "kind": constant("safe_k_anonymity"),
        "sampling": st.sampled_from(["0.001", "0.5", "0.9"]).map(lambda beta: {"beta": beta}),
        "attributes": attributes,
    },
    optional={
        "k": st.sampled_from(["least", "200"]),
        "margins": st.sampled_from(["laplace", "gaussian"]).flatmap(
            lambda noise: st.sampled_from([[{"all": "2"}], [{"attributes": ["ward"]}]]).map(
                lambda lines: {"epsilon": "0.3", "noise": noise, "tables": lines}
            )
        ),
        "choose": st.builds(
            lambda on, score: (
                {"epsilon": "0.1", "on": on, "score": score, "target": "ward"}
                if score == "classification"
                else {"epsilon": "0.1", "on": on, "score": score}
            ),
            st.sampled_from(["full", "sample"]),
            st.sampled_from(["expected_kept_rows", "expected_kept_information", "classification"]),
        ),
    },
)
impossible: Drawn = st.dictionaries(
    st.sampled_from(["age", "ward"]),
    st.lists(st.sampled_from(["0 to 9", "50+", "90+", "north", "south", "side", "other", "(invalid)"]), min_size=1),
    min_size=2,
)
synthetic: Drawn = st.fixed_dictionaries(
    {
        "kind": constant("dp_synthetic"),
        "attributes": st.fixed_dictionaries(
            {"age": st.sampled_from(["exact", "10 years", "50 years"]), "ward": st.sampled_from(["exact", "side"])}
        ),
    },
    optional={
        "sampling": st.sampled_from(["0.001", "0.5", "1"]).map(lambda beta: {"beta": beta}),
        "impossible": st.lists(impossible, min_size=1, max_size=2),
        "one_way_share": st.sampled_from(["0.01", "0.9"]),
        "certificate_share": st.sampled_from(["0.001", "0.4"]),
        "model_cells": st.sampled_from(["50", "1000", "1048576"]),
        "pair_error": st.sampled_from(["0.001", "1"]),
    },
)
limits = st.sampled_from([{"at_most": "1"}, {"at_least": "0"}, {"at_most": "0"}, {"at_most": "1000000"}])


def gate(measure: str, limit: Json) -> Json:
    stated: Json = {"measure": measure, **limit}
    if MEASURES[measure].of:
        stated["of"] = "ward"
    if "size" in MEASURES[measure].options:
        stated["with"] = {"size": "2"}
    if MEASURES[measure].needs == ("quartile",):
        stated["with"] = {"quartile": "2"}
    if MEASURES[measure].reads == "charged":
        stated["charge"] = {"epsilon": "0.1"}
    if MEASURES[measure].reads == "confidential":
        stated["severity"] = "advise"
    return {**stated, "over": ["ward"]} if MEASURES[measure].over else stated


def fitting(mechanism: Json) -> st.SearchStrategy[tuple[Json, list[Json]]]:
    """Return a strategy of a mechanism with gates that suit it."""
    shapes = KINDS[mechanism["kind"]].shapes - (set() if "margins" in mechanism else {OutputType.MARGINS})
    known = sorted(name for name, measure in MEASURES.items() if measure.shape in shapes)
    judged = st.lists(st.builds(gate, st.sampled_from(known), limits), max_size=2, unique_by=lambda g: g["measure"])
    return st.tuples(st.just(mechanism), judged)


def working_copy(root: Path, wish: tuple[Json, Sequence[Json]], form: str, person: bool) -> Workshop:
    workshop = make_workshop(root)
    workshop.edit(workshop.contract, "{property: margins, value: ward.csv}", "{property: margins, value: ward.csv}\n"
                  f"          - {SIDES}")  # fmt: skip
    workshop.edit(workshop.budget, "epsilon: 6, delta: 0.03", "epsilon: 100, delta: 0.9")
    if person:
        workshop.edit(workshop.contract, "privacyUnit, value: row", "privacyUnit, value: {person: patient, rows: 2}")
        workshop.edit(workshop.budget, "unit: row", "unit: 'person:patient'")
    mechanism, judged = wish
    spec = {
        "contract": "clinic",
        "budget": "clinic-patients",
        "privacy": {"epsilon": "2", "delta": "0.01"},
        "mechanism": mechanism,
        "gates": [{"measure": "guarantee_epsilon", "at_most": "2"}, *judged],
        "publish": {"to": "releases", "formats": [form]},
    }
    policy = {"apiVersion": "crowdgate/v1", "kind": "ReleasePolicy", "metadata": {"name": "clinic", "owner": "b"}}
    workshop.policy.write_text(json.dumps({**policy, "spec": spec}), encoding="utf-8")
    return workshop


def ends(workshop: Workshop, table: list[Row]) -> str:
    """Return the end of a policy: refused by check, published (and verified) or withheld."""
    try:
        if not check(workshop.policy).allowed:
            return "not allowed"
    except ConfigurationError:
        return "not allowed"
    workshop.write(table)
    result = job.release(Request(workshop.policy, "2030-01-01"), draw_key)
    if result.path is not None:
        verify(result.path, workshop.ledger)
    return result.outcome


drawn: dict[str, Drawn] = {
    "wish": st.one_of(tables, rows, synthetic).flatmap(fitting),
    "form": st.sampled_from(["parquet", "csv"]),
    "person": st.booleans(),
    "table": st.sampled_from(TABLES),
}


def test_the_total_alone_is_published(tmp_path: Path) -> None:
    """No column is read, so there is no row rule that could fail."""
    workshop = working_copy(tmp_path / "w", ({"kind": "dp_tables", "tables": [{"total": "true"}]}, []), "csv", False)
    assert ends(workshop, good_rows(3)) == "published"


@settings(max_examples=examples(15), deadline=None)
@given(**drawn)
def test_what_check_allows_ends(tmp_path_factory: pytest.TempPathFactory, table: list[Row], **stated: Any) -> None:
    assert ends(working_copy(tmp_path_factory.mktemp("w") / "w", **stated), table) in ENDS


@pytest.mark.soak
@settings(max_examples=examples(2000), deadline=None)
@given(**drawn)
def test_what_check_allows_ends_for_long(
    tmp_path_factory: pytest.TempPathFactory, table: list[Row], **stated: Any
) -> None:
    assert ends(working_copy(tmp_path_factory.mktemp("w") / "w", **stated), table) in ENDS


ENDS = ("not allowed", "published", "withheld")
