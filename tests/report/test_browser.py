"""Every page in a browser: no external requests, no console errors, visible pictures, printable, no findings of
axe-core, keys from the top to the bottom.

It needs Chromium, which `.ci/run` installs.
"""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from crowdgate import init
from crowdgate.anonymity.kl.page import repository_page
from crowdgate.anonymity.kl.reading import read_repository
from crowdgate.audit.audits import AUDITS
from crowdgate.audit.common.audit import FinishedAudit
from crowdgate.candidate import AuditQuestion
from crowdgate.history.ended_run import of_entry
from crowdgate.kind.run import Result
from crowdgate.kinds import KINDS
from crowdgate.pages.release import page_after
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.planning.plan import plan_policy
from crowdgate.report.blocks import PageBlock
from crowdgate.report.html import as_html
from crowdgate.review.check import check
from crowdgate.review.check_page import check_report
from crowdgate.signing import keys
from tests.audit.test_kept_records import kept
from tests.conformance.copies import SLOT, Case, working_copy
from tests.kl_repository.shelves import TODAY, said, shelf
from tests.risk.figure_10 import CARLINI, as_csv
from tests.workshop import Workshop, crowdgate

CHROMIUM = shutil.which("chromium")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
WIDTH, NARROW, PAPER, SHEET = 1280, 400, 672, 1000
"""Pixels of a window, of a telephone, and the width and height of a sheet of A4 within its margins."""
FIRST = ((WIDTH, 500), (NARROW, 700))
"""The rectangles, in pixels, in which a page must tell the five facts."""
FIVE = ("outcome", "owner", "cost", "left", "next")
"""The facts that a reader needs first."""
WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
BOXES = "() => [...document.querySelectorAll('figure svg')].map(e => e.getBoundingClientRect().toJSON())"
NAMED = "`${e.tagName} ${e.textContent.trim().slice(0, 40)}`"
SEEN = "e.checkVisibility({contentVisibilityAuto: true})"
CUT = """() => [...document.querySelectorAll('body *')].filter(e => {
  const box = e.getBoundingClientRect();
  return box.width > 1 && box.right > innerWidth + 1 && !e.closest('thead') && !e.closest('svg');
}).map(e => `${e.tagName} ${e.textContent.slice(0, 40)}`)"""
"""The elements that are wider than the window; heads of tables are hidden where rows are cards."""
FACTS = """() => Object.fromEntries([...document.querySelectorAll('[data-fact]')].map(
  e => [e.dataset.fact, e.getBoundingClientRect().bottom]))"""
"""The lower edge of each fact of the band."""
HEADINGS = "() => [...document.querySelectorAll('h1, h2, h3')].map(e => Number(e.tagName[1]))"
LEAVE_OUT_ANNEX = """() => {
  const annex = document.querySelector('.annex');
  while (annex?.nextElementSibling) annex.nextElementSibling.remove();
  annex?.remove();
  return annex !== null;
}"""
SHEETS = re.compile(rb"/Type /Page\b")
"""The pages of a PDF."""
FOCUSED = f"() => {{ const e = document.activeElement; return e === document.body ? '' : {NAMED} }}"
STOPS = f"() => [...document.querySelectorAll('a[href], summary, [tabindex]')].filter(e => {SEEN}).map(e => {NAMED})"
"""The elements that can be reached by keys, from the top to the bottom of the page."""
HIDDEN = f"() => [...document.querySelectorAll('details table')].filter(e => !{SEEN}).length"
POPULATION = "- {property: population, value: clinic-patients}"
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (Debian: apt-get install chromium)")


@dataclass
class Looked:
    """A browser's observations while it showed a page."""

    errors: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    boxes: list[dict[str, float]] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    tabs: list[str] = field(default_factory=list)
    stops: list[str] = field(default_factory=list)
    wider: dict[int, int] = field(default_factory=dict)
    cut: list[str] = field(default_factory=list)
    facts: dict[int, dict[str, float]] = field(default_factory=dict)
    headings: list[int] = field(default_factory=list)
    before_annex: int = 0
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
    found.boxes, found.headings = page.evaluate(BOXES), page.evaluate(HEADINGS)
    for width in (NARROW, WIDTH):
        page.set_viewport_size({"width": width, "height": 800})
        found.wider[width], found.facts[width] = page.evaluate(WIDER), page.evaluate(FACTS)
        found.cut += page.evaluate(CUT)
    page.screenshot(path=file.with_suffix(".png"), full_page=True)
    violations = Axe().run(page).response["violations"]
    found.violations = [each["id"] for each in violations]
    found.stops, found.tabs = page.evaluate(STOPS), list(_tabs(page))
    page.emulate_media(media="print")
    page.set_viewport_size({"width": PAPER, "height": SHEET})
    found.wider[PAPER], found.unprinted, found.pdf = page.evaluate(WIDER), page.evaluate(HIDDEN), page.pdf(format="A4")
    if page.evaluate(LEAVE_OUT_ANNEX):
        found.before_annex = len(SHEETS.findall(page.pdf(format="A4")))
    page.close()
    return found


def _tabs(page: Any) -> Iterator[str]:
    """Press Tab until no element of the page has the focus, and yield the elements that had it."""
    page.keyboard.press("Tab")
    while focused := page.evaluate(FOCUSED):
        yield focused
        page.keyboard.press("Tab")


def first_facts(found: Looked) -> None:
    """Assert that the outcome, the owner, the cost, the budget left and the next step are seen without scrolling."""
    for width, height in FIRST:
        seen = {name for name, bottom in found.facts[width].items() if bottom <= height}
        assert set(FIVE) <= seen, (width, found.facts[width])


def in_order(browser: Any, file: Path, pictures: int, *, first: bool = False) -> None:
    """Assert that a page is presentable, with at least so many pictures; with `first` also that the five facts are
    seen at once."""
    found = look(browser, file)
    assert found.errors == []
    assert found.asked == [file.as_uri()]
    assert len(found.boxes) >= pictures
    assert all(box["width"] > 300 and box["height"] > 80 and box["right"] <= WIDTH for box in found.boxes)
    assert found.violations == []
    assert found.tabs == found.stops
    assert found.wider == {NARROW: 0, WIDTH: 0, PAPER: 0}
    assert found.cut == []
    assert found.headings[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(found.headings))
    assert found.before_annex <= 2
    assert found.unprinted == 0
    assert found.pdf.startswith(b"%PDF")
    assert file.with_suffix(".png").stat().st_size > 10_000
    if first:
        first_facts(found)


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
    held = Result("held", f"clinic/2/{SLOT}", None, plan_policy(copy.policy).guarantee, (), "Held: a rule.")
    description = of_entry(opened := ledger_at(copy.root, None), copy.root, opened.entries()[-1]).facts
    page_after(replace(held, facts=description)).write(Path("held.html"))
    names = {"plan.html": 1, "explain.html": 0, "private.html": 2, "held.html": 0}
    names |= {"pages/run-1.html": 2, "pages/run-2.html": 0}
    for name, pictures in names.items():
        in_order(browser, copy.root / name, pictures, first=True)
    for name, pictures in {"pages/index.html": 0, "pages/budget-1.html": 2}.items():
        in_order(browser, copy.root / name, pictures)


@pytest.mark.thorough
@pytest.mark.parametrize("question", AuditQuestion)
def test_the_page_of_an_audit(question: AuditQuestion, tmp_path: Path, browser: Any) -> None:
    record, findings = AUDITS[question].read(kept(question))
    AUDITS[question].report(FinishedAudit(record, findings, tmp_path / "record.json", True)).write(tmp_path / "a.html")
    drawn = question not in (AuditQuestion.LAW, AuditQuestion.FILES)
    in_order(browser, tmp_path / "a.html", 1 if drawn else 0)


@pytest.mark.thorough
def test_pages_that_no_release_makes(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], browser: Any
) -> None:
    monkeypatch.chdir(workshop.root)
    check_report(check(workshop.policy)).write(Path("check.html"))
    in_order(browser, workshop.root / "check.html", 0, first=True)
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 0
    assert crowdgate("record", "show", f"clinic/1/{SLOT}", "--page", "record.html") == 0
    workshop.edit(workshop.contract, POPULATION, f"{POPULATION}\n      - {{property: public, value: true}}")
    assert crowdgate("anonymity", workshop.contract, "--by", "ward", "--page", "anonymity.html") == 0
    assert crowdgate("predict", workshop.contract, "--of", "ward", "--page", "predict.html") == 0
    Path("roc.csv").write_text(as_csv(CARLINI))
    assert crowdgate("membership", "--roc", "roc.csv", "--skew", "1:30", "--page", "membership.html") == 0
    keys.create(Path("holder.key"))
    key = keys.signing_key(Path("holder.key").read_bytes(), "holder.key")
    shelf(Path("kl"), key, said("charged"), said("public"))
    repository_page(read_repository("kl", [key.public], TODAY)).write(Path("kl.html"))
    capsys.readouterr()
    pages = {"record.html": 0, "anonymity.html": 2, "predict.html": 2, "membership.html": 1, "kl.html": 0}
    for name, pictures in pages.items():
        in_order(browser, workshop.root / name, pictures)


@pytest.mark.thorough
def test_the_bundled_release_prints_on_two_pages_before_its_annex(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, browser: Any
) -> None:
    """Regression: its fourteen rules once took it to a third page."""
    home = init(tmp_path / "survey")
    monkeypatch.chdir(home)
    assert crowdgate("release", "policies/census_income.yaml", "--as-of", SLOT) == 0
    assert crowdgate("report", "release", f"census-income/2/{SLOT}", "--page", "release.html") == 0
    in_order(browser, home / "release.html", 3, first=True)
    assert crowdgate("plan", "policies/census_income.yaml", "--page", "plan.html") == 0
    in_order(browser, home / "plan.html", 3, first=True)


@pytest.mark.thorough
def test_the_widest_digest_fits_on_paper(tmp_path: Path, browser: Any) -> None:
    """Letters differ in width: once the digests on a page decided whether it fitted."""
    (tmp_path / "facts.html").write_text(
        as_html("t", [PageBlock(f"| | |\n|---|---|\n| population_digest_of_a_long_name | {'d' * 64} |\n")])
    )
    assert look(browser, tmp_path / "facts.html").wider == {NARROW: 0, WIDTH: 0, PAPER: 0}


@pytest.mark.thorough
def test_what_is_wrong_is_seen(tmp_path: Path, browser: Any) -> None:
    """The page has a failing script, an external picture, one without text, and pale letters."""
    file = tmp_path / "wrong.html"
    file.write_text(
        '<!doctype html><html lang="en"><title>t</title><body><main><h1>t</h1><script>nothing()</script>'
        '<img src="http://127.0.0.1:9/x.png"><p style="color: #bbb; background: #fff">pale</p>'
        '<div style="width: 2000px">wide</div><details><summary>s</summary><table><tr><td>1</table></details>'
        '<div tabindex="1">last</div><p style="height: 9000px">long</p><h2 class="annex">a</h2></main>'
    )
    found = look(browser, file)
    assert any("nothing is not defined" in each for each in found.errors)
    assert len(found.asked) == 2
    assert {"image-alt", "color-contrast"} <= set(found.violations)
    assert found.tabs == ["DIV last", "SUMMARY s"]
    assert found.stops == ["SUMMARY s", "DIV last"]
    assert found.before_annex > 2
    assert found.wider[WIDTH] > 0
    assert any(each.startswith("DIV wide") for each in found.cut)
    with pytest.raises(AssertionError):
        first_facts(found)
    assert found.unprinted == 1
