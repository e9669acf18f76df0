"""The core checks, plans and verifies without extras; a command that lacks an extra names it, and stops.

The lock files hold the same versions, with hashes, and name no index.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import distribution, packages_distributions
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from crowdgate.contracts.contract import Fact
from crowdgate.contracts.reading import read_contract
from crowdgate.errors import ConfigurationError
from crowdgate.planning.bundle import KNOWN
from crowdgate.releases.working_copy import DEMO_POLICY
from crowdgate.system import extras
from tests.workshop import Workshop, crowdgate

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ALL = [each for each in vars(extras).values() if isinstance(each, extras.Extra)]


def closure(requirements: Iterable[str], seen: set[str]) -> set[str]:
    """Return the names of all packages that these requirements install."""
    for text in requirements:
        requirement = Requirement(text)
        name = canonicalize_name(requirement.name)
        if name not in seen and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            seen.add(name)
            closure(distribution(name).requires or (), seen)
            for extra in requirement.extras:
                wanted = (Requirement(more) for more in distribution(name).requires or ())
                closure([str(more).partition(";")[0] for more in wanted if f'"{extra}"' in str(more.marker)], seen)
    return seen


CORE = """
import json, sys
from importlib.machinery import PathFinder
absent = set(json.loads(sys.argv.pop(1)))
class Core(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in absent else super().find_spec(name, path, target)
sys.meta_path[:] = [Core if each is PathFinder else each for each in sys.meta_path]
from crowdgate_flows.command import main
commands, codes = json.loads(sys.argv.pop(1)), []
for command in commands:
    sys.argv[1:] = command
    try:
        main()
        codes.append(0)
    except SystemExit as end:
        codes.append(end.code or 0)
print(json.dumps(codes))
"""


def with_core_only(*commands: list[str]) -> tuple[list[int], str]:
    """Return the exit codes of commands in one process with only the core installed, and its standard error."""
    core = closure(PROJECT["project"]["dependencies"], {"crowdgate"})
    absent = [
        module
        for module, brought in packages_distributions().items()
        if not core & {canonicalize_name(each) for each in brought}
    ]
    assert {each.module for each in ALL} | {"pandas"} <= set(absent)
    process = [sys.executable, "-c", CORE, json.dumps(absent), json.dumps(commands)]
    ended = subprocess.run(process, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1]), ended.stderr


@pytest.mark.thorough
def test_the_core_checks_plans_and_verifies_and_says_what_a_release_needs(workshop: Workshop) -> None:
    slot = "2030-01-01"
    assert crowdgate("release", workshop.policy, "--as-of", slot) == 0
    policy, done = str(workshop.policy), str(workshop.release_dir(slot))
    check, plan = ["check", policy], ["plan", policy]
    verify = ["verify", done, "--ledger", workshop.ledger]
    codes, said = with_core_only(["--help"], check, plan, verify, ["release", policy, "--as-of", "2030-01-02"])
    needs = "command line: release: OpenDP is not installed; expected pip install 'crowdgate[release]'"
    assert (codes, said) == ([0, 0, 0, 0, 2], f"crowdgate: {needs}\n")


MISSED = {
    "release": (["release", "POLICY"], extras.RELEASE),
    "demo": (["demo", "DIR"], extras.RELEASE),
    "prefect": (["release", "POLICY", "--prefect"], extras.PREFECT),
    "page": (["plan", "POLICY", "--page", "DIR/plan.html"], extras.PAGE),
    "audit": (["audit", "POLICY"], extras.RELEASE),
    "inference": (["audit", "POLICY", "--of", "inference"], extras.AUDIT),
}


@pytest.mark.parametrize("case", MISSED)
def test_a_command_that_misses_an_extra_names_it_in_one_line(
    workshop: Workshop, case: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command, extra = MISSED[case]
    monkeypatch.setitem(sys.modules, extra.module, None)
    there = {"POLICY": str(workshop.policy), "DIR": str(workshop.root / "new")}
    (workshop.root / "new").mkdir()
    told = [re.sub("POLICY|DIR", lambda found: there[found[0]], each) for each in command]
    assert crowdgate(*told) == 2
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert said.err.endswith(f"{extra.title} is not installed; expected pip install 'crowdgate[{extra.name}]'\n")
    assert list((workshop.root / "new").iterdir()) == []
    assert not (workshop.root / "releases").exists()


def test_who_reads_a_release_without_pandas_is_told_what_brings_it(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    from crowdgate import read_release

    slot = "2030-01-01"
    assert crowdgate("release", workshop.policy, "--as-of", slot) == 0
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigurationError, match=r"pandas is not installed; .*'crowdgate\[frames\]'"):
        read_release(workshop.release_dir(slot))


def test_every_extra_is_one_of_the_package_and_brings_its_module() -> None:
    brings = packages_distributions()
    stated = {
        name: {canonicalize_name(Requirement(each).name) for each in wanted}
        for name, wanted in PROJECT["project"]["optional-dependencies"].items()
    }
    assert {each.name for each in ALL} == set(stated)
    assert list(extras.EXTRAS) == ALL
    for each in ALL:
        assert set(map(canonicalize_name, brings[each.module])) & stated[each.name]


def locked(name: str) -> dict[str, tuple[str, int]]:
    """Return the packages of a lock file with their versions, and their numbers of hashes."""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert not re.search(r"https?://|^--", text, re.MULTILINE)
    entries = re.split(r"\n(?=\S)", text.strip())
    found = [(re.match(r"([^=]+)==(\S+)(.*)", each), each.count("--hash=sha256:")) for each in entries]
    return {f"{entry[1]}=={entry[2]}": (entry[1], hashes) for entry, hashes in found if entry}


def test_the_locks_agree_and_only_the_second_has_what_developers_need() -> None:
    """The group `build` is for installations in place."""
    use, develop = locked("requirements.lock"), locked("requirements-dev.lock")
    assert all(hashes for _, hashes in [*use.values(), *develop.values()])
    assert set(use) < set(develop)
    names = {name for name, _ in use.values()}
    groups = PROJECT["dependency-groups"]
    tools = {each for each in groups["dev"] if isinstance(each, str)}
    assert not names & tools
    wanted = [*PROJECT["project"]["dependencies"], *groups["build"]]
    wanted += chain.from_iterable(PROJECT["project"]["optional-dependencies"].values())
    assert {canonicalize_name(Requirement(each).name) for each in wanted} <= names
    assert tools <= {name for name, _ in develop.values()}
    for lock in (".ci/sbom.lock", ".ci/docs/requirements.lock"):
        assert all(hashes for _, hashes in locked(lock).values())


def test_the_demo_starts_no_engine() -> None:
    """Great Expectations costs more than the rest of the demo; its contract's limits are plain ones."""
    contract = read_contract(ROOT / "data_contracts" / f"{Path(DEMO_POLICY).stem}.yaml", KNOWN.servers)
    assert Fact.MEAN in {rule.fact for rule in contract.table_rules}
    assert contract.expectations == ()


@pytest.mark.parametrize("extra", [extras.POSTGRES, extras.POSTGRES_TABLES])
def test_an_extra_is_there_if_all_its_modules_are(
    extra: extras.Extra, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, extra.module, None)
    assert crowdgate("version", "--json") == 0
    assert json.loads(capsys.readouterr().out)["extras"]["postgres"] is False
