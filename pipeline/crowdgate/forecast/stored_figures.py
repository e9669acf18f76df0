"""Figures of a plan that were worked out before, for `plan` alone: no release, no gate and no verdict reads them.

They follow from public files, the code and its libraries. The digest of all these names them. Figures that rest on
anything else are neither stored nor read: counts of `--from`, and all that the ledger says.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from crowdgate.errors import CrowdgateError
from crowdgate.kind.forecast import Basis, Figure, Forecast
from crowdgate.kind.listing import Listing, ListingColumn
from crowdgate.number_text import Value, current_mark
from crowdgate.planning.figure_folder import FigureFolder
from crowdgate.planning.public_classes import FOLDER
from crowdgate.system.installed_code import code_state, libraries

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan
    from crowdgate.planning.open_ledger import OpenedLedger

T = TypeVar("T")
Listings = tuple[Listing, ...]
FRACTION, TEXTS = "fraction", "texts"
NUMBERS = ("value", "low", "high")
"""The fields of a figure that hold its number."""


@dataclass(frozen=True)
class StoredFigures:
    """Folder of the stored figures of one plan (None: nowhere), and the digest of the files, code and libraries that
    they follow from."""

    folder: FigureFolder | None
    digest: str

    def forecast(self, forecast: Forecast) -> Forecast:
        """Return the forecast with its figures and listings read from the folder, or computed and stored where they are
        missing."""
        return replace(forecast, make_figures=lambda: self._figures(forecast), made=lambda: self._listings(forecast))

    def listing(self, name: str, make: Callable[[], Listing]) -> Listing:
        """Return the listing of this name from the folder; if it is missing, make and store it."""
        (found,) = self._stored(name, lambda: (make(),), _listings_json, _listings_of)
        return found

    def _figures(self, forecast: Forecast) -> tuple[Figure, ...]:
        return self._stored("figures", lambda: forecast.figures, _figures_json, _figures_of)

    def _listings(self, forecast: Forecast) -> Listings:
        return self._stored("listings", lambda: forecast.listings, _listings_json, _listings_of)

    def _stored(self, name: str, make: Callable[[], T], to_json: Callable[[T], Any], of: Callable[[Any], T]) -> T:
        if self.folder is None:
            return make()
        key = hashlib.sha256(f"{name} {current_mark()} {self.digest}".encode()).hexdigest()
        found = self.folder.read(key)
        if found is not None:
            with suppress(KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):  # of another shape
                return of(found)
        made = make()
        self.folder.write(key, to_json(made))
        return made


def stored_figures(plan: Plan, opened: OpenedLedger, *, public: bool) -> StoredFigures:
    """Return the place of a plan's stored figures: beside its ledger, if that can be opened. There is none unless they
    rest on the files of the policy alone (`public`)."""
    try:
        folder = FigureFolder(opened.ledger().path.parent / FOLDER) if public else None
    except CrowdgateError:
        folder = None
    return StoredFigures(folder, "" if folder is None else _digest(plan))


def _digest(plan: Plan) -> str:
    """Return the SHA-256 of policy, budget, contract and the public files that these name, of the code, its libraries
    and the type of machine."""
    follows = {"files": plan.bundle.digest, "code": code_state(), "libraries": libraries(), "on": platform.machine()}
    return hashlib.sha256(json.dumps(follows, sort_keys=True).encode()).hexdigest()


def _figures_json(figures: tuple[Figure, ...]) -> Any:
    return [
        {**asdict(each), **{name: _value_json(getattr(each, name)) for name in NUMBERS}, "basis": str(each.basis)}
        for each in figures
    ]


def _figures_of(stored: Any) -> tuple[Figure, ...]:
    return tuple(
        Figure(**{**each, **{name: _value_of(each[name]) for name in NUMBERS}, "basis": Basis(each["basis"])})
        for each in stored
    )


def _listings_json(listings: Listings) -> Any:
    return [
        {
            "name": each.name, "title": each.title, "columns": [astuple(column) for column in each.columns],
            "rows": [{key: _value_json(value) for key, value in row.items()} for row in each.rows],
            "note": each.note, "single": each.single, "further": each.further,
        }
        for each in listings
    ]  # fmt: skip


def _listings_of(stored: Any) -> Listings:
    return tuple(
        Listing(
            each["name"], each["title"], tuple(ListingColumn(*column) for column in each["columns"]),
            tuple({key: _value_of(value) for key, value in row.items()} for row in each["rows"]),
            each["note"], each["single"], each["further"],
        )
        for each in stored
    )  # fmt: skip


def _value_json(value: Value) -> Any:
    """Return a value in the types of JSON, from which `_value_of` restores an equal value of the same type."""
    if isinstance(value, Fraction):
        return {FRACTION: str(value)}
    return {TEXTS: dict(value)} if isinstance(value, Mapping) else value


def _value_of(stored: Any) -> Value:
    if isinstance(stored, dict):
        return Fraction(stored[FRACTION]) if FRACTION in stored else dict(stored[TEXTS])
    return stored  # type: ignore[no-any-return]
