"""A policy version whose earlier release was made of other files gives a warning, before the ledger refuses."""

from crowdgate.ledger.values import Spend
from crowdgate.review.check import PolicyCheck, check
from tests.workshop import Workshop, crowdgate


def changed(found: PolicyCheck) -> list[str]:
    return [warning.words for warning in found.warnings if warning.code == "CG211"]


def test_a_changed_file_is_told_by_the_ledger_and_without_it_by_what_is_published(workshop: Workshop) -> None:
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 0
    assert changed(check(workshop.policy)) == []
    workshop.edit(workshop.budget, "owner: board", "owner: council")
    by_ledger = check(workshop.policy)
    (words,) = changed(by_ledger)
    assert "clinic/1/2030-01-01 was made from them" in words
    (warning,) = [each for each in by_ledger.warnings if each.code == "CG211"]
    assert (warning.file, warning.line, warning.column) == (str(workshop.policy), 3, 26)
    assert not by_ledger.allowed
    assert by_ledger.left.spent == Spend(by_ledger.plan.guarantee.epsilon, by_ledger.plan.guarantee.delta)
    assert not any("nothing was spent" in line for line in by_ledger.left.words())
    settings = workshop.root / "crowdgate.toml"
    kept = settings.read_text(encoding="utf-8")
    settings.unlink()
    assert changed(check(workshop.policy)) == [words]
    (workshop.release_dir("2030-01-01") / "manifest.json").write_text("{}", encoding="utf-8")
    assert changed(check(workshop.policy)) == []
    settings.write_text(kept, encoding="utf-8")
    assert changed(check(workshop.policy)) == [words]
    workshop.edit(workshop.policy, "version: 1", "version: 2")
    assert changed(check(workshop.policy)) == []


def test_a_withheld_release_is_charged_and_counts(workshop: Workshop) -> None:
    workshop.edit(workshop.policy, "released_rows, at_least: 0", "released_rows, at_least: 900")
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 3
    workshop.edit(workshop.policy, "released_rows, at_least: 900", "released_rows, at_least: 90")
    assert len(changed(check(workshop.policy))) == 1
