"""The page of a run: outcome first, all gates, four questions, three criteria; all of it public."""

import json
import re
import shutil
from pathlib import Path

import pytest

from crowdgate.errors import ConfigurationError, LedgerRefused, VerificationFailed
from crowdgate.kind.run import Request, Result
from crowdgate.measures import MEASURES, Aspect
from crowdgate.pages.index import write_index
from crowdgate.pages.release import page_after, page_in, page_of, requested_page
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.releases.release import release
from crowdgate.report.report import Report
from crowdgate.sampling import SecretKey
from tests.reports import pictures_of, rules_of
from tests.workshop import MARK, Workshop, crowdgate, good_rows, make_workshop

SLOTS = ("2026-01-01", "2026-02-01", "2026-03-01")
CHARGED = "    - {measure: singletons, at_most: 500, charge: {epsilon: 0.5}}\n"


@pytest.fixture
def clinic(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    monkeypatch.chdir(workshop.root)
    return workshop


def made(clinic: Workshop, slot: str) -> Result:
    return release(Request(clinic.policy, slot), lambda: SecretKey(bytes(32), injected=False))


def page(clinic: Workshop, slot: str, version: int = 1) -> Report:
    return page_in(ledger_at(clinic.root, None), clinic.root, f"clinic/{version}/{slot}")


def withheld(clinic: Workshop, slot: str) -> Result:
    """Withhold a release of version 2 by a gate on the output."""
    clinic.edit(clinic.policy, "version: 1", "version: 2")
    clinic.edit(clinic.policy, "released_rows, at_least: 0", "released_rows, at_least: 999")
    return made(clinic, slot)


def test_a_published_release_is_told_outcome_first_with_all_its_verdicts(clinic: Workshop) -> None:
    result = made(clinic, SLOTS[0])
    text = page(clinic, SLOTS[0]).markdown()
    title = "# Clinic (version 1), public-use file, 1 January 2026\n\n**PUBLISHED.**\n\n"
    assert text.startswith(f"{title}Patients by age and ward. 5 rules were judged. All blocking rules passed.\n")
    assert "- Approval: none was required\n" in text
    assert (
        "- Approval: none was required before the charge; those before pub"
        in page_of(clinic.release_dir(SLOTS[0])).markdown()
    )
    public = [each for each in result.verdicts if each.public]
    assert len(public) == 5
    shown = text.replace("pass, nearly failed", "pass")
    assert all(f"| {each.gate} | pass | {each.reason} |" in shown for each in public)
    asked = ["How is an attack carried out?", "What can be learned", "How likely is a guess right?"]
    criteria = ["### Singling out\n", "### Linkability\n", "### Inference\n"]
    places = [text.index(each) for each in [*asked, "For how many people?", *criteria]]
    assert places == sorted(places)
    assert "suppressed_share" not in text
    assert MARK not in text


def test_every_gate_of_a_criterion_stands_under_it_and_a_lack_is_said(clinic: Workshop) -> None:
    made(clinic, SLOTS[0])
    text = page(clinic, SLOTS[0]).markdown()
    for aspect in (Aspect.SINGLING_OUT, Aspect.LINKABILITY, Aspect.INFERENCE):
        part = text.split(f"### {aspect.capitalize()}\n")[1].split("\n##")[0]
        names = ("pso_bound", "expected_singletons", "singletons", "smallest_class")
        told = {name for name in names if f"- {name} " in part.replace("\\", "")}
        assert told == {name for name in names if MEASURES[name].aspect is aspect}
        assert ("No rule of the policy checks it" in part) is (aspect is Aspect.INFERENCE)


def test_a_withheld_run_says_which_rules_withheld_and_that_it_is_paid_for(clinic: Workshop) -> None:
    result = withheld(clinic, SLOTS[0])
    assert result.outcome == "withheld"
    found = page(clinic, SLOTS[0], 2)
    text = found.markdown()
    assert "**Withheld: nothing was published.** 1 rule stood against it:" in text
    assert re.search(r"- Released rows: \d+, must be at least 999 \(released\\_rows at least 999\)", text)
    assert "charged although nothing was published" in text
    assert "5 rules were judged. 1 blocking rule did not pass." in text
    assert "Annex" not in text
    assert "stays charged" in text
    assert "suppressed_share" not in text.replace("\\", "")
    assert "Four questions" not in text
    (judged,) = rules_of(found)
    assert next(row[0] for row in judged.texts) == "released_rows at least 999"
    assert sorted(row[0] for row in judged.texts) == sorted(each.gate for each in result.verdicts if each.public)


def test_what_was_not_read_is_not_said_to_be_paid_for(clinic: Workshop) -> None:
    clinic.edit(clinic.policy, "pso_bound, at_most: 1", "pso_bound, at_most: 0.000001")
    result = made(clinic, SLOTS[0])
    text = page_after(result).markdown()
    assert "The table was not read, and nothing is charged" in text
    assert "stays" not in text


def test_margins_follow_runs_of_the_policy_withheld_ones_too(clinic: Workshop) -> None:
    results = [made(clinic, slot) for slot in SLOTS[:2]]
    results.append(withheld(clinic, SLOTS[2]))
    found = page(clinic, SLOTS[2], 2)
    (rows,) = [each for each in pictures_of(found) if each.title == "released_rows at least 999"]
    (series,) = rows.series
    measured = [next(v.shown.value for v in r.verdicts if v.measure == "released_rows" and v.shown) for r in results]
    assert [(point.at, point.value) for point in series.points] == [
        (f"1/{SLOTS[0]}", float(measured[0])),
        (f"1/{SLOTS[1]}", float(measured[1])),
        (f"2/{SLOTS[2]}", float(measured[2])),
    ]
    assert [limit.value for limit in rows.limits] == [999.0]


def test_the_forecast_of_another_try_counts_runs_of_its_own_version(clinic: Workshop) -> None:
    for day in (1, 2):
        made(clinic, f"2030-01-0{day}")
    withheld(clinic, "2030-01-03")
    told = page(clinic, "2030-01-03", version=2).markdown()
    assert "0 of 1 run of this version met the limit" in told


def test_two_runs_have_no_series(clinic: Workshop) -> None:
    made(clinic, SLOTS[0])
    result = made(clinic, SLOTS[1])
    found = page(clinic, SLOTS[1])
    assert not [each for each in pictures_of(found) if each.name.startswith("gate")]
    text = found.markdown()
    assert "How near to the limits" not in text
    assert all(each.reason in text for each in result.verdicts if each.public)


def test_an_excess_beyond_another_share_is_another_number(clinic: Workshop) -> None:
    gate = "    - {measure: invalid_share, of: ward, at_most: 0.5, charge: {epsilon: 0.1}}\n"
    clinic.edit(clinic.budget, "epsilon: 6, delta: 0.03", "epsilon: 60, delta: 0.3")
    clinic.edit(clinic.policy, "  gates:\n", f"  gates:\n{gate}")
    made(clinic, SLOTS[0])
    clinic.edit(clinic.policy, "of: ward, at_most: 0.5", "of: ward, at_most: 0.25")
    withheld(clinic, SLOTS[1])
    for slot in (SLOTS[2], "2026-04-01"):
        made(clinic, slot)
    (drawn,) = [each for each in pictures_of(page(clinic, "2026-04-01", 2)) if each.title.startswith("invalid_share")]
    assert [point.at for point in drawn.series[0].points] == [f"2/{SLOTS[1]}", f"2/{SLOTS[2]}", "2/2026-04-01"]


def test_a_release_that_is_not_what_it_claims_has_no_page(clinic: Workshop) -> None:
    result = made(clinic, SLOTS[0])
    assert result.path is not None
    file = result.path / "data.csv"
    file.write_bytes(file.read_bytes() + b"\n")
    with pytest.raises(VerificationFailed, match=r"data\.csv"):
        requested_page(str(result.path), None)
    with pytest.raises(VerificationFailed, match=r"data\.csv"):
        page(clinic, SLOTS[0])


def test_who_vouches_for_a_release_is_said(clinic: Workshop) -> None:
    result = made(clinic, SLOTS[0])
    assert "nobody vouches for its origin: it is not signed" in requested_page(str(result.path), None).markdown()
    assert "the ledger clinic-" in page(clinic, SLOTS[0]).markdown()
    assert "this run made it" in page_after(result).markdown()
    key = clinic.root / "other.key"
    assert crowdgate("keys", "create", key) == 0
    with pytest.raises(VerificationFailed, match="the release is not signed"):
        requested_page(str(result.path), None, [key.with_suffix(".key.pub")])


def test_a_forged_private_record_tells_nothing(clinic: Workshop) -> None:
    withheld(clinic, SLOTS[0])
    (record,) = (clinic.root / "ledger" / "private").glob("*.json")
    said = json.loads(record.read_text())
    said["verdicts"][0]["outcome"] = "fail"
    record.write_text(json.dumps(said))
    found = page(clinic, SLOTS[0], 2)
    assert "No verdict of a rule is known" in found.markdown()
    assert "differs from the one that the ledger recorded" in found.markdown()


@pytest.mark.usefixtures("clinic")
def test_neither_a_folder_nor_an_id() -> None:
    with pytest.raises(ConfigurationError, match="a release's folder, or POLICY/VERSION/SLOT"):
        requested_page("nothing", None)
    with pytest.raises(LedgerRefused, match="ledger show"):
        requested_page("clinic/1/2026-01-01", None)


@pytest.mark.thorough
def test_an_index_that_is_made_elsewhere_finds_the_releases_of_the_working_copy(
    clinic: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(clinic, SLOTS[0])
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert crowdgate("report", "index", "pages", "--ledger", clinic.ledger) == 0
    said = Path("pages/index.html").read_text()
    assert "1 published" in said
    assert "does not verify" not in said
    assert Path("pages/run-1.html").exists()
    assert crowdgate("report", "release", f"clinic/1/{SLOTS[0]}", "--ledger", clinic.ledger) == 0


@pytest.mark.thorough
def test_equal_bytes_and_verdicts_give_equal_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One of two tables has additional rows that the contract drops: only their private records differ."""
    first = make_workshop(tmp_path / "one")
    first.edit(first.policy, CHARGED, "")
    shutil.copytree(first.root, tmp_path / "two" / "one")
    second = Workshop(tmp_path / "two" / "one")
    second.write([*good_rows(600), *({**row, "age": "none"} for row in good_rows(7))])
    told, records = [], []
    for clinic in (first, second):
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(clinic.root)
            results = [made(clinic, SLOTS[0]), withheld(clinic, SLOTS[1])]
            pages = [page_after(each).markdown() for each in results]
            for at, each in enumerate(SLOTS[:2]):
                assert crowdgate("report", "release", f"clinic/{at + 1}/{each}", "--page", f"p{at}.html") == 0
                pages.append(Path(f"p{at}.html").read_text())
            assert crowdgate("report", "budget", "clinic-patients") == 0
            assert crowdgate("report", "index", "pages") == 0
            pages += [file.read_text() for file in sorted(Path("pages").iterdir())]
            told.append((pages, capsys.readouterr()))
            (record,) = (clinic.root / "ledger" / "private").glob(f"*{SLOTS[0]}.json")
            records.append(json.loads(record.read_text()))
    assert records[0]["ingestion"] != records[1]["ingestion"]
    assert told[0] == told[1]
    assert len(told[0][0]) == 8


def test_what_others_wrote_is_no_markup_and_a_waived_failure_is_said(clinic: Workshop) -> None:
    clinic.edit(clinic.policy, "owner: board", 'owner: "<script>x</script> | [a](b) *c*"')
    waiver = '{reason: "<b>", approved_by: "*d*", expires: 2099-01-01}'
    clinic.edit(clinic.policy, "released_rows, at_least: 0", f"released_rows, at_least: 999, waiver: {waiver}")
    made(clinic, SLOTS[0])
    found = page(clinic, SLOTS[0])
    assert "All blocking rules passed, but for 1 that failed and is waived." in found.markdown()
    html = found.html()
    assert ">&lt;script&gt;x&lt;/script&gt; | [a](b) *c*</td>" in html
    assert not re.search(r"<script|<em>|<b>|<a ", html)


def test_advice_that_was_not_followed_is_said_at_once(clinic: Workshop) -> None:
    clinic.edit(clinic.policy, "released_rows, at_least: 0", "released_rows, at_least: 999, severity: advise")
    made(clinic, SLOTS[0])
    said = "5 rules were judged. All blocking rules passed. Of the rules that only advise, 1 did not pass."
    assert said in page(clinic, SLOTS[0]).markdown()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("least", "expires", "outcome", "said"),
    [
        (0, "2099-01-01", "published", "its waiver by who until 2099-01-01 was not needed: why"),
        (999, "2020-01-01", "withheld", "its waiver by who until 2020-01-01 did not hold: why"),
        (999, "2099-01-01", "published", "fail, waived by who until 2099-01-01: why"),
    ],
)
def test_a_waiver_is_said_to_hold_where_it_did(
    clinic: Workshop, least: int, expires: str, outcome: str, said: str
) -> None:
    waiver = f"{{reason: why, approved_by: who, expires: {expires}}}"
    clinic.edit(clinic.policy, "released_rows, at_least: 0", f"released_rows, at_least: {least}, waiver: {waiver}")
    assert (made(clinic, SLOTS[0]).path is None) == (outcome == "withheld")
    text = page(clinic, SLOTS[0]).markdown()
    assert said in text
    assert text.count("by who until") == text.count("waived by who") + text.count("its waiver by who")
    index = write_index(ledger_at(clinic.root, None), clinic.root, clinic.root / "pages").read_text(encoding="utf-8")
    assert ("fail, waived by who" in index) == (least > 0 and outcome == "published")
