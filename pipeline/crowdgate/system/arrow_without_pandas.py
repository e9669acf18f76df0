"""pyarrow without pandas. It looks for pandas at its first conversion of values and imports it wherever it is
installed, which takes 43 MB and a third of a second, and serves nothing here.
"""

import sys
from collections.abc import Sequence
from types import ModuleType


class _AbsentPandas:
    """Answers that pandas is not there."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        del path, target
        if name == "pandas":
            raise ModuleNotFoundError(name)


def use_arrow_without_pandas() -> None:
    """Has pyarrow look for pandas now, and not find it. It looks again when somebody asks it for a data frame; where
    pandas is imported already, nothing changes."""
    if "pandas" in sys.modules:
        return
    import pyarrow

    absent = _AbsentPandas()
    sys.meta_path.insert(0, absent)
    try:
        pyarrow.array([])
    finally:
        sys.meta_path.remove(absent)
