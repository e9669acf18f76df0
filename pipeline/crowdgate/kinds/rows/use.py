"""Uses that weighted rows allow: people represented, counts met, and columns to leave alone.

Everything follows from the published files. The manifest holds it, and README, page and result print it from there.
"""

from fractions import Fraction
from math import ceil, floor

from crowdgate.arrays import Integers
from crowdgate.candidate import Measurement, WeightedRows
from crowdgate.kinds.rows.manifest_fields import RepresentedFields, UseFields
from crowdgate.measures.weighted_rows import met_cells, represented_share, unfit_columns

HUNDREDTH = Fraction(1, 100)


def use_fields(counts: Integers, weighted: WeightedRows, beta: Fraction, k: int) -> UseFields:
    """Return the statement of the manifest on released rows: `counts` rows in each class, sampled with `beta`."""
    met, cells = met_cells(weighted)
    share = represented_share(counts, weighted, float(beta), k)
    represented = None if share is None else _represented_fields(share)
    return UseFields(represented=represented, met=met, cells=cells, unfit=unfit_columns(weighted))


def _represented_fields(share: Measurement) -> RepresentedFields:
    """Return the share in hundredths, with its limits rounded outwards."""
    return RepresentedFields(
        share=round(100 * share.value) * HUNDREDTH,
        low=floor(100 * share.lower) * HUNDREDTH,
        high=ceil(100 * share.upper) * HUNDREDTH,
    )
