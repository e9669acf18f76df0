"""The order of policies: forty changes, and the laws of an order."""

from collections.abc import Iterator
from itertools import product
from typing import Any, get_args

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from crowdgate.planning.bundle import KNOWN
from crowdgate.policy.field_order import (
    Direction,
    Order,
    ValueField,
    any_change,
    class_size,
    declared_order,
    more_is_tighter,
)
from crowdgate.policy.policy import Privacy, PrivacyBudget, ReleasePolicy
from crowdgate.policy.values import Strict
from crowdgate.review.diff import fields_compared
from crowdgate.review.diff.fields_compared import FieldChange, changes
from crowdgate.review.diff.level_order import level_order_by_codes
from tests.examples import examples
from tests.review.diff.drawn import (
    BUDGET,
    COARSER,
    OTHER_POOLS,
    POOLS,
    ROWS,
    SYNTHETIC,
    TABLES,
    budget,
    data_of,
    edited,
    moved,
    policy,
)

T, L, N, C = Direction.TIGHTER, Direction.LOOSER, Direction.NOT_COMPARABLE, Direction.CHANGED_MEANING
M, G = "spec/mechanism", "spec/gates"
GATE = {"measure": "released_classes", "at_least": "10"}
CHANGES: list[tuple[str, str, Any, Direction]] = [
    (ROWS, "spec/privacy/epsilon", "2", L),
    (ROWS, "spec/privacy/epsilon", "0.5", T),
    (ROWS, "spec/privacy/delta", "1e-5", L),
    (ROWS, "spec/contract", "hospital", C),
    (ROWS, "spec/budget", "others", C),
    (ROWS, "metadata/name", "clinics", C),
    (ROWS, "metadata/owner", "nobody", C),
    (ROWS, "metadata/description", "Doctors.", C),
    (ROWS, f"{M}/sampling/beta", "0.5", L),
    (ROWS, f"{M}/sampling", {"inherited": "survey"}, C),
    (ROWS, f"{M}/k", "50", T),
    (ROWS, f"{M}/k", "least", L),
    (ROWS, f"{M}/attributes/age", "exact", L),
    (ROWS, f"{M}/attributes/age", "50 years", T),
    (ROWS, f"{M}/attributes/age", "odd", N),
    (ROWS, f"{M}/attributes/age", None, T),
    (ROWS, f"{M}/attributes/race", "any", L),
    (ROWS, f"{M}/attributes/ward", "any", T),
    (ROWS, f"{M}/attributes/ward", "exact", N),
    (ROWS, f"{M}/choose", None, C),
    (ROWS, f"{M}/choose/epsilon", "0.2", N),
    (ROWS, f"{M}/choose/on", "sample", N),
    (ROWS, f"{M}/margins", None, T),
    (ROWS, f"{M}/margins/epsilon", "0.2", N),
    (ROWS, f"{M}/margins/tables/+", {"all": "2"}, L),
    (ROWS, f"{G}/+", GATE, T),
    (ROWS, f"{G}/0", None, L),
    (ROWS, f"{G}/0/at_most", "0.01", T),
    (ROWS, f"{G}/2/at_least", "50", L),
    (ROWS, f"{G}/2/severity", "advise", L),
    (ROWS, f"{G}/3/severity", "block", T),
    (ROWS, f"{G}/0/with/weight", "1e-6", C),
    (ROWS, f"{G}/1/charge/epsilon", "0.1", N),
    (ROWS, f"{G}/4/over", ["age"], C),
    (ROWS, "spec/publish/to", "elsewhere", C),
    (ROWS, "spec/publish/formats", ["parquet", "csv"], N),
    (ROWS, "spec/publish/deployments_may_set", ["to", "ledger"], L),
    (ROWS, "spec/audit/limit", "0.02", L),
    (ROWS, "spec/audit/membership/skew", "10", C),
    (ROWS, "spec/register", None, C),
    (TABLES, f"{M}/noise", "laplace", N),
    (TABLES, f"{M}/sampling", None, L),
    (TABLES, f"{M}/levels/sex", "exact", L),
    (TABLES, f"{M}/tables/4", None, T),
    (TABLES, f"{M}/tables/+", {"attributes": ["age"]}, L),
    (TABLES, f"{M}/tables/0/share", "0.2", N),
    (TABLES, f"{M}/tables/3/high", "80", C),
    (TABLES, f"{M}/tables/3/clamps", "true", L),
    (TABLES, f"{M}/tables/5/at", ["0.25", "0.5"], L),
    (TABLES, f"{M}/suppress", "true", T),
    (TABLES, f"{M}/raw", "true", L),
    (TABLES, f"{M}/relative_error", "0.2", C),
    (SYNTHETIC, f"{M}/sampling", {"beta": "0.5"}, T),
    (SYNTHETIC, f"{M}/attributes/age", "exact", L),
    (SYNTHETIC, f"{M}/triples", [], T),
    (SYNTHETIC, f"{M}/certificate_share", "0.1", N),
    (SYNTHETIC, f"{M}/pair_error", "0.1", C),
    (SYNTHETIC, f"{M}/model_cells", "1000", N),
]
BUDGETS = [
    ("spec/epsilon", "5", L), ("spec/delta", "1e-6", T), ("spec/people", "2000", C), ("spec/unit", "person:id", C),
]  # fmt: skip
EQUALS = [
    (ROWS, "metadata/version", "2"),
    (ROWS, "spec/privacy/epsilon", "1.000"),
    (ROWS, "spec/privacy/delta", "0.000001"),
    (ROWS, "spec/enforcement", "enforce"),
    (ROWS, "spec/audit/trials", "2500"),
    (ROWS, f"{M}/suppression", "class"),
    (ROWS, f"{M}/margins/tables/+", {"all": "1"}),  # each alone is always there
    (ROWS, f"{G}/0/with", None),  # 1e-9 holds where nothing is said
    (ROWS, f"{G}/4/over", ["ward", "age"]),
    (ROWS, f"{G}/0/severity", "block"),
    (TABLES, f"{M}/split", "least-error"),
    (SYNTHETIC, f"{M}/sampling", {"beta": "1"}),
]


def found(old: Any, new: Any) -> list[FieldChange]:
    return list(changes(policy(old), policy(new), COARSER))


@pytest.mark.thorough
@pytest.mark.parametrize(("mechanism", "path", "value", "direction"), CHANGES)
def test_a_change_of_one_field_is_of_its_direction(mechanism: str, path: str, value: Any, direction: Direction) -> None:
    old = data_of(mechanism)
    new = edited(old, path, value)
    (forth, *more), (back, *_) = found(old, new), found(new, old)
    assert {each.direction for each in (forth, *more)} == {direction}
    assert (back.direction, back.old, back.new) == (direction.opposite, forth.new, forth.old)
    assert forth.means


@pytest.mark.parametrize("number", [1, 20, 10**6])
def test_any_number_asks_for_more_than_the_least_class(number: int) -> None:
    assert (class_size("least", number), class_size(number, "least")) == (T, L)


def test_there_are_forty_of_them_or_more() -> None:
    assert len({path for _, path, _, _ in CHANGES}) >= 40


@pytest.mark.parametrize(("path", "value", "direction"), BUDGETS)
def test_a_change_of_a_budget_is_of_its_direction(path: str, value: str, direction: Direction) -> None:
    old = yaml.load(BUDGET, yaml.BaseLoader)
    (one,) = changes(budget(old), budget(edited(old, path, value)), COARSER)
    assert one.direction is direction


@pytest.mark.parametrize(("mechanism", "path", "value"), EQUALS)
def test_what_is_written_otherwise_and_says_the_same_is_equal(mechanism: str, path: str, value: Any) -> None:
    old = data_of(mechanism)
    assert not found(old, edited(old, path, value))


@pytest.mark.parametrize(
    ("old", "new", "direction"),
    [
        ("exact", "decades", T),
        ("decades", "any", T),
        ("exact", "any", T),
        ("decades", "years", N),
        ("exact", {"choose": ["exact", "decades"]}, N),
        ("decades", {"choose": ["decades", "any"]}, N),
        ({"choose": ["decades"]}, {"choose": ["decades", "years"]}, L),
    ],
)
def test_without_a_contract_exact_is_the_finest_level_and_any_the_coarsest_and_others_are_unknown(
    old: Any, new: Any, direction: Direction
) -> None:
    unknown = level_order_by_codes({})
    was, now = (policy(edited(data_of(ROWS), f"{M}/attributes/age", each)) for each in (old, new))
    assert [each.direction for each in changes(was, now, unknown)] == [direction]
    assert [each.direction for each in changes(now, was, unknown)] == [direction.opposite]


def test_a_part_with_the_same_share_follows_the_epsilon_of_the_policy() -> None:
    old = data_of(ROWS)
    parts = {f"{M}/margins": {"share": "0.3"}, f"{M}/choose": {"share": "0.1"}, f"{G}/1/charge": {"share": "0.1"}}
    for path, part in parts.items():
        old = edited(old, path, part)
    less = edited(old, "spec/privacy/epsilon", "0.5")
    lines = {each.place: each for each in found(old, less)}
    assert {each.direction for each in lines.values()} == {T}
    assert {each.direction for each in found(less, old)} == {L}
    follows = {place for place, each in lines.items() if "it follows privacy.epsilon" in each.means}
    assert len(follows) == len(parts)
    assert "spec.mechanism.margins.epsilon" in follows
    assert {each.direction for each in found(old, edited(old, f"{M}/margins/share", "0.4"))} == {N}


def test_a_looser_limit_of_a_gate_with_another_meaning_is_looser() -> None:
    old = data_of(ROWS)
    new = edited(edited(old, f"{G}/0/with/weight", "1e-6"), f"{G}/0/at_most", "0.5")
    for those, these, direction in ((old, new, L), (new, old, T)):
        meaning, limit = found(those, these)
        assert meaning.direction is C
        assert (limit.direction, limit.place) == (direction, f"{meaning.place}.at_most")


def test_order_of_keys_and_of_gates_changes_nothing() -> None:
    old = data_of(ROWS)
    spec = dict(reversed(old["spec"].items()))
    spec["gates"] = [dict(reversed(gate.items())) for gate in reversed(spec["gates"])]
    assert not found(old, {**old, "spec": spec})


def test_another_mechanism_is_one_change_of_meaning() -> None:
    (one,) = found(data_of(ROWS), data_of(TABLES))
    assert (one.place, one.direction) == ("spec.mechanism.kind", C)


def models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield a model with all models of its fields."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        for info in annotation.model_fields.values():
            yield from models(info.annotation)
    else:
        for part in get_args(annotation):
            yield from models(part)


EVERY = [*models(KNOWN.policy), *models(PrivacyBudget)]


def without_order(those: list[type[BaseModel]]) -> set[str]:
    """Return the fields that declare no order."""
    return {
        f"{model.__name__}.{name}"
        for model in those
        for name in model.model_fields
        if declared_order(model, name) is None
    }


def test_every_field_of_policies_and_budgets_declares_its_order() -> None:
    assert without_order(EVERY) == set()


class Waiver(Strict):
    """A field that declares no order."""

    until: str


def test_a_field_without_an_order_is_missed_and_changes_the_meaning() -> None:
    assert without_order([Waiver]) == {"Waiver.until"}
    (one,) = changes(Waiver(until="May"), Waiver(until="June"), COARSER)
    assert one.direction is C


POLICIES = st.just(data_of(ROWS)).flatmap(moved)


def antisymmetric(old: ReleasePolicy, new: ReleasePolicy) -> bool:
    """Return whether the reverse change swaps tighter and looser, and every difference is reported."""
    there, back = (list(changes(*pair, COARSER)) for pair in ((old, new), (new, old)))
    swapped = {(each.place, each.direction.opposite, each.new, each.old) for each in back}
    return swapped == {(each.place, each.direction, each.old, each.new) for each in there} and bool(there) == (
        old.spec != new.spec or old.metadata != new.metadata
    )


def transitive(one: ReleasePolicy, two: ReleasePolicy, three: ReleasePolicy) -> bool:
    """Return whether two successive changes that are tighter, or equal, are tighter together: for each field and the
    policies.
    """
    first, second, both = (
        {each.place: each.direction for each in changes(*pair, COARSER)}
        for pair in ((one, two), (two, three), (one, three))
    )
    fields = all(
        both.get(place) is direction
        for place, direction in first.items()
        if direction in (T, L) and second.get(place) is direction and place in both
    )
    stricter = [set(each.values()) <= {T} for each in (first, second, both)]
    return fields and (not all(stricter[:2]) or stricter[2])


@settings(max_examples=examples(150), deadline=None)
@given(st.data())
def test_the_order_is_antisymmetric(data: st.DataObject) -> None:
    old = data.draw(POLICIES)
    assert antisymmetric(policy(old), policy(data.draw(moved(old))))


@pytest.mark.thorough
@settings(max_examples=examples(250), deadline=None)
@given(st.data())
def test_the_order_is_transitive(data: st.DataObject) -> None:
    one = data.draw(POLICIES)
    two = data.draw(moved(one))
    assert transitive(policy(one), policy(two), policy(data.draw(moved(two))))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("mechanism", "path", "values"), [*((ROWS, path, values) for path, values in POOLS.items()), *OTHER_POOLS]
)
def test_every_pair_and_triple_of_values_of_a_field_is_in_order(mechanism: str, path: str, values: list[Any]) -> None:
    those = [policy(edited(data_of(mechanism), path, value)) for value in values]
    assert all(antisymmetric(one, other) for one in those for other in those)
    assert all(transitive(*three) for three in product(those, repeat=3))


def _last_digit(old: Any, new: Any) -> Direction:
    """Return a direction that is no order: rock, paper, scissors."""
    return T if (int(2 * old) - int(2 * new)) % 3 == 1 else L


def planted(monkeypatch: pytest.MonkeyPatch, model: type[BaseModel], field: str, order: Order) -> None:
    monkeypatch.setattr(
        fields_compared,
        "declared_order",
        lambda *at: ValueField("planted", order) if at == (model, field) else declared_order(*at),
    )


def test_an_order_that_goes_in_a_circle_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    planted(monkeypatch, Privacy, "epsilon", _last_digit)
    old = data_of(ROWS)
    three = [policy(edited(old, "spec/privacy/epsilon", each)) for each in ("1", "0.5", "3")]
    assert not all(transitive(*(three[(start + at) % 3] for at in range(3))) for start in range(3))


@pytest.mark.parametrize("order", [more_is_tighter, any_change])
def test_a_declared_order_that_is_wrong_is_caught(monkeypatch: pytest.MonkeyPatch, order: Order) -> None:
    planted(monkeypatch, Privacy, "delta", order)
    old = data_of(ROWS)
    with pytest.raises(AssertionError):
        test_a_change_of_one_field_is_of_its_direction(ROWS, "spec/privacy/delta", "1e-5", L)
    assert found(old, edited(old, "spec/privacy/delta", "1e-5"))


def test_an_order_that_is_the_same_both_ways_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    planted(monkeypatch, Privacy, "delta", lambda *_: T)
    old = data_of(ROWS)
    assert not antisymmetric(policy(old), policy(edited(old, "spec/privacy/delta", "1e-5")))
