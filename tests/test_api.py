"""The names of `import crowdgate`: typed, described, imported lazily, and silent."""

import html
import inspect
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import crowdgate
from crowdgate.errors import ConfigurationError, EnvironmentFault, FileFault, VerificationFailed
from crowdgate.system.notebook_page import NotebookPage, ShownInNotebooks
from tests.audit.workshop import make_town, only_few_controls
from tests.workshop import MARK, Workshop

CALLER = """
from fractions import Fraction

import pandas as pd

import crowdgate


def published(frame: pd.DataFrame) -> pd.DataFrame | None:
    contract: crowdgate.Contract = crowdgate.read_contract("clinic.yaml")
    policy: crowdgate.Policy = crowdgate.read_policy("policy.yaml")
    ledger: crowdgate.Ledger = crowdgate.open_ledger()
    guarantee: crowdgate.Guarantee = crowdgate.plan("policy.yaml").plan.guarantee
    epsilon: Fraction = guarantee.epsilon
    crowdgate.write_table(frame, "clinic.yaml")
    names: list[str] = [contract.id, policy.metadata.name, ledger.id]
    if not crowdgate.check("policy.yaml").allowed or epsilon > 1 or not names:
        return None
    made = crowdgate.release("policy.yaml", as_of="2030-01-01", to="elsewhere")
    return None if made.path is None else crowdgate.read_release(made.path).frames["data"]


delta: float = crowdgate.exact_delta(crowdgate.least_k(1, 1e-9, 0.3), 0.3, 1)
"""
SILENT = """follow_imports = silent
[mypy-cryptography.*,jinja2.*,numpy.*,pyarrow.*,pydantic.*,scipy.*]
follow_imports = skip
ignore_missing_imports = true
"""
"""Libraries that occur in no signature and take long to import."""
WRONG = """
import crowdgate

crowdgate.release(1)
crowdgate.verify("folder").origin.nothing
crowdgate.least("k")
"""


@pytest.mark.parametrize("name", crowdgate.__all__)
def test_every_name_is_there_and_described(name: str) -> None:
    found = getattr(crowdgate, name)
    assert (inspect.getdoc(found) or "").strip()
    if inspect.isfunction(found):
        signature = inspect.signature(found)
        assert signature.return_annotation is not inspect.Signature.empty
        assert all(each.annotation is not inspect.Parameter.empty for each in signature.parameters.values())


def test_no_name_hides_a_module_and_none_is_missing_in_the_table() -> None:
    folder = Path(inspect.getfile(crowdgate)).parent
    modules = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert not modules & {*crowdgate.__all__}
    assert {*crowdgate.__all__} <= {*dir(crowdgate)}
    with pytest.raises(AttributeError, match="relase"):
        _ = crowdgate.relase  # type: ignore[attr-defined]


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys, crowdgate; print(*(name for name in sys.modules if name.startswith('crowdgate.')))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["crowdgate.system", "crowdgate.system.lazy_exports"]


@pytest.mark.thorough
def test_type_checkers_see_what_callers_do_right_and_wrong(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(CALLER)
    (tmp_path / "wrong.py").write_text(WRONG)
    root = Path(__file__).parents[1]
    (tmp_path / "mypy.ini").write_text(f"[mypy]\nstrict = true\nmypy_path = {root / 'pipeline'}\n{SILENT}")
    line = [sys.executable, "-m", "mypy", "right.py", "wrong.py"]
    ended = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    found = [line.split(": ")[0] for line in ended.stdout.splitlines() if ": error:" in line]
    assert found == ["wrong.py:4", "wrong.py:5", "wrong.py:6"], ended.stdout


def test_a_data_frame_becomes_the_contracts_table_and_a_release_becomes_data_frames(
    workshop: Workshop, capfd: pytest.CaptureFixture[str]
) -> None:
    frame = pd.read_parquet(workshop.data)
    workshop.data.unlink()
    assert crowdgate.write_table(frame, workshop.contract) == workshop.data
    assert workshop.data.stat().st_mode & 0o077 == 0
    pd.testing.assert_frame_equal(pd.read_parquet(workshop.data), frame)
    made = crowdgate.release(str(workshop.policy), "2030-01-01")
    assert made.path is not None
    found = crowdgate.read_release(made.path)
    said = found.verified.manifest
    assert len(found.frames["data"]) == said.data.model_dump()["rows"]
    assert list(found.dictionary.columns) == ["column", "level", "code", "label", "description"]
    assert {*found.frames["data"].columns} == {*found.dictionary["column"]}
    assert found.weights is None
    assert crowdgate.open_ledger(workshop.root).id == said.ledger.id
    assert capfd.readouterr() == ("", "")


def test_a_table_goes_nowhere_but_into_a_file_that_can_be_written(workshop: Workshop) -> None:
    frame = pd.DataFrame({"age": [1]})
    workshop.edit(workshop.contract, "path: patients.parquet", "path: missing/patients.parquet")
    with pytest.raises(EnvironmentFault):
        crowdgate.write_table(frame, workshop.contract)
    workshop.edit(workshop.contract, "path: missing/patients.parquet", "path: patients.csv")
    workshop.edit(workshop.contract, "format: parquet", "format: csv")
    with pytest.raises(FileFault, match="types"):
        crowdgate.write_table(pd.DataFrame({"age": [[MARK]]}), workshop.contract)
    assert crowdgate.write_table(frame, workshop.contract).read_text() == '"age"\n1\n'


def test_a_release_that_was_changed_is_not_read(workshop: Workshop) -> None:
    made = crowdgate.release(workshop.policy, "2030-01-01")
    assert made.path is not None
    path = made.path / "dictionary.csv"
    path.chmod(0o644)
    path.write_bytes(path.read_bytes().replace(b"age", b"ago"))
    with pytest.raises(VerificationFailed):
        crowdgate.read_release(made.path)


def test_a_slot_that_is_none_is_refused_as_a_file_would_be(workshop: Workshop) -> None:
    with pytest.raises(ConfigurationError, match="as_of"):
        crowdgate.release(workshop.policy, "yesterday")


def test_a_question_that_no_audit_asks_is_refused_with_those_that_are(workshop: Workshop) -> None:
    with pytest.raises(ConfigurationError, match="one of singling-out, inference, membership, law, files"):
        crowdgate.audit_policy(workshop.policy, of="anonymity")


@pytest.mark.thorough
def test_a_notebook_shows_the_page_of_an_audit(tmp_path: Path) -> None:
    town = make_town(tmp_path / "town")
    with only_few_controls():
        found = crowdgate.audit_policy(town.policy)
    page = html.unescape(str(found._repr_html_()))
    assert page[page.index('<p class="outcome"') :].startswith('<p class="outcome" data-fact="outcome">')
    assert f"Audit of {found.record.setting.policy}" in page
    assert repr(found).startswith("FinishedAudit(")
    assert len(repr(found)) <= 2000


@pytest.mark.thorough
def test_what_is_returned_has_a_short_representation(tmp_path: Path) -> None:
    """Notebooks show what a call returns: contracts and plans hold thousands of labels."""
    home = crowdgate.init(tmp_path / "survey")
    contract, policy = home / "data_contracts/census_income.yaml", home / "policies/census_income_tables.yaml"
    released = crowdgate.release(policy, "2030-01-01")
    assert released.path is not None
    returned: dict[str, Any] = {
        "read_contract": crowdgate.read_contract(contract),
        "read_policy": crowdgate.read_policy(policy),
        "open_ledger": crowdgate.open_ledger(home),
        "check": crowdgate.check(policy),
        "plan": crowdgate.plan(policy),
        "release": released,
        "verify": crowdgate.verify(released.path),
        "budget": crowdgate.budget("us-cps-1994-95", home),
        "read_release": crowdgate.read_release(released.path),
    }
    assert {name: len(repr(each)) for name, each in returned.items() if len(repr(each)) > 2000} == {}
    named = {name: type(each).__name__ for name, each in returned.items()}
    assert all(named[name] in repr(each) for name, each in returned.items())
    assert set(returned) >= {*crowdgate.__all__} - CLASSES - {
        "init",
        "write_table",
        "exact_delta",
        "least_k",
        "audit_policy",
    }


CLASSES = {"Contract", "CrowdgateError", "Guarantee", "Ledger", "Policy", "ReleasedData"}


def test_notebooks_show_pages_with_the_outcome_first(workshop: Workshop) -> None:
    """The page is in a frame of its own; a value that did not come from these functions has the same page."""
    shown: dict[str, NotebookPage | ShownInNotebooks] = {
        "ALLOWED": crowdgate.check(workshop.policy),
        "PLAN": crowdgate.plan(workshop.policy),
        "PUBLISHED": crowdgate.release(workshop.policy, as_of="2030-01-01"),
    }
    shown["% LEFT"] = crowdgate.budget("clinic-patients", workshop.root)
    for outcome, value in shown.items():
        page = html.unescape(str(value._repr_html_()))
        assert page.startswith("<iframe srcdoc=")
        band = page[page.index("<body") :][:1500]
        assert outcome in band
        assert MARK not in page


def test_a_notebook_shows_no_page_of_a_release_that_is_gone(workshop: Workshop) -> None:
    result = crowdgate.release(workshop.policy, as_of="2030-01-01")
    assert result.path is not None
    shutil.rmtree(result.path)
    assert result._repr_html_() is None
    assert "2030-01-01" in repr(result)


def test_the_page_of_a_dry_run_policy_does_not_advise_its_release(workshop: Workshop) -> None:
    workshop.edit(workshop.policy, "spec:\n", "spec:\n  enforcement: dry-run\n")
    page = html.unescape(str(crowdgate.check(workshop.policy)._repr_html_()))
    assert "release it with crowdgate release" not in page
    assert "rehearse it with crowdgate rehearse" in page
