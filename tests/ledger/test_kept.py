"""Working copies of every published ledger format, stored as that version left them: every command can use them.

`kept/format_1.tar.xz` and `kept/format_2.tar.xz` each hold a contract, a budget, policies of all kinds, two releases of
each, a withheld one, a run that crashed after it began to read, a lease, and an access to a private record.
"""

import re
import tarfile
from pathlib import Path

import pytest

from tests.workshop import crowdgate

KEPT = Path(__file__).with_name("kept")
POLICIES = ("rows", "tables", "synthetic", "withheld", "static-rows")
RELEASES = tuple(f"{name}/1/2030-0{month}-01" for name in POLICIES[:3] for month in (1, 2))
ON_POLICIES = {"check": (0, 3), "explain": (0,), "plan": (0,), "replay": (0, 3)}
"""Commands on each policy, with their correct exit codes."""
ON_THE_LEDGER = {
    "diff policies/rows.yaml policies/withheld.yaml": (0, 3),
    "test policies": (0, 2),
    "contract show data_contracts/clinic.yaml": (0,),
    "anonymity data_contracts/clinic.yaml --of age,ward": (0,),
    "predict data_contracts/clinic.yaml --of ward --people 10": (0,),
    "rehearse policies/rows.yaml --people 300": (0, 3),
    "report budget clinic-patients": (0,),
    "report index pages": (0,),
    "record show rows/1/2030-01-01": (0,),
    "record show withheld/1/2030-01-01": (0,),
    "ledger show": (0,),
    "ledger budget clinic-patients": (0,),
    "ledger verify": (0,),
    "ledger free rows/1/2030-04-01": (0,),
    "ledger free rows/1/2030-03-01": (5,),
    "ledger free rows/1/2030-01-01": (5,),
    "ledger freeze clinic-patients --reason test": (0,),
    "ledger thaw clinic-patients --reason test": (0,),
    "ledger budget clinic-patients --raise --epsilon 70 --reason test": (0,),
    "release policies/rows.yaml --as-of 2030-01-01": (0,),
    "release policies/withheld.yaml --as-of 2030-01-01": (3,),
    "release policies/rows.yaml --as-of 2030-03-01": (5,),
    "release policies/rows.yaml --as-of 2030-05-01": (0,),
    "release policies/tables.yaml --as-of 2030-05-01": (0,),
    "release policies/synthetic.yaml --as-of 2030-05-01": (0,),
}
WITHOUT_IT = ("diff", "test", "contract", "predict", "rehearse")
"""Commands that need no ledger."""


@pytest.fixture
def copy(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with tarfile.open(KEPT / f"{request.param}.tar.xz") as kept:
        kept.extractall(tmp_path, filter="tar")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ends(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Return the exit code and the output of a command, which must not end in a fault."""
    capsys.readouterr()
    code = crowdgate(*command.split())
    printed = capsys.readouterr()
    assert "a fault in crowdgate itself" not in printed.err, f"{command}: {printed.err}"
    return code, printed.out + printed.err


@pytest.mark.thorough
@pytest.mark.parametrize("copy", ["format_1", "format_2"], indirect=True)
def test_every_command_goes_on_with_a_ledger_of_a_published_format(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if "format_1" in str(copy) or ends("ledger show", capsys)[0] == 5:
        assert ends("ledger upgrade", capsys)[0] == 0
    for name in POLICIES:
        for command, right in ON_POLICIES.items():
            code, said = ends(f"{command} policies/{name}.yaml", capsys)
            assert code in right, f"{command} {name}: {said}"
    for release in RELEASES:
        for command in (
            f"verify releases/{release}",
            f"verify releases/{release} --ledger sqlite:///ledger/ledger.db",
            f"report release releases/{release} --page {release.replace('/', '-')}.html",
        ):
            code, said = ends(command, capsys)
            assert code == 0, f"{command}: {said}"
    for command, right in ON_THE_LEDGER.items():
        code, said = ends(command, capsys)
        assert code in right, f"{command}: {code} {said}"


@pytest.mark.thorough
@pytest.mark.parametrize("copy", ["format_1"], indirect=True)
def test_before_the_upgrade_every_command_says_what_to_do(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (copy / "ledger" / "ledger.db").read_bytes()
    for command in ON_THE_LEDGER:
        code, said = ends(command, capsys)
        if command.split()[0] not in WITHOUT_IT and "anonymity" not in command:
            assert (code, "crowdgate ledger upgrade" in said) == (5, True), f"{command}: {code} {said}"
    for name in POLICIES:
        for command in ON_POLICIES:
            ends(f"{command} policies/{name}.yaml", capsys)
    for release in RELEASES:
        assert ends(f"verify releases/{release}", capsys)[0] == 0
    assert (copy / "ledger" / "ledger.db").read_bytes() == before


AFTER_CONVERSION = (
    *(f"{command} policies/{name}.yaml" for name in POLICIES[:3] for command in ("check", "explain", "plan", "replay")),
    *(f"verify releases/{release} --ledger sqlite:///ledger/ledger.db" for release in RELEASES),
    *(f"release policies/{name}.yaml --as-of 2030-06-01" for name in POLICIES[:3]),
    *(f"verify releases/{name}/2/2030-06-01 --ledger sqlite:///ledger/ledger.db" for name in POLICIES[:3]),
    "ledger free rows/1/2030-04-01", "ledger show", "ledger budget clinic-patients", "ledger verify",
    "report budget clinic-patients", "report index pages", "ledger restore", "ledger verify",
)  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("copy", ["format_1", "format_2"], indirect=True)
def test_a_ledger_of_a_published_format_opens_a_second_budget(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After the upgrade, which the conversion asks for; the additive budget stays spent as a whole."""
    convert = "ledger convert clinic-patients --epsilon 20 --delta 0.1 --reason test"
    code, said = ends(convert, capsys)
    assert (code, "crowdgate ledger upgrade" in said) == (5, True)
    assert ends("ledger upgrade", capsys)[0] == 0
    code, said = ends(convert, capsys)
    assert code == 0, said
    (amounts,) = re.findall(r"Write `epsilon: (\S+), delta: (\S+), accounting: renyi`", said)
    (budget,) = (copy / "policies" / "budgets").glob("*.yaml")
    new = "epsilon: {}, delta: {}, accounting: renyi,".format(*amounts)
    stated = re.sub(r"epsilon: [^,]+, delta: [^,}]+,", new, budget.read_text())
    budget.write_text(stated)
    for name in POLICIES[:3]:
        policy = copy / "policies" / f"{name}.yaml"
        policy.write_text(re.sub(r"\bversion: \S+", "version: 2", policy.read_text(), count=1))
    for command in AFTER_CONVERSION:
        code, said = ends(command, capsys)
        assert code == 0, f"{command}: {code} {said}"
