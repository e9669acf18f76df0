"""Pictures of the least k and the expected retention at other epsilons and sampling rates, with the plan's point."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from crowdgate.kind.listing import json_value
from crowdgate.kind.picture import Picture, PicturePoint, Series
from crowdgate.kinds.rows.expected_retention import ExpectedRetention
from crowdgate.mechanisms.rows.safe_k import SafeK
from crowdgate.number_text import SHARE, Value

Row = Mapping[str, Value]


def trade_offs(safe: SafeK, rows: Sequence[Row], kept: ExpectedRetention | None) -> Iterator[Picture]:
    """Yield pictures of the least k and, if enough is known of the attributes, of the expected share of retained
    rows, or of its lower limit. `rows` are those of the listing of trade-offs."""
    x, chosen = "sampling rate beta", float(safe.beta)
    lines = tuple(Series(name, points, "joined") for name, points in _lines(rows, lambda k, _: float(k)))
    own = Series("this policy", (PicturePoint(chosen, float(safe.k)),), "chosen")
    yield Picture("least k", "The least k at this delta, by epsilon", x, "k", (*lines, own), value_scale="log")
    if kept is not None and (kept.is_known or kept.share.low > 0):
        yield _kept_share(rows, kept, x, chosen)


def _kept_share(rows: Sequence[Row], kept: ExpectedRetention, x: str, chosen: float) -> Picture:
    """Return the picture of the expected retention, or of its lower limit where no counts relate the attributes."""
    known = kept.is_known
    shares = _lines(rows, lambda k, beta: _share(ExpectedRetention(kept.joint, k, beta)))
    lines = tuple(Series(name, points, "joined") for name, points in shares)
    limits = _share_range(kept) if known else ()
    own = Series("this policy", (PicturePoint(chosen, _share(kept), *limits),), "chosen")
    which = "Expected share" if known else "Least share"
    title, note = f"{which} of the sampled rows that stay, by epsilon", str(kept.joint.basis)
    return Picture("kept share", title, x, "share of the sampled rows", (*lines, own), note=note, format=SHARE)


def _share(kept: ExpectedRetention) -> float:
    return kept.expected if kept.is_known else kept.share.low


def _lines(rows: Sequence[Row], of: Callable[[int, Fraction], float]) -> Iterator[tuple[str, tuple[PicturePoint, ...]]]:
    """Yield for each epsilon its name and a line of points: at each sampling rate the value of `of` at (least k,
    sampling rate)."""
    for epsilon in sorted({Fraction(row["epsilon"]) for row in rows}):  # type: ignore[arg-type]
        own = [row for row in rows if row["epsilon"] == epsilon and row["exact"] is not None]
        points = [PicturePoint(json_value(row["beta"]), of(json_value(row["exact"]), row["beta"])) for row in own]  # type: ignore[arg-type]
        yield f"epsilon {float(epsilon):g}", tuple(points)


def _share_range(kept: ExpectedRetention) -> tuple[float, float] | tuple[()]:
    """Return the (lower, upper) prediction limits of the retained share; an empty tuple if they are 0 and 1."""
    low, high = kept.share.low, kept.share.high
    return (low, high) if high - low < 1 else ()
