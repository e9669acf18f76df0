"""pyarrow without pandas.

pyarrow imports an installed pandas at its first conversion of values, which takes 43 MB and a third of a second and is
not needed here.
"""

import sys

from crowdgate.system.import_filters import imports_filtered


def use_arrow_without_pandas() -> None:
    """Let pyarrow look for pandas now and not find it. A later request for a data frame looks again.

    Does nothing if pandas is imported already.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow

    with imports_filtered(absent={"pandas"}):
        pyarrow.array([])
