"""Synthetic rows recomputed from their noisy tables and their seed: equal rows, and no forged ones."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from crowdgate import manifest
from crowdgate.errors import ConfigurationError, VerificationFailed
from crowdgate.formats import FORMATS
from crowdgate.kinds import KINDS
from crowdgate.manifest import NAME, json_fields
from crowdgate.verification.release import verify
from tests.forging import Claims, Lines, reseal, reseal_with_page, rewrite_lines, rewrite_rows, stated
from tests.processors import needs_features, on_a_plain_processor
from tests.verify.keep import KEPT
from tests.workshop import crowdgate

RELEASE = KEPT / "2" / "dp_synthetic"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """An unsigned copy of a published release."""
    found = Path(shutil.copytree(RELEASE, tmp_path / "copy"))
    (found / "release.dsse.json").unlink()
    return found


def sealed(folder: Path) -> None:
    """Adjust all statements about rows and noisy tables to the files."""
    reseal(folder)
    kind = KINDS["dp_synthetic"]
    said = manifest.parsed(kind.manifest_class(), (folder / NAME).read_bytes())
    held = kind.read(folder, said, {name: FORMATS[name] for name in said.formats})
    reseal_with_page(folder, lambda claims: claims.update(data=json_fields(kind.data_fields(held))))


def _another_row(folder: Path) -> None:
    """Replace a row of the greatest class by one of the class after it."""

    def change(rows: Lines) -> Lines:
        at = max(range(len(rows)), key=lambda at: rows.count(rows[at]))
        after = at + rows.count(rows[at])
        rows[after - 1] = rows[after]
        return rows

    rewrite_rows(folder, change)


def _moved(folder: Path) -> None:
    """Add a person to one cell of a noisy table and remove one from the next: the total is unchanged."""

    def change(lines: Lines) -> Lines:
        count = lines[0].index("count")
        later = next(at for at, line in enumerate(lines[1:], start=1) if line[1] == "1")
        for at, by in ((later, 1), (later + 1, -1)):
            lines[at][count] = str(int(lines[at][count]) + by)
        return lines

    rewrite_lines(folder / "measured.csv", change)


def _seed(claims: Claims) -> None:
    claims["mechanism"]["seed"] = f"{int(claims['mechanism']['seed'], 16) ^ 1:064x}"


def _one_round_less(folder: Path) -> None:
    """State the first two rounds, of one table each, as one."""
    late = [each["round"] for each in stated(folder)["mechanism"]["measured"]].index(2)

    def change(claims: Claims) -> None:
        for each in claims["mechanism"]["measured"][late:]:
            each["round"] -= 1

    reseal(folder, change)
    rewrite_lines(
        folder / "measured.csv",
        lambda lines: [lines[0], *([a, str(int(b) - (int(a) > late)), *rest] for a, b, *rest in lines[1:])],
    )


def _impossible(claims: Claims) -> None:
    """Remove an impossible combination from the manifest: no row has it anyway."""
    claims["mechanism"]["impossible"].pop()


FORGED: dict[str, Callable[[Path], object]] = {
    "a row": _another_row,
    "the seed": lambda folder: reseal(folder, _seed),
    "noisy counts": _moved,
    "the number of rounds": _one_round_less,
    "what can't occur": lambda folder: reseal(folder, _impossible),
}


def test_a_release_is_the_same_when_it_is_made_again() -> None:
    assert verify(RELEASE, refit=True)


@pytest.mark.thorough
@pytest.mark.parametrize("forgery", FORGED)
def test_what_fits_in_all_files_and_was_not_drawn_is_refused(copy: Path, forgery: str) -> None:
    FORGED[forgery](copy)
    sealed(copy)
    assert verify(copy)
    with pytest.raises(VerificationFailed, match=r"step 10, refit: the rows are not those .*\d+ of \d+ measured"):
        verify(copy, refit=True)


def test_nothing_of_other_kinds_can_be_made_again() -> None:
    for kind in ("safe_k_anonymity", "dp_tables"):
        with pytest.raises(ConfigurationError, match=f"--refit: this release is by {kind}.*by dp_synthetic"):
            verify(KEPT / "2" / kind, refit=True)


@pytest.mark.thorough
def test_the_command_says_what_it_made_again(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("verify", RELEASE, "--refit") == 0
    assert "The rows are those that the noisy tables and the seed give." in capsys.readouterr().out
    assert crowdgate("verify", RELEASE) == 0
    assert "The rows are those" not in capsys.readouterr().out
    assert crowdgate("verify", KEPT / "2" / "dp_tables", "--refit") == 2
    FORGED["a row"](copy)
    sealed(copy)
    assert crowdgate("verify", copy, "--refit") == 6


@pytest.mark.thorough
@needs_features
@pytest.mark.parametrize("kind", ["dp_synthetic", "dp_tables", "safe_k_anonymity"])
def test_a_release_holds_on_a_plain_processor(kind: str) -> None:
    """A release verifies on a processor without extensions: synthetic rows, weights and intervals are recomputed."""
    words = "import sys, pathlib, crowdgate.verification.release as v; v.verify(pathlib.Path(sys.argv[1]), refit=%s)"
    on_a_plain_processor(words % (kind == "dp_synthetic"), str(KEPT / "2" / kind))
