"""The state of a ledger that is kept outside of it, and the one gate that compares a ledger with it.

Every command that charges or frees a release, or that reads a confidential table or record, changes the ledger first,
and each ledger does this comparison before its first change. It refuses a ledger that lacks the line of a head, a
release at any destination that it names or that the policies of its working copies name, or the run of a private
record. It refuses any ledger while such a policy or destination can't be read. It refuses a ledger of whose releases at
a destination none is there, such as one on a disk that is not mounted, unless the head there, or a configured one,
names the ledger's last line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crowdgate.errors import LedgerRefused
from crowdgate.ledger.filters import excess, is_zero
from crowdgate.ledger.heads import HeadStatement, PopulationTotal, head_file, read_head
from crowdgate.ledger.ledger import RESTORE, HeadFiles, lacking_text
from crowdgate.ledger.restoration import lacking_slots
from crowdgate.planning.anchors import OLDER, parse_anchor, unknown_releases
from crowdgate.planning.private_traces import release_id_of, unknown_private_files
from crowdgate.planning.published_places import homes_of, places_of, policy_destinations
from crowdgate.publish.file_names import STAGING
from crowdgate.settings import head_folders

if TYPE_CHECKING:
    from crowdgate.ledger.ledger import Ledger

GONE = "destination-gone"
"""Event: a destination, the subject, is gone for good, as a person stated who restored the ledger."""
_MOUNT = "mount it, or state that it is gone for good by `crowdgate ledger restore`"
_MOST = 5
"""The most problems that a refusal lists."""
Heads = list[tuple[Path, HeadStatement]]


@dataclass(frozen=True)
class OutsideState:
    """The state outside of a ledger that the working copy `home` uses."""

    home: Path

    def admit(self, ledger: Ledger, roots: Sequence[Path] = (), anchors: Sequence[str] = ()) -> HeadFiles:
        """Return the files that keep the ledger's head. `roots` are further destinations, `anchors` stored lines.

        Raises LedgerRefused for a ledger that lacks state which is kept outside, and where such state may be hidden in
        something unreadable. Nothing is written.
        """
        found = self._compare(ledger, roots)
        if problems := [*_missing_anchors(ledger, anchors), *found.lacking]:
            raise LedgerRefused(f"{_listed(problems)}; nothing was read or charged; {RESTORE}", "edited")
        if found.unread:
            raise LedgerRefused(f"{_listed(found.unread)}; nothing was read or charged")
        return HeadFiles(self._configured(ledger), tuple(head_file(root / STAGING, ledger.id) for root in found.roots))

    def problems(self, ledger: Ledger) -> list[str]:
        """Return a sentence for each state that is kept outside and that the ledger lacks, and for each file or folder
        that is unreadable, so that such state may be hidden there.
        """
        found = self._compare(ledger)
        return [*found.lacking, *found.unread]

    def destinations(self, ledger: Ledger) -> list[Path]:
        """Return every destination that the ledger, or a policy of one of its working copies, names."""
        homes = homes_of(ledger, self.home)
        return _destinations(places_of(ledger), policy_destinations(homes)[0], homes)

    def heads(self, ledger: Ledger, roots: Sequence[Path] = ()) -> Heads:
        """Return the heads of a ledger that count, with their files."""
        configured = self._configured(ledger)
        files = dict.fromkeys([*configured, *(head_file(root / STAGING, ledger.id) for root in roots)])
        found = ((path, read_head(path, ledger.id, ledger.trusted, path in configured)) for path in files)
        return [(path, head) for path, head in found if head is not None]

    def gone(self, ledger: Ledger, places: Mapping[str, Sequence[str]] | None = None) -> Iterator[str]:
        """Yield each destination, as the ledger states it, that is nowhere or that holds none of its releases.

        A relative one is only searched where the ledger lies in its working copy: other working copies may share it.
        `places` is what `places_of` returns.
        """
        stated, homes = {subject for subject, _ in ledger.recorded(GONE)}, homes_of(ledger, self.home)
        for place, releases in (places_of(ledger) if places is None else places).items():
            sought = Path(place).is_absolute() or len(homes) == 1
            held = releases or [place]
            if sought and place not in stated and not any((home / to).exists() for home in homes for to in held):
                yield place

    def _configured(self, ledger: Ledger) -> tuple[Path, ...]:
        return tuple(head_file(folder.resolve(), ledger.id) for folder in head_folders(self.home))

    def _compare(self, ledger: Ledger, more: Sequence[Path] = ()) -> _Comparison:
        homes, places = homes_of(ledger, self.home), places_of(ledger)
        named, unread = policy_destinations(homes)
        roots, hidden = [*dict.fromkeys([*more, *_destinations(places, named, homes)])], list[Path]()
        lacking = list(self._lacking(ledger, roots, places, hidden))
        unknown = (f"{path} can't be read, so which releases lie there is unknown" for path in hidden)
        return _Comparison(roots, lacking, [*unread, *unknown])

    def _lacking(
        self, ledger: Ledger, roots: Sequence[Path], places: Mapping[str, Sequence[str]], hidden: list[Path]
    ) -> Iterator[str]:
        heads = self.heads(ledger, roots)
        yield from missing_heads(ledger, heads)
        last = ledger.head()
        attesting = [path for path, head in heads if head.place == (last.number, last.digest)]
        yield from unknown_releases(ledger, roots, hidden, attested=bool(attesting))
        for path in unknown_private_files(ledger):
            run = release_id_of(ledger, path) or "the run"
            yield f"the ledger {ledger.id} does not know {run} that left {path}: {OLDER}"
        if not set(attesting).intersection(self._configured(ledger)):
            attested = {path.parent.parent for path in attesting}
            for place in self.gone(ledger, places):
                if attested.isdisjoint((home / place).resolve() for home in homes_of(ledger, self.home)):
                    said = f"the destination {place} of the ledger {ledger.id} is gone or empty"
                    yield f"{said}, so newer releases may be there; {_MOUNT}"


class _Comparison(NamedTuple):
    """The destinations of a ledger, and sentences on what it lacks and on what is unreadable."""

    roots: list[Path]
    lacking: list[str]
    unread: list[str]


def _listed(problems: Sequence[str]) -> str:
    more = [f"and {len(problems) - _MOST} more"] if len(problems) > _MOST else []
    return "; ".join([*problems[:_MOST], *more])


def _destinations(places: Iterable[str], named: Sequence[Path], homes: Sequence[Path]) -> list[Path]:
    """Return the destinations that a ledger and policies name. Relative paths count from each working copy."""
    return list(dict.fromkeys([*((home / to).resolve() for home in homes for to in places), *named]))


def missing_heads(ledger: Ledger, heads: Heads) -> Iterator[str]:
    """Yield a sentence for each head whose line the ledger lacks, and for each superseded one that states a larger
    charge.
    """
    missing = set(ledger.missing_lines(head.place for _, head in heads))
    for path, head in heads:
        if head.place in missing:
            yield lacking_text(ledger.id, path, head)
        elif not ledger.holds(*head.place):
            yield from _larger_charges(ledger, path, head)


def _larger_charges(ledger: Ledger, path: Path, head: HeadStatement) -> Iterator[str]:
    for each in head.series:
        if lacking_slots(ledger.state(), each):
            said = f"the ledger {ledger.id} states fewer charged releases of the series of {each.payer}"
            yield f"{said} than its head of {head.date} ({path}): {OLDER}"
    for total in head.totals:
        if _is_larger(ledger, total):
            said = f"the ledger {ledger.id} states less spent of {total.population} than its head of {head.date}"
            yield f"{said} ({path}): {OLDER}"


def _is_larger(ledger: Ledger, total: PopulationTotal) -> bool:
    """Return whether a head states a larger total than the ledger, in epsilon, delta or Renyi divergences, or any in
    Renyi divergences where the ledger adds up epsilon and delta."""
    budget, known = ledger.budget(total.population), ledger.divergences(total.population)
    if not total.spend.within(ledger.spent(total.population)):
        return True
    if budget is None or total.renyi is None:
        return False
    if budget.lifetime is None or known is None:
        return True
    there = total.renyi.cost.at(budget.lifetime.filter.orders)
    return there is not None and not is_zero(excess(there, known))


def _missing_anchors(ledger: Ledger, anchors: Sequence[str]) -> Iterator[str]:
    for line, _ in ledger.missing_lines(map(parse_anchor, anchors)):
        yield f"line {line} of the ledger {ledger.id} differs from the stored anchor, or is missing: {OLDER}"
