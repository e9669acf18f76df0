"""Working copies whose releases two people may approve."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from crowdgate.errors import LedgerRefused
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.ledger.ledger import Entry
from crowdgate.planning import approvals
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.releases.release import release
from crowdgate.settings import key_of_file
from crowdgate.signing import keys
from crowdgate.signing.canonical import parse_canonical
from crowdgate.signing.dsse import envelope_contents
from crowdgate.signing.statement import ApprovalStatement, sign_statement
from tests.workshop import Workshop, crowdgate

SLOT = "2030-01-01"
ID = f"clinic/1/{SLOT}"


def statement_in(path: Path) -> ApprovalStatement:
    """Return the statement of an approval, without checking who signed it."""
    return parse_canonical(envelope_contents(path.read_bytes())[1], ApprovalStatement)


@dataclass(frozen=True)
class Board:
    """A working copy whose releases two people may approve, and a key that charges them."""

    copy: Workshop

    @property
    def root(self) -> Path:
        return self.copy.root

    def key(self, name: str) -> Path:
        return self.root / f"{name}.key"

    def line(self, name: str) -> str:
        return self.key(name).with_suffix(".key.pub").read_text().splitlines()[1]

    def asks(self, **changes: object) -> None:
        """State the rule of the policy."""
        by = ", ".join(f"{{name: {name}, key: {self.line(name)}}}" for name in ("board", "officer"))
        rule = "".join(f", {name}: {value}" for name, value in changes.items())
        lines = [line for line in self.copy.policy.read_text().splitlines() if not line.startswith("  approval:")]
        self.copy.policy.write_text("\n".join([*lines, f"  approval: {{by: [{by}]{rule}}}", ""]))

    def approve(self, name: str, slot: str = SLOT) -> int:
        return crowdgate("approve", f"clinic/1/{slot}", "--key", self.key(name), "--yes")

    def file(self, name: str = "board", slot: str = SLOT) -> Path:
        (found,) = (self.root / approvals.APPROVALS / f"clinic/1/{slot}").glob(f"{self.key_id(name)[:16]}*")
        return found

    def key_id(self, name: str) -> str:
        return key_of_file(self.key(name)).public.id

    def release(self, slot: str = SLOT) -> str:
        return release(Request(self.copy.policy, slot), draw_key).outcome

    def charged(self) -> list[Entry]:
        return ledger_at(self.root, None).entries()

    def refused(self, why: str, slot: str = SLOT) -> None:
        """Check that a release is refused for this reason, and that nothing is charged."""
        before = self.charged()
        with pytest.raises(LedgerRefused, match=why) as found:
            self.release(slot)
        assert found.value.code == "unapproved"
        assert self.charged() == before

    def forge(self, name: str = "board", **changes: object) -> None:
        """Sign an approval with another statement, as only the holder of the key can."""
        said = statement_in(self.file(name))
        stated = said.predicate.model_copy(update=changes)
        changed = said.model_copy(update={"predicate": stated})
        self.file(name).write_bytes(sign_statement(changed, [key_of_file(self.key(name))]))


def make_board(workshop: Workshop) -> Board:
    """Make keys and a signed ledger in a working copy, which is the current folder, and let its policy ask for an
    approval.
    """
    made = Board(workshop)
    for name in ("service", "board", "officer", "stranger"):
        keys.create(made.key(name))
    with (workshop.root / "crowdgate.toml").open("a") as file:
        trusted = '["board.key.pub", "officer.key.pub"]'
        file.write(f'signing_key = "service.key"\ntrusted_keys = {trusted}\n')
    ledger = workshop.root / "ledger" / "ledger.db"
    ledger.unlink()
    assert crowdgate("ledger", "create", "clinic") == 0
    name = ledger_at(workshop.root, None).id
    stated = workshop.budget.read_text()
    workshop.budget.write_text(stated.replace(stated.split("ledger: ")[1].split(",")[0], name))
    made.asks()
    return made
