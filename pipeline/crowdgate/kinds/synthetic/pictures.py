"""The picture of a release of synthetic rows: the pairs of columns in which the rows differ most from the source
table."""

from collections.abc import Sequence

import numpy as np

from crowdgate.kind.picture import Limit, Picture, PicturePoint, Series
from crowdgate.kinds.synthetic.files import certificate_of
from crowdgate.kinds.synthetic.manifest_fields import SyntheticManifest
from crowdgate.kinds.synthetic.released_files import PublishedSynthetic
from crowdgate.number_text import decimal

DRAWN = 15
"""The largest number of pairs in the picture."""


def pictures(said: SyntheticManifest, held: PublishedSynthetic) -> Sequence[Picture]:
    """Return the pairs with the largest errors, with their confidence limits; nothing if there are no rows."""
    found = certificate_of(said, held)
    if found is None:
        return []
    order = np.argsort(-found.upper, kind="stable").tolist()[:DRAWN]
    points = tuple(
        PicturePoint(" and ".join(each.column for each in held.pairs[at]), max(0.0, float(found.errors[at])),
              float(found.lower[at]), float(found.upper[at]))
        for at in order
    )  # fmt: skip
    most = said.mechanism.pair_error
    limit = Limit(f"trustworthy up to {decimal(most)}", float(most))
    note = (
        "0 is the same, 1 has nothing in common. Each number has noise on it; its limits contain the true number in 19"
        " of 20 cases."
    )
    return [
        Picture("pairs", "The pairs of columns that are farthest from the table", "pair", "distance",
                (Series("distance", points),), (limit,), note=note)
    ]  # fmt: skip
