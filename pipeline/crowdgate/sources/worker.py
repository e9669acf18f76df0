"""A worker process: it counts groups of parts of a table for the run that started it. `sources/workers.py` starts it.

It holds what is confidential, as the run does: it leaves no core dump, writes no text and no file but rows by person
that exceed memory, in the run's temporary folder, and ends with the run. It gets no secret key of a release.
"""

import os
import pickle
import sys
from collections.abc import Sequence
from typing import BinaryIO

from crowdgate.errors import EnvironmentFault, FileFault
from crowdgate.sources import parquet
from crowdgate.sources.counting import Counter, PartialCounts
from crowdgate.sources.source import Piece
from crowdgate.system.arrow_without_pandas import use_arrow_without_pandas
from crowdgate.system.core_dumps import disable_core_dumps
from crowdgate.system.garbage_collection import collect_seldom
from crowdgate.system.parent_process import exit_with_parent

LOADED = (parquet,)
"""Modules that are imported before the first task arrives, as the run prepares meanwhile."""


def main() -> None:
    """Answer each group of parts that arrives on standard input with its counts, or with the error of counting."""
    disable_core_dumps()
    exit_with_parent()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # libraries print elsewhere
    use_arrow_without_pandas()
    collect_seldom()
    try:
        serve(sys.stdin.buffer, answers)
    except EOFError:
        os._exit(0)  # the run has ended


def serve(questions: BinaryIO, answers: BinaryIO) -> None:
    """Read tasks (variables of the environment, and the counter), and after each its groups of parts; write an answer
    to each group. Raises EOFError after the last one.
    """
    counter: Counter
    while True:
        question: list[Piece] | tuple[dict[str, str], Counter] = pickle.load(questions)
        if isinstance(question, tuple):
            variables, counter = question
            os.environ.update(variables)
            continue
        pickle.dump(_answer(counter, question), answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()


def _answer(counter: Counter, parts: Sequence[Piece]) -> PartialCounts | Exception:
    try:
        return counter(parts, None)
    except (FileFault, EnvironmentFault) as error:
        return type(error)(str(error))
    except Exception as error:
        return RuntimeError(f"a worker failed: {type(error).__name__}")  # its text may hold cells


if __name__ == "__main__":
    main()
