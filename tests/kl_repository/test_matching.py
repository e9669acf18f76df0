"""Matching: entries that answer a question, and entries that contradict each other."""

from typing import Any

import pytest

from crowdgate.anonymity.kl.matching import MatchingEntries, RepositoryQuestion, match_entries
from crowdgate.anonymity.kl.reading import SignedEntry
from tests.kl_repository.shelves import entry, said

PLACE = {"age": 10, "ward": 4}


def signed(digest: str, kl: float = 0.5, values: dict[str, int] = PLACE, **changes: Any) -> SignedEntry:
    attributes = [{"name": name, "level": str(size), "values": size} for name, size in sorted(values.items())]
    bins = 1
    for size in values.values():
        bins *= size
    vocabulary = {"contract": "clinic", "version": "1.0.0", "attributes": attributes}
    return SignedEntry(
        digest, entry({**said(kl=kl, collision=kl), "vocabulary": vocabulary, "bins": bins, **changes}), ("k",)
    )


def population(name: str = "clinic-patients", **only: str) -> dict[str, Any]:
    restrictions = [{"name": name, "level": "exact", "value": value} for name, value in only.items()]
    return {"population": {"words": "w", "id": name, "restrictions": restrictions}}


def asked(entries: list[SignedEntry], population: str | None = None, **only: str) -> MatchingEntries:
    return match_entries(
        RepositoryQuestion("clinic", PLACE, population, {k: ("exact", v) for k, v in only.items()}), entries
    )


CASES: dict[str, tuple[SignedEntry, str]] = {
    "the same": (signed("a"), "exact"),
    "a finer age": (signed("a", values={"age": 100, "ward": 4}), "more"),
    "one attribute more": (signed("a", values={"age": 10, "ward": 4, "sex": 2}), "more"),
    "a coarser age": (signed("a", values={"age": 5, "ward": 4}), "less"),
    "one attribute less": (signed("a", values={"age": 10}), "less"),
    "finer and coarser": (signed("a", values={"age": 100, "ward": 2}), ""),
    "only some people": (signed("a", **population(car="yes")), "more"),
    "some people, less of them": (signed("a", values={"age": 10}, **population(car="yes")), ""),
    "other people": (signed("a", **population("others")), ""),
}


@pytest.mark.parametrize("name", CASES)
def test_an_entry_answers_as_it_says_more_or_less(name: str) -> None:
    one, role = CASES[name]
    found = asked([one], "clinic-patients")
    assert [held for held in ("exact", "more", "less") if getattr(found, held)] == ([role] if role else [])
    assert found.outcome == {"exact": "exact", "": "none"}.get(role, "related")


def test_restrictions_are_asked_by_their_values() -> None:
    entries = [signed("a"), signed("b", **population(car="yes")), signed("c", **population(car="no"))]
    found = asked(entries, car="yes")
    assert ([each.digest for each in found.exact], [each.digest for each in found.less]) == (["b"], ["a"])


def test_entries_whose_intervals_are_disjoint_conflict_and_none_is_chosen() -> None:
    found = asked([signed("a", 0.5), signed("b", 0.505), signed("c", 0.9)])
    assert found.outcome == "conflicting"
    assert {(one.digest, other.digest) for one, other in found.conflicts} == {("a", "c"), ("b", "c")}
    assert [each.digest for each in found.exact] == ["a", "b", "c"]


def test_figures_of_other_people_do_not_conflict() -> None:
    found = asked([signed("a", 0.5), signed("b", 0.9, **population("others"))])
    assert (found.outcome, len(found.exact), found.conflicts) == ("exact", 2, ())
