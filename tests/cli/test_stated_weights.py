"""Every command and page that states a bound on singling out states it at three weights, beside the baselines."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workshop import Workshop, crowdgate, make_workshop

SLOT = "2030-01-01"
WEIGHTS = ("10,000", "100,000", "1,000,000")
"""Numbers of people of whom predicates of the three weights fit one, for a bound of 1,000 people."""
BASELINES = ("0.091", "0.01", "0.001")
TEXTS = {
    "check": ("check", "POLICY"),
    "plan": ("plan", "POLICY"),
    "explain": ("explain", "POLICY"),
    "diff": ("diff", "POLICY", "OTHER"),
    "release": ("release", "POLICY", "--as-of", "2030-02-01"),
    "verify": ("verify", "RELEASE"),
    "report release": ("report", "release", "RELEASE"),
    "report release of a run": ("report", "release", f"clinic/1/{SLOT}"),
}
"""Commands that state a bound."""
PAGES = {
    "plan": ("plan", "POLICY", "--page", "PAGE"),
    "report release": ("report", "release", "RELEASE", "--page", "PAGE"),
}
OTHERS = {
    "release of a published run": ("release", "POLICY", "--as-of", SLOT),
    "ledger budget": ("ledger", "budget", "clinic-patients"),
    "ledger show": ("ledger", "show"),
    "report budget": ("report", "budget", "clinic-patients"),
    "replay": ("replay", "POLICY"),
    "record show": ("record", "show", f"clinic/1/{SLOT}"),
    "doctor": ("doctor",),
}
"""Commands without a bound: they state none at a single weight either."""
STATED = re.compile(r"(?:describes exactly one|[Ss]ingling out succeeds)")


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """Return a working copy whose bounds are below 1, in a current folder of its own."""
    workshop = make_workshop(tmp_path_factory.mktemp("weights") / "w")
    workshop.edit(workshop.policy, "delta: 0.01", "delta: 1e-6")
    workshop.edit(workshop.policy, "singletons, at_most: 500, charge: {epsilon: 0.5}", "released_rows, at_most: 1000")
    workshop.edit(workshop.policy, "epsilon: 2", "epsilon: 1")
    shutil.copy(workshop.policy, workshop.root / "policies" / "other.yaml")
    other = workshop.root / "policies" / "other.yaml"
    workshop.edit(other, "name: clinic, version: 1", "name: other, version: 1")
    workshop.edit(other, "epsilon: 1", "epsilon: 1.5")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(workshop.root)
        yield workshop


@pytest.fixture(scope="module")
def published(clinic: Workshop) -> Path:
    assert crowdgate("release", clinic.policy, "--as-of", SLOT) == 0
    return clinic.release_dir(SLOT)


def arguments(command: tuple[str, ...], clinic: Workshop, page: Path) -> list[object]:
    known = {
        "POLICY": clinic.policy, "OTHER": clinic.root / "policies" / "other.yaml", "PAGE": page,
        "RELEASE": clinic.release_dir(SLOT),
    }  # fmt: skip
    return [known.get(part, part) for part in command]


def statement(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("&nbsp;", " "))


def states_all(text: str) -> bool:
    """Return True if a text has all three weights and baselines, after the privacy cost."""
    found = statement(text)
    whole = all(re.search(rf"(?<![0-9.,]){re.escape(each)}(?![0-9])", found) for each in (*WEIGHTS, *BASELINES))
    cost, bound = re.search(r"[Pp]rivacy cost|epsilon", found), STATED.search(found)
    return whole and cost is not None and bound is not None and cost.start() < bound.start()


@pytest.mark.thorough
@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("name", TEXTS)
def test_a_command_states_the_bound_at_all_three_weights(
    name: str, clinic: Workshop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert crowdgate(*arguments(TEXTS[name], clinic, tmp_path)) in {0, 3}
    assert states_all(capsys.readouterr().out)


@pytest.mark.thorough
@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("end", [".html", ".md"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_states_the_bound_at_all_three_weights(name: str, end: str, clinic: Workshop, tmp_path: Path) -> None:
    page = tmp_path / f"page{end}"
    assert crowdgate(*arguments(PAGES[name], clinic, page)) == 0
    assert states_all(page.read_text(encoding="utf-8"))


def test_the_readme_of_a_release_states_the_bound_at_all_three_weights(published: Path) -> None:
    assert states_all((published / "README.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", OTHERS)
def test_other_commands_state_no_bound_at_a_single_weight(
    name: str, clinic: Workshop, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    crowdgate(*arguments(OTHERS[name], clinic, published))
    found = capsys.readouterr().out
    assert found
    assert states_all(found) or not STATED.search(statement(found))
