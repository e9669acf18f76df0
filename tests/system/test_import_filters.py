"""Libraries that are absent for a while, or executed at their first use."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from crowdgate.system.import_filters import imports_filtered

NAME = "a_library_of_this_test"


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A library that leaves a file where it is executed."""
    executed = tmp_path / "executed"
    (tmp_path / f"{NAME}.py").write_text(f"open({str(executed)!r}, 'w').close()\nANSWER = 42\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield executed
    sys.modules.pop(NAME, None)


def test_an_absent_library_is_not_found_until_the_block_ends(library: Path) -> None:
    with imports_filtered(absent={NAME}), pytest.raises(ModuleNotFoundError) as raised:
        import_module(NAME)
    assert raised.value.name == NAME
    assert not library.exists()
    assert import_module(NAME).ANSWER == 42


def test_a_deferred_library_is_executed_at_its_first_use_even_after_the_block(library: Path) -> None:
    with imports_filtered(deferred={NAME}):
        found = import_module(NAME)
    assert not library.exists()
    assert found.ANSWER == 42
    assert library.exists()
    assert import_module(NAME) is found


def test_a_library_that_is_imported_already_stays_as_it_is(library: Path) -> None:
    found = import_module(NAME)
    with imports_filtered(absent={NAME}, deferred={NAME}):
        assert import_module(NAME) is found
    assert library.exists()


def test_a_deferred_library_that_is_not_installed_is_not_found() -> None:
    with imports_filtered(deferred={"not_installed_anywhere"}), pytest.raises(ModuleNotFoundError):
        import_module("not_installed_anywhere")


def test_a_block_that_fails_leaves_no_filter() -> None:
    before = [*sys.meta_path]
    with pytest.raises(ZeroDivisionError), imports_filtered(absent={NAME}):
        raise ZeroDivisionError
    assert sys.meta_path == before
