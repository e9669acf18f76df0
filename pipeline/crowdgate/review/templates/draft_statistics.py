"""Variables of files of SPSS, Stata and SAS, with their labels, as columns of a draft."""

from pathlib import Path

from crowdgate.review.templates.codebook_values import bare_label, special_codes, without_scale, without_unknown
from crowdgate.review.templates.draft_column import DraftColumn, DraftSource
from crowdgate.review.templates.draft_consistency import with_named_ends
from crowdgate.review.templates.label_domains import with_label_range
from crowdgate.review.templates.stated_ranges import ListedValues
from crowdgate.review.templates.stated_roles import role_in_brackets
from crowdgate.sources.statistics_formats import CODES, LabelledVariable, variables


def labelled_variables(path: Path, relative: str, name: str) -> DraftSource:
    """Return the variables of a file of the format `name`. No cell is read.

    Cells are read as codes, so that the labels are the contract's. Raises FileFault if the file can't be read, OSError
    without a file.
    """
    columns = tuple(map(labelled_column, variables(path)))
    return DraftSource(f"the variables of {path.name}", relative, name, columns, {"values": CODES})


def labelled_column(found: LabelledVariable) -> DraftColumn:
    """Return a variable as a column. Labels of a measured number name special codes."""
    values = tuple((code, bare_label(code, label)) for code, label in found.values)
    special = special_codes(values)
    codes = tuple(code for code, label in values if special_codes([(code, label)]))
    listed = ListedValues(missing=codes) if found.is_scale or special else without_unknown(without_scale(values))
    missing = (*found.missing, *listed.missing)
    column = DraftColumn(
        found.name, found.type, found.label, listed.values, missing=missing, unread=listed.unread,
        role=role_in_brackets(found.label),
    )  # fmt: skip
    if found.is_scale:
        column = with_named_ends(column, tuple(pair for pair in values if pair[0] not in codes))
    return with_label_range(column)
