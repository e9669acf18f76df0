"""The file that was probably meant by a path at which there is none."""

import os
from pathlib import Path

from crowdgate.documents.word_correction import is_misspelling


def similar_file(path: Path) -> str | None:
    """Return the name in the folder of `path` of which its own name is a misspelling; None if there is no such name, or
    the folder can't be read.
    """
    try:
        return next((each for each in sorted(os.listdir(path.parent)) if is_misspelling(path.name, each)), None)
    except OSError:
        return None
