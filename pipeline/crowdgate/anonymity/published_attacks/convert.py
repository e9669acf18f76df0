"""Convert a published curve of a membership attack to precision and recall at stated skews."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from crowdgate.anonymity.published_attacks.claims import (
    GREATEST,
    LEAST_PRECISION,
    LIMIT_COLUMNS,
    MEASURED,
    NEEDED,
    POINTS,
    VERDICT,
    CurveFindings,
    Row,
    skew_text,
)
from crowdgate.anonymity.published_attacks.curve import RocCurve, read_curve
from crowdgate.anonymity.published_attacks.request import CurveRequest
from crowdgate.kind.listing import Listing, ListingColumn
from crowdgate.kind.picture import Picture, curve
from crowdgate.number_text import PEOPLE, format_value, rounded
from crowdgate.report.report import Report, short_report
from crowdgate.risk.membership import base_rate
from crowdgate.risk.roc import at_skew

MOST_SHOWN = 80
"""Greatest number of rows of points on a terminal."""
NO_INTERVAL = (
    "No interval can be given: that takes the numbers of members and non-members whom the attack was tried on "
    "(--members, --non-members)."
)
POOLED = (
    "Intervals (95 %) are exact and pooled, as if every target were independent of the others. Targets of one release "
    "or one model share its noise: the truth can lie far outside. Each interval is for its point alone."
)
READ_OFF = (
    "The greatest recall is that of the best mixture: an attacker who uses one of two thresholds at random, or claims "
    "everybody. A threshold that was chosen on the targets that it is measured on looks better than it is."
)
TOO_FEW = (
    "Inconclusive: no false positive was seen, and too few non-members were tried, or it is not said how many. So many "
    "of them, none claimed, would show the precision wanted at level .05; in the list of points, one of .5."
)
CORNER = "The point with both rates 0 claims nobody, has no precision, and is left out."


def convert(asked: CurveRequest) -> Report:
    """Return the report on the curve in the file: precision and recall of its points at every requested skew. Raises
    ConfigurationError for a file without a curve."""
    curve = read_curve(asked.file)
    claims = CurveFindings(curve.points, asked)
    rows, greatest = tuple(claims.rows()), tuple(claims.greatest())
    columns = POINTS if asked.targets is None else (*POINTS[:4], *LIMIT_COLUMNS, *POINTS[4:])
    listings = (
        _listing("greatest", "greatest recall at a wanted precision", GREATEST, greatest),
        replace(_listing("points", "the points at each skew", columns, rows), further=len(rows) > MOST_SHOWN),
    )
    title = f"Membership claims of {asked.file.name}"
    about = _about(curve, asked)
    return short_report(
        title,
        lambda: (_sentence(claims), *_notes(curve, asked, (*greatest, *rows))),
        listings,
        about,
        lambda: _picture(claims),
        "converted",
    )


def _listing(name: str, title: str, columns: tuple[ListingColumn, ...], rows: tuple[Row, ...]) -> Listing:
    """Return a listing of the rows; its columns for verdicts and for needed non-members are left out if no row has
    them."""
    verdict = (VERDICT,) if VERDICT not in columns and any(row["verdict"] != MEASURED for row in rows) else ()
    needed = (NEEDED,) if any(row["needed"] for row in rows) else ()
    return Listing(name, title, (*columns, *verdict, *needed), rows)


def _about(curve: RocCurve, asked: CurveRequest) -> dict[str, object]:
    targets = asked.targets
    return {
        "file": asked.file.name,
        "columns": list(curve.form.columns),
        "members": targets and targets.members,
        "non_members": targets and targets.non_members,
    }


def _sentence(claims: CurveFindings) -> str:
    """Return a sentence on the most precise point at the greatest skew, on this point's precision with as many members
    as non-members, and on the precision of claiming everybody to be a member."""
    skew = claims.asked.skews[-1]
    point, seen = claims.most_precise(skew)
    if point is None:
        return "The precision of this attack is unknown: no false positive was seen."
    more = " Where no false positive was seen it may be more precise." if seen and claims.without_false_positive else ""
    claim = at_skew(point, skew)
    each = f"at {skew_text(skew)} ({_number_text(float(skew))} non-member{'s' if skew != 1 else ''} for each member)"
    right = (
        f"{rounded(claim.precision)} of its claims"
        if seen
        else f"more than {rounded(LEAST_PRECISION, 6)} of its claims"
    )
    members, targets = _number_text(1 / claim.recall), _number_text(1 / claim.true_positives)
    found = f", and finds 1 in {members} members, 1 in {targets} of all targets"
    balanced = (
        f" At 1:1 the same point is right in {rounded(at_skew(point, 1).precision)}." if seen and skew != 1 else ""
    )
    return (
        f"At its most precise, {each}, this attack is right in {right}{found if claim.recall else ''}.{more}{balanced} "
        f"Claiming that everybody is a member is right in {rounded(base_rate(skew))}."
    )


def _number_text(number: float) -> str:
    return format_value(number, PEOPLE)


def _notes(curve: RocCurve, asked: CurveRequest, rows: Sequence[Row]) -> Iterator[str]:
    yield curve.form.note
    yield NO_INTERVAL if asked.targets is None else POOLED
    yield READ_OFF
    if curve.corner:
        yield CORNER
    if any(row["needed"] for row in rows):
        yield TOO_FEW


def _picture(claims: CurveFindings) -> list[Picture]:
    """Return a picture of precision against recall, one curve for each skew."""
    lines = [curve(skew_text(skew), claims.drawn(skew)) for skew in claims.asked.skews]
    lines = [line for line in lines if line.points]
    title, x = (
        "Precision by recall, for each number of other people per member",
        "recall: share of the members who are found",
    )
    return [Picture("precision", title, x, "precision", tuple(lines), (), "log", "log")] if lines else []
