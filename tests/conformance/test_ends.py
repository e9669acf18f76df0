"""A run of any case ends silently; a step that breaks leaves a whole release or none."""

import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from crowdgate.errors import Crashed, CrowdgateError
from crowdgate.formats import FORMATS
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.ledger.ledger import Ledger, State, open_ledger
from crowdgate.publish import publisher
from crowdgate.publish.file_names import STAGING
from crowdgate.releases import release as job
from crowdgate.sources import counting
from crowdgate.verification.release import verify
from tests.conformance.copies import DELTA, EPSILON, SLOT, Case, Copy, axes, shown, working_copy
from tests.conformance.lives import Said, marked, say, spent
from tests.conformance.pairs import parameters
from tests.workshop import MARK

ID = f"clinic/1/{SLOT}"


def broken(*_: object, **__: object) -> Any:
    """Fail with a text that must never be shown."""
    raise RuntimeError(MARK)


def _published(_: Copy, __: pytest.MonkeyPatch) -> None:
    """Leave the run unchanged."""


def _withheld(copy: Copy, _: pytest.MonkeyPatch) -> None:
    copy.edit(copy.policy, "at_most: '2'", "at_most: '0.001'")


def _refused(copy: Copy, _: pytest.MonkeyPatch) -> None:
    copy.edit(copy.budget, "epsilon: 60", "epsilon: 1")


def _crashed(_: Copy, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(counting, "scan", broken)


ENDS: dict[str, tuple[int, Callable[[Copy, pytest.MonkeyPatch], None]]] = {
    "published": (0, _published),
    "withheld": (3, _withheld),
    "refused": (5, _refused),
    "crashed": (1, _crashed),
}


@pytest.mark.thorough
@pytest.mark.parametrize("row", parameters((*axes(), tuple(ENDS)), shown))
def test_however_a_run_ends_nothing_shows_a_marked_value(
    row: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    *case, end = row
    copy = working_copy(Case(*case), tmp_path / "w")
    code, arrange = ENDS[end]
    arrange(copy, monkeypatch)
    said = say("release", copy.policy, "--as-of", SLOT, "--json")
    assert said.code == code
    assert MARK not in said.out + said.err + said.log
    assert marked(copy) == []
    assert bool(copy.published()) is (end == "published")


@pytest.mark.thorough
@pytest.mark.parametrize("row", parameters(axes(), shown))
def test_what_a_crash_raises_carries_no_marked_value(
    row: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = working_copy(Case(*row), tmp_path / "w")
    _crashed(copy, monkeypatch)
    with pytest.raises(Crashed) as crashed:
        job.release(Request(copy.policy, SLOT), draw_key)
    told = "".join(traceback.format_exception(crashed.value, chain=True))
    assert MARK not in told + str(crashed.value) + repr(vars(crashed.value))


@dataclass(frozen=True)
class Step:
    """A function of a run that fails before or after its work."""

    holder: str
    name: str
    when: str

    def __str__(self) -> str:
        return f"{self.when} {self.holder}.{self.name}"

    def break_it(self, patch: pytest.MonkeyPatch) -> None:
        """Make it fail from now on."""
        holder = {"ledger": Ledger, "job": job, "publisher": publisher}[self.holder]
        patch.setattr(holder, self.name, self._failing(getattr(holder, self.name)))

    def _failing(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def failing(*args: Any, **kwargs: Any) -> Any:
            if self.when == "after":
                original(*args, **kwargs)
            return broken()

        return failing


@dataclass(frozen=True)
class Writing(Step):
    """The writing of every output format, which fails after the bytes are written."""

    def break_it(self, patch: pytest.MonkeyPatch) -> None:
        for name, form in FORMATS.items():
            patch.setitem(FORMATS, name, replace(form, write=self._failing(form.write)))


def _steps() -> Iterator[Step]:
    calls = {
        "ledger": ("reserve", "begin_reading", "commit", "published"),
        "job": ("protect", "judge", "stage"),
        "publisher": ("stage", "publish"),
    }
    for holder, names in calls.items():
        for name in names:
            yield from (Step(holder, name, when) for when in ("before", "after"))
    yield from (Writing("formats", "write", when) for when in ("before", "after"))


@pytest.mark.thorough
@pytest.mark.parametrize("row", parameters((*axes(), tuple(_steps())), shown))
def test_a_run_that_breaks_anywhere_publishes_all_or_nothing_and_draws_once(
    row: tuple[Any, ...], tmp_path: Path
) -> None:
    *case, step = row
    copy = working_copy(Case(*case), tmp_path / "w")
    with pytest.MonkeyPatch.context() as patch:
        step.break_it(patch)
        first = say("release", copy.policy, "--as-of", SLOT, "--json")
    assert first.code == 1
    assert MARK not in first.out + first.err + first.log
    (state, reading), before = _state(copy), copy.published() or _staged(copy)
    if copy.published():
        assert verify(copy.release_dir(SLOT), copy.ledger)
    again = say("release", copy.policy, "--as-of", SLOT, "--json")
    _ended(copy, again, state, reading, before)
    assert marked(copy) == []


def _ended(copy: Copy, again: Said, state: State | None, reading: bool, before: dict[str, bytes]) -> None:
    """Check that the ledger's state after the broken run decides how the next one ends; the release is charged at most
    once.
    """
    epsilon, delta = spent(copy)
    assert epsilon <= EPSILON
    assert delta <= DELTA
    if state is State.RESERVED:
        assert (again.code, again.json()["code"]) == (5, "spent" if reading else "held")
        assert copy.published() == {}
        return
    assert again.code == 0
    assert verify(copy.release_dir(SLOT), copy.ledger)
    if state in (State.COMMITTED, State.PUBLISHED):
        assert copy.published() == before


def _state(copy: Copy) -> tuple[State | None, bool]:
    """Return the state of the release, and whether its reading has begun."""
    entry = open_ledger(copy.ledger, None).entry(ID)
    return (None, False) if entry is None else (entry.state, entry.reading)


def _staged(copy: Copy) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (copy.root / "releases").glob(f"{STAGING}/*/*")}


def test_an_error_that_is_refused_is_one_of_crowdgate(tmp_path: Path) -> None:
    copy = working_copy(Case(*next(iter(zip(*axes(), strict=False)))), tmp_path / "w")
    copy.edit(copy.budget, "epsilon: 60", "epsilon: 1")
    with pytest.raises(CrowdgateError) as refused:
        job.release(Request(copy.policy, SLOT), draw_key)
    assert MARK not in "".join(traceback.format_exception(refused.value))
