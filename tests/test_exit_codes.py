"""Every exit code of the guide for operators is produced by a real command, and there is no other."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crowdgate import errors
from crowdgate.cli.options import WITHHELD
from tests.conformance.lives import Said, say
from tests.workshop import Workshop

GUIDE = (Path(__file__).parents[1] / "pipeline" / "reference" / "commands.md").read_text(encoding="utf-8")
SECTION = GUIDE.partition("## Exit codes\n")[2].partition("\n## ")[0]
TABLE = {int(code): meaning for code, meaning in re.findall(r"^\| (\d+) \| (.+) \|$", SECTION, flags=re.MULTILINE)}
SLOT = "2030-01-01"


@pytest.fixture
def there(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """A working copy in which commands are given."""
    monkeypatch.chdir(workshop.root)
    return workshop


def release(workshop: Workshop, *options: object) -> Said:
    return say("release", workshop.policy, "--as-of", SLOT, *options)


def verified(workshop: Workshop) -> Said:
    assert release(workshop).code == 0
    return say("verify", workshop.release_dir(SLOT))


def made_twice(workshop: Workshop) -> Said:
    return say("init", workshop.root)


def other_files_there(workshop: Workshop) -> Said:
    workshop.release_dir(SLOT).mkdir(parents=True)
    (workshop.release_dir(SLOT) / "mine.txt").write_text("mine")
    return release(workshop)


def wrong_policy(workshop: Workshop) -> Said:
    workshop.edit(workshop.policy, "beta: 0.5", "beta: 5")
    return say("check", workshop.policy)


def wrong_option(workshop: Workshop) -> Said:
    return release(workshop, "--anchor", "nowhere")


def withheld(workshop: Workshop) -> Said:
    workshop.edit(workshop.policy, "{measure: released_rows, at_least: 0}", "{measure: released_rows, at_least: 900}")
    return release(workshop)


def would_be_withheld(workshop: Workshop) -> Said:
    workshop.edit(workshop.policy, "{measure: pso_bound, at_most: 1}", "{measure: pso_bound, at_most: 0}")
    return say("check", workshop.policy)


def looser(workshop: Workshop) -> Said:
    old = workshop.policy.with_name("old.yaml")
    old.write_text(workshop.policy.read_text(encoding="utf-8"), encoding="utf-8")
    workshop.edit(workshop.policy, "beta: 0.5", "beta: 0.6")
    return say("diff", old, workshop.policy)


def tighter(workshop: Workshop) -> Said:
    old = workshop.policy.with_name("old.yaml")
    old.write_text(workshop.policy.read_text(encoding="utf-8"), encoding="utf-8")
    workshop.edit(workshop.policy, "at_most: 500", "at_most: 400")
    return say("diff", old, workshop.policy)


def no_input(workshop: Workshop) -> Said:
    workshop.data.unlink()
    return release(workshop)


def input_of_another_form(workshop: Workshop) -> Said:
    workshop.data.write_text("age,ward\n")
    return release(workshop)


def budget_spent(workshop: Workshop) -> Said:
    workshop.edit(workshop.budget, "epsilon: 6", "epsilon: 1")
    return release(workshop)


def changed_without_a_new_version(workshop: Workshop) -> Said:
    assert release(workshop).code == 0
    workshop.edit(workshop.policy, "Patients by age and ward.", "Patients.")
    return say("release", workshop.policy, "--as-of", "2030-01-02")


def edited_and_replayed(workshop: Workshop) -> Said:
    edited_release(workshop)
    return say("replay", workshop.policy)


def edited_release(workshop: Workshop) -> Said:
    assert release(workshop).code == 0
    workshop.edit(workshop.release_dir(SLOT) / "data.csv", "north", "south")
    return say("verify", workshop.release_dir(SLOT))


WAYS: list[tuple[int, Callable[[Workshop], Said]]] = [
    (0, release), (0, verified), (0, tighter), (1, made_twice), (1, other_files_there), (2, wrong_policy),
    (2, wrong_option),
    (3, withheld), (3, would_be_withheld), (3, looser), (4, no_input), (4, input_of_another_form), (5, budget_spent),
    (5, changed_without_a_new_version), (6, edited_release), (6, edited_and_replayed),
]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize(("code", "way"), WAYS, ids=lambda each: getattr(each, "__name__", None))
def test_a_command_ends_as_the_guide_says(code: int, way: Callable[[Workshop], Said], there: Workshop) -> None:
    said = way(there)
    assert said.code == code, said.out + said.err
    if code == 2:
        assert re.search(r"clinic\.yaml:\d+:\d+: |command line: --", said.err)


@pytest.mark.thorough
def test_the_table_lists_exactly_the_codes_that_there_are() -> None:
    assert list(TABLE) == sorted({0, WITHHELD, *(each.exit_code for each in every(errors.CrowdgateError))})
    assert {code for code, _ in WAYS} == set(TABLE)


def every(error: type[errors.CrowdgateError]) -> Iterator[type[errors.CrowdgateError]]:
    """Yield an error class with all its subclasses."""
    yield error
    for further in error.__subclasses__():
        yield from every(further)
