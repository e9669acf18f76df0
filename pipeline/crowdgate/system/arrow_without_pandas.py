"""pyarrow without pandas. It looks for pandas at its first conversion of values and imports it wherever it is
installed, which takes 43 MB and a third of a second, and serves nothing here.
"""

import sys

from crowdgate.system.import_filters import imports_filtered


def use_arrow_without_pandas() -> None:
    """Has pyarrow look for pandas now, and not find it. It looks again when somebody asks it for a data frame; where
    pandas is imported already, nothing changes."""
    if "pandas" in sys.modules:
        return
    import pyarrow

    with imports_filtered(absent={"pandas"}):
        pyarrow.array([])
