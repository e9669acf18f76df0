"""The files of a verified release as data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.system.extras import FRAMES, need

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from crowdgate.manifest import Manifest

DICTIONARY = "dictionary.csv"
TEXT = ("column", "level", "label", "description")


def read(folder: Path, manifest: Manifest) -> tuple[Mapping[str, pd.DataFrame], pd.DataFrame]:
    """Return the release's tables by the names of their files, without the suffix, and its dictionary.

    A table in several formats is read from Parquet, which preserves types. Raises ConfigurationError without pandas.
    """
    need(FRAMES, "read_release", "python")
    import pandas as pd

    dictionary = _csv(folder / DICTIONARY, TEXT)
    labels = list(dictionary["column"].unique())
    written = {name.rpartition(".")[::2]: folder / name for name in sorted(manifest.files) if name != DICTIONARY}
    tables = {
        stem: _csv(path, labels)
        for (stem, suffix), path in written.items()
        if suffix == "csv" and (stem, "parquet") not in written
    }
    typed = {stem: pd.read_parquet(path) for (stem, suffix), path in written.items() if suffix == "parquet"}
    return dict(sorted({**tables, **typed}.items())), dictionary


def _csv(path: Path, text: Sequence[str]) -> pd.DataFrame:
    """Return a CSV file as data frame. The columns named in `text` hold text; elsewhere an empty cell is a missing
    number.
    """
    import pandas as pd

    columns = pd.read_csv(path, nrows=0).columns
    missing = {name: [""] for name in columns if name not in text}
    types = {name: "str" for name in columns if name in text}
    return pd.read_csv(path, dtype=types, keep_default_na=False, na_values=missing)
