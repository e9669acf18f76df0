"""The files that a policy names, read with all registered kinds, formats and sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.errors import Code, Problem, nearest
from crowdgate.formats import FORMATS
from crowdgate.kind.kind import AnyKind
from crowdgate.kinds import KINDS
from crowdgate.policy.files import Bundle, KnownNames
from crowdgate.sources import SOURCES

if TYPE_CHECKING:
    from crowdgate.documents.yaml_text import Location

KNOWN = KnownNames(
    mechanisms={name: kind.spec for name, kind in KINDS.items()},
    formats=tuple(FORMATS),
    servers={name: reader.rule for name, reader in SOURCES.items()},
)
"""The names that policy and contract files may use."""


def kind_of(bundle: Bundle) -> AnyKind:
    """Return the release kind of a policy's mechanism, such as `dp_tables`."""
    return KINDS[bundle.policy.spec.mechanism.kind]


def named_attributes(bundle: Bundle) -> list[str]:
    """Return the names of the attributes that a policy's gates may name."""
    return list(kind_of(bundle).gate_attributes(bundle.policy.spec.mechanism))


def nearest_released(bundle: Bundle, word: str) -> str | None:
    """Return the released attribute whose name is nearest to a misspelled word; None if the word is an attribute
    itself.
    """
    return nearest(word, [name for name in named_attributes(bundle) if name in bundle.contract.by_name])


def problem_at(
    bundle: Bundle, at: Location, found: str, expected: str, instead: str | None = None, code: Code = Code.GATE
) -> Problem:
    return bundle.document.problem(at, found, expected, instead, code, known=bundle.contract.by_name)
