"""The privacy role of a column by its codebook, or as its words suggest it."""

from crowdgate.contracts.contract import Role
from crowdgate.domain import parse_number
from crowdgate.review.templates.column_words import (
    ADMISSIONS,
    ATTAINED,
    ENDS_IN_ID,
    LONGEST_NAME,
    NO_SENSITIVE,
    OF_KINDS,
    column_words,
    plain_text,
    role_of,
)
from crowdgate.review.templates.draft_column import MOST_QUOTED, DraftColumn
from crowdgate.review.templates.role_words import is_free_text, is_identifying, is_sensitive
from crowdgate.sources.table_header import CellType


def role_in_draft(column: DraftColumn) -> Role | None:
    """Return the privacy role of a column by its codebook, or else by its words; None if neither says any."""
    return Role.DIRECT_IDENTIFIER if column.direct else column.role or guessed_role(column)


def guessed_role(column: DraftColumn) -> Role | None:
    """Return the privacy role that a column's name suggests, or else its description; None if neither suggests any."""
    named = column_words(column.name)
    named -= {"id"} if OF_KINDS & named else set()
    is_id = not column.values and ENDS_IN_ID.search(column.name.lower()) and not OF_KINDS & named
    if column.direct or is_id:
        return Role.DIRECT_IDENTIFIER
    if column.is_age:
        return Role.QUASI_IDENTIFIER
    if column.is_weight:
        return Role.OTHER
    described = column.role_words or column.description
    if holds_free_text(column):
        return Role.DIRECT_IDENTIFIER
    words, listed = column_words(described), bool(column.values)
    words -= ADMISSIONS if column.is_day else set()
    words -= {"grade"} if words & ATTAINED else set()
    found = role_of(named, listed=listed)
    text = plain_text(described[:MOST_QUOTED]).lower()
    if (
        found is Role.QUASI_IDENTIFIER
        and is_sensitive(text)
        and len(words) <= LONGEST_NAME
        and not words & NO_SENSITIVE
    ):
        return Role.SENSITIVE  # `orientation_sex`
    if found or words & {"weight", "weights"}:
        return found
    greatest = parse_number(column.bounds[1]) if column.bounds else None
    names_somebody = not listed and not column.is_day and is_identifying(text, greatest)
    found = Role.DIRECT_IDENTIFIER if names_somebody else role_of(words, listed=listed)
    may_be_sensitive = found in (None, Role.QUASI_IDENTIFIER) and not column.is_day
    is_hidden = may_be_sensitive and is_sensitive(f"{plain_text(column.name).lower()} {text}")
    return Role.SENSITIVE if is_hidden else found


def holds_free_text(column: DraftColumn) -> bool:
    """Return whether a column without values and range has free texts, by its words or by what stands for them."""
    is_text = column.type in (CellType.TEXT, CellType.UNKNOWN) and not (column.values or column.bounds)
    words = plain_text(f"{column.name.replace('_', ' ')}; {column.description}; {column.role_words}; {column.remark}")
    return is_text and is_free_text(words.lower())
