"""A forgery of a release folder, and the adjustments of a careful forger without the ledger."""

import random
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from crowdgate import manifest
from crowdgate.errors import VerificationFailed
from crowdgate.publish.dictionary import DICTIONARY, read_dictionary
from crowdgate.publish.file_names import SIGNED
from crowdgate.publish.publisher import file_digest
from crowdgate.publish.register import REGISTER
from tests.forgery.claims import EXACT, claims_of, leaves, say

Change = Callable[[Path], object]


@dataclass(frozen=True)
class Forgery:
    """One change of a release folder. A name is `group: place: what`; a slow one (`dear`) may cost seconds or
    gigabytes.
    """

    name: str
    apply: Change
    dear: bool = False

    @property
    def group(self) -> str:
        """The group of the forgery."""
        return self.name.partition(": ")[0]


SIGNATURE_ONLY: dict[str, str] = {
    "/about/*": "free words of the policy's owner",
    "/data/columns/*/ordered": "whether values have an order is in the contract",
    "/contract/*": "where the data came from is not in them",
    "/facts/budget/*": "the population's budget is in the ledger",
    "/facts/margins/*": "public margins are in the contract",
    "/facts/joint/*/counts/*": "public joint counts are in the contract, if all expectations are the same",
    "/facts/joint/*/codes/*": "which values are counted is in the contract, if all expectations are the same",
    "/facts/people": "the bound on people is in the budget",
    "/facts/spent/*": "what was spent before is in the ledger",
    "/mechanism/queries/*/grid/*": "the bounds of a column are in the contract, if a row adds as much",
    "/mechanism/model_cells": "how large a model may be is in the policy, if this one is smaller",
    "/ledger/*": "which ledger, and its line, only the ledger knows",
    "/policyDigest": "the policy's files are not published",
    "/software/*": "who made it is not in the data",
    "/verdicts/* charged/high": "a number drawn with noise",
    "/verdicts/* charged/low": "a number drawn with noise",
    "/verdicts/*/severity": "whether a gate that passed blocks is in the policy, if another one does",
    "/verdicts/* charged/value": "a number drawn with noise",
}
"""Leaves of the manifest of which only a signature or the ledger can detect a value of the same type, and why."""

CAREFUL_ONLY: dict[str, str] = {
    "/mechanism/k": "a larger k that all classes reach promises no more",
    "/mechanism/impossible/*": "what can't occur is in the policy, if no row is of it",
    "/mechanism/pair_error": "which pairs are trustworthy is in the policy, if they are the same",
    "/mechanism/seed": "rows are drawn again from their seed by a fit that is not repeated here",
    "/mechanism/triples/*": "which triples may be measured is in the policy, if those that were are among them",
    "/mechanism/relative_error": "which flags were asked for is in the policy, if they are the same",
    "/verdicts/*": "which gates were asked for is in the policy, if they pass",
}
"""Fields of which only the policy can tell a forgery whose forger also writes a fitting README.md."""

WISHES: dict[str, str] = {
    "/mechanism/impossible*": "what can't occur is in the policy, if no row is of it",
    "/mechanism/triples*": "which triples may be measured is in the policy, if those that were are among them",
}
"""Lists of the manifest from which a forger who rewrites README.md may drop entries."""

VALUES = ("manifest text", "manifest number", "manifest exact", "manifest flag")


def excused(name: str, table: Mapping[str, str] = SIGNATURE_ONLY) -> bool:
    """Return whether only a signature or the ledger can detect the forgery."""
    group, place, _ = name.split(": ", 2)
    if group == "manifest shape" and table is CAREFUL_ONLY:
        return _is_in_table(place, WISHES)
    return group in VALUES and _is_in_table(place, table)


def reseal(folder: Path) -> None:
    """Set the digests and sizes in the manifest to those of the current files, and list exactly these."""
    claims = claims_of(folder)
    form = next(iter(claims["files"].values()))
    unnamed = (manifest.NAME, SIGNED)
    names = sorted(path.name for path in folder.iterdir() if path.name not in unnamed and not path.is_dir())
    old = claims["files"]
    claims["files"] = {name: _entry(folder / name, old.get(name, form)) for name in names}
    say(folder, claims)


def _entry(path: Path, form: Any) -> Any:
    """Return the digest and the size in the form of the manifest's entry."""
    if not path.is_file() or path.is_fifo():
        return form
    digest = file_digest(path)
    return digest if isinstance(form, str) else {**form, "sha256": digest, "bytes": path.stat().st_size}


def resealed(change: Change, seal: Change = reseal) -> Change:
    """Return the change followed by an adjustment of the manifest."""

    def both(folder: Path) -> None:
        change(folder)
        seal(folder)

    return both


def is_same(one: Path, other: Path) -> bool:
    """Return whether two folders hold the same bytes under the same names, in plain files."""
    names = {path.name for path in one.iterdir()}
    return names == {path.name for path in other.iterdir()} and all(
        _same_bytes(one / name, other / name) for name in names
    )


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def sampled(forgeries: Iterable[Forgery], size: int, seed: int, dear: bool = False) -> list[Forgery]:
    """Return so many forgeries, slow (`dear`) or other ones: one of each group in turn, in seeded order."""
    groups: dict[str, list[Forgery]] = defaultdict(list)
    for forgery in forgeries:
        if forgery.dear is dear:
            groups[forgery.group].append(forgery)
    for name, found in groups.items():
        random.Random(f"{seed} {name}").shuffle(found)
    turns = chain.from_iterable(zip_longest(*groups.values()))
    return [forgery for forgery in turns if forgery is not None][:size]


def is_excused(folder: Path, copy: Path) -> bool:
    """Return whether the copy differs only in ways that only a signature can detect.

    These are similar leaves of the manifest; in dictionary.csv the contract's descriptions of columns, and labels of
    values that do not occur; other records of the register, if as many rows match.
    """
    names = {path.name for path in folder.iterdir()}
    others = names - {manifest.NAME}
    if names == {path.name for path in copy.iterdir()} and not _same_bytes(folder / DICTIONARY, copy / DICTIONARY):
        return all(_same_bytes(folder / n, copy / n) for n in others - {DICTIONARY}) and _only_words(folder, copy)
    if names != {path.name for path in copy.iterdir()}:
        return False
    if not all(_same_bytes(folder / name, copy / name) for name in others):
        return all(_same_bytes(folder / name, copy / name) for name in others - {REGISTER})
    try:
        claims = claims_of(copy)
    except (ValueError, RecursionError):
        return False
    one, other = leaves(claims_of(folder)), leaves(claims)
    written = manifest.canonical(claims) == (copy / manifest.NAME).read_bytes()
    changed = {place for place in one.keys() | other.keys() if repr(one.get(place)) != repr(other.get(place))}
    alike = one.keys() == other.keys() and all(_are_alike(one[place], other[place]) for place in changed)
    return written and alike and all(map(_is_in_table, changed))


def _only_words(folder: Path, copy: Path) -> bool:
    """Return whether both dictionaries list the same columns at the same levels with as many values.

    Values that occur in a data file must be the same.
    """
    try:
        one, other = (read_dictionary(each / DICTIONARY) for each in (folder, copy))
    except (VerificationFailed, OSError):
        return False
    texts = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.csv") if path.name != DICTIONARY)
    return [(e.column, e.level, len(e.labels)) for e in one] == [
        (e.column, e.level, len(e.labels)) for e in other
    ] and all(
        a == b or not {a, b} & set(texts.replace("\n", ",").split(","))
        for left, right in zip(one, other, strict=True)
        for a, b in zip(left.labels, right.labels, strict=True)
    )


def _are_alike(one: object, other: object) -> bool:
    """Return whether two values are of one type, and both exact numbers if the first of them is."""
    return type(one) is type(other) and not (EXACT.fullmatch(str(one)) and not EXACT.fullmatch(str(other)))


def _same_bytes(one: Path, other: Path) -> bool:
    return _is_plain(other) and one.read_bytes() == other.read_bytes()


def _is_in_table(place: str, table: Mapping[str, str] = SIGNATURE_ONLY) -> bool:
    return any(fnmatchcase(place, pattern) for pattern in table)


REFUSED, SAME, EXCUSED, ACCEPTED = "refused", "the same bytes", "only a signature tells", "accepted"


def outcome(folder: Path, forgery: Forgery, verify: Callable[[Path], object], scratch: Path) -> str:
    """Return the result of verifying a forged copy: one of the words above, or the name of an unexpected error."""
    copy = Path(shutil.copytree(folder, scratch / "forged" / "copy"))
    try:
        _apply(forgery, copy)
        return SAME if is_same(folder, copy) else _verified(folder, copy, forgery, verify)
    finally:
        shutil.rmtree(copy.parent)


def _apply(forgery: Forgery, copy: Path) -> None:
    try:
        forgery.apply(copy)
    except Exception as error:
        error.add_note(f"the forger failed at {forgery.name}")
        raise


def _verified(folder: Path, copy: Path, forgery: Forgery, verify: Callable[[Path], object]) -> str:
    try:
        verify(copy)
    except VerificationFailed:
        return REFUSED
    except Exception as error:
        return type(error).__name__
    return EXCUSED if excused(forgery.name) or is_excused(folder, copy) else ACCEPTED


def accepted(
    folder: Path, forgeries: Iterable[Forgery], verify: Callable[[Path], object], scratch: Path
) -> Iterator[str]:
    """Return the names of forgeries that verification should refuse with VerificationFailed and does not."""
    for forgery in forgeries:
        end = outcome(folder, forgery, verify, scratch)
        if end not in (REFUSED, SAME, EXCUSED):
            yield forgery.name + ("" if end == ACCEPTED else f" [{end}]")
