"""`crowdgate membership`: a published curve as a file, at any skew, or one clear error."""

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdgate.anonymity.published_attacks.convert import convert
from crowdgate.anonymity.published_attacks.curve import read_curve
from crowdgate.anonymity.published_attacks.request import AttackTargets, CurveRequest, curve_request
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.limits import MOST_POINTS
from crowdgate.risk.membership import SKEWS, precision
from crowdgate.risk.roc import RocPoint, greatest_recall
from tests.examples import examples
from tests.risk.figure_10 import CARLINI, SHOKRI, as_csv, curve
from tests.workshop import crowdgate

shared_folder = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(50)
)
decimals = st.integers(0, 1000).map(lambda number: Fraction(number, 1000))
some = st.lists(st.tuples(decimals, decimals), min_size=1, max_size=6)


def asked(path: Path, text: str, *skews: int, targets: AttackTargets | None = None, at: str = "0.5") -> CurveRequest:
    path.write_text(text, encoding="utf-8")
    return CurveRequest(path, tuple(map(Fraction, skews or SKEWS)), (Fraction(at),), targets)


def found(path: Path, text: str, *skews: int, targets: AttackTargets | None = None, at: str = "0.5") -> dict[str, Any]:
    return convert(asked(path, text, *skews, targets=targets, at=at)).to_json()


@shared_folder
@given(some, st.sampled_from(["fpr,tpr", " tpr , fpr", "tpr,fpr"]), st.sampled_from(["\n", "\r\n", "\n\n"]))
def test_points_are_read_in_order_or_refused_with_their_line(
    tmp_path: Path, pairs: list[tuple[Fraction, Fraction]], header: str, end: str
) -> None:
    """Columns in any order, blanks, any line ends, empty lines, a byte order mark."""
    first = header.split(",")[0].strip()
    cells = [(fpr, tpr) if first == "fpr" else (tpr, fpr) for fpr, tpr in pairs]
    text = end.join([header, *(f"{float(a)} , {float(b)}" for a, b in cells), ""])
    path = tmp_path / "curve.csv"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    steps = list(pairwise(pairs))
    falls = [at for at, (a, b) in enumerate(steps) if b[0] < a[0] or b[1] < a[1]]
    if falls or not any(map(any, pairs)):
        with pytest.raises(ConfigurationError) as caught:
            read_curve(path)
        lines: set[int | None] = {1 + (at + 2) * end.count("\n") for at in falls}
        assert {problem.line for problem in caught.value.problems} == (lines or {None})
    else:
        assert read_curve(path).points == tuple(RocPoint(*pair) for pair in pairs if any(pair))


@shared_folder
@given(
    st.one_of(st.binary(max_size=60), st.text('fprtp,recisonauy0123456789.e-+"\n\r\t ;', max_size=80).map(str.encode))
)
def test_any_bytes_are_a_curve_or_one_error_with_the_file(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "any.csv"
    path.write_bytes(raw)
    problems: tuple[Problem, ...] = ()
    try:
        read_curve(path)
    except ConfigurationError as error:
        problems = error.problems
    assert all(problem.file == str(path) for problem in problems)
    assert all(len(str(problem).splitlines()) == 1 for problem in problems)


@shared_folder
@given(some)
def test_balanced_figures_come_to_the_rates_that_they_were_made_of(
    tmp_path: Path, pairs: list[tuple[Fraction, Fraction]]
) -> None:
    rates = zip(sorted(fpr for fpr, _ in pairs), sorted(tpr for _, tpr in pairs), strict=True)
    points = [(fpr, tpr) for fpr, tpr in rates if tpr]
    if not points:
        return
    lines = [f"{float(tpr)},{float((tpr + 1 - fpr) / 2)}\n" for fpr, tpr in points]
    (tmp_path / "accuracy.csv").write_text("tpr,accuracy\n" + "".join(lines))
    assert read_curve(tmp_path / "accuracy.csv").points == tuple(RocPoint(*pair) for pair in points)


@pytest.mark.parametrize("tprs", [SHOKRI, CARLINI])
def test_figure_10_at_every_skew(tmp_path: Path, tprs: dict[str, str]) -> None:
    said = found(tmp_path / "curve.csv", as_csv(tprs), at="0.8")
    assert said["outcome"] == "converted"
    cases = [(skew, fpr, tpr) for skew in SKEWS for fpr, tpr in tprs.items()]
    assert [row["precision"] for row in said["points"]] == [precision(tpr, fpr, skew) for skew, fpr, tpr in cases]
    assert [row["skew"] for row in said["greatest"]] == [f"1:{skew}" for skew in SKEWS]
    assert [row["recall"] for row in said["greatest"]] == [greatest_recall(curve(tprs), "0.8", skew) for skew in SKEWS]
    assert {row["verdict"] for row in said["points"]} == {"measured"}
    assert "No interval can be given" in " ".join(said["notes"])


@pytest.mark.parametrize(
    ("non_members", "verdict", "needed"), [(11261, "above 0.5", None), (11260, "inconclusive", 11261)]
)
def test_no_false_positive_shows_a_precision_among_enough_non_members_only(
    tmp_path: Path, non_members: int, verdict: str, needed: int | None
) -> None:
    """Rates are 0, or less than one non-member. If the rate is 0 the lower limit of precision is above .5 as well. More
    non-members are needed than for a known recall, since recall has a lower limit too."""
    for fpr in ("0", "0.00005"):
        said = found(tmp_path / "zero.csv", f"fpr,tpr\n{fpr},0.1\n", 240, targets=AttackTargets(10**4, non_members))
        (row,), (greatest,) = said["points"], said["greatest"]
        assert (row["verdict"], row["needed"], row["precision"]) == (verdict, needed, None)
        assert row["precision_high"] == 1
        assert fpr != "0" or (row["precision_low"] >= 0.5) == (needed is None)
        assert greatest["needed"] == needed
        assert greatest["recall"] == (None if needed else 0.1)
        assert ("more than 0.5" in said["plain"]) == (needed is None)


def test_without_their_number_no_false_positive_shows_nothing_and_says_what_would(tmp_path: Path) -> None:
    said = found(tmp_path / "zero.csv", "fpr,tpr\n0,0\n0,0.1\n", 240)
    assert [row["needed"] for row in (*said["points"], *said["greatest"])] == [7189, 7189]
    assert "The precision of this attack is unknown" in said["plain"]
    assert "both rates 0 claims nobody" in " ".join(said["notes"])


def test_what_is_reached_with_false_positives_needs_none_without(tmp_path: Path) -> None:
    said = found(tmp_path / "curve.csv", "fpr,tpr\n0,0.01\n0.001,0.5\n", 30)
    [row] = said["greatest"]
    by_a_mixture = greatest_recall([RocPoint(Fraction("0.001"), Fraction("0.5"))], row["wanted"], 30)
    assert (row["verdict"], row["recall"]) == ("reached", by_a_mixture)
    assert 0.5 < row["recall"] < 0.51
    assert [row["verdict"] for row in said["points"]] == ["inconclusive", "measured"]
    assert "right in 0.9434 of its claims" in said["plain"]
    assert "may be more precise" in said["plain"]


def test_a_rate_of_no_whole_number_of_targets_stands_for_both_numbers_around_it() -> None:
    wide = AttackTargets(10, 10).rates(RocPoint(Fraction("0.25"), Fraction("0.55")))
    below, above = (
        AttackTargets(10, 10).rates(RocPoint(Fraction(f), Fraction(t))) for f, t in (("0.2", "0.5"), ("0.3", "0.6"))
    )
    assert wide.tpr == (below.tpr[0], above.tpr[1])
    assert wide.fpr == (below.fpr[0], above.fpr[1])


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("fpr,tpr\n0.1,0.5\n0.05,0.6\n", 3, "fpr", "falls to 0.05; expected at least 0.1, as on line 2"),
        ("fpr,tpr\n0.1,0.5\n0.2,0.4\n", 3, "tpr", "falls to 0.4; expected at least 0.5"),
        ("recall,precision\n0.1,0.99\n0.2,0.999\n", 3, "precision", "the false positive rate falls"),
        ("recall,precision\n0.9,0.3\n", 2, "precision", "from 0.473684 to 1"),
        ("recall,precision\n0.9,0\n", 2, "precision", "above 0"),
        ("tpr,accuracy\n0.7,0.95\n", 2, "accuracy", "from 0.35 to 0.85"),
        ("fpr,tpr\n0.1,40\n", 2, "tpr", "'40'; expected a number from 0 to 1"),
        ("fpr,tpr\n-0.1,0.4\n", 2, "fpr", "expected a number from 0 to 1"),
        ("fpr,tpr\n0.1,nan\n", 2, "tpr", "'nan'"),
        ("fpr,tpr\n0.1,\n", 2, "tpr", "''"),
        ("FPR,TPR\n0.1,0.4\n", 1, "header", "write 'fpr,tpr'"),
        ("fpr,tpr,auc\n0.1,0.4,1\n", 1, "header", "recall and precision, or tpr and accuracy"),
        ("fpr,tpr\n0.1\n", 2, "row", "1 cells; expected 2 cells"),
        ("fpr,tpr\n", None, "rows", "no points"),
        ("fpr,tpr\n0,0\n", None, "rows", "claim nobody"),
        ("", 1, "row", "no header"),
        ("fpr,tpr\n" + "0.1,0.2\n" * (MOST_POINTS + 1), None, "rows", f"at most {MOST_POINTS}"),
    ],
)
def test_a_wrong_file_is_one_clear_error(tmp_path: Path, text: str, line: int | None, column: str, words: str) -> None:
    path = tmp_path / "wrong.csv"
    path.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        read_curve(path)
    (problem,) = caught.value.problems
    assert (problem.file, problem.line, problem.where) == (str(path), line, column)
    assert words in str(problem)


@pytest.mark.parametrize("name", ["missing.csv", "."])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigurationError, match="a readable CSV file"):
        read_curve(tmp_path / name)


@pytest.mark.parametrize("text", ["30:1", "0.5", "1:0.5", "a", "1:", "2:60", "1:1:1", "nan", "1:10000000000"])
def test_a_skew_is_one_to_a_number_from_1(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"--skew: .* expected 1:N.*write '1:30'"):
        curve_request(Path("x"), [text], None, None, None)


def test_options_are_read_and_all_wrong_ones_are_told_at_once() -> None:
    read = curve_request(Path("x"), ["1:240", "30", "1:30", "1: 2.5"], ["0.8"], "10", "20")
    assert list(read.skews) == [Fraction(5, 2), 30, 240]
    assert (read.precisions, read.targets) == ((Fraction(4, 5),), AttackTargets(10, 20))
    assert curve_request(Path("x"), None, None, None, None).skews == tuple(map(Fraction, SKEWS))
    with pytest.raises(ConfigurationError) as caught:
        curve_request(Path("x"), ["0"], ["1", "0"], "5.5", None)
    assert [problem.where for problem in caught.value.problems] == [
        "--skew",
        "--at",
        "--at",
        "--non-members",
        "--members",
    ]


@pytest.mark.thorough
def test_the_command_says_it_on_the_terminal_as_json_and_as_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, page, text = (tmp_path / name for name in ("carlini.csv", "page.html", "page.md"))
    file.write_text(as_csv(CARLINI))
    options = ["--roc", file, "--skew", "1:30", "--skew", "1:240", "--members", "10000", "--non-members", "1000000"]
    assert crowdgate("membership", *options, "--page", page) == 0
    said = capsys.readouterr().out
    assert "At its most precise, at 1:240 (240 non-members for each member)" in said
    assert "as if every target were independent of the others" in said
    html = page.read_text(encoding="utf-8")
    assert html.count("<svg") == 1
    assert ">1:240<" in html
    assert "<script" not in html
    assert "href" not in html.replace('xlink:href="#', "").replace("xmlns:xlink", "")
    assert crowdgate("membership", *options, "--page", text, "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["points"]) == 14
    assert "| 1:240 | 1e-05 | 0.1 | 0.9766 |" in text.read_text(encoding="utf-8")
    assert crowdgate("membership", "--roc", file, "--skew", "30:1", "--json") == 2
    assert json.loads(capsys.readouterr().out)["code"] == "configuration"


def test_a_curve_of_too_many_points_is_refused_before_they_are_read(tmp_path: Path) -> None:
    (tmp_path / "long.csv").write_text("fpr,tpr\n" + "no number,1\n" * 501)
    with pytest.raises(ConfigurationError, match=r"501 points; expected at most 500"):
        read_curve(tmp_path / "long.csv")


def test_what_is_wrong_with_a_file_is_not_said_to_be_expected(tmp_path: Path) -> None:
    (tmp_path / "open.csv").write_text('fpr,tpr\n"0.1","0.5\n')
    with pytest.raises(ConfigurationError, match=r"not valid CSV \(unexpected end of data\); expected lines of cells"):
        read_curve(tmp_path / "open.csv")
