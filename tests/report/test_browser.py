"""Every page in a browser: no external requests, no console errors, visible pictures, printable, no serious findings of
axe-core.

It needs Chromium, which `.ci/run` installs.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from crowdgate.kinds import KINDS
from crowdgate.report.blocks import PageBlock
from crowdgate.report.html import as_html
from tests.audit.workshop import make_town, only_few_controls
from tests.conformance.copies import SLOT, Case, working_copy
from tests.workshop import crowdgate

CHROMIUM = shutil.which("chromium")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
WIDTH, PAPER = 1000, 720
"""Pixels of a window, and of a sheet of A4 within its margins."""
SERIOUS = ("serious", "critical")
WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
BOXES = "() => [...document.querySelectorAll('figure svg')].map(e => e.getBoundingClientRect().toJSON())"
SEEN = "e.checkVisibility({contentVisibilityAuto: true})"
HIDDEN = f"() => [...document.querySelectorAll('details table')].filter(e => !{SEEN}).length"
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (Debian: apt-get install chromium)")


@dataclass
class Looked:
    """A browser's observations while it showed a page."""

    errors: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    boxes: list[dict[str, float]] = field(default_factory=list)
    serious: list[str] = field(default_factory=list)
    wider: dict[int, int] = field(default_factory=dict)
    unprinted: int = 0
    pdf: bytes = b""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


def look(browser: Any, file: Path) -> Looked:
    """Open a page, measure it, print it, and run axe-core on it."""
    from axe_playwright_python.sync_playwright import Axe

    found, page = Looked(), browser.new_page(viewport={"width": WIDTH, "height": 800})
    page.on("console", lambda said: found.errors.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: found.errors.append(str(error)))
    page.on("request", lambda request: found.asked.append(request.url))
    page.goto(file.as_uri())
    found.boxes, found.wider[WIDTH] = page.evaluate(BOXES), page.evaluate(WIDER)
    page.screenshot(path=file.with_suffix(".png"), full_page=True)
    violations = Axe().run(page).response["violations"]
    found.serious = [each["id"] for each in violations if each["impact"] in SERIOUS]
    page.emulate_media(media="print")
    page.set_viewport_size({"width": PAPER, "height": 1000})
    found.wider[PAPER], found.unprinted, found.pdf = page.evaluate(WIDER), page.evaluate(HIDDEN), page.pdf(format="A4")
    page.close()
    return found


def in_order(browser: Any, file: Path, pictures: int) -> None:
    """Assert that a page is presentable, with at least so many pictures."""
    found = look(browser, file)
    assert found.errors == []
    assert found.asked == [file.as_uri()]
    assert len(found.boxes) >= pictures
    assert all(box["width"] > 300 and box["height"] > 80 and box["right"] <= WIDTH for box in found.boxes)
    assert found.serious == []
    assert found.wider == {WIDTH: 0, PAPER: 0}
    assert found.unprinted == 0
    assert found.pdf.startswith(b"%PDF")
    assert file.with_suffix(".png").stat().st_size > 10_000


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_pages_of_a_release(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], browser: Any
) -> None:
    copy = working_copy(Case(kind, "parquet", ("csv",), "sqlite"), tmp_path / "copy")
    monkeypatch.chdir(copy.root)
    assert crowdgate("plan", copy.policy, "--page", "plan.html") == 0
    capsys.readouterr()
    assert crowdgate("explain", copy.policy, "--format", "html") == 0
    Path("explain.html").write_text(capsys.readouterr().out)
    assert crowdgate("release", copy.policy, "--as-of", SLOT) == 0
    copy.edit(copy.policy, "version: '1'", "version: '2'")
    copy.edit(copy.policy, "at_most: '0.5'", "at_most: '0.001'")
    assert crowdgate("release", copy.policy, "--as-of", SLOT) == 3
    assert crowdgate("report", "release", f"clinic/1/{SLOT}", "--private", "--page", "private.html") == 0
    assert crowdgate("report", "index", "pages") == 0
    names = {"plan.html": 1, "explain.html": 0, "private.html": 2}
    names |= {"pages/index.html": 0, "pages/run-1.html": 2, "pages/run-2.html": 0, "pages/budget-1.html": 2}
    for name, pictures in names.items():
        in_order(browser, copy.root / name, pictures)


@pytest.mark.thorough
@pytest.mark.usefixtures("_few_controls")
def test_the_page_of_an_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, browser: Any) -> None:
    town = make_town(tmp_path / "town")
    monkeypatch.chdir(town.root)
    crowdgate("audit", town.policy, "--page", "audit.html", "--jobs", "1")
    in_order(browser, town.root / "audit.html", 1)


@pytest.mark.thorough
def test_the_widest_digest_fits_on_paper(tmp_path: Path, browser: Any) -> None:
    """Letters differ in width: once the digests on a page decided whether it fitted."""
    (tmp_path / "facts.html").write_text(
        as_html("t", [PageBlock(f"| | |\n|---|---|\n| population_digest_of_a_long_name | {'d' * 64} |\n")])
    )
    assert look(browser, tmp_path / "facts.html").wider == {WIDTH: 0, PAPER: 0}


@pytest.fixture
def _few_controls() -> Iterator[None]:
    with only_few_controls():
        yield


@pytest.mark.thorough
def test_what_is_wrong_is_seen(tmp_path: Path, browser: Any) -> None:
    """The page has a failing script, an external picture, one without text, and pale letters."""
    file = tmp_path / "wrong.html"
    file.write_text(
        '<!doctype html><html lang="en"><title>t</title><body><main><h1>t</h1><script>nothing()</script>'
        '<img src="http://127.0.0.1:9/x.png"><p style="color: #bbb; background: #fff">pale</p>'
        '<div style="width: 2000px">wide</div><details><summary>s</summary><table><tr><td>1</table></details></main>'
    )
    found = look(browser, file)
    assert any("nothing is not defined" in each for each in found.errors)
    assert len(found.asked) == 2
    assert {"image-alt", "color-contrast"} <= set(found.serious)
    assert found.wider[WIDTH] > 0
    assert found.unprinted == 1
