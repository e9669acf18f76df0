"""Policies informed by confidential data: the result of the journal against the definition, event by event."""

import json
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.ledger.access_log import RECORD_OPENED, is_informed
from crowdgate.ledger.journal import JournalLine
from tests.examples import examples

POPULATIONS, DIGESTS = ("p", "q"), ("old", "new")
Event = tuple[str, str, str]
events = st.lists(
    st.tuples(st.sampled_from(["runs", "given back", "look"]), st.sampled_from(POPULATIONS), st.sampled_from(DIGESTS)),
    max_size=9,
)


@dataclass
class Model:
    """Model of the definition: populations with an access, and whether a policy was informed at its first charge."""

    looked: set[str] = field(default_factory=set)
    paid: dict[tuple[str, str], bool] = field(default_factory=dict)

    def informed(self, population: str, digest: str) -> bool:
        return self.paid.get((population, digest), population in self.looked)


def line(number: int, event: str, subject: str, *row: str) -> JournalLine:
    """Return a line in the ledger's form."""
    columns = dict(zip(("population", "policy_digest"), row, strict=False))
    detail = json.dumps({"table": "entries", "row": columns}) if row else None
    return JournalLine(number, event, subject, None, detail, "")


@settings(max_examples=examples(300))
@given(events=events)
def test_a_policy_is_informed_that_was_first_paid_for_after_a_look_at_its_population(events: list[Event]) -> None:
    model, read, written = Model(), dict.fromkeys(POPULATIONS, ""), [line(0, "ledger.created", "l")]
    for number, (what, population, digest) in enumerate(events):
        name = f"r{number}"
        if what == "look":
            if read[population]:
                written.append(line(len(written), RECORD_OPENED, read[population]))
                model.looked.add(population)
            continue
        written.append(line(len(written), "entry.reserved", name, population, digest))
        told = is_informed(written, population, digest)
        assert told is model.informed(population, digest)
        if what == "given back":
            written.append(line(len(written), "entry.void", name, population, digest))
            continue
        written.append(line(len(written), "entry.reading", name, population, digest))
        read[population] = name
        model.paid.setdefault((population, digest), told)
    for population in POPULATIONS:
        for digest in DIGESTS:
            assert is_informed(written, population, digest) is model.informed(population, digest)
