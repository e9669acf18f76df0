"""The commands of the KL repository, in a small working copy."""

import errno
import json
import re
from datetime import date
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from crowdgate.anonymity.kl import charged_run, index
from crowdgate.anonymity.kl import publish as job
from crowdgate.anonymity.kl.entry import digest_of
from crowdgate.anonymity.kl.publish import PublicationRequest
from crowdgate.anonymity.kl.reading import STAGING, Repository, read_repository
from crowdgate.ledger.ledger import Ledger, Spend, State, open_ledger
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.publish import trial_publication
from crowdgate.risk.kl_curve import RATES
from crowdgate.signing import keys
from crowdgate.signing.keys import public_keys
from tests.releases.killing import publish_and_kill, publish_until
from tests.workshop import MARK, Workshop, crowdgate, good_rows

DAY = date(2030, 1, 1)
SAID = ("--words", "Patients", "--coverage", "0.9", "--error", "0.01")


@pytest.fixture
def clinic(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """A working copy of 2,400 patients with a key, run from its folder on a fixed day."""
    keys.create(workshop.root / "holder.key")
    settings = workshop.root / "crowdgate.toml"
    settings.write_text(settings.read_text() + 'signing_key = "holder.key"\n', encoding="utf-8")
    ledger_at(workshop.root, None).sign()
    workshop.edit(workshop.budget, "people: 1000", "people: 5000")
    workshop.write(good_rows(2400))
    monkeypatch.chdir(workshop.root)
    monkeypatch.setattr("crowdgate.cli.kl.today", lambda: DAY)
    return workshop


@pytest.fixture
def public(clinic: Workshop) -> Workshop:
    clinic.edit(
        clinic.contract, "{property: rowsAtMost", "{property: public, value: true}\n      - {property: rowsAtMost"
    )
    return clinic


def publish(clinic: Workshop, *options: str, to: str = "kl", of: str = "age=10 years,ward") -> int:
    slot = () if "--as-of" in options else ("--as-of", DAY.isoformat())
    return crowdgate("kl", "publish", clinic.contract, "--of", of, "--to", to, *SAID, *slot, *options)


def repository(clinic: Workshop, folder: str = "kl") -> Repository:
    return read_repository(str(clinic.root / folder), public_keys(clinic.root / "holder.key.pub"), DAY)


def ledger(clinic: Workshop) -> Ledger:
    return open_ledger(clinic.ledger, None)


def spent(clinic: Workshop) -> Spend:
    return ledger(clinic).spent("clinic-patients")


def query(clinic: Workshop, *options: str, of: str = "age=10 years,ward") -> int:
    key = clinic.root / "holder.key.pub"
    return crowdgate("kl", "query", "--from", "kl", "--key", key, "--contract", "clinic", "--of", of, *options)


def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_a_charged_entry_costs_its_epsilon_and_tells_three_noisy_sums(clinic: Workshop) -> None:
    assert publish(clinic, "--epsilon", "0.5") == 0
    assert spent(clinic) == Spend(Fraction(1, 2), Fraction(0))
    (found,) = repository(clinic).entries
    entry, charge = found.entry, ledger(clinic).place("kl/clinic/2030-01-01")
    assert entry.basis.kind == "charged"
    assert (entry.basis.epsilon, entry.basis.charge.line) == (Fraction(1, 2), charge.number)
    assert entry.basis.charge.digest == charge.digest
    assert entry.bins == 10 * 4
    assert abs(entry.people.rows - 2400) < 100
    # ages of 10 years and wards are uniform except for the value for invalid wards: ln(4/3). The interval is widened
    # to four times its half-width, which noise of a sum exceeds with probability (1/30)^4 / 2: 4e-6 in all
    wide = 1.5 * (entry.kl.high - entry.kl.low)
    assert entry.kl.low - wide <= 0.2877 <= entry.kl.high + wide
    assert ledger(clinic).entry("kl/clinic/2030-01-01").state is State.PUBLISHED  # type: ignore[union-attr]


def test_a_curve_is_paid_by_the_same_epsilon_and_bounds_the_unique_people(
    clinic: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ages of 10 years and wards: 2,400 people in 30 of 40 cells, 80 in each, so that 8.94 of 10 are unique."""
    assert publish(clinic, "--epsilon", "4", "--curve") == 0
    assert spent(clinic) == Spend(Fraction(4), Fraction(0))
    (found,) = repository(clinic).entries
    assert found.entry.curve is not None
    assert [each.rate for each in found.entry.curve.points] == list(RATES)
    assert found.entry.curve.rows.low <= found.entry.people.rows <= found.entry.curve.rows.high
    assert publish(clinic, "--epsilon", "4") == 5  # the same slot, without a curve
    capsys.readouterr()
    assert query(clinic, "--json") == 0
    rows = printed(capsys)["unique"]
    assert [row["people"] for row in rows] == [10, 100, 1000]
    assert all(0 <= row["low"] <= row["high"] <= row["people"] for row in rows)
    assert rows[0]["high"] < 9.5  # without distances and curve it would be 10
    assert query(clinic) == 0
    assert "expected unique people, over all tables that fit an entry" in capsys.readouterr().out


def test_a_public_table_has_an_exact_curve_and_a_release_has_none(
    public: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert publish(public, "--public", "--curve") == 0
    (found,) = repository(public).entries
    assert found.entry.curve is not None
    assert [each.share.value for each in found.entry.curve.points][:2] == [0, pytest.approx(0.9**79)]
    assert publish(public, "--from", "releases/x", "--curve") == 2
    assert "--curve: a curve of a release, whose counts are those of a model" in capsys.readouterr().err


def test_a_budget_of_other_privacy_units_pays_for_nothing(clinic: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    unit = "person:patient" if "unit: row" in clinic.budget.read_text(encoding="utf-8") else "row"
    text = re.sub(r"unit: [a-z:]+", f"unit: {unit}", clinic.budget.read_text(encoding="utf-8"))
    clinic.budget.write_text(text, encoding="utf-8")
    assert publish(clinic, "--epsilon", "0.5") == 2
    assert f"spec.unit: '{unit}'; expected the privacy unit" in capsys.readouterr().err
    assert spent(clinic) == Spend(Fraction(0), Fraction(0))


def test_the_same_slot_is_never_drawn_twice(clinic: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert publish(clinic, "--epsilon", "0.5") == 0
    before = repository(clinic)
    assert publish(clinic, "--epsilon", "0.5") == 0
    assert "it was there" in capsys.readouterr().out
    assert publish(clinic, "--epsilon", "0.5", of="age") == 5
    assert "was used before for another question" in capsys.readouterr().err
    assert repository(clinic) == before
    assert spent(clinic).epsilon == Fraction(1, 2)
    assert publish(clinic, "--epsilon", "0.5", "--as-of", "2030-01-01T1200Z", of="age") == 0
    assert spent(clinic).epsilon == 1


def test_nothing_else_of_the_table_leaves(clinic: Workshop, capfd: pytest.CaptureFixture[str]) -> None:
    """Marked identifiers, and a ward that occurs only in the rows, are nowhere except in the table."""
    clinic.write([*good_rows(2400), {"patient": MARK, "age": 50, "ward": f"{MARK} ward", "note": MARK}])
    assert publish(clinic, "--epsilon", "0.5", "--json") == 0
    told = capfd.readouterr()
    assert MARK not in told.out + told.err
    files = [path for path in clinic.root.rglob("*") if path.is_file() and path != clinic.data]
    assert len(files) > 8
    assert not [path for path in files if MARK.encode() in path.read_bytes()]


def test_figures_of_confidential_data_without_a_charge_are_refused(
    clinic: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert publish(clinic) == 2
    assert "no basis; expected exactly one of --public" in capsys.readouterr().err
    assert publish(clinic, "--public") == 2
    assert "does not say that its table is public" in capsys.readouterr().err
    assert publish(clinic, "--public", "--epsilon", "1") == 2
    assert not (clinic.root / "kl").exists() or not list((clinic.root / "kl").glob("*.json"))
    assert spent(clinic).epsilon == 0


def test_a_population_that_is_surely_small_is_refused_before_anything_is_charged(
    clinic: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    clinic.edit(clinic.budget, "people: 5000", "people: 999")
    assert publish(clinic, "--epsilon", "0.5") == 2
    assert "has at most 999 people; expected at least 1000" in capsys.readouterr().err
    assert spent(clinic).epsilon == 0


def test_a_population_that_may_be_small_is_withheld_by_its_noisy_count_and_charged(
    clinic: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert publish(clinic, "--epsilon", "0.5", "--where", "age=90+") == 2
    capsys.readouterr()
    assert publish(clinic, "--epsilon", "0.5", "--where", "age=90 to 99+", of="ward") in (2, 3)
    clinic.write(good_rows(900))
    capsys.readouterr()
    assert publish(clinic, "--epsilon", "0.5", "--as-of", "2029-12-31", "--json") == 3
    assert printed(capsys)["outcome"] == "withheld"
    before = spent(clinic)
    assert publish(clinic, "--epsilon", "0.5", "--as-of", "2029-12-31") == 3
    assert spent(clinic) == before
    assert ledger(clinic).entry("kl/clinic/2029-12-31").state is State.WITHHELD  # type: ignore[union-attr]
    assert not (clinic.root / "kl" / index.NAME).exists()


def test_one_row_decides_no_refusal(clinic: Workshop) -> None:
    """The noisy count alone decides whether an entry is withheld: without noise one row would change the decision."""
    seen: list[int] = []

    def ended(rows: int, noise: int) -> bool:
        clinic.write(good_rows(rows))
        asked = PublicationRequest(
            clinic.contract, ["ward"], "kl", "w", "1", "0", f"2029-01-{len(seen) + 1:02}", epsilon="0.5"
        )
        seen.append(rows)
        return job.publish(asked, DAY, noise=lambda count, *_: count + noise).digest is None

    reach = 25  # half-width for the noisy count at level .05/3 and epsilon 1/6
    assert ended(999 + reach - 30, 0)
    assert not ended(1000 + reach, 0)
    assert not ended(999 + reach - 30, 31)
    assert ended(1000 + reach, -40)


def test_a_budget_that_is_spent_refuses_and_writes_nothing(
    clinic: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert publish(clinic, "--epsilon", "7") == 5
    assert "No data was read" in capsys.readouterr().err
    assert not (clinic.root / "kl" / index.NAME).exists()
    assert spent(clinic).epsilon == 0


BAD: list[tuple[tuple[str, ...], str, str]] = [
    (("--epsilon", "0"), "age", "expected a number above 0"),
    (("--epsilon", "NaN"), "age", "expected a number above 0"),
    (("--epsilon", "1"), "agee", "write 'age'"),
    (("--epsilon", "1"), "age=10 yeers", "write '10 years'"),
    (("--epsilon", "1"), "patient", "no public domain, or is a direct identifier"),
    (("--epsilon", "1"), "age,age", "'age' is named twice"),
    (("--epsilon", "1"), ",", "no attribute"),
    (("--epsilon", "1", "--where", "ward=nort"), "age", "write 'north'"),
    (("--epsilon", "1", "--where", "ward"), "age", "expected ATTRIBUTE=VALUE"),
    (("--epsilon", "1", "--where", "age=7"), "age", "is in --of as well"),
    (("--epsilon", "1", "--as-of", "2030-01-02"), "age", "is in the future"),
    (("--epsilon", "1", "--coverage", "1.1"), "age", "expected a share from 0 to 1"),
    (("--epsilon", "1", "--words", "two\nlines"), "age", "printable characters"),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("options", "of", "why"), BAD)
def test_what_cannot_be_asked_is_refused_before_anything_is_charged(
    options: tuple[str, ...], of: str, why: str, clinic: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert publish(clinic, *options, of=of) == 2
    assert why in capsys.readouterr().err
    assert spent(clinic).epsilon == 0


def test_nothing_is_published_without_a_key_or_into_a_strange_folder(
    clinic: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    (clinic.root / "full").mkdir()
    (clinic.root / "full" / "notes.txt").write_text("x")
    assert publish(clinic, "--epsilon", "0.5", to="full") == 1
    assert publish(clinic, "--epsilon", "0.5", to="https://example.org/kl") == 1
    clinic.edit(clinic.root / "crowdgate.toml", 'signing_key = "holder.key"\n', "")
    assert publish(clinic, "--epsilon", "0.5") == 2
    assert "no key is named" in capsys.readouterr().err
    assert spent(clinic).epsilon == 0


KILLED: list[tuple[str, str, str, int]] = [
    ("ledger", "reserve", "after", 5),
    ("ledger", "begin_reading", "after", 5),
    ("ledger", "commit", "before", 5),
    ("ledger", "commit", "after", 0),
    ("shelf", "_write", "after", 0),
    ("ledger", "published", "before", 0),
]


@pytest.mark.parametrize("to", ["", "policies", "data_contracts/kl", "ledger", "ledger/private"])
def test_no_repository_is_made_where_something_else_lives(
    clinic: Workshop, capsys: pytest.CaptureFixture[str], to: str
) -> None:
    before = sorted(clinic.root.rglob("*"))
    assert publish(clinic, "--epsilon", "0.5", to=to) == 2
    assert "expected a folder of its own" in capsys.readouterr().err
    assert sorted(clinic.root.rglob("*")) == before
    assert spent(clinic).epsilon == 0


def test_a_destination_that_can_not_be_written_costs_nothing(
    clinic: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(trial_publication, "fsync_path", full)
    assert publish(clinic, "--epsilon", "0.5") == 1
    assert "No space left" in capsys.readouterr().err
    assert spent(clinic).epsilon == 0


@pytest.mark.thorough
@pytest.mark.parametrize(("holder", "name", "when", "then"), KILLED)
def test_a_run_that_is_killed_stays_charged_and_leaves_all_or_nothing(
    holder: str, name: str, when: str, then: int, clinic: Workshop
) -> None:
    """Before the ledger commits nothing is ever published; from then on the same call publishes what was drawn."""
    asked = PublicationRequest(clinic.contract, ["ward"], "kl", "w", "1", "0", "2030-01-01", epsilon="0.5")
    publish_and_kill(asked, DAY, holder, name, when)
    assert spent(clinic).epsilon == Fraction(1, 2)
    entry = ledger(clinic).entry("kl/clinic/2030-01-01")
    assert entry is not None
    whole = [path for path in (clinic.root / "kl").glob("*.json") if path.name != index.NAME]
    assert all(digest_of(path.read_bytes()) == entry.manifest_digest for path in whole)
    code = crowdgate("kl", "publish", clinic.contract, "--of", "ward", "--to", "kl", "--words", "w", "--coverage", "1",
                     "--error", "0", "--as-of", "2030-01-01", "--epsilon", "0.5")  # fmt: skip
    assert code == then
    assert spent(clinic).epsilon == Fraction(1, 2)
    if then == 0:
        assert [each.digest for each in repository(clinic).entries] == [entry.manifest_digest]
        assert not list((clinic.root / "kl" / STAGING).glob("*.json"))
    else:
        assert not (clinic.root / "kl" / index.NAME).exists()


def staged(public: Workshop) -> list[Path]:
    """Return what runs staged at the repository, other than the ledger's head."""
    return [path for path in (public.root / "kl" / STAGING).iterdir() if path.suffix != ".head"]


@pytest.mark.thorough
@pytest.mark.parametrize("basis", [{"epsilon": "0.1"}, {"public": True}], ids=["charged", "public"])
@pytest.mark.parametrize("name", ["replace", pytest.param("fsync", marks=pytest.mark.soak)])
def test_wherever_a_run_is_killed_the_next_ones_say_what_to_do_and_leave_nothing_of_it(
    name: str, basis: dict[str, Any], public: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another entry can be published at once, or after the call that the error names, which ends the killed run."""
    option = ("--epsilon", "0.1") if "epsilon" in basis else ("--public",)
    said = {"to": "kl", "words": "Patients", "coverage": "0.9", "error": "0.01", **basis}
    kills, told_of = 0, 0
    for nth in count(1):
        slot = f"2029-12-{nth:02}"
        if not publish_until(PublicationRequest(public.contract, ["ward"], slot=slot, **said), DAY, name, nth):
            break
        kills += 1
        before = set((public.root / "kl").glob("*.json"))
        assert publish(public, *option, "--as-of", f"2028-12-{nth:02}", of="age=50 years") in (0, 1, 6)
        told = capsys.readouterr().err
        if set((public.root / "kl").glob("*.json")) == before:
            told_of += 1
            assert "run it again, with all its options: contract clinic, --of ward=exact " in told
            assert f"{option[0]} --as-of {slot}; or remove this entry" in told
            assert publish(public, *option, "--as-of", slot, of="ward") == 0
            assert publish(public, *option, "--as-of", f"2028-12-{nth:02}", of="age=50 years") == 0
        committed = [each for each in ledger(public).entries() if each.state is State.COMMITTED]
        assert len(staged(public)) == len(committed)
        if committed:
            assert publish(public, *option, "--as-of", slot, of="ward") == 0
        assert not staged(public)
        assert repository(public)
    assert kills > told_of > 0


def test_a_stop_while_reading_shows_one_word_and_stays_charged(
    clinic: Workshop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        raise RuntimeError(MARK)

    monkeypatch.setattr(charged_run, "histograms", stopped)
    assert publish(clinic, "--epsilon", "0.5") == 1
    told = capsys.readouterr()
    assert "crashed" in told.err
    assert MARK not in told.out + told.err
    assert spent(clinic).epsilon == Fraction(1, 2)
    assert publish(clinic, "--epsilon", "0.5") == 5


def test_a_lost_entry_is_said_so(clinic: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert publish(clinic, "--epsilon", "0.5") == 0
    for path in (clinic.root / "kl").glob("*.json"):
        path.unlink()
    assert publish(clinic, "--epsilon", "0.5") == 5
    assert "lost or changed" in capsys.readouterr().err


def test_entries_of_a_public_table_are_exact_and_free(public: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert publish(public, "--public") == 0
    assert publish(public, "--public") == 0
    assert publish(public, "--public", of="age") == 0
    assert publish(public, "--public", "--where", "ward=north", of="age=10 years") == 0
    assert len(repository(public).entries) == 3
    assert spent(public).epsilon == 0
    capsys.readouterr()
    assert query(public, "--json") == 0
    found = printed(capsys)
    assert (found["outcome"], len(found["exact"]), len(found["more_specific"])) == ("exact", 1, 0)
    assert found["exact"][0]["kl"]["value"] == pytest.approx(0.28768, abs=1e-4)
    assert query(public, "--where", "ward=north", "--json", of="age=10 years") == 0
    assert printed(capsys)["outcome"] == "exact"
    assert query(public, "--json", of="age=50 years") == 0
    assert printed(capsys)["outcome"] == "related"
    assert query(public, "--population", "others") == 3
    assert query(public, of="agee") == 2
    assert "write 'age'" in capsys.readouterr().err
    assert crowdgate("kl", "list", "--from", "kl", "--key", "holder.key.pub") == 0
    capsys.readouterr()
    assert crowdgate("kl", "list", "--from", "kl", "--key", "holder.key.pub", "--page", "kl.md") == 0
    assert capsys.readouterr().out == "kl.md\n"
    page = Path("kl.md").read_text(encoding="utf-8")
    assert "3 entries, as of 2030-01-01." in page
    assert "| KL | 0.2877 |" in page
    assert "| KL range | exact |" in page
    assert crowdgate("kl", "list", "--from", "kl", "--key", "holder.key.pub", "--page", "kl.pdf") == 2


def test_figures_are_listed_with_their_ranges_and_what_they_mean(
    clinic: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    """Interval ends are rounded outwards: the printed interval contains the signed one."""
    assert publish(clinic, "--epsilon", "0.5") == 0
    (found,) = repository(clinic).entries
    capsys.readouterr()
    for command in (("list",), ("query", "--contract", "clinic", "--of", "age=10 years,ward")):
        assert crowdgate("kl", *command, "--from", "kl", "--key", "holder.key.pub") == 0
        told = capsys.readouterr().out
        ranges = re.findall(r"([0-9.e-]+) to ([0-9.e-]+)", told.split("KL: distance to the uniform law")[0])
        for (low, high), ends in zip(ranges, (found.entry.kl, found.entry.collision), strict=True):
            assert float(low) <= ends.low < ends.high <= float(high)
            assert float(high) - float(low) <= 1.01 * (ends.high - ends.low) + 0.002
        assert "collision: (N sum p^2 - 1)/2" in told


def test_conflicting_entries_are_shown_side_by_side_and_decide_nothing(
    public: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert publish(public, "--public") == 0
    public.write([{**row, "ward": "north"} for row in good_rows(2400)])
    assert publish(public, "--public") == 0
    capsys.readouterr()
    assert query(public) == 3
    told = capsys.readouterr().out
    assert "can't both hold" in told
    assert "outcome: conflicting" in told
    assert query(public, "--json") == 3
    assert len(printed(capsys)["exact"]) == 2


def test_a_public_table_of_nobody_has_no_figure(public: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    public.write([])
    assert publish(public, "--public") == 2
    assert "no row that it keeps" in capsys.readouterr().err


@pytest.mark.parametrize("basis", [("--public",), ("--epsilon", "0.5")])
def test_what_has_one_value_only_is_not_published_and_costs_nothing(
    basis: tuple[str, ...], public: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert publish(public, *basis, of="age=any,ward=any") == 2
    told = capsys.readouterr().err
    assert "--of: one value in all (age=any,ward=any), of which everything is known: KL is 0" in told
    assert "expected an attribute at a level of two values at least" in told
    assert spent(public).epsilon == 0
    assert not (public.root / "kl").exists()
    assert publish(public, *basis, of="age=any,ward") == 0


def test_a_changed_repository_is_neither_read_nor_added_to(
    public: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert publish(public, "--public") == 0
    (public.root / "kl" / "extra.json").write_text("{}")
    assert query(public) == 6
    assert publish(public, "--public", of="age") == 6
    assert "the index does not list it" in capsys.readouterr().err


def test_two_holders_share_a_repository_when_each_trusts_the_other(public: Workshop) -> None:
    assert publish(public, "--public") == 0
    other = public.root / "other.key"
    keys.create(other)
    public.edit(public.root / "crowdgate.toml", "holder.key", "other.key")
    assert publish(public, "--public", of="age") == 6
    assert publish(public, "--public", "--key", str(public.root / "holder.key.pub"), of="age") == 0
    trusted = [*public_keys(public.root / "holder.key.pub"), *public_keys(public.root / "other.key.pub")]
    found = read_repository(str(public.root / "kl"), trusted, DAY)
    assert len({each.signers for each in found.entries}) == 2


TABLES = """    kind: dp_tables
    noise: laplace
    tables: [{attributes: [age, ward]}]
    levels: {age: 50 years, ward: exact}
"""


def test_entries_of_a_release_are_post_processing(clinic: Workshop) -> None:
    text = clinic.policy.read_text(encoding="utf-8")
    start = text.index("    kind: safe_k")
    gates = "  gates:\n    - {measure: pso_bound, at_most: 1}\n  publish: {to: releases, formats: [csv]}\n"
    clinic.policy.write_text((text[:start] + TABLES + gates).replace("delta: 0.01", "delta: 0"), encoding="utf-8")
    assert crowdgate("release", clinic.policy, "--as-of", "2029-12-01") == 0
    before = spent(clinic)
    folder = str(clinic.release_dir("2029-12-01"))
    assert publish(clinic, "--from", folder, of="age=50 years,ward") == 0
    assert spent(clinic) == before
    (found,) = repository(clinic).entries
    assert found.entry.basis.kind == "release"
    assert found.entry.people.known == "bound"
    assert found.entry.kl.value == pytest.approx(0.2877, abs=0.02)
    assert publish(clinic, "--from", folder, of="age=10 years,ward") == 2  # it has no counts of these ages
    (clinic.release_dir("2029-12-01") / "README.md").write_text("x")
    assert publish(clinic, "--from", folder, of="ward") == 6


def test_a_person_of_several_rows_is_paid_for_as_a_person(clinic: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    """1,500 people have three rows, of which two are retained: about 3,000 rows, with noise of twice the scale."""
    clinic.edit(clinic.contract, "value: row}", "value: {person: patient, rows: 2}}")
    clinic.edit(clinic.budget, "unit: row", "unit: 'person:patient'")
    clinic.write([{**row, "patient": f"{MARK}-{i % 1500}"} for i, row in enumerate(good_rows(4500))])
    assert publish(clinic, "--epsilon", "0.5") == 0
    (found,) = repository(clinic).entries
    assert found.entry.people.rows_each == 2
    assert abs(found.entry.people.rows - 3000) < 200
    assert publish(clinic, "--epsilon", "0.5", "--where", "ward=north", "--as-of", "2029-12-31", of="age") == 3
    assert MARK not in capsys.readouterr().out
