"""Replay rules of the journal: each line must be a change that the ledger itself could have made.

So a line that was added by hand can do what a command does, and nothing else: a charge that was read is never given
back, ids, amounts and populations never change, totals follow from the charges, a charge is within the budget, and a
budget is only raised. The same holds for the Renyi divergences of a population with a filter (`filter_rules`).
"""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from heapq import merge
from operator import itemgetter
from typing import Any

from crowdgate.ledger import filter_rules, transitions
from crowdgate.ledger.access_log import AccessHistory
from crowdgate.ledger.charge_image import IMAGED, ChargeImage
from crowdgate.ledger.journal import rows_of_detail
from crowdgate.ledger.lazy_mapping import LazyMapping
from crowdgate.ledger.schema import (
    COLUMNS,
    CONTRACTS,
    DIVERGENCES,
    ENTRIES,
    FILTERS,
    FREEZES,
    KEYS,
    LEDGERS,
    POPULATIONS,
    SERIES,
    SINCE,
    TOTALS,
    USABLE,
)
from crowdgate.ledger.series import is_slot
from crowdgate.ledger.totals import RunningTotal
from crowdgate.ledger.transitions import RESERVED, RESTORED, ChargeRow
from crowdgate.ledger.values import Budget, Spend, amount, label, optional

RECORDED = re.compile(r"[a-z0-9-]{1,40}")
"""Names of recorded events, which change no row; the ledger's own events have a dot."""
ANYWAY = "release.anyway"
"""Event: a release, the line's subject, is charged although past runs show that it will be withheld."""
CONVERTED = "budget.converted"
"""Event: a population's further charges are counted by a filter."""
REASONED = (
    ANYWAY,
    "budget.raised",
    CONVERTED,
    "population.frozen",
    "population.thawed",
    RESTORED,
    transitions.WITHDRAWN,
)
Cells = tuple[Any, ...]
Rows = Sequence[tuple[str, Cells]]
AT = {table: COLUMNS[table].index(key) for table, key in KEYS.items()}
"""The position of the key among the columns of each table."""
_POPULATION = COLUMNS[ENTRIES].index("population")
_POLICY_DIGEST = COLUMNS[ENTRIES].index("policy_digest")
_NUMBER, _RELEASE = AT[ENTRIES], COLUMNS[ENTRIES].index("release_id")
_VALUES = {name: itemgetter(*columns) for name, columns in COLUMNS.items()}


class InvalidLine(ValueError):
    """An error: a journal line that no ledger writes."""


def _require(holds: bool) -> None:
    if not holds:
        raise InvalidLine


@dataclass
class JournalState:
    """The state of a ledger after some lines of its journal.

    `rows` holds every row by table and key, `charged` the number of each release's charge that is not void, `samples`
    the release that used up each sample of a population, `last` the last number of a charge. `recorded` holds subject
    and commitment of each recorded event, in order; `accesses` those events that are accesses. `charge_rows` are the
    rows of `charged` as `contents.charges` last read them, None after another line. `image` holds the charges of the
    attested position from which the state was restored, if any: its charges are looked up there.
    """

    rows: dict[str, MutableMapping[Hashable, Cells]] = field(default_factory=lambda: {name: {} for name in COLUMNS})
    charged: MutableMapping[str, int] = field(default_factory=dict)
    _format: int = 0
    last: int = 0
    _spent: dict[str, tuple[RunningTotal, RunningTotal]] = field(default_factory=dict)
    samples: MutableMapping[tuple[str, str], str] = field(default_factory=dict)
    recorded: dict[str, list[tuple[str, str | None]]] = field(default_factory=lambda: defaultdict(list))
    accesses: AccessHistory = field(default_factory=AccessHistory)
    charge_rows: Mapping[str, transitions.ChargeRow] | None = field(default=None, repr=False, compare=False)
    image: ChargeImage | None = field(default=None, repr=False, compare=False)

    @property
    def form(self) -> int:
        """The format of the ledger after the last line."""
        return self._format

    @classmethod
    def restored(cls, saved: Mapping[str, Any], image: ChargeImage) -> "JournalState":
        """Return the state of a ledger from a JSON object that `saved` made, and the image of its charges. Raises
        KeyError, ValueError or TypeError for any other object, sqlite3.Error for another image.
        """
        image.check()
        state = cls(rows={name: _restored_rows(name, columns) for name, columns in saved["columns"].items()})
        state.rows |= {name: image.rows(name) for name in IMAGED}
        ((_, state._format),) = state.rows[LEDGERS].values()
        for event, noted in saved["recorded"].items():
            state.recorded[event] = [(subject, commitment) for subject, commitment in noted]
        state.accesses.viewed.update(saved["viewed"])
        state.accesses.policies.update({(population, digest): after for population, digest, after in saved["policies"]})
        state.accesses.charges = image.last_charges(frozenset(saved["after_access"]))
        state.image, state.last, state.charged, state.samples = image, saved["last"], image.charged(), image.samples()
        for population, epsilon, delta in state.rows[TOTALS].values():
            state._spent[population] = (RunningTotal(epsilon), RunningTotal(delta))
        return state

    def saved(self) -> dict[str, Any]:
        """Return the state of a ledger of the newest format as a JSON object, which `restored` reads together with the
        image of the charges. Whatever can be derived from the rows is left out.
        """
        after = [release_id for release_id, (_, _, after) in self.accesses.charges.items() if after]
        return {
            "columns": {
                name: [*zip(*rows.values(), strict=True)] for name, rows in self.rows.items() if name not in IMAGED
            },
            "last": self.last,
            "recorded": self.recorded,
            "viewed": sorted(self.accesses.viewed),
            "policies": [[*key, after] for key, after in self.accesses.policies.items()],
            "after_access": after,
        }

    def add(self, event: str, subject: str, commitment: str | None, said: Mapping[str, Any]) -> None:
        """Apply a journal line to the state. Raises ValueError, KeyError, IndexError, TypeError or AttributeError for a
        line that no ledger writes; the state is unusable afterwards.
        """
        self.charge_rows = None
        rows = [(each["table"], _cells(each["table"], each["row"])) for each in rows_of_detail(said)]
        self._check_detail(event, said, rows)
        if event in transitions.EVENTS:
            self._apply_transition(event, subject, commitment, rows)
        elif event in _OWN:
            _require(commitment is None)
            _OWN[event](self, subject, rows, said.get("at"))
        else:
            _require(RECORDED.fullmatch(event) is not None and not rows)
            label("subject", subject)
            optional("commitment", commitment)
            self.recorded[event].append((subject, commitment))
            self.accesses.record(event, subject)
        for name, cells in rows:
            self.rows[name][cells[AT[name]]] = cells

    def other_digest(self, version: str, policy_digest: str) -> str | None:
        """Return the id of a release of this policy version (`name/version`) that was charged with a policy digest
        other than `policy_digest`; None if there is none.
        """
        begin, over = f"{version}/", f"{version}0"  # "0" follows "/"
        where = "release_id >= ? AND release_id < ? AND policy_digest <> ?"
        others = (
            row for row in self.charges_where(where, begin, over, policy_digest) if row[_POLICY_DIGEST] != policy_digest
        )
        own = (row for row in others if row[_RELEASE].startswith(begin) and "/" not in row[_RELEASE][len(begin) :])
        return min((row[_RELEASE] for row in own if self.charged.get(row[_RELEASE]) == row[_NUMBER]), default=None)

    def charges_where(self, condition: str, *values: object, newest: bool = False) -> Iterator[Cells]:
        """Yield charges in order of their numbers, or the newest first, among them all that satisfy a condition in SQL.
        A state that was restored from an image looks them up, any other yields all charges.
        """
        rows = self.rows[ENTRIES]
        if self.image is None or not isinstance(rows, LazyMapping):
            return iter([*rows.values()][:: -1 if newest else 1])
        changed = sorted(filter(None, rows.changed.values()), key=itemgetter(0), reverse=newest)
        known = (row for row in self.image.charges(condition, *values, newest=newest) if row[0] not in rows.changed)
        return merge(known, changed, key=itemgetter(0), reverse=newest)

    def stated(self) -> list[dict[str, str]]:
        """Return the rows of the table of running totals: one for each population with a charge."""
        lost = [self._total(each) for each in sorted(self._spent) if any(self._spent[each])]
        return [dict(zip(COLUMNS[TOTALS], each, strict=True)) for each in lost]

    def _check_detail(self, event: str, said: Mapping[str, Any], rows: Rows) -> None:
        """Check that the detail of a journal line has exactly the required keys. Lines of format 1 hold one row at
        most, and no time and author.
        """
        if not self._format:
            self._format = rows[0][1][1]
        old = self._format == 1 and event != "ledger.upgraded"
        reasoned = event in REASONED
        _require(said.keys() == _detail_names(old, bool(rows), reasoned))
        if not old:
            _check_when(said["at"], said["by"])
        if reasoned:
            label("reason", said["reason"], 1000)

    def _created(self, subject: str, rows: Rows, _at: str | None) -> None:
        _require(not self.rows[LEDGERS] and rows == [(LEDGERS, (subject, self._format))])
        _require(self._format in (1, *USABLE))

    def _upgraded(self, subject: str, rows: Rows, _at: str | None) -> None:
        stated = [(TOTALS, tuple(row.values())) for row in self.stated()] if self._format == 1 else []
        new = rows[0][1][1]
        _require(new in USABLE and self._format < new and subject in self.rows[LEDGERS])
        _require(rows == [(LEDGERS, (subject, new)), *stated])
        self._format = new

    def _registered(self, subject: str, rows: Rows, _at: str | None) -> None:
        _require(subject not in self.rows[POPULATIONS])
        budget = _budget(subject, rows[:1])
        if rows[1:]:
            _require(self._format > 2 and filter_rules.is_opened(budget.cap, rows[1:], subject))

    def _raised(self, subject: str, rows: Rows, _at: str | None) -> None:
        old = _budget(subject, [(POPULATIONS, self.rows[POPULATIONS][subject])])
        new = _budget(subject, rows[:1])
        _require(old != new and old.cap.within(new.cap) and old.people <= new.people)
        _require((old.unit, old.relation) == (new.unit, new.relation))
        _require(filter_rules.is_raised(new.cap, self.rows[FILTERS].get(subject), rows[1:], subject))

    def _converted(self, subject: str, rows: Rows, _at: str | None) -> None:
        before = self.rows[POPULATIONS][subject]
        old, new = _budget(subject, [(POPULATIONS, before)]), _budget(subject, rows[:1])
        _require(self._format > 2 and subject not in self.rows[FILTERS] and new == replace(old, cap=new.cap))
        charged = self.is_charged(subject)
        _require(not charged or all(map(RunningTotal.within, self._spent[subject], before[1:3])))
        _require(filter_rules.is_converted(old.cap, new.cap, charged, rows[1:], subject))

    def is_charged(self, population: str) -> bool:
        """Return whether a charge of the population is not void."""
        return any(self.rows[ENTRIES][number][_POPULATION] == population for number in self.charged.values())

    def _bound(self, subject: str, rows: Rows, _at: str | None) -> None:
        ((name, (contract, population)),) = rows
        _require(name == CONTRACTS and contract == subject and subject not in self.rows[name])
        _require(population in self.rows[POPULATIONS])

    def _frozen(self, subject: str, rows: Rows, _at: str | None) -> None:
        _require(rows == [(FREEZES, (subject, True))] and not self._is_frozen(subject))
        _require(subject in self.rows[POPULATIONS])

    def _thawed(self, subject: str, rows: Rows, _at: str | None) -> None:
        _require(rows == [(FREEZES, (subject, False))] and self._is_frozen(subject))

    def _anyway(self, subject: str, rows: Rows, _at: str | None) -> None:
        _require(not rows)
        label("subject", subject)

    def _is_frozen(self, population: str) -> bool:
        row = self.rows[FREEZES].get(population)
        return row is not None and bool(row[1])

    def _reserved(self, subject: str, rows: Rows, at: str | None) -> None:
        new = _charge(subject, rows)
        population, cap = new.population, self.rows[POPULATIONS][new.population]
        free = subject not in self.charged and (population, new.sample) not in self.samples
        _require(
            transitions.is_new_charge(new, at)
            and new.number == self.last + 1
            and free
            and not self._is_frozen(population)
        )
        totals = self._add(new, 1)
        self._check_total(new, rows, within=True)
        if population in self.rows[FILTERS]:
            totals = (RunningTotal(new.epsilon), RunningTotal(new.delta))
        _require(all(map(RunningTotal.within, totals, cap[1:3])))
        self._note_charge(new)

    def _restored(self, subject: str, rows: Rows, at: str | None) -> None:
        """Apply a line of `ledger restore`: a charge that the copy lacked, even above the budget, or an outcome of one
        that it held.
        """
        new = _charge(subject, rows)
        _require(self._format > 2)
        if subject in self.charged:
            was = ChargeRow(*self.rows[ENTRIES][self.charged[subject]])
            _require(len(rows) == 1 and transitions.is_restored_outcome(was, new))
        else:
            _require(transitions.is_restored_charge(new, at) and new.number == self.last + 1)
            _require(new.population in self.rows[POPULATIONS] and (new.population, new.sample) not in self.samples)
            self._add(new, 1)
            self._check_total(new, rows, within=False)
            self._note_charge(new)
        self.accesses.begin_reading(subject)

    def _note_charge(self, new: ChargeRow) -> None:
        subject = new.release_id
        self.last = new.number
        self.accesses.reserve(subject, new.population, new.policy_digest)
        self.charged[subject] = new.number
        if new.sample is not None:
            self.samples[new.population, new.sample] = subject

    def _apply_transition(self, event: str, subject: str, commitment: str | None, rows: Rows) -> None:
        new = _charge(subject, rows)
        was = ChargeRow(*self.rows[ENTRIES][self.charged[subject]])
        _require(transitions.is_transition(event, was, new, commitment))
        if event == transitions.VOID:
            self._give_back(new)
            _require(rows[1:] == [*self._total_rows(new.population), *self._rows_given_back(new)])
        else:
            _require(len(rows) == 1 and not (event == transitions.READING and self._is_frozen(new.population)))
        if event == transitions.READING:
            self.accesses.begin_reading(subject)

    def _give_back(self, charge: ChargeRow) -> None:
        self._add(charge, -1)
        del self.charged[charge.release_id]
        if charge.sample is not None:
            del self.samples[charge.population, charge.sample]

    def _add(self, charge: ChargeRow, times: int) -> tuple[RunningTotal, RunningTotal]:
        epsilon, delta = spent = self._spent.get(charge.population) or (RunningTotal(), RunningTotal())
        epsilon.add(charge.epsilon, times)
        delta.add(charge.delta, times)
        self._spent[charge.population] = spent
        return spent

    def _total(self, population: str) -> Cells:
        epsilon, delta = self._spent[population]
        return (population, str(epsilon), str(delta))

    def _total_rows(self, population: str) -> list[tuple[str, Cells]]:
        return [] if self._format == 1 else [(TOTALS, self._total(population))]

    def _check_total(self, new: ChargeRow, rows: Rows, *, within: bool) -> None:
        """Check the totals after a new charge, its series, and that a filter allows its vector if it must be `within`
        the caps."""
        before = self.rows[FILTERS].get(new.population)
        counted = [] if before is None else filter_rules.charge_rows(new.number, before, rows[2][1][1], within=within)
        _require(rows[1:] == [*self._total_rows(new.population), *counted, *self._slot_rows(new, rows)])

    def _slot_rows(self, new: ChargeRow, rows: Rows) -> Rows:
        """Return the row of a new charge that belongs to a series; none for any other."""
        name, cells = rows[-1]
        if name != SERIES:
            return []
        _require(self._format >= SINCE[SERIES] and is_slot(self.rows, self.charged, new, cells))
        return rows[-1:]

    def _rows_given_back(self, charge: ChargeRow) -> list[tuple[str, Cells]]:
        counted = self.rows[DIVERGENCES].get(charge.number)
        before = self.rows[FILTERS].get(charge.population)
        return [] if counted is None or before is None else filter_rules.rows_given_back(before, counted[1])


def _restored_rows(name: str, columns: Sequence[Sequence[Any]]) -> dict[Hashable, Cells]:
    """Return the rows of a table by key, from its columns: these make each row in one step."""
    return dict(zip(columns[AT[name]], zip(*columns, strict=True), strict=True)) if columns else {}


@lru_cache
def _detail_names(old: bool, rows: bool, reasoned: bool) -> frozenset[str]:
    """Return the keys that the detail of a journal line must have: of format 1 if `old`, with rows, and with
    a reason.
    """
    held = ({"table", "row"} if old else {"rows"}) if rows else set()
    return frozenset(held | ({"reason"} if reasoned else set()) | (set() if old else {"at", "by"}))


def _cells(name: str, row: dict[str, Any]) -> Cells:
    """Return the values of a row in the order of its table's columns; None for columns that a ledger of format 1
    lacked.
    """
    try:
        found: Cells = _VALUES[name](row)
    except KeyError:
        found = tuple(map(row.get, COLUMNS[name]))
    return found


def _charge(subject: str, rows: Rows) -> ChargeRow:
    name, cells = rows[0]
    _require(name == ENTRIES and cells[1] == subject)
    return ChargeRow(*cells)


def _budget(subject: str, rows: Rows) -> Budget:
    ((name, (population, epsilon, delta, people, unit, relation)),) = rows
    found = Budget(population, Spend(amount(epsilon), amount(delta)), people, unit, relation)
    _require(name == POPULATIONS and population == subject)
    return found


@lru_cache(1000)
def _check_when(at: str, by: str) -> None:
    _require(len(at) == len("2030-01-01T00:00:00Z") and at.endswith("Z") and "T" in at)
    datetime.fromisoformat(at)
    label("author", by)


_OWN: dict[str, Callable[[JournalState, str, Rows, str | None], None]] = {
    "ledger.created": JournalState._created,
    "ledger.upgraded": JournalState._upgraded,
    "budget.registered": JournalState._registered,
    "budget.raised": JournalState._raised,
    CONVERTED: JournalState._converted,
    "contract.bound": JournalState._bound,
    "population.frozen": JournalState._frozen,
    "population.thawed": JournalState._thawed,
    RESERVED: JournalState._reserved,
    RESTORED: JournalState._restored,
    ANYWAY: JournalState._anyway,
}
