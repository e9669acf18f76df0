"""Working copies of every published ledger format, stored as that version left them: every command can use them.

Each archive in `kept` holds a contract, a budget, policies of all kinds, two releases of each, a withheld one, a run
that crashed after it began to read, a lease, and an access to a private record. Those since format 3 hold more
(`keep`).
"""

import re
import tarfile
from pathlib import Path

import pytest

from crowdgate.ledger.schema import FORMAT
from tests.ledger.keep import BUDGET, CONVERT, KEPT, KINDS, KL, STATED, UNPACKED, edit
from tests.workshop import crowdgate

FORMATS = [f"format_{number}" for number in range(1, FORMAT + 1)]

COPIES = [
    *(pytest.param(name, False, id=f"{name}-as-kept") for name in FORMATS[1:]),
    *(
        pytest.param(name, True, id=f"{name}-upgraded", marks=() if name == FORMATS[0] else pytest.mark.soak)
        for name in FORMATS[:-1]
    ),
]
"""The first format has to be upgraded; the last one is. Others are used as they are kept, and upgraded under `soak`."""

POLICIES = (*KINDS, "withheld", "static-rows")
ON_POLICIES = {"check": (0, 3), "explain": (0,), "plan": (0,), "replay": (0, 3, 6)}
"""Commands on each policy, with their correct exit codes; `replay` refuses a withdrawn release with 6."""
ON_THE_LEDGER = {
    "diff policies/rows.yaml policies/withheld.yaml": (0, 3),
    "test policies": (0, 2),
    "contract show data_contracts/clinic.yaml": (0,),
    "anonymity data_contracts/clinic.yaml --of age,ward": (0,),
    "predict data_contracts/clinic.yaml --of ward --people 10": (0,),
    "rehearse policies/rows.yaml --people 300": (0, 3),
    "report budget clinic-patients": (0,),
    "report index pages": (0,),
    "record show rows/V/2030-01-01": (0,),
    "record show withheld/V/2030-01-01": (0,),
    "ledger show": (0,),
    "ledger budget clinic-patients": (0,),
    "ledger verify": (0,),
    "ledger free rows/V/2030-04-01": (0,),
    "ledger free rows/V/2030-03-01": (5,),
    "ledger free rows/V/2030-01-01": (5,),
    "ledger freeze clinic-patients --reason test": (0,),
    "ledger thaw clinic-patients --reason test": (0,),
    "release policies/rows.yaml --as-of 2030-01-01": (0,),
    "release policies/withheld.yaml --as-of 2030-01-01": (3,),
    "release policies/rows.yaml --as-of 2030-03-01": (5,),
    "release policies/rows.yaml --as-of 2030-05-01": (0,),
    "release policies/tables.yaml --as-of 2030-05-01": (0,),
    "release policies/synthetic.yaml --as-of 2030-05-01": (0,),
    "release policies/withheld.yaml --as-of 2030-05-01": (3,),
    "audit policies/rows.yaml --on-confidential --units 20 --trials 20 --jobs 1": (0, 3),
    "record list": (0,),
    "record delete rows/V/2030-02-01": (0,),
    "withdraw rows/V/2030-02-01 --reason test": (0,),
    "ledger budget clinic-patients --raise --epsilon 90 --reason test": (0,),
    "ledger restore": (0,),
    "ledger verify --ledger sqlite:///ledger/ledger.db": (0,),
}
"""Commands on the ledger, with their correct exit codes; V is the version of the policies."""
SIGNED = {
    "verify releases/rows/1/2029-12-01 --key own.key.pub": (6,),
    "record show withheld/2/2030-02-01": (0,),
    "kl list --from kl --key own.key.pub": (0,),
    "kl query --from kl --key own.key.pub --contract clinic --of ward": (0,),
    KL[0]: (0,),
    KL[1]: (0,),
    "catalogue verify releases --key own.key.pub": (0,),
    "catalogue write releases": (0,),
    "keys sign releases/rows/2/2030-01-01": (0,),
}
"""Further commands on the copies with a key, before the others."""
WITHOUT_IT = ("diff", "test", "contract", "predict", "rehearse")
"""Commands that need no ledger."""


@pytest.fixture
def copy(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with tarfile.open(KEPT / f"{request.param}.tar.xz") as kept:
        kept.extractall(tmp_path, **UNPACKED)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ends(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Return the exit code and the output of a command, which must not end in a fault."""
    capsys.readouterr()
    code = crowdgate(*command.split())
    printed = capsys.readouterr()
    assert "a fault in crowdgate itself" not in printed.err, f"{command}: {printed.err}"
    return code, printed.out + printed.err


def releases(copy: Path) -> list[str]:
    """Return the folders of the releases of a copy: at least two of each kind."""
    found = sorted(str(path.parent.relative_to(copy)) for path in copy.glob("releases/*/*/*/manifest.json"))
    assert [sum(f"/{kind}/" in each for each in found) >= 2 for kind in KINDS] == [True] * len(KINDS)
    return found


def on_the_ledger(copy: Path) -> dict[str, tuple[int, ...]]:
    """Return the commands on the ledger of a copy."""
    (version,) = re.findall(r"\bversion: '(\S+)'", (copy / "policies" / "rows.yaml").read_text())
    signed = SIGNED if (copy / "own.key").exists() else {}
    return signed | {command.replace("/V/", f"/{version}/"): codes for command, codes in ON_THE_LEDGER.items()}


@pytest.mark.thorough
@pytest.mark.parametrize(("copy", "upgraded"), COPIES, indirect=["copy"])
def test_every_command_goes_on_with_a_ledger_of_a_published_format(
    copy: Path, upgraded: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    if upgraded:
        assert ends("ledger upgrade", capsys)[0] == 0
        assert ends("upgrade --write", capsys)[0] == 0
    for name in POLICIES:
        for command, right in ON_POLICIES.items():
            code, said = ends(f"{command} policies/{name}.yaml", capsys)
            assert code in right, f"{command} {name}: {said}"
    kinds = {release.split("/")[1]: release for release in releases(copy)}
    for command in (
        *(f"verify {release}" for release in releases(copy)),
        *(f"verify {release} --ledger sqlite:///ledger/ledger.db" for release in releases(copy)),
        *(f"report release {release} --page {kind}.html" for kind, release in kinds.items()),
    ):
        code, said = ends(command, capsys)
        assert code == 0, f"{command}: {said}"
    for command, right in on_the_ledger(copy).items():
        code, said = ends(command, capsys)
        assert code in right, f"{command}: {code} {said}"


@pytest.mark.thorough
@pytest.mark.parametrize("copy", ["format_1"], indirect=True)
def test_before_the_upgrade_every_command_says_what_to_do(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (copy / "ledger" / "ledger.db").read_bytes()
    for command in on_the_ledger(copy):
        code, said = ends(command, capsys)
        if command.split()[0] not in WITHOUT_IT and "anonymity" not in command:
            assert (code, "crowdgate ledger upgrade" in said) == (5, True), f"{command}: {code} {said}"
    for name in POLICIES:
        for command in ON_POLICIES:
            ends(f"{command} policies/{name}.yaml", capsys)
    for release in releases(copy):
        assert ends(f"verify {release}", capsys)[0] == 0
    assert (copy / "ledger" / "ledger.db").read_bytes() == before


AFTER_CONVERSION = (
    *(f"{command} policies/{name}.yaml" for name in KINDS for command in ("check", "explain", "plan", "replay")),
    *(f"release policies/{name}.yaml --as-of 2030-06-01" for name in KINDS),
    *(f"verify releases/{name}/2/2030-06-01 --ledger sqlite:///ledger/ledger.db" for name in KINDS),
    "ledger free rows/1/2030-04-01", "ledger show", "ledger budget clinic-patients", "ledger verify",
    "report budget clinic-patients", "report index pages", "ledger restore", "ledger verify",
)  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("copy", ["format_1", "format_2"], indirect=True)
def test_a_ledger_of_a_published_format_opens_a_second_budget(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After the upgrade, which the conversion asks for; the additive budget stays spent as a whole."""
    code, said = ends(CONVERT, capsys)
    assert (code, "crowdgate ledger upgrade" in said) == (5, True)
    assert ends("ledger upgrade", capsys)[0] == 0
    code, said = ends(CONVERT, capsys)
    assert code == 0, said
    (amounts,) = re.findall(r"Write `epsilon: (\S+), delta: (\S+), accounting: renyi`", said)
    edit(copy / BUDGET, STATED, "epsilon: {}, delta: {}, accounting: renyi,".format(*amounts))
    for name in KINDS:
        edit(copy / "policies" / f"{name}.yaml", r"\bversion: \S+", "version: 2")
    before = [f"verify {release} --ledger sqlite:///ledger/ledger.db" for release in releases(copy)]
    for command in (*before, *AFTER_CONVERSION):
        code, said = ends(command, capsys)
        assert code == 0, f"{command}: {code} {said}"
