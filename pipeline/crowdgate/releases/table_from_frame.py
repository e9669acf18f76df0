"""A data frame as the table of a contract."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate.errors import Code, ConfigurationError, EnvironmentFault, Problem

if TYPE_CHECKING:
    import pandas as pd

    from crowdgate.contracts.contract import Contract

FORMAT = "parquet"


def write(frame: pd.DataFrame, contract: Contract) -> Path:
    """Write the data frame to the file in which the contract expects its table: whole or not at all, readable only to
    the file's owner. Returns the path. Raises ConfigurationError if the contract's format is not parquet,
    EnvironmentFault if the file can't be written."""
    if contract.server.reader != FORMAT:
        found = f"a server of format {contract.server.reader}"
        raise ConfigurationError(
            Problem(str(contract.files[0]), None, "servers", found, f"format: {FORMAT}", code=Code.CONTRACT)
        )
    path = contract.server.path
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".crowdgate-") as scratch:
            made = Path(scratch) / path.name  # the folder is private to its owner
            frame.to_parquet(made, index=False)
            made.chmod(0o600)
            os.replace(made, path)
    except OSError as error:
        raise EnvironmentFault(f"{path} can't be written: {error.strerror}") from None
    return path
