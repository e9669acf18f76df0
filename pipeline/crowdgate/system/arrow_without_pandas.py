"""pyarrow without pandas.

pyarrow imports an installed pandas at its first conversion of values, which takes 43 MB and a third of a second and is
not needed here.
"""

import sys
from collections.abc import Sequence
from types import ModuleType


class _AbsentPandas:
    """An import finder that reports pandas as missing."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        del path, target
        if name == "pandas":
            raise ModuleNotFoundError(name)


def use_arrow_without_pandas() -> None:
    """Let pyarrow look for pandas now and not find it. A later request for a data frame looks again.

    Does nothing if pandas is imported already.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow

    absent = _AbsentPandas()
    sys.meta_path.insert(0, absent)
    try:
        pyarrow.array([])
    finally:
        sys.meta_path.remove(absent)
